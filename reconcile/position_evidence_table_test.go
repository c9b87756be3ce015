package reconcile

import (
	"fmt"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

const (
	sentMS   = 1_001_500 // when the position was requested
	filledMS = 1_001_800 // when it was booked
	bootMS   = 900_000
)

// opened returns a desk that has bought twenty since its start. createdMS is the exchange's date of the order if it is
// earlier than botd's, otherwise 0.
func opened(t testing.TB, createdMS int64) (*desk, *SymbolState) {
	t.Helper()
	d := newDesk(t)
	d.tracker.Apply(&record.Record{AtMS: bootMS, Body: record.Boot{Epoch: 2}})
	d.now = sentMS
	order := buys
	order.Quantity = 20
	id := d.places(placement.Entry, order)
	d.now = filledMS
	d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id,
		Body: record.Ended{OrderID: 11, State: placement.Filled, Filled: 20, CreatedMS: createdMS}})
	return d, d.tracker.Symbol(bitcoin)
}

// usesMargin lets the account use a margin for positions.
func (s *survey) usesMargin(margin string) {
	s.fetched.Account = &exchange.MarginAccount{PositionMargin: exchange.MustAmount(margin)}
	s.inUse = s.fetched.Account
}

// shows returns the survey of a current snapshot whose list shows a position, before anything is concluded from it.
func (d *desk) shows(symbol *SymbolState, signed exchange.Quantity) *survey {
	list := d.positions(signed)
	s := d.tracker.survey(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil),
		Before: list, Positions: list})
	symbol.position = signed - symbol.Ignored()
	symbol.residual = symbol.position - symbol.Known()
	if symbol.entryPrice = (exchange.Amount{}); signed != 0 {
		symbol.entryPrice, symbol.positionID = list.Items()[0].EntryPrice, list.Items()[0].ID
	}
	return s
}

// ended returns a positions/history row of a position of the same size, opened and closed long before.
func ended(id int64, change func(p *exchange.Position)) exchange.Position {
	p := exchange.Position{ID: id, Symbol: "BTC-USDT", Side: exchange.Long, Quantity: 20, Status: exchange.PositionClosed, CreatedMS: 500_000,
		UpdatedMS: 600_000}
	if change != nil {
		change(&p)
	}
	return p
}

// The position of twenty was opened at 1,001.5 s and has the id seven.
func TestRowEndsPosition(t *testing.T) {
	t.Parallel()
	shown := func(symbol *SymbolState) {
		symbol.futuresEvidence.shownID, symbol.futuresEvidence.shownOf = 7, symbol.OpenedMS()
	}
	before := func(symbol *SymbolState) { symbol.futuresEvidence.shownID, symbol.futuresEvidence.shownOf = 6, 1 }
	past := func(id int64) func(*SymbolState) {
		return func(symbol *SymbolState) { before(symbol); symbol.futuresEvidence.past = []int64{id} }
	}
	seen := func(ids ...int64) func(*SymbolState) {
		return func(symbol *SymbolState) { before(symbol); symbol.seen = ids }
	}
	dated := func(createdMS, updatedMS int64) func(*exchange.Position) {
		return func(p *exchange.Position) { p.CreatedMS, p.UpdatedMS = createdMS, updatedMS }
	}
	for _, c := range []struct {
		name   string
		others exchange.Quantity
		state  func(symbol *SymbolState)
		id     int64
		row    func(p *exchange.Position)
		want   bool
	}{
		{"the one that the list showed", 0, shown, 7, nil, true},
		{"of another symbol", 0, shown, 7, func(p *exchange.Position) { p.Symbol = "ETH-USDT" }, false},
		{"some of it is left", 0, shown, 7, func(p *exchange.Position) { p.Remaining = 1 }, false},
		{"of the other side", 0, shown, 7, func(p *exchange.Position) { p.Side = exchange.Short }, false},
		{"another, of before", 0, shown, 8, nil, false},
		{"the one that was shown before, and may be the same", 0, before, 6, nil, true},
		{"one of the past", 0, past(6), 6, nil, false},
		{"none was shown, and it ended after the last fill", 0, func(*SymbolState) {}, 9, dated(500_000, filledMS+1), true},
		{"none was shown, and it ended with the last fill", 0, func(*SymbolState) {}, 9, dated(500_000, filledMS), false},
		{"the one that was seen last, shown of another opening", 0, seen(8, 9), 9, nil, true},
		{"the only one that was seen", 0, seen(9), 9, nil, true},
		{"one that was seen before the last", 0, seen(9, 8), 9, nil, false},
		{"the one that was seen last, while the one held was shown", 0, func(s *SymbolState) { seen(9)(s); shown(s) }, 9, nil, false},
		{"opened in the same second", 0, before, 9, dated(1_001_000, 2_000_000), true},
		{"opened in the second before", 0, before, 9, dated(1_000_999, 2_000_000), false},
		{"beside others, as large as both, ended since", 5, before, 9, func(p *exchange.Position) {
			dated(1, 1_001_000)(p)
			p.Quantity = 25
		}, true},
		{"beside others, less than both", 5, before, 9, func(p *exchange.Position) { dated(1, 1_001_000)(p); p.Quantity = 24 }, false},
		{"beside others, ended before", 5, before, 9, func(p *exchange.Position) { dated(1, 1_000_999)(p); p.Quantity = 25 }, false},
		{"beside others of the other side", -5, before, 9, func(p *exchange.Position) { dated(1, 1_001_000)(p); p.Quantity = 25 }, false},
	} {
		d, symbol := opened(t, 0)
		d.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Ignored{Quantity: c.others}})
		c.state(symbol)
		row := ended(c.id, c.row)
		if have := symbol.closedBy(&row); have != c.want {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
	}
	_, symbol := opened(t, 981_500) // the exchange's clock is twenty seconds behind
	before(symbol)
	for createdMS, want := range map[int64]bool{980_999: false, 981_000: true} {
		if row := ended(9, dated(createdMS, 2_000_000)); symbol.closedBy(&row) != want {
			t.Errorf("dated 981.5 s by the exchange, a row of %d: want %t", createdMS, want)
		}
	}
}

