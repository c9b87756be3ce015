package offline

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"botd/docs"
	"botd/internal/failure"
	"botd/internal/plural"
)

// NewMan returns the command botd man.
func NewMan() *cobra.Command {
	var (
		directory, into string
		markdown, api   bool
	)
	command := &cobra.Command{
		Use: "man [COMMAND...]", Short: "manual pages of botd and each of its commands",
		Long: `Prints the manual page of botd, or of one of its commands, in man format. With
--dir every page is written to that directory, in the layout that system packages expect. With
--markdown all commands as one page with a line each: docs/cli.md; with --api the admin API:
docs/api.md.`,
		Example: "  botd man | man -l -\n  botd man backtest run | man -l -\n  botd man --dir /usr/local/share/man/man1\n  go run " +
			"./cmd/botd man --markdown --into docs/cli.md",
		RunE: func(command *cobra.Command, names []string) error {
			root := command.Root()
			if markdown || api {
				if len(names) > 0 || directory != "" || markdown && api {
					return failure.Usagef("--markdown and --api each print one page: omit --dir, one of the two, and %q", strings.Join(names, " "))
				}
				return writePage(command, api, into)
			}
			if into != "" {
				return failure.Usagef("--into requires --markdown or --api")
			}
			if directory == "" {
				found, rest, err := root.Find(names)
				if err != nil || len(rest) > 0 {
					return failure.Usagef("there is no command %q\nhint: botd --help lists them", strings.Join(names, " "))
				}
				return failure.Wrap(failure.IO, writeManual(command.OutOrStdout(), found))
			}
			if len(names) > 0 {
				return failure.Usagef("--dir writes the pages of all commands: omit %q", strings.Join(names, " "))
			}
			written, err := writeManuals(directory, root)
			if err != nil {
				return failure.Wrap(failure.IO, err)
			}
			fmt.Fprintf(command.ErrOrStderr(), "%s in %s\n", plural.Of(written, "page"), directory)
			return nil
		},
	}
	command.Flags().StringVar(&directory, "dir", "", "write every page here, as botd.1, botd-run.1 and so on")
	command.Flags().BoolVar(&markdown, "markdown", false, "all commands as one page of Markdown, a line each, with the exit codes")
	command.Flags().BoolVar(&api, "api", false, "the admin API as one page of Markdown")
	command.Flags().StringVar(&into, "into", "", "with --markdown or --api: the file to write it to")
	if err := command.MarkFlagDirname("dir"); err != nil {
		panic("botd: " + err.Error())
	}
	return command
}

// writePage writes the page of the command line, or of the API.
func writePage(command *cobra.Command, api bool, into string) error {
	page := WriteMarkdown(command.Root())
	if api {
		var err error
		if page, err = docs.APIReference(); err != nil {
			return failure.Wrap(failure.Internal, err)
		}
	}
	if into != "" {
		return failure.Wrap(failure.IO, os.WriteFile(into, page, 0o644))
	}
	_, err := command.OutOrStdout().Write(page)
	return failure.Wrap(failure.IO, err)
}

// writeManuals writes the pages of a command and all its subcommands.
func writeManuals(directory string, command *cobra.Command) (written int, err error) {
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return 0, err
	}
	var page bytes.Buffer
	if err := writeManual(&page, command); err != nil {
		return 0, err
	}
	if err := os.WriteFile(filepath.Join(directory, PageName(command)+".1"), page.Bytes(), 0o644); err != nil {
		return 0, err
	}
	written = 1
	for _, below := range Shown(command) {
		more, err := writeManuals(directory, below)
		if err != nil {
			return written, err
		}
		written += more
	}
	return written, nil
}

// PageName returns the name of a command's manual page: botd-config-diff.
func PageName(command *cobra.Command) string {
	return strings.ReplaceAll(command.CommandPath(), " ", "-")
}

// Shown returns the subcommands that the help lists.
func Shown(command *cobra.Command) (all []*cobra.Command) {
	for _, c := range command.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" {
			all = append(all, c)
		}
	}
	return all
}

// ExitCodes describes the exit codes of every command (contract, Commands).
var ExitCodes = []struct {
	Code int
	What string
}{
	{failure.OK, "done"},
	{failure.Negative, "negative result: a check found problems, a test failed"},
	{failure.Usage, "the command line is wrong"},
	{failure.Data, "bad data"},
	{failure.NoInput, "missing input"},
	{failure.Unavailable, "the daemon or the exchange cannot be reached"},
	{failure.Internal, "a bug in botd"},
	{failure.IO, "reading or writing failed"},
	{failure.Temporary, "not now: try again"},
	{failure.Credentials, "key, token or permission are missing or wrong"},
	{failure.Config, "the configuration is wrong"},
	{130, "ended by SIGINT"},
	{143, "ended by SIGTERM"},
}

// writeManual writes one page in the man macros.
func writeManual(w io.Writer, command *cobra.Command) error {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %q 1 \"\" \"botd\" \"botd\"\n.SH NAME\n%s \\- %s\n", strings.ToUpper(PageName(command)), Roff(PageName(command)), Roff(command.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.nf\n\\fB%s\\fR\n.fi\n", Roff(command.UseLine()))
	if command.HasAvailableSubCommands() && command.HasParent() {
		fmt.Fprintf(&b, ".br\n\\fB%s\\fR COMMAND\n", Roff(command.CommandPath()))
	}
	long := command.Long
	if long == "" {
		long = strings.ToUpper(command.Short[:1]) + command.Short[1:] + "."
	}
	b.WriteString(".SH DESCRIPTION\n.nf\n" + roffLines(long) + ".fi\n")
	if below := Shown(command); len(below) > 0 {
		b.WriteString(".SH COMMANDS\n")
		for _, c := range below {
			fmt.Fprintf(&b, ".TP\n\\fB%s\\fR(1)\n%s\n", Roff(PageName(c)), Roff(c.Short))
		}
	}
	manualFlags(&b, "OPTIONS", command.NonInheritedFlags())
	manualFlags(&b, "OPTIONS OF EVERY COMMAND", command.InheritedFlags())
	if command.Example != "" {
		b.WriteString(".SH EXAMPLES\n.nf\n" + roffLines(command.Example) + ".fi\n")
	}
	b.WriteString(".SH EXIT STATUS\n")
	for _, e := range ExitCodes {
		fmt.Fprintf(&b, ".TP\n%d\n%s\n", e.Code, Roff(e.What))
	}
	b.WriteString(".SH ENVIRONMENT\n")
	for _, e := range environment {
		fmt.Fprintf(&b, ".TP\n%s\n%s\n", Roff(e.name), Roff(strings.ReplaceAll(e.what, "`", "")))
	}
	if command.HasParent() {
		fmt.Fprintf(&b, ".SH SEE ALSO\n\\fB%s\\fR(1)\n", Roff(PageName(command.Parent())))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func manualFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		kind, what := pflag.UnquoteUsage(f)
		fmt.Fprintf(b, ".TP\n\\fB%s\\fR %s\n%s", Roff(name), Roff(kind), Roff(what))
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "[]" && f.DefValue != "0s" {
			fmt.Fprintf(b, " (default %s)", Roff(f.DefValue))
		}
		b.WriteByte('\n')
	})
}

// Roff escapes a text, so that none of it is read as a request.
func Roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

func roffLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(Roff(strings.TrimRight(line, "\n")) + "\n")
	}
	return b.String()
}
