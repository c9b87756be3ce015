package shell

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"botd/internal/failure"
)

func doNothing(*cobra.Command, []string) error { return nil }

func TestACommandThatIsMistyped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ arguments, want string }{
		{"", ""},
		{"backtset", "unknown command \"backtset\" for botd\nhint: did you mean backtest?"},
		{"bt", "unknown command \"bt\" for botd\nhint: did you mean bt2?"},
		{"simulate", "unknown command \"simulate\" for botd\nhint: it is botd-sim simulate"},
		{"demo", "unknown command \"demo\" for botd\nhint: it is botd-sim chaos; botd run is a demo"},
		{"zzzzzzzzzz", "unknown command \"zzzzzzzzzz\" for botd"},
		{"secrets", "unknown command \"secrets\" for botd"},
		{"lmits sett", "unknown command \"lmits\" for botd\nhint: did you mean limits?"},
		{"limits sett", "unknown command \"sett\" for botd limits\nhint: did you mean set?"},
		{"limits", "help of limits"},
		{"old x", ""},
	} {
		limits := Group("limits", "help of limits", "", "", &cobra.Command{Use: "set", RunE: doNothing})
		root := &cobra.Command{Use: "botd", SilenceErrors: true, SilenceUsage: true, Args: UnknownCommand, RunE: doNothing}
		root.AddCommand(limits, &cobra.Command{Use: "backtest", Aliases: []string{"bt2"}, RunE: doNothing},
			Alias("old", &cobra.Command{Use: "new ID", RunE: doNothing}), &cobra.Command{Use: "secret", Hidden: true, RunE: doNothing})
		var out bytes.Buffer
		root.SetOut(&out)
		root.SetArgs(strings.Fields(c.arguments))
		have := ""
		if err := root.Execute(); err != nil {
			if have = err.Error(); failure.CodeOf(err) != 64 {
				t.Errorf("botd %s: want exit code 64, have %d", c.arguments, failure.CodeOf(err))
			}
		} else {
			have, _, _ = strings.Cut(out.String(), "\n")
		}
		if have != c.want {
			t.Errorf("botd %s: want %q, have %q", c.arguments, c.want, have)
		}
	}
}

func TestAnAliasIsNotInTheHelp(t *testing.T) {
	t.Parallel()
	for use, want := range map[string]string{"positions": "pos", "order ID": "pos ID", "transfer FROM TO": "pos FROM TO"} {
		if have := Alias("pos", &cobra.Command{Use: use}); have.Use != want || !have.Hidden {
			t.Errorf("%s: want a hidden %q, have %q, %t", use, want, have.Use, have.Hidden)
		}
	}
}

func TestACommandTakesOneArgument(t *testing.T) {
	t.Parallel()
	for want, arguments := range map[string][]string{
		"botd order takes one id, not 0 arguments": nil,
		"": {"7"},
		"botd order takes one id, not 2 arguments": {"7", "8"},
	} {
		root := &cobra.Command{Use: "botd", SilenceErrors: true, SilenceUsage: true}
		root.AddCommand(&cobra.Command{Use: "order", Args: One("id"), RunE: doNothing})
		root.SetArgs(append([]string{"order"}, arguments...))
		have := ""
		if err := root.Execute(); err != nil {
			if have = err.Error(); failure.CodeOf(err) != 64 {
				t.Errorf("want exit code 64, have %d", failure.CodeOf(err))
			}
		}
		if have != want {
			t.Errorf("%q: want %q, have %q", arguments, want, have)
		}
	}
}

// TestAShellCompletesFlags asks as the completion scripts do.
func TestAShellCompletesFlags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flag string
		want []string
	}{{"--color", []string{"auto", "always", "never"}}, {"--output", []string{"table", "json", "jsonl", "csv"}}} {
		var out bytes.Buffer
		root, _ := program(&Globals{}, &out, io.Discard)
		root.SetArgs([]string{cobra.ShellCompRequestCmd, "show", c.flag, ""})
		if err := root.Execute(); err != nil {
			t.Fatal(err)
		}
		if have := strings.Fields(out.String()); len(have) < len(c.want) || !slices.Equal(have[:len(c.want)], c.want) {
			t.Errorf("%s: want %q, have %q", c.flag, c.want, have)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("want a panic for a flag that does not exist")
		}
	}()
	CompleteWith(&cobra.Command{Use: "x"}, "color")
}
