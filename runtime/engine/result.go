package engine

import (
	"slices"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/risk"
)

// results computes each strategy's result.
type results struct {
	*base
	limits     *limits
	accounting *accounting
	following  bool // a limit or the ledger needs them

	wallet        exchange.Amount // futures, as last read
	walletMS      int64           // start of the first round that read this value
	outstandingMS int64           // since when the futures strategies' money has been awaited; 0 if it is not
}

// resultGiveUpMS is the maximum time for which a change of the wallet waits for reads that explain it.
const resultGiveUpMS = 60_000

// follows reports whether a limit or the ledger needs the results of strategies.
func (r *results) follows() bool {
	follows := r.config.Limits.TriggeredBy(risk.ByResults) || r.config.Ledger
	for _, leg := range r.legs {
		follows = follows || leg.config.Limits.Watches()
	}
	return follows
}

// attribute computes each strategy's result since the last round, for its limits.
//
// On spot a fill has its price, and its fee follows from the rate. On futures neither price nor fee is
// reported, so the wallet's change is authoritative: it belongs to the strategy that traded or had a
// position. If there are several, each gets the value it closed at the last price, and the rest, mostly
// fees, is divided in proportion to traded value, or to positions (funding). The strategies' results
// therefore always sum to the wallet's change.
//
// Orders, positions and the wallet are read one after the other, and a read may be old: see waits.
func (r *results) attribute(snapshot *reconcile.Snapshot) {
	if _, known := r.total(); !r.following || !known {
		return
	}
	account := r.tracker.Watch("")
	shares := make([]exchange.Amount, len(r.legs))
	waits := r.trades(exchange.Futures) && r.waits(snapshot)
	if r.trades(exchange.Futures) && !waits {
		wallet := r.ownWallet()
		if change := wallet.Sub(account.Wallet()); account.Known() && (!change.IsZero() || r.tradedFutures()) { // a gain and a loss may cancel out
			r.divide(change, shares)
		}
		if !account.Known() || account.Wallet() != wallet || r.tradedFutures() {
			r.record(record.Record{Body: record.Accounted{Wallet: wallet, Losses: account.Losses()}})
		}
	}
	for i, leg := range r.legs {
		if leg.symbol.Key().Market == exchange.Spot {
			if leg.symbol.Rules() == nil || leg.symbol.Last() == 0 || !leg.symbol.Read() {
				continue // its position is not known yet since the start
			}
			shares[i] = r.cashFlow(leg)
		} else if leg.money.awaited = waits; waits {
			r.hold(leg)
			continue
		}
		r.result(leg, shares[i])
		leg.money.entryPrice, leg.money.closed, leg.money.closedFor = leg.symbol.EntryPrice(), 0, exchange.Amount{}
	}
}

// hold values the quantity by which a position has changed since the last round at this round's price,
// as long as its money is awaited: later price changes do not affect it.
func (r *results) hold(leg *leg) {
	rules, change := leg.symbol.Rules(), r.tracker.Watch(leg.config.Name).Result().Position-leg.money.closed-leg.symbol.Position()
	if change == 0 || rules == nil || leg.symbol.Price() == 0 {
		return
	}
	leg.money.closed, leg.money.closedFor = leg.money.closed+change, leg.money.closedFor.Add(rules.Notional(leg.symbol.Price(), change))
}

// waits reports whether the futures money is left for a later round. Before the wallet has been stable for the maximum age of a read since the last
// known fill, it may lack the money of that fill; before the fills explain the positions, it may include the money of an unknown fill. Either would
// credit a change to the wrong strategy. If a transfer from outside coincides with a trade, the change may be the trade's result, which the ledger
// decides. A market may never be stable, so the money waits for at most a minute.
func (r *results) waits(snapshot *reconcile.Snapshot) bool {
	if r.config.Feed {
		return false // everything is read at the same moment
	}
	wallet, account := r.tracker.Account().WalletBalance, r.tracker.Watch("")
	read := snapshot.Account != nil && snapshot.Positions.Done()
	if read && (r.walletMS == 0 || r.wallet != wallet) {
		r.wallet, r.walletMS = wallet, snapshot.BeganMS
	}
	unsure := r.accounting.positionsDiffer(exchange.Futures)
	due := unsure || r.tradedFutures() || account.Known() && account.Wallet() != r.ownWallet()
	steady := read && snapshot.BeganMS-max(r.walletMS, r.accounting.futures.tradedMS) > r.config.Bounds.StalenessMS
	ambiguous := unsure || r.tradedFutures() && !r.accounting.fromOutside().IsZero()
	if !due || steady && !ambiguous {
		r.outstandingMS = 0
		return false
	}
	if r.outstandingMS == 0 || !read { // do not wait for a wallet that cannot be read
		r.outstandingMS = r.nowMS
	}
	if r.nowMS-r.outstandingMS < resultGiveUpMS {
		return true
	}
	r.outstandingMS = 0
	return false
}

