package configs_test

import (
	"strings"
	"testing"

	"botd/configs"
)

// TestAScriptThatWaitsAfterAStopIsWarnedOf: entries, a stop, and no word about what enters again.
func TestAScriptThatWaitsAfterAStopIsWarnedOf(t *testing.T) {
	t.Parallel()
	const trend = "def decide(view):\n    return hold('long') if close > open else None # flat\n"
	for _, c := range []struct {
		name, script, keys string
		warns              bool
	}{
		{"a stop of the file", trend, "protect: {stop_loss: 2%}\n", true},
		{"a trailing stop", trend, "protect: {trailing: {offset: 3%, distance: 2%}}\n", true},
		{"a target of the script", "def decide(view):\n    return plan(target = size(1), take_profit = '2%')\n", "", true},
		{"no stop and no target", trend, "", false},
		{"a policy in the file", trend, "protect: {stop_loss: 2%}\nreentry: signal\n", false},
		{"a policy in the script", "reentry('immediate')\n" + trend, "protect: {stop_loss: 2%}\n", false},
		{"an explicit flat", "def decide(view):\n    return hold('long' if close > open else 'flat')\n", "protect: {stop_loss: 2%}\n", false},
		{"a target of nothing", "def decide(view):\n    return plan(target = quantity(0) if close > open else size(1), stop_loss = '2%')\n", "", false},
		{"orders alone", "def decide(view):\n    return plan(orders = [order('a', 'buy', 1, 1)], stop_loss = '2%')\n", "", false},
	} {
		text := "name: a\nstrategy: script\nfile: a.star\nmarket: futures\nsymbol: BTC-USDT\ninterval: 1h\n" + c.keys
		_, problems := configs.Load(tree("botd.yaml", "mode: demo\n", "strategies/a.yaml", text, "strategies/a.star", c.script), "", options(t))
		if have := strings.Contains(problems.String(), "never asks for flat"); have != c.warns {
			t.Errorf("%s: want the warning %t, have %q", c.name, c.warns, problems)
		}
	}
}
