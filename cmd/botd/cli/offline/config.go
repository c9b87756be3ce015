package offline

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/internal/failure"
)

// NewConfig returns the command botd config.
func NewConfig() *cobra.Command {
	return shell.Group("config", "the configuration: values in force, every key, changes",
		`Effective values and their origin (show), every key with bounds and default (keys, reference;
docs/configuration.md), a schema for editors (schema), and changes that the running daemon
has not loaded yet (diff). botd check finds errors.`,
		"  botd config show --effective -c configs\n  botd config keys\n  botd config diff -c configs",
		newConfigShow(), newConfigKeys(), newConfigSchema(), newConfigReference(), shell.Alias("init", NewInit()))
}

// shownConfig is the output of botd config show -o json.
type shownConfig struct {
	Schema    int          `json:"schema"`
	Directory string       `json:"directory"`
	Files     []string     `json:"files"`
	Hash      string       `json:"hash"` // SHA-256 of the effective configuration
	Values    []valueJSON  `json:"values"`
	Sources   []sourceJSON `json:"sources,omitempty"`
}

type valueJSON struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"` // file:line, default, or command line
}

type sourceJSON struct {
	File string `json:"file"`
	Text string `json:"text"`
}

func (s shownConfig) Rows() any {
	if s.Sources != nil {
		return s.Sources
	}
	return s.Values
}

func newConfigShow() *cobra.Command {
	var directory string
	var effective bool
	command := &cobra.Command{
		Use: "show", Short: "the configuration as written, or with --effective as in force", Args: cobra.NoArgs,
		Long: `Shows the files of a configuration as they are written. With --effective: the
values in force, with every default filled in, all strategies in one list, without
secrets; the journal's config hash covers exactly this text.`,
		Example: "  botd config show --effective\n  botd config show --effective -o csv",
		RunE: func(command *cobra.Command, _ []string) error {
			config, err := connect.LoadValid(command.Context(), directory)
			if err != nil {
				return err
			}
			shown := shownConfig{Schema: 1, Directory: config.Directory, Files: config.Files, Hash: config.Hash()}
			if !effective {
				return showSources(command, config, shown)
			}
			settings, err := config.Settings()
			if err != nil {
				return err
			}
			for _, s := range settings {
				shown.Values = append(shown.Values, valueJSON{s.Path, s.Value, s.Origin})
			}
			return shell.Print(command, shown, func(w io.Writer) { io.WriteString(w, config.Effective()) })
		},
	}
	connect.ConfigFlag(command, &directory)
	command.Flags().BoolVar(&effective, "effective", false, "the values in force, defaults included")
	shell.OutputFlag(command)
	return command
}

// showSources prints the files; those of the examples are in this program.
func showSources(command *cobra.Command, config *configs.Config, shown shownConfig) error {
	files := configs.Examples()
	_, err := os.Stat(filepath.FromSlash(config.Directory))
	if err == nil {
		files = os.DirFS(filepath.FromSlash(config.Directory))
	}
	for _, name := range config.Files {
		relative, err := filepath.Rel(config.Directory, name)
		if err != nil {
			return err
		}
		text, err := readAll(files, filepath.ToSlash(relative))
		if err != nil {
			return err
		}
		shown.Sources = append(shown.Sources, sourceJSON{name, text})
	}
	return shell.Print(command, shown, func(w io.Writer) {
		for _, s := range shown.Sources {
			fmt.Fprintf(w, "# %s\n%s\n", s.File, s.Text)
		}
	})
}

// keyRow is one key as botd config keys prints it.
type keyRow struct {
	File string `json:"file"` // botd.yaml, or strategies/*.yaml
	configs.Key
}

func newConfigKeys() *cobra.Command {
	command := &cobra.Command{
		Use: "keys", Short: "every key of botd.yaml and of strategy files, with type, bounds and default", Args: cobra.NoArgs,
		Long: `Lists every key that botd reads; with -o json also the meaning of each, the modes in which it
applies, an example, and what else sets it (docs/configuration.md). docs/risk.md describes what
limits count, botd strategy show NAME the parameters of a strategy.`,
		Example: "  botd config keys\n  botd config keys -o csv=key,kind,default",
		RunE: func(command *cobra.Command, _ []string) error {
			root, file := configs.Keys()
			rows := append(keyRows("botd.yaml", root), keyRows("strategies/*.yaml", file)...)
			return shell.Print(command, rows, func(w io.Writer) { keyTable(w, rows) })
		},
	}
	shell.OutputFlag(command)
	return command
}

func keyRows(file string, keys []configs.Key) (rows []keyRow) {
	for _, k := range keys {
		if k.Kind != configs.KindBlock {
			rows = append(rows, keyRow{file, k})
		}
	}
	return rows
}

func keyTable(w io.Writer, rows []keyRow) {
	shell.WriteTable(w, table.Row{"file", "key", "kind", "from", "to", "default"}, rows, func(r *keyRow) table.Row {
		kind, standard := r.Kind, r.Default
		for i, word := range r.Words {
			if i == 0 {
				kind = word
			} else {
				kind += " | " + word
			}
		}
		if r.Required {
			standard = "required"
		}
		return table.Row{r.File, r.Path, kind, r.Low, r.High, standard}
	})
}

func newConfigSchema() *cobra.Command {
	command := &cobra.Command{
		Use: "schema [botd|strategy]", Short: "the JSON Schema of botd.yaml, or of a strategy's file, for editors", Args: cobra.MaximumNArgs(1),
		Long: `Prints a JSON Schema, derived from the code that reads the configuration; editors use it to
complete keys and mark errors. botd check finds more than a schema can express.`,
		Example: "  botd config schema > botd.schema.json\n  botd config schema strategy > strategy.schema.json\n  # first line of " +
			"botd.yaml:  # yaml-language-server: $schema=botd.schema.json",
		ValidArgs: []string{"botd", "strategy"},
		RunE: func(command *cobra.Command, names []string) error {
			root, file := configs.Keys()
			keys, title := root, "botd.yaml"
			if len(names) == 1 {
				switch names[0] {
				case "botd":
				case "strategy":
					keys, title = file, "a strategy's file of botd"
				default:
					return failure.Usagef("botd config schema %s: botd or strategy", names[0])
				}
			}
			schema := configs.Schema(keys, connect.Registry(command.Context()))
			schema["title"] = title
			encoder := json.NewEncoder(command.OutOrStdout())
			encoder.SetIndent("", "  ")
			return failure.Wrap(failure.IO, encoder.Encode(schema))
		},
	}
	return command
}
