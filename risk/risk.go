// Package risk checks every intent against the rules, is the only maker of Approved, and fails closed.
//
// A Gate checks one intent against the truth with everything in flight counted
// at its worst case. What it does not know, it refuses. Only reducing and
// protecting intents pass while something is uncertain.
package risk

import (
	"fmt"

	"botd/exchange"
	"botd/reconcile"
)

// Limits are the user's limits of an account or a strategy. Zero is no limit.
type Limits struct {
	MaxLeverage        int
	MaxGrossExposure   exchange.Rate // account: sum of |notional| of a market as a multiple of its equity; strategy: its own
	MaxSymbolExposure  exchange.Rate // |notional| of one symbol as a multiple of its market's equity
	MaxDailyLoss       Loss          // since UTC midnight
	MaxDrawdown        Loss          // from the highest equity
	MaxOpenOrders      int           // account: all; strategy: its own
	MaxOrdersPerMinute int           // placements
	PriceCollar        exchange.Rate // how far a limit price may be through the last price
	MaxDataAgeMS       int64         // how old the last price may be for an opening
	MaxLosingStreak    int           // positions that lost, one after the other
	CoolDownMS         int64         // how long entries wait after such a streak
	MaxPosition        exchange.Quantity
}

// Loss is a bound of a loss: a share of what it is measured from, or USDT.
type Loss struct {
	Share exchange.Rate
	USDT  exchange.Amount
}

// IsZero reports whether there is no bound.
func (l Loss) IsZero() bool { return l.Share == 0 && l.USDT.IsZero() }

// From returns the largest loss from an equity.
func (l Loss) From(equity exchange.Amount) exchange.Amount {
	if l.Share != 0 {
		return equity.MulRate(l.Share)
	}
	return l.USDT
}

// Watches reports whether a limit has to follow equity or results between intents.
func (l *Limits) Watches() bool {
	return !l.MaxDailyLoss.IsZero() || !l.MaxDrawdown.IsZero() || l.MaxLosingStreak != 0
}

// Refusal says which rule refused an intent, with its figures.
type Refusal struct {
	Rule  string // from Rules
	Value string // what the intent would be
	Limit string // what it may be
	Hint  string
}

// Error puts rule, value, limit and hint into one line.
func (r *Refusal) Error() string {
	return fmt.Sprintf("%s: %s, limit %s (%s)", r.Rule, r.Value, r.Limit, r.Hint)
}

// of names the rule, unless a part of it has a name of its own.
func (r *Refusal) of(rule string) *Refusal {
	if r.Rule == "" {
		r.Rule = rule
	}
	return r
}

// Approved is an intent that every rule let pass. Only a Gate makes one: the
// zero value panics when it is used.
type Approved struct {
	intent reconcile.Intent
	passed bool
}

// Intent returns what was approved; it panics on a value no gate made.
func (a Approved) Intent() reconcile.Intent {
	if !a.passed {
		panic("risk: an intent that no gate approved")
	}
	return a.intent
}

// Facts are what one check is made against.
type Facts struct {
	NowMS    int64
	Book     *reconcile.Book
	Truth    *reconcile.SymbolTruth
	Strategy Limits          // the strategy's own, tighter
	Market   exchange.Amount // equity of the order's market, for exposures
	Equity   exchange.Amount // of the account, all markets botd trades, for losses
	Own      exchange.Amount // of the strategy, when its limits watch it
	TakerFee exchange.Rate   // counted for what is in flight; on spot reserved
	Blind    bool            // reads have failed for too long: nothing opens
}

// Gate is the account's gate. What it needs comes with each check.
type Gate struct{ limits Limits }

// NewGate returns a gate with the account's limits.
func NewGate(limits Limits) *Gate { return &Gate{limits: limits} }

// The user's limits, by the names they are configured and counted under.
const (
	MaxLeverage        = "max_leverage"
	MaxGrossExposure   = "max_gross_exposure"
	MaxSymbolExposure  = "max_symbol_exposure"
	MaxPosition        = "max_position"
	MaxDailyLoss       = "max_daily_loss"
	MaxDrawdown        = "max_drawdown"
	MaxOpenOrders      = "max_open_orders"
	MaxOrdersPerMinute = "max_orders_per_minute"
	PriceCollar        = "price_collar"
	MaxDataAge         = "max_data_age"
	MaxLosingStreak    = "max_losing_streak"
)

// rule is one rule's name and check; nil means it has nothing against the intent.
type rule struct {
	name  string
	check func(*Gate, *reconcile.Intent, *Facts) *Refusal
}

// always are the rules for every placement, opens those for openings alone.
var (
	always = []rule{
		{"symbol", (*Gate).symbol},
		{"shape", (*Gate).shape},
		{"price", (*Gate).price},
		{"price_tick", (*Gate).priceTick},
		{"quantity_tick", (*Gate).quantityTick},
		{"notional", (*Gate).notional},
		{"stop_price", (*Gate).stopPrice},
		{PriceCollar, (*Gate).collar},
		{"reduce_only", (*Gate).reduceOnly},
		{"reduce_only_sum", (*Gate).reduceOnlySum},
		{"close_position", (*Gate).closePosition},
		{"balance", (*Gate).balance},
		{"order_count", (*Gate).orderCount},
	}
	opens = []rule{
		{"halted", (*Gate).halted},
		{"unsettled", (*Gate).unsettled},
		{MaxDataAge, (*Gate).dataAge},
		{"opposite", (*Gate).opposite},
		{"leverage", (*Gate).leverage},
		{"margin", (*Gate).margin},
		{MaxPosition, (*Gate).maxPosition},
		{MaxGrossExposure, (*Gate).grossExposure},
		{MaxSymbolExposure, (*Gate).symbolExposure},
		{MaxDailyLoss, (*Gate).dailyLoss},
		{MaxDrawdown, (*Gate).drawdown},
		{MaxLosingStreak, (*Gate).losingStreak},
		{MaxOpenOrders, (*Gate).openOrders},
		{MaxOrdersPerMinute, (*Gate).ordersPerMinute},
	}
)

// Rules returns the names of all rules, for metrics and documents.
func Rules() []string {
	var all []string
	for _, r := range append(append([]rule{}, always...), opens...) {
		all = append(all, r.name)
	}
	return append(all, MaxLeverage)
}

// Check lets an intent pass or says why not. A cancel always passes.
func (g *Gate) Check(intent *reconcile.Intent, facts *Facts) (Approved, *Refusal) {
	switch intent.Purpose {
	case reconcile.Cancel:
		if refusal := cancelable(facts); refusal != nil {
			return Approved{}, refusal
		}
		return Approved{*intent, true}, nil
	case reconcile.Leverage:
		if refusal := g.setLeverage(intent, facts); refusal != nil {
			return Approved{}, refusal
		}
		return Approved{*intent, true}, nil
	}
	for _, r := range always {
		if refusal := r.check(g, intent, facts); refusal != nil {
			return Approved{}, refusal.of(r.name)
		}
	}
	if intent.Purpose.Opens() {
		for _, r := range opens {
			if refusal := r.check(g, intent, facts); refusal != nil {
				return Approved{}, refusal.of(r.name)
			}
		}
	}
	return Approved{*intent, true}, nil
}

func refuse(value, limit any, hint string) *Refusal {
	return &Refusal{Value: fmt.Sprint(value), Limit: fmt.Sprint(limit), Hint: hint}
}

// tighter returns the smaller of two limits of which zero is none.
func tighter[T int | int64 | exchange.Rate | exchange.Quantity](a, b T) T {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
