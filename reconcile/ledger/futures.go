package ledger

import (
	"cmp"
	"slices"

	"botd/exchange"
)

// FuturesAsset is the asset of the futures wallet.
const FuturesAsset = "USDT"

// FuturesWallet is what an account shows of its wallet.
func FuturesWallet(a *exchange.MarginAccount) []Asset {
	return []Asset{{FuturesAsset, a.WalletBalance}}
}

// Futures orders carry neither price nor fee. A position's realizedPNL is the exact
// profit; any further change of the wallet is fees and funding. If
// only one of the two can have happened it is that one; if both can, fees are
// booked at the rate last seen alone and the rest is funding. An amount outside
// these bounds is unexplained, and is booked as such.
const (
	usualTaker    exchange.Rate = 50_000     // 0.05 %, until a fee was seen alone
	usualMaker    exchange.Rate = 20_000     // 0.02 %
	leastFee      exchange.Rate = -50_000    // of the value traded: a rebate
	mostFee       exchange.Rate = 300_000    // 0.3 %
	mostFeeForced exchange.Rate = 5_000_000  // 5 %: a liquidation
	mostFunding   exchange.Rate = 3_000_000  // 3 % of the position, where the symbol has no cap
	fundingSlack  exchange.Rate = 20_000_000 // 20 %: the mark may be off the entry by that much more
	fundingLateMS int64         = 60_000     // it may be charged so long after it was due
)

// part is what one symbol has to do with a change of the wallet.
type part struct {
	key      exchange.SymbolKey
	strategy string
	realised exchange.Amount
	traded   exchange.Amount // value of all executions
	exact    bool            // it is known to the last digit
	expected exchange.Amount // fees, at the rates last seen
	takes    bool            // some of it by orders that take
	rests    bool            // some of it by orders that may rest
	held     exchange.Amount // value of what was held over funding times, times their number
	cap      exchange.Rate
	forced   bool
}

// funding is the most that can have been paid or got.
func (p *part) funding() exchange.Amount {
	return p.held.MulRate(p.cap).MulRate(exchange.RateOne + fundingSlack)
}

// futuresLines says what changed since the last reading.
func (l *Ledger) futuresLines(r *Reading) []Line {
	change := walletOf(r, FuturesAsset).Sub(l.wallet(exchange.Futures, FuturesAsset))
	parts := l.parts(r)
	rest := change.Neg() // what was paid: fees, funding, and what nobody knows
	var lines []Line
	pay := func(account Account, p *part, amount exchange.Amount) {
		if !amount.IsZero() {
			lines = append(lines, Line{Account: account, Strategy: p.strategy, Symbol: p.key, Asset: FuturesAsset, Amount: amount, Derived: true})
		}
	}
	for i := range parts {
		pay(Realised, &parts[i], parts[i].realised.Neg())
		rest = rest.Add(parts[i].realised)
	}
	fees, funding := divide(parts, rest)
	for i := range parts {
		pay(Fees, &parts[i], fees[i])
		pay(Funding, &parts[i], funding[i])
		rest = rest.Sub(fees[i]).Sub(funding[i])
	}
	futures := exchange.SymbolKey{Market: exchange.Futures}
	if !rest.IsZero() {
		if untouched(r, parts) && !l.nearFunding(r, rest) {
			lines = l.outside(lines, exchange.Futures, FuturesAsset, rest)
		} else {
			lines = append(lines, Line{Account: Unexplained, Symbol: futures, Asset: FuturesAsset, Amount: rest})
		}
	}
	if !change.IsZero() {
		lines = append(lines, Line{Account: Wallet, Symbol: futures, Asset: FuturesAsset, Amount: change})
	}
	return lines
}

// untouched reports whether nothing that costs or brings money can have happened to any
// position since the last reading: nothing traded, nothing ended, no funding due. What the
// wallet has changed then came from outside, or went there.
func untouched(r *Reading, parts []part) bool {
	if r.Partial || r.Unstable || len(r.Closed) > 0 {
		return false
	}
	for i := range parts {
		if p := &parts[i]; p.takes || p.rests || p.forced || !p.traded.IsZero() || !p.realised.IsZero() || !p.held.IsZero() {
			return false
		}
	}
	return true
}

