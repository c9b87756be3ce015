package reconcile

import (
	"fmt"
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// A difference lasts from snapshot to snapshot while its figure is the same and no order or fill could be its reason.
func TestDifferencePersistence(t *testing.T) {
	t.Parallel()
	type measured struct {
		differed  exchange.Quantity
		forMS     int64 // of the difference; -1: it begins with this snapshot
		agreesFor int64 // -1: the agreement begins with this snapshot
		beyond    bool  // the list shows a position that fills do not explain
	}
	order := func(of exchange.NewOrder, answer func(d *desk, id string)) func(d *desk, symbol *SymbolState) {
		return func(d *desk, _ *SymbolState) { answer(d, d.places(placement.Exit, of)) }
	}
	taken := func(d *desk, id string) { d.acknowledge(id, 12) }
	const half = 500 // ms that it had lasted before; the snapshots are a second apart
	for _, c := range []struct {
		name              string
		shown             exchange.Quantity // shown, with twenty known
		before, differedB exchange.Quantity // the difference of the snapshot before, and the difference that is measured
		with              func(d *desk, symbol *SymbolState)
		want              measured
	}{
		{"the same", 15, -5, -5, nil, measured{-5, half + 1_000, half, true}},
		{"the same, of a list that shows nothing", 0, -20, -20, nil, measured{-20, half + 1_000, half, false}},
		{"the same, after one that showed none", 15, 0, -5, nil, measured{-5, half, half, true}},
		{"another", 15, -3, -3, nil, measured{-5, -1, half, true}},
		{"one more than fills explain", 21, 1, 1, nil, measured{1, half + 1_000, half, true}},
		{"fills were booked", 15, -5, -3, func(_ *desk, s *SymbolState) { s.residualOf = 19 }, measured{-5, -1, half, true}},
		{"an uncertain order", 15, -5, -5, order(closes, (*desk).uncertain), measured{-5, -1, half, true}},
		{"an order that no list shows could have made it", 15, -5, -5, order(closes, taken), measured{-5, -1, half, true}},
		{"one that no list shows could not", 15, -5, -5, order(buys, taken), measured{-5, half + 1_000, half, true}},
		{"another symbol's order could not", 15, -5, -5, order(ethers, (*desk).uncertain), measured{-5, half + 1_000, half, true}},
		{"none, after one", 20, -5, -5, nil, measured{-5, half, -1, false}},
		{"none, for longer than L", 20, 0, -5, nil, measured{0, -1, half + 1_000, false}},
		{"none, for L", 20, 0, -5, func(_ *desk, s *SymbolState) { s.agrees.forMS = 0 }, measured{-5, half, 1_000, false}},
		{"none, as before", 20, 0, 0, func(_ *desk, s *SymbolState) { s.agrees.forMS = 0 }, measured{0, -1, 1_000, false}},
	} {
		d, symbol := opened(t, 0)
		d.now += 60_000
		s := d.shows(symbol, c.shown)
		symbol.residual, symbol.residualOf, symbol.measuredResidual = c.before, 20, c.differedB
		symbol.residualFor = persistence{sinceMS: 1, lastMS: d.now - 1_000, forMS: half}
		symbol.agrees, symbol.unexplainedMS = symbol.residualFor, 3
		if c.with != nil {
			c.with(d, symbol)
		}
		s.positionComparison().measureResidual(symbol)
		lasted := func(p persistence) int64 {
			if p.sinceMS == d.now && p.forMS == 0 {
				return -1
			}
			return p.forMS
		}
		have := measured{symbol.measuredResidual, lasted(symbol.residualFor), lasted(symbol.agrees), symbol.unexplainedMS == d.now}
		if have != c.want || symbol.residual != c.shown-20 || symbol.residualOf != 20 {
			t.Errorf("%s: want %+v, have %+v, residual %d of %d", c.name, c.want, have, symbol.residual, symbol.residualOf)
		}
	}
}

// A position in the list is protected, and nothing else is concluded from it.
func TestListedPositionIsUsedWhileAnotherReadFails(t *testing.T) {
	t.Parallel()
	unreadRow := func(_ *desk, s *survey) {
		s.fetched.UnreadPositions = []exchange.SymbolKey{bitcoin}
		s.fetched.Positions = exchange.FetchedOf[exchange.Position](nil)
	}
	without := func(list *exchange.Fetched[exchange.Position]) { *list = exchange.Fetched[exchange.Position]{} }
	closed := func(_ *desk, s *survey) {
		s.fetched.Closed = []exchange.Position{ended(7, func(p *exchange.Position) { p.CreatedMS, p.UpdatedMS = sentMS, filledMS+1 })}
	}
	for _, c := range []struct {
		name  string
		shown exchange.Quantity
		with  func(d *desk, s *survey)
		want  string // position, read, residual, whether the list is untrusted, the witness
	}{
		{"as fills explain", 20, nil, "20 true 0 false "},
		{"less", 15, nil, "15 true -5 false "},
		{"none", 0, nil, "0 true -20 false "},
		{"none, and positions/history shows its end", 0, closed, "0 true -20 false " + string(closedRow)},
		{"all, and positions/history shows the end of another", 20, closed, "20 true 0 false "},
		{"its row cannot be read, and the first list shows it", 20, unreadRow, "20 true 0 false "},
		{"the second list cannot be read", 15, func(_ *desk, s *survey) { without(&s.fetched.Positions) }, "15 true -5 false "},
		{"neither can be read: what was opened stands", 20, func(_ *desk, s *survey) {
			without(&s.fetched.Positions)
			without(&s.fetched.Before)
		}, "3 false 9 true "},
		{"neither can be read, and none is in the first", 0, func(_ *desk, s *survey) { without(&s.fetched.Positions) }, "3 false 9 true "},
		{"the list moved while it was read: what was opened stands", 20, func(d *desk, s *survey) { s.fetched.Before = d.positions(3) }, "3 false 9 true "},
	} {
		d, symbol := opened(t, 0)
		d.now += 500
		s := d.shows(symbol, c.shown)
		s.fetched.Unread = []exchange.SymbolKey{bitcoin}
		if c.with != nil {
			c.with(d, s)
		}
		symbol.position, symbol.residual, symbol.positionID, symbol.settled = 3, 9, 1, true // from before
		symbol.futuresEvidence.untrusted = c.shown == 0 && len(s.fetched.Closed) > 0
		lasted := persistence{sinceMS: 1, lastMS: 2, forMS: 3}
		symbol.equal, symbol.residualFor, symbol.missedFor = lasted, lasted, lasted
		s.positionComparison().observePosition(symbol)
		have := fmt.Sprintf("%d %t %d %t %s", symbol.position, symbol.read, symbol.residual, symbol.futuresEvidence.untrusted, symbol.futuresEvidence.by)
		if have != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
		paused := persistence{sinceMS: 1, lastMS: d.now, forMS: 3}
		if symbol.equal.sinceMS != 0 || symbol.residualFor != paused || symbol.missedFor != paused || symbol.settled || !symbol.unread {
			t.Errorf("%s: want nothing concluded and no time counted, have %+v, %+v, %+v, settled %t", c.name, symbol.equal, symbol.residualFor,
				symbol.missedFor, symbol.settled)
		}
		if shown := symbol.read && symbol.position != 0; shown != slices.Contains(symbol.seen, 7) {
			t.Errorf("%s: want position 7 remembered %t, have %v", c.name, shown, symbol.seen)
		}
	}
}

// Fills since the start and since the last read of the list determine the position.
func TestFillsDefinePositionWhileListIsUnreadable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		with func(d *desk, s *SymbolState)
		want bool
	}{
		{"so it was", nil, true},
		{"the list was read L after the fill", func(_ *desk, s *SymbolState) { s.positionMS = filledMS + 1_000 }, true},
		{"it was read later", func(_ *desk, s *SymbolState) { s.positionMS = filledMS + 1_001 }, false},
		{"a witness shows that it has ended", func(_ *desk, s *SymbolState) { s.futuresEvidence.by = closedRow }, false},
		{"a list has shown it", func(_ *desk, s *SymbolState) { s.futuresEvidence.shownOf = sentMS }, false},
		{"it was filled with the start", func(d *desk, _ *SymbolState) { d.tracker.bootMS = filledMS }, false},
		{"it was filled right after", func(d *desk, _ *SymbolState) { d.tracker.bootMS = filledMS - 1 }, true},
		{"more was sold than botd had opened", func(d *desk, _ *SymbolState) {
			order := closes
			order.Quantity = 25
			d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: d.places(placement.Exit, order),
				Body: record.Ended{OrderID: 12, State: placement.Filled, Filled: 25}})
		}, false},
		{"all was sold", func(d *desk, _ *SymbolState) {
			order := closes
			order.Quantity = 20
			d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: d.places(placement.Exit, order),
				Body: record.Ended{OrderID: 12, State: placement.Filled, Filled: 20}})
		}, false},
	} {
		d, symbol := opened(t, 0)
		if c.with != nil {
			c.with(d, symbol)
		}
		s := d.tracker.survey(&Snapshot{})
		s.positionComparison().assumeOpened(symbol)
		if have := symbol.futuresEvidence.untrusted; have != c.want {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
	}
}

