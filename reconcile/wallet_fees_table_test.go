package reconcile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// bought is a wallet that has bought a thousand, next to a thousand that are not botd's, at a fee of 0.1 %: one is expected as the fee.
// Fees may have taken up to five, and a step is one.
func bought(t testing.TB) (*wallet, *SymbolState) {
	t.Helper()
	w := explains(t, 0, 0)
	w.tracker.spotFee = exchange.RateOne / 1_000
	order := w.buysUnder(5, 1_000)
	w.sees("2", "0", []exchange.Order{w.filled(order)})
	w.now += 60_000
	symbol := w.tracker.Symbol(coin)
	symbol.sinceFill = persistence{}
	if symbol.Known() != 1_000 || symbol.Fees() != 1 || symbol.ExpectedFees() != 1 || symbol.Bought() != 1_000 || symbol.Baseline() != 1_000 {
		t.Fatalf("want a thousand bought and one expected as fees, have %d, %d, %d", symbol.Known(), symbol.Fees(), symbol.ExpectedFees())
	}
	return w, symbol
}

// A shortfall is booked as fees, within their bound. An excess reduces the expected fees.
func TestPurchaseShortfallIsBookedAsFees(t *testing.T) {
	t.Parallel()
	const all = 1_999
	live := func(w *wallet, _ *SymbolState) {
		w.apply(record.Record{ClientOrderID: w.buysUnder(9, 3).ClientOrderID, Body: record.Fill{OrderID: 9}})
	}
	lasts := func(of exchange.Quantity, forMS int64) func(w *wallet, s *SymbolState) {
		return func(w *wallet, s *SymbolState) {
			live(w, s)
			s.feeDifference, s.feeDifferenceFor = of, persistence{sinceMS: 1, lastMS: w.now, forMS: forMS}
		}
	}
	for _, c := range []struct {
		name        string
		baseBalance exchange.Quantity
		with        func(w *wallet, s *SymbolState)
		want        string // fees, their base, holding; unattributed; missing, agreed
	}{
		{"nothing", all, nil, "1 1000 999; 0; false true"},
		{"as much as fees may take", all - 5, nil, "6 0 994; 0; false true"},
		{"more than fees may take", all - 6, nil, "1 1000 999; 0; true false"},
		{"less, by the fee that was expected", all + 1, nil, "0 0 1000; 0; false true"},
		{"less, by more than that: it is not botd's", all + 2, nil, "1 1000 999; 2; false true"},
		{"less, while an order is live", all + 1, live, "1 1000 999; 0; false true"},
		{"some, while an order is live", all - 5, live, "1 1000 999; 0; false true"},
		{"some, while an order is live, for L", all - 5, lasts(5, 1_000), "1 1000 999; 0; false true"},
		{"some, while an order is live, for longer", all - 5, lasts(5, 1_001), "6 0 994; 0; false true"},
		{"another figure, while an order is live, for longer", all - 5, lasts(4, 1_001), "1 1000 999; 0; false true"},
		{"it missed some before", all, func(_ *wallet, s *SymbolState) {
			s.missedFor, s.walletShortfall = persistence{sinceMS: 1}, -7
			s.declare("a test", 1)
		}, "1 1000 999; 0; false true"},
	} {
		w, symbol := bought(t)
		if c.with != nil {
			c.with(w, symbol)
		}
		s := w.reads(c.baseBalance, 0)
		symbol.spot.agreedMS = 0
		s.walletComparison().reconcileWallet(symbol, c.baseBalance, w.tracker.liveOn(coin))
		have := fmt.Sprintf("%d %d %d; %d; %t %t", symbol.Fees(), symbol.Bought(), symbol.heldOnSpot(), symbol.Unattributed(), symbol.missedFor.sinceMS != 0,
			symbol.spot.agreedMS == w.now)
		if have != c.want || symbol.contradicted != "" {
			t.Errorf("%s: want %q, have %q, contradicted %q", c.name, c.want, have, symbol.contradicted)
		}
		for _, r := range s.records {
			if body, is := r.Body.(record.Fees); is && strings.Contains(body.Evidence, "lower than expected") != (body.Quantity < 0) {
				t.Errorf("%s: want the evidence to say which, have %+v", c.name, body)
			}
		}
	}
	w := explains(t, 10, 0) // an adopted holding has paid no fee
	symbol := w.tracker.Symbol(coin)
	w.reads(1_009, 0).walletComparison().reconcileWallet(symbol, 1_009, false)
	if symbol.missedFor.sinceMS == 0 || symbol.Fees() != 0 {
		t.Errorf("want what was adopted missed, have %+v, fees %d", symbol.missedFor, symbol.Fees())
	}
	order := w.buysUnder(5, 1) // of a purchase of one, the fee may be one, the step
	w.apply(record.Record{AtMS: w.now - 60_000, ClientOrderID: order.ClientOrderID, Body: record.Ended{State: placement.Filled, OrderID: 5, Filled: 1}})
	w.reads(1_010, 0).walletComparison().reconcileWallet(symbol, 1_010, false)
	if symbol.missedFor.sinceMS != 0 || symbol.Fees() != 1 {
		t.Errorf("want one taken as a fee, have %+v, fees %d", symbol.missedFor, symbol.Fees())
	}
	for more, want := range map[exchange.Quantity]bool{6: false, 7: true} { // five are within the bound of fees, and two are worth an order
		w, symbol := bought(t)
		w.reads(all+more, 0).walletComparison().reconcileWallet(symbol, all+more, false)
		if _, ask := w.tracker.NeedsOrderHistory(symbol); ask != want {
			t.Errorf("%d more: want the order history read %t, have %t", more, want, ask)
		}
	}
	for missed, want := range map[exchange.Quantity]bool{6: false, 7: true} { // another figure is timed from scratch
		w, symbol := bought(t)
		symbol.missed, symbol.missedFor = missed, persistence{sinceMS: 1, lastMS: w.now, forMS: 1_001}
		w.reads(all-7, 0).walletComparison().reconcileWallet(symbol, all-7, false)
		if have := symbol.contradicted != ""; have != want {
			t.Errorf("%d missed before, and seven now: want it contradicted %t, have %t", missed, want, have)
		}
	}
}

