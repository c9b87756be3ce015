package record

import (
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
)

func TestAHaltLevelIsWrittenAndReadByItsName(t *testing.T) {
	t.Parallel()
	for level, name := range map[HaltLevel]string{LevelNone: "", LevelPause: "pause", LevelCancel: "cancel", LevelFlatten: "flatten"} {
		if have := level.String(); have != name {
			t.Errorf("level %d: want %q, have %q", level, name, have)
		}
		if have, err := ParseHaltLevel(name); have != level || err != nil {
			t.Errorf("parse %q: want %d, have %d, %v", name, level, have, err)
		}
	}
	for _, name := range []string{"Pause", "stop", "flatten ", "0", "1"} {
		if have, err := ParseHaltLevel(name); err == nil || have != LevelNone || !strings.Contains(err.Error(), "pause, cancel, flatten") {
			t.Errorf("parse %q: want an error that names the levels, have %q, %v", name, have, err)
		}
	}
	if want, have := []string{"pause", "cancel", "flatten"}, HaltLevels(); !slices.Equal(want, have) {
		t.Errorf("want %v, have %v", want, have)
	}
}

// One rule names the orders that a halt ends. On futures the position keeps its protection until it is closed; then that ends too.
func TestALevelNamesTheOrdersThatItEnds(t *testing.T) {
	t.Parallel()
	const never, last, first = "stays", "ends last", "ends first"
	for _, c := range []struct {
		purpose                      placement.Purpose
		pause, cancel, futures, spot string
	}{
		{placement.Entry, never, first, first, first},
		{placement.Order, never, first, first, first},
		{placement.ExitOrder, never, never, first, first},
		{placement.Exit, never, never, last, first},
		{placement.StopLoss, never, never, last, first},
		{placement.TakeProfit, never, never, last, first},
	} {
		for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
			flatten := map[exchange.Market]string{exchange.Futures: c.futures, exchange.Spot: c.spot}[market]
			for level, want := range map[HaltLevel]string{LevelNone: never, LevelPause: c.pause, LevelCancel: c.cancel, LevelFlatten: flatten} {
				have := never
				switch {
				case level.EndsFirst(c.purpose, market):
					have = first
				case level.Ends(c.purpose):
					have = last
				}
				if have != want {
					t.Errorf("%s, %s on %s: want %s, have %s", level, c.purpose, market, want, have)
				}
				if have != never && (!level.Ends(c.purpose) || !level.EndsOrders()) {
					t.Errorf("%s, %s on %s: it ends first, but need not end", level, c.purpose, market)
				}
			}
		}
	}
}