// If the open list was read, the wallet shows what a purchase is inferred to have bought. Otherwise it only shows for which uncertain sales
// nothing is frozen.
func TestWalletIsUsedWhileAnotherReadFails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		with           func(w *wallet, s *survey)
		walletOnlyRead bool
		inferred       exchange.Quantity
		unfrozen       string // which sales: uncertain, acknowledged
	}{
		{"list and wallet", nil, true, 5, "true true"},
		{"the wallet alone", func(_ *wallet, s *survey) { s.fetched.SpotOrders = exchange.Fetched[exchange.Order]{} }, true, 0, "true false"},
		{"the list alone", func(_ *wallet, s *survey) { s.fetched.Balances = exchange.Fetched[exchange.Balance]{} }, false, 0, "false false"},
		{"neither, where the wallet was read before", func(w *wallet, s *survey) {
			s.fetched.SpotOrders, s.fetched.Balances = exchange.Fetched[exchange.Order]{}, exchange.Fetched[exchange.Balance]{}
			w.tracker.Symbol(coin).walletOnlyRead = true
		}, true, 0, "false false"},
		{"without rules", func(w *wallet, s *survey) { w.tracker.Symbol(coin).rules = nil }, true, 0, "false false"},
	} {
		w := explains(t, 10, 0)
		w.buysUnder(8, 5)
		uncertain, acknowledged := w.places(placement.Exit, 0, saleOf(6)), w.places(placement.Exit, 9, saleOf(6))
		w.now += 2_000
		s := w.reads(1_015, 0)
		s.fetched.Unread = []exchange.SymbolKey{coin}
		if c.with != nil {
			c.with(w, s)
		}
		symbol := w.tracker.Symbol(coin)
		s.positionComparison().observePosition(symbol)
		unfrozen := fmt.Sprint(w.tracker.known(uncertain.ClientOrderID).unfrozen, w.tracker.deliveries[acknowledged.ClientOrderID].unfrozen)
		if symbol.walletOnlyRead != c.walletOnlyRead || symbol.spot.unlisted.inferred != c.inferred || unfrozen != c.unfrozen || symbol.position != 10 {
			t.Errorf("%s: want read alone %t, %d inferred, unfrozen %s, have %t, %d, %s, position %d", c.name, c.walletOnlyRead, c.inferred, c.unfrozen,
				symbol.walletOnlyRead, symbol.spot.unlisted.inferred, unfrozen, symbol.position)
		}
	}
	w := explains(t, 10, 0) // nothing is noted about purchases and about another symbol's sales
	w.buysUnder(0, 5)
	w.sendsElsewhere(exchange.Sell)
	s := w.reads(1_015, 0)
	s.fetched.SpotOrders = exchange.Fetched[exchange.Order]{}
	s.walletComparison().partialWallet(w.tracker.Symbol(coin))
	for id, known := range w.tracker.deliveries {
		if known.unfrozen {
			t.Errorf("want nothing noted, have %s: %+v", id, known)
		}
	}
}

