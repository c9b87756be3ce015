package shell

import (
	"bytes"
	"testing"

	"github.com/spf13/cobra"
)

// given returns a command with these global flags.
func given(t *testing.T, g *Globals) *cobra.Command {
	command := &cobra.Command{}
	command.SetContext(g.In(t.Context()))
	command.SetErr(&bytes.Buffer{})
	return command
}

func TestColorFlagOverridesEnvironment(t *testing.T) {
	for _, c := range []struct {
		name        string
		flag        Globals
		none, force string
		want        bool
	}{
		{"nothing set, no terminal", Globals{}, "", "", false},
		{"forced", Globals{}, "", "1", true},
		{"NO_COLOR above FORCE_COLOR", Globals{}, "1", "1", false},
		{"always above NO_COLOR", Globals{Color: Choice{Word: "always"}}, "1", "", true},
		{"never above FORCE_COLOR", Globals{Color: Choice{Word: "never"}}, "", "1", false},
		{"no-color above always", Globals{NoColor: true, Color: Choice{Word: "always"}}, "", "", false},
	} {
		t.Setenv("TERM", "xterm")
		t.Setenv("NO_COLOR", c.none)
		t.Setenv("FORCE_COLOR", c.force)
		if have := Colors(given(t, &c.flag), &bytes.Buffer{}); have != c.want {
			t.Errorf("%s: want colors %t, have %t", c.name, c.want, have)
		}
	}
}
