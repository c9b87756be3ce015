package backtest

import (
	"context"
	"slices"
	"time"

	"botd/exchange"
)

// Lookahead is what comparing a run with runs on cut-off data found.
type Lookahead struct {
	Schema      int          `json:"schema"`
	OK          bool         `json:"ok"`
	Decisions   int          `json:"decisions"`  // of the run on all candles
	Cuts        int          `json:"cuts"`       // runs on cut-off data
	Unexamined  []string     `json:"unexamined"` // strategies of which no decision was compared: nothing is known of them
	Differences []Difference `json:"differences"`
}

// Difference is a decision that depends on candles after it.
type Difference struct {
	Strategy string    `json:"strategy"`
	At       time.Time `json:"at"`
	Cut      time.Time `json:"cut"`   // the data ended here
	Whole    string    `json:"whole"` // decided when later candles were there
	Without  string    `json:"without"`
}

// none is a decision that was not made.
const none = "no decision"

// FindLookahead runs the configuration on all candles, then on candles that end
// at cuts, and compares: up to a cut the decisions must be the same, since nobody
// can know what comes after it. Half of the cuts are where decisions were made,
// the others are spread evenly. A strategy that looks ahead decides differently,
// or fails, where there is nothing ahead. One that decided nothing before the last cut
// was not examined, which is no proof of anything: then the result is not OK.
func FindLookahead(ctx context.Context, config Config, cuts int) (*Lookahead, error) {
	whole, err := config.decisions(ctx)
	if err != nil {
		return nil, err
	}
	found := &Lookahead{Schema: 1, Decisions: len(whole), Differences: []Difference{}}
	lastMS := int64(0) // decisions are compared up to here
	for done, cutMS := range config.cuts(whole, cuts) {
		if config.Progress != nil {
			config.Progress(done, cuts)
		}
		cutMS = config.closed(cutMS)
		cut := config.between(0, cutMS)
		if len(cut.Legs) == 0 {
			continue // nothing had closed
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

// unexamined are the strategies that decided nothing up to a time.
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

// cuts are closing times in order, each once.
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

// closed returns the last moment, not after another one, at which a candle of every leg closes: inside
// a candle the run on cut-off data does not have it, and decides without it.
func (c *Config) closed(atMS int64) int64 {
	longest := c.Legs[0].Tape.Candles.Interval
	for i := range c.Legs {
		longest = max(longest, c.Legs[i].Tape.Candles.Interval)
	}
	return longest.OpenOf(atMS)
}

// withOpens adds to legs with a schedule of their own, or signals, what is known at the cut beside the candles that
// have closed: the open of the next one, as a candle in which nothing happens. Their decision of that
// moment is made with it.
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
