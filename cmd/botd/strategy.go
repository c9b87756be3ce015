package main

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/strategy"
)

func newStrategy() *cobra.Command {
	command := &cobra.Command{Use: "strategy", Short: "the strategies there are, and a new one of your own", Args: unknownCommand,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() }}
	command.AddCommand(newStrategyList(), newStrategyShow(), newStrategyNew())
	return command
}

// strategyRow is one kind of strategy as botd strategy list -o json prints it.
type strategyRow struct {
	Name       string         `json:"name"`
	Summary    string         `json:"summary"`
	Parameters []parameterRow `json:"parameters"`
}

type parameterRow struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"` // int, decimal, duration, text, bool
	Default string   `json:"default,omitempty"`
	Min     string   `json:"min,omitempty"`
	Max     string   `json:"max,omitempty"`
	OneOf   []string `json:"one_of,omitempty"`
	Help    string   `json:"help,omitempty"`
}

func strategyRowOf(d strategy.Definition) strategyRow {
	row := strategyRow{Name: d.Name, Summary: d.Summary, Parameters: []parameterRow{}}
	for _, p := range d.Parameters {
		row.Parameters = append(row.Parameters, parameterRow{p.Name, p.Kind, p.Default, p.Min, p.Max, p.OneOf, p.Help})
	}
	return row
}

func newStrategyList() *cobra.Command {
	var output string
	command := &cobra.Command{
		Use: "list", Short: "every kind of strategy", Args: cobra.NoArgs, Example: "  botd strategy list\n  botd strategy list -o json",
		RunE: func(command *cobra.Command, _ []string) error {
			var rows []strategyRow
			for _, d := range registry().All() {
				rows = append(rows, strategyRowOf(d))
			}
			return print(command.OutOrStdout(), output, rows, func(w io.Writer) {
				t := table.NewWriter()
				t.SetOutputMirror(w)
				t.SetStyle(table.StyleLight)
				t.AppendHeader(table.Row{"strategy", "what it does"})
				for _, row := range rows {
					t.AppendRow(table.Row{row.Name, row.Summary})
				}
				t.Render()
			})
		},
	}
	outputFlag(command, &output)
	return command
}

func newStrategyShow() *cobra.Command {
	var output string
	command := &cobra.Command{
		Use: "show NAME|FILE.star", Short: "one kind of strategy: its parameters, with defaults and bounds", Args: cobra.ExactArgs(1),
		Long:    "Shows what a strategy does and takes. A name that ends in .star is a script, which is\nread and checked first.",
		Example: "  botd strategy show grid\n  botd strategy show strategies/my-idea.star -o json",
		RunE: func(command *cobra.Command, arguments []string) error {
			definition, err := definitionOf(arguments[0])
			if err != nil {
				return err
			}
			row := strategyRowOf(definition)
			return print(command.OutOrStdout(), output, row, func(w io.Writer) { strategyTable(w, row) })
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return strategyNames(), cobra.ShellCompDirectiveDefault
		},
	}
	outputFlag(command, &output)
	return command
}

func strategyNames() []string {
	var names []string
	for _, d := range registry().All() {
		names = append(names, d.Name)
	}
	return names
}

func definitionOf(name string) (strategy.Definition, error) {
	if strings.HasSuffix(name, ".star") {
		source, err := os.ReadFile(name)
		if err != nil {
			return strategy.Definition{}, fail(exitNoInput, err)
		}
		definition, err := compiled(filepath.ToSlash(name), source)
		if err != nil {
			return definition, fail(exitConfig, err)
		}
		return definition, nil
	}
	definition, found := registry().Find(name)
	if !found {
		return definition, usage("unknown strategy %q\nhint: one of %s, or a file.star", name, strings.Join(strategyNames(), ", "))
	}
	return definition, nil
}

func strategyTable(w io.Writer, row strategyRow) {
	fmt.Fprintf(w, "%s: %s\n", row.Name, row.Summary)
	if len(row.Parameters) == 0 {
		return
	}
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"parameter", "kind", "default", "from", "to", "what it is"})
	for _, p := range row.Parameters {
		fallback, kind := p.Default, p.Kind
		if fallback == "" {
			fallback = "required"
		}
		if len(p.OneOf) > 0 {
			kind = strings.Join(p.OneOf, " | ")
		}
		t.AppendRow(table.Row{p.Name, kind, fallback, p.Min, p.Max, p.Help})
	}
	t.Render()
}

//go:embed template
var templates embed.FS

func newStrategyNew() *cobra.Command {
	var (
		asScript  bool
		directory string
	)
	command := &cobra.Command{
		Use: "new NAME --script", Short: "write a strategy to begin with", Args: cobra.ExactArgs(1),
		Long: `Writes NAME.star, a script that trades already, and NAME.yaml beside it, which says where
and how large. Files that exist are never overwritten. Then:

  botd data generate --symbol BTC-USDT --interval 1h --out candles.csv
  botd backtest run -s strategies/NAME.yaml --data candles.csv`,
		Example: "  botd strategy new my-idea --script\n  botd strategy new my-idea --script --dir configs/strategies",
		RunE: func(command *cobra.Command, arguments []string) error {
			if !asScript {
				return usage("botd strategy new %s: say what kind: --script", arguments[0])
			}
			return writeScriptStrategy(command, arguments[0], directory)
		},
	}
	command.Flags().BoolVar(&asScript, "script", false, "a Starlark script")
	command.Flags().StringVar(&directory, "dir", "strategies", "where to")
	return command
}

var newName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

func writeScriptStrategy(command *cobra.Command, name, directory string) error {
	if !newName.MatchString(name) {
		return usage("%q is not a name of 1 to 32 of a-z, 0-9 and -, beginning with a letter", name)
	}
	for _, kind := range []string{"star", "yaml"} {
		file := filepath.Join(directory, name+"."+kind)
		if err := writeTemplate("template/script."+kind, file, map[string]string{"Name": name}); err != nil {
			return err
		}
		fmt.Fprintln(command.OutOrStdout(), file)
	}
	return nil
}

// writeTemplate makes a file that is not there yet.
func writeTemplate(from, to string, values any) (err error) {
	made, err := template.ParseFS(templates, from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fail(exitIO, err)
	}
	file, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, os.ErrExist) {
		return failure(exitUsage, "take another name, or move that file away", "%s exists already", to)
	}
	if err != nil {
		return fail(exitIO, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return made.Execute(file, values)
}
