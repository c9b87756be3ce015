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
	limits     *limits
	accounting *accounting
	following  bool // somebody needs them
}

// follows reports whether a limit or the ledger needs the results of strategies.
func (r *results) follows() bool {
	follows := r.config.Limits.Watched(risk.ByResults) || r.config.Ledger
	for _, leg := range r.legs {
		follows = follows || leg.config.Limits.Watches()
	}
	return follows
}

// attribute says what each strategy made since the last round, for its limits.
//
// On spot a fill shows its price, and its fee is known by the rate. On futures neither price nor fee is reported, so
// the change of the wallet is the truth: it belongs to the strategy that traded
// or held; where there are several, each is given what it closed at the last
// price, and the rest, fees above all, in proportion to what they traded, or held
// (funding). So the strategies' results always sum to the wallet's change.
func (r *results) attribute() {
	if _, known := r.total(); !r.following || !known {
		return
	}
	account := r.book.Watch("")
	shares := make([]exchange.Amount, len(r.legs))
	if r.trades(exchange.Futures) {
		wallet := r.book.Account.WalletBalance
		if account.Known() && account.Wallet() != wallet {
			r.share(wallet.Sub(account.Wallet()).Sub(r.accounting.uncounted()), shares)
		}
		if !account.Known() || account.Wallet() != wallet {
			r.record(record.Record{Body: record.Accounted{Wallet: wallet, Losses: account.Losses()}})
		}
	}
	for i, leg := range r.legs {
		if leg.symbol.Key().Market == exchange.Spot {
			shares[i] = leg.cash
		}
		r.result(leg, shares[i])
		leg.traded, leg.cash, leg.entry = 0, exchange.Amount{}, leg.symbol.EntryPrice
	}
}

// share divides a change of the futures wallet.
func (r *results) share(change exchange.Amount, shares []exchange.Amount) {
	weights, weight := make([]exchange.Amount, len(r.legs)), exchange.Amount{}
	rest := change
	for _, held := range [...]bool{false, true} { // who traded; when nobody did, who holds
		for i, leg := range r.legs {
			if leg.symbol.Key().Market != exchange.Futures || leg.symbol.Rules == nil {
				continue
			}
			quantity := leg.traded
			if w := r.book.Watch(leg.config.Name); held {
				quantity = max(w.Result().Position, -w.Result().Position)
			}
			weights[i] = leg.symbol.Rules.Notional(max(leg.symbol.Price(), 1), quantity)
			weight = weight.Add(weights[i])
		}
		if !weight.IsZero() {
			break
		}
	}
	if weight.IsZero() {
		return // money moved in or out, or traded by hand: no strategy's
	}
	for i, leg := range r.legs {
		if leg.traded != 0 {
			shares[i] = r.estimate(leg)
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
func (r *results) estimate(leg *leg) exchange.Amount {
	rules, held := leg.symbol.Rules, r.book.Watch(leg.config.Name).Result().Position
	closed := held - leg.symbol.Position
	if held == 0 || leg.entry.IsZero() || (closed > 0) != (held > 0) {
		return exchange.Amount{}
	}
	if closed/held != 0 {
		closed = held // beyond flat it opened the other side
	}
	return rules.Notional(leg.symbol.Price()-rules.PriceOf(leg.entry), closed)
}

// result books what one strategy made, and when its position ended whether that lost.
func (r *results) result(leg *leg, made exchange.Amount) {
	w := r.book.Watch(leg.config.Name)
	position := leg.symbol.Position
	if leg.symbol.Key().Market == exchange.Spot && leg.symbol.Rules != nil &&
		leg.symbol.Rules.Notional(leg.symbol.Last, position).Less(leg.symbol.Rules.MinNotional) {
		position = 0 // what is too small to sell is no position
	}
	if made.IsZero() && position == w.Result().Position && w.Known() {
		return
	}
	next := w.Result()
	next.Result, next.Position, next.Losses = next.Result.Add(made), position, w.Losses()
	if !w.Known() {
		next.Base = r.marked(leg.symbol.Key().Market)
	}
	if w.Result().Position == 0 {
		next.Trip = w.Result().Result // fees of the entry belong to the trip
	}
	ended := w.Result().Position != 0 && (position == 0 || (position > 0) != (w.Result().Position > 0))
	if !ended {
		r.record(record.Record{Strategy: leg.config.Name, Symbol: leg.symbol.Key(), Body: next})
		return
	}
	trip := next.Result.Sub(next.Trip)
	next.Trip, next.Losses = next.Result, streak(w.Losses(), trip)
	r.record(record.Record{Strategy: leg.config.Name, Symbol: leg.symbol.Key(), Body: next})
	if r.config.Limits.Watched(risk.ByResults) {
		account := r.book.Watch("")
		r.record(record.Record{Body: record.Accounted{Wallet: account.Wallet(), Losses: streak(account.Losses(), trip)}})
		r.cool(account, nil, &r.config.Limits)
	}
	r.cool(w, leg, &leg.config.Limits)
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
func (r *results) cool(w *account.Watch, leg *leg, limits *risk.Limits) {
	crossed := limits.Crossed(risk.ByResults, r.nowMS, r.book, w.Strategy(), exchange.Amount{})
	if len(crossed) == 0 {
		return
	}
	for _, c := range crossed {
		r.limits.breach(leg, w.Strategy(), &c)
	}
	if leg == nil {
		r.record(record.Record{Body: record.Accounted{Wallet: w.Wallet()}})
		return
	}
	cooled := w.Result()
	cooled.Losses = 0
	r.record(record.Record{Strategy: w.Strategy(), Symbol: leg.symbol.Key(), Body: cooled})
}

// traded counts a fill for the strategy's result.
func (r *results) traded(p *account.Placement, grown exchange.Quantity) {
	leg := r.legNamed(p.Strategy())
	if leg == nil || !r.following {
		return
	}
	leg.traded += grown
	if rules := leg.symbol.Rules; p.Order().Market == exchange.Spot && rules != nil {
		price := rules.PriceOf(p.Price())
		if price == 0 {
			price = leg.symbol.Last
		}
		leg.cash = leg.cash.Sub(rules.Notional(price, grown*exchange.Quantity(p.Order().Side.Sign())))
		if p.Order().Side == exchange.Sell || r.config.QuoteFees { // else the fee is taken from what was bought
			leg.cash = leg.cash.Sub(rules.Notional(price, grown).MulRate(r.config.TakerFee))
		}
	}
}
