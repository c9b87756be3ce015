package research

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/internal/failure"
	"botd/strategy"
	"botd/strategy/starter"
)

// NewStrategy returns the command botd strategy.
func NewStrategy() *cobra.Command {
	return shell.Group("strategy", "list built-in strategies, create your own, control running ones",
		`Lists the built-in strategies and their parameters; creates a new one, as a script or in Go, that
can trade at once (docs/strategies.md); and controls a running one by its name: pause, stop,
flatten, resume.`,
		"  botd strategy list\n  botd strategy show grid\n  botd strategy new my-idea --script\n  botd strategy pause trend --reason news",
		newStrategyList(), newStrategyShow(), newStrategyGallery(), newStrategyNew())
}

// strategyRow is one kind of strategy as botd strategy list -o json prints it.
type strategyRow struct {
	Name       string               `json:"name"`
	Summary    string               `json:"summary"`
	Parameters []strategy.Parameter `json:"parameters"`
}

func strategyRowOf(d strategy.Definition) strategyRow {
	return strategyRow{d.Name, d.Summary, append([]strategy.Parameter{}, d.Parameters...)}
}

func newStrategyList() *cobra.Command {
	command := &cobra.Command{
		Use: "list", Short: "every kind of strategy", Args: cobra.NoArgs,
		Long:    "Lists the values of the key strategy: in a strategy's file, each with a description.\nbotd strategy show NAME lists the parameters.",
		Example: "  botd strategy list\n  botd strategy list -o json",
		RunE: func(command *cobra.Command, _ []string) error {
			var rows []strategyRow
			for _, d := range connect.Registry(command.Context()).All() {
				rows = append(rows, strategyRowOf(d))
			}
			return shell.Print(command, rows, func(w io.Writer) {
				shell.WriteTable(w, table.Row{"strategy", "what it does"}, rows, func(row *strategyRow) table.Row {
					return table.Row{row.Name, row.Summary}
				})
			})
		},
	}
	shell.OutputFlag(command)
	return command
}

func newStrategyShow() *cobra.Command {
	command := &cobra.Command{
		Use: "show NAME|FILE.star", Short: "one kind of strategy: its parameters, with defaults and bounds", Args: cobra.ExactArgs(1),
		Long:    "Shows what a strategy does, and its parameters. A name that ends in .star is a script, which is\nread and checked first.",
		Example: "  botd strategy show grid\n  botd strategy show strategies/my-idea.star -o json",
		RunE: func(command *cobra.Command, arguments []string) error {
			definition, err := definitionOf(command.Context(), arguments[0])
			if err != nil {
				return err
			}
			row := strategyRowOf(definition)
			return shell.Print(command, row, func(w io.Writer) { strategyTable(w, row) })
		},
		ValidArgsFunction: func(command *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return strategyNames(command.Context()), cobra.ShellCompDirectiveDefault
		},
	}
	shell.OutputFlag(command)
	return command
}

func strategyNames(ctx context.Context) []string {
	var names []string
	for _, d := range connect.Registry(ctx).All() {
		names = append(names, d.Name)
	}
	return names
}

func definitionOf(ctx context.Context, name string) (strategy.Definition, error) {
	if strings.HasSuffix(name, ".star") {
		source, err := os.ReadFile(name)
		if err != nil {
			return strategy.Definition{}, failure.Wrap(failure.NoInput, err)
		}
		text := &strategy.Source{File: filepath.ToSlash(name), Text: source}
		text.Gather(func(library string) ([]byte, bool, error) { return configs.ReadLibrary(filepath.Dir(name), library) })
		definition, err := connect.Compiled(text)
		if err != nil {
			return definition, failure.Wrap(failure.Config, err)
		}
		return definition, nil
	}
	definition, found := connect.Registry(ctx).Find(name)
	if !found {
		return definition, failure.Usagef("unknown strategy %q\nhint: one of %s, or a file.star", name, strings.Join(strategyNames(ctx), ", "))
	}
	return definition, nil
}

func strategyTable(w io.Writer, row strategyRow) {
	fmt.Fprintf(w, "%s: %s\n", row.Name, row.Summary)
	if len(row.Parameters) == 0 {
		return
	}
	shell.WriteTable(w, table.Row{"parameter", "kind", "default", "from", "to", "what it is"}, row.Parameters, func(p *strategy.Parameter) table.Row {
		fallback, kind := p.Default, p.Kind
		if fallback == "" {
			fallback = "required"
		}
		if len(p.OneOf) > 0 {
			kind = strings.Join(p.OneOf, " | ")
		}
		return table.Row{p.Name, kind, fallback, p.Min, p.Max, p.Help}
	})
}

func newStrategyNew() *cobra.Command {
	var (
		asScript                bool
		directory, module, botd string
		from                    string
	)
	command := &cobra.Command{
		Use: "new NAME --script | --from GALLERY | --go DIRECTORY", Short: "write a strategy to start from", Args: cobra.ExactArgs(1),
		Long: `Writes NAME.star, a script that can trade at once, and NAME.yaml with its symbol and size.
Existing files are never overwritten. Then:

  botd data generate --symbol BTC-USDT --interval 1h --out candles.csv
  botd backtest run -s strategies/NAME.yaml --data candles.csv

With --from it writes only NAME.yaml: a published strategy from botd strategy gallery.

With --go DIRECTORY it writes a Go module there: the strategy, a test that runs it over generated
candles, and a main package that is botd with that strategy added. It builds against the source of
botd, which --botd names; by default it is searched for above the current directory and where
release packages install it.`,
		Example: "  botd strategy new my-idea --script\n  botd strategy new my-idea --script --dir configs/strategies\n  botd strategy new " +
			"my-idea --go ../my-idea",
		RunE: func(command *cobra.Command, arguments []string) error {
			switch {
			case asScript && module != "" || from != "" && (asScript || module != "") || from == "" && !asScript && module == "":
				return failure.Usagef("botd strategy new %s: name the kind: --script, --from GALLERY, or --go DIRECTORY", arguments[0])
			case from != "":
				return writeFromGallery(command, arguments[0], from, directory)
			case asScript:
				return writeScriptStrategy(command, arguments[0], directory)
			}
			return writeModule(command, arguments[0], module, botd)
		},
	}
	command.Flags().BoolVar(&asScript, "script", false, "a Starlark script")
	command.Flags().StringVar(&from, "from", "", "a strategy of botd strategy gallery")
	command.Flags().StringVar(&directory, "dir", "strategies", "directory for the script")
	command.Flags().StringVar(&module, "go", "", "a Go module in this directory, which must be empty or not exist")
	command.Flags().StringVar(&botd, "botd", "", "the directory of botd's source, for --go")
	return command
}

func writeScriptStrategy(command *cobra.Command, name, directory string) error {
	return starter.WriteScript(name, directory, func(file string) { fmt.Fprintln(command.OutOrStdout(), file) })
}

// writeModule makes a Go module with a strategy, a test and a main.
func writeModule(command *cobra.Command, name, directory, source string) error {
	kind, err := starter.WriteModule(name, directory, source, func(file string) { fmt.Fprintln(command.OutOrStdout(), file) })
	if err != nil {
		return err
	}
	fmt.Fprintf(command.ErrOrStderr(), "now: cd %s && go test ./... && go run . strategy show %s\n", directory, kind)
	return nil
}
