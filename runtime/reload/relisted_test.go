package reload

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
)

// A start's lists omitted the symbol of a strategy that was traded before: it fails, and runs again once the exchange lists the symbol.
func TestStrategyRunsOnceItsSymbolIsListedAgain(t *testing.T) {
	t.Parallel()
	signalsBegin()
	if fault := listedAgain(t); fault != "" {
		t.Error(fault)
	}
}

// listedAgain omits a symbol and lists it again, and returns what is wrong with the result; empty for nothing.
func listedAgain(t *testing.T) (fault string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		directory := t.TempDir()
		put(t, directory, map[string]string{"botd.yaml": demo, "strategies/one.yaml": one, "strategies/two.yaml": two})
		first := start(t, directory, nil)
		first.after(10 * time.Second)
		first.stop()
		omitted := exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
		d := startWithout(t, &omitted, directory, first.journal.records)
		defer d.stop()
		if logged := d.after(65 * time.Second); logged != "" || d.missing(t.Context())["two"] != omitted || d.relisted.Load() != 21 {
			fault += fmt.Sprintf("omitted: want it missing, and the list read each three seconds, have %v, %d reads, %q\n", d.missing(t.Context()),
				d.relisted.Load(), logged)
		}
		d.omitted.Store(nil)
		if logged := d.after(relistEvery); !strings.Contains(logged, "config.strategy_reloaded config two: DIR/strategies/two.yaml is loaded") {
			fault += fmt.Sprintf("listed again: want it loaded, have %q\n", logged)
		}
		reads := d.relisted.Load()
		if logged := d.after(time.Minute); logged != "" || len(d.missing(t.Context())) != 0 || d.relisted.Load() != reads || d.names() != both {
			fault += fmt.Sprintf("then: want it running, have %v missing, %q\n", d.missing(t.Context()), logged)
		}
	})
	return fault
}
