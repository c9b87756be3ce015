package simulation

import (
	"math/big"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/internal/tally"
	"botd/reconcile"
	"botd/reconcile/ledger"
	"botd/runtime/engine"
	"botd/runtime/profit"
)

// figures are each strategy's trading results from the exchange's fills alone, added up by package tally, which shares no code with botd. They are compared
// with the results that limits use, the equity and the streaks, the account's equity and day, the ledger, and the profit that metrics, API and pages show.
//
// Reads report fills, and the wallet reports their money. So the figures are compared only when botd has known all fills of a market for
// some rounds.
type figures struct {
	w       *world
	shares  []roleResult // by role
	markets [2]marketFigures

	rounds   int         // complete rounds of this life
	compared int         // the last round that was compared
	roundMS  int64       // when the last round began
	error    int64       // clock error at the end of the previous round
	start    [2]*big.Rat // by market: the equity before any trade

	others      int // fills on futures that are not botd's own
	attribution *attribution
	curves      []curve         // by role, and the account's
	reached     [reachedEnd]int // number of comparisons of each kind
}

// These are the kinds of comparisons.
const (
	reachedExact    = iota // of futures results that the wallet decides
	reachedEstimate        // of futures results that are divided by estimate
	reachedSpot            // of results on spot
	reachedStreak
	reachedEquity // of strategies
	reachedTotal  // of the account
	reachedDay
	reachedPeak
	reachedProfit
	reachedEnd
)

func (f *figures) reach(kind int) { f.reached[kind]++ }

// roleResult is one role's trading result.
type roleResult struct {
	tally.Strategy
	others
	fills   int
	filled  exchange.Quantity // of all fills, on both sides
	paid    exchange.Amount   // funding so far
	counted bool              // its results began before its first trade
	fresh   bool              // and before the first trade in its market
	trip    *big.Rat          // its net result at the opening of its position
	least   *big.Rat          // the smallest profit or loss of a position that ended; nil for none
	held    int64             // its position at the last journalled result
	losses  int               // consecutive losing positions
	opened  bool              // opened since its last result showed it flat
	unsure  bool              // a position may have ended unseen: losses cannot be compared
}

// marketFigures is the state of knowledge about one market's fills.
type marketFigures struct{ filledMS int64 } // time of the last fill or payment

// These bound the comparison. Mean prices are cut at 18 places, entry prices for limits at the symbol's.
var (
	hair = big.NewRat(1, 1_000_000)
	cent = big.NewRat(1, 100)
)

// oldPriceMS is the maximum age of a price compared with the account's data; within that time prices move
// less than the tolerances.
const oldPriceMS = 5_000

func newFigures(w *world) *figures {
	f := &figures{w: w, shares: make([]roleResult, len(w.portfolio.roles)), curves: make([]curve, len(w.portfolio.roles)+1)}
	free, frozen := w.venue.x.Balance(trader, "USDT")
	f.start = [2]*big.Rat{ratOf(w.venue.x.Money(trader).Wallet), new(big.Rat).Add(ratOf(free), ratOf(frozen))}
	f.attribution = newAttribution(f)
	return f
}

// ratOf parses the text form of an amount.
func ratOf(a exchange.Amount) *big.Rat {
	r, ok := new(big.Rat).SetString(a.String())
	if !ok {
		panic("simulation: " + a.String() + " is no number")
	}
	return r
}