// The symbol has one position, which was open when it was adopted, at 1,000 s.
func TestRowEndsAdoptedPosition(t *testing.T) {
	t.Parallel()
	const adoptedMS = 1_000_000
	for _, c := range []struct {
		name               string
		createdMS, endedMS int64
		later              exchange.Quantity // adopted later
		seen               []int64
		want               bool
	}{
		{"it was open then, by any clock", adoptedMS - 10_000, adoptedMS + 10_000, 0, nil, true},
		{"it was opened at about that time", adoptedMS - 9_999, adoptedMS + 10_000, 0, nil, false},
		{"it had ended at about that time", adoptedMS - 10_000, adoptedMS + 9_999, 0, nil, false},
		{"it had ended, and was seen last", adoptedMS - 10_000, adoptedMS - 5_000, 0, []int64{9}, true},
		{"it had ended, and another was seen last", adoptedMS - 10_000, adoptedMS - 5_000, 0, []int64{9, 8}, false},
		{"more was adopted later", adoptedMS - 10_000, adoptedMS + 10_000, 5, nil, false},
	} {
		d := newDesk(t)
		d.tracker.Apply(&record.Record{AtMS: adoptedMS, Symbol: bitcoin, Body: record.Adopted{Quantity: 20}})
		d.tracker.Apply(&record.Record{AtMS: adoptedMS + 50_000, Symbol: bitcoin, Body: record.Adopted{Quantity: c.later}})
		symbol := d.tracker.Symbol(bitcoin)
		symbol.futuresEvidence.shownID, symbol.futuresEvidence.shownOf, symbol.futuresEvidence.past, symbol.seen = 6, 1, []int64{9}, c.seen
		if c.seen == nil {
			symbol.futuresEvidence.past = nil
		}
		row := ended(9, func(p *exchange.Position) { p.CreatedMS, p.UpdatedMS = c.createdMS, c.endedMS })
		if have := symbol.closedBy(&row); have != c.want {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
	}
}

// The position of twenty was opened at 1,001.5 s, and an exit was sent at 1,100 s.
func TestRowShowsUncertainReductionEndedPosition(t *testing.T) {
	t.Parallel()
	const exitMS = 1_100_000
	exits := func(quantity exchange.Quantity) exchange.NewOrder {
		order := closes
		order.Quantity = quantity
		return order
	}
	opens := exits(20)
	opens.ReduceOnly = false
	for _, c := range []struct {
		name  string
		order exchange.NewOrder
		shown exchange.Quantity
		state func(symbol *SymbolState)
		row   func(p *exchange.Position)
		want  bool
	}{
		{"as large, ended since", exits(20), 0, nil, nil, true},
		{"larger: others held some", exits(20), 0, nil, func(p *exchange.Position) { p.Quantity = 21 }, true},
		{"smaller", exits(20), 0, nil, func(p *exchange.Position) { p.Quantity = 19 }, false},
		{"as much as an exit of one explains", exits(1), 0, nil, func(p *exchange.Position) { p.Quantity = 1 }, true},
		{"as much as the exit explains", exits(15), 0, nil, func(p *exchange.Position) { p.Quantity = 15 }, true},
		{"ended before, by more than clocks differ", exits(20), 0, nil, func(p *exchange.Position) { p.UpdatedMS = exitMS - 10_001 }, false},
		{"ended before, by as much as clocks may differ", exits(20), 0, nil, func(p *exchange.Position) { p.UpdatedMS = exitMS - 10_000 }, true},
		{"of another symbol", exits(20), 0, nil, func(p *exchange.Position) { p.Symbol = "ETH-USDT" }, false},
		{"some of it is left", exits(20), 0, nil, func(p *exchange.Position) { p.Remaining = 1 }, false},
		{"of the other side", exits(20), 0, nil, func(p *exchange.Position) { p.Side = exchange.Short }, false},
		{"one of the past", exits(20), 0, func(s *SymbolState) { s.futuresEvidence.past = []int64{9} }, nil, false},
		{"another than the one that was shown", exits(20), 0, func(s *SymbolState) {
			s.futuresEvidence.shownID, s.futuresEvidence.shownOf = 8, s.OpenedMS()
		}, nil, false},
		{"the one that was shown", exits(20), 0, func(s *SymbolState) { s.futuresEvidence.shownID, s.futuresEvidence.shownOf = 9, s.OpenedMS() }, nil, true},
		{"another was shown, of an earlier opening", exits(20), 0, func(s *SymbolState) {
			s.futuresEvidence.shownID, s.futuresEvidence.shownOf = 8, 1
		}, nil, true},
		{"a position is left", exits(20), 5, nil, nil, false},
		{"the order may open", opens, 0, nil, nil, false},
		{"the order is of the other side", exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder,
			Quantity: 20, ReduceOnly: true}, 0, nil, nil, false},
		{"the order is another symbol's", ethers, 0, nil, nil, false},
	} {
		d, symbol := opened(t, 0)
		d.now = exitMS
		d.uncertain(d.places(placement.Exit, c.order))
		if c.state != nil {
			c.state(symbol)
		}
		d.now = exitMS + 20_000
		s := d.shows(symbol, c.shown)
		row := ended(9, func(p *exchange.Position) { p.UpdatedMS = exitMS + 1_000 })
		if c.row != nil {
			c.row(&row)
		}
		s.fetched.Closed = []exchange.Position{ended(3, func(p *exchange.Position) { p.UpdatedMS = 1 }), row}
		if have := s.positionEvidence().closedByUncertain(symbol); have != c.want {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
	}
}

// The position was opened by botd, alone or next to five of others, and no list has shown it since.
func TestRowEndsUnlistedPosition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		others   exchange.Quantity
		shown    exchange.Quantity
		forMS    int64 // how long the list has shown no position
		state    func(d *desk, symbol *SymbolState)
		quantity exchange.Quantity
		row      func(p *exchange.Position)
		want     bool
	}{
		{"none for longer than L", 0, 0, 1_001, nil, 20, nil, true},
		{"none for L", 0, 0, 1_000, nil, 20, nil, false},
		{"beside others, as large as both", 5, 0, 1_001, nil, 25, nil, true},
		{"beside others, less than both", 5, 0, 1_001, nil, 24, nil, false},
		{"less", 0, 0, 1_001, nil, 19, nil, false},
		{"a position is shown", 0, 5, 1_001, nil, 20, nil, false},
		{"the one held was shown", 0, 0, 1_001, func(_ *desk, s *SymbolState) { s.futuresEvidence.shownOf = sentMS }, 20, nil, false},
		{"one of before was shown", 0, 0, 1_001, func(_ *desk, s *SymbolState) { s.futuresEvidence.shownOf = sentMS - 1 }, 20, nil, true},
		{"it was opened before the start", 0, 0, 1_001, func(d *desk, _ *SymbolState) { d.tracker.bootMS = sentMS }, 20, nil, false},
		{"it was opened right after the start", 0, 0, 1_001, func(d *desk, _ *SymbolState) { d.tracker.bootMS = sentMS - 1 }, 20, nil, true},
		{"some was adopted since", 0, 0, 1_001, func(d *desk, _ *SymbolState) {
			d.tracker.Apply(&record.Record{AtMS: sentMS + 1, Symbol: bitcoin, Body: record.Adopted{Quantity: 1}})
		}, 21, nil, false},
		{"one of the past", 0, 0, 1_001, func(_ *desk, s *SymbolState) { s.futuresEvidence.past = []int64{9} }, 20, nil, false},
		{"of another symbol", 0, 0, 1_001, nil, 20, func(p *exchange.Position) { p.Symbol = "ETH-USDT" }, false},
		{"some of it is left", 0, 0, 1_001, nil, 20, func(p *exchange.Position) { p.Remaining = 1 }, false},
		{"of the other side", 0, 0, 1_001, nil, 20, func(p *exchange.Position) { p.Side = exchange.Short }, false},
		{"ended when it was asked for", 0, 0, 1_001, nil, 20, func(p *exchange.Position) { p.UpdatedMS = sentMS }, false},
		{"ended right after", 0, 0, 1_001, nil, 20, func(p *exchange.Position) { p.UpdatedMS = sentMS + 1 }, true},
	} {
		d, symbol := opened(t, 0)
		if c.others != 0 {
			d.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Ignored{Quantity: c.others}})
		}
		if c.state != nil {
			c.state(d, symbol)
		}
		d.now += 5_000
		row := ended(9, func(p *exchange.Position) { p.UpdatedMS, p.Quantity = filledMS, c.quantity })
		if c.row != nil {
			c.row(&row)
		}
		if have := d.showsEnded(symbol, c.shown, c.forMS, &row).positionEvidence().closedUnseen(symbol); have != c.want {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
	}
}

