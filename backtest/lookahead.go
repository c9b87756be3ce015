package backtest

import (
	"context"
	"slices"
	"time"

	"botd/exchange"
)

// Lookahead is the result of comparing a run with runs on truncated data.
type Lookahead struct {
	Schema      int          `json:"schema"`
	OK          bool         `json:"ok"`
	Decisions   int          `json:"decisions"`  // of the run on all candles
	Cuts        int          `json:"cuts"`       // runs on truncated data
	Unexamined  []string     `json:"unexamined"` // strategies without a compared decision: the test shows nothing about them
	Differences []Difference `json:"differences"`
}

// Difference is a decision that depends on later candles.
type Difference struct {
	Strategy string    `json:"strategy"`
	At       time.Time `json:"at"`
	Cut      time.Time `json:"cut"`              // the end of the truncated data
	With     string    `json:"with" was:"whole"` // the decision with later candles available
	Without  string    `json:"without"`
}

// none stands for a missing decision.
const none = "no decision"

// FindLookahead runs the configuration on all candles, then on candles that end at cuts, and compares. Up to a cut
// the decisions must be equal, since the candles after it are unknown at that time. Half of the cuts lie where
// decisions were made, the others are spread evenly. A strategy that looks ahead decides differently, or fails,
// without the later candles. A strategy without a decision before the last cut was not examined, which proves
// nothing: then the result is not OK.
func FindLookahead(ctx context.Context, config Config, cuts int) (*Lookahead, error) {
	whole, err := config.decisions(ctx)
	if err != nil {
		return nil, err
	}
	found := &Lookahead{Schema: 1, Decisions: len(whole), Differences: []Difference{}}
	lastMS := int64(0) // the end of the compared decisions
	for done, cutMS := range config.cuts(whole, cuts) {
		if config.Progress != nil {
			config.Progress(done, cuts)
		}
		cutMS = config.closed(cutMS)
		cut := config.between(0, cutMS)
		if len(cut.Legs) == 0 {
			continue // no candle had closed
		}
		have, err := decide(ctx, cut.withOpens(&config, cutMS))
		if err != nil {
			return nil, err
		}
		found.Cuts++
		lastMS = max(lastMS, cutMS)
		if d, differs := firstDifference(whole, have, cutMS); differs {
			found.Differences = append(found.Differences, d)
		}
	}
	found.Unexamined = config.unexamined(whole, lastMS)
	found.OK = len(found.Differences)+len(found.Unexamined) == 0
	return found, nil
}

// unexamined returns the strategies without a decision up to a time.
func (c *Config) unexamined(decisions []decision, untilMS int64) []string {
	names := []string{}
	for i := range c.Legs {
		name := c.Legs[i].Strategy.Name
		decided := func(d decision) bool { return d.strategy == name && d.atMS <= untilMS }
		if !slices.ContainsFunc(decisions, decided) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// cuts returns distinct closing times in order.
func (c *Config) cuts(decisions []decision, count int) []int64 {
	var all []int64
	longest := c.Legs[0].Tape.Candles
	for i := range c.Legs {
		if candles := c.Legs[i].Tape.Candles; candles.Len() > longest.Len() {
			longest = candles
		}
	}
	byDecision := min(len(decisions), (count+1)/2)
	for i := range byDecision {
		all = append(all, decisions[i*len(decisions)/byDecision].atMS)
	}
	for even := count - byDecision; even > 0; even-- {
		all = append(all, longest.CloseMS(longest.Len()*even/(count-byDecision+1)))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// closed returns the last moment, at or before atMS, at which a candle of every leg closes. Inside a candle, the run
// on truncated data would decide without that candle.
func (c *Config) closed(atMS int64) int64 {
	longest := c.Legs[0].Tape.Candles.Interval
	for i := range c.Legs {
		longest = max(longest, c.Legs[i].Tape.Candles.Interval)
	}
	return longest.OpenOf(atMS)
}

// withOpens appends the open of the next candle, as a candle without movement, to legs that have a schedule, or to
// all legs when there are signals. The open is known at the cut, and a decision at that moment uses it.
func (c Config) withOpens(whole *Config, cutMS int64) Config {
	for i := range c.Legs {
		leg := &c.Legs[i]
		at := slices.IndexFunc(whole.Legs, func(l Leg) bool { return l.Strategy.Name == leg.Strategy.Name })
		candles := whole.Legs[at].Tape.Candles
		next, found := slices.BinarySearch(candles.OpenMS, cutMS)
		if leg.Strategy.Schedule == nil && len(c.Signals) == 0 || !found {
			continue
		}
		open := candles.Open[next]
		leg.Tape.Candles.Append(exchange.Candle{OpenMS: cutMS, Open: open, High: open, Low: open, Close: open})
	}
	return c
}

// firstDifference compares the decisions up to a time.
func firstDifference(whole, without []decision, cutMS int64) (Difference, bool) {
	for i := 0; ; i++ {
		w, inWhole := at(whole, i, cutMS)
		c, inCut := at(without, i, cutMS)
		switch {
		case !inWhole && !inCut:
			return Difference{}, false
		case inWhole && inCut && w == c:
			continue
		case !inCut || inWhole && w.atMS < c.atMS:
			return Difference{w.strategy, utc(w.atMS), utc(cutMS), w.plan, none}, true
		case !inWhole || c.atMS < w.atMS:
			return Difference{c.strategy, utc(c.atMS), utc(cutMS), none, c.plan}, true
		default:
			return Difference{w.strategy, utc(w.atMS), utc(cutMS), w.plan, c.plan}, true
		}
	}
}

func at(list []decision, i int, untilMS int64) (decision, bool) {
	if i >= len(list) || list[i].atMS > untilMS {
		return decision{}, false
	}
	return list[i], true
}
