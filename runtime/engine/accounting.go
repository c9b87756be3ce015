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

// Bounds of the ledger's questions.
const (
	closedPage    = 100    // ended positions, a page
	maxClosed     = 1_000  // ended positions, all pages
	tradesPage    = 1_000  // executions of one order
	moneyGiveUpMS = 60_000 // what ended and is not reported for so long is booked without; what is unknown is not awaited longer
	starvedMS     = 60_000 // a market that never stands still is read apart from the rounds
	maxBetween    = 11     // answers while an unstable reading is completed
	unstableTries = 10     // so often such a reading is put off because not all of it is explained
)

// accounting books what the exchange reports of the account's money.
type accounting struct {
	*base
	alarms        *alarms
	limits        *limits
	futures, spot bookkeeping // how far the ledger has got
}

// bookkeeping is how far the ledger has got with one market.
type bookkeeping struct {
	last     ledger.Reading // the newest
	sinceMS  int64          // since when it has been the same
	tradedMS int64          // when a fill was last learned of
	lackMS   int64          // since when the exchange reports less than it should; 0 for never
	due      bool           // it shows something that is not booked yet
	dueMS    int64          // since when; 0 while it does not

	flow     exchange.Amount // USDT that seems to have moved in or out since the last posting
	reading  ledger.Reading  // being completed by questions
	unstable bool            // it was not seen to stand still: it is booked if all of it is explained
	between  int             // of an unstable reading: how many answers are in
	refused  int             // so many in a row were not all explained
	pending  int             // for so many answers
	failed   bool
	ended    []ledger.Position
	found    int64 // base units of executions found, of those wanted
	wanted   int64
}

// ready reports whether a reading is to be booked and no answer is waited for.
func (m *bookkeeping) ready() bool { return m.due && m.pending == 0 }

// ready reports whether a market's reading is.
func (a *accounting) ready() bool { return a.futures.ready() || a.spot.ready() }

// observe takes what a round read of the money into the ledger. Wallet and
// positions are read one after the other, and replicas may be old: a reading is
// booked when a later one shows the same, which began as long as a read may be old
// after it, and after the last fill was learned of. What is there at first is taken over at once, before anything is
// traded. In a backtest all is read at one moment.
func (a *accounting) observe(snapshot *reconcile.Snapshot) {
	if !a.config.Ledger || a.journalErr != nil {
		return
	}
	if r, whole := a.book.FuturesReading(snapshot); whole && a.trades(exchange.Futures) {
		a.take(&a.futures, r, snapshot.BeganMS)
	}
	if r, whole := a.book.SpotReading(snapshot); whole && a.trades(exchange.Spot) {
		a.take(&a.spot, r, snapshot.BeganMS)
	}
}

func (a *accounting) take(m *bookkeeping, r ledger.Reading, beganMS int64) {
	if !r.Same(&m.last) || m.sinceMS == 0 {
		m.sinceMS = max(r.AtMS, beganMS) // a clock set back within the round does not make it older
	}
	m.last = r
	m.due, m.flow = a.book.Ledger().Due(&r), exchange.Amount{}
	if m.due && a.book.Ledger().Opened(r.Market) { // what the first reading shows was there before
		m.flow = a.book.Ledger().Flow(a.book.Ledger().Lines(&r), r.Market, ledger.FuturesAsset)
	}
	if !m.due {
		m.dueMS = 0
		return
	}
	m.dueMS = cmp.Or(m.dueMS, r.AtMS)
	untouched := a.book.Ledger().Untouched(r.Market) && !a.liveIn(r.Market)
	steady := a.config.Feed || beganMS-max(m.sinceMS, m.tradedMS) > a.config.Settle.StalenessMS || untouched
	unstable := !steady || a.unresolved(r.Market) || !a.config.Feed && a.differs(r.Market)
	if m.pending > 0 || unstable && r.AtMS-m.dueMS < starvedMS {
		return
	}
	m.reading, m.failed, m.between, m.unstable = r, false, 0, unstable
	if m.unstable && r.Market == exchange.Futures {
		a.askFor(m, purpose{kind: callBetween}, exchange.Request{Operation: exchange.FuturesOpenPositions})
		return
	}
	a.complete(m)
}

// unresolved reports whether it is not known what became of an order of a market, and a minute is not over.
func (a *accounting) unresolved(market exchange.Market) bool {
	return slices.ContainsFunc(a.book.InFlight(), func(p *account.Placement) bool {
		return p.State().Unresolved() && p.Order().Market == market && a.nowMS-p.SentMS() < moneyGiveUpMS
	})
}

