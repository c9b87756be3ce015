package offline

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// markdownHead is the beginning of docs/cli.md.
//
//go:embed cli_head.md
var markdownHead string

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
	b.WriteString("\nA daemon that stops cleanly on Ctrl-C or SIGTERM exits with 0; a second signal ends it at once, with 130 or 143. " +
		"systemd does not\nrestart botd after 64, 65, 77 and 78: a person must act first.\n")
	b.WriteString("\n## Environment\n\n| variable | what it does |\n|---|---|\n")
	for _, e := range environment {
		fmt.Fprintf(&b, "| `%s` | %s |\n", e.name, e.what)
	}
	return b.Bytes()
}

// environment lists the environment variables that botd reads.
var environment = []struct{ name, what string }{
	{"NO_COLOR", "no colors if not empty; the same with TERM=dumb or `--no-color`"},
	{"FORCE_COLOR", "colors even without a terminal"},
	{"BOTD_TOKEN_FILE", "file of mode 600 with a token, for a daemon reached over TCP; default: the token in its data directory"},
	{"BOTD_CONFIG", "configuration directory, if there is neither `-c` nor ./configs; default /etc/botd. `botd run` does not read it"},
	{"BOTD_CACHE", "directory for parsed candles, or `off`; default: the user's cache directory"},
	{"CREDENTIALS_DIRECTORY",
		"set by systemd: the directory of BOTD_KEY, BOTD_SECRET, BOTD_NOTIFY_NAME, BOTD_SIGNAL_TOKEN, BOTD_METRICS_TOKEN, BOTD_HEARTBEAT, " +
			"BOTD_TELEGRAM_TOKEN"},
	{"NOTIFY_SOCKET", "set by systemd: the socket for readiness and the watchdog"},
}

// flagText formats a flag as a user types it.
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
		if len(below) == 0 || c.Flags().Lookup("output") != nil { // a group that prints output itself
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
