package endtoend

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
)

func (a *stage) run() *demo {
	a.t.Helper()
	return start(a.t, a.binary, a.directory, "-c", "configs", "--mode", "live", "--listen", a.listen)
}

// strategy changes the strategy's file.
func (a *stage) strategy(old, with string) {
	a.t.Helper()
	path := filepath.Join(a.directory, "configs", "strategies", "hold.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		a.t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		a.t.Fatalf("%s holds no %q", path, old)
	}
	write(a.t, path, strings.ReplaceAll(string(text), old, with))
}

func TestStopFlattensIfConfigured(t *testing.T) {
	t.Parallel()
	a := newStage(t, "shutdown: flatten\n")
	daemon := a.run()
	daemon.until(t, "position.changed")
	a.settles("0.05")
	if err := daemon.process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if story := daemon.until(t, "daemon.stopped"); slices.Contains(story, "daemon.left_open") {
		t.Errorf("want nothing left open, have %v", story)
	}
	if err := daemon.wait(); err != nil {
		t.Errorf("a clean stop: want exit code 0, have %v", err)
	}
	a.settles("0")
}

func TestAManualTradeIsAdoptedIfConfigured(t *testing.T) {
	t.Parallel()
	a := newStage(t, "foreign: adopt\n")
	daemon := a.run()
	daemon.until(t, "position.changed")
	a.settles("0.05")
	a.trade(exchange.Buy, "0.02", false)
	if story := daemon.until(t, "position.adopted"); slices.Contains(story, "symbol.quarantined") {
		t.Errorf("want no quarantine, have %v", story)
	}
	a.settles("0.05") // the target sells the excess
}

func TestARemovedStrategysPositionIsClosedOrStays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ policy, remaining, event string }{
		{"on_remove: flatten", "0", "order.settled"},
		{"on_remove: leave", "0.05", "trading.halted"},
	} {
		t.Run(c.policy, func(t *testing.T) {
			t.Parallel()
			a := newStage(t, "")
			a.strategy("leverage: 10", "leverage: 10\nstart: running\n"+c.policy) // the other strategy is new to the account
			daemon := a.run()
			daemon.until(t, "position.changed")
			a.settles("0.05")
			if err := daemon.process.Kill(); err != nil {
				t.Fatal(err)
			}
			daemon.wait()
			a.strategy("name: hold", "name: other")
			a.strategy("BTC-USDT", "ETH-USDT")
			daemon = a.run()
			daemon.until(t, c.event)
			a.settles(c.remaining)
			if c.remaining != "0" {
				a.want(0, []string{"HALTED (BTC-USDT)", "was removed from the configuration", "botd rearm --symbol BTC-USDT"}, "status")
			}
		})
	}
}
