package tryout

import (
	"fmt"
	"strings"

	"botd/backtest"
	"botd/backtest/resultstore"
)

// Limits below which a result means little.
const (
	fewTrips    = 30
	fewDays     = 90
	robustShare = 0.6 // minimum share of the neighboring settings that also earn
)

// againstHolding is the check whose figure the verdict already contains.
const againstHolding = "Against holding"

// Outcome is the complete result of a try.
type Outcome struct {
	Result    *backtest.Result
	Lookahead *backtest.Lookahead
	Sweep     *resultstore.Sweep // nil where nothing varies
	Guessed   []string           // the guesses for data missing from the file
}

// Check is one question about the result, with its answer.
type Check struct {
	Name string
	Good bool
	Text string
}

// Verdict returns one sentence: the strategy's profit after costs, and the first objection to it.
func (o *Outcome) Verdict() string {
	made := o.profit("realistic")
	costs := fmt.Sprintf("%+.1f %% after costs", made)
	if hold := o.Result.Figures.BuyAndHold; hold != nil {
		costs += fmt.Sprintf(" (buy and hold %+.1f %%)", *hold)
	}
	if o.Result.RoundTrips == 0 && o.Result.Fills == 0 {
		return "It did not trade: no condition of an entry was met, or every order was refused."
	}
	if len(o.Lookahead.Differences) > 0 {
		return "Not usable: it uses later candles, so this result cannot be achieved: " + costs + "."
	}
	if made <= 0 {
		return "Not yet: it made " + costs + "."
	}
	for _, check := range o.Checks() {
		if !check.Good && check.Name == againstHolding {
			return "Earns, but less than holding: " + costs + "."
		}
		if !check.Good {
			return "Earns, but does not convince: " + costs + "; " + check.Text + "."
		}
	}
	return "Worth trying on paper: " + costs + ", and no check failed."
}

// Checks returns the checks in order of importance.
func (o *Outcome) Checks() []Check {
	r := o.Result
	all := []Check{o.lookahead(), {"After costs", o.profit("realistic") > 0, fmt.Sprintf("%+.1f %% with the configured costs", o.profit("realistic"))},
		{"With worse costs", o.profit("pessimistic") > 0, fmt.Sprintf("%+.1f %% with worse costs and fills", o.profit("pessimistic"))}}
	if o.Sweep != nil && len(o.Sweep.Trials) > 1 {
		earn := o.earning()
		all = append(all, Check{"Other settings", float64(earn) >= robustShare*float64(len(o.Sweep.Trials)),
			fmt.Sprintf("%d of %d settings near yours earn", earn, len(o.Sweep.Trials))})
	}
	days := r.To.Sub(r.From).Hours() / 24
	all = append(all, Check{"Enough trades", r.RoundTrips >= fewTrips, fmt.Sprintf("%d round trips; below %d luck decides", r.RoundTrips, fewTrips)},
		Check{"Enough time", days >= fewDays, fmt.Sprintf("%.0f days; below %d one mood of the market decides", days, fewDays)})
	if hold := r.Figures.BuyAndHold; hold != nil {
		all = append(all, Check{againstHolding, o.profit("realistic") > *hold, fmt.Sprintf("buy and hold made %+.1f %%", *hold)})
	}
	if r.Liquidations > 0 {
		all = append(all, Check{"No liquidation", false, fmt.Sprintf("%d liquidations", r.Liquidations)})
	}
	return all
}

func (o *Outcome) lookahead() Check {
	found := o.Lookahead
	switch {
	case len(found.Differences) > 0:
		return Check{"No look-ahead", false, fmt.Sprintf("%d decisions depend on candles that come later", len(found.Differences))}
	case len(found.Unexamined) > 0:
		return Check{"No look-ahead", false, "too few decisions to examine for look-ahead: " + strings.Join(found.Unexamined, ", ")}
	}
	return Check{"No look-ahead", true, fmt.Sprintf("%d decisions compared at %d cuts, none depends on later candles", found.Decisions, found.Cuts)}
}

// profit returns the profit of a column, in percent.
func (o *Outcome) profit(column string) float64 {
	for i := range o.Result.Columns {
		if c := &o.Result.Columns[i]; c.Name == column && c.Profit != nil {
			return *c.Profit
		}
	}
	return 0
}

func (o *Outcome) earning() (count int) {
	for i := range o.Sweep.Trials {
		if seen := o.Sweep.Trials[i].Seen; seen != nil && seen.Profit != nil && *seen.Profit > 0 {
			count++
		}
	}
	return count
}
