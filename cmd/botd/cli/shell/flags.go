// Package shell provides what every command needs: global flags, output formats, tables, progress, prompts,
// signals.
package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"botd/internal/failure"
)

// Globals are the flags of every command.
type Globals struct {
	columns        []string
	noHeader       bool
	quiet, verbose bool
	NoColor        bool
	Color          Choice
	NoInput, Yes   bool
	Timeout        time.Duration
	messages       io.Writer // destination of messages, and of questions even in quiet mode
	cancel         context.CancelFunc
}

// Choice is the value of a flag that accepts a few words.
type Choice struct {
	Word string
	of   []string
}

// String returns the word.
func (c *Choice) String() string { return c.Word }

// Type names the value in the help.
func (c *Choice) Type() string { return strings.Join(c.of, "|") }

// Set takes a word.
func (c *Choice) Set(word string) error {
	if !slices.Contains(c.of, word) {
		return errors.New(strings.Join(c.of, ", "))
	}
	c.Word = word
	return nil
}

// Add adds the global flags to a root command.
func (g *Globals) Add(root *cobra.Command) {
	g.Color = Choice{"auto", []string{"auto", "always", "never"}}
	f := root.PersistentFlags()
	f.StringSliceVar(&g.columns, "columns", nil, "print only these columns, by the names that -o csv has")
	f.BoolVar(&g.noHeader, "no-header", false, "print tables and csv without the header")
	f.BoolVarP(&g.quiet, "quiet", "q", false, "no messages and no progress, only errors; botd run: only warnings and errors")
	f.BoolVarP(&g.verbose, "verbose", "v", false, "print each request to the daemon, and how long it took; botd run: debug")
	f.DurationVar(&g.Timeout, "timeout", 0, "stop after this long, with exit code 75 if something is unfinished (default: none; requests to the "+
		"daemon time out after 10s)")
	f.BoolVar(&g.Yes, "yes", false, "do not ask, not even on a live account")
	f.BoolVar(&g.NoInput, "no-input", false, "never ask: refuse instead, or proceed with --yes")
	f.Var(&g.Color, "color", "colors: auto (only on a terminal), always or never")
	f.BoolVar(&g.NoColor, "no-color", false, "as --color never (also: NO_COLOR, TERM=dumb; FORCE_COLOR forces colors without a terminal)")
	CompleteWith(root, "color", g.Color.of...)
}

type globalKey struct{}

// In returns a context with the flags.
func (g *Globals) In(ctx context.Context) context.Context {
	return context.WithValue(ctx, globalKey{}, g)
}

// GlobalsOf returns the flags of a command as given.
func GlobalsOf(ctx context.Context) *Globals {
	if ctx == nil {
		return &Globals{}
	}
	if g, given := ctx.Value(globalKey{}).(*Globals); given {
		return g
	}
	return &Globals{}
}

// errTimeout is the cause of a context that --timeout canceled.
var errTimeout = errors.New("timed out")

// Begin applies the flags before a command runs.
func (g *Globals) Begin(command *cobra.Command) error {
	g.messages = command.ErrOrStderr()
	shaped := len(g.columns) > 0 || g.noHeader
	switch {
	case g.quiet && g.verbose:
		return failure.Usagef("--quiet and --verbose are mutually exclusive")
	case g.Timeout < 0:
		return failure.Usagef("--timeout %s: above 0", g.Timeout)
	case shaped && command.Flags().Lookup("output") == nil:
		return failure.Usagef("%s has no -o: --columns and --no-header are for commands that print rows", command.CommandPath())
	case len(g.columns) > 0 && strings.Contains(command.Flags().Lookup("output").Value.String(), "="):
		return failure.Usagef("select columns with --columns or with -o csv=..., not with both")
	}
	ctx := g.In(command.Context())
	if g.Timeout > 0 {
		ctx, g.cancel = context.WithTimeoutCause(ctx, g.Timeout, errTimeout)
	}
	command.SetContext(ctx)
	if colors := Colors(command, command.OutOrStdout()); shaped || colors {
		command.SetOut(&shape{command.OutOrStdout(), g.columns, g.noHeader, colors})
	}
	if g.quiet && command.Name() != "run" { // the daemon's log has its own level
		command.SetErr(io.Discard)
	}
	return nil
}

// End returns the error of a command that a flag stopped.
func (g *Globals) End(ran *cobra.Command, err error) error {
	if g.cancel == nil {
		return err
	}
	defer g.cancel()
	if err != nil && errors.Is(context.Cause(ran.Context()), errTimeout) {
		return failure.New(failure.Temporary, "--timeout ended it; the daemon may still be carrying out the request", "%s did not finish within %s",
			ran.CommandPath(), g.Timeout)
	}
	return err
}

// shape is a writer with the selected columns of rows, and with or without a header and colors.
type shape struct {
	io.Writer
	columns  []string
	noHeader bool
	colors   bool
}

func (s *shape) onTo() io.Writer { return s.Writer }

// shapeOf returns the shape of a writer, or of the writer behind it.
func shapeOf(w io.Writer) *shape {
	for {
		if s, shaped := w.(*shape); shaped {
			return s
		}
		next, passes := w.(onTo)
		if !passes {
			return &shape{}
		}
		w = next.onTo()
	}
}

// RefuseShape rejects a shape for output that writes rows as they arrive.
func RefuseShape(w io.Writer, output string) error {
	if s := shapeOf(w); s.noHeader || len(s.columns) > 0 {
		return failure.Usagef("here -o %s always prints all columns with a header: --columns and --no-header do not apply to streamed rows", output)
	}
	return nil
}

// Person returns the terminal of a person who can be asked, unless a flag forbids questions.
func Person(command *cobra.Command) (*os.File, bool) {
	in, file := command.InOrStdin().(*os.File)
	return in, file && Terminal(in) && !GlobalsOf(command.Context()).NoInput
}

// Question returns the destination of questions, even in quiet mode.
func Question(command *cobra.Command) io.Writer {
	if g := GlobalsOf(command.Context()); g.messages != nil {
		return g.messages
	}
	return command.ErrOrStderr()
}

// DryRunFlag adds -n to a command that changes something.
func DryRunFlag(command *cobra.Command, dry *bool, what string) {
	command.Flags().BoolVarP(dry, "dry-run", "n", false, what)
}

// Level returns the daemon's log level; empty for its own.
func (g *Globals) Level() string {
	switch {
	case g.quiet:
		return "warn"
	case g.verbose:
		return "debug"
	}
	return ""
}

// NothingDone ends the output of a dry run.
const NothingDone = "nothing was done (--dry-run)"

// Trace writes a message of --verbose.
func (g *Globals) Trace(format string, values ...any) {
	if g.verbose && g.messages != nil {
		fmt.Fprintf(g.messages, format+"\n", values...)
	}
}