// Each figure is timed separately, from the last read without a shortfall on.
func TestFeesAreBookedWhileOrderRestsAfterL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		misses []exchange.Quantity // in reads 0.6 s apart
		want   exchange.Quantity   // fees, of which one was expected
	}{
		{"for less than L", []exchange.Quantity{5, 5}, 1},
		{"for longer", []exchange.Quantity{5, 5, 5}, 6},
		{"with a read between that misses none", []exchange.Quantity{5, 0, 5}, 1},
		{"with a read between that misses none, and for less since", []exchange.Quantity{5, 0, 5, 5}, 1},
		{"another figure", []exchange.Quantity{5, 4, 5}, 1},
	} {
		w, symbol := bought(t)
		w.buysUnder(9, 3)
		for _, missed := range c.misses {
			w.reads(1_999-missed, 0).walletComparison().reconcileWallet(symbol, 1_999-missed, true)
			w.now += 600
		}
		if have := symbol.Fees(); have != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, have)
		}
	}
	w, symbol := bought(t)
	misses := func(baseBalance exchange.Quantity) {
		w.reads(baseBalance, 0).walletComparison().reconcileWallet(symbol, baseBalance, true)
		w.now += 600
	}
	for range 3 {
		misses(1_994)
	}
	order := w.buysUnder(6, 1_000) // after a purchase of a thousand more the same shortfall is timed from scratch
	w.apply(record.Record{AtMS: w.now, ClientOrderID: order.ClientOrderID, Body: record.Ended{State: placement.Filled, OrderID: 6, Filled: 1_000}})
	if misses(2_989); symbol.Fees() != 6 {
		t.Errorf("want the second five not taken before L, have %d", symbol.Fees())
	}
}