// nearFunding reports whether a funding time of open positions is so near that an amount may
// be funding which is charged early or late.
func (l *Ledger) nearFunding(r *Reading, amount exchange.Amount) bool {
	var bound exchange.Amount
	for i := range r.Open {
		instrument := l.instrumentFor(r, exchange.SymbolKey{Market: exchange.Futures, Name: r.Open[i].Symbol})
		interval := int64(max(1, instrument.FundingHours)) * int64(exchange.Hour1)
		if since := r.AtMS % interval; since < 2*fundingLateMS || interval-since < fundingLateMS {
			p := part{held: r.Open[i].value(r.Open[i].Remaining), cap: cmp.Or(instrument.FundingCap, mostFunding)}
			bound = bound.Add(p.funding())
		}
	}
	return !bound.IsZero() && !bound.Less(amount.Abs())
}

// External returns what the lines of a reading say moved in from outside, or, negative,
// out, of an asset: no line of a strategy.
func External(lines []Line, asset string) (sum exchange.Amount) {
	for i := range lines {
		if l := &lines[i]; l.Account == Transferred && l.Strategy == "" && l.Asset == asset {
			sum = sum.Sub(l.Amount)
		}
	}
	return sum
}

func walletOf(r *Reading, asset string) exchange.Amount {
	for _, a := range r.Wallet {
		if a.Name == asset {
			return a.Amount
		}
	}
	return exchange.Amount{}
}

// divide divides what was paid among the parts, as fees and as funding. What it
// does not give away is not explained.
func divide(parts []part, paid exchange.Amount) (fees, funding []exchange.Amount) {
	fees, funding = make([]exchange.Amount, len(parts)), make([]exchange.Amount, len(parts))
	var expected, least, most, bound, held exchange.Amount
	for i := range parts {
		p := &parts[i]
		expected = expected.Add(p.expected)
		high := mostFee
		if p.forced {
			high = mostFeeForced
		}
		least, most = least.Add(p.traded.MulRate(leastFee)), most.Add(p.traded.MulRate(high))
		bound = bound.Add(p.funding())
		held = held.Add(p.held)
	}
	within := func(amount, low, high exchange.Amount) bool { return !amount.Less(low) && !high.Less(amount) }
	switch {
	case held.IsZero() && within(paid, least, most): // fees alone
		apportion(fees, paid, expected, func(i int) exchange.Amount { return parts[i].expected })
	case most.IsZero() && within(paid.Abs(), exchange.Amount{}, bound): // funding alone
		apportion(funding, paid, held, func(i int) exchange.Amount { return parts[i].held })
	default: // both, or neither: fees as they usually are, funding when the rest can be
		apportion(fees, expected, expected, func(i int) exchange.Amount { return parts[i].expected })
		if rest := paid.Sub(expected); !held.IsZero() && within(rest.Abs(), exchange.Amount{}, bound) {
			apportion(funding, rest, held, func(i int) exchange.Amount { return parts[i].held })
		}
	}
	return fees, funding
}

// apportion divides an amount in proportion to weights, to the last digit: the last
// one with a weight gets what the cuts left.
func apportion(into []exchange.Amount, amount, whole exchange.Amount, weight func(int) exchange.Amount) {
	if whole.IsZero() {
		return
	}
	rest, last := amount, -1
	for i := range into {
		if w := weight(i); !w.IsZero() {
			into[i] = amount.MulQuo(w, whole)
			rest, last = rest.Sub(into[i]), i
		}
	}
	if last >= 0 {
		into[last] = into[last].Add(rest)
	}
}

// parts looks at each symbol that was traded or held, in order of symbol.
func (l *Ledger) parts(r *Reading) []part {
	var parts []part
	of := func(symbol string) *part {
		key := exchange.SymbolKey{Market: exchange.Futures, Name: symbol}
		i, found := slices.BinarySearchFunc(parts, key, func(p part, k exchange.SymbolKey) int { return p.key.Compare(k) })
		if !found {
			parts = slices.Insert(parts, i, part{key: key, strategy: l.owner(key).strategy, exact: true, cap: mostFunding})
		}
		return &parts[i]
	}
	for i := range l.owners {
		if o := &l.owners[i]; o.symbol.Market == exchange.Futures && (o.takes || o.rests) {
			p := of(o.symbol.Name)
			p.takes, p.rests = o.takes, o.rests
		}
	}
	for i := range l.positions {
		of(l.positions[i].Symbol)
	}
	for i := range r.Closed {
		l.ended(of(r.Closed[i].Symbol), &r.Closed[i])
	}
	for i := range r.Open {
		l.moves(of(r.Open[i].Symbol), &r.Open[i])
	}
	for i := range parts {
		p := &parts[i]
		instrument := l.instrumentFor(r, p.key)
		p.traded = onGrid(p.traded, instrument.Grid)
		rate := l.taker
		if p.rests && !p.takes {
			rate = l.maker
		}
		p.expected = p.traded.MulRate(rate)
		l.overFunding(p, r, &instrument)
	}
	return parts
}

