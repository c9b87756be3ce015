package research

import (
	"context"
	"embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/internal/failure"
	"botd/strategy"
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
				t := shell.NewTable(w, table.Row{"strategy", "what it does"})
				for _, row := range rows {
					t.AppendRow(table.Row{row.Name, row.Summary})
				}
				t.Render()
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
	t := shell.NewTable(w, table.Row{"parameter", "kind", "default", "from", "to", "what it is"})
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

//go:embed template template/module
var templates embed.FS

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

var newName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

func writeScriptStrategy(command *cobra.Command, name, directory string) error {
	if !newName.MatchString(name) {
		return failure.Usagef("%q is not a name of 1 to 32 of a-z, 0-9 and -, beginning with a letter", name)
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

// writeTemplate creates a file from a template and fails if it exists.
func writeTemplate(from, to string, values any) error {
	made, err := template.ParseFS(templates, from)
	if err != nil {
		return err
	}
	var text strings.Builder
	if err := made.Execute(&text, values); err != nil {
		return err
	}
	return writeNew(to, text.String())
}

// moduleFiles are the files of a module, with their templates.
var moduleFiles = []struct{ name, from string }{
	{"go.mod", "go.mod.txt"}, {"main.go", "main.go.txt"}, {"strategy.go", "strategy.go.txt"}, {"strategy_test.go", "strategy_test.go.txt"},
	{"NAME.yaml", "strategy.yaml.txt"},
}

// writeModule makes a Go module with a strategy, a test and a main.
func writeModule(command *cobra.Command, name, directory, source string) error {
	if !newName.MatchString(name) {
		return failure.Usagef("%q is not a name of 1 to 32 of a-z, 0-9 and -, beginning with a letter", name)
	}
	if found, err := os.ReadDir(directory); err == nil && len(found) > 0 {
		return failure.New(failure.Usage, "name a directory that does not exist yet", "%s is not empty", directory)
	}
	source, sums, err := botdSource(source)
	if err != nil {
		return err
	}
	values := map[string]string{"Name": name, "Kind": strings.ReplaceAll(name, "-", "_"), "Module": name, "Botd": source}
	for _, file := range moduleFiles {
		to := filepath.Join(directory, strings.Replace(file.name, "NAME", name, 1))
		if err := writeTemplate("template/module/"+file.from, to, values); err != nil {
			return err
		}
		fmt.Fprintln(command.OutOrStdout(), to)
	}
	// The module needs botd's requirements: the same versions with the same sums.
	if err := finishModule(directory, source, sums); err != nil {
		return failure.Wrap(failure.IO, err)
	}
	fmt.Fprintf(command.ErrOrStderr(), "now: cd %s && go test ./... && go run . strategy show %s\n", directory, values["Kind"])
	return nil
}

// botdSource finds botd's source: the given directory, the one whose go.mod is botd's, from the current
// directory upwards, or the one installed with this program.
func botdSource(given string) (directory string, sums []byte, err error) {
	if directory, err = filepath.Abs(given); err != nil {
		return "", nil, failure.Wrap(failure.IO, err)
	}
	places := []string{directory}
	if given == "" {
		for up := filepath.Dir(directory); up != directory; directory, up = up, filepath.Dir(up) {
			places = append(places, up)
		}
		if program, err := os.Executable(); err == nil {
			binaries := filepath.Dir(program)
			places = append(places, filepath.Join(binaries, "source"), filepath.Join(binaries, "../share/botd/source"))
		}
	}
	at := slices.IndexFunc(places, func(place string) bool {
		text, err := os.ReadFile(filepath.Join(place, "go.mod"))
		return err == nil && strings.HasPrefix(string(text), "module botd\n")
	})
	if at < 0 {
		return "", nil, failure.New(failure.NoInput, "release packages include it; or clone it, and name its directory with --botd",
			"botd's source was not found")
	}
	sums, err = os.ReadFile(filepath.Join(places[at], "go.sum"))
	return places[at], sums, failure.Wrap(failure.IO, err)
}

// finishModule adds botd's own requirements to a module's go.mod, so that the module builds without the network.
func finishModule(directory, source string, sums []byte) error {
	text, err := os.ReadFile(filepath.Join(source, "go.mod"))
	if err != nil {
		return err
	}
	before, required, found := strings.Cut(string(text), "\nrequire (")
	if !found {
		return fmt.Errorf("%s/go.mod has no requirements", source)
	}
	file := filepath.Join(directory, "go.mod")
	own, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	// The module uses exactly botd's language version: the go command rejects a module whose version is below
	// that of its requirements. The other requirements serve botd: go mod tidy keeps those that the module uses.
	_, version, _ := strings.Cut(before, "\n") // behind "module botd"
	if err := os.WriteFile(file, []byte(string(own)+version+"\nrequire ("+required), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(directory, "go.sum"), sums, 0o644)
}
