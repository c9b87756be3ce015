package parity

// Parity compares a strategy's live trading with the backtest of the same time.
type Parity struct {
	Schema   int    `json:"schema"`
	Strategy string `json:"strategy"`
	FromMS   int64  `json:"from_ms"`
	ToMS     int64  `json:"to_ms"` // the end of the recorded candles
	Later    int    `json:"later"` // the number of live orders after it, which are omitted
	Sentence string `json:"sentence"`
	Comparison
	LivePNL      float64     `json:"live_pnl"`      // the net result of the round trips that ended in the period
	BacktestPNL  float64     `json:"backtest_pnl"`  // the net result of the same round trips in the backtest
	LiveFees     float64     `json:"live_fees"`     // the fees of the live round trips
	BacktestFees float64     `json:"backtest_fees"` // the fees of those in the backtest
	Cash         float64     `json:"cash"`          // the initial cash of both: the value of the market's wallet at the start
	LiveCurve    ProfitCurve `json:"live_curve"`
	Curve        ProfitCurve `json:"backtest_curve"`
}

// ProfitCurve is a strategy's profit since the beginning, at the close of candles, open positions included.
type ProfitCurve struct {
	TimeMS []int64   `json:"time_ms"`
	Profit []float64 `json:"profit"` // the net profit in USDT
}

// Charge is a cost of trading at a time: fees and funding.
type Charge struct {
	AtMS int64
	USDT float64
	Base float64 // spot: taken from the asset bought
}

// ProfitOf values fills at each close. Fills before the first close form the initial position: it is valued at the
// open price, and their own prices do not count. A fill without a known price takes the last price before it.
func ProfitOf(fills []Execution, charges []Charge, fromMS int64, open float64, closeMS []int64, closes []float64) ProfitCurve {
	c := ProfitCurve{TimeMS: []int64{}, Profit: []float64{}}
	held, cash, charged, f, last := 0.0, 0.0, 0.0, 0, open
	for ; f < len(fills) && fills[f].AtMS < fromMS; f++ {
		held += fills[f].signed()
		cash -= float64(fills[f].signed() * open)
	}
	k := 0
	for ; k < len(charges) && charges[k].AtMS < fromMS; k++ {
		held, cash = held-charges[k].Base, cash+float64(charges[k].Base*open)
	}
	for i, at := range closeMS {
		for ; f < len(fills) && fills[f].AtMS <= at; f++ {
			price := fills[f].Price
			if price == 0 {
				price = last
			}
			held, cash = held+fills[f].signed(), cash-float64(fills[f].signed()*price)
		}
		for ; k < len(charges) && charges[k].AtMS <= at; k++ {
			charged, held = charged+charges[k].USDT, held-charges[k].Base
		}
		last = closes[i]
		c.TimeMS, c.Profit = append(c.TimeMS, at), append(c.Profit, cash+float64(held*last)-charged)
	}
	return c
}

func (f *Execution) signed() float64 {
	if f.Buy {
		return f.Quantity
	}
	return -f.Quantity
}

// Thinned returns a curve with a limited number of points: the last one of each stretch.
func (c ProfitCurve) Thinned(most int) ProfitCurve {
	step := (len(c.TimeMS) + most - 1) / most
	if step <= 1 {
		return c
	}
	var out ProfitCurve
	for i := range c.TimeMS {
		if (i+1)%step == 0 || i == len(c.TimeMS)-1 {
			out.TimeMS, out.Profit = append(out.TimeMS, c.TimeMS[i]), append(out.Profit, c.Profit[i])
		}
	}
	return out
}
