// Package parity compares the fills of a running strategy with those of a backtest over the candles recorded
// meanwhile.
package parity

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Execution is one order's fill at one time, by the exchange or by a backtest.
type Execution struct {
	AtMS     int64   `json:"at_ms"`
	Order    string  `json:"order,omitempty"` // the client order id, of a live one
	Buy      bool    `json:"buy"`
	Quantity float64 `json:"quantity"`
	Price    float64 `json:"price"` // 0 if unknown
	Purpose  string  `json:"purpose"`
}

// Pair is an order of one side and its match on the other, or nil without a match.
type Pair struct {
	Live     *Execution `json:"live"`
	Backtest *Execution `json:"backtest"`
	LaterMS  int64      `json:"later_ms"`          // how much later the live order filled
	Slippage float64    `json:"slippage_pct"`      // in percent of the price; above 0 if the live price was worse
	Cost     float64    `json:"slippage_usdt"`     // the slippage of the live quantity
	Priced   bool       `json:"slippage_is_known"` // whether both prices are known
}

// Comparison is a period's fills side by side.
type Comparison struct {
	Pairs        []Pair   `json:"pairs"`
	Matched      int      `json:"matched"`
	LiveOnly     int      `json:"live_only"`
	BacktestOnly int      `json:"backtest_only"`
	Slippage     *float64 `json:"slippage_pct"` // the mean of the pairs whose prices are known, weighted by quantity times price
	Cost         float64  `json:"slippage_usdt"`
}

// Compare pairs live orders with those of a backtest. A pair has one side and one purpose, and times at most withinMS
// apart. The earliest live order chooses first, and takes the nearest in time.
func Compare(live, backtest []Execution, withinMS int64) *Comparison {
	live, backtest = orders(live), orders(backtest)
	c, taken := &Comparison{Pairs: []Pair{}}, make([]bool, len(backtest))
	for i := range live {
		l, best := &live[i], -1
		for k := range backtest {
			b := &backtest[k]
			apart := distance(l, b)
			if taken[k] || b.Buy != l.Buy || b.Purpose != l.Purpose || apart > withinMS || best >= 0 && apart >= distance(l, &backtest[best]) {
				continue
			}
			best = k
		}
		if best < 0 {
			c.Pairs, c.LiveOnly = append(c.Pairs, Pair{Live: l}), c.LiveOnly+1
			continue
		}
		taken[best] = true
		c.Pairs, c.Matched = append(c.Pairs, pairOf(l, &backtest[best])), c.Matched+1
	}
	for k := range backtest {
		if !taken[k] {
			c.Pairs, c.BacktestOnly = append(c.Pairs, Pair{Backtest: &backtest[k]}), c.BacktestOnly+1
		}
	}
	slices.SortStableFunc(c.Pairs, func(a, b Pair) int { return cmp.Compare(a.AtMS(), b.AtMS()) })
	c.sum()
	return c
}

// Sentence summarizes how closely live trading followed the backtest.
func (c *Comparison) Sentence() string {
	total := c.Matched + c.LiveOnly + c.BacktestOnly
	text := fmt.Sprintf("%d of %d orders match between live trading and the backtest", c.Matched, total)
	if c.LiveOnly > 0 {
		text += fmt.Sprintf(", %d exist only live", c.LiveOnly)
	}
	if c.BacktestOnly > 0 {
		text += fmt.Sprintf(", %d exist only in the backtest", c.BacktestOnly)
	}
	if c.Slippage == nil {
		return text + "; none has a known price on both sides"
	}
	word := "worse"
	if *c.Slippage < 0 {
		word = "better"
	}
	return text + fmt.Sprintf("; live prices were %.4f %% %s on average, %.2f USDT in all", math.Abs(*c.Slippage), word, math.Abs(c.Cost))
}

// AtMS returns the time of the pair's fill, live if there is one.
func (p *Pair) AtMS() int64 {
	if p.Live != nil {
		return p.Live.AtMS
	}
	return p.Backtest.AtMS
}

// Digits formats a decimal number, or a mean of such numbers, without an exponent.
func Digits(f float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 8, 64), 64)
	if err != nil {
		return "-"
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

func distance(a, b *Execution) int64 { return max(a.AtMS-b.AtMS, b.AtMS-a.AtMS) }

func pairOf(live, backtest *Execution) Pair {
	p := Pair{Live: live, Backtest: backtest, LaterMS: live.AtMS - backtest.AtMS, Priced: live.Price > 0 && backtest.Price > 0}
	if p.Priced {
		worse := live.Price - backtest.Price
		if !live.Buy {
			worse = -worse
		}
		p.Slippage, p.Cost = 100*worse/backtest.Price, float64(worse*live.Quantity)
	}
	return p
}

func (c *Comparison) sum() {
	value, slipped := 0.0, 0.0
	for i := range c.Pairs {
		if p := &c.Pairs[i]; p.Priced {
			of := float64(p.Live.Quantity * p.Backtest.Price)
			value, slipped = value+of, slipped+float64(of*p.Slippage)
			c.Cost += p.Cost
		}
	}
	if value > 0 {
		c.Slippage = new(slipped / value)
	}
}

// orders merges the fills of one order: its quantity, its mean price, the time of its first fill. The fills of a
// backtest name no order; those of one side, purpose and time count as one.
func orders(fills []Execution) (all []Execution) {
	for i := range fills {
		f := fills[i]
		at := slices.IndexFunc(all, func(o Execution) bool {
			if f.Order != "" || o.Order != "" {
				return f.Order == o.Order
			}
			return f.Buy == o.Buy && f.Purpose == o.Purpose && f.AtMS == o.AtMS
		})
		if at < 0 {
			all = append(all, f)
			continue
		}
		o := &all[at]
		switch quantity := o.Quantity + f.Quantity; {
		case o.Price == 0 || f.Price == 0:
			o.Price, o.Quantity = math.Max(o.Price, f.Price), quantity
		default:
			o.Price, o.Quantity = (float64(o.Price*o.Quantity)+float64(f.Price*f.Quantity))/quantity, quantity
		}
		o.AtMS = min(o.AtMS, f.AtMS)
	}
	slices.SortStableFunc(all, func(a, b Execution) int { return cmp.Compare(a.AtMS, b.AtMS) })
	return all
}