// instrumentFor are a symbol's instrument, the reading's own first.
func (l *Ledger) instrumentFor(r *Reading, key exchange.SymbolKey) Instrument {
	for _, t := range r.Instruments {
		if t.Symbol == key {
			return t
		}
	}
	instrument, _ := l.Instrument(key)
	return instrument
}

// onGrid is the nearest multiple of the grid: mean prices are cut at 18 places,
// values of executions are not.
func onGrid(value, grid exchange.Amount) exchange.Amount {
	if grid.IsZero() || !value.Div(1<<62).Less(grid) { // the quotient does not fit
		return value
	}
	return grid.Mul(value.Add(grid.Div(2)).Quo(grid))
}

// overFunding notes what was held when funding was due since the last reading. A
// position that ended shows when.
func (l *Ledger) overFunding(p *part, r *Reading, instrument *Instrument) {
	if instrument.FundingCap > 0 {
		p.cap = instrument.FundingCap
	}
	interval := int64(max(1, instrument.FundingHours)) * int64(exchange.Hour1) // not known: it may be any hour
	sinceMS := max(l.futures.atMS-fundingLateMS, l.owner(p.key).fundedMS)
	due := func(g *Position, quantity exchange.Amount, untilMS int64) {
		if g.Symbol == p.key.Name {
			times := untilMS/interval - max(sinceMS, g.FromMS)/interval
			p.held = p.held.Add(g.value(quantity).Mul(max(0, times)))
		}
	}
	for i := range r.Open {
		g, most := &r.Open[i], r.Open[i].Remaining
		if before := l.position(g); before != nil {
			most = most.Max(before.Remaining)
		}
		due(g, most, r.AtMS)
	}
	for i := range r.Closed {
		g := &r.Closed[i]
		due(g, g.Opened, min(r.AtMS, cmp.Or(g.UntilMS, r.AtMS)))
	}
}

var unit = exchange.AmountOf(1)

// value is a quantity at the entry price.
func (g *Position) value(quantity exchange.Amount) exchange.Amount {
	return g.Entry.MulQuo(quantity, unit)
}

// proceeds is the value of what an exit brought: what it cost, and the profit.
func (g *Position) proceeds(cost, profit exchange.Amount) exchange.Amount {
	if g.Short {
		return cost.Sub(profit)
	}
	return cost.Add(profit)
}

func (l *Ledger) position(now *Position) *Position {
	i, found := slices.BinarySearchFunc(l.positions, now.ID, func(g Position, id int64) int { return cmp.Compare(g.ID, id) })
	if !found || l.positions[i].Symbol != now.Symbol {
		return nil
	}
	return &l.positions[i]
}

// moves takes an open position: what was opened and closed of it since.
func (l *Ledger) moves(p *part, now *Position) {
	before := l.position(now)
	if before == nil {
		before = &Position{Short: now.Short}
	}
	p.realised = p.realised.Add(now.Realised.Sub(before.Realised))
	opened := now.Opened.Sub(before.Opened)
	exited := opened.Sub(now.Remaining.Sub(before.Remaining))
	cost, costBefore := now.value(now.Remaining), before.value(before.Remaining)
	switch {
	case opened.IsZero() && exited.IsZero():
	case exited.IsZero():
		p.traded = p.traded.Add(cost.Sub(costBefore).Abs())
	case opened.IsZero():
		p.traded = p.traded.Add(now.proceeds(costBefore.Sub(cost), now.Realised.Sub(before.Realised)).Abs())
	default:
		p.traded, p.exact = p.traded.Add(now.value(opened.Add(exited).Abs())), false
	}
}

// ended takes a position that ended since.
func (l *Ledger) ended(p *part, now *Position) {
	before := l.position(now)
	p.forced = p.forced || now.Liquidated
	if before == nil {
		p.realised = p.realised.Add(now.Realised)
		exits := now.Close.MulQuo(now.Opened, unit)
		p.traded = p.traded.Add(exits).Add(exits.Sub(now.proceeds(exchange.Amount{}, now.Realised)))
		return
	}
	profit := now.Realised.Sub(before.Realised)
	p.realised = p.realised.Add(profit)
	p.traded = p.traded.Add(now.proceeds(before.value(before.Remaining), profit).Abs())
	if opened := now.Opened.Sub(before.Opened); !opened.IsZero() {
		p.traded, p.exact = p.traded.Add(now.value(opened).Mul(2)), false
	}
}