// A new position is held from now on. A position that a list omits, although an earlier one showed it, keeps its price.
func TestPositionAgeAndEntryPrice(t *testing.T) {
	t.Parallel()
	row := func(id int64, quantity exchange.Quantity, leverage int) exchange.Position {
		return exchange.Position{ID: id, Symbol: "BTC-USDT", Side: exchange.Long, Remaining: quantity, EntryPrice: exchange.AmountOf(quantityPrice(quantity)),
			Leverage: leverage, LiqPrice: exchange.AmountOf(id)}
	}
	for _, c := range []struct {
		name   string
		held   exchange.Quantity // as the list showed it before, under id 7
		row    exchange.Position
		state  func(d *desk, s *SymbolState)
		want   string // position, entry price, leverage, liquidation
		newSet bool   // it is held from now on
	}{
		{"the same", 20, row(7, 20, 3), nil, "20 2000 3 7", false},
		{"it has grown", 20, row(7, 25, 3), nil, "25 2500 3 7", false},
		{"another", 20, row(8, 20, 3), nil, "20 2000 3 8", true},
		{"the first", 0, row(7, 20, 3), nil, "20 2000 3 7", true},
		{"one without a leverage", 20, row(7, 20, 0), nil, "20 2000 10 7", false},
		{"a leverage of one", 20, row(7, 20, 1), nil, "20 2000 1 7", false},
		{"none, of one that was shown", 20, exchange.Position{}, func(_ *desk, s *SymbolState) { s.futuresEvidence.shownOf = sentMS }, "0 50000 10 0", true},
		{"none, of one that was not shown", 20, exchange.Position{}, nil, "0 0 10 0", true},
		{"none, and nothing is known", 20, exchange.Position{}, func(d *desk, s *SymbolState) {
			s.futuresEvidence.shownOf = sentMS
			d.tracker.Apply(&record.Record{AtMS: d.now, Symbol: bitcoin, Body: record.Adopted{Quantity: -20}})
		}, "0 0 10 0", true},
		{"beside others", 20, row(7, 25, 3), func(d *desk, s *SymbolState) {
			d.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Ignored{Quantity: 5}})
		}, "20 2500 3 7", false},
		{"none but others'", 0, row(7, 5, 3), func(d *desk, s *SymbolState) {
			d.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Ignored{Quantity: 5}})
		}, "0 500 3 7", true},
	} {
		d, symbol := opened(t, 0)
		symbol.position, symbol.positionID, symbol.entryPrice, symbol.sinceMS = c.held, 7, exchange.AmountOf(50_000), 5
		if c.held == 0 {
			symbol.positionID = 0
		}
		if c.state != nil {
			c.state(d, symbol)
		}
		s := d.tracker.survey(&Snapshot{BeganMS: 1, EndedMS: 77})
		s.positionComparison().usePosition(symbol, &c.row)
		have := fmt.Sprintf("%d %s %d %s", symbol.position, symbol.entryPrice, symbol.leverage, symbol.liqPrice)
		if have != c.want || (symbol.sinceMS == 77) != c.newSet || symbol.positionID != c.row.ID {
			t.Errorf("%s: want %q, new %t, have %q since %d, id %d", c.name, c.want, c.newSet, have, symbol.sinceMS, symbol.positionID)
		}
	}
}