// liveIn reports whether an order of botd's stands in a market, or may stand there: what it has filled since may be
// in the positions of a reading and not in its wallet, and is not booked yet.
func (a *accounting) liveIn(market exchange.Market) bool {
	return slices.ContainsFunc(a.book.Live(), func(p *account.Placement) bool { return p.Order().Market == market })
}

// traded notes when a fill was learned of.
func (a *accounting) traded(p *account.Placement) {
	m := &a.futures
	if p.Order().Market == exchange.Spot {
		m = &a.spot
	}
	m.tradedMS = a.nowMS
}

// differs reports whether a position the exchange reports is not the one the fills
// make: one of them is old, or a fill is not known yet, and the wallet may have it.
func (a *accounting) differs(market exchange.Market) bool {
	return slices.ContainsFunc(a.book.Symbols(), func(t *reconcile.SymbolState) bool {
		residual, _ := t.Residual()
		return residual != 0 && t.Key().Market == market && t.Quarantine() == ""
	})
}

// takeBetween takes what an unstable reading asks for, one after the other: positions,
// the account, and positions again. When they are the same the account is of the
// same moment, else these are the first ones.
func (a *accounting) takeBetween(m *bookkeeping, answer *exchange.Answer) {
	m.between++
	if m.between%2 == 0 {
		m.reading.Wallet = ledger.FuturesWallet(&answer.Account)
		a.askFor(m, purpose{kind: callBetween}, exchange.Request{Operation: exchange.FuturesOpenPositions})
		return
	}
	open := a.book.PositionsRead(answer.Positions.Items())
	switch {
	case m.between > 1 && slices.Equal(open, m.reading.Open):
		m.reading.AtMS = a.nowMS
		a.complete(m)
	case m.between < maxBetween:
		m.reading.Open = open
		a.askFor(m, purpose{kind: callBetween}, exchange.Request{Operation: exchange.FuturesAccount})
	}
}

// complete asks for what a reading lacks.
func (a *accounting) complete(m *bookkeeping) {
	m.ended, m.found, m.wanted = nil, 0, 0
	if m.reading.Market == exchange.Futures && a.book.Ledger().WantsClosed(&m.reading) {
		a.askEnded(m)
	}
	if m.reading.Market == exchange.Spot {
		for _, o := range a.book.Ledger().WantsTrades() {
			m.wanted += int64(o.Quantity)
			a.askFor(
				m,
				purpose{kind: callExecutions, orderID: o.OrderID},
				exchange.Request{Operation: exchange.SpotUserTrades, Symbol: o.Symbol, OrderID: o.OrderID, Limit: tradesPage},
			)
		}
	}
	if m.pending == 0 {
		a.post(m)
	}
}

func (a *accounting) askFor(m *bookkeeping, p purpose, request exchange.Request) {
	m.pending++
	a.ask(p, PriorityMarket, request)
}

// askEnded asks for a page of the positions that ended, newest first.
func (a *accounting) askEnded(m *bookkeeping) {
	a.askFor(m, purpose{kind: callEnded}, exchange.Request{Operation: exchange.FuturesPositionsHistory, Offset: len(m.ended), Limit: closedPage})
}

// takeAnswer takes the answer to a question of the ledger's.
func (a *accounting) takeAnswer(p purpose, event *EventAnswer) {
	m := &a.futures
	if p.kind == callExecutions {
		m = &a.spot
	}
	m.pending--
	m.failed = m.failed || event.Err != nil && !ofExecutions(&p, event.Err)
	switch {
	case event.Err != nil:
	case p.kind == callBetween:
		a.takeBetween(m, &event.Answer)
		return
	case p.kind == callEnded:
		a.takeEnded(m, event.Answer.Positions.Items())
	default:
		a.takeExecutions(m, p, event.Answer.Fills.Items())
	}
	if m.pending == 0 && !m.failed {
		a.post(m)
	}
}

// ofExecutions reports whether the exchange refuses to say what one order has executed, as of a symbol that is delisted: they
// are lacking, and the money of all other symbols is booked.
func ofExecutions(p *purpose, err error) bool {
	var refusal *exchange.Refusal
	return p.kind == callExecutions && errors.As(err, &refusal) && !ofAccount(refusal)
}

