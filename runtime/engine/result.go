package engine

import (
	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/risk"
)

// results say what each strategy made.
type results struct {
	*base
	limits    *limits
	following bool // somebody needs them
}

// follows reports whether a limit or the ledger needs the results of strategies.
func (e *results) follows() bool {
	follows := e.config.Limits.Watched(risk.ByResults) || e.config.Ledger
	for _, r := range e.runs {
		follows = follows || r.config.Limits.Watches()
	}
	return follows
}

// attribute says what each strategy made since the last round, for its limits.
//
// On spot a fill tells its price. On futures neither price nor fee is told, so
// the change of the wallet is the truth: it belongs to the strategy that traded
// or held; where there are several, each is given what it closed at the last
// price, and the rest, fees above all, in proportion to what they traded, or held
// (funding). So the strategies' results always sum to the wallet's change.
func (e *results) attribute() {
	if _, known := e.total(); !e.following || !known {
		return
	}
	account := e.book.Watch("")
	shares := make([]exchange.Amount, len(e.runs))
	if e.trades(exchange.Futures) {
		wallet := e.book.Account.WalletBalance
		if account.Known() && account.Wallet() != wallet {
			e.share(wallet.Sub(account.Wallet()), shares)
		}
		if !account.Known() || account.Wallet() != wallet {
			e.record(record.Record{Body: record.Accounted{Wallet: wallet, Losses: account.Losses()}})
		}
	}
	for i, r := range e.runs {
		if r.truth.Key().Market == exchange.Spot {
			shares[i] = r.cash
		}
		e.result(r, shares[i])
		r.traded, r.cash, r.entry = 0, exchange.Amount{}, r.truth.EntryPrice
	}
}

// share divides a change of the futures wallet.
func (e *results) share(change exchange.Amount, shares []exchange.Amount) {
	weights, weight := make([]exchange.Amount, len(e.runs)), exchange.Amount{}
	rest := change
	for _, held := range [...]bool{false, true} { // who traded; when nobody did, who holds
		for i, r := range e.runs {
			if r.truth.Key().Market != exchange.Futures || r.truth.Rules == nil {
				continue
			}
			quantity := r.traded
			if w := e.book.Watch(r.config.Name); held {
				quantity = max(w.Result().Position, -w.Result().Position)
			}
			weights[i] = r.truth.Rules.Notional(max(r.truth.Price(), 1), quantity)
			weight = weight.Add(weights[i])
		}
		if !weight.IsZero() {
			break
		}
	}
	if weight.IsZero() {
		return // money moved in or out, or traded by hand: no strategy's
	}
	for i, r := range e.runs {
		if r.traded != 0 {
			shares[i] = e.estimate(r)
			rest = rest.Sub(shares[i])
		}
	}
	left, leftWeight := rest, weight
	for i := range shares {
		if weights[i].IsZero() {
			continue
		}
		part := left
		if weights[i].Less(leftWeight) {
			part = left.MulRate(weights[i].Ratio(leftWeight))
		}
		shares[i] = shares[i].Add(part)
		left, leftWeight = left.Sub(part), leftWeight.Sub(weights[i])
	}
}

// estimate is what a strategy's fills closed brought at the last price.
func (e *results) estimate(r *run) exchange.Amount {
	rules, held := r.truth.Rules, e.book.Watch(r.config.Name).Result().Position
	closed := held - r.truth.Position
	if held == 0 || r.entry.IsZero() || (closed > 0) != (held > 0) {
		return exchange.Amount{}
	}
	if closed/held != 0 {
		closed = held // beyond flat it opened the other side
	}
	return rules.Notional(r.truth.Price()-rules.PriceOf(r.entry), closed)
}

// result books what one strategy made, and when its position ended whether that lost.
func (e *results) result(r *run, made exchange.Amount) {
	w := e.book.Watch(r.config.Name)
	position := r.truth.Position
	if r.truth.Key().Market == exchange.Spot && r.truth.Rules != nil &&
		r.truth.Rules.Notional(r.truth.Last, position).Less(r.truth.Rules.MinNotional) {
		position = 0 // what is too small to sell is no position
	}
	if made.IsZero() && position == w.Result().Position && w.Known() {
		return
	}
	next := w.Result()
	next.Result, next.Position, next.Losses = next.Result.Add(made), position, w.Losses()
	if !w.Known() {
		next.Base = e.marked(r.truth.Key().Market)
	}
	if w.Result().Position == 0 {
		next.Trip = w.Result().Result // fees of the entry belong to the trip
	}
	ended := w.Result().Position != 0 && (position == 0 || (position > 0) != (w.Result().Position > 0))
	if !ended {
		e.record(record.Record{Strategy: r.config.Name, Symbol: r.truth.Key(), Body: next})
		return
	}
	trip := next.Result.Sub(next.Trip)
	next.Trip, next.Losses = next.Result, streak(w.Losses(), trip)
	e.record(record.Record{Strategy: r.config.Name, Symbol: r.truth.Key(), Body: next})
	if e.config.Limits.Watched(risk.ByResults) {
		account := e.book.Watch("")
		e.record(record.Record{Body: record.Accounted{Wallet: account.Wallet(), Losses: streak(account.Losses(), trip)}})
		e.cool(account, nil, &e.config.Limits)
	}
	e.cool(w, r, &r.config.Limits)
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

// cool keeps entries back after too many losing positions in a row. The count
// begins anew.
func (e *results) cool(w *account.Watch, r *run, limits *risk.Limits) {
	crossed := limits.Crossed(risk.ByResults, e.nowMS, e.book, w.Strategy(), exchange.Amount{})
	if len(crossed) == 0 {
		return
	}
	for _, c := range crossed {
		e.limits.breach(r, w.Strategy(), &c)
	}
	if r == nil {
		e.record(record.Record{Body: record.Accounted{Wallet: w.Wallet()}})
		return
	}
	cooled := w.Result()
	cooled.Losses = 0
	e.record(record.Record{Strategy: w.Strategy(), Symbol: r.truth.Key(), Body: cooled})
}

// traded counts a fill for the strategy's result.
func (e *results) traded(p *account.Placement, grown exchange.Quantity) {
	r := e.runNamed(p.Strategy())
	if r == nil || !e.following {
		return
	}
	r.traded += grown
	if rules := r.truth.Rules; p.Order().Market == exchange.Spot && rules != nil {
		price := rules.PriceOf(p.Price())
		if price == 0 {
			price = r.truth.Last
		}
		r.cash = r.cash.Sub(rules.Notional(price, grown*exchange.Quantity(p.Order().Side.Sign())))
	}
}