// showsEnded is a snapshot whose list has shown that quantity for that long, and whose history has a row next to an older
// one.
func (d *desk) showsEnded(symbol *SymbolState, shown exchange.Quantity, forMS int64, row *exchange.Position) *survey {
	s := d.shows(symbol, shown)
	symbol.residualFor = persistence{sinceMS: 1, lastMS: d.now, forMS: forMS}
	s.fetched.Closed = []exchange.Position{ended(3, nil), *row}
	return s
}

// The position predates the start, and the clock then was up to ten seconds ahead of the exchange's.
func TestRowEndsPositionDatedByAnotherClock(t *testing.T) {
	t.Parallel()
	const createdMS, endedMS = 1_001_000 - 10_000, sentMS + 10_001
	for _, c := range []struct {
		name  string
		shown exchange.Quantity
		forMS int64
		state func(d *desk, symbol *SymbolState)
		row   func(p *exchange.Position)
		want  bool
	}{
		{"opened before by as much as clocks differ, ended after by more", 0, 1_001, nil, nil, true},
		{"the list has shown none for L", 0, 1_000, nil, nil, false},
		{"a position is shown", 5, 1_001, nil, nil, false},
		{"it was opened with the start", 0, 1_001, func(d *desk, _ *SymbolState) { d.tracker.bootMS = sentMS }, nil, true},
		{"it was opened after the start", 0, 1_001, func(d *desk, _ *SymbolState) { d.tracker.bootMS = sentMS - 1 }, nil, false},
		{"it was shown", 0, 1_001, func(_ *desk, s *SymbolState) { s.futuresEvidence.shownOf = sentMS }, nil, false},
		{"opened before by more", 0, 1_001, nil, func(p *exchange.Position) { p.CreatedMS = createdMS - 1 }, false},
		{"ended after by no more", 0, 1_001, nil, func(p *exchange.Position) { p.UpdatedMS = endedMS - 1 }, false},
		{"one of the past", 0, 1_001, func(_ *desk, s *SymbolState) { s.futuresEvidence.past = []int64{9} }, nil, false},
		{"of another symbol", 0, 1_001, nil, func(p *exchange.Position) { p.Symbol = "ETH-USDT" }, false},
		{"some of it is left", 0, 1_001, nil, func(p *exchange.Position) { p.Remaining = 1 }, false},
		{"of the other side", 0, 1_001, nil, func(p *exchange.Position) { p.Side = exchange.Short }, false},
	} {
		d, symbol := opened(t, 0)
		d.tracker.bootMS = filledMS + 1_000
		if c.state != nil {
			c.state(d, symbol)
		}
		d.now += 30_000
		row := ended(9, func(p *exchange.Position) { p.CreatedMS, p.UpdatedMS = createdMS, endedMS })
		if c.row != nil {
			c.row(&row)
		}
		if have := d.showsEnded(symbol, c.shown, c.forMS, &row).positionEvidence().closedByAnotherClock(symbol); have != c.want {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
	}
}

// The end of closePosition orders shows that the position has ended, and so does margin, if at least half of what the position needed was released.
// Twenty at 50,000 and leverage 10 need 100.
func TestSweptOrdersAndMarginShowReduction(t *testing.T) {
	t.Parallel()
	const freshMS = filledMS + 5_000 + 1_000 + 1_000 // no read can be older than the fill after that
	uses := func(margin string) func(d *desk, s *survey, symbol *SymbolState) {
		return func(_ *desk, s *survey, _ *SymbolState) {
			s.usesMargin(margin)
		}
	}
	swept := func(ofMS int64) func(d *desk, s *survey, symbol *SymbolState) {
		return func(_ *desk, _ *survey, symbol *SymbolState) {
			symbol.futuresEvidence.sweptMS, symbol.futuresEvidence.sweptOf = 1, ofMS
		}
	}
	agreed := func(marginOf exchange.Quantity, shownOf int64) func(d *desk, s *survey, symbol *SymbolState) {
		return func(d *desk, s *survey, symbol *SymbolState) {
			uses("50")(d, s, symbol)
			symbol.futuresEvidence.marginOf, symbol.futuresEvidence.shownOf = marginOf, shownOf
		}
	}
	for _, c := range []struct {
		name  string
		shown exchange.Quantity
		nowMS int64
		with  func(d *desk, s *survey, symbol *SymbolState)
		want  witness
	}{
		{"nothing", 0, freshMS + 1, nil, noWitness},
		{"a row", 0, freshMS + 1, func(_ *desk, s *survey, _ *SymbolState) {
			s.fetched.Closed = []exchange.Position{ended(9, func(p *exchange.Position) { p.CreatedMS = sentMS })}
		}, closedRow},
		{"its orders were swept", 0, freshMS + 1, swept(sentMS), sweptOrders},
		{"orders of before were swept", 0, freshMS + 1, swept(sentMS - 1), noWitness},
		{"one was swept, and one stands", 0, freshMS + 1, func(d *desk, s *survey, symbol *SymbolState) {
			swept(sentMS)(d, s, symbol)
			d.whole(placement.StopLoss, 12, exchange.Sell, "49000")
		}, noWitness},
		{"one was swept, and one was sent", 0, freshMS + 1, func(d *desk, s *survey, symbol *SymbolState) {
			swept(sentMS)(d, s, symbol)
			d.places(placement.StopLoss, exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.StopMarket,
				StopPrice: d.price("49000"), ClosePosition: true})
		}, sweptOrders},
		{"one was swept, and one of another symbol stands", 0, freshMS + 1, func(d *desk, s *survey, symbol *SymbolState) {
			swept(sentMS)(d, s, symbol)
			d.acknowledge(d.places(placement.StopLoss, exchange.NewOrder{Market: exchange.Futures, Symbol: "ETH-USDT", Side: exchange.Sell,
				Type: exchange.StopMarket, StopPrice: d.price("49000"), ClosePosition: true}), 13)
		}, sweptOrders},
		{"one was swept, and one of a quantity stands", 0, freshMS + 1, func(d *desk, s *survey, symbol *SymbolState) {
			swept(sentMS)(d, s, symbol)
			d.resting(12, 5)
		}, sweptOrders},
		{"the margin of one was released", 19, freshMS + 1, uses("95"), freedMargin},
		{"the margin of all but one was released", 1, freshMS + 1, uses("5"), freedMargin},
		{"the margin of half was released", 10, freshMS + 1, uses("50"), freedMargin},
		{"as much of it as is still trusted", 10, freshMS + 1, uses("75"), freedMargin},
		{"less of it", 10, freshMS + 1, uses("75.01"), noWitness},
		{"more than that", 10, freshMS + 1, uses("25"), freedMargin},
		{"much more", 10, freshMS + 1, uses("24.99"), noWitness},
		{"no margin is reported", 10, freshMS + 1, uses("0"), noWitness},
		{"the list shows none at all, and no margin is used", 0, freshMS + 1, uses("0"), noWitness},
		{"the list shows the other side, of the same size", -20, freshMS + 1, uses("100"), noWitness},
		{"the read may be older than the fill", 10, freshMS, uses("50"), noWitness},
		{"it may be, and the margin agreed with the list before", 10, freshMS, agreed(20, sentMS), freedMargin},
		{"it agreed of another quantity", 10, freshMS, agreed(19, sentMS), noWitness},
		{"it agreed of another opening", 10, freshMS, agreed(20, sentMS-1), noWitness},
		{"the rules are not known", 10, freshMS + 1, func(d *desk, s *survey, symbol *SymbolState) {
			uses("50")(d, s, symbol)
			symbol.rules = nil
		}, noWitness},
		{"the leverage is not known: the whole price is margin", 10, freshMS + 1, func(d *desk, s *survey, symbol *SymbolState) {
			uses("275")(d, s, symbol)
			symbol.leverage = 0
		}, freedMargin},
		{"beside others, all of whose and botd's are missed", 15, freshMS + 1, func(d *desk, s *survey, symbol *SymbolState) {
			d.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Ignored{Quantity: 5}})
			uses("100")(d, s, symbol) // of 25, 15 are left: 50 were released, of which 25 belong to others
		}, freedMargin},
	} {
		d, symbol := opened(t, 0)
		symbol.futuresEvidence.shownID = 7
		d.now = c.nowMS
		s := d.shows(symbol, c.shown)
		if c.with != nil {
			c.with(d, s, symbol)
		}
		if have := s.positionComparison().witness(symbol); have != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
		freed := symbol.residual.Abs()
		if c.want != freedMargin {
			freed = 0
		}
		if have := symbol.futuresEvidence.freed; have != freed {
			t.Errorf("%s: want it confirmed of %d, have %d", c.name, freed, have)
		}
	}
}

