package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"botd/configs"
	"botd/internal/failure"
	"botd/strategy"
)

func newConfigReference() *cobra.Command {
	var into string
	command := &cobra.Command{
		Use: "reference", Short: "docs/configuration.md: every key with its meaning, bounds, default and an example", Args: cobra.NoArgs,
		Long: `Prints the reference of the configuration as Markdown, made from its reader and from the
registry of strategies: a program of your own prints one with your strategies in it.`,
		Example: "  botd config reference | less\n  go run ./cmd/botd config reference --into docs/configuration.md",
		RunE: func(command *cobra.Command, _ []string) error {
			text := configReference(registry())
			if into != "" {
				return failure.Wrap(failure.IO, os.WriteFile(into, text, 0o644))
			}
			_, err := command.OutOrStdout().Write(text)
			return failure.Wrap(failure.IO, err)
		},
	}
	command.Flags().StringVar(&into, "into", "", "Markdown file to write it to")
	return command
}

const referenceHead = `# Configuration

<!-- Made by ` + "`go run ./cmd/botd config reference --into docs/configuration.md`" + `: change the code, not this file. -->

A configuration is a directory: botd.yaml, and a file a strategy in strategies/. Every key of botd.yaml may be left out, botd.yaml itself too.
` + "`botd init`" + ` writes one with comments, ` + "`botd check -c DIR`" + ` tells every mistake with file, line and what was probably meant, and
` + "`botd config show --effective -c DIR`" + ` what holds, and where each value comes from.

- **What stands above what**: the command line, then the file, then the default. The column *also by* says what else sets a key; where it is
  empty nothing does. Secrets never stand in YAML: keys that end in ` + "`_file`" + ` name files of mode 600.
- **What an environment variable does**: ` + "`NO_COLOR`, `FORCE_COLOR`, `TERM=dumb`" + ` colours; ` + "`BOTD_CACHE`" + ` where parsed candles are kept;
  ` + "`CREDENTIALS_DIRECTORY`" + ` is systemd's. No variable sets a key.
- **When a change counts**: a strategy's file within two seconds of being saved, where name, market, symbol and interval stay; everything else
  at the next start. ` + "`botd config diff`" + ` tells what waits for one.
- **How values are written**: a share ` + "`5%` or `0.05`" + `; a loss is a share or money, ` + "`500 USDT`" + `; a distance is a share of the entry price, with its
  ` + "`%`" + `, or a price; a duration ` + "`500ms`, `90s`, `1h30m`, `30d`" + `; a time of day ` + "`06:00`, in UTC, or `off`" + `. Bounds are included.
- **Modes**: where the column is empty a key counts in all. ` + "`botd config schema`" + ` is this page for editors.
`

// configReference is docs/configuration.md.
func configReference(registry *strategy.Registry) []byte {
	root, file := configs.Keys()
	var b bytes.Buffer
	b.WriteString(referenceHead)
	b.WriteString("\n## botd.yaml\n")
	keyBlocks(&b, root)
	b.WriteString("\n## strategies/\\*.yaml\n")
	keyBlocks(&b, file)
	b.WriteString("\n## Parameters of the strategies\n\nThey stand under `params:`, each with the strategy's own; `botd strategy show NAME` prints one.\n")
	for _, definition := range registry.All() {
		strategyParameters(&b, definition)
	}
	return b.Bytes()
}

// keyBlocks writes a table for the keys without a block, and one for each block.
func keyBlocks(w io.Writer, keys []configs.Key) {
	blocks := []string{""}
	members := map[string][]configs.Key{}
	for _, k := range keys {
		block, _, nested := strings.Cut(k.Path, ".")
		switch {
		case k.Kind == configs.KindBlock && nested:
			continue
		case k.Kind == configs.KindBlock:
			blocks = append(blocks, k.Path)
			continue
		case !nested:
			block = ""
		}
		members[block] = append(members[block], k)
	}
	for _, block := range blocks {
		if len(members[block]) == 0 {
			continue
		}
		if block != "" {
			fmt.Fprintf(w, "\n### %s\n", block)
		}
		fmt.Fprint(w, "\n| key | type | from | to | default | modes | example | also by | what it is |\n|---|---|---|---|---|---|---|---|---|\n")
		for _, k := range members[block] {
			keyLine(w, k)
		}
	}
}

func keyLine(w io.Writer, k configs.Key) {
	kind, standard, example := k.Kind, coded(k.Default), k.Example
	if len(k.Words) > 0 {
		kind = "`" + strings.Join(k.Words, "`, `") + "`"
	}
	if k.Unit != "" {
		kind += ", " + k.Unit
	}
	if k.Live != "" {
		standard += "; live " + coded(k.Live)
	}
	if k.Required {
		standard = "required"
	}
	if !strings.Contains(example, ": ") {
		example = k.Path[strings.LastIndexByte(k.Path, '.')+1:] + ": " + example
	}
	fmt.Fprintf(w, "| `%s` | %s | %s | %s | %s | %s | `%s` | %s | %s |\n", k.Path, kind, k.Low, k.High, standard, k.Modes, example, k.Instead, k.What)
}

// coded is a value between backticks, and nothing is nothing.
func coded(value string) string {
	if value == "" {
		return ""
	}
	return "`" + value + "`"
}

func strategyParameters(w io.Writer, d strategy.Definition) {
	fmt.Fprintf(w, "\n### %s\n\n%s.\n", d.Name, strings.ToUpper(d.Summary[:1])+d.Summary[1:])
	if len(d.Parameters) == 0 {
		return
	}
	fmt.Fprint(w, "\n| parameter | type | from | to | default | what it is |\n|---|---|---|---|---|---|\n")
	for _, p := range d.Parameters {
		kind, standard := p.Kind, coded(p.Default)
		if len(p.OneOf) > 0 {
			kind = "`" + strings.Join(p.OneOf, "`, `") + "`"
		}
		if p.Default == "" {
			standard = "required"
		}
		fmt.Fprintf(w, "| `%s` | %s | %s | %s | %s | %s |\n", p.Name, kind, p.Min, p.Max, standard, strings.ReplaceAll(p.Help, "|", `\|`))
	}
}