// The expected fee is the rate of the executions, otherwise the configured one. It is rounded up, and booked
// once.
func TestExpectedFeeOfPurchase(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		traded []Traded
		want   exchange.Quantity // of a thousand, at a configured fee of 0.2 %
	}{
		{"the configured one", nil, 2},
		{"the executed fee, a little more than three", []Traded{{OrderID: 5, Filled: 1_000, Fee: exchange.MustAmount("0.003000001")}}, 4},
		{"the fee of its executions", []Traded{{OrderID: 5, Filled: 1_000, Fee: exchange.MustAmount("0.003")}}, 3},
		{"the executed fee, rounded up", []Traded{{OrderID: 5, Filled: 1_000, Fee: exchange.MustAmount("0.0031")}}, 4},
		{"not more than may be", []Traded{{OrderID: 5, Filled: 1_000, Fee: exchange.MustAmount("0.02")}}, 5},
		{"none where they show none", []Traded{{OrderID: 5, Filled: 1_000}}, 0},
		{"executions of nothing show none", []Traded{{OrderID: 5, Fee: exchange.MustAmount("0.003")}}, 2},
		{"another order's show none of it", []Traded{{OrderID: 6, Filled: 1_000, Fee: exchange.MustAmount("0.003")}}, 2},
		{"a sale's show none, and the next does", []Traded{{OrderID: 7, Filled: 1_000, Fee: exchange.MustAmount("0.004")},
			{OrderID: 5, Filled: 1_000, Fee: exchange.MustAmount("0.003")}}, 3},
		{"of one unit", []Traded{{OrderID: 5, Filled: 1, Fee: exchange.MustAmount("0.000003")}}, 3},
	} {
		w := explains(t, 0, 0)
		w.tracker.spotFee = exchange.RateOne / 500
		order := w.buysUnder(5, 1_000)
		w.places(placement.Exit, 7, saleOf(1_000))
		s := w.reads(2_000, 0)
		s.fetched.Trades = c.traded
		s.walletComparison().learnFees()
		for range 2 { // the second time it is known
			s.emit(w.tracker.Placement(order.ClientOrderID).About(record.Fill{OrderID: 5, Filled: 1_000}))
		}
		fees := 0
		for _, r := range s.records {
			if r.Kind() == record.KindFees {
				fees++
			}
		}
		if have := w.tracker.Symbol(coin).Fees(); have != c.want || fees != int(min(1, c.want)) || len(s.records) != 2+fees {
			t.Errorf("%s: want %d, recorded once, have %d, in %d of %d records", c.name, c.want, have, fees, len(s.records))
		}
	}
	w := explains(t, 0, 0)
	w.tracker.spotFee = exchange.RateOne / 500
	s := w.reads(1_001, 0)
	s.emit(w.tracker.Placement(w.buysUnder(5, 1).ClientOrderID).About(record.Fill{OrderID: 5, Filled: 1}))
	if have := w.tracker.Symbol(coin).Fees(); have != 1 {
		t.Errorf("want the fee of one unit to be one, have %d", have)
	}
	w.tracker.Symbol(coin).rules = nil // as with a symbol that is no longer traded
	s.fetched.Trades = []Traded{{OrderID: 5, Filled: 1, Fee: exchange.MustAmount("0.001")}}
	if s.walletComparison().learnFees(); w.tracker.Symbol(coin).feeRateKnown {
		t.Error("want no rate of a symbol whose rules are not known")
	}
	d := newDesk(t)
	d.tracker.spotFee = exchange.RateOne / 500
	on := d.tracker.survey(&Snapshot{})
	on.emit(d.tracker.Placement(d.places(placement.Entry, buys)).About(record.Fill{OrderID: 5, Filled: 10}))
	if have := d.tracker.Symbol(bitcoin).Fees(); have != 0 || len(on.records) != 1 {
		t.Errorf("want no fee taken from a position on futures, have %d, %d records", have, len(on.records))
	}
}

