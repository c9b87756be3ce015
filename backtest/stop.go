package backtest

import (
	"fmt"
	"strings"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// StopWhen ends a run before the last candle. The zero value never does.
type StopWhen struct {
	Drawdown exchange.Rate // maximum distance of equity below its peak; 0 for none
	Loss     exchange.Rate // maximum distance of equity below its start; 0 for none
}

// Stopped is the Limit of EndedBy where StopWhen ended a run.
const Stopped = "stop_when"

// ParseStopWhen parses "drawdown>30%" or "loss>20%".
func ParseStopWhen(text string) (s StopWhen, err error) {
	if text == "" {
		return s, nil
	}
	name, share, _ := strings.Cut(text, ">")
	into := map[string]*exchange.Rate{"drawdown": &s.Drawdown, "loss": &s.Loss}[strings.TrimSpace(name)]
	number, percent := strings.CutSuffix(strings.TrimSpace(share), "%")
	value, err := decimal.NewFromString(number)
	if into == nil || err != nil {
		return StopWhen{}, fmt.Errorf("%q: want drawdown>30%% or loss>20%%", text)
	}
	if percent {
		value = value.Shift(-2)
	}
	if *into, err = exchange.RateFromDecimal(value); err != nil || *into <= 0 || *into >= exchange.RateOne {
		return StopWhen{}, fmt.Errorf("%q: want a share above 0%% and below 100%%", text)
	}
	return s, nil
}

// StoppedEarly reports whether StopWhen ended the column's run. Its figures then mostly cover fewer days than those of a whole run.
func (c *Column) StoppedEarly() bool {
	return c != nil && c.EndedBy != nil && c.EndedBy.Limit == Stopped
}

// String returns the form that ParseStopWhen parses, or an empty string for the zero value.
func (s StopWhen) String() string {
	switch {
	case s.Drawdown > 0:
		return "drawdown>" + s.Drawdown.String()
	case s.Loss > 0:
		return "loss>" + s.Loss.String()
	}
	return ""
}

// stops reports whether the run must end now, by the equity at all closes until now. It runs after every 4,096 candles, at the
// same ones with either machine, and at the end of the run.
func (r *run) stops() bool {
	when, l := r.config.StopWhen, &r.ledger
	fall, lost := l.drawdowns.deepest().depth, 1-min(l.drawdowns.low, l.drawdowns.lowest)/l.initial.Float()
	switch {
	case when.Drawdown > 0 && fall > when.Drawdown.Float():
		r.stopped = &EndedBy{Limit: Stopped, Value: fmt.Sprintf("%.2f%%", 100*fall)}
	case when.Loss > 0 && lost > when.Loss.Float():
		r.stopped = &EndedBy{Limit: Stopped, Value: fmt.Sprintf("%.2f%%", 100*lost)}
	default:
		return false
	}
	r.stopped.Time, r.stopped.Text = utc(r.nowMS), when.String()
	return true
}