// The cases list the earlier note, the conclusion from a read with twenty known, and the new note.
func TestListConclusions(t *testing.T) {
	t.Parallel()
	type state = futuresEvidence
	const nowMS = filledMS + 20_000
	account := func(margin string) func(d *desk, s *survey, symbol *SymbolState) {
		return func(_ *desk, s *survey, _ *SymbolState) {
			s.usesMargin(margin)
		}
	}
	asked := func(_ *desk, s *survey, _ *SymbolState) { s.fetched.ClosedOf = []string{"BTC-USDT"} }
	stopped := func(d *desk, _ *survey, _ *SymbolState) { d.whole(placement.StopLoss, 12, exchange.Sell, "49000") }
	lasts := func(forMS int64) func(d *desk, s *survey, symbol *SymbolState) {
		return func(d *desk, s *survey, symbol *SymbolState) {
			stopped(d, s, symbol)
			symbol.residualFor = persistence{sinceMS: 1, lastMS: nowMS, forMS: forMS}
		}
	}
	row := func(d *desk, s *survey, symbol *SymbolState) {
		s.fetched.Closed = []exchange.Position{ended(9, func(p *exchange.Position) { p.CreatedMS = sentMS })}
	}
	for _, c := range []struct {
		name   string
		shown  exchange.Quantity
		with   func(d *desk, s *survey, symbol *SymbolState)
		before state
		want   state
	}{
		{"it shows what fills explain", 20, nil, state{by: closedRow, untrusted: true}, state{shownID: 7, shownOf: sentMS}},
		{"the margin agrees to a hundredth", 20, account("101"), state{}, state{shownID: 7, shownOf: sentMS, marginOf: 20}},
		{"the margin does not agree", 20, account("101.01"), state{}, state{shownID: 7, shownOf: sentMS}},
		{"it ends what was unbooked", 20, nil, state{unbooked: 7}, state{shownID: 7, shownOf: sentMS}},
		{"it shows more", 25, nil, state{by: closedRow, untrusted: true, shownID: 3, shownOf: 4}, state{shownID: 3, shownOf: 4}},
		{"what is held was not there before", 20, nil, state{zeroed: true}, state{shownID: 7, shownOf: sentMS}},
		{"a position outlives orders that ended", 20, nil, state{sweptMS: nowMS - 1_001}, state{shownID: 7, shownOf: sentMS}},
		{"the read may be older than their end", 20, nil, state{sweptMS: nowMS - 1_000}, state{shownID: 7, shownOf: sentMS, sweptMS: nowMS - 1_000}},
		{"it shows less", 15, stopped, state{shownOf: sentMS}, state{shownOf: sentMS}},
		{"it shows less for L", 15, lasts(1_000), state{shownOf: sentMS}, state{shownOf: sentMS}},
		{"it shows less for longer", 15, lasts(1_001), state{shownOf: sentMS}, state{shownOf: sentMS, untrusted: true}},
		{"it shows less and was untrusted", 15, stopped, state{shownOf: sentMS, untrusted: true}, state{shownOf: sentMS, untrusted: true}},
		{"it never showed what was opened since the start", 0, stopped, state{shownOf: 1}, state{shownOf: 1, untrusted: true}},
		{"nor what was opened before the start", 0, func(d *desk, s *survey, symbol *SymbolState) {
			stopped(d, s, symbol)
			d.tracker.bootMS = sentMS
		}, state{shownOf: 1}, state{shownOf: 1}},
		{"no stop stands, and positions/history was read", 0, asked, state{shownOf: sentMS}, state{shownOf: sentMS, untrusted: true}},
		{"no stop stands", 0, nil, state{shownOf: sentMS}, state{shownOf: sentMS}},
		{"a stop stands, and positions/history was read", 0, func(d *desk, s *survey, symbol *SymbolState) {
			asked(d, s, symbol)
			stopped(d, s, symbol)
		}, state{shownOf: sentMS}, state{shownOf: sentMS}},
		{"a take-profit alone stands, and positions/history was read", 0, func(d *desk, s *survey, symbol *SymbolState) {
			asked(d, s, symbol)
			d.whole(placement.TakeProfit, 12, exchange.Sell, "51000")
		}, state{shownOf: sentMS}, state{shownOf: sentMS, untrusted: true}},
		{"the margin has confirmed as much", 15, stopped, state{shownOf: sentMS, by: freedMargin, freed: 5}, state{shownOf: sentMS, by: freedMargin, freed: 5}},
		{"the margin has confirmed less", 15, stopped, state{shownOf: sentMS, by: freedMargin, freed: 4}, state{shownOf: sentMS, freed: 4}},
		{"positions/history shows the end", 0, row, state{shownOf: 1, untrusted: true}, state{shownOf: 1, by: closedRow}},
		{"after the sweep of its orders it shows it too", 0, row, state{shownOf: 1, by: sweptOrders}, state{shownOf: 1, by: closedRow}},
		{"a person has confirmed it, and it shows the end", 0, row, state{shownOf: 1, by: aPerson}, state{shownOf: 1, by: aPerson}},
		{"its orders were swept, and it shows nothing", 0, nil, state{shownOf: 1, by: sweptOrders}, state{shownOf: 1, by: sweptOrders}},
	} {
		d, symbol := opened(t, 0)
		d.now = nowMS
		s := d.shows(symbol, c.shown)
		symbol.futuresEvidence = c.before
		if c.with != nil {
			c.with(d, s, symbol)
		}
		s.positionComparison().seekWitness(symbol)
		if have, want := fmt.Sprintf("%+v", symbol.futuresEvidence), fmt.Sprintf("%+v", c.want); have != want {
			t.Errorf("%s:\nwant %s\nhave %s", c.name, want, have)
		}
	}
}

