package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// TestRecordsThatChangeSumsEndPass applies records in a pass and compares equity and standing down with their values outside a
// pass.
func TestRecordsThatChangeSumsEndPass(t *testing.T) {
	t.Parallel()
	key := bitcoin
	sending := record.Sending{Order: exchange.NewOrder{Market: key.Market, Symbol: key.Name, ClientOrderID: "a", Side: exchange.Buy, Type: exchange.MarketOrder,
		Quantity: 5}, Purpose: placement.Entry}
	for _, c := range []struct {
		name  string
		body  record.Body
		same  bool // whether the pass continues
		sent  int
		stand string // whose order makes the account stand down afterwards
	}{
		{"an order that is sent", sending, true, 1, ""},
		{"a plan", record.Plan{Plan: &strategy.Plan{Reason: "another"}}, true, 0, ""},
		{"a target's price", record.Priced{Quantity: 5}, true, 0, ""},
		{"a memory", record.Memory{}, true, 0, ""},
		{"what a rule declined", record.Declined{Purpose: placement.Entry}, true, 0, ""},
		{"a part that is left to others", record.Ignored{Quantity: 100}, false, 0, ""},
		{"a quarantine for an order of another botd", record.Quarantined{Reason: "unknown"}, false, 0, "a"},
		{"a halt", record.Halt{Level: record.LevelPause}, false, 0, ""},
		{"an answer", record.Acknowledged{OrderID: 7}, false, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newDesk(t).tracker
			symbol := b.Symbol(key)
			symbol.position, symbol.last, symbol.mark, symbol.markedAt = 100, 51_000e8, 51_000e8, 50_000e8
			b.BeginPass()
			b.Marked()
			b.UnknownOrder()
			before, _ := b.Pass()
			b.Apply(&record.Record{Strategy: "one", Symbol: key, ClientOrderID: "a", Body: c.body})
			after, sent := b.Pass()
			if same := before == after; same != c.same || sent != c.sent {
				t.Errorf("want the same pass: %v, with %d sent; have %v, %d", c.same, c.sent, same, sent)
			}
			if have := b.UnknownOrder(); have != c.stand {
				t.Errorf("want it to stand down for %q, have %q", c.stand, have)
			}
			if have, want := b.Marked(), b.sumMarked(); have != want {
				t.Errorf("equity: want %s, have %s", want, have)
			}
			b.EndPass()
			if number, _ := b.Pass(); number != 0 {
				t.Errorf("after the end: want no pass, have %d", number)
			}
			symbol.last, symbol.mark = 52_000e8, 52_000e8
			if have, want := b.Marked(), b.sumMarked(); have != want {
				t.Errorf("after the end, at another price: want %s, have %s", want, have)
			}
		})
	}
}