// ownWallet returns the futures wallet without external transfers that are in no posting of the ledger
// yet: once they are posted, the basis of the results moves by them. If they turn out not to be
// external, they are part of the next change.
func (r *results) ownWallet() exchange.Amount {
	return r.tracker.Account().WalletBalance.Sub(r.accounting.fromOutside())
}

// tradedFutures reports whether a strategy's orders have filled on futures since the newest wallet that
// the results include.
func (r *results) tradedFutures() bool {
	return slices.ContainsFunc(r.legs, func(leg *leg) bool { return r.tracker.Watch(leg.config.Name).Traded() != 0 })
}

// divide divides a change of the futures wallet.
func (r *results) divide(change exchange.Amount, shares []exchange.Amount) {
	weights, weight := make([]exchange.Amount, len(r.legs)), exchange.Amount{}
	rest := change
	for _, byPosition := range [...]bool{false, true} { // strategies that traded; if none did, those with a position
		for i, leg := range r.legs {
			if leg.symbol.Key().Market != exchange.Futures || leg.symbol.Rules() == nil {
				continue
			}
			quantity := r.tracker.Watch(leg.config.Name).Traded() + r.uncertain(leg)
			if w := r.tracker.Watch(leg.config.Name); byPosition {
				quantity = max(w.Result().Position, -w.Result().Position, leg.symbol.Position(), -leg.symbol.Position())
			}
			weights[i] = leg.symbol.Rules().Notional(max(leg.symbol.Price(), 1), quantity)
			weight = weight.Add(weights[i])
		}
		if !weight.IsZero() {
			break
		}
	}
	if weight.IsZero() {
		return // a transfer or a manual trade: it belongs to no strategy
	}
	for i, leg := range r.legs {
		if r.tracker.Watch(leg.config.Name).Traded() != 0 {
			shares[i] = r.estimate(leg)
			rest = rest.Sub(shares[i])
		}
	}
	left, leftWeight := rest, weight
	for i := range shares {
		part := left
		if weights[i].Less(leftWeight) {
			part = left.MulRate(weights[i].Ratio(leftWeight))
		}
		shares[i] = shares[i].Add(part)
		left, leftWeight = left.Sub(part), leftWeight.Sub(weights[i])
	}
}

// uncertain returns the quantity that a strategy's uncertain orders may have filled.
func (r *results) uncertain(leg *leg) (quantity exchange.Quantity) {
	for p := range r.tracker.InFlight() {
		if p.State().OutcomeUncertain() && p.Strategy() == leg.config.Name {
			quantity += p.Order().Quantity
		}
	}
	return quantity
}

// estimate returns the value closed by a strategy's fills at the last price. If the fills both opened
// and closed, it follows from the costs of the positions before and after them, because the difference
// of the positions alone does not show how much was closed.
func (r *results) estimate(leg *leg) exchange.Amount {
	rules, w := leg.symbol.Rules(), r.tracker.Watch(leg.config.Name)
	former, now := w.Result().Position, leg.symbol.Position()
	closed := former - now
	if entry := leg.symbol.EntryPrice(); w.Traded() != closed.Abs() && former != 0 && !leg.money.entryPrice.IsZero() && (now == 0 || !entry.IsZero()) {
		before := rules.Notional(leg.symbol.Price(), former).Sub(rules.Cost(leg.money.entryPrice, former))
		return before.Sub(rules.Notional(leg.symbol.Price(), now).Sub(rules.Cost(entry, now)))
	}
	if former == 0 || leg.money.entryPrice.IsZero() || (closed > 0) != (former > 0) {
		return exchange.Amount{}
	}
	if closed/former != 0 {
		closed = former // beyond flat, the fills opened the other side
	}
	return rules.Notional(leg.symbol.Price(), closed).Sub(rules.Cost(leg.money.entryPrice, closed))
}