// Once the list agrees that there is no position, all seen positions are past, except one that may belong to a live opening and one that
// is left to others.
func TestPastPositions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		ignored  exchange.Quantity
		unbooked int64
		live     bool
		want     string // the past, unbooked
	}{
		{"all that were seen", 0, 0, false, "[5 6 7] 0"},
		{"without one that an opening may have made", 0, 6, true, "[5 7] 6"},
		{"with it, when no opening is live", 0, 6, false, "[5 6 7] 0"},
		{"without the one that is others'", 4, 0, false, "[5 6] 0"},
	} {
		d := newDesk(t)
		symbol := d.tracker.Symbol(bitcoin)
		d.tracker.Apply(&record.Record{Symbol: bitcoin, Body: record.Ignored{Quantity: c.ignored}})
		if c.live {
			d.acknowledge(d.places(placement.Order, buys), 11)
		} else {
			d.acknowledge(d.places(placement.Order, ethers), 11)
			d.acknowledge(d.places(placement.Exit, closes), 12)
		}
		symbol.seen, symbol.futuresEvidence.past, symbol.futuresEvidence.unbooked = []int64{5, 6, 7}, []int64{1, 2}, c.unbooked
		s := d.shows(symbol, c.ignored)
		symbol.positionID = 7
		s.positionComparison().seekWitness(symbol)
		if have := fmt.Sprint(symbol.futuresEvidence.past, symbol.futuresEvidence.unbooked); have != c.want || !symbol.futuresEvidence.zeroed {
			t.Errorf("%s: want %s, have %s, zeroed %t", c.name, c.want, have, symbol.futuresEvidence.zeroed)
		}
	}
}

