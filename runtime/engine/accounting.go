package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/ledger"
	"botd/reconcile/record"
)

// Bounds of the ledger's reads.
const (
	closedPage    = 100    // ended positions, a page
	maxClosed     = 1_000  // ended positions, all pages
	moneyGiveUpMS = 60_000 // an ended position or order that is not reported for this long is booked without it; uncertain ones are awaited no longer than this
	starvedMS     = 60_000 // a market whose readings are unstable for this long is read outside the rounds
	maxBetween    = 11     // answers that may arrive while an unstable reading is completed
	unstableTries = 10     // maximum number of times such a reading is postponed because it is not fully explained
)

// accounting books the exchange's reports of the account's money.
type accounting struct {
	*base
	limits        *limits
	futures, spot bookkeeping // progress of the ledger
}

// bookkeeping is the ledger's progress in one market.
type bookkeeping struct {
	last     ledger.Reading // the newest
	sinceMS  int64          // since when it has been the same
	tradedMS int64          // when a round last learned of a fill
	lackMS   int64          // since when the exchange has reported less than it should; 0 if it does not
	due      bool           // the newest reading contains something unbooked
	dueMS    int64          // since when; 0 while it does not

	reading  ledger.Reading // the reading that further reads are completing
	unstable bool           // the reading was not confirmed as consistent: it is booked if all of it is explained
	between  int            // number of answers received while it was completed
	refused  int            // number of consecutive readings that were not fully explained
	pending  int            // number of pending answers
	failed   bool           // one of its reads failed: the next round reads again
	ended    []ledger.Position
	found    int64 // base units of executions found so far
	expected int64 // base units of executions that the orders' fills require
}

// ready reports whether a reading is to be booked and no answer is pending.
func (m *bookkeeping) ready() bool { return m.due && m.pending == 0 }

// ready reports whether a market's reading is to be booked.
func (a *accounting) ready() bool { return a.futures.ready() || a.spot.ready() }

// observe passes a round's reads of the money to the ledger. Wallet and positions are read one after the
// other, and replicas may be old. A reading is therefore booked once a later one shows the same, which
// must begin at least the maximum age of a read after the first and after the last known fill. The
// initial balances are taken over at once, before anything is traded. In a backtest everything is read
// at the same moment.
func (a *accounting) observe(snapshot *reconcile.Snapshot) {
	if !a.config.Ledger || a.journalErr != nil {
		return
	}
	if r, whole := a.tracker.Readings().Futures(snapshot); whole {
		a.receiveReading(&a.futures, r, snapshot.BeganMS)
	}
	if r, whole := a.tracker.Readings().Spot(snapshot); whole {
		a.receiveReading(&a.spot, r, snapshot.BeganMS)
	}
}

// receiveReading completes a reading that is due and no longer changes; an unstable one only after starvedMS.
func (a *accounting) receiveReading(m *bookkeeping, r ledger.Reading, beganMS int64) {
	if !r.Same(&m.last) || m.sinceMS == 0 {
		m.sinceMS = max(r.AtMS, beganMS) // a clock set back within the round does not make it older
	}
	m.last = r
	m.due, a.limits.flow[r.Market] = a.tracker.Ledger().Due(&r), exchange.Amount{}
	if m.due && a.tracker.Ledger().Opened(r.Market) { // the first reading contains what existed before
		a.limits.flow[r.Market] = a.tracker.Ledger().Flow(a.tracker.Ledger().Lines(&r), r.Market, ledger.FuturesAsset)
	}
	if !m.due {
		m.dueMS = 0
		return
	}
	m.dueMS = cmp.Or(m.dueMS, r.AtMS)
	untouched := a.tracker.Ledger().Untouched(r.Market) && !a.liveIn(r.Market)
	steady := a.config.Feed || beganMS-max(m.sinceMS, m.tradedMS) > a.config.Bounds.StalenessMS || untouched
	unstable := !steady || a.outcomeUncertain(r.Market) || !a.config.Feed && a.positionsDiffer(r.Market)
	if m.pending > 0 || unstable && r.AtMS-m.dueMS < starvedMS {
		return
	}
	m.reading, m.failed, m.between, m.unstable = r, false, 0, unstable
	if m.unstable && r.Market == exchange.Futures {
		a.askFor(m, pendingCall{kind: callBetween}, exchange.Request{Operation: exchange.FuturesOpenPositions})
		return
	}
	a.complete(m)
}

// outcomeUncertain reports whether a market has an uncertain order that was sent less than
// moneyGiveUpMS ago.
func (a *accounting) outcomeUncertain(market exchange.Market) bool {
	return a.tracker.AnyInFlight(func(p *account.Placement) bool {
		return p.State().OutcomeUncertain() && p.Order().Market == market && a.nowMS-p.SentMS() < moneyGiveUpMS
	})
}

// liveIn reports whether an order of botd's is, or may be, open in a market: its later fills may be
// in a reading's positions but not in its wallet, and are not booked yet.
func (a *accounting) liveIn(market exchange.Market) bool {
	return a.tracker.AnyLive(func(p *account.Placement) bool { return p.Order().Market == market })
}