// A sale that botd did not make is the witness. Without one the wallet is contradicted once the shortfall has lasted.
func TestWalletShortfallNeedsWitness(t *testing.T) {
	t.Parallel()
	lasted := func(forMS int64) func(w *wallet, s *SymbolState) {
		return func(_ *wallet, s *SymbolState) { s.missedFor = persistence{sinceMS: 1, forMS: forMS} }
	}
	for _, c := range []struct {
		name   string
		policy string
		sold   exchange.Quantity // by others, as the history shows; six of ten are missing
		with   func(w *wallet, s *SymbolState)
		want   string // known, holding; missing, contradicted, quarantined, latched
	}{
		{"it has not lasted", ForeignHalt, 0, lasted(1_000), "10 10; true false  false"},
		{"it has lasted", ForeignHalt, 0, lasted(1_001), "10 4; true true  false"},
		{"it is contradicted already", ForeignHalt, 0, func(_ *wallet, s *SymbolState) { s.missedFor.sinceMS = 1; s.declare("a test", 5) },
			"10 4; true true  false"},
		{"a person must look already", ForeignHalt, 0, func(w *wallet, s *SymbolState) {
			lasted(1_000)(w, s)
			w.apply(record.Record{Symbol: coin, Body: record.Quarantined{Reason: "a test"}})
		}, "10 4; true false a test false"},
		{"another botd may have sold it", ForeignHalt, 0, func(w *wallet, s *SymbolState) { lasted(1_000)(w, s); s.unknownEnded = elders + "1" },
			"10 4; true false  false"},
		{"others sold it, and a person decides", ForeignHalt, 6, lasted(1_000), "10 4; false false " + shortWallet + " false"},
		{"others sold it, and that is adopted", ForeignAdopt, 6, lasted(1_000), "4 4; false false  true"},
		{"others sold it, where they are ignored", ForeignIgnore, 6, lasted(1_000), "4 4; false false  true"},
		{"others sold more", ForeignAdopt, 9, lasted(1_000), "4 4; false false  true"},
		{"others sold less", ForeignAdopt, 5, lasted(1_000), "10 10; true false  false"},
		{"others sold it, and it was contradicted", ForeignAdopt, 6, func(w *wallet, s *SymbolState) { lasted(1_001)(w, s); s.declare("a test", 5) },
			"4 4; false false  true"},
		{"others sold it, and another botd trades", ForeignAdopt, 6, func(w *wallet, s *SymbolState) {
			lasted(1_000)(w, s)
			s.unknownEnded = elders + "1"
		}, "10 4; false false " + shortWallet + " while another botd may be placing orders false"},
	} {
		w := explains(t, 10, 0)
		w.tracker.foreignPolicy = c.policy
		w.apply(record.Record{Strategy: "one", Symbol: coin,
			Body: record.Plan{Plan: &strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: 10}}}})
		symbol := w.tracker.Symbol(coin)
		s := w.reads(1_004, 0)
		if c.sold != 0 {
			s.fetched.History = exchange.FetchedOf([]exchange.Order{{ID: 77, Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Sell, Filled: c.sold,
				Quantity: c.sold, Status: exchange.StatusFilled, CreatedMS: w.now}})
		}
		c.with(w, symbol)
		s.walletComparison().decideShortWallet(symbol, 6)
		have := fmt.Sprintf("%d %d; %t %t %s %t", symbol.Known(), symbol.heldOnSpot(), symbol.missedFor.sinceMS != 0, symbol.contradicted != "",
			symbol.Quarantine(), w.tracker.Strategy("one").Latch() == 1)
		if have != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
	}
}

