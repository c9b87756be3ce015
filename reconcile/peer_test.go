package reconcile

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// The constants are ids of another botd under this prefix: of a start before this journal's, and of one after
// it.
const (
	elders   = "bt-000000aaaaa-"
	youngers = "bt-000zzz00000-"
)

// anothers returns an order of another botd.
func anothers(id string, orderID int64, side exchange.Side, kind exchange.OrderType, quantity, filled exchange.Quantity, atMS int64) exchange.Order {
	o := exchange.Order{ID: orderID, ClientOrderID: id, Market: exchange.Spot, Symbol: "BTC-USDT", Side: side, Type: kind, Quantity: quantity,
		Filled: filled, Status: exchange.StatusOpen, CreatedMS: atMS}
	if filled == quantity {
		o.Status = exchange.StatusFilled
	}
	return o
}

// sees fetches the open list, the history and the wallet.
func (w *wallet) sees(free, frozen string, history []exchange.Order, open ...exchange.Order) {
	w.records = append(w.records, w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf(open),
		History: exchange.FetchedOf(history), HistoryWhole: true,
		Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount(free), Frozen: exchange.MustAmount(frozen)}})})...)
}

// stopped returns the quantity that the stops among the intents sell.
func stopped(intents []Intent) (sum exchange.Quantity) {
	for i := range intents {
		if intents[i].Purpose == placement.StopLoss {
			sum += intents[i].Order.Quantity
		}
	}
	return sum
}

// stoppedAtOnce returns the quantity of the stops that wait for no other evidence.
func stoppedAtOnce(intents []Intent) exchange.Quantity {
	return stopped(slices.DeleteFunc(intents, func(i Intent) bool { return i.Key == UnconfirmedKey }))
}

// The other botd's purchase ended before any list showed it open, and the other botd died before it placed the stop.
func TestAnotherBotdsSpotPurchaseIsProtected(t *testing.T) {
	t.Parallel()
	boughtByAnother(t)
}

func boughtByAnother(t testing.TB) {
	t.Helper()
	w, derive := protecting(t)
	stop := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 60_000
	w.shows("1", "0.01", stop)
	bought := anothers(youngers+"1", 20, exchange.Buy, exchange.MarketOrder, 7, 7, w.now)
	w.sees("1.007", "0.01", []exchange.Order{bought}, stop)
	if !w.tracker.StandsDown() {
		t.Fatal("want botd to stand down for an order that only the history shows")
	}
	if have := stopped(derive()); have != 0 {
		t.Errorf("want the other botd to have a moment for its own stop, have one of %d", have)
	}
	w.now += peerStopMS
	w.sees("1.007", "0.01", []exchange.Order{bought}, stop)
	if have := stopped(derive()); have != 7 {
		t.Errorf("want a stop of the 7 that the other one bought, have %d", have)
	}
	w.sees("1.002", "0.01", []exchange.Order{bought}, stop)
	if have := stopped(derive()); have > 2+10 {
		t.Errorf("want no more than the wallet shows, have %d", have)
	}
}

// No stop is canceled to be merged with the new one.
func TestAnotherBotdsPurchaseIsProtectedAmongManyStops(t *testing.T) {
	t.Parallel()
	w, derive := protecting(t)
	var stops []exchange.Order
	for i := range maxStops {
		quantity := exchange.Quantity(1)
		if i == 0 {
			quantity = 10 - maxStops + 1
		}
		stops = append(stops, w.places(placement.StopLoss, int64(8+i), stopOf(quantity)))
	}
	w.now += 60_000
	w.shows("1", "0.01", stops...)
	bought := anothers(youngers+"1", 40, exchange.Buy, exchange.MarketOrder, 7, 7, w.now)
	for range 2 {
		w.sees("1.007", "0.01", []exchange.Order{bought}, stops...)
		w.now += peerStopMS
	}
	if intents := derive(); stopped(intents) != 7 || len(intents) != 1 {
		t.Errorf("want a stop of the 7 that the other one bought beside %d others, have %+v", maxStops, intents)
	}
}

