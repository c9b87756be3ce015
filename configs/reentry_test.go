package configs_test

import (
	"strings"
	"testing"

	"botd/configs"
)

// The script has entries and a stop, and does not say what enters again.
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
		if have := strings.Contains(problems.String(), "never returns flat"); have != c.warns {
			t.Errorf("%s: want the warning %t, have %q", c.name, c.warns, problems)
		}
	}
}

// On spot a stop and a resting exit cannot hold the same asset.
func TestExitsBlockedByStopAreWarnedOf(t *testing.T) {
	t.Parallel()
	const both = "reentry('immediate')\ndef decide(view):\n    return plan(target = size(1), stop_loss = '2%', exits = targets([('1%', '50%')]))\n"
	const exits = "reentry('immediate')\ndef decide(view):\n    return plan(target = size(1), exits = targets([('1%', '50%')]))\n"
	for _, c := range []struct {
		name, market, script, keys string
		warns                      bool
	}{
		{"a stop of the script", "spot", both, "", true},
		{"a stop of the file", "spot", exits, "protect: {stop_loss: 2%}\n", true},
		{"a trailing stop of the file", "spot", exits, "protect: {trailing: {offset: 3%, distance: 2%}}\n", true},
		{"no stop", "spot", exits, "", false},
		{"a take-profit alone", "spot", exits, "protect: {take_profit: 2%}\n", false},
		{"no exits", "spot", "reentry('immediate')\ndef decide(view):\n    return plan(target = size(1), stop_loss = '2%') # exits = none\n", "", false},
		{"on futures both rest", "futures", both, "", false},
	} {
		text := "name: a\nstrategy: script\nfile: a.star\nmarket: " + c.market + "\nsymbol: BTC-USDT\ninterval: 1h\n" + c.keys
		_, problems := configs.Load(tree("botd.yaml", "mode: demo\n", "strategies/a.yaml", text, "strategies/a.star", c.script), "", options(t))
		if have := strings.Contains(problems.String(), "exits next to a stop on spot"); have != c.warns {
			t.Errorf("%s: want the warning %t, have %q", c.name, c.warns, problems)
		}
	}
}