// Foreign sales since the last agreement count if they filled, each once, less those that explained an earlier shortfall.
func TestForeignSalesSinceAgreement(t *testing.T) {
	t.Parallel()
	const agreedMS = 1_050_000
	sold := func(id int64, filled exchange.Quantity, change func(o *exchange.Order)) exchange.Order {
		o := exchange.Order{ID: id, Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Sell, Quantity: 20, Filled: filled, Status: exchange.StatusOpen,
			CreatedMS: agreedMS - 2_000}
		if change != nil {
			change(&o)
		}
		return o
	}
	for _, c := range []struct {
		name          string
		open, history []exchange.Order
		before        []sale
		want          exchange.Quantity
	}{
		{"one that has sold nothing", nil, []exchange.Order{sold(70, 0, nil)}, nil, 0},
		{"one that is open", []exchange.Order{sold(70, 4, nil)}, nil, nil, 4},
		{"one of the history", nil, []exchange.Order{sold(70, 4, nil)}, nil, 4},
		{"the same in both", []exchange.Order{sold(70, 4, nil)}, []exchange.Order{sold(70, 4, nil)}, nil, 4},
		{"two", []exchange.Order{sold(70, 4, nil)}, []exchange.Order{sold(71, 5, nil)}, nil, 9},
		{"of one unit", nil, []exchange.Order{sold(70, 1, nil)}, nil, 1},
		{"one without a fill", []exchange.Order{sold(70, 0, nil)}, nil, nil, 0},
		{"a purchase", nil, []exchange.Order{sold(70, 4, func(o *exchange.Order) { o.Side = exchange.Buy })}, nil, 0},
		{"of another symbol", nil, []exchange.Order{sold(70, 4, func(o *exchange.Order) { o.Symbol = "ETH-USDT" })}, nil, 0},
		{"of before", nil, []exchange.Order{sold(70, 4, func(o *exchange.Order) { o.CreatedMS-- })}, nil, 0},
		{"botd's own", nil, []exchange.Order{sold(9, 4, nil)}, nil, 0},
		{"one that was the reason before", nil, []exchange.Order{sold(70, 4, nil), sold(71, 5, nil)}, []sale{{70, 4}}, 5},
		{"one that was, and has sold more since", nil, []exchange.Order{sold(70, 6, nil)}, []sale{{70, 4}}, 2},
	} {
		w := explains(t, 10, 0)
		w.places(placement.Exit, 9, saleOf(4))
		symbol := w.tracker.Symbol(coin)
		symbol.spot.agreedMS, symbol.spot.sales = agreedMS, c.before
		s := w.reads(1_010, 0, c.open...)
		if c.history != nil {
			s.fetched.History = exchange.FetchedOf(c.history)
		}
		sales, have := s.walletEvidence().salesOfOthers(symbol)
		if have != c.want || slices.ContainsFunc(sales, func(s sale) bool { return s.filled == 0 }) {
			t.Errorf("%s: want %d, have %d by %v", c.name, c.want, have, sales)
		}
	}
}

// The reads that show botd a change of its position precede its record by up to a second, and may not show a sale of that moment: two botds that sell
// at once see each other's sale after a start only.
func TestForeignSaleOfTheMomentOfTheLastChangeCounts(t *testing.T) {
	t.Parallel()
	for beforeMS, want := range map[int64]exchange.Quantity{0: 4, 1_000: 4, 1_001: 0} {
		saleOfTheMoment(t, beforeMS, want)
	}
}

func saleOfTheMoment(t testing.TB, beforeMS int64, want exchange.Quantity) {
	w := explains(t, 10, 0)
	symbol := w.tracker.Symbol(coin)
	symbol.spot.agreedMS, symbol.spot.changedMS = 0, w.now
	s := w.reads(1_010, 0)
	s.fetched.History = exchange.FetchedOf([]exchange.Order{{ID: 70, Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Sell, Filled: 4, Quantity: 4,
		Status: exchange.StatusFilled, CreatedMS: w.now - beforeMS}})
	if _, have := s.walletEvidence().salesOfOthers(symbol); have != want {
		t.Errorf("%d ms before: want %d, have %d", beforeMS, want, have)
	}
}

// The same sale does not explain a second loss.
func TestForeignSaleExplainsOneLoss(t *testing.T) {
	t.Parallel()
	w := explains(t, 1_000, 0)
	symbol := w.tracker.Symbol(coin)
	for i := range int64(65) {
		s := w.reads(2_000, 0)
		s.fetched.History = exchange.FetchedOf([]exchange.Order{{ID: 70 + i, Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Sell, Filled: 1,
			Quantity: 1, Status: exchange.StatusFilled, CreatedMS: w.now}})
		s.walletComparison().decideShortWallet(symbol, 1)
		want := []sale{{70 + max(0, i-63), 1}, {70 + i, 1}}
		if have := symbol.spot.sales; len(have) != int(min(i+1, 64)) || have[0] != want[0] || have[len(have)-1] != want[1] {
			t.Fatalf("want the newest 64 of %d remembered, have %v", i+1, have)
		}
	}
}

