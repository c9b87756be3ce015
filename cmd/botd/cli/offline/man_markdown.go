package offline

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const markdownHead = `# The command line

<!-- Made by ` + "`go run ./cmd/botd man --markdown --into docs/cli.md`" + `: change the code, not this file. -->

` + "`botd COMMAND --help`" + ` teaches each, with an example; ` + "`botd man COMMAND | man -l -`" + ` is the same as a manual page, ` + "`botd completion bash|zsh|fish`" + `
makes a shell complete commands, flags, symbols and names of strategies. Data go to stdout, messages and progress to stderr. A command, flag or
name that is mistyped is answered with the nearest there is.

The column *takes* names what a command shares with others:

- ` + "`-o`" + `: ` + "`table`, `json`, `jsonl`" + ` (a line a row) or ` + "`csv`; `csv=COLUMN,COLUMN`" + ` picks columns. Amounts are texts, times RFC 3339 in UTC or ` + "`_ms`" + `.
- ` + "`--watch`" + `: shown anew as it changes, until Ctrl-C.
- ` + "`-n`" + `, ` + "`--dry-run`" + `: what it would do, and nothing is done.
- *asks*: it asks the running botd, by the unix socket of its data directory (` + "`-c`" + ` names the configuration) or at ` + "`--socket PATH`" + `, ` + "`--url URL`" + ` or ` + "`--listen HOST:PORT`" + `.

Also understood: ` + "`orders list`, `positions list`, `intents list`" + ` for those without the word, ` + "`sim serve`" + ` for ` + "`exchange`, `config init`" + ` for ` + "`init`, `support bundle`" + ` for ` + "`support`, `--version`" + `.
`

// WriteMarkdown writes docs/cli.md: every command in a line, and the exit codes.
func WriteMarkdown(root *cobra.Command) []byte {
	var b bytes.Buffer
	b.WriteString(markdownHead)
	b.WriteString("\n| command | what it does | takes |\n|---|---|---|\n")
	markdownLines(&b, root)
	b.WriteString("\n## Flags of every command\n\n| flag | what it does |\n|---|---|\n")
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) { fmt.Fprintf(&b, "| `%s` | %s |\n", flagText(f), f.Usage) })
	b.WriteString("\n## Exit codes\n\n| code | when |\n|---|---|\n")
	for _, e := range ExitCodes {
		fmt.Fprintf(&b, "| %d | %s |\n", e.Code, e.What)
	}
	b.WriteString("\nA daemon that ends by Ctrl-C or SIGTERM in good order ends with 0; a second signal ends it at once, with 130 or 143. systemd does not start botd\nagain after 64, 65, 77 and 78: somebody has to mend something first.\n")
	b.WriteString("\n## Environment\n\n| variable | what it does |\n|---|---|\n")
	for _, e := range environment {
		fmt.Fprintf(&b, "| `%s` | %s |\n", e.name, e.what)
	}
	return b.Bytes()
}

// environment is what of it botd reads.
var environment = []struct{ name, what string }{
	{"NO_COLOR", "no colours when it is not empty; nor with TERM=dumb, nor with `--no-color`"},
	{"FORCE_COLOR", "colours also where there is no terminal"},
	{"BOTD_TOKEN_FILE", "file of mode 600 with a token, for a daemon that is asked over TCP; without it the one in its data directory"},
	{"BOTD_CACHE", "directory in which parsed candles are kept, or `off`; without it in the user's cache directory"},
	{"CREDENTIALS_DIRECTORY", "set by systemd: where BOTD_KEY, BOTD_SECRET, BOTD_NOTIFY_NAME, BOTD_SIGNAL_TOKEN and BOTD_TELEGRAM_TOKEN stand"},
	{"NOTIFY_SOCKET", "set by systemd: where it is told that botd is ready, and fed its watchdog"},
}

// flagText is a flag as it is written.
func flagText(f *pflag.Flag) string {
	text := "--" + f.Name
	if f.Shorthand != "" {
		text = "-" + f.Shorthand + ", " + text
	}
	switch kind := f.Value.Type(); kind {
	case "bool":
		return text
	case "stringSlice":
		return text + " A,B"
	default:
		return text + " " + strings.ReplaceAll(kind, "|", `\|`)
	}
}

func markdownLines(b *bytes.Buffer, command *cobra.Command) {
	for _, c := range Shown(command) {
		below := Shown(c)
		if len(below) == 0 || c.Flags().Lookup("output") != nil { // a group that shows something itself
			markdownLine(b, c)
		}
		markdownLines(b, c)
	}
}

func markdownLine(b *bytes.Buffer, c *cobra.Command) {
	var takes []string
	for _, name := range []string{"output", "watch", "dry-run"} {
		switch f := c.Flags().Lookup(name); {
		case f == nil:
		case f.Shorthand != "":
			takes = append(takes, "`-"+f.Shorthand+"`")
		default:
			takes = append(takes, "`--"+name+"`")
		}
	}
	if asks := c.Flags().Lookup("listen"); asks != nil && strings.Contains(asks.Usage, "daemon") {
		takes = append(takes, "*asks*")
	}
	use := strings.TrimSuffix(c.UseLine(), " [flags]")
	fmt.Fprintf(b, "| `%s` | %s | %s |\n", strings.ReplaceAll(use, "|", `\|`), strings.ReplaceAll(c.Short, "|", `\|`), strings.Join(takes, " "))
}
