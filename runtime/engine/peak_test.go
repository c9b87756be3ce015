package engine

import (
	"testing"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/record"
	"botd/risk"
)

// peakStep is a check of limits, a second after the one before it.
type peakStep struct {
	equity string
	later  bool   // the price of BTC-USDT was requested after its position was read
	fromMS int64  // start of the newest complete round, after the check before; -1: L after it, -2: half a second less
	fill   string // the symbol of which fills have been booked before it
}

// A peak by a price that was requested after the positions were read falls back if fills show that these had changed, in each scope. It stays if a
// round that began L later shows none, if all was read at one moment, or if another scope's position changed.
func TestPeakOfEndedPositionFallsBack(t *testing.T) {
	t.Parallel()
	const btc, eth = "BTC-USDT", "ETH-USDT"
	for name, c := range map[string]struct {
		scope string
		held  exchange.Quantity
		steps []peakStep
		want  string
	}{
		"a fill":                  {"", 10, []peakStep{{"1100", true, 0, ""}, {"990", false, 500, btc}}, "1000"},
		"a fill, shown late":      {"", 10, []peakStep{{"1100", true, 0, ""}, {"990", false, 1_000, ""}, {"990", false, 0, btc}}, "1000"},
		"a fill, after L":         {"", 10, []peakStep{{"1100", true, 0, ""}, {"990", false, -1, ""}, {"990", false, 0, btc}}, "1100"},
		"a fill of another":       {"", 10, []peakStep{{"1100", true, 0, ""}, {"990", false, 500, eth}}, "1000"},
		"the strategy's":          {"futures BTC-USDT", 10, []peakStep{{"1100", true, 0, ""}, {"990", false, 500, btc}}, "1000"},
		"another strategy's":      {"futures BTC-USDT", 10, []peakStep{{"1100", true, 0, ""}, {"990", false, 500, eth}}, "1100"},
		"another strategy's read": {"futures ETH-USDT", 10, []peakStep{{"1100", true, 0, ""}, {"990", false, 500, eth}}, "1100"},
		"no fill":                 {"", 10, []peakStep{{"1100", true, 0, ""}, {"990", false, 500, ""}}, "1100"},
		"read at one moment":      {"", 10, []peakStep{{"1100", false, 0, ""}, {"990", false, 500, btc}}, "1100"},
		"no position":             {"", 0, []peakStep{{"1100", true, 0, ""}, {"990", false, 500, btc}}, "1100"},
		"two":                     {"", 10, []peakStep{{"1100", true, 0, ""}, {"1200", true, 500, ""}, {"990", false, 500, btc}}, "1000"},
		"two, L after the first":  {"", 10, []peakStep{{"1100", true, 0, ""}, {"1200", true, 500, ""}, {"990", false, -2, ""}, {"990", false, 0, btc}}, "1100"},
		"then one moment":         {"", 10, []peakStep{{"1100", true, 0, ""}, {"1200", false, 500, ""}, {"990", false, 500, btc}}, "1200"},
		"and a higher equity":     {"", 10, []peakStep{{"1100", true, 0, ""}, {"1050", false, 500, btc}}, "1050"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			peakOf(t, c.scope, c.held, c.steps, c.want)
		})
	}
}

func endedBeforeItsPrice(t testing.TB) {
	peakOf(t, "", 10, []peakStep{{"1100", true, 0, ""}, {"990", false, 500, "BTC-USDT"}}, "1000")
}

func peakOf(t testing.TB, scope string, held exchange.Quantity, steps []peakStep, want string) {
	t.Helper()
	b := valued(t, 2, 0)
	l := &limits{base: b}
	key := func(name string) exchange.SymbolKey { return exchange.SymbolKey{Market: exchange.Futures, Name: name} }
	for _, one := range b.legs {
		see(one.symbol, func(o *seen) { o.Position = held })
		b.tracker.Apply(&record.Record{Symbol: one.symbol.Key(), Body: record.Adopted{Quantity: held}})
	}
	began := exchange.AmountOf(1_000)
	b.record(record.Record{Strategy: scope, Body: record.Day{StartMS: exchange.Day1.OpenOf(b.nowMS), Equity: began, Peak: began}})
	for _, step := range steps {
		if step.fill != "" {
			b.tracker.Apply(&record.Record{Symbol: key(step.fill), Body: record.Adopted{Quantity: -10}})
		}
		l.fromMS, l.pricedLater = b.nowMS+step.fromMS, nil
		if step.fromMS < 0 {
			l.fromMS = b.nowMS + b.tracker.Bounds().StalenessMS + 1 + 500*(step.fromMS+1)
		}
		b.nowMS += 1_000
		if step.later {
			l.pricedLater = []*reconcile.SymbolState{b.legBySymbol[key("BTC-USDT")].symbol}
		}
		l.watch(b.tracker.Watch(scope), l.legNamed(scope), exchange.MustAmount(step.equity), &risk.Limits{})
	}
	if have := b.tracker.Watch(scope).Day().Peak.String(); have != want {
		t.Errorf("want a peak of %s, have %s", want, have)
	}
}

// A price is later than the positions if it was requested after their answer, in their market.
func TestPriceRequestedAfterPositionsIsLater(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		market exchange.Market
		shown  int64 // when the market's positions were read
		sent   int64
		want   bool
	}{
		{"before the answer", exchange.Futures, 500, 499, false},
		{"after it", exchange.Futures, 500, 500, true},
		{"positions were not read", exchange.Futures, 0, 499, false},
		{"those of the other market were", exchange.Spot, 500, 600, false},
	} {
		w := settled(t)
		w.engine.reader.roundReads.shownMS[c.market], w.engine.reader.roundReads.sentMS = c.shown, c.sent
		w.engine.reader.applyTicker(w.symbol(), []exchange.Ticker{{Symbol: "BTC-USDT", Last: 7}})
		if have := len(w.engine.limits.pricedLater) == 1; have != c.want {
			t.Errorf("%s: want it later %t, have %t", c.name, c.want, have)
		}
	}
}
