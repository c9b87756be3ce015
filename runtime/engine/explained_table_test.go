package engine

import (
	"fmt"
	"testing"

	"botd/exchange"
	"botd/reconcile/ledger"
	"botd/reconcile/record"
)

// TestKnownTransferMovesBaselines declares the cause of a wallet's change. The account's baselines from before the wallet showed it
// move along, and a strategy's result, which counted it, falls by it. A strategy's baselines move if they are from afterwards.
func TestKnownTransferMovesBaselines(t *testing.T) {
	t.Parallel()
	const hour = int64(3_600_000)
	amount := exchange.AmountOf
	for _, c := range []struct {
		name   string
		by     int64
		day    int64 // start of the day, and time of the peak, in ms after the wallet showed it
		peak   int64
		spot   bool
		no     string // "leg", "result", "day": the one that is missing
		want   string // account: equity, peak, spot; strategy: result, equity, peak
		writes int
	}{
		{"a deposit, today, above a peak of long ago", 50, -hour, -hour, false, "", "1450 1550 300; -30 100 150", 3},
		{"at the beginning of the day", 50, 0, -hour, false, "", "1450 1550 300; -30 100 150", 3},
		{"before the day began", 50, 1, -hour, false, "", "1400 1550 300; -30 50 150", 3},
		{"on spot", 50, -hour, -hour, true, "", "1450 1550 350; -30 100 150", 3},
		{"on spot, before the day began", 50, 1, -hour, true, "", "1400 1550 300; -30 50 150", 3},
		{"a peak since", 50, -hour, 0, false, "", "1450 1500 300; -30 100 100", 3},
		{"a peak that the wallet may have raised", 50, -hour, -peakMarginMS, false, "", "1450 1500 300; -30 100 100", 3},
		{"a peak from before that", 50, -hour, -peakMarginMS - 1, false, "", "1450 1550 300; -30 100 150", 3},
		{"a withdrawal, below a peak of before", -50, -hour, -1, false, "", "1350 1450 300; 70 100 150", 3},
		{"a withdrawal, and a peak since", -50, -hour, 0, false, "", "1350 1450 300; 70 100 200", 3},
		{"no strategy's", 50, -hour, -hour, false, "leg", "1450 1550 300; 20 100 150", 1},
		{"no day has begun", 50, -hour, -hour, false, "day", "0 0 0; -30 0 0", 1},
		{"its result is not known", 50, -hour, -hour, false, "result", "1450 1550 300; 0 100 150", 2},
	} {
		at := 100 * hour
		b := valued(t, 1, 0)
		one := b.legs[0]
		if c.no != "day" {
			b.recordAt(at+c.peak, record.Record{Body: record.Day{StartMS: at + c.day, Equity: amount(1_400), Peak: amount(1_500), Spot: amount(300)}})
			b.recordAt(at+c.peak, record.Record{Strategy: one.config.Name, Body: record.Day{StartMS: at + c.day, Equity: amount(100), Peak: amount(150)}})
		}
		if c.no != "result" {
			b.record(record.Record{Strategy: one.config.Name, Body: record.Result{Result: amount(20)}})
		}
		market, whose := exchange.Futures, one
		if c.spot {
			market = exchange.Spot
		}
		if c.no == "leg" {
			whose = nil
		}
		before := len(b.unwritten)
		(&limits{base: b}).explained(market, ledger.Matched{Amount: amount(c.by), AtMS: at}, whose)
		a, own := b.tracker.Watch("").Day(), b.tracker.Watch(one.config.Name)
		have := fmt.Sprintf("%s %s %s; %s %s %s", a.Equity, a.Peak, a.Spot, own.Result().Result, own.Day().Equity, own.Day().Peak)
		if have != c.want || len(b.unwritten)-before != c.writes {
			t.Errorf("%s: want %s, %d records, have %s, %d", c.name, c.want, c.writes, have, len(b.unwritten)-before)
		}
	}
}