func quantityPrice(quantity exchange.Quantity) int64 { return 100 * int64(quantity) }

// The notes about a placement are deleted with its end, not with a fill.
func TestPlacementNotesAreDeletedAtItsEnd(t *testing.T) {
	t.Parallel()
	for _, ended := range []bool{true, false} {
		w := explains(t, 20, 0)
		o := w.places(placement.StopLoss, 9, stopOf(10))
		id := o.ClientOrderID
		w.tracker.NoteCancel(id, w.now)
		w.tracker.inferEnded(id, 1)
		w.tracker.noteUnable(id, 1)
		w.tracker.noteUnfrozen(id, true)
		body := record.Body(record.Fill{OrderID: 9, Filled: 4})
		if ended {
			body = record.Ended{OrderID: 9, State: placement.Filled, Filled: 10}
		}
		w.apply(record.Record{AtMS: w.now, ClientOrderID: id, Body: body})
		known := w.tracker.known(id)
		for what, stands := range map[string]bool{"its cancel": known.canceled != cancels{}, "the answer to it": known.releasedMS != 0,
			"that a wallet shows it": known.inferred, "that its cancel was refused": known.unableMS != 0,
			"that the wallet freezes nothing for it": known.unfrozen} {
			if stands == ended {
				t.Errorf("ended %t: want %s stands %t", ended, what, !ended)
			}
		}
	}
}