func fraction(units int64, scale int) *big.Rat {
	return new(big.Rat).SetFrac(big.NewInt(units), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
}

// filled records a fill of the account; own is true for botd's orders.
func (f *figures) filled(h *held, fill *sim.Fill, own bool) {
	f.markets[fill.Market-1].filledMS = f.w.nowMS
	if !own && fill.Market == exchange.Futures {
		f.others++
	}
	for n := range f.w.portfolio.roles {
		if s := &f.shares[n]; own && f.w.portfolio.roles[n].key == h.key {
			if s.Quantity.Sign() == 0 && s.held == 0 {
				s.trip, s.unsure, s.opened = s.Net(), s.unsure || s.opened, true
			}
			s.fills++
			s.filled += fill.Quantity
			f.attribution.filled(n, fill, h.rules)
			one := &tally.Fill{Buy: fill.Side == exchange.Buy, Price: fraction(int64(fill.Price), h.rules.PriceScale),
				Quantity: fraction(int64(fill.Quantity), h.rules.QuantityScale), Fee: ratOf(fill.Fee), FeeInBase: fill.FeeAsset == h.rules.Base}
			if h.key.Market == exchange.Futures {
				s.Add(one)
				continue
			}
			s.addFill(&s.Strategy, one, restOf(h.rules))
		}
	}
}

// observe records payments of funding and the wallet after them.
func (f *figures) observe() {
	for n := range f.shares {
		s, key := &f.shares[n], f.w.portfolio.roles[n].key
		if key.Market != exchange.Futures {
			continue
		}
		if paid := f.w.venue.x.FundingPaid(trader, key.Name); paid != s.paid {
			s.Pay(ratOf(paid.Sub(s.paid)))
			s.paid, f.markets[exchange.Futures-1].filledMS = paid, f.w.nowMS
		}
	}
	f.attribution.observe()
	f.value()
}

// booted begins a new life of the process.
func (f *figures) booted() {
	f.roundMS, f.rounds, f.compared = 0, 0, 0
	f.attribution.booted()
	for n := range f.shares {
		s := &f.shares[n]
		last := f.w.daemon.machine.Tracker().Watch(f.w.portfolio.roles[n].name).Result()
		s.unsure = s.unsure || int64(last.Position) != s.held // the last result was not durable
	}
}

// rounded records the start of a complete round. The round's length is unknown if the clock was set during it.
func (f *figures) rounded(durationMS int64) {
	if f.error == f.w.daemon.clockError {
		f.roundMS = f.w.nowMS - durationMS
		f.rounds++
	}
	f.error = f.w.daemon.clockError
}

// compare compares the known figures.
func (f *figures) compare() {
	w := f.w
	tracker := w.daemon.machine.Tracker()
	for n := range f.shares {
		f.follow(n, tracker)
	}
	markets := [2]exchange.Market{exchange.Futures, exchange.Spot}
	known := [2]bool{f.known(markets[0], tracker), f.known(markets[1], tracker)}
	if f.rounds == f.compared {
		return // results change only with rounds
	}
	f.compared = f.rounds
	whole := known[0] && known[1]
	for n, market := range markets {
		if known[n] {
			f.results(market, tracker)
		}
	}
	if whole && w.failure == nil {
		f.status(tracker)
	}
}

// follow begins to count a role when its results begin, and records the positions that ended before its results
// were journalled: positions that begin and end between two rounds are one to botd.
func (f *figures) follow(n int, tracker *reconcile.Tracker) {
	s, role := &f.shares[n], &f.w.portfolio.roles[n]
	result := tracker.Watch(role.name).Result()
	if !tracker.Watch(role.name).Known() {
		s.counted, s.fresh, s.held = false, false, 0
		return
	}
	if !s.counted && s.Value.Sign() == 0 {
		s.counted, s.fresh, s.trip = true, f.markets[role.key.Market-1].filledMS == 0, new(big.Rat)
	}
	before := s.held
	if s.held = int64(result.Position); s.held == before {
		return
	}
	s.opened = s.held != 0
	quiet := f.w.nowMS-f.markets[role.key.Market-1].filledMS > f.w.bounds.StalenessMS
	s.unsure = s.unsure || !quiet || fraction(s.held, f.w.venue.held[role.key].rules.QuantityScale).Cmp(&s.Quantity) != 0
	if before == 0 || s.held != 0 && before > 0 == (s.held > 0) {
		return
	}
	made := new(big.Rat).Sub(s.Net(), s.trip)
	if size := new(big.Rat).Abs(made); s.least == nil || size.Cmp(s.least) < 0 {
		s.least = size
	}
	switch made.Sign() {
	case 1:
		s.losses = 0
	case -1:
		s.losses++
	}
	if most := f.w.limits.strategy.MaxLosingStreak; most > 0 && s.losses >= most {
		s.losses = 0 // the strategy cools down
	}
	s.trip = s.Net()
}

// known reports whether botd knows all fills of a market, which are its own, and the wallet after them, and has included both in its results. A
// round that began later than the maximum age of a read after the last fill reads nothing from before that fill.
func (f *figures) known(market exchange.Market, tracker *reconcile.Tracker) bool {
	m := &f.markets[market-1]
	if f.roundMS == 0 || m.filledMS != 0 && f.roundMS-f.w.bounds.StalenessMS <= m.filledMS || f.disturbed(market, tracker) {
		return false
	}
	for n := range f.w.portfolio.roles {
		role := &f.w.portfolio.roles[n]
		if w := tracker.Watch(role.name); role.key.Market == market && (w.Traded() != 0 || w.Awaits()) {
			return false
		}
	}
	if market == exchange.Futures {
		return tracker.Account().WalletBalance == f.w.venue.x.Money(trader).Wallet && f.attribution.compared()
	}
	free, frozen := f.w.venue.x.Balance(trader, "USDT")
	balance := tracker.Balance("USDT")
	return balance.Free.Add(balance.Frozen) == free.Add(frozen)
}

// disturbed reports whether others traded a market, a journal was restored, or the effect of an order is uncertain.
func (f *figures) disturbed(market exchange.Market, tracker *reconcile.Tracker) bool {
	w := f.w
	if w.stats.Faults[OldBackup] > 0 {
		return true
	}
	for id, a := range w.venue.placed {
		if a.order.Market == market && (w.inspector.guessed[id] || w.inspector.booked[id] != a.filled) {
			return true
		}
	}
	for n := range w.inspector.watched {
		watch := &w.inspector.watched[n]
		key := watch.role.key
		state := tracker.Symbol(key)
		if key.Market == market && (watch.held.touchedMS != 0 || watch.role.absent || state.Quarantine() != "" || state.Contradicted() != "" ||
			w.daemon.machine.Blind(key) || w.inspector.outcomeUncertain(tracker, key)) {
			return true
		}
	}
	return false
}

// results compares the values that limits use: positions, results and streaks.
func (f *figures) results(market exchange.Market, tracker *reconcile.Tracker) {
	w := f.w
	sum, made, all := new(big.Rat), new(big.Rat), f.onFutures()
	for n := range f.shares {
		s, watch := &f.shares[n], &w.inspector.watched[n]
		if watch.role.key.Market != market {
			continue
		}
		if !s.counted || tracker.Watch(watch.role.name).Traded() != 0 { // the wallet after those trades is not read yet
			return
		}
		result := ratOf(tracker.Watch(watch.role.name).Result().Result)
		if market == exchange.Spot {
			f.near("the result of "+watch.role.name, f.cash(s), result, new(big.Rat).Add(cent, &s.either))
			f.reach(reachedSpot)
			continue
		}
		rules := watch.held.rules
		f.near("the position of "+watch.role.name, &s.Quantity, fraction(int64(tracker.Symbol(watch.role.key).Known()), rules.QuantityScale), hair)
		sum.Add(sum, result)
		made.Add(made, s.Net())
	}
	if money := w.venue.x.Money(trader); market == exchange.Spot || all == 0 || !money.Insurance.IsZero() || tracker.Watch("").Wallet() != money.Wallet {
		return
	}
	f.near("the result of all strategies on futures", made, sum, hair) // strategies share one wallet's results by estimates
	for n := range f.shares {
		s, role := &f.shares[n], w.inspector.watched[n].role
		if role.key.Market != market || s.unsure || all > 1 && !f.attribution.decides(n, s.least) {
			continue
		}
		f.reach(reachedStreak)
		if have := tracker.Watch(role.name).Losses(); have != s.losses {
			w.fail("figures", "positions of %s that lost in a row: want %d by the fills, have %d", role.name, s.losses, have)
		}
	}
}

// onFutures returns the number of strategies on futures.
func (f *figures) onFutures() (count int) {
	for n := range f.w.portfolio.roles {
		if f.w.portfolio.roles[n].key.Market == exchange.Futures {
			count++
		}
	}
	return count
}

// cash returns a spot strategy's result for limits, with the fee of a sale at the configured rate.
func (f *figures) cash(s *roleResult) *big.Rat {
	cash := new(big.Rat).Add(&s.Cash, &s.Fees)
	return cash.Sub(cash, new(big.Rat).Mul(&s.SoldFor, fraction(takerFee, 8)))
}

// status compares the values of API, metrics and pages: each strategy's equity and profit, the account's equity and its day.
func (f *figures) status(tracker *reconcile.Tracker) {
	w := f.w
	status := w.daemon.machine.Status()
	total, lent, slack, traded := new(big.Rat), new(big.Rat), new(big.Rat).Set(cent), map[exchange.Market]bool{}
	fresh, alone := true, f.onFutures() == 1
	for n := range f.shares {
		s, watch := &f.shares[n], &w.inspector.watched[n]
		key, rules := watch.role.key, watch.held.rules
		if !traded[key.Market] {
			traded[key.Market] = true
			total.Add(total, f.start[key.Market-1])
		}
		fresh = fresh && s.fresh
		price := fraction(int64(tracker.Symbol(key).Price()), rules.PriceScale)
		if key.Market == exchange.Futures && s.Quantity.Sign() != 0 && tracker.AccountMS()-tracker.Symbol(key).LastMS() > oldPriceMS {
			fresh = false // the account uses a later mark than any price that could be read
		}
		worth, bound := s.worth(key.Market, price), f.slack(n, tracker.Symbol(key).Price())
		lent.Add(lent, &s.proceeds)
		total.Add(total, worth)
		slack.Add(slack, bound).Add(slack, new(big.Rat).Mul(&s.Value, big.NewRat(1, 100))) // at the marks of two moments
		symbol := tracker.Symbol(key)
		if old := symbol.LastMS() < w.daemon.bootMS && !symbol.Quoted(); s.Quantity.Sign() != 0 && (price.Sign() == 0 || old || !symbol.Read()) {
			fresh = false // since its start, or the strategy's return, it has read no price or not the position: no limit uses the value shown
			continue
		}
		for k := range status.Strategies {
			if t := &status.Strategies[k]; t.Name == watch.role.name && s.fresh && (key.Market == exchange.Spot || alone || !f.attribution.lost) {
				bound.Add(bound, cent).Add(bound, &f.attribution.bound[n])
				want := new(big.Rat).Add(f.start[key.Market-1], worth)
				f.near("the equity of "+t.Name, want, ratOf(t.Own), bound)
				f.reach(reachedEquity)
				f.day(n, tracker.Watch(t.Name).Day(), t.Own, want, bound)
			}
		}
	}
	if !fresh || status.Total.IsZero() {
		return
	}
	f.near("the equity of the account", total.Add(total, lent), ratOf(status.Total), slack)
	f.reach(reachedTotal)
	f.day(len(f.shares), status.Day, status.Total, total, slack)
	if status.Day.StartMS != 0 && f.w.seed < calendarFrom { // the others begin another day
		begin := new(big.Rat)
		for market := range traded {
			begin.Add(begin, f.start[market-1])
		}
		f.near("the equity that the day began with", begin, ratOf(status.Day.Equity), slack) // read at the first time that all markets were readable
	}
	f.profits(&status)
}

// profits compares the ledger's result of each strategy, if it has booked the present wallets since before the
// first trade: no entry contains a fee from before the ledger began.
func (f *figures) profits(status *engine.Status) {
	w := f.w
	have := map[exchange.Market]*big.Rat{exchange.Futures: new(big.Rat), exchange.Spot: new(big.Rat)}
	held, begun := map[string]*big.Rat{}, map[exchange.Market]*big.Rat{exchange.Futures: new(big.Rat), exchange.Spot: new(big.Rat)}
	for _, b := range status.Ledger {
		if b.Account == ledger.Transferred && b.Asset == "USDT" {
			begun[b.Symbol.Market].Sub(begun[b.Symbol.Market], ratOf(b.Amount))
		}
		if b.Account == ledger.Wallet && b.Asset == "USDT" {
			have[b.Symbol.Market].Add(have[b.Symbol.Market], ratOf(b.Amount))
		}
		if b.Account == ledger.Holding {
			held[b.Strategy] = ratOf(b.Amount)
		}
	}
	free, frozen := w.venue.x.Balance(trader, "USDT")
	booked := map[exchange.Market]bool{}
	for n, wallet := range [2]*big.Rat{ratOf(w.venue.x.Money(trader).Wallet), new(big.Rat).Add(ratOf(free), ratOf(frozen))} {
		market := [2]exchange.Market{exchange.Futures, exchange.Spot}[n]
		booked[market] = have[market].Cmp(wallet) == 0 && begun[market].Cmp(f.start[n]) == 0
	}
	profits := profit.Of(status)
	fees, paid, funding, received := new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat)
	for n := range f.shares {
		s, role := &f.shares[n], w.inspector.watched[n].role
		p := profits[role.name]
		switch {
		case !booked[role.key.Market]:
		case role.key.Market == exchange.Futures:
			f.reach(reachedProfit)
			f.near("what "+role.name+" realized", &s.Realized, ratOf(p.Realized), hair)
			funding.Add(funding, &s.Funding)
			received.Add(received, ratOf(p.Funding))
			f.near("the net result of "+role.name, ratOf(p.Realized.Sub(p.Fees).Sub(p.Funding)), ratOf(p.Net), hair)
			fees.Add(fees, &s.Fees)
			paid.Add(paid, ratOf(p.Fees))
		default:
			cost := held[role.name]
			if cost == nil {
				cost = new(big.Rat)
			}
			f.near("the cash flow of "+role.name, &s.Cash, new(big.Rat).Sub(ratOf(p.Net), cost), cent)
		}
	}
	if booked[exchange.Futures] {
		if funding.Sign() == 0 { // the wallet does not separate fees from funding, or one strategy from another
			f.near("the fees of all strategies on futures", fees, paid, hair)
		}
		f.near("the fees and the funding of all strategies on futures", fees.Add(fees, funding), paid.Add(paid, received), hair)
	}
}

// near checks that two figures are equal within a bound.
func (f *figures) near(what string, want, have, within *big.Rat) {
	if off := new(big.Rat).Sub(want, have); off.Abs(off).Cmp(within) > 0 {
		f.w.fail("figures", "%s: want %s by the fills, have %s", what, want.FloatString(8), have.FloatString(8))
	}
}
