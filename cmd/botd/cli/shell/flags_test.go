package shell

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"botd/internal/failure"
)

// program is a command line with botd's global flags and three commands: show prints rows, act prints none, and run is the daemon.
func program(g *Globals, out, messages io.Writer) (root *cobra.Command, ran *bool) {
	root, ran = &cobra.Command{Use: "botd", SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(command *cobra.Command, _ []string) error { return g.Begin(command) }}, new(bool)
	show := &cobra.Command{Use: "show", RunE: func(command *cobra.Command, _ []string) error {
		*ran = true
		rows := json.RawMessage(`[{"name":"a","net":"+1.50"},{"name":"b","net":"-2"}]`)
		return Print(command, rows, func(w io.Writer) {
			for _, amount := range []string{"+1.50", "-2", "0.00", "-"} {
				fmt.Fprintln(w, Amount(w, amount))
			}
		})
	}}
	OutputFlag(show)
	var dry bool
	act := &cobra.Command{Use: "act", RunE: func(command *cobra.Command, _ []string) error {
		*ran = true
		fmt.Fprintln(command.ErrOrStderr(), "message")
		fmt.Fprintln(Question(command), "sure?")
		GlobalsOf(command.Context()).Trace("GET %s", "/")
		if dry {
			fmt.Fprintln(command.OutOrStdout(), NothingDone)
		}
		return nil
	}}
	DryRunFlag(act, &dry, "do nothing")
	run := &cobra.Command{Use: "run", RunE: act.RunE}
	root.AddCommand(show, act, run)
	root.SetOut(Printable(out))
	root.SetErr(messages)
	g.Add(root)
	return root, ran
}

func TestGlobalFlags(t *testing.T) {
	for _, name := range []string{"NO_COLOR", "FORCE_COLOR"} {
		t.Setenv(name, "")
	}
	t.Setenv("TERM", "xterm")
	const plain, colored = "+1.50\n-2\n0.00\n-\n", "\x1b[32m+1.50\x1b[0m\n\x1b[31m-2\x1b[0m\n0.00\n-\n"
	for _, c := range []struct{ line, out, messages string }{
		{"show", plain, ""},
		{"show --color auto", plain, ""},
		{"show --color always", colored, ""},
		{"show --color never", plain, ""},
		{"show --color always --no-color", plain, ""},
		{"show -o csv", "name,net\na,+1.50\nb,-2\n", ""},
		{"show -o csv --no-header", "a,+1.50\nb,-2\n", ""},
		{"show -o csv=net --no-header", "+1.50\n-2\n", ""},
		{"show -o csv --columns net,name", "net,name\n+1.50,a\n-2,b\n", ""},
		{"show -o jsonl --columns net", "{\"net\":\"+1.50\"}\n{\"net\":\"-2\"}\n", ""},
		{"show -o jsonl --columns net,name", "{\"net\":\"+1.50\",\"name\":\"a\"}\n{\"net\":\"-2\",\"name\":\"b\"}\n", ""},
		{"show --columns net", "┌───────┐\n│ NET   │\n├───────┤\n" +
			"│ +1.50 │\n│ -2    │\n└───────┘\n", ""},
		{"show --columns net --no-header", "┌───────┐\n│ +1.50 │\n│ -2    │\n└───────┘\n", ""},
		{"act", "", "message\nsure?\n"},
		{"act --quiet", "", "sure?\n"},
		{"act -q", "", "sure?\n"},
		{"run -q", "", "message\nsure?\n"},
		{"act --verbose", "", "message\nsure?\nGET /\n"},
		{"act -v", "", "message\nsure?\nGET /\n"},
		{"act -n", "nothing was done (--dry-run)\n", "message\nsure?\n"},
		{"act --dry-run --timeout 1h", "nothing was done (--dry-run)\n", "message\nsure?\n"},
	} {
		var out, messages bytes.Buffer
		root, _ := program(&Globals{}, &out, &messages)
		root.SetArgs(strings.Fields(c.line))
		if err := root.Execute(); err != nil || out.String() != c.out || messages.String() != c.messages {
			t.Errorf("botd %s: want\n%q and %q, have\n%q and %q, %v", c.line, c.out, c.messages, out.String(), messages.String(), err)
		}
	}
}

