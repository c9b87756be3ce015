package risk

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// TestCheckExplainAndUtilizationAgreeOnRandomStates checks random intents against random limits, positions,
// orders, losses and breaches. Explain reaches Check's decision on every intent, with figures that this test
// computes itself, and Utilization shows the same limits.
func TestCheckExplainAndUtilizationAgreeOnRandomStates(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	property := func(r *rapid.T) {
		s := drawState(t, r)
		intent := s.drawIntent(r)
		approved, rejection := s.gate.Check(&intent, &s.facts)
		verdicts := s.gate.Explain(&intent, &s.facts)
		s.wantSameDecision(r, rejection, verdicts)
		if rejection == nil && approved.Intent().Order != intent.Order {
			r.Fatalf("approved something else: want %+v, have %+v", intent.Order, approved.Intent().Order)
		}
		utilization := map[string]Utilization{}
		for _, u := range s.gate.Utilization(&s.account) {
			utilization[u.Rule+" "+u.Scope] = u
			c := s.counted(nil, u.Rule, u.Strategy)
			if c.unused {
				u.Value = "0" // without an order nothing of the limit is used
			}
			if !same(c.value, numberIn(r, u.Value)) || !c.most.Equal(numberIn(r, u.Limit)) {
				r.Fatalf("%s of %s: want %s of %s in use, have %+v", u.Rule, u.Scope, c.value, c.most, u)
			}
		}
		for _, v := range verdicts {
			if limit := LimitNamed(v.Rule); limit != nil && v.Scope != "" {
				s.wantFigures(r, &intent, limit, &v, utilization[v.Rule+" "+v.Scope])
				seen[v.Rule+" "+strings.Fields(v.Scope)[0]+" "+v.Outcome.String()]++
			}
		}
	}
	var missing []string
	for range 1_000 { // until every limit has passed and refused, of the account and of a strategy
		if rapid.Check(t, property); t.Failed() {
			return
		}
		if missing = outcomesMissing(seen); len(missing) == 0 {
			return
		}
	}
	t.Errorf("no random state shows %v", missing)
}

// outcomesMissing returns the combinations of limit, scope and outcome that no state has shown yet.
func outcomesMissing(seen map[string]int) (missing []string) {
	scopes := map[MeasuredOn][]string{OfAccount: {"account", "strategy"}, OfMarket: {"account", "strategy"}, OfSymbol: {"symbol", "strategy"},
		OfStrategy: {"strategy"}}
	for i := range limitTable {
		l := &limitTable[i]
		for _, scope := range scopes[l.Scope] {
			for _, outcome := range []string{"passed", "refused"} {
				if key := l.Name + " " + scope + " " + outcome; l.Of == "" && seen[key] == 0 {
					missing = append(missing, key)
				}
			}
		}
	}
	return missing
}

// state is a random state of one account, as lists from which the test computes figures.
type state struct {
	*table
	account Account
	limits  map[string]*Limits // account, strategy one

	orders  []live
	foreign exchange.Quantity // of resting foreign openings, buys
	sends   map[string]int
	losses  map[string]int
	equity  map[string][3]int64 // of the account (empty) and of one: day's start, peak, current
}

type live struct {
	strategy string
	quantity exchange.Quantity
}

func drawState(t *testing.T, r *rapid.T) *state {
	few := func(name string, values ...int) int { return rapid.SampledFrom(values).Draw(r, name) }
	account, own := drawLimits(r, ""), drawLimits(r, "one")
	breaches := make([]string, 6)
	for i := range limitTable {
		if l := &limitTable[i]; l.latch != nil {
			breaches = append(breaches, l.Name)
		}
	}
	b := newTable(t, account)
	s := &state{table: b, limits: map[string]*Limits{"": &account, "one": &own}, sends: map[string]int{},
		losses: map[string]int{"": few("losses", 0, 2, 5), "one": few("own losses", 0, 2, 5)}, equity: map[string][3]int64{}}
	b.facts.Strategy, b.facts.NowMS = own, 100_000
	see(b.state, func(o *seen) {
		o.Leverage, o.LastMS = few("leverage", 3, 7, 12), int64(100_000-few("age", 100, 2_000, 2_001, 9_000))
	})
	see(b.state, func(o *seen) { o.Position = exchange.Quantity(few("position", 0, 0, 50, 200)) })
	b.ignore(exchange.Quantity(few("held by others", 0, 0, 100)))
	if s.foreign = exchange.Quantity(few("foreign opening", 0, 0, 30)); s.foreign != 0 {
		see(b.state, func(o *seen) {
			o.Foreign = []exchange.Order{{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Price: 49_000e8,
				Quantity: s.foreign}}
		})
	}
	for i := range few("orders", 0, 0, 1, 2, 4) {
		o := live{rapid.SampledFrom([]string{"one", "two"}).Draw(r, "owner"), exchange.Quantity(few("quantity", 1, 40))}
		s.orders = append(s.orders, o)
		s.rest(fmt.Sprint("o", i), o)
	}
	for i, age := range []int{60_000, 59_999, 10}[few("sent", 3, 2, 1, 0):] {
		strategy := rapid.SampledFrom([]string{"one", "two"}).Draw(r, "sender")
		b.sent(fmt.Sprint("s", i), strategy, b.facts.NowMS-int64(age))
		if age < 60_000 {
			s.sends[strategy]++
		}
	}
	b.tracker.Apply(&record.Record{Body: record.Accounted{Losses: s.losses[""]}})
	b.tracker.Apply(&record.Record{Strategy: "one", Symbol: bitcoin, Body: record.Result{Losses: s.losses["one"]}})
	for _, strategy := range []string{"", "one"} {
		start := int64(few("start", 10_000, 9_000))
		e := [3]int64{start, start + int64(few("peak above", 0, 1_000)), int64(few("equity", 8_400, 8_900, 9_500, 11_000))}
		s.equity[strategy] = e
		b.tracker.Apply(&record.Record{Strategy: strategy, Body: record.Day{StartMS: 1, Equity: exchange.AmountOf(e[0]), Peak: exchange.AmountOf(e[1])}})
		if rule := rapid.SampledFrom(breaches).Draw(r, "breach"); rule != "" {
			b.tracker.Apply(&record.Record{Strategy: strategy, Body: record.Breach{Rule: rule, Reason: "lost before",
				UntilMS: int64(few("until", 0, 99_999, 100_001))}})
		}
	}
	b.facts.Equity, b.facts.Own = exchange.AmountOf(s.equity[""][2]), exchange.AmountOf(s.equity["one"][2])
	s.account = Account{NowMS: b.facts.NowMS, Tracker: b.tracker, Equity: b.facts.Equity, Known: true,
		Markets:    []MarketFacts{{exchange.Futures, b.facts.Market}},
		Strategies: []StrategyFacts{{"one", b.state, own, b.facts.Own}}}
	return s
}