// Once the other botd is stopped, a person adopts its units and its stop. Otherwise nobody would sell them, and a stop in
// this journal would protect less than the holding.
func TestAnotherBotdsPurchaseIsAdoptedManually(t *testing.T) {
	t.Parallel()
	for name, adopt := range map[string]bool{"adopted": true, "left alone": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, derive := protecting(t)
			own := w.places(placement.StopLoss, 8, stopOf(10))
			w.now += 60_000
			bought := anothers(youngers+"1", 20, exchange.Buy, exchange.MarketOrder, 7, 7, w.now)
			theirs := anothers(youngers+"2", 21, exchange.Sell, exchange.StopLimit, 7, 0, w.now)
			theirs.Price, theirs.StopPrice = 46_550e8, 49_000e8
			w.sees("1", "0.017", []exchange.Order{bought}, own, theirs)
			symbol := w.tracker.Symbol(coin)
			if have, _ := w.tracker.PeerPosition(symbol); have != 7 {
				t.Fatalf("want 7 of the other one's, have %d", have)
			}
			for _, r := range w.tracker.Resolve(coin, adopt, "one", "the other botd is stopped") {
				w.apply(r)
			}
			w.apply(record.Record{AtMS: w.now, Body: record.Halt{Level: record.LevelNone}})
			for range 12 {
				w.now += 1_000
				w.sees("1", "0.017", []exchange.Order{bought}, own, theirs)
			}
			want := exchange.Quantity(10)
			if adopt {
				want = 17
			}
			plan := &strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: want}}
			w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, Body: record.Plan{Plan: plan}})
			if symbol.Known() != want || symbol.Baseline() != 1_000 {
				t.Errorf("want %d held beside 1000, have %d beside %d", want, symbol.Known(), symbol.Baseline())
			}
			if intents := derive(); adopt && len(intents) != 0 {
				t.Errorf("want both stops to stand, have %+v", intents)
			}
			if have, _ := w.tracker.PeerPosition(symbol); have != 0 {
				t.Errorf("want it decided, have %d", have)
			}
		})
	}
}

// Botd's own position gets its stop nevertheless.
func TestAnotherBotdsStopCoversOnlyItsPurchase(t *testing.T) {
	t.Parallel()
	w, derive := protecting(t)
	w.now += 60_000
	bought := anothers(youngers+"1", 20, exchange.Buy, exchange.MarketOrder, 10, 10, w.now)
	theirs := anothers(youngers+"2", 21, exchange.Sell, exchange.StopLimit, 10, 0, w.now)
	w.sees("1.01", "0.01", []exchange.Order{bought}, theirs)
	if have := stopped(derive()); have != 10 {
		t.Errorf("want a stop of the 10 that are botd's own, have %d", have)
	}
}

// Two botds with copies of one journal each placed a stop. The botd of the later start cancels its own; the other one does so
// only if that does not happen.
func TestOneOfTwoStopsOverSameUnitsIsCanceled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		id      string
		afterMS int64 // since two stops were seen
		cancel  bool
	}{
		{"the later start waits a moment", elders, excessMS - 500, false},
		{"the later start", elders, excessMS, true},
		{"the earlier start leaves it to the other", youngers, excessMS + 1_000, false},
		{"the earlier start, whose other one does nothing", youngers, excessLastMS, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			twoStops(t, c.id, c.afterMS, c.cancel)
		})
	}
}

func twoStops(t testing.TB, id string, afterMS int64, cancel bool) {
	t.Helper()
	w, derive := protecting(t)
	own := w.places(placement.StopLoss, 8, stopOf(10))
	theirs := anothers(id+"1", 21, exchange.Sell, exchange.StopLimit, 10, 0, w.now)
	w.now += 60_000
	w.sees("0.99", "0.02", nil, own, theirs)
	first := derive()
	w.now += afterMS
	w.sees("0.99", "0.02", nil, own, theirs)
	have := slices.Concat(purposes(first), purposes(derive()))
	if canceled := slices.Contains(have, placement.Cancel); canceled != cancel {
		t.Errorf("want the own stop taken off %t, have %v", cancel, have)
	}
}

// The open list omits the stops of both botds for minutes, and the wallet freezes the units for both: the other botd's stop still stands. If the wallet
// freezes too little for it, it has ended, and so has one that the history shows as ended.
func TestStopOfAnotherBotdStandsWhileTheWalletFreezesItsUnits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		free, frozen string
		ended        bool
		want         exchange.Quantity
	}{
		"the wallet freezes for both":                 {"1", "0.018", false, 0},
		"for botd's own alone":                        {"1.008", "0.01", false, 8},
		"for a part of it":                            {"1.001", "0.017", false, 8},
		"for none":                                    {"1.018", "0", false, 18},
		"for both, and the history shows it as ended": {"1", "0.018", true, 8},
		"it shows none of anybody's units":            {"0", "0", false, 0},
		"it shows half of all units":                  {"0.5", "0.009", false, 0},
		"it lacks no more than that stop may sell":    {"1", "0.01", false, 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			unlistedStop(t, c.free, c.frozen, c.ended, c.want)
		})
	}
}