// While no holding is known to be botd's, the whole wallet is the baseline, unless an order is live or a part of it may be an executed
// order's.
func TestWalletBaseline(t *testing.T) {
	t.Parallel()
	seen := func(w *wallet, s *SymbolState) {
		w.apply(record.Record{ClientOrderID: w.buysUnder(9, 3).ClientOrderID, Body: record.Fill{OrderID: 9}})
	}
	squared := func(_ *wallet, s *SymbolState) { s.spot.agreedMS = 5 }
	for _, c := range []struct {
		name        string
		baseline    exchange.Quantity
		baseBalance exchange.Quantity
		with        func(w *wallet, s *SymbolState)
		want        string // the baseline, unattributed; settled, agreed
	}{
		{"the first read", 0, 1_000, nil, "1000 0; true true"},
		{"the same as before", 1_000, 1_000, squared, "1000 0; true true"},
		{"less", 1_000, 900, squared, "900 0; true true"},
		{"more, worth an order: the history is read first", 1_000, 1_010, squared, "1000 10; false true"},
		{"more, worth less", 1_000, 1_001, squared, "1001 0; true true"},
		{"more, since the start", 1_000, 1_010, nil, "1000 10; false true"},
		{"more, of an asset that was never there", 0, 10, squared, "0 10; false true"},
		{"more, and it was asked already", 1_000, 1_010, func(w *wallet, s *SymbolState) { squared(w, s); s.spot.extra.quantity = 10 }, "1010 0; true true"},
		{"the one that was noted beside it is gone", 1_000, 1_000, func(w *wallet, s *SymbolState) {
			w.apply(record.Record{Symbol: coin, Body: record.Baseline{Quantity: 1_000, Unattributed: 1}})
		}, "1000 0; true true"},
		{"what was noted beside it is gone", 1_000, 1_000, func(w *wallet, s *SymbolState) {
			w.apply(record.Record{Symbol: coin, Body: record.Baseline{Quantity: 1_000, Unattributed: 10}})
		}, "1000 0; true true"},
		{"more, while an order is live", 1_000, 1_010, func(w *wallet, s *SymbolState) { squared(w, s); s.spot.extra.quantity = 10; seen(w, s) },
			"1000 10; true true"},
		{"less, while an order is live", 1_000, 900, seen, "1000 0; true true"},
		{"a person must look", 1_000, 1_000, func(w *wallet, _ *SymbolState) {
			w.apply(record.Record{Symbol: coin, Body: record.Quarantined{Reason: "a test"}})
		}, "1000 0; false true"},
		{"an order is uncertain", 1_000, 1_010, func(w *wallet, _ *SymbolState) { w.buysUnder(0, 3) }, "1000 0; false false"},
		{"an order that no list has shown", 1_000, 1_010, func(w *wallet, _ *SymbolState) { w.buysUnder(9, 3) }, "1000 0; true false"},
		{"one that no list has shown, and a person must look", 1_000, 1_010, func(w *wallet, _ *SymbolState) {
			w.buysUnder(9, 3)
			w.apply(record.Record{Symbol: coin, Body: record.Quarantined{Reason: "a test"}})
		}, "1000 0; false false"},
	} {
		w := newWallet(t)
		symbol := w.tracker.Symbol(coin)
		symbol.last = 2_500e8
		if c.baseline != 0 {
			w.apply(record.Record{Symbol: coin, Body: record.Baseline{Quantity: c.baseline}})
		}
		w.now += 60_000
		if c.with != nil {
			c.with(w, symbol)
		}
		symbol.missedFor = persistence{sinceMS: 1}
		agreedMS := symbol.spot.agreedMS
		s := w.reads(c.baseBalance, 0)
		s.walletComparison().observeWallet(symbol)
		have := fmt.Sprintf("%d %d; %t %t", symbol.Baseline(), symbol.Unattributed(), symbol.settled, symbol.spot.agreedMS != agreedMS)
		if have != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
		if live := w.tracker.liveOn(coin); live && !strings.HasSuffix(c.want, "true") && symbol.missedFor.sinceMS != 0 {
			t.Errorf("%s: want no time of a miss counted, have %+v", c.name, symbol.missedFor)
		}
	}
	w := explains(t, 10, 0) // nothing is concluded without both reads
	for _, lacks := range []func(s *Snapshot){func(s *Snapshot) { s.SpotOrders = exchange.Fetched[exchange.Order]{} },
		func(s *Snapshot) { s.Balances = exchange.Fetched[exchange.Balance]{} }} {
		s := w.reads(900, 0)
		lacks(s.fetched)
		symbol := w.tracker.Symbol(coin)
		if s.walletComparison().observeWallet(symbol); symbol.read || symbol.settled {
			t.Error("want nothing taken of half of a read")
		}
	}
}