// rest puts a strategy's acknowledged opening, sent long ago, into the tracker.
func (s *state) rest(id string, o live) {
	order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Price: 49_000e8,
		Quantity: o.quantity, ClientOrderID: id}
	s.tracker.Apply(&record.Record{Strategy: o.strategy, Symbol: bitcoin, ClientOrderID: id, Body: record.Sending{Order: order, Purpose: placement.Order}})
	s.tracker.Apply(&record.Record{ClientOrderID: id, Body: record.Acknowledged{OrderID: 5}})
}

func (s *state) drawIntent(r *rapid.T) reconcile.Intent {
	quantity := exchange.Quantity(rapid.SampledFrom([]int{1, 60, 100, 300}).Draw(r, "order quantity"))
	intent := rapid.SampledFrom([]reconcile.Intent{
		entry(quantity), limit(50_500e8, quantity), limit(50_500.1e8, quantity), limit(49_000e8, quantity), exit(quantity, exchange.Sell), stop(49_000e8),
		{Purpose: placement.Leverage, Leverage: 8}, {Purpose: placement.Cancel, OrderID: 5},
	}).Draw(r, "intent")
	intent.Strategy, intent.Order.Market, intent.Order.Symbol = "one", exchange.Futures, "BTC-USDT"
	return intent
}

func (s *state) wantSameDecision(r *rapid.T, rejection *Rejection, verdicts []Verdict) {
	var refused *Verdict
	for i := range verdicts {
		v := &verdicts[i]
		switch {
		case refused != nil && v.Outcome != NotReached, refused == nil && v.Outcome == NotReached:
			r.Fatalf("want nothing reached after the first refusal and all before it, have %+v", verdicts)
		case v.Outcome == Rejected:
			refused = v
		}
	}
	if (rejection == nil) != (refused == nil) {
		r.Fatalf("Check refuses %v, Explain %+v", rejection, verdicts)
	}
	if rejection != nil && *rejection != (Rejection{refused.Rule, refused.Scope, refused.Value, refused.Limit, refused.Hint}) {
		r.Fatalf("Check refuses %+v, Explain %+v", rejection, refused)
	}
}

// wantFigures compares one verdict with the test's own figures, and with the limit as Utilization shows it.
func (s *state) wantFigures(r *rapid.T, intent *reconcile.Intent, l *Limit, v *Verdict, u Utilization) {
	strategy := ""
	if strings.HasPrefix(v.Scope, "strategy ") {
		strategy = "one"
	}
	breached := l.latch != nil && l.breach(&subject{nowMS: s.facts.NowMS, watch: s.tracker.Watch(strategy)}) != nil
	if breached != (u.State == StateBreached) {
		r.Fatalf("%s of %s: breached %t, Utilization %+v", v.Rule, v.Scope, breached, u)
	}
	if breached {
		if v.Outcome != Rejected || v.Value != "lost before" {
			r.Fatalf("%s of %s: want a breach to refuse, have %+v", v.Rule, v.Scope, v)
		}
		return
	}
	c := s.counted(intent, v.Rule, strategy)
	if c.unused {
		if v.Value != "" || v.Outcome != Passed {
			r.Fatalf("the limit does not bound such an intent, have %+v", v)
		}
		return
	}
	if !same(c.value, numberIn(r, v.Value)) {
		r.Fatalf("%s of %s: want %s, have %s", v.Rule, v.Scope, c.value, v.Value)
	}
	if have := v.Limit; !c.most.Equal(numberIn(r, have)) || u.Limit != have {
		r.Fatalf("limit %s of %s: want %s, have %s in Explain and %s in Utilization", v.Rule, v.Scope, c.most, have, u.Limit)
	}
	if fits := c.value.LessThanOrEqual(c.most) || c.latched; fits != (v.Outcome == Passed) {
		r.Fatalf("%s of %s: %s of %s, have %+v", v.Rule, v.Scope, c.value, c.most, v)
	}
}

// same reports whether a figure equals the displayed value: money to the cent, a time to the second.
func same(value, figure decimal.Decimal) bool {
	return value.Equal(figure) || value.Round(2).Equal(figure) || value.Round(0).Equal(figure)
}

func numberIn(r *rapid.T, text string) decimal.Decimal {
	first, _, _ := strings.Cut(text, " ")
	d, err := decimal.NewFromString(first)
	if err != nil {
		r.Fatalf("want a number, have %q", text)
	}
	return d
}
