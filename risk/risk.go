// Package risk holds the rules; the only maker of Approved; fails closed.
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
	MaxGrossExposure   exchange.Rate     // sum of |notional| as a multiple of futures equity
	MaxDailyLoss       exchange.Rate     // share of the equity at UTC midnight
	MaxDrawdown        exchange.Rate     // share of the highest equity
	MaxOpenOrders      int               // account: all; strategy: its own
	MaxOrdersPerMinute int               // placements
	PriceCollar        exchange.Rate     // how far a limit price may be through the last price
	MaxDataAgeMS       int64             // how old the last price may be for an opening
	MaxPosition        exchange.Quantity // strategy: base units, everything in flight counted
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
	Strategy Limits        // the strategy's own, tighter
	TakerFee exchange.Rate // spot: reserved
	Blind    bool          // reads have failed for too long: nothing opens
}

// Gate is the account's gate. It counts placements a minute; the rest of what it
// needs comes with each check.
type Gate struct {
	limits  Limits
	minutes []int64 // times of placements in the last minute
	owners  []string
}

// NewGate returns a gate with the account's limits.
func NewGate(limits Limits) *Gate { return &Gate{limits: limits} }

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
		{"price_collar", (*Gate).collar},
		{"reduce_only", (*Gate).reduceOnly},
		{"reduce_only_sum", (*Gate).reduceOnlySum},
		{"close_position", (*Gate).closePosition},
		{"balance", (*Gate).balance},
		{"order_count", (*Gate).orderCount},
	}
	opens = []rule{
		{"halted", (*Gate).halted},
		{"unsettled", (*Gate).unsettled},
		{"data_age", (*Gate).dataAge},
		{"opposite", (*Gate).opposite},
		{"leverage", (*Gate).leverage},
		{"margin", (*Gate).margin},
		{"max_position", (*Gate).maxPosition},
		{"max_gross_exposure", (*Gate).grossExposure},
		{"max_daily_loss", (*Gate).dailyLoss},
		{"max_drawdown", (*Gate).drawdown},
		{"max_open_orders", (*Gate).openOrders},
		{"max_orders_per_minute", (*Gate).ordersPerMinute},
	}
)

// Rules returns the names of all rules, for metrics and documents.
func Rules() []string {
	var all []string
	for _, r := range append(append([]rule{}, always...), opens...) {
		all = append(all, r.name)
	}
	return append(all, "max_leverage")
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
	g.count(intent, facts.NowMS)
	return Approved{*intent, true}, nil
}

// count remembers a placement for the rate limit.
func (g *Gate) count(intent *reconcile.Intent, nowMS int64) {
	g.minutes, g.owners = append(g.minutes, nowMS), append(g.owners, intent.Strategy)
	old := 0
	for old < len(g.minutes) && nowMS-g.minutes[old] >= 60_000 {
		old++
	}
	g.minutes, g.owners = append(g.minutes[:0], g.minutes[old:]...), append(g.owners[:0], g.owners[old:]...)
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