// WantsClosed reports whether the exchange has to be asked for the positions that
// ended: the wallet changed, or one of the ledger's is not open any more. One may
// have been opened and ended in between, by botd or by hand. Before anything was
// traded none is asked for: the wallet is taken over in the round that read it.
func (l *Ledger) WantsClosed(r *Reading) bool {
	if l.Untouched(exchange.Futures) {
		return false
	}
	return !l.futures.opened || walletOf(r, FuturesAsset) != l.wallet(exchange.Futures, FuturesAsset) ||
		slices.ContainsFunc(l.positions, func(g Position) bool {
			return !slices.ContainsFunc(r.Open, func(o Position) bool { return o.ID == g.ID })
		})
}

// wasOver reports whether a position had ended when the wallet was taken over;
// the exchange reports times to the second.
func (l *Ledger) wasOver(g *Position) bool {
	opened := l.futures.openedMS / 1_000
	return g.UntilMS != 0 && l.position(g) == nil && g.UntilMS/1_000 <= opened && g.FromMS/1_000 < opened
}

// Fresh returns the ended positions that are not booked. It reports false when one of the
// ledger's own is in neither list, since the exchange does not report it yet, and when one
// ended after the reading that does not show it open: what it made is not in that wallet.
func (l *Ledger) Fresh(r *Reading, ended []Position) (fresh []Position, whole bool) {
	whole = true
	for _, g := range ended {
		switch {
		case slices.Contains(l.closed, g.ID), l.wasOver(&g), slices.ContainsFunc(r.Open, func(o Position) bool { return o.ID == g.ID }):
		case g.UntilMS/1_000 > r.AtMS/1_000: // the exchange reports times to the second
			whole = false
		default:
			fresh = append(fresh, g)
		}
	}
	slices.SortFunc(fresh, func(a, b Position) int { return cmp.Compare(a.ID, b.ID) })
	for i := range l.positions {
		is := func(g Position) bool { return g.ID == l.positions[i].ID }
		whole = whole && (slices.ContainsFunc(r.Open, is) || slices.ContainsFunc(fresh, is))
	}
	return fresh, whole
}

// usual reports whether what was paid is near the fees at the rates last seen, and
// what funding can be. Nearer than the profit of a trade may be, and than the fees
// of the symbol that paid least: a wallet that does not show a trade yet must not
// pass.
func (l *Ledger) usual(r *Reading) bool {
	var expected, bound, paid, least exchange.Amount
	for _, p := range l.parts(r) {
		expected, bound, paid = expected.Add(p.expected), bound.Add(p.funding()), paid.Add(p.realised)
		switch fees := p.expected.Abs(); {
		case p.takes && p.rests || p.forced:
			bound = bound.Add(fees.Div(2))
		case !p.exact: // how much was traded is known, at which prices is not quite
			bound = bound.Add(fees.Div(10))
		case least.IsZero() || !fees.IsZero() && fees.Less(least):
			least = fees
		}
	}
	bound = bound.Add(least.Div(50))
	paid = paid.Sub(walletOf(r, FuturesAsset).Sub(l.wallet(exchange.Futures, FuturesAsset)))
	return !bound.Less(paid.Sub(expected).Abs())
}

// bookFutures moves the ledger on to a reading.
func (l *Ledger) bookFutures(r *Reading) {
	if l.futures.opened && !l.futures.unstable && !r.Unstable {
		l.learnRates(r)
	}
	for i := range r.Closed {
		l.closed = append(l.closed, r.Closed[i].ID)
	}
	if extra := len(l.closed) - maxClosed; extra > 0 {
		l.closed = slices.Delete(l.closed, 0, extra)
	}
	l.positions = slices.Clone(r.Open)
	for i := range l.owners {
		l.owners[i].takes, l.owners[i].rests = false, false
	}
}

// learnRates takes the fee rate from a reading in which one symbol was traded,
// by one kind of order, and nothing else can have happened.
func (l *Ledger) learnRates(r *Reading) {
	parts := l.parts(r)
	if len(parts) != 1 {
		return
	}
	p := &parts[0]
	paid := p.realised.Sub(walletOf(r, FuturesAsset).Sub(l.wallet(exchange.Futures, FuturesAsset)))
	if p.traded.IsZero() || !p.exact || p.forced || !p.held.IsZero() || p.takes == p.rests ||
		paid.Less(p.traded.MulRate(leastFee)) || p.traded.MulRate(mostFee).Less(paid) {
		return
	}
	rate := paid.Ratio(p.traded)
	if p.traded.MulRate(rate) != paid {
		return // rounded by the exchange, or of two kinds
	}
	if p.takes {
		l.taker = rate
	} else {
		l.maker = rate
	}
}