// The record changes what was observed of the placement's symbol.
func TestPlacementRecordUpdatesSymbol(t *testing.T) {
	t.Parallel()
	fill := func(filled exchange.Quantity) record.Body { return record.Fill{OrderID: 9, Filled: filled} }
	w := explains(t, 10, 0)
	symbol := w.tracker.Symbol(coin)
	purchase := w.buysUnder(9, 10)
	if w.tracker.placedMS != w.now {
		t.Errorf("want the time of the last order that the exchange took, have %d", w.tracker.placedMS)
	}
	symbol.spot.unlisted.inferred, symbol.spot.overdrawn, symbol.settled = 10, true, true
	w.apply(record.Record{AtMS: w.now, ClientOrderID: purchase.ClientOrderID, Body: fill(4)})
	w.apply(record.Record{AtMS: w.now, ClientOrderID: purchase.ClientOrderID, Body: fill(7)})
	if symbol.spot.unlisted.inferred != 3 || symbol.spot.overdrawn || symbol.settled || symbol.sinceFill.sinceMS != w.now {
		t.Errorf("want three left inferred, the wallet read again and the fill's time measured, have %d, %t, %t, %+v", symbol.spot.unlisted.inferred,
			symbol.spot.overdrawn, symbol.settled, symbol.sinceFill)
	}
	symbol.spot.overdrawn, symbol.sinceFill = true, persistence{}
	w.apply(record.Record{AtMS: w.now, ClientOrderID: purchase.ClientOrderID, Body: fill(7)})
	if !symbol.spot.overdrawn || symbol.sinceFill.sinceMS != 0 {
		t.Error("want a record without a fill to change neither")
	}
	symbol.spot.unlisted.inferred = 10
	stop := w.places(placement.StopLoss, 10, stopOf(10))
	w.apply(record.Record{AtMS: w.now, ClientOrderID: stop.ClientOrderID, Body: record.Fill{OrderID: 10, Filled: 4}})
	if symbol.spot.unlisted.inferred != 10 {
		t.Errorf("want a sale to leave what is inferred, have %d", symbol.spot.unlisted.inferred)
	}
	d := holds(t, 20)
	d.tracker.placedMS = 5
	d.acknowledge(d.places(placement.Entry, buys), 11)
	if d.tracker.placedMS != 5 {
		t.Error("want an order on futures to be none on spot")
	}
}

// A refused spot purchase may have been executed. Each one is listed until a snapshot confirms the refusal.
func TestRefusedPurchaseIsListedUntilConfirmed(t *testing.T) {
	t.Parallel()
	w := explains(t, 10, 0)
	symbol := w.tracker.Symbol(coin)
	sale := w.places(placement.Exit, 0, saleOf(10))
	w.apply(record.Record{AtMS: w.now, ClientOrderID: sale.ClientOrderID, Body: record.Refused{Reason: "no"}})
	if symbol.refusedMS != 0 || len(w.tracker.Refused()) != 1 {
		t.Errorf("want a refused sale listed, that bought nothing, have %d, %v", symbol.refusedMS, w.tracker.Refused())
	}
	purchase := w.buysUnder(0, 10)
	w.apply(record.Record{AtMS: w.now + 5, ClientOrderID: purchase.ClientOrderID, Body: record.Refused{Reason: "no"}})
	if refused := w.tracker.Refused(); symbol.refusedMS != w.now+5 || len(refused) != 2 || refused[1].SentMS != w.now || refused[1].Symbol != coin {
		t.Errorf("want the purchase to be one that may have bought, have %d, %+v", symbol.refusedMS, refused)
	}
	d := holds(t, 20)
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: d.places(placement.Entry, buys), Body: record.Refused{Reason: "no"}})
	bounds := d.tracker.Bounds()
	if until := d.tracker.Symbol(bitcoin).RefusedUntilMS(&bounds); until != d.now+bounds.WindowMS+bounds.VisibilityMS+bounds.StalenessMS {
		t.Errorf("want an opening on futures to be shown until W, D and L have passed, have %d at %d", until, d.now)
	}
}

