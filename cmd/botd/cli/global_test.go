package cli

import (
	"bytes"
	"context"
	"testing"

	"github.com/spf13/cobra"

	"botd/configs"
	"botd/runtime/view"
)

// given is a command for which these flags of every command were given.
func given(t *testing.T, g *globals) *cobra.Command {
	command := &cobra.Command{}
	command.SetContext(context.WithValue(t.Context(), globalKey{}, g))
	command.SetErr(&bytes.Buffer{})
	return command
}

func TestALiveAccountIsConfirmedOrRefusedNeverAskedInVain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		mode configs.Mode
		g    globals
		want int
	}{
		{"live, without input", configs.Live, globals{noInput: true}, exitUsage},
		{"live, without input but yes", configs.Live, globals{noInput: true, yes: true}, exitOK},
		{"demo, without input", configs.Demo, globals{noInput: true}, exitOK},
		{"live, by a program that said neither", configs.Live, globals{}, exitOK},
	} {
		command := given(t, &c.g)
		command.SetIn(&bytes.Buffer{})
		err := confirmLive(command, &running{status: view.Status{Mode: string(c.mode), Instance: "main"}}, "/", nil, showHalt)
		have := exitOK
		if err != nil {
			have = exitCode(err)
		}
		if have != c.want {
			t.Errorf("%s: want exit code %d, have %d: %v", c.name, c.want, have, err)
		}
	}
}

func TestTheFlagForColoursStandsAboveTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		name        string
		flag        globals
		none, force string
		want        bool
	}{
		{"nothing said, no terminal", globals{}, "", "", false},
		{"forced", globals{}, "", "1", true},
		{"NO_COLOR above FORCE_COLOR", globals{}, "1", "1", false},
		{"always above NO_COLOR", globals{colour: choice{word: "always"}}, "1", "", true},
		{"never above FORCE_COLOR", globals{colour: choice{word: "never"}}, "", "1", false},
		{"no-color above always", globals{noColour: true, colour: choice{word: "always"}}, "", "", false},
	} {
		t.Setenv("TERM", "xterm")
		t.Setenv("NO_COLOR", c.none)
		t.Setenv("FORCE_COLOR", c.force)
		if have := colours(given(t, &c.flag), &bytes.Buffer{}); have != c.want {
			t.Errorf("%s: want colours %t, have %t", c.name, c.want, have)
		}
	}
}

func TestATokenGoesOverNoNetworkInTheClear(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]bool{"http://127.0.0.1:1": true, "http://localhost:1": true, "http://[::1]:1": true, "https://bot.example": true, "http://bot.example": false, "http://192.0.2.1:8420": false} {
		d := daemon{where: base, base: base, token: "t"}
		if have := d.private() == nil; have != want {
			t.Errorf("%s: want let through %t, have %t", base, want, have)
		}
	}
}
