package entries

import (
	"fmt"

	"botd/exchange"
	"botd/strategy"
)

// Conditions tells what the strategy decides by, then how far an entry under way is.
func (p *patient) Conditions(view *strategy.View) []strategy.Condition {
	var all []strategy.Condition
	if inner, tells := p.inner.(strategy.Conditional); tells {
		all = inner.Conditions(view)
	}
	d := &decision{patient: p, view: view, plan: &strategy.Plan{}}
	switch d.get(done) {
	case crossed:
		return append(all, strategy.Condition{Name: "entry", Value: "crossed at market after the last try"})
	case gaveUp:
		return append(all, strategy.Condition{Name: "entry", Value: "given up after the last try: it waits for another wish"})
	}
	if d.get(try) == 0 {
		return all
	}
	waited := view.NowMS - d.get(since)
	return append(all,
		strategy.Condition{Name: "tries to enter", Value: fmt.Sprint(d.get(try)), Wants: fmt.Sprint("of ", p.rules.Tries), Holds: true},
		strategy.Condition{Name: "order rests for", Value: fmt.Sprintf("%d s", waited/1000), Wants: fmt.Sprintf("at least %d s, then it is moved to the price", p.rules.PatienceMS/1000), Holds: waited >= p.rules.PatienceMS},
		strategy.Condition{Name: "at the price", Value: view.Symbol.PriceDecimal(exchange.Price(d.get(price))).String()})
}
