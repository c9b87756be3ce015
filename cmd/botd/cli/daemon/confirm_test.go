package daemon

import (
	"bytes"
	"testing"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/internal/failure"
	"botd/runtime/view"
)

func TestLiveAccountIsConfirmedOrRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		mode configs.Mode
		g    shell.Globals
		want int
	}{
		{"live, without input", configs.Live, shell.Globals{NoInput: true}, failure.Usage},
		{"live, without input but yes", configs.Live, shell.Globals{NoInput: true, Yes: true}, failure.OK},
		{"demo, without input", configs.Demo, shell.Globals{NoInput: true}, failure.OK},
		{"live, by a program with neither option", configs.Live, shell.Globals{}, failure.OK},
	} {
		command := &cobra.Command{}
		command.SetContext(c.g.In(t.Context()))
		command.SetErr(&bytes.Buffer{})
		command.SetIn(&bytes.Buffer{})
		err := confirmLive(command, &connect.Running{Status: view.Status{Mode: string(c.mode), Instance: "main"}}, "/", nil, showHalt)
		have := failure.OK
		if err != nil {
			have = failure.CodeOf(err)
		}
		if have != c.want {
			t.Errorf("%s: want exit code %d, have %d: %v", c.name, c.want, have, err)
		}
	}
}
