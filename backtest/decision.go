package backtest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"botd/exchange"
	"botd/exchange/tape"
	"botd/runtime/engine"
	"botd/strategy"
)

// decision is a plan that a strategy put into force.
type decision struct {
	strategy string
	atMS     int64
	plan     string
}

// decide runs a configuration and returns its strategies' decisions. Decisions depend on fills but not on costs, so
// the run uses the configured market.
func decide(ctx context.Context, config Config) ([]decision, error) {
	var all []decision
	config.Progress, config.Record, config.Note, config.Inputs, config.decided = nil, nil, nil, nil, &all
	_, err := config.played(ctx)
	return all, err
}

// addDecision adds a decision that the engine reports.
func (c *Config) addDecision(n *engine.Note) {
	switch fact := n.Fact.(type) {
	case engine.NoteDecision:
		*c.decided = append(*c.decided, decision{n.Strategy, n.AtMS, planText(n.Symbol, fact.Plan)})
	case engine.NoteStrategyFailed:
		*c.decided = append(*c.decided, decision{n.Strategy, n.AtMS, "panicked: " + fact.Reason})
	}
}

// repeatable returns an error unless every leg can make its strategy again.
func (c *Config) repeatable() error {
	for i := range c.Legs {
		if c.Legs[i].Make == nil {
			return fmt.Errorf("strategy %s cannot be made again", c.Legs[i].Strategy.Name)
		}
	}
	return nil
}

// decisions returns the decisions over all candles of a configuration with repeatable strategies.
func (c *Config) decisions(ctx context.Context) ([]decision, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if err := c.repeatable(); err != nil {
		return nil, err
	}
	return decide(ctx, *c)
}

// between returns the configuration over the candles within two times. It omits legs without any.
func (c Config) between(fromMS, toMS int64) Config {
	legs := c.Legs
	c.Legs = nil
	for _, leg := range legs {
		candles := leg.Tape.Candles
		from, _ := slices.BinarySearch(candles.OpenMS, fromMS)
		to, _ := slices.BinarySearch(candles.OpenMS, toMS-int64(candles.Interval)+1)
		if from >= to {
			continue
		}
		cut := *leg.Tape
		cut.Candles = candles.Slice(from, to)
		leg.Tape = &tape.Tape{Symbol: cut.Symbol, Candles: cut.Candles, SHA256: cut.SHA256}
		leg.Strategy.Others = slices.Clone(leg.Strategy.Others)
		for i := range leg.Strategy.Others {
			other := &leg.Strategy.Others[i].Candles
			from, _ := slices.BinarySearch((*other).OpenMS, fromMS)
			to, _ := slices.BinarySearch((*other).OpenMS, toMS-int64(candles.Interval)+1)
			*other = (*other).Slice(from, max(from, to))
		}
		c.Legs = append(c.Legs, leg)
	}
	return c
}

// Within returns the configuration over the candles from one time until before another; 0 means no bound. It keeps
// the warnings about the files, and only the gaps within the range.
func (c Config) Within(fromMS, toMS int64) (Config, error) {
	if fromMS == 0 && toMS == 0 {
		return c, nil
	}
	if toMS == 0 {
		toMS = math.MaxInt64
	}
	cut := c.between(fromMS, toMS)
	for i := range c.Legs {
		whole := c.Legs[i].Tape
		if i >= len(cut.Legs) || cut.Legs[i].Tape.Symbol != whole.Symbol {
			n := whole.Candles.Len()
			if n == 0 {
				return c, nil // the reading of the candles reports it
			}
			return c, fmt.Errorf("no candle of %s lies there: they are from %s to %s", whole.Symbol.Name,
				utc(whole.Candles.OpenMS[0]).Format(time.RFC3339), utc(whole.Candles.CloseMS(n-1)).Format(time.RFC3339))
		}
		part := cut.Legs[i].Tape
		part.Repaired, part.Warnings = whole.Repaired, whole.Warnings
		for _, hole := range whole.Holes {
			if hole.AfterMS >= fromMS && hole.BeforeMS < toMS {
				part.Holes = append(part.Holes, hole)
			}
		}
	}
	return cut, nil
}

// planText returns a plan in words. Equal plans have equal texts.
func planText(s *exchange.Symbol, p *strategy.Plan) string {
	var words []string
	add := func(format string, arguments ...any) { words = append(words, fmt.Sprintf(format, arguments...)) }
	switch t := p.Target; t.Kind {
	case strategy.ByQuantity:
		add("hold %s", s.QuantityDecimal(t.Quantity))
	case strategy.ByEquity:
		add("hold %s of equity", percent(t.Share))
	case strategy.ByQuote:
		add("hold %s USDT", t.Quote)
	}
	if p.Leverage != 0 {
		add("leverage %d", p.Leverage)
	}
	orders := func(what string, list []strategy.DesiredOrder, set bool) {
		if !set {
			return
		}
		add("%s", what)
		for _, w := range list {
			add("%s %s %s at %s", w.Key, w.Side, s.QuantityDecimal(w.Quantity), s.PriceDecimal(w.Price))
			if w.StopPrice != 0 {
				add("from %s", s.PriceDecimal(w.StopPrice))
			}
			if w.PostOnly {
				add("post only")
			}
		}
	}
	orders("orders", p.Orders, p.OrdersSet)
	orders("exits", p.Exits, p.ExitsSet)
	if d := p.Protection; d.Set {
		add("stop %s %s target %s %s", s.PriceDecimal(d.StopLoss.Price), percent(d.StopLoss.Share), s.PriceDecimal(d.TakeProfit.Price),
			percent(d.TakeProfit.Share))
	}
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, " ")
}