// Flags are refused before the command begins, except for columns, which only a command that prints them knows.
func TestFlagsThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line, want string
		began      bool
	}{
		{"act -q -v", "--quiet and --verbose are mutually exclusive", false},
		{"act --timeout -1s", "--timeout -1s: above 0", false},
		{"act --columns net", "botd act has no -o: --columns and --no-header are for commands that print rows", false},
		{"act --no-header", "botd act has no -o: --columns and --no-header are for commands that print rows", false},
		{"show --columns net -o csv=name", "select columns with --columns or with -o csv=..., not with both", false},
		{"show --color blue", `invalid argument "blue" for "--color" flag: auto, always, never`, false},
		{"show -o xml", `invalid argument "xml" for "-o, --output" flag: table, json, jsonl, csv, or csv=COLUMN,COLUMN`, false},
		{"show -o csv=", `invalid argument "csv=" for "-o, --output" flag: table, json, jsonl, csv, or csv=COLUMN,COLUMN`, false},
		{"show -o json=net", `invalid argument "json=net" for "-o, --output" flag: table, json, jsonl, csv, or csv=COLUMN,COLUMN`, false},
		{"show -o json --columns net", "-o json is one document: --columns is for table, jsonl and csv", true},
		{"show --columns nett", "there is no column \"nett\"\nhint: there are name, net", true},
	} {
		root, ran := program(&Globals{}, io.Discard, io.Discard)
		root.SetArgs(strings.Fields(c.line))
		err := root.Execute()
		if err == nil || err.Error() != c.want || *ran != c.began {
			t.Errorf("botd %s: want %q, have %v, began %t", c.line, c.want, err, *ran)
		} else if flag := strings.HasPrefix(c.want, "invalid"); !flag && failure.CodeOf(err) != 64 {
			t.Errorf("botd %s: want exit code 64, have %d", c.line, failure.CodeOf(err))
		}
	}
}

func TestTheHelpNamesTheWordsOfAFlag(t *testing.T) {
	t.Parallel()
	root, _ := program(&Globals{}, io.Discard, io.Discard)
	show, _, err := root.Find([]string{"show"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"--color auto|always|never ", "-o, --output FORM ", "(default auto)", "(default table)"} {
		if have := show.UsageString(); !strings.Contains(have, want) {
			t.Errorf("want %q, have\n%s", want, have)
		}
	}
	for _, name := range []string{"no-header", "quiet", "verbose", "yes", "no-input", "no-color", "timeout", "columns"} {
		if f := root.PersistentFlags().Lookup(name); f == nil || !slices.Contains([]string{"false", "0s", "[]"}, f.DefValue) {
			t.Errorf("--%s: want it off by default, have %+v", name, f)
		}
	}
	if act, _, _ := root.Find([]string{"act"}); act.Flags().Lookup("dry-run").DefValue != "false" {
		t.Error("want no dry run by default")
	}
}

// TestColorsFollowTheEnvironment covers the rules of docs/cli.md; the output is no terminal.
func TestColorsFollowTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		none, force, terminal, line string
		want                        bool
	}{
		{"", "", "xterm", "act", false},
		{"", "1", "xterm", "act", true},
		{"1", "1", "xterm", "act", false},
		{"", "1", "dumb", "act", false},
		{"1", "", "dumb", "act --color always", true},
		{"", "1", "xterm", "act --color never", false},
		{"", "1", "xterm", "act --no-color", false},
	} {
		t.Setenv("NO_COLOR", c.none)
		t.Setenv("FORCE_COLOR", c.force)
		t.Setenv("TERM", c.terminal)
		root, _ := program(&Globals{}, io.Discard, io.Discard)
		act, _, _ := root.Find([]string{"act"})
		var have bool
		act.RunE = func(command *cobra.Command, _ []string) error {
			have = Colors(command, io.Discard)
			return nil
		}
		root.SetArgs(strings.Fields(c.line))
		if err := root.Execute(); err != nil || have != c.want {
			t.Errorf("%+v: have %t, %v", c, have, err)
		}
	}
}

