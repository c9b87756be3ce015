package endtoend

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"botd/internal/failure"
)

// misspelled lists the commands that select by strategy or symbol, with their other arguments, and the result for an unknown name.
var misspelled = []struct {
	command string
	code    int
	more    string // arguments
}{
	{"orders", failure.Usage, "--all"},
	{"orders list", failure.Usage, ""},
	{"fills", failure.Usage, ""},
	{"trades", failure.Usage, ""},
	{"intents", failure.Usage, ""},
	{"intents list", failure.Usage, ""},
	{"reconcile differences", failure.Usage, ""},
	{"risk rejections", failure.Usage, ""},
	{"positions history", failure.Usage, ""},
	{"logs", failure.Usage, ""},
	{"logs", failure.Usage, "--since 1h"},
	{"timeline", failure.Usage, ""},
	{"journal tail", failure.Usage, ""},
	{"journal export", failure.Usage, ""},
	{"ledger", failure.Negative, ""},
	{"halt", failure.Negative, "--reason test --yes"},
	{"rearm", failure.Negative, "--reason test"},
	{"limits set", failure.Negative, "max_drawdown=5% --reason test"},
	{"limits reset", failure.Negative, "max_drawdown --reason test"},
	{"risk halt", failure.Negative, "--reason test --yes"},
	{"risk rearm", failure.Negative, "--reason test"},
	{"risk limits set", failure.Negative, "max_drawdown=5% --reason test"},
	{"risk limits reset", failure.Negative, "max_drawdown --reason test"},
	{"orders cancel", failure.Negative, "--reason test --yes"},
	{"ledger transfer", failure.Negative, "--market futures --asset USDT --amount 5"},
}

// otherwise are the commands whose flag of that name selects nothing of a running account.
var otherwise = []string{"data download", "data export", "data funding generate", "data funding import", "data generate", "data import",
	"data resample", "probe", "try"}

// TestUnknownNameIsRefused runs every command with --strategy or --symbol for an unknown name: an empty answer would look like a
// quiet night.
func TestUnknownNameIsRefused(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.file("configs/botd.yaml", "mode: demo\ndata_dir: ./data\nlisten: 'off'\n", 0o600)
	p.file("configs/strategies/grow.yaml", grows, 0o600)
	_, log := p.start("daemon", "run", "--log-format", "json")
	log.wait(t, `"position.changed"`)
	seen := map[string]bool{}
	for _, c := range misspelled {
		command, _, err := commands().Find(strings.Fields(c.command))
		if err != nil || command.CommandPath() != "botd "+c.command {
			t.Errorf("%s: %v", c.command, err)
			continue
		}
		seen[c.command] = true
		command.Flags().VisitAll(func(f *pflag.Flag) {
			if !chooses(f) {
				return
			}
			name := map[string]string{"strategy": "gorw", "symbol": "NOPE-USDT"}[f.Name]
			answer := p.run(c.code, append(append(strings.Fields(c.command), strings.Fields(c.more)...), "--"+f.Name, name)...)
			if !strings.Contains(answer, name) || f.Name == "strategy" && !strings.Contains(answer, "grow") {
				t.Errorf("%s %s --%s %s: want the name refused and what there is, have %q", c.command, c.more, f.Name, name, answer)
			}
		})
	}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		path := strings.TrimPrefix(c.CommandPath(), "botd ")
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if chooses(f) && !seen[path] && !slices.Contains(otherwise, path) {
				t.Errorf("botd %s --%s: what does it answer to a name that is not there?", path, f.Name)
			}
		})
		for _, below := range c.Commands() {
			walk(below)
		}
	}
	walk(commands())
	for known, arguments := range map[string]string{"fills": "fills --strategy grow", "nothing yet": "risk rejections --strategy grow",
		"of the files": "timeline --strategy grow", "a symbol": "journal tail --symbol BTC-USDT"} {
		if answer := p.run(failure.OK, strings.Fields(arguments)...); strings.Contains(answer, "hint") {
			t.Errorf("%s: want an answer, have %s", known, answer)
		}
	}
}

// chooses reports whether a flag takes the name of a strategy or a symbol.
func chooses(f *pflag.Flag) bool {
	return (f.Name == "strategy" || f.Name == "symbol") && f.Value.Type() == "string"
}