// traded records when a round learned of a fill. A clock set back within the round does not make the fill older than the round.
func (a *accounting) traded(p *account.Placement, beganMS int64) {
	m := &a.futures
	if p.Order().Market == exchange.Spot {
		m = &a.spot
	}
	m.tradedMS = max(a.nowMS, beganMS)
}

// positionsDiffer reports whether a position of the market differs, or may differ, from the fills: a
// read was old, or the wallet includes an unknown fill.
func (a *accounting) positionsDiffer(market exchange.Market) bool {
	return a.tracker.AnySymbol(func(t *reconcile.SymbolState) bool { return t.Key().Market == market && a.positionUncertain(t) })
}

// applyBetween applies the reads that complete an unstable reading, one after the other: positions, the
// account, and positions again. If both reads of the positions are equal, the account is from the same
// moment; otherwise the second one becomes the new first one.
func (a *accounting) applyBetween(m *bookkeeping, answer *exchange.Answer) {
	m.between++
	if m.between%2 == 0 {
		m.reading.Wallet = ledger.FuturesWallet(&answer.Account)
		a.askFor(m, pendingCall{kind: callBetween}, exchange.Request{Operation: exchange.FuturesOpenPositions})
		return
	}
	open := a.tracker.Readings().Positions(answer.Positions.Items())
	switch {
	case m.between > 1 && slices.Equal(open, m.reading.Open):
		m.reading.AtMS = a.nowMS
		a.complete(m)
	case m.between < maxBetween:
		m.reading.Open = open
		a.askFor(m, pendingCall{kind: callBetween}, exchange.Request{Operation: exchange.FuturesAccount})
	}
}

// complete requests the missing parts of a reading.
func (a *accounting) complete(m *bookkeeping) {
	m.ended, m.found, m.expected = nil, 0, 0
	if m.reading.Market == exchange.Futures && a.tracker.Ledger().WantsClosed(&m.reading) {
		a.askEnded(m)
	}
	if m.reading.Market == exchange.Spot {
		for _, o := range a.tracker.Ledger().WantsTrades() {
			m.expected += int64(o.Quantity)
			a.askFor(
				m,
				pendingCall{kind: callExecutions, orderID: o.OrderID},
				exchange.Request{Operation: exchange.SpotUserTrades, Symbol: o.Symbol, OrderID: o.OrderID, Limit: exchange.HistoryPage},
			)
		}
	}
	if m.pending == 0 {
		a.post(m)
	}
}

func (a *accounting) askFor(m *bookkeeping, p pendingCall, request exchange.Request) {
	m.pending++
	a.ask(p, PriorityMarket, request)
}

// askEnded requests a page of the ended positions, newest first.
func (a *accounting) askEnded(m *bookkeeping) {
	a.askFor(m, pendingCall{kind: callEnded}, exchange.Request{Operation: exchange.FuturesPositionsHistory, Offset: len(m.ended), Limit: closedPage})
}

// applyAnswer applies the answer to one of the ledger's reads.
func (a *accounting) applyAnswer(p pendingCall, event *EventAnswer) {
	m := &a.futures
	if p.kind == callExecutions {
		m = &a.spot
	}
	m.pending--
	m.failed = m.failed || event.Err != nil && !ofExecutions(&p, event.Err)
	switch {
	case event.Err != nil:
	case p.kind == callBetween:
		a.applyBetween(m, &event.Answer)
		return
	case p.kind == callEnded:
		a.applyEnded(m, event.Answer.Positions.Items())
	default:
		a.applyExecutions(m, p, event.Answer.Fills.Items())
	}
	if m.pending == 0 && !m.failed {
		a.post(m)
	}
}

// ofExecutions reports whether the exchange refuses to report an order's executions, for example because
// its symbol was delisted: they stay missing, and the money of all other symbols is booked.
func ofExecutions(p *pendingCall, err error) bool {
	var refusal *exchange.Refusal
	return p.kind == callExecutions && errors.As(err, &refusal) && !ofAccount(refusal)
}

// applyEnded applies a page of the ended positions, and requests the next page as long as none of these
// positions has been booked.
func (a *accounting) applyEnded(m *bookkeeping, page []exchange.Position) {
	booked := false
	for i := range page {
		m.ended = append(m.ended, a.tracker.Readings().Position(&page[i]))
		booked = booked || a.tracker.Ledger().Booked(page[i].ID)
	}
	if len(page) >= closedPage && !booked && len(m.ended) < maxClosed && a.tracker.Ledger().Opened(exchange.Futures) {
		a.askEnded(m)
	}
}