// The history is read while the list lacks a part of a position that neither a row nor a person explains, from eleven seconds before the
// second of the opening on.
func TestPositionsHistoryIsReadForMissingPart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		shown     exchange.Quantity
		createdMS int64
		by        witness
		want      int64 // -1 if never
	}{
		{"it misses some", 15, 0, noWitness, 1_001_000 - 11_000},
		{"it misses all of one that the exchange dated", 0, 951_700, noWitness, 951_000 - 11_000},
		{"it misses all of one of the first seconds", 0, 10_900, noWitness, 0},
		{"its orders were swept", 0, 0, sweptOrders, 1_001_000 - 11_000},
		{"a row shows its end", 0, 0, closedRow, -1},
		{"a person confirms it", 0, 0, aPerson, -1},
		{"it misses nothing", 20, 0, noWitness, -1},
		{"it shows more", 25, 0, noWitness, -1},
	} {
		d, symbol := opened(t, c.createdMS)
		d.shows(symbol, c.shown)
		symbol.futuresEvidence.by = c.by
		if since, ask := d.tracker.NeedsPositionHistory(symbol); ask != (c.want >= 0) || since != max(0, c.want) {
			t.Errorf("%s: want since %d, have %d, %t", c.name, c.want, since, ask)
		}
	}
	w := holding(t, ForeignHalt)
	w.tracker.Symbol(coin).residual = -5
	if _, ask := w.tracker.NeedsPositionHistory(w.tracker.Symbol(coin)); ask {
		t.Error("want no positions/history of spot, which has none")
	}
}

// Only a liquidation of botd's position counts.
func TestRowIsLiquidation(t *testing.T) {
	t.Parallel()
	liquidated := func(p *exchange.Position) { p.CreatedMS, p.Status = sentMS, exchange.PositionLiquidated }
	for _, c := range []struct {
		name string
		rows []exchange.Position
		sold exchange.Quantity
		want int64 // the row's id; 0 for none
	}{
		{"none", nil, 0, 0},
		{"liquidated", []exchange.Position{ended(8, nil), ended(9, liquidated)}, 0, 9},
		{"closed", []exchange.Position{ended(9, func(p *exchange.Position) { p.CreatedMS = sentMS })}, 0, 0},
		{"another, liquidated before", []exchange.Position{ended(9, func(p *exchange.Position) { p.Status = exchange.PositionLiquidated })}, 0, 0},
		{"nothing is held", []exchange.Position{ended(9, liquidated)}, 20, 0},
	} {
		d, symbol := opened(t, 0)
		symbol.futuresEvidence.shownID, symbol.futuresEvidence.shownOf = 6, 1
		if c.sold != 0 {
			d.tracker.Apply(&record.Record{AtMS: d.now, Symbol: bitcoin, Body: record.Adopted{Quantity: -c.sold}})
		}
		have := int64(0)
		if row := symbol.Liquidation(&Snapshot{Closed: c.rows}); row != nil {
			have = row.ID
		}
		if have != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, have)
		}
	}
}

