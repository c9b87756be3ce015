package report

import (
	"fmt"
	"time"

	"botd/backtest/parity"
)

// Live is the trading of a running strategy during the time of a backtest.
type Live struct {
	Answer *parity.Parity
	Fills  []parity.Execution
}

// maxCompared bounds the orders that the page lists. It lists the newest.
const maxCompared = 200

// live is the live data that the page's script draws.
type live struct {
	Time   instants  `json:"t"`
	Equity []float64 `json:"e"`
	Filled instants  `json:"f"`
	Price  []float64 `json:"p"` // 0: unknown
}

func liveOf(given *Live) *live {
	if given == nil {
		return nil
	}
	l := &live{Filled: instants{}, Price: []float64{}}
	curve := given.Answer.LiveCurve.Thinned(maxPoints)
	for i, ms := range curve.TimeMS {
		l.Time, l.Equity = append(l.Time, ms/1000), append(l.Equity, round(given.Answer.Cash+curve.Profit[i], 2))
	}
	for i := range given.Fills {
		if i == maxFills {
			break
		}
		l.Filled, l.Price = append(l.Filled, given.Fills[i].AtMS/1000), append(l.Price, given.Fills[i].Price)
	}
	return l
}

// comparison is the page's table of orders.
type comparison struct {
	Sentence string
	Rows     []comparedOrder
	Left     int // omitted older ones; 0 for none
}

type comparedOrder struct {
	At, What, LiveQuantity, Quantity, LivePrice, Price, Later, Slippage, Cost, Tone string
}

func comparisonOf(given *Live) *comparison {
	if given == nil {
		return nil
	}
	out := &comparison{Sentence: given.Answer.Sentence}
	pairs := given.Answer.Pairs
	if out.Left = max(0, len(pairs)-maxCompared); out.Left > 0 {
		pairs = pairs[out.Left:]
	}
	for i := range pairs {
		out.Rows = append(out.Rows, rowOf(&pairs[i]))
	}
	return out
}

func rowOf(p *parity.Pair) comparedOrder {
	row := comparedOrder{At: time.UnixMilli(p.AtMS()).UTC().Format(time.DateTime), LiveQuantity: "none", Quantity: "none", LivePrice: none, Price: none,
		Later: none, Slippage: none, Cost: none}
	side := func(f *parity.Execution) string {
		if f.Buy {
			return "buy " + f.Purpose
		}
		return "sell " + f.Purpose
	}
	if f := p.Backtest; f != nil {
		row.What, row.Quantity, row.Price = side(f), parity.Digits(f.Quantity), parity.Digits(f.Price)
	}
	if f := p.Live; f != nil {
		row.What, row.LiveQuantity = side(f), parity.Digits(f.Quantity)
		if f.Price > 0 {
			row.LivePrice = parity.Digits(f.Price)
		}
	}
	if p.Live != nil && p.Backtest != nil {
		row.Later = (time.Duration(p.LaterMS) * time.Millisecond).Round(time.Second).String()
	}
	if p.Priced {
		row.Slippage, row.Cost, row.Tone = fmt.Sprintf("%+.4f", p.Slippage), fmt.Sprintf("%+.4f", p.Cost), "up"
		if p.Slippage > 0 {
			row.Tone = "down"
		}
	}
	return row
}