// The other botd has died before it placed a stop, so botd has placed one. Neither the open list nor the wallet shows anything any more.
func TestStopOfAnotherBotdsUnitsIsPlacedOnceWhereNothingShowsIt(t *testing.T) {
	t.Parallel()
	placedOnce(t)
}

func placedOnce(t testing.TB) {
	w, derive := protecting(t)
	w.tracker.spotFee = 0
	own := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 60_000
	bought := anothers(youngers+"1", 20, exchange.Buy, exchange.MarketOrder, 8, 8, w.now)
	w.sees("1.008", "0.01", []exchange.Order{bought}, own)
	second := w.places(placement.StopLoss, 9, stopOf(8))
	for range 20 {
		w.now += 1_000
		w.sees("0", "0", []exchange.Order{bought, own, second})
		if have := stopped(derive()); have != 0 {
			t.Fatalf("want no further stop, have one of %d", have)
		}
	}
}

// No open list has shown the stop of another botd's purchase, but the wallet freezes the units of both botds: that stop stands. What a person's order
// freezes is no stop (seed 897000281).
func TestStopOfAnotherBotdThatNoListShowsStandsWhileTheWalletFreezesItsUnits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		free, frozen string
		persons      exchange.Quantity // a person's listed sale
		want         exchange.Quantity
	}{
		"the wallet freezes for both": {"1", "0.018", 0, 0},
		"for botd's own alone":        {"1.008", "0.01", 0, 8},
		"for a part of it":            {"1.001", "0.017", 0, 8},
		"for a person":                {"1", "0.018", 8, 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			neverListedStop(t, c.free, c.frozen, c.persons, c.want)
		})
	}
}

func neverListedStop(t testing.TB, free, frozen string, persons, want exchange.Quantity) {
	t.Helper()
	w, derive := protecting(t)
	open := []exchange.Order{w.places(placement.StopLoss, 8, stopOf(10))}
	bought := anothers(youngers+"1", 20, exchange.Buy, exchange.MarketOrder, 8, 8, w.now)
	if persons > 0 {
		open = append(open, anothers("a person's", 30, exchange.Sell, exchange.Limit, persons, 0, w.now))
	}
	for range 5 {
		w.now += 1_000
		w.sees(free, frozen, []exchange.Order{bought}, open...)
	}
	if have := stopped(derive()); have != want {
		t.Errorf("want a stop of %d, have %d", want, have)
	}
}

func unlistedStop(t testing.TB, free, frozen string, ended bool, want exchange.Quantity) {
	t.Helper()
	w, derive := protecting(t)
	w.tracker.spotFee = 0
	own := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 60_000
	bought := anothers(youngers+"1", 20, exchange.Buy, exchange.MarketOrder, 8, 8, w.now)
	theirs := anothers(youngers+"2", 21, exchange.Sell, exchange.StopLimit, 8, 0, w.now)
	for range 4 {
		w.now += 1_000
		w.sees("1", "0.018", []exchange.Order{bought}, own, theirs)
	}
	if ended {
		theirs.Status = exchange.StatusCanceled
	}
	for range 12 {
		w.now += 1_000
		w.sees(free, frozen, []exchange.Order{bought, own, theirs})
	}
	if have := stopped(derive()); have != want {
		t.Errorf("want a stop of %d, have %d", want, have)
	}
}

// Whoever canceled it may be selling the units that the stop held.
func TestCanceledStopOfAnotherBotdHasGracePeriod(t *testing.T) {
	t.Parallel()
	w, derive := protecting(t)
	theirs := anothers(youngers+"1", 21, exchange.Sell, exchange.StopLimit, 10, 0, w.now)
	w.now += 60_000
	w.sees("1", "0.01", nil, theirs)
	canceled := theirs
	canceled.Status = exchange.StatusCanceled
	w.now += 1_000
	w.sees("1.01", "0", []exchange.Order{canceled})
	if have := stopped(derive()); have != 0 {
		t.Errorf("want no stop beside an exit that may be on its way, have one of %d", have)
	}
	w.now += peerStopMS
	w.sees("1.01", "0", []exchange.Order{canceled})
	if have := stopped(derive()); have != 10 {
		t.Errorf("want the stop of 10 as soon as nothing came of it, have %d", have)
	}
}