// A liquidated position in whose place the list shows a later one is reported once; an end that is no liquidation, or a position that no list has
// shown, is none.
func TestReplacedPositionIsLiquidated(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change   func(*exchange.Position)
		seen     []int64
		recorded int64
		want     bool
		flat     bool // the list shows no position now
	}{
		"shown before":              {nil, []int64{9, 10}, 0, true, false},
		"after an earlier one":      {nil, []int64{9, 10}, 8, true, false},
		"in the journal":            {nil, []int64{9, 10}, 9, false, false},
		"before one in the journal": {nil, []int64{9, 10}, 10, false, false},
		"never shown":               {nil, []int64{8, 10}, 0, false, false},
		"the current one":           {func(p *exchange.Position) { p.ID = 10 }, []int64{9, 10}, 0, false, false},
		"closed":                    {func(p *exchange.Position) { p.Status = exchange.PositionClosed }, []int64{9, 10}, 0, false, false},
		"in part":                   {func(p *exchange.Position) { p.Remaining = 1 }, []int64{9, 10}, 0, false, false},
		"of another symbol":         {func(p *exchange.Position) { p.Symbol = "ETH-USDT" }, []int64{9, 10}, 0, false, false},
		"no later one":              {nil, []int64{9, 10}, 0, false, true},
	} {
		d, symbol := opened(t, 0)
		symbol.futuresEvidence.shownID, symbol.futuresEvidence.shownOf, symbol.positionID, symbol.seen = 10, symbol.OpenedMS(), 10, c.seen
		if !c.flat {
			symbol.position = 1
		}
		if c.recorded != 0 {
			d.tracker.Apply(&record.Record{AtMS: d.now, Symbol: bitcoin, Body: record.Liquidated{PositionID: c.recorded}})
		}
		row := ended(9, func(p *exchange.Position) { p.Status, p.Quantity = exchange.PositionLiquidated, 1 })
		if c.change != nil {
			c.change(&row)
		}
		if have := symbol.Liquidation(&Snapshot{Closed: []exchange.Position{row}}); (have != nil) != c.want {
			t.Errorf("%s: want it reported %t, have %+v", name, c.want, have)
		}
	}
}

// After a person has decided, the newest list is trusted, and its position is the known one.
func TestAPersonEndsAContradiction(t *testing.T) {
	t.Parallel()
	d, symbol := opened(t, 0)
	d.shows(symbol, 0)
	symbol.futuresEvidence.untrusted = true
	symbol.declare("a test", d.now)
	if symbol.TrustedPosition() != 20 || symbol.DecisionPosition() != 20 {
		t.Fatalf("want 20 trusted, have %d, %d", symbol.TrustedPosition(), symbol.DecisionPosition())
	}
	symbol.EndContradiction()
	if symbol.TrustedPosition() != 0 || symbol.DecisionPosition() != 0 || symbol.contradicted != "" || symbol.contradictedSinceMS != 0 || symbol.Unwitnessed() {
		t.Errorf("want nothing trusted and nothing contradicted, have %d, %q since %d", symbol.DecisionPosition(), symbol.contradicted,
			symbol.contradictedSinceMS)
	}
	d.shows(symbol, 25)
	if symbol.DecisionPosition() != 25 {
		t.Errorf("want a list that shows more trusted, have %d", symbol.DecisionPosition())
	}
}

// The margin is compared with what the listed positions need: twenty at 50,000 and leverage 10 need 100.
func TestMarginDifference(t *testing.T) {
	t.Parallel()
	row := func(symbol string, quantity exchange.Quantity, leverage int) exchange.Position {
		return exchange.Position{Symbol: symbol, Side: exchange.Long, Remaining: quantity, EntryPrice: exchange.AmountOf(50_000), Leverage: leverage}
	}
	for _, c := range []struct {
		name               string
		used               string // empty if the account was not read
		rows               []exchange.Position
		difference, needed string
	}{
		{"none is read", "", []exchange.Position{row("BTC-USDT", 20, 10)}, "0", "0"},
		{"none is reported", "0", []exchange.Position{row("BTC-USDT", 20, 10)}, "0", "0"},
		{"more is used", "130", []exchange.Position{row("BTC-USDT", 20, 10)}, "30", "100"},
		{"less is used", "70", []exchange.Position{row("BTC-USDT", 20, 10)}, "30", "100"},
		{"of two positions", "250", []exchange.Position{row("BTC-USDT", 20, 10), row("BTC-USDT", 2, 1)}, "50", "200"},
		{"of one that is over", "100", []exchange.Position{row("ETH-USDT", 0, 10), row("BTC-USDT", 20, 10)}, "0", "100"},
		{"of a symbol whose rules are not known", "100", []exchange.Position{row("BTC-USDT", 20, 10), row("ETH-USDT", 20, 10)}, "0", "0"},
		{"of one without a leverage", "100", []exchange.Position{row("BTC-USDT", 20, 0)}, "0", "0"},
		{"of none", "100", nil, "100", "0"},
	} {
		d := newDesk(t)
		s := d.tracker.survey(&Snapshot{Positions: exchange.FetchedOf(c.rows)})
		if c.used != "" {
			s.usesMargin(c.used)
		}
		if difference, needed := s.margin(); difference.String() != c.difference || needed.String() != c.needed {
			t.Errorf("%s: want %s of %s, have %s of %s", c.name, c.difference, c.needed, difference, needed)
		}
	}
}

// The margin in use is less than the list needs, by at least half of what ten more need, which is 50.
func TestMarginDeniesListedExcess(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		policy string
		shown  exchange.Quantity
		used   string
		state  func(symbol *SymbolState)
		want   bool
	}{
		{"it uses what was needed before", ForeignAdopt, 30, "100", nil, true},
		{"the same, where others are ignored", ForeignIgnore, 30, "100", nil, true},
		{"where a person decides the list is enough", ForeignHalt, 30, "100", nil, false},
		{"it uses less by half", ForeignAdopt, 30, "125", nil, true},
		{"it uses less by less than half", ForeignAdopt, 30, "125.01", nil, false},
		{"it uses what is needed", ForeignAdopt, 30, "150", nil, false},
		{"it uses more", ForeignAdopt, 30, "200", nil, false},
		{"the list shows less", ForeignAdopt, 15, "10", nil, false},
		{"none is reported", ForeignAdopt, 30, "0", nil, false},
		{"the rules are not known", ForeignAdopt, 30, "100", func(s *SymbolState) { s.rules = nil }, false},
		{"the leverage is not known: all of the price may be needed", ForeignAdopt, 30, "100", func(s *SymbolState) { s.leverage = 0 }, false},
		{"a leverage of one, by more than a quarter", ForeignAdopt, 30, "20", func(s *SymbolState) { s.leverage = 1 }, false},
		{"a leverage of one", ForeignAdopt, 30, "100", func(s *SymbolState) { s.leverage = 1 }, false},
	} {
		d, symbol := opened(t, 0)
		d.tracker.foreignPolicy = c.policy
		s := d.shows(symbol, c.shown)
		s.usesMargin(c.used)
		if c.state != nil {
			c.state(symbol)
		}
		if have := s.marginDenies(symbol, d.tracker.foreignPolicy); have != c.want {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
	}
}

