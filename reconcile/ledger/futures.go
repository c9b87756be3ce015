package ledger

import (
	"cmp"
	"slices"

	"botd/exchange"
)

// FuturesAsset is the asset of the futures wallet.
const FuturesAsset = "USDT"

// FuturesWallet returns the assets in an account's futures wallet.
func FuturesWallet(a *exchange.MarginAccount) []Asset {
	return []Asset{{FuturesAsset, a.WalletBalance}}
}

// Futures orders report neither price nor fee. A position's realizedPNL is its exact profit; any further
// wallet change is fees and funding. If only one of the two can have occurred, the change is that one.
// If both can, fees are booked at the rates last observed alone, and the rest as funding. If that rest is
// more than can be due, the fees had other rates: they take as much of the change as lies between the
// observed and the taker rates, or else between the possible ones. While the funding may not have been
// charged yet, a change of exactly the taker fee is a fee alone. An amount outside these bounds is booked
// as unexplained.
const (
	usualTaker    exchange.Rate = 50_000     // 0.05 %, until a fee has occurred on its own
	usualMaker    exchange.Rate = 20_000     // 0.02 %
	minFee        exchange.Rate = -50_000    // of the traded value: a rebate
	maxFee        exchange.Rate = 300_000    // 0.3 %
	maxFeeForced  exchange.Rate = 5_000_000  // 5 %: a liquidation
	maxFunding    exchange.Rate = 3_000_000  // 3 % of the position, if the symbol has no cap
	fundingSlack  exchange.Rate = 20_000_000 // 20 %: the mark price may differ from the entry price by this much
	fundingLateMS int64         = 60_000     // maximum delay of the charge
)

// part is one symbol's possible share of a wallet change.
type part struct {
	key       exchange.SymbolKey
	strategy  string
	realized  exchange.Amount
	traded    exchange.Amount // value of all executions
	exact     bool            // traded is exact to the last digit
	expected  exchange.Amount // fees, at the rate last observed
	taking    exchange.Amount // fees if all of it filled as taker
	takes     bool            // some of it filled by taker orders
	rests     bool            // some of it filled by orders that may rest
	valueHeld exchange.Amount // value of the position, summed over the funding times it was held
	charged   bool            // at least one of these fundings has been due for so long that it must have been charged
	cap       exchange.Rate
	forced    bool
}

// funding returns the maximum funding paid or received.
func (p *part) funding() exchange.Amount {
	return p.valueHeld.MulRate(p.cap).MulRate(exchange.RateOne + fundingSlack)
}