// applyExecutions applies the unbooked executions of one order, oldest first.
func (a *accounting) applyExecutions(m *bookkeeping, p pendingCall, trades []exchange.UserTrade) {
	trades = slices.SortedFunc(slices.Values(trades), func(x, y exchange.UserTrade) int { return cmp.Compare(x.ID, y.ID) })
	for _, o := range a.tracker.Ledger().WantsTrades() {
		if o.OrderID != p.orderID {
			continue
		}
		before := o.Before
		for i := range trades {
			trade, known := a.tracker.Readings().Trade(&trades[i])
			if !known || trades[i].OrderID != o.OrderID || slices.Contains(o.Booked, trade.ID) {
				continue
			}
			if before > 0 {
				before -= trades[i].Quantity
				continue
			}
			m.found += int64(trades[i].Quantity)
			m.reading.Trades = append(m.reading.Trades, trade)
		}
	}
}

// post books a complete reading unless the exchange does not report everything yet: then the next
// round reads again, for up to a minute.
func (a *accounting) post(m *bookkeeping) {
	whole := m.found >= m.expected
	if m.reading.Market == exchange.Futures {
		m.reading.Closed, whole = a.tracker.Ledger().Fresh(&m.reading, m.ended)
	}
	if !whole {
		if m.lackMS == 0 {
			m.lackMS = a.nowMS
		}
		if a.nowMS-m.lackMS < moneyGiveUpMS {
			return
		}
	}
	if !m.unstable && !m.reading.Same(&m.last) {
		return // it changed while reads were pending
	}
	m.reading.Partial, m.reading.Unstable = !whole, m.unstable
	slices.SortFunc(m.reading.Trades, func(x, y ledger.Trade) int { return cmp.Compare(x.ID, y.ID) })
	posting := &ledger.Posting{Reading: m.reading, Lines: a.tracker.Ledger().Lines(&m.reading)}
	a.attribute(posting.Lines)
	plausible := !m.unstable || a.tracker.Ledger().Plausible(&m.reading, posting.Lines)
	if m.lackMS, m.dueMS = 0, 0; !plausible && m.refused < unstableTries {
		m.refused++ // it may mix two moments: the next reading decides
		return
	}
	m.due, m.refused = false, 0
	first := !a.tracker.Ledger().Opened(m.reading.Market)
	flow := a.tracker.Ledger().Flow(posting.Lines, m.reading.Market, ledger.FuturesAsset)
	left := a.tracker.Ledger().Left(posting.Lines, m.reading.Market)
	a.record(record.Record{Body: record.Posting{Posting: *posting}})
	if !first {
		a.transferred(m, posting, flow)
	}
	bookedLiquidations(a.base, m.reading.Closed)
	for _, one := range left {
		market := m.reading.Market
		a.note("", nil, NoteUnexplained{market, one.Name, one.Amount,
			market.String() + " wallet: " + one.Amount.String() + " " + one.Name + " that no fill, fee or funding explains"})
	}
}

// attribute names the strategy of lines whose fill is not known yet, because its order could not be read: the ledger learns a symbol's owner with the fill.
func (a *accounting) attribute(lines []ledger.Line) {
	for i := range lines {
		l := &lines[i]
		leg := a.legOn(l.Symbol)
		if l.Strategy != "" || leg == nil || !a.positionUncertain(leg.symbol) {
			continue
		}
		if a.tracker.AnyLive(func(p *account.Placement) bool { return p.Symbol() == l.Symbol }) {
			l.Strategy = leg.config.Name
		}
	}
}

// fromOutside returns the unbooked part of the futures wallet's change that is an external
// transfer. While an order's outcome is uncertain or the fills do not explain a position, a change
// does not count as external, because the unknown may have caused it.
func (a *accounting) fromOutside() exchange.Amount {
	if a.positionsDiffer(exchange.Futures) || a.tracker.AnyInFlight(func(p *account.Placement) bool {
		return p.State().OutcomeUncertain() && p.Order().Market == exchange.Futures
	}) {
		return exchange.Amount{}
	}
	return a.limits.flow[exchange.Futures]
}

// transferred applies the external transfers of a posting: the equity from which losses are
// measured moves with them.
func (a *accounting) transferred(m *bookkeeping, posting *ledger.Posting, amount exchange.Amount) {
	a.limits.flow[m.reading.Market] = exchange.Amount{}
	for i := range posting.Lines {
		l := &posting.Lines[i]
		if l.Account == ledger.Transferred && l.Strategy == "" {
			what := "deposited"
			if l.Amount.Sign() > 0 {
				what = "withdrawn"
			}
			text := fmt.Sprintf("%s wallet: %s %s %s by an external transfer: no trade, fee or funding explains it",
				m.reading.Market, l.Amount.Abs(), l.Asset, what)
			a.note("", nil, NoteTransfer{m.reading.Market, l.Asset, l.Amount.Neg(), text})
		}
	}
	if amount.IsZero() {
		return
	}
	a.limits.shift(m.reading.Market, amount)
	if w := a.tracker.Watch(""); m.reading.Market == exchange.Futures && w.Known() { // no result includes the transfer
		a.record(record.Record{Body: record.Accounted{Wallet: w.Wallet().Add(amount), Losses: w.Losses(), Keeps: true}})
	}
}