// A closePosition order was swept if it was canceled without a cancel of botd's. The newest of them counts.
func TestSweptOrders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		order    func(d *desk) string
		canceled bool
		want     bool
	}{
		{"a stop of the whole position", func(d *desk) string { return d.whole(placement.StopLoss, 12, exchange.Sell, "49000") }, false, true},
		{"one that was canceled", func(d *desk) string { return d.whole(placement.StopLoss, 12, exchange.Sell, "49000") }, true, false},
		{"one of a quantity", func(d *desk) string { return d.resting(12, 5) }, false, false},
	} {
		d, symbol := opened(t, 0)
		id := c.order(d)
		if c.canceled {
			d.canceled(id)
		}
		symbol.futuresEvidence.sweptOf = 5
		s := d.tracker.survey(&Snapshot{})
		s.orderRows().noteEndedWithPosition(d.tracker.Placement(id), 777)
		want := futuresEvidence{sweptOf: 5}
		if c.want {
			want = futuresEvidence{sweptMS: 777, sweptOf: filledMS}
		}
		if have := symbol.futuresEvidence; have.sweptMS != want.sweptMS || have.sweptOf != want.sweptOf {
			t.Errorf("%s: want %d of %d, have %d of %d", c.name, want.sweptMS, want.sweptOf, have.sweptMS, have.sweptOf)
		}
	}
}

func TestAShortPositionEndsByARowOfItsSide(t *testing.T) {
	t.Parallel()
	for side, want := range map[exchange.PositionSide]bool{exchange.Short: true, exchange.Long: false} {
		d := holds(t, -20)
		symbol := d.tracker.Symbol(bitcoin)
		row := ended(9, func(p *exchange.Position) { p.Side, p.CreatedMS, p.UpdatedMS = side, d.now, d.now+1_000 })
		if have := symbol.closedBy(&row); have != want {
			t.Errorf("%s: want %t, have %t", side, want, have)
		}
	}
}

// The list lacks a part of a position that botd has opened, but not of one that botd has reduced beyond that.
func TestListOmitsPartOfPosition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		bought exchange.Quantity
		sold   exchange.Quantity
		shown  exchange.Quantity
		want   bool
	}{
		{"all of it", 20, 0, 0, true},
		{"one of it", 20, 0, 19, true},
		{"one, which is all", 1, 0, 0, true},
		{"none", 20, 0, 20, false},
		{"it shows more", 20, 0, 21, false},
		{"nothing was opened", 0, 5, 0, false},
	} {
		d := newDesk(t)
		for _, one := range []struct {
			purpose placement.Purpose
			order   exchange.NewOrder
			filled  exchange.Quantity
		}{{placement.Entry, buys, c.bought}, {placement.Exit, closes, c.sold}} {
			if one.filled != 0 {
				one.order.Quantity = one.filled
				d.ended(d.places(one.purpose, one.order), placement.Filled, one.filled)
			}
		}
		symbol := d.tracker.Symbol(bitcoin)
		d.shows(symbol, c.shown)
		if have := symbol.Missing(); have != c.want {
			t.Errorf("%s: want %t, have %t", c.name, c.want, have)
		}
	}
}

// The list is contradicted once it has been untrusted for L, until it is trusted again.
func TestListIsContradictedAfterL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name              string
		untrusted, denied bool
		forMS             int64
		before, want      string
	}{
		{"it is trusted", false, false, 1_001, "", ""},
		{"it is trusted again", false, false, 1_001, contradiction, ""},
		{"it is untrusted", true, false, 1_000, "", ""},
		{"it is untrusted for longer than L", true, false, 1_001, "", contradiction},
		{"it is untrusted still", true, false, 0, contradiction, contradiction},
		{"the margin denies it", false, true, 0, "", beyondMargin},
	} {
		d := holds(t, 20)
		symbol := d.tracker.Symbol(bitcoin)
		s := d.shows(symbol, 20)
		symbol.contradicted, symbol.futuresEvidence.untrusted, symbol.futuresEvidence.denied = c.before, c.untrusted, c.denied
		symbol.residualFor = persistence{sinceMS: 1, lastMS: d.now, forMS: c.forMS}
		if s.positionComparison().contradict(symbol); symbol.contradicted != c.want || (symbol.contradictedSinceMS != 0) != (c.want != "") {
			t.Errorf("%s: want %q, have %q since %d", c.name, c.want, symbol.contradicted, symbol.contradictedSinceMS)
		}
	}
}

// Only strategies that request a position are latched, each once.
func TestExternalCloseLatchesStrategiesOfSymbol(t *testing.T) {
	t.Parallel()
	d := holds(t, 20)
	for name, one := range map[string]struct {
		symbol exchange.SymbolKey
		target exchange.Quantity
	}{"two": {bitcoin, -5}, "flat": {bitcoin, 0}, "another": {ethers.Key(), 5}} {
		d.tracker.Apply(&record.Record{Strategy: name, Symbol: one.symbol,
			Body: record.Plan{Plan: &strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: one.target}}}})
	}
	s := d.shows(d.tracker.Symbol(bitcoin), 0)
	for range 2 { // the second time they are latched
		s.latchOn(bitcoin)
	}
	have := ""
	for _, r := range s.records {
		have += fmt.Sprintf("%s %d ", r.Strategy, r.Body.(record.Latch).Side)
	}
	if have != "one 1 two -1 " {
		t.Errorf("want one latched long and two short, have %s", have)
	}
}