// TestTimeoutEndsACommand has exit code 75, as docs/cli.md has it.
func TestTimeoutEndsACommand(t *testing.T) {
	t.Parallel()
	other := errors.New("other")
	for _, c := range []struct {
		line    string
		waits   bool // until the timeout
		returns error
		code    int
		want    string
	}{
		{"act --timeout 1ms", true, other, 75,
			"botd act did not finish within 1ms\nhint: --timeout ended it; the daemon may still be carrying out the request"},
		{"act --timeout 1ms", true, nil, 0, ""},
		{"act --timeout 1h", false, other, 70, "other"},
		{"act --timeout 1h", false, nil, 0, ""},
		{"act --timeout 0s", false, other, 70, "other"},
		{"act", false, nil, 0, ""},
	} {
		var g Globals
		root, _ := program(&g, io.Discard, io.Discard)
		act, _, _ := root.Find([]string{"act"})
		act.RunE = func(command *cobra.Command, _ []string) error {
			if _, limited := command.Context().Deadline(); limited != (g.Timeout > 0) {
				t.Errorf("botd %s: want a deadline with a timeout alone, have %t", c.line, limited)
			}
			if c.waits {
				<-command.Context().Done()
			}
			return c.returns
		}
		root.SetArgs(strings.Fields(c.line))
		ran, err := root.ExecuteContextC(t.Context())
		err = g.End(ran, err)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("botd %s: want no error, have %v", c.line, err)
		case c.want != "" && (err == nil || err.Error() != c.want || failure.CodeOf(err) != c.code):
			t.Errorf("botd %s: want %d and %q, have %v", c.line, c.code, c.want, err)
		}
	}
}

func TestACommandOutsideAProgramHasNoFlags(t *testing.T) {
	t.Parallel()
	command, messages := &cobra.Command{Use: "x"}, &bytes.Buffer{}
	command.SetErr(messages)
	for name, g := range map[string]*Globals{"no context": GlobalsOf(command.Context()), "an empty one": GlobalsOf(context.Background())} {
		if g == nil || g.NoInput || g.Yes || g.Level() != "" {
			t.Errorf("%s: want no flag, have %+v", name, g)
			continue
		}
		g.Trace("nothing")
	}
	if Question(command) != io.Writer(messages) {
		t.Error("want questions on standard error")
	}
	for want, g := range map[string]Globals{"": {}, "warn": {quiet: true}, "debug": {verbose: true}} {
		if have := g.Level(); have != want {
			t.Errorf("want the level %q, have %q", want, have)
		}
		g.Trace("no destination")
	}
}

func TestRowsThatArriveOneByOneHaveNoShape(t *testing.T) {
	t.Parallel()
	const want = "here -o jsonl always prints all columns with a header: --columns and --no-header do not apply to streamed rows"
	for _, c := range []struct {
		out     io.Writer
		refused bool
	}{
		{io.Discard, false},
		{&shape{Writer: io.Discard, colors: true}, false},
		{&shape{Writer: io.Discard, noHeader: true}, true},
		{&shape{Writer: io.Discard, columns: []string{"net"}}, true},
		{Printable(&shape{Writer: io.Discard, columns: []string{"net"}}), true},
		{&glance{to: &failing{w: &shape{Writer: io.Discard, noHeader: true}}}, true},
	} {
		if err := RefuseShape(c.out, "jsonl"); (err != nil) != c.refused || err != nil && (err.Error() != want || failure.CodeOf(err) != 64) {
			t.Errorf("%+v: want refused %t, have %v", c.out, c.refused, err)
		}
	}
}
