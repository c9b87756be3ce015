package simulation

import (
	"math/big"
	"testing"

	"botd/exchange"
	"botd/internal/tally"
	"botd/reconcile/account"
	"botd/reconcile/record"
)

// The result of a day is compared with the bound of that day once the day's record is durable. Before that,
// only the bound of the previous day is known.
func TestADayIsComparedWhenItsRecordIsDurable(t *testing.T) {
	t.Parallel()
	const before, today = int64(0), int64(exchange.Day1)
	for _, c := range []struct {
		name    string
		durable int64 // the newest day whose record is
		result  int64
		fails   bool
	}{
		{"as by the fills", today, 7, false},
		{"another", today, 5, true},
		{"another, by the day before", before, 5, false},
	} {
		w := &world{nowMS: today, process: &process{daemon: &daemon{}}}
		w.daemon.w = w
		f := &figures{w: w, curves: []curve{{Curve: tally.Curve{StartMS: today, Began: *big.NewRat(100, 1), Peak: *big.NewRat(107, 1)},
			recent: []valued{{today, big.NewRat(107, 1)}}, day: record.Day{StartMS: c.durable}, loose: new(big.Rat)}}}
		equity := exchange.AmountOf(107)
		f.day(0, account.Day{StartMS: today, Equity: equity.Sub(exchange.AmountOf(c.result)), Peak: equity}, equity, big.NewRat(107, 1), new(big.Rat))
		if fails := w.failure != nil; fails != c.fails {
			t.Errorf("%s: want it to fail %t, have %+v", c.name, c.fails, w.failure)
		}
	}
}