// A change worth an order is recorded, and so is its end.
func TestUnattributedWalletChangeIsRecorded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, unattributed, want exchange.Quantity }{
		{0, 2, 2}, {0, 1, 0}, {5, 7, 7}, {5, 6, 5}, {5, 4, 5}, {5, 3, 3}, {1, 0, 0}, {5, -3, 0}, {0, -3, 0}, {5, 5, 5},
	} {
		w := explains(t, 10, 0)
		w.apply(record.Record{Symbol: coin, Body: record.Baseline{Quantity: 1_000, Unattributed: c.before}})
		s := w.reads(1_010, 0)
		s.walletComparison().recordUnattributed(w.tracker.Symbol(coin), c.unattributed)
		if have := w.tracker.Symbol(coin).Unattributed(); have != c.want || (len(s.records) == 1) != (c.want != c.before) {
			t.Errorf("%d after %d: want %d, have %d, %d records", c.unattributed, c.before, c.want, have, len(s.records))
		}
	}
}

// A row under one of botd's ids that no placement claims counts as botd's fill and needs manual resolution.
func TestUnclaimedHistoryRowUnderOwnID(t *testing.T) {
	t.Parallel()
	ends := func(state placement.State, orderID int64) func(w *wallet, id string) {
		return func(w *wallet, id string) {
			w.apply(record.Record{AtMS: w.now, ClientOrderID: id, Body: record.Ended{State: state, OrderID: orderID}})
		}
	}
	seen := func(w *wallet, id string) {
		w.apply(record.Record{AtMS: w.now, ClientOrderID: id, Body: record.Fill{OrderID: 8}})
	}
	for _, c := range []struct {
		name    string
		orderID int64 // the acknowledged id of the placement under that client order id
		before  func(w *wallet, id string)
		row     func(o *exchange.Order) // order 70, which bought four
		want    bool
	}{
		{"beside one that stands", 8, seen, nil, true},
		{"its own row", 8, nil, func(o *exchange.Order) { o.ID = 8 }, false},
		{"the row of an uncertain one", 0, nil, nil, false},
		{"after one that was refused", 0, ends(placement.Refused, 0), nil, true},
		{"after one that has ended", 8, ends(placement.Canceled, 8), nil, true},
		{"its own row, ended", 8, ends(placement.Canceled, 8), func(o *exchange.Order) { o.ID = 8 }, false},
		{"under no id", 8, nil, func(o *exchange.Order) { o.ClientOrderID = "" }, false},
		{"under nobody's id", 8, nil, func(o *exchange.Order) { o.ClientOrderID = "a person's" }, false},
		{"without a fill", 8, nil, func(o *exchange.Order) { o.Filled = 0 }, false},
		{"of one unit", 8, seen, func(o *exchange.Order) { o.Filled = 1 }, true},
	} {
		w := explains(t, 10, 0)
		first := w.buysUnder(c.orderID, 4)
		if c.before != nil {
			c.before(w, first.ClientOrderID)
		}
		row := exchange.Order{ID: 70, ClientOrderID: first.ClientOrderID, Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit,
			Quantity: 4, Filled: 4, Status: exchange.StatusFilled, CreatedMS: w.now}
		if c.row != nil {
			c.row(&row)
		}
		s := w.reads(1_010, 0)
		for range 2 { // the second time it is known
			s.orderRows().observeExtra(&row)
		}
		symbol := w.tracker.Symbol(coin)
		known := exchange.Quantity(10)
		if c.want {
			known += row.Filled
		}
		if quarantined := symbol.Cause() == record.ExecutedBeyond; quarantined != c.want || symbol.Known() != known {
			t.Errorf("%s: want it found %t, have %d known, %q", c.name, c.want, symbol.Known(), symbol.Quarantine())
		}
	}
}
