package research

import (
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/internal/failure"
	"botd/internal/spell"
	"botd/strategy/starter"
)

// exhibit is a strategy of the gallery, as botd strategy gallery -o json prints it.
type exhibit struct {
	Name    string `json:"name"`
	Summary string `json:"summary"`
	Source  string `json:"source"`
	text    string
}

// gallery reads all strategies of the gallery, sorted by name.
func gallery() ([]exhibit, error) {
	files, err := fs.Glob(configs.Gallery(), "*.yaml")
	if err != nil {
		return nil, err
	}
	var all []exhibit
	for _, file := range files {
		text, err := fs.ReadFile(configs.Gallery(), file)
		if err != nil {
			return nil, err
		}
		e := exhibit{Name: strings.TrimSuffix(file, ".yaml"), text: string(text)}
		into := &e.Summary
		for line := range strings.Lines(e.text) {
			words, comment := strings.CutPrefix(line, "# ")
			if !comment {
				break
			}
			if source, is := strings.CutPrefix(words, "Source: "); is {
				into, words = &e.Source, source
			}
			*into = strings.TrimSpace(*into + " " + strings.TrimSpace(words))
		}
		all = append(all, e)
	}
	return all, nil
}

func newStrategyGallery() *cobra.Command {
	command := &cobra.Command{
		Use: "gallery", Short: "published strategies, written as rules, to start from", Args: cobra.NoArgs,
		Long: `Lists strategies that were published in books, papers and by other bots, rewritten as rules,
each with its source. Their trades are tested against an independent program, which shows that they
implement what was published, not that it is profitable. To copy one:

  botd strategy new my-dip --from connors-rsi2`,
		Example: "  botd strategy gallery\n  botd strategy new my-dip --from connors-rsi2",
		RunE: func(command *cobra.Command, _ []string) error {
			all, err := gallery()
			if err != nil {
				return err
			}
			return shell.Print(command, all, func(w io.Writer) {
				shell.WriteTable(w, table.Row{"name", "what it does", "source"}, all, func(e *exhibit) table.Row {
					return table.Row{e.Name, e.Summary, e.Source}
				})
			})
		},
	}
	shell.OutputFlag(command)
	return command
}

// writeFromGallery writes a strategy of the gallery under the user's own name.
func writeFromGallery(command *cobra.Command, name, from, directory string) error {
	if err := starter.CheckName(name); err != nil {
		return err
	}
	all, err := gallery()
	if err != nil {
		return err
	}
	var names []string
	for _, e := range all {
		if names = append(names, e.Name); e.Name != from {
			continue
		}
		file := filepath.Join(directory, name+".yaml")
		if err := starter.WriteNew(file, strings.Replace(e.text, "\nname: "+from+"\n", "\nname: "+name+"\n", 1)); err != nil {
			return err
		}
		fmt.Fprintln(command.OutOrStdout(), file)
		return nil
	}
	hint := "botd strategy gallery lists them"
	if near := spell.Nearest(from, names); near != "" {
		hint = fmt.Sprintf("did you mean %s?", near)
	}
	return failure.New(failure.Usage, hint, "there is no strategy %q in the gallery", from)
}
