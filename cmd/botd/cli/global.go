package cli

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
)

// globals are the flags of every command.
type globals struct {
	columns        []string
	noHeader       bool
	quiet, verbose bool
	noColour       bool
	colour         choice
	noInput, yes   bool
	timeout        time.Duration
	messages       io.Writer // where messages go, questions too when they are quiet
	cancel         context.CancelFunc
}

// choice is the value of a flag that takes one of a few words.
type choice struct {
	word string
	of   []string
}

func (c *choice) String() string { return c.word }

// Type names the value in the help.
func (c *choice) Type() string { return strings.Join(c.of, "|") }

// Set takes a word.
func (c *choice) Set(word string) error {
	if !slices.Contains(c.of, word) {
		return errors.New(strings.Join(c.of, ", "))
	}
	c.word = word
	return nil
}

// add gives a root its flags.
func (g *globals) add(root *cobra.Command) {
	g.colour = choice{"auto", []string{"auto", "always", "never"}}
	f := root.PersistentFlags()
	f.StringSliceVar(&g.columns, "columns", nil, "of what -o prints these alone, by the names that -o csv has")
	f.BoolVar(&g.noHeader, "no-header", false, "tables and csv without their first line")
	f.BoolVarP(&g.quiet, "quiet", "q", false, "no messages and no progress, but what went wrong; botd run: warnings and errors alone")
	f.BoolVarP(&g.verbose, "verbose", "v", false, "tell each request to the daemon, and how long it took; botd run: debug")
	f.DurationVar(&g.timeout, "timeout", 0, "end after that long, with exit code 75 where something is not done (default: no end; an answer of the daemon is waited for 10s)")
	f.BoolVar(&g.yes, "yes", false, "do not ask, on a live account either")
	f.BoolVar(&g.noInput, "no-input", false, "never ask: what would be asked is refused, or done with --yes")
	f.Var(&g.colour, "color", "colours: on a terminal, always or never")
	f.BoolVar(&g.noColour, "no-color", false, "as --color never (also: NO_COLOR, TERM=dumb; FORCE_COLOR is for where there is no terminal)")
	completeWith(root, "color", g.colour.of...)
}

type globalKey struct{}

// globalsOf are a command's, as they were given.
func globalsOf(ctx context.Context) *globals {
	if ctx == nil {
		return &globals{}
	}
	if g, given := ctx.Value(globalKey{}).(*globals); given {
		return g
	}
	return &globals{}
}

// errTimeout is the cause of a context that --timeout ended.
var errTimeout = errors.New("timed out")

// begin puts the flags in force before a command runs.
func (g *globals) begin(command *cobra.Command) error {
	g.messages = command.ErrOrStderr()
	shaped := len(g.columns) > 0 || g.noHeader
	switch {
	case g.quiet && g.verbose:
		return usage("--quiet and --verbose: one of them")
	case g.timeout < 0:
		return usage("--timeout %s: above 0", g.timeout)
	case shaped && command.Flags().Lookup("output") == nil:
		return usage("%s has no -o: --columns and --no-header are for commands that print rows", command.CommandPath())
	case len(g.columns) > 0 && strings.Contains(command.Flags().Lookup("output").Value.String(), "="):
		return usage("columns are picked by --columns or by -o csv=..., not by both")
	}
	ctx := context.WithValue(command.Context(), globalKey{}, g)
	if g.timeout > 0 {
		ctx, g.cancel = context.WithTimeoutCause(ctx, g.timeout, errTimeout)
	}
	command.SetContext(ctx)
	if shaped {
		command.SetOut(&shape{command.OutOrStdout(), g.columns, g.noHeader})
	}
	if g.quiet && command.Name() != "run" { // the daemon's log has a level for that
		command.SetErr(io.Discard)
	}
	return nil
}

// end tells how the flags had a command end.
func (g *globals) end(ran *cobra.Command, err error) error {
	if g.cancel == nil {
		return err
	}
	defer g.cancel()
	if err != nil && errors.Is(context.Cause(ran.Context()), errTimeout) {
		return failure(exitTemporary, "--timeout was given; what a daemon was asked for may go on", "%s did not end within %s", ran.CommandPath(), g.timeout)
	}
	return err
}

// shape is a writer that knows which columns of rows are wanted, and whether with a header.
type shape struct {
	io.Writer
	columns []string
	bare    bool
}

func (s *shape) onTo() io.Writer { return s.Writer }

// shapeOf is the shape that a writer has, or that what it is passed on to has.
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

// whole refuses a shape where rows are written as they come.
func whole(w io.Writer, output string) error {
	if s := shapeOf(w); s.bare || len(s.columns) > 0 {
		return usage("-o %s has every column and its header here: --columns and --no-header are for what is printed as a whole", output)
	}
	return nil
}

// person is who could be asked: at a terminal, and not told by a flag to be left alone.
func person(command *cobra.Command) (*os.File, bool) {
	in, file := command.InOrStdin().(*os.File)
	return in, file && terminal(in) && !globalsOf(command.Context()).noInput
}

// question is where questions are written, however quiet the messages are.
func question(command *cobra.Command) io.Writer {
	if g := globalsOf(command.Context()); g.messages != nil {
		return g.messages
	}
	return command.ErrOrStderr()
}

// dryFlag adds -n to a command that changes something.
func dryFlag(command *cobra.Command, dry *bool, what string) {
	command.Flags().BoolVarP(dry, "dry-run", "n", false, what)
}

// level is that of a daemon's log; empty for its own.
func (g *globals) level() string {
	switch {
	case g.quiet:
		return "warn"
	case g.verbose:
		return "debug"
	}
	return ""
}

// nothingDone ends the output of a trial.
const nothingDone = "nothing was done (--dry-run)"

// told writes a message of --verbose.
func (g *globals) told(format string, values ...any) {
	if g.verbose && g.messages != nil {
		fmt.Fprintf(g.messages, format+"\n", values...)
	}
}