// takeEnded takes a page of the positions that ended, and asks for the next one
// while none of them is booked already.
func (a *accounting) takeEnded(m *bookkeeping, page []exchange.Position) {
	booked := false
	for i := range page {
		m.ended = append(m.ended, a.book.PositionRead(&page[i]))
		booked = booked || a.book.Ledger().Booked(page[i].ID)
	}
	if len(page) >= closedPage && !booked && len(m.ended) < maxClosed && a.book.Ledger().Opened(exchange.Futures) {
		a.askEnded(m)
	}
}

// takeExecutions takes those of one order that are not booked, oldest first.
func (a *accounting) takeExecutions(m *bookkeeping, p purpose, trades []exchange.UserTrade) {
	trades = slices.SortedFunc(slices.Values(trades), func(x, y exchange.UserTrade) int { return cmp.Compare(x.ID, y.ID) })
	for _, o := range a.book.Ledger().WantsTrades() {
		if o.OrderID != p.orderID {
			continue
		}
		before := o.Before
		for i := range trades {
			trade, known := a.book.TradeRead(&trades[i])
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

// post books a reading whose questions are answered, unless the exchange
// does not report all of it yet: then the next round asks again, for a minute.
func (a *accounting) post(m *bookkeeping) {
	whole := m.found >= m.wanted
	if m.reading.Market == exchange.Futures {
		m.reading.Closed, whole = a.book.Ledger().Fresh(&m.reading, m.ended)
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
		return // it moved on while questions were out
	}
	m.reading.Partial, m.reading.Unstable = !whole, m.unstable
	slices.SortFunc(m.reading.Trades, func(x, y ledger.Trade) int { return cmp.Compare(x.ID, y.ID) })
	posting := &ledger.Posting{Reading: m.reading, Lines: a.book.Ledger().Lines(&m.reading)}
	plausible := !m.unstable || a.book.Ledger().Plausible(&m.reading, posting.Lines)
	if m.lackMS, m.dueMS = 0, 0; !plausible && m.refused < unstableTries {
		m.refused++ // it may be of different moments: the next one decides
		return
	}
	m.due, m.refused = false, 0
	first := !a.book.Ledger().Opened(m.reading.Market)
	flow := a.book.Ledger().Flow(posting.Lines, m.reading.Market, ledger.FuturesAsset)
	left := a.book.Ledger().Left(posting.Lines, m.reading.Market)
	a.record(record.Record{Body: record.Posting{Posting: *posting}})
	if !first {
		a.transferred(m, posting, flow)
	}
	a.alarms.bookedLiquidations(m.reading.Closed)
	for _, one := range left {
		market := m.reading.Market
		a.note("", nil, NoteUnexplained{market, one.Name, one.Amount,
			market.String() + " wallet: " + one.Amount.String() + " " + one.Name + " that no fill, fee or funding explains"})
	}
}

// flow is what seems to have moved into the account from outside, or out of it, and is not
// booked yet: no gain and no loss.
func (a *accounting) flow() exchange.Amount { return a.futures.flow.Add(a.spot.flow) }

// fromOutside is the part of the futures wallet's change that came from outside, or went there, and is not booked yet.
// While it is not known what became of an order, or the fills do not explain a position, a change is not taken to
// come from outside: what is not known may have made it.
func (a *accounting) fromOutside() exchange.Amount {
	if a.differs(exchange.Futures) || slices.ContainsFunc(a.book.InFlight(), func(p *account.Placement) bool {
		return p.State().Unresolved() && p.Order().Market == exchange.Futures
	}) {
		return exchange.Amount{}
	}
	return a.futures.flow
}

// transferred takes what a posting says came from outside, or went there: the equity that losses
// are measured from moves with it.
func (a *accounting) transferred(m *bookkeeping, posting *ledger.Posting, amount exchange.Amount) {
	m.flow = exchange.Amount{}
	for i := range posting.Lines {
		l := &posting.Lines[i]
		if l.Account == ledger.Transferred && l.Strategy == "" {
			what := "deposited"
			if l.Amount.Sign() > 0 {
				what = "withdrawn"
			}
			text := fmt.Sprintf("%s wallet: %s %s %s from outside: no trade, fee or funding explains it", m.reading.Market, l.Amount.Abs(), l.Asset, what)
			a.note("", nil, NoteTransfer{m.reading.Market, l.Asset, l.Amount.Neg(), text})
		}
	}
	if amount.IsZero() {
		return
	}
	a.limits.shift(m.reading.Market, amount)
	if w := a.book.Watch(""); m.reading.Market == exchange.Futures && w.Known() { // no result counts it
		a.record(record.Record{Body: record.Accounted{Wallet: w.Wallet().Add(amount), Losses: w.Losses(), Keeps: true}})
	}
}
