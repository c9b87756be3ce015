package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/exchange/sim"
	"botd/internal/failure"
	"botd/internal/plural"
	"botd/strategy"
	"botd/strategy/library"
	"botd/strategy/script"
)

// registry is every strategy this program knows.
func registry() *strategy.Registry {
	return strategy.NewRegistry(slices.Concat(library.All(), []strategy.Definition{script.Rules(), script.Files()}, added)...)
}

// compiled is what a strategy: script runs.
func compiled(name string, source []byte) (strategy.Definition, error) {
	s, err := script.Compile(name, source)
	if err != nil {
		return strategy.Definition{}, err
	}
	return s.Definition(), nil
}

// options are what configurations are checked against. Instruments of the
// built-in market bind the demo; elsewhere the venue's own are read at start.
func options(mode configs.Mode) configs.Options {
	return configs.Options{Registry: registry(), Script: compiled, Symbols: sim.DefaultSymbols(), Mode: mode, CredentialsDirectory: os.Getenv("CREDENTIALS_DIRECTORY")}
}

// load reads a configuration: the directory given, else ./configs, else the
// embedded examples.
func load(directory string, mode configs.Mode) (*configs.Config, configs.Problems, error) {
	if directory == "" {
		if _, err := os.Stat(filepath.Join("configs", "botd.yaml")); errors.Is(err, fs.ErrNotExist) {
			config, problems := configs.Load(configs.Examples(), "(built-in examples)", options(mode))
			return config, problems, nil
		}
		directory = "configs"
	}
	info, err := os.Stat(directory)
	if err != nil {
		return nil, nil, failure.New(failure.NoInput, "-c names a directory with botd.yaml and strategies/*.yaml", "read configuration: %w", err)
	}
	if !info.IsDir() {
		return nil, nil, failure.New(failure.NoInput, "-c names the directory, not a file in it", "%s is not a directory", directory)
	}
	config, problems := configs.LoadDirectory(directory, options(mode))
	return config, problems, nil
}

func newCheck() *cobra.Command {
	var directory, output string
	var strict bool
	command := &cobra.Command{
		Use: "check", Short: "validate a configuration, offline", Args: cobra.NoArgs,
		Long:    "Reads botd.yaml and strategies/*.yaml and says everything that is wrong at once,\nwith file, line and a hint, then the limits that will hold (docs/risk.md). Nothing is\nsent anywhere. Exit code 1 when there are errors; with --strict when there are warnings too.",
		Example: "  botd check\n  botd check -c /etc/botd\n  botd check -c configs -o json | jq .problems",
		RunE: func(command *cobra.Command, _ []string) error {
			config, problems, err := load(directory, "")
			if err != nil {
				return err
			}
			result := configs.NewReport(config, problems)
			err = shell.Print(command.OutOrStdout(), output, result, func(w io.Writer) { checkTable(w, result, problems) })
			if err == nil && (!result.OK || strict && result.Warnings > 0) {
				return failure.Quiet()
			}
			return err
		},
	}
	command.Flags().StringVarP(&directory, "config", "c", "", "configuration directory (default ./configs, else the built-in examples)")
	command.Flags().BoolVar(&strict, "strict", false, "a warning is a negative answer too (exit code 1)")
	command.Flags().Bool("offline", true, "it always is")
	if err := command.Flags().MarkHidden("offline"); err != nil {
		panic("botd: " + err.Error()) // no such flag: a mistake above
	}
	shell.OutputFlag(command, &output)
	return command
}

func checkTable(w io.Writer, result configs.Report, problems configs.Problems) {
	for _, p := range problems {
		fmt.Fprintln(w, p.String())
	}
	if result.OK {
		fmt.Fprintf(w, "ok: %s, %s, mode %s", plural.Of(len(result.Files), "file"), plural.Of(result.Strategies, "strategy"), result.Mode)
	} else {
		fmt.Fprint(w, plural.Of(result.Errors, "error"))
	}
	if result.Warnings > 0 {
		fmt.Fprint(w, ", "+plural.Of(result.Warnings, "warning"))
	}
	fmt.Fprintln(w)
	if result.OK {
		t := shell.NewTable(w, table.Row{"scope", "limit", "value"})
		for _, l := range result.Limits {
			t.AppendRow(table.Row{l.Scope, l.Rule, l.Limit})
		}
		t.Render()
	}
}