// The botd of the earlier start sells first, provided the other one may have found it.
func TestEarlierBotdSellsSharedUnitsFirst(t *testing.T) {
	t.Parallel()
	const decidedMS = 2_000_000
	for _, c := range []struct {
		name   string
		id     string
		placed bool // whether this botd has placed an order since the other one started
		want   int64
	}{
		{"the later start", elders, true, decidedMS + 2*yieldMS},
		{"the earlier start", youngers, true, 0},
		{"the earlier start, which the other one cannot have found", youngers, false, decidedMS + yieldMS},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			yields(t, c.id, c.placed, decidedMS, c.want)
		})
	}
}

func yields(t testing.TB, id string, placed bool, decidedMS, want int64) {
	t.Helper()
	w, _ := protecting(t)
	symbol := w.tracker.Symbol(coin)
	if have := w.tracker.YieldMS(symbol, decidedMS); have != 0 {
		t.Errorf("want nothing left to anybody while none is known, have %d", have)
	}
	other, _ := placement.ParseSerial(id + "1")
	if placed {
		w.now = max(w.now, (other.Start.Epoch+1)*1_000)
		w.places(placement.StopLoss, 8, stopOf(10))
	}
	w.apply(record.Record{AtMS: w.now, ClientOrderID: id + "1", Body: record.Halt{Level: record.LevelPause, Reason: "another botd"}})
	if have := w.tracker.YieldMS(symbol, decidedMS); have != want {
		t.Errorf("want an exit left to the other until %d, have %d", want, have)
	}
	if have := w.tracker.YieldMS(newDesk(t).tracker.Symbol(bitcoin), decidedMS); have != 0 {
		t.Errorf("want nothing left to anybody on futures, have until %d", have)
	}
	if w.start(); w.tracker.YieldMS(w.tracker.Symbol(coin), decidedMS) != want {
		t.Errorf("want the same after a start, which is later than both, have %d", w.tracker.YieldMS(w.tracker.Symbol(coin), decidedMS))
	}
}

// A wallet has shown none of the units for longer than an exit is left to the other botd. Both see them again in the same moment, and one sells first.
func TestYieldBeginsWhenTheWalletShowsTheUnitsAgain(t *testing.T) {
	t.Parallel()
	yieldsAgain(t)
}

func yieldsAgain(t testing.TB) {
	t.Helper()
	w, _ := protecting(t)
	w.now += 60_000
	w.apply(record.Record{AtMS: w.now, ClientOrderID: elders + "1", Body: record.Halt{Level: record.LevelPause, Reason: "another botd"}})
	decidedMS, shownMS := w.now, int64(0)
	for _, balance := range []string{"1.01", "0", "0", "0", "1.01", "1.01"} {
		w.now += 4_000
		w.sees(balance, "0", nil)
		if balance != "0" && shownMS == 0 && w.now > decidedMS+2*yieldMS {
			shownMS = w.now
		}
	}
	if have, want := w.tracker.YieldMS(w.tracker.Symbol(coin), decidedMS), shownMS+2*yieldMS; have != want {
		t.Errorf("want an exit left to the other until %d, have %d", want, have)
	}
}

// Of one start with a copy of the journal neither botd is the later one. A botd that began first and has started again since sells last: the other one may
// have found it before or after that.
func TestLaterBotdIsDecidedByFirstSharedStart(t *testing.T) {
	t.Parallel()
	laterBotd(t)
}

func laterBotd(t testing.TB) {
	const decidedMS = 5_000_000
	for _, c := range []struct {
		name    string
		id      string
		starts  int   // number of starts since
		epochMS int64 // when an order was placed, relative to the second in which the other botd started
		want    int64
	}{
		{"it began before the other one, which may have found it only since it started again", "bt-000003aaaaa-1", 4, 4_000, decidedMS + 3*yieldMS},
		{"a copy of its journal", "bt-1-9", 0, -1, decidedMS + yieldMS},
		{"it placed an order in the second in which the other one began", "bt-000zzz00000-1", 0, 999, decidedMS + yieldMS},
		{"it placed one in the next second", "bt-000zzz00000-1", 0, 1_000, decidedMS},
	} {
		w := newWallet(t)
		other, _ := placement.ParseSerial(c.id)
		if c.epochMS >= 0 {
			w.now = other.Start.Epoch*1_000 + c.epochMS
			w.places(placement.StopLoss, 8, stopOf(10))
		}
		w.apply(record.Record{AtMS: w.now, ClientOrderID: c.id, Body: record.Halt{Level: record.LevelPause, Reason: "another botd"}})
		for range c.starts {
			w.start()
		}
		want := c.want
		if want == decidedMS {
			want = 0 // immediately
		}
		if have := w.tracker.YieldMS(w.tracker.Symbol(coin), decidedMS); have != want {
			t.Errorf("%s: want an exit left to the other until %d, have %d", c.name, want, have)
		}
	}
}