// A sale that fills more than the known holding counts against an uncertain purchase, until that purchase ends.
func TestSalesOfUncertainPurchase(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		uncertain bool
		fills     []exchange.Quantity // of a sale, one after the other; ten are known
		want      exchange.Quantity
	}{
		{"more than is known", true, []exchange.Quantity{14}, 4},
		{"as much as is known", true, []exchange.Quantity{10}, 0},
		{"less", true, []exchange.Quantity{3}, 0},
		{"more, in two parts", true, []exchange.Quantity{6, 14}, 4},
		{"no purchase is uncertain", false, []exchange.Quantity{14}, 0},
	} {
		w := explains(t, 10, 0)
		purchase := w.buysUnder(map[bool]int64{true: 0, false: 8}[c.uncertain], 5)
		sale := w.places(placement.Exit, 9, saleOf(20))
		for _, filled := range c.fills {
			w.apply(record.Record{AtMS: w.now, ClientOrderID: sale.ClientOrderID, Body: record.Fill{OrderID: 9, Filled: filled}})
		}
		symbol := w.tracker.Symbol(coin)
		if have := symbol.unclaimedSold; have != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, have)
		}
		w.apply(record.Record{AtMS: w.now, ClientOrderID: sale.ClientOrderID, Body: record.Ended{OrderID: 9, State: placement.Canceled, Filled: c.fills[0]}})
		if symbol.unclaimedSold != c.want {
			t.Errorf("%s: want the end of the sale to change nothing, have %d", c.name, symbol.unclaimedSold)
		}
		w.apply(record.Record{AtMS: w.now, ClientOrderID: purchase.ClientOrderID, Body: record.Ended{State: placement.Absent}})
		if symbol.unclaimedSold != 0 {
			t.Errorf("%s: want nothing left when the purchase is decided, have %d", c.name, symbol.unclaimedSold)
		}
	}
	d := holds(t, 20)
	d.uncertain(d.places(placement.Entry, buys))
	order := closes
	order.Quantity = 30
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: d.places(placement.Exit, order), Body: record.Fill{OrderID: 12, Filled: 30}})
	if sold := d.tracker.Symbol(bitcoin).unclaimedSold; sold != 0 {
		t.Errorf("want nothing of the kind on futures, have %d", sold)
	}
}

// The clock before the start may have dated the last fill too early or too late, by up to L and ten seconds.
func TestCalmRestartsAfterStart(t *testing.T) {
	t.Parallel()
	for afterMS, want := range map[int64]bool{0: true, 11_000: true, 11_001: false, -11_000: true, -11_001: false} {
		_, symbol := opened(t, 0)
		sinceFill := symbol.sinceFillAtStart(testSettle, filledMS+afterMS)
		wanted := persistence{}
		if want {
			wanted = persistence{sinceMS: filledMS + afterMS, lastMS: filledMS + afterMS}
		}
		if sinceFill != wanted {
			t.Errorf("a start %d ms after the fill: want %+v, have %+v", afterMS, wanted, sinceFill)
		}
	}
	if symbol := newDesk(t).tracker.Symbol(bitcoin); symbol.sinceFillAtStart(testSettle, 5_000) != (persistence{}) {
		t.Error("want nothing measured where nothing was ever filled")
	}
}
