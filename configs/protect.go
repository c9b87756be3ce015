package configs

import (
	"cmp"
	"fmt"
	"slices"

	"botd/exchange"
	"botd/strategy/overlay"
)

// ExitsConfig are the rules by which any strategy's position is left.
type ExitsConfig struct {
	TrailingDistance exchange.Rate // of the best price since the entry
	TrailingAfter    exchange.Rate // the profit at which it begins
	TimeLimitMS      int64
	Returns          []overlay.Return // by age, ascending
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
		enough := overlay.Return{AgeMS: age}
		returns.rate(entry.key.Value, &enough.Profit, -exchange.RateOne+1, 100*exchange.RateOne)
		e.Returns = append(e.Returns, enough)
	}
	slices.SortStableFunc(e.Returns, func(a, b overlay.Return) int { return cmp.Compare(a.AgeMS, b.AgeMS) })
	returns.done()
}

// EntryConfig is how positions are entered.
type EntryConfig struct {
	Order      string // market, limit, post_only
	PatienceMS int64
	Tries      int
	Then       string // market, give_up
}

// entry reads how positions are entered.
func (r *strategyReader) entry() {
	e := &r.into.Entry
	*e = EntryConfig{Order: "market", PatienceMS: 30 * second, Tries: 3, Then: "market"}
	s := r.section.section("entry")
	s.choice("order", &e.Order, "market", "limit", "post_only")
	s.duration("patience", &e.PatienceMS, second, day)
	s.whole("tries", &e.Tries, 1, 1000)
	s.choice("then", &e.Then, "market", "give_up")
	s.done()
	if e.Order == "market" {
		if len(s.entries) > 0 && s.value("order") == nil {
			s.warn(s.entries[0].value, "write order: post_only or order: limit", "entry says how to wait, but enters at market")
		}
		return
	}
	if node := s.value("order"); e.Order == "post_only" && r.into.Market == exchange.Spot {
		s.wrong(node, "write order: limit", "spot has no post-only orders")
	}
	if r.into.Schedule.Candle() && int64(r.into.Interval) > e.PatienceMS {
		s.warn(s.value("order"), "add schedule: \"@every 5s\"", "the order is looked at once a candle of %s, not every %s", r.into.Interval, durationText(e.PatienceMS))
	}
}

func (e EntryConfig) outline() outline {
	o := newOutline()
	if e.Order != "market" && e.Order != "" {
		o.set("order", e.Order)
		o.set("patience", durationText(e.PatienceMS))
		o.setWhole("tries", e.Tries)
		o.set("then", e.Then)
	}
	return o
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