// result books a strategy's result and, when its position ended, whether it was a loss.
func (r *results) result(leg *leg, made exchange.Amount) {
	w := r.tracker.Watch(leg.config.Name)
	position := leg.symbol.Position()
	if leg.symbol.Key().Market == exchange.Spot && leg.symbol.Rules() != nil &&
		leg.symbol.Rules().BelowMinimum(leg.symbol.Last(), position) {
		position = 0 // a quantity too small to sell does not count as a position
	}
	if made.IsZero() && position == w.Result().Position && w.Known() {
		return
	}
	next := w.Result()
	next.Result, next.Position, next.Losses = next.Result.Add(made), position, w.Losses()
	if !w.Known() {
		next.Base = r.equity(leg.symbol.Key().Market).Sub(r.resultOfPosition(leg))
	}
	if w.Result().Position == 0 {
		next.Trip = w.Result().Result // the entry's fees belong to the round trip
	}
	ended := w.Result().Position != 0 && (position == 0 || (position > 0) != (w.Result().Position > 0))
	if !ended {
		r.record(record.Record{Strategy: leg.config.Name, Symbol: leg.symbol.Key(), Body: next})
		return
	}
	trip := next.Result.Sub(next.Trip)
	next.Trip, next.Losses = next.Result, streak(w.Losses(), trip)
	r.record(record.Record{Strategy: leg.config.Name, Symbol: leg.symbol.Key(), Body: next})
	if r.config.Limits.TriggeredBy(risk.ByResults) {
		account := r.tracker.Watch("")
		r.record(record.Record{Body: record.Accounted{Wallet: account.Wallet(), Losses: streak(account.Losses(), trip), Keeps: true}})
		r.startCoolDown(account, nil, &r.config.Limits)
	}
	r.startCoolDown(w, leg, &leg.config.Limits)
}

func streak(losses int, trip exchange.Amount) int {
	switch trip.Sign() {
	case 1:
		return 0
	case -1:
		return losses + 1
	}
	return losses
}

// startCoolDowns blocks entries if a losing streak already reaches a limit at this start: the limit may have
// been tightened, or the strategy was not configured when it lost.
func (r *results) startCoolDowns() {
	r.startCoolDown(r.tracker.Watch(""), nil, &r.config.Limits)
	for _, leg := range r.legs {
		r.startCoolDown(r.tracker.Watch(leg.config.Name), leg, &leg.config.Limits)
	}
}

// startCoolDown blocks entries after too many consecutive losing positions. The count then starts over.
func (r *results) startCoolDown(w *account.Watch, leg *leg, limits *risk.Limits) {
	crossed := limits.Crossed(risk.ByResults, r.nowMS, r.tracker, w.Strategy(), exchange.Amount{})
	if len(crossed) == 0 {
		return
	}
	for _, c := range crossed {
		r.limits.breach(leg, w.Strategy(), &c)
	}
	if leg == nil {
		r.record(record.Record{Body: record.Accounted{Wallet: w.Wallet(), Keeps: true}})
		return
	}
	cooled := w.Result()
	cooled.Losses = 0
	r.record(record.Record{Strategy: w.Strategy(), Symbol: leg.symbol.Key(), Body: cooled})
}

// cashFlow returns the cash flow of a strategy's spot fills since its last result, less fees in the quote
// asset. The proceeds of selling the holdings of others count as an external transfer, as in the ledger.
func (r *results) cashFlow(leg *leg) (cash exchange.Amount) {
	rules := leg.symbol.Rules()
	for fill := range r.tracker.Watch(leg.config.Name).Fills() {
		value := rules.Cost(fill.Price, fill.Quantity)
		if fill.Price.IsZero() {
			value = rules.Notional(leg.symbol.Last(), fill.Quantity)
		}
		if cash = cash.Sub(value); fill.Others != 0 {
			cash = cash.Add(value.MulDiv(int64(fill.Others), int64(-fill.Quantity)))
		}
		if fill.Quantity < 0 || r.config.QuoteFees { // otherwise the fee is deducted from the purchase
			cash = cash.Sub(value.Abs().MulRate(r.config.TakerFee))
		}
	}
	return cash
}
