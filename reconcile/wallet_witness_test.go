package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// holding returns a wallet with 10 of botd's own, next to 1 of the user's.
func holding(t testing.TB, policy string) *wallet {
	t.Helper()
	return holdingNextTo(t, policy, "1")
}

// holdingNextTo lets botd buy 10 next to a given quantity of others.
func holdingNextTo(t testing.TB, policy, others string) *wallet {
	t.Helper()
	w := newWallet(t)
	w.tracker.foreignPolicy = policy
	w.apply(
		record.Record{
			Strategy: "one",
			Symbol:   coin,
			Body:     record.Plan{Plan: &strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: 10}}},
		},
	)
	w.observe(others)
	w.now += 60_000
	w.buys(10)
	for range 4 {
		w.now += 1_000
		w.observe(exchange.MustAmount(others).Add(exchange.MustAmount("0.01")).String())
	}
	if symbol := w.tracker.Symbol(coin); !symbol.settled || symbol.position != 10 {
		t.Fatalf("want 10 settled, have %d, settled %t", symbol.position, symbol.settled)
	}
	return w
}

func TestWalletShortfallIsContradictedUnderEachPolicy(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{ForeignHalt, ForeignAdopt, ForeignIgnore} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			w := holding(t, policy)
			symbol := w.tracker.Symbol(coin)
			for range 40 {
				w.now += 1_000
				w.observe("0") // not even the user's own is left
				if symbol.settled {
					t.Fatal("want nothing settled, so that nothing opens")
				}
			}
			if symbol.contradicted == "" || symbol.Known() != 10 || symbol.Quarantine() != "" || symbol.Traded(exchange.Buy) != 10 {
				t.Errorf(
					"want it contradicted with 10 known, have %q, known %d, quarantine %q",
					symbol.contradicted,
					symbol.Known(),
					symbol.Quarantine(),
				)
			}
			w.now += 1_000
			w.observe("1.01")
			if symbol.contradicted != "" || !symbol.settled || symbol.position != 10 {
				t.Errorf("want it over, have %q, settled %t, %d", symbol.contradicted, symbol.settled, symbol.position)
			}
		})
	}
}

func TestForeignSaleExplainsWalletShortfall(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{ForeignHalt, ForeignAdopt, ForeignIgnore} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			w := holding(t, policy)
			symbol := w.tracker.Symbol(coin)
			w.now += 1_000
			w.observeSold("1.004", 6)
			known, adopted := exchange.Quantity(4), policy != ForeignHalt
			if !adopted {
				known = 10
			}
			if symbol.Known() != known || (symbol.Quarantine() != "") == adopted || symbol.contradicted != "" {
				t.Fatalf("want known %d, have %d, quarantine %q, contradicted %q", known, symbol.Known(), symbol.Quarantine(), symbol.contradicted)
			}
			bounds := w.tracker.Bounds()
			if hold := symbol.HoldMS(&bounds); adopted && hold != w.now+bounds.WindowMS+bounds.VisibilityMS+bounds.StalenessMS {
				t.Errorf("want nothing opened for W + D + L, have until %d", hold-w.now)
			}
			if latch := w.tracker.Strategy("one").Latch(); (latch == 1) != adopted {
				t.Errorf("want it latched %t, have %d", adopted, latch)
			}
			if traded := symbol.Traded(exchange.Buy); traded != 10 {
				t.Errorf("want the own trades to count still, have %d", traded)
			}
			for range 6 { // the same sale does not explain a second loss
				w.now += 1_000
				w.observeSold("1", 6)
			}
			if adopted && (symbol.Known() != 4 || symbol.contradicted == "") {
				t.Errorf("want it contradicted with 4 known, have %d and %q", symbol.Known(), symbol.contradicted)
			}
		})
	}
}

func TestExecutedRefusedPurchaseIsFoundInHistory(t *testing.T) {
	t.Parallel()
	w := newWallet(t)
	w.tracker.Symbol(coin).last = 50_000e8
	w.observe("1")
	w.now += 60_000
	w.observe("1")
	order := w.order(5, exchange.Buy, 10)
	w.apply(record.Record{AtMS: w.now, ClientOrderID: order.ClientOrderID, Body: record.Ended{State: placement.Refused, Evidence: "a test"}})
	symbol := w.tracker.Symbol(coin)
	w.now += 1_000
	w.observe("1.01")
	since, ask := w.tracker.NeedsOrderHistory(symbol)
	if !ask || since > w.now-60_000 || symbol.settled || symbol.Baseline() != 1_000 {
		t.Fatalf(
			"want the history asked for and nothing opened, have since %d, ask %t, settled %t, baseline %d",
			since,
			ask,
			symbol.settled,
			symbol.Baseline(),
		)
	}
	order.ID, order.Filled, order.Status, order.CreatedMS = 6, 10, exchange.StatusFilled, w.now
	w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil), HistoryWhole: true,
		History:  exchange.FetchedOf([]exchange.Order{order}),
		Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount("1.01")}})})
	if symbol.Known() != 10 || symbol.Quarantine() == "" || symbol.Traded(exchange.Buy) != 10 {
		t.Errorf("want 10 known and a person asked, have %d and %q", symbol.Known(), symbol.Quarantine())
	}
}
