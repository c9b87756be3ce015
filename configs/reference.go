package configs

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"botd/strategy"
)

const referenceHead = `# Configuration

<!-- Made by ` + "`go run ./cmd/botd config reference --into docs/configuration.md`" + `: change the code, not this file. -->

A configuration is a directory: botd.yaml, and one file per strategy in strategies/. Every key of botd.yaml is optional, and so is botd.yaml
itself. ` + "`botd init`" + ` writes one with comments. ` + "`botd check -c DIR`" + ` reports every mistake with file, line and the probable intention.
` + "`botd config show --effective -c DIR`" + ` shows the values in force and where each comes from.

- **Precedence**: the command line, then the file, then the default. The column *also by* lists other ways to set a key.
  Secrets never belong in YAML: keys that end in ` + "`_file`" + ` name files of mode 600.
- **Environment variables**: ` + "`NO_COLOR`, `FORCE_COLOR` and `TERM=dumb`" + ` control colors; ` + "`BOTD_CACHE`" + ` is the directory of cached candles;
  ` + "`CREDENTIALS_DIRECTORY`" + ` is systemd's. No variable sets a key.
- **When a change takes effect**: in a strategy's file, within two seconds of saving it, unless name, market, symbol or interval change;
  everything else at the next start. ` + "`botd config diff`" + ` shows the changes that are waiting for one.
- **Values**: a share is ` + "`5%` or `0.05`" + `; a loss is a share or money, ` + "`500 USDT`" + `; a distance is a share of the entry price, with its
  ` + "`%`" + `, or a price; a duration is ` + "`500ms`, `90s`, `1h30m` or `30d`" + `; a time of day is
  ` + "`06:00`, in UTC, or `off`" + `. Bounds are inclusive.
- **Modes**: a key without modes applies in all of them. ` + "`botd config schema`" + ` prints the keys as a JSON Schema, for editors.
`

// Reference returns docs/configuration.md.
func Reference(registry *strategy.Registry) []byte {
	root, file := Keys()
	var b bytes.Buffer
	b.WriteString(referenceHead)
	b.WriteString("\n## botd.yaml\n")
	keyBlocks(&b, root)
	b.WriteString("\n## strategies/\\*.yaml\n")
	keyBlocks(&b, file)
	b.WriteString("\n## Parameters of the strategies\n\nEach strategy has its own parameters, under `params:`; `botd strategy show NAME` prints them.\n")
	for _, definition := range registry.All() {
		strategyParameters(&b, definition)
	}
	return b.Bytes()
}

// keyBlocks writes a table for the keys without a block, and one for each block.
func keyBlocks(w io.Writer, keys []Key) {
	blocks := []string{""}
	members := map[string][]Key{}
	for _, k := range keys {
		block, _, nested := strings.Cut(k.Path, ".")
		switch {
		case k.Kind == KindBlock && nested:
			continue
		case k.Kind == KindBlock:
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

func keyLine(w io.Writer, k Key) {
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
	example = strings.ReplaceAll(example, "\n", "` and `") // for a key that needs another block
	fmt.Fprintf(w, "| `%s` | %s | %s | %s | %s | %s | `%s` | %s | %s |\n", k.Path, kind, k.Low, k.High, standard, k.Modes, example, k.Instead, k.What)
}

// coded puts a value between backticks. It returns an empty value unchanged.
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
