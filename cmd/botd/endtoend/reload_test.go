package endtoend

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"botd/configs"
	"botd/runtime/reload"
)

const reloadedYAML = `name: mine
strategy: script
file: mine.star
market: futures
symbol: BTC-USDT
interval: 1m
schedule: "@every 1s"
size: {quantity: 0.01}
`

// A script is changed while the daemon runs. The new one replaces it, a bad one does not, and an unchangeable
// setting is reported.
func TestAChangedScriptTakesItsPlaceAndABadOneDoesNot(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	binary := build(t)
	put := func(file, text string) {
		t.Helper()
		file = filepath.Join(directory, "configs", file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		// A file written twice within the clock's resolution must still look changed.
		later := time.Now().Add(time.Duration(len(text)) * time.Millisecond)
		if err := os.Chtimes(file, later, later); err != nil {
			t.Fatal(err)
		}
	}
	put("botd.yaml", "mode: demo\ndata_dir: ./data\n")
	put("strategies/mine.yaml", reloadedYAML)
	put("strategies/mine.star", "def decide(view):\n    return hold(\"flat\")\n")
	d := start(t, binary, directory)
	d.until(t, "market.candle")
	put("strategies/mine.star", "def decide(view):\n    return hold(\"up\")\n")
	d.until(t, "config.rejected")
	put("strategies/mine.star", "def decide(view):\n    return hold(\"long\", reason = \"changed\")\n")
	d.until(t, "strategy.reloaded")
	d.until(t, "order.fill")
	put("strategies/lib/sides.star", "def side():\n    return \"long\"\n")
	put("strategies/mine.star", "load(\"lib/sides.star\", \"side\")\n\ndef decide(view):\n    return hold(side(), reason = \"loaded\")\n")
	d.until(t, "strategy.reloaded")
	put("strategies/lib/sides.star", "def side():\n    return \"flat\"\n")
	d.until(t, "strategy.reloaded")
	d.until(t, "order.fill")
	put("botd.yaml", "mode: demo\ndata_dir: ./data\nshutdown: flatten\n")
	put("strategies/mine.yaml", strings.Replace(reloadedYAML, "0.01", "0.02", 1))
	hangUp(t, d)
	if story := d.until(t, "config.needs_restart"); slices.Contains(story, "strategy.reloaded") {
		t.Errorf("a change that takes a restart: want nothing applied, have %v", story)
	}
	effective := func() string { _, text := askDemo(t, directory, "/api/v1/config"); return text }
	if have := effective(); !strings.Contains(have, `shutdown: leave\n`) || !strings.Contains(have, `quantity: 0.01\n`) {
		t.Errorf("want the configuration that runs shown, have %s", have)
	}
	if _, have := askDemo(t, directory, "/api/v1/health"); !strings.Contains(have, "the files have changed and are not applied") {
		t.Errorf("health: want it reported that files and daemon differ, have %s", have)
	}
	put("strategies/mine.yaml", strings.Replace(reloadedYAML, "1m", "5m", 1))
	put("botd.yaml", "mode: demo\ndata_dir: ./data\n")
	hangUp(t, d)
	d.until(t, "config.rejected")
	put("strategies/mine.yaml", strings.Replace(reloadedYAML, "0.01", "0.02", 1))
	hangUp(t, d)
	d.until(t, "config.strategy_reloaded")
	d.until(t, "config.reloaded")
	if have := effective(); !strings.Contains(have, `quantity: 0.02\n`) {
		t.Errorf("want the new configuration shown, have %s", have)
	}
	if _, have := askDemo(t, directory, "/api/v1/health"); strings.Contains(have, "not applied") || strings.Contains(have, "loaded at start") {
		t.Errorf("health: want it reported when it was loaded, have %s", have)
	}
	if _, have := askDemo(t, directory, "/api/v1/audit?actor=file"); !strings.Contains(have, "strategies.mine.size.quantity 0.02 (was 0.01)") {
		t.Errorf("audit: want what changed, value by value, have %s", have)
	}
}

func hangUp(t *testing.T, d *demo) {
	t.Helper()
	if err := d.process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
}

func TestAnAddedOrRemovedStrategyIsOneChange(t *testing.T) {
	t.Parallel()
	const one = "strategies:\n- name: one\n  strategy: twap\n  symbol: BTC-USDT\n  leverage: 1\n"
	const two = "- name: two\n  strategy: rsi\n  symbol: ETH-USDT\n"
	for _, c := range []struct{ was, is, want string }{
		{one, one, "no value changed"},
		{one, one + two, "strategies.two is new"},
		{one + two, one, "strategies.two is removed"},
		{one, strings.Replace(one, "leverage: 1", "leverage: 2", 1) + two, "strategies.one.leverage 2 (was 1), strategies.two is new"},
		{one, strings.Replace(one, "twap", "rsi", 1), "strategies.one.strategy rsi (was twap)"},
	} {
		differences, err := configs.Differences(c.was, c.is)
		if err != nil {
			t.Fatal(err)
		}
		if have := reload.Changes(differences); have != c.want {
			t.Errorf("want %q, have %q", c.want, have)
		}
	}
}