// futuresLines books the changes since the last reading.
func (l *Ledger) futuresLines(r *Reading) []Line {
	change := walletOf(r).Sub(l.wallet(exchange.Futures, FuturesAsset))
	parts := l.parts(r)
	rest := change.Neg() // amount paid: fees, funding, and unexplained
	var lines []Line
	pay := func(account Account, p *part, amount exchange.Amount) {
		if !amount.IsZero() {
			lines = append(lines, Line{Account: account, Strategy: p.strategy, Symbol: p.key, Asset: FuturesAsset, Amount: amount, Derived: true})
		}
	}
	for i := range parts {
		pay(Realized, &parts[i], parts[i].realized.Neg())
		rest = rest.Add(parts[i].realized)
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

// untouched reports whether no position can have changed the wallet since the last reading: nothing
// traded, nothing ended, no funding due. Then a wallet change is an external transfer.
func untouched(r *Reading, parts []part) bool {
	if r.Partial || r.Unstable || len(r.Closed) > 0 {
		return false
	}
	for i := range parts {
		if p := &parts[i]; p.takes || p.rests || p.forced || !p.traded.IsZero() || !p.realized.IsZero() || !p.valueHeld.IsZero() {
			return false
		}
	}
	return true
}

// nearFunding reports whether a funding time of open positions is close enough that an amount may
// be funding charged early or late.
func (l *Ledger) nearFunding(r *Reading, amount exchange.Amount) bool {
	var bound exchange.Amount
	for i := range r.Open {
		instrument := l.instrumentFor(r, exchange.SymbolKey{Market: exchange.Futures, Name: r.Open[i].Symbol})
		interval := int64(max(1, instrument.FundingHours)) * int64(exchange.Hour1)
		if since := r.AtMS % interval; since < 2*fundingLateMS || interval-since < fundingLateMS {
			p := part{valueHeld: r.Open[i].value(r.Open[i].Remaining), cap: cmp.Or(instrument.FundingCap, maxFunding)}
			bound = bound.Add(p.funding())
		}
	}
	return !bound.IsZero() && !bound.Less(amount.Abs())
}

// External returns the external transfers of an asset in the lines of a reading, positive into the
// wallet: lines that belong to no strategy.
func External(lines []Line, asset string) (sum exchange.Amount) {
	for i := range lines {
		if l := &lines[i]; l.Account == Transferred && l.Strategy == "" && l.Asset == asset {
			sum = sum.Sub(l.Amount)
		}
	}
	return sum
}

// walletOf returns the balance that a reading of futures shows.
func walletOf(r *Reading) exchange.Amount {
	for _, a := range r.Wallet {
		if a.Name == FuturesAsset {
			return a.Amount
		}
	}
	return exchange.Amount{}
}

// divide divides a paid amount among the parts, as fees and funding. What it does not divide is
// unexplained.
func divide(parts []part, paid exchange.Amount) (fees, funding []exchange.Amount) {
	fees, funding = make([]exchange.Amount, len(parts)), make([]exchange.Amount, len(parts))
	var expected, taking, least, most, bound, valueHeld exchange.Amount
	charged := false
	for i := range parts {
		p := &parts[i]
		charged = charged || p.charged
		expected, taking = expected.Add(p.expected), taking.Add(p.taking)
		high := maxFee
		if p.forced {
			high = maxFeeForced
		}
		least, most = least.Add(p.traded.MulRate(minFee)), most.Add(p.traded.MulRate(high))
		bound = bound.Add(p.funding())
		valueHeld = valueHeld.Add(p.valueHeld)
	}
	weight := func(i int) exchange.Amount { return parts[i].expected }
	whole := expected
	if whole.IsZero() { // orders were free of fees until now
		weight = func(i int) exchange.Amount { return parts[i].traded }
		for i := range parts {
			whole = whole.Add(parts[i].traded)
		}
	}
	within := func(amount, low, high exchange.Amount) bool { return !amount.Less(low) && !high.Less(amount) }
	funded := func(fee exchange.Amount) bool {
		return !valueHeld.IsZero() && within(paid.Sub(fee).Abs(), exchange.Amount{}, bound)
	}
	switch {
	case valueHeld.IsZero() && within(paid, least, most): // only fees
		apportion(fees, paid, whole, weight)
	case most.IsZero() && within(paid.Abs(), exchange.Amount{}, bound): // only funding
		apportion(funding, paid, valueHeld, func(i int) exchange.Amount { return parts[i].valueHeld })
	case !charged && paid == taking: // the funding follows
		apportion(fees, paid, whole, weight)
	default: // both or neither
		fee := expected
		for _, other := range [...]exchange.Amount{nearest(paid, expected, taking), nearest(paid, least, most)} {
			if !funded(fee) && funded(other) {
				fee = other
			}
		}
		apportion(fees, fee, whole, weight)
		if funded(fee) {
			apportion(funding, paid.Sub(fee), valueHeld, func(i int) exchange.Amount { return parts[i].valueHeld })
		}
	}
	return fees, funding
}

// nearest returns the amount between two bounds that is nearest to an amount.
func nearest(to, one, other exchange.Amount) exchange.Amount {
	return to.Max(one.Min(other)).Min(one.Max(other))
}

// apportion divides an amount in proportion to weights, exactly: the last part with a weight gets
// the rounding remainder.
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

// parts returns the parts of the symbols that were traded or held since the last reading, sorted by symbol.
func (l *Ledger) parts(r *Reading) []part {
	var parts []part
	of := func(symbol string) *part {
		key := exchange.SymbolKey{Market: exchange.Futures, Name: symbol}
		i, found := slices.BinarySearchFunc(parts, key, func(p part, k exchange.SymbolKey) int { return p.key.Compare(k) })
		if !found {
			parts = slices.Insert(parts, i, part{key: key, strategy: l.owner(key).strategy, exact: true, cap: maxFunding})
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
		l.addMovement(of(r.Open[i].Symbol), &r.Open[i])
	}
	for i := range parts {
		p := &parts[i]
		instrument := l.instrumentFor(r, p.key)
		p.traded = onGrid(p.traded, instrument.Grid)
		rate := l.taker
		if p.rests && !p.takes {
			rate = l.maker
		}
		p.expected, p.taking = p.traded.MulRate(rate), p.traded.MulRate(l.taker)
		l.overFunding(p, r, &instrument)
	}
	return parts
}

// instrumentFor returns a symbol's instrument, preferring the reading's own.
func (l *Ledger) instrumentFor(r *Reading, key exchange.SymbolKey) Instrument {
	for _, t := range r.Instruments {
		if t.Symbol == key {
			return t
		}
	}
	instrument, _ := l.Instrument(key)
	return instrument
}

// onGrid returns the nearest multiple of the grid: mean prices are truncated at 18 places,
// execution values are not.
func onGrid(value, grid exchange.Amount) exchange.Amount {
	if grid.IsZero() || !value.Div(1<<62).Less(grid) { // the quotient does not fit
		return value
	}
	return grid.Mul(value.Add(grid.Div(2)).Quo(grid))
}

// overFunding sums the value of a symbol's positions at the funding times since the last reading. A
// position that grew or shrank counts with its larger quantity, an ended one until its end.
func (l *Ledger) overFunding(p *part, r *Reading, instrument *Instrument) {
	if instrument.FundingCap > 0 {
		p.cap = instrument.FundingCap
	}
	interval := int64(max(1, instrument.FundingHours)) * int64(exchange.Hour1) // unknown: it may be every hour
	sinceMS := max(l.futures.atMS-fundingLateMS, l.owner(p.key).fundedMS)
	due := func(g *Position, quantity exchange.Amount, untilMS int64) {
		if g.Symbol == p.key.Name {
			times := max(0, untilMS/interval-max(sinceMS, g.FromMS)/interval)
			p.valueHeld = p.valueHeld.Add(g.value(quantity).Mul(times))
			p.charged = p.charged || times > 1 || times == 1 && r.AtMS%interval >= fundingLateMS
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

// value returns the value of a quantity at the entry price.
func (g *Position) value(quantity exchange.Amount) exchange.Amount {
	return g.EntryPrice.MulQuo(quantity, unit)
}

// proceeds returns the value at which a quantity was closed, from its value at entry and its profit.
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

// addMovement adds the profit of an open position since the last reading, and the value of what was
// opened and closed of it. The value is an estimate if both happened.
func (l *Ledger) addMovement(p *part, now *Position) {
	before := l.position(now)
	if before == nil {
		before = &Position{Short: now.Short}
	}
	p.realized = p.realized.Add(now.Realized.Sub(before.Realized))
	opened := now.Opened.Sub(before.Opened)
	exited := opened.Sub(now.Remaining.Sub(before.Remaining))
	cost, costBefore := now.value(now.Remaining), before.value(before.Remaining)
	switch {
	case opened.IsZero() && exited.IsZero():
	case exited.IsZero():
		p.traded = p.traded.Add(cost.Sub(costBefore).Abs())
	case opened.IsZero():
		p.traded = p.traded.Add(now.proceeds(costBefore.Sub(cost), now.Realized.Sub(before.Realized)).Abs())
	default: // exact if all of it was opened first
		profit := now.Realized.Sub(before.Realized)
		p.traded, p.exact = p.traded.Add(now.value(opened).Abs()).Add(now.proceeds(now.value(exited), profit).Abs()), false
	}
}

// ended adds the profit and the traded value of a position that ended since the last reading.
func (l *Ledger) ended(p *part, now *Position) {
	before := l.position(now)
	p.forced = p.forced || now.Liquidated
	if before == nil {
		p.realized = p.realized.Add(now.Realized)
		exits := now.Close.MulQuo(now.Opened, unit)
		p.traded = p.traded.Add(exits).Add(exits.Sub(now.proceeds(exchange.Amount{}, now.Realized)))
		return
	}
	profit := now.Realized.Sub(before.Realized)
	p.realized = p.realized.Add(profit)
	p.traded = p.traded.Add(now.proceeds(before.value(before.Remaining), profit).Abs())
	if opened := now.Opened.Sub(before.Opened); !opened.IsZero() {
		p.traded, p.exact = p.traded.Add(now.value(opened).Mul(2)), false
	}
}

// WantsClosed reports whether the ended positions must be requested: the wallet has changed, or one
// of the ledger's positions is no longer open. If only the wallet has changed, a position may have
// opened and ended in between, whoever opened it. Before the first trade none are requested: the
// wallet is taken over in the round that read it.
func (l *Ledger) WantsClosed(r *Reading) bool {
	if l.Untouched(exchange.Futures) {
		return false
	}
	return !l.futures.opened || walletOf(r) != l.wallet(exchange.Futures, FuturesAsset) ||
		slices.ContainsFunc(l.positions, func(g Position) bool {
			return !slices.ContainsFunc(r.Open, func(o Position) bool { return o.ID == g.ID })
		})
}

// endedBeforeTakeover reports whether a position had ended before the wallet was taken over. The exchange reports
// times in seconds.
func (l *Ledger) endedBeforeTakeover(g *Position) bool {
	opened := l.futures.openedMS / 1_000
	return g.UntilMS != 0 && l.position(g) == nil && g.UntilMS/1_000 <= opened && g.FromMS/1_000 < opened
}

// Fresh returns the ended positions that are not booked. whole is false if the reading cannot be booked
// yet: one of the ledger's positions is in neither list, because the exchange does not report its end yet,
// or a position ended after the reading, whose wallet therefore does not contain its result.
func (l *Ledger) Fresh(r *Reading, ended []Position) (fresh []Position, whole bool) {
	whole = true
	for _, g := range ended {
		switch {
		case slices.Contains(l.closed, g.ID), l.endedBeforeTakeover(&g), slices.ContainsFunc(r.Open, func(o Position) bool { return o.ID == g.ID }):
		case g.UntilMS/1_000 > r.AtMS/1_000: // the exchange reports times in seconds
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

// nearExpectedFees reports whether the paid amount is close to the expected fees, so that a wallet that
// does not include a trade yet does not pass. The tolerance is the sum of half the fees of each symbol with
// both kinds of orders or a liquidation, a tenth of the fees of each symbol whose traded value is an
// estimate, and a fiftieth of the lowest fee of the others. If funding is due, the result is false: its
// amount is unknown and may equal the missing trade.
func (l *Ledger) nearExpectedFees(r *Reading) bool {
	var expected, bound, paid, least exchange.Amount
	for _, p := range l.parts(r) {
		if !p.valueHeld.IsZero() {
			return false
		}
		expected, paid = expected.Add(p.expected), paid.Add(p.realized)
		switch fees := p.expected.Abs(); {
		case p.takes && p.rests || p.forced:
			bound = bound.Add(fees.Div(2))
		case !p.exact: // the traded quantity is exact, its prices are not
			bound = bound.Add(fees.Div(10))
		case least.IsZero() || !fees.IsZero() && fees.Less(least):
			least = fees
		}
	}
	bound = bound.Add(least.Div(50))
	paid = paid.Sub(walletOf(r).Sub(l.wallet(exchange.Futures, FuturesAsset)))
	return !bound.Less(paid.Sub(expected).Abs())
}

// fundingMayFollow reports whether what a reading books as funding may be a part of the fees, because a traded value is an estimate: the funding may not
// have been charged yet.
func (l *Ledger) fundingMayFollow(r *Reading) bool {
	return r.Market == exchange.Futures && slices.ContainsFunc(l.parts(r), func(p part) bool { return !p.exact && !p.charged })
}

// bookFutures advances the ledger to a reading.
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

// learnRates learns the fee rate from a reading in which one symbol was traded, by one kind of
// order, and nothing else can have occurred.
func (l *Ledger) learnRates(r *Reading) {
	parts := l.parts(r)
	if len(parts) != 1 {
		return
	}
	p := &parts[0]
	paid := p.realized.Sub(walletOf(r).Sub(l.wallet(exchange.Futures, FuturesAsset)))
	if p.traded.IsZero() || !p.exact || p.forced || !p.valueHeld.IsZero() || p.takes == p.rests ||
		paid.Less(p.traded.MulRate(minFee)) || p.traded.MulRate(maxFee).Less(paid) {
		return
	}
	rate := paid.Ratio(p.traded)
	switch {
	case p.traded.MulRate(rate) != paid:
		return // rounded by the exchange, or of both kinds
	case p.rests && rate == l.taker:
		return // it filled as taker instead of resting
	}
	if p.takes {
		l.taker = rate
	} else {
		l.maker = rate
	}
}