// The exchange refuses to cancel a stop that has been canceled. Whoever canceled it may be selling the units that it held.
func TestExitWaitsIfAnotherCanceledTheStop(t *testing.T) {
	t.Parallel()
	takenByAnother(t)
}

func takenByAnother(t testing.TB) {
	t.Helper()
	w, derive := protecting(t)
	stop := w.places(placement.StopLoss, 8, stopOf(10))
	w.apply(record.Record{AtMS: w.now, Strategy: "one", Symbol: coin, Body: record.Plan{Plan: &strategy.Plan{Target: strategy.Flat()}}})
	w.now += 60_000
	w.shows("1", "0.01", stop)
	if have := purposes(derive()); !slices.Equal(have, []placement.Purpose{placement.Cancel}) {
		t.Fatalf("want the stop canceled for the exit, have %v", have)
	}
	w.tracker.NoteCancelRefused(stop.ClientOrderID, w.now)
	stop.Status = exchange.StatusCanceled
	w.now += 1_000
	w.sees("1.01", "0", []exchange.Order{stop})
	if have := purposes(derive()); slices.Contains(have, placement.Exit) || !slices.Contains(have, placement.StopLoss) {
		t.Errorf("want the stop back and no exit yet, have %v", have)
	}
	w.now += cancelRefusedWaitMS
	w.sees("1.01", "0", []exchange.Order{stop})
	if have := purposes(derive()); !slices.Contains(have, placement.Exit) {
		t.Errorf("want the exit when nobody has sold it, have %v", have)
	}
}

// A sale by the other botd is not a person's decision, so the policy does not apply to it.
func TestNoAdoptionWhileAnotherBotdTrades(t *testing.T) {
	t.Parallel()
	w, _ := protecting(t)
	w.tracker.foreignPolicy = ForeignAdopt
	w.now += 60_000
	for range 40 {
		w.now += 1_000
		w.sees("1.004", "0", []exchange.Order{anothers(youngers+"1", 20, exchange.Sell, exchange.Limit, 6, 6, w.now-1_000)})
	}
	symbol := w.tracker.Symbol(coin)
	if symbol.Known() != 10 || symbol.Quarantine() == "" {
		t.Errorf("want the 10 of the fills kept and the symbol quarantined, have %d and %q", symbol.Known(), symbol.Quarantine())
	}
}

// Of two stops of another botd that the list no longer shows, the wallet freezes the asset for one.
func TestUnlistedStopsOfAnotherBotdHoldWhatIsFrozen(t *testing.T) {
	t.Parallel()
	w, derive := protecting(t)
	w.tracker.spotFee = 0
	own := w.places(placement.StopLoss, 8, stopOf(10))
	w.now += 60_000
	bought := anothers(youngers+"1", 20, exchange.Buy, exchange.MarketOrder, 8, 8, w.now)
	first := anothers(youngers+"2", 21, exchange.Sell, exchange.StopLimit, 4, 0, w.now)
	second := anothers(youngers+"3", 22, exchange.Sell, exchange.StopLimit, 4, 0, w.now)
	for range 4 {
		w.now += 1_000
		w.sees("1", "0.018", []exchange.Order{bought}, own, first, second)
	}
	for range 12 {
		w.now += 1_000
		w.sees("1.004", "0.014", []exchange.Order{bought}, own)
	}
	if have := stopped(derive()); have != 4 {
		t.Errorf("want a stop of 4, have %d", have)
	}
}

// The peer has bought 14 and sold 3, and own sales have sold 2 of what it bought.
func TestPeerTradesAreSummed(t *testing.T) {
	t.Parallel()
	peer := peerTrades{orders: []peerOrder{{1, 10, 0}, {2, 4, 0}, {3, -3, 0}}, sold: 2}
	if peer.net() != 9 || peer.purchases() != 14 || peer.sales() != 3 || peer.heldByPersons(20) != 11 || peer.heldByPersons(5) != 0 {
		t.Errorf("want 9 left of 14, 3 sold, and 11 and 0 of persons, have %d, %d, %d, %d, %d",
			peer.net(), peer.purchases(), peer.sales(), peer.heldByPersons(20), peer.heldByPersons(5))
	}
}
