package configs

import (
	"cmp"
	"fmt"
	"slices"

	"botd/exchange"
	"botd/strategy/exits"
)

// ExitsConfig are the rules by which any strategy's position is left.
type ExitsConfig struct {
	TrailingDistance exchange.Rate // of the best price since the entry
	TrailingAfter    exchange.Rate // the profit at which it begins
	TimeLimitMS      int64
	Returns          []exits.Return // by age, ascending
	CooldownMS       int64
}

const longestHold = 365 * day

// exits reads the rules beside stop_loss and take_profit.
func (r *strategyReader) exits(s *section) {
	e := &r.into.Exits
	trailing := s.section("trailing")
	trailing.rate("distance", &e.TrailingDistance, exchange.RateOne/10_000, exchange.RateOne-1)
	trailing.rate("after", &e.TrailingAfter, 0, 100*exchange.RateOne)
	trailing.done()
	if len(trailing.entries) > 0 && trailing.value("distance") == nil {
		s.fail(trailing.line, "how far below the best price the stop follows, such as 1%", "protect.trailing.distance is missing")
	}
	s.duration("time_limit", &e.TimeLimitMS, minute, longestHold)
	s.duration("cooldown", &e.CooldownMS, second, longestHold)
	returns := s.section("returns")
	returns.learn("AGE", Key{Kind: KindShare, Any: true})
	for _, entry := range returns.entries {
		returns.known = append(returns.known, entry.key.Value)
		age, err := parseDuration(entry.key.Value)
		if err != nil || age > longestHold {
			returns.report(Error, entry.key.Line, entry.key.Column, "write age: profit, such as 4h: 2%", fmt.Sprintf("protect.returns: %q is no age", shortened(entry.key.Value)))
			continue
		}
		enough := exits.Return{AgeMS: age}
		returns.rate(entry.key.Value, &enough.Profit, -exchange.RateOne+1, 100*exchange.RateOne)
		e.Returns = append(e.Returns, enough)
	}
	slices.SortStableFunc(e.Returns, func(a, b exits.Return) int { return cmp.Compare(a.AgeMS, b.AgeMS) })
	returns.done()
}

// outline adds the rules to the effective configuration's protect block.
func (e ExitsConfig) outline(protect outline) {
	trailing := newOutline()
	if e.TrailingDistance != 0 {
		trailing.set("distance", percent(e.TrailingDistance))
		trailing.set("after", percent(e.TrailingAfter))
	}
	protect.put("trailing", trailing)
	if e.TimeLimitMS > 0 {
		protect.set("time_limit", durationText(e.TimeLimitMS))
	}
	returns := newOutline()
	for _, enough := range e.Returns {
		returns.set(durationText(enough.AgeMS), percent(enough.Profit))
	}
	protect.put("returns", returns)
	if e.CooldownMS > 0 {
		protect.set("cooldown", durationText(e.CooldownMS))
	}
}
