package backtest

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"botd/exchange"
	"botd/exchange/sim"
)

// Column is the same run under other costs. It shows how much of the result depends on costs.
type Column struct {
	Name          string      `json:"name"` // ideal, realistic, pessimistic
	FinalEquity   string      `json:"final_equity"`
	OwnEquity     string      `json:"own_final_equity"` // of its own run; a bound may instead come from the realistic run's executions, re-priced
	Profit        *float64    `json:"profit_pct"`
	MaxDrawdown   float64     `json:"max_drawdown_pct"`
	Sharpe        *float64    `json:"sharpe"`
	CAGR          *float64    `json:"cagr_pct"`
	ProfitFactor  *float64    `json:"profit_factor"`
	Fills         int         `json:"fills"`
	RoundTrips    int         `json:"round_trips"`
	Wins          int         `json:"wins"`
	TotalFees     string      `json:"total_fees"`
	TotalFunding  string      `json:"total_funding"`
	TotalSlippage string      `json:"total_slippage"`
	Liquidations  int         `json:"liquidations"`
	EndedBy       *EndedBy    `json:"ended_by,omitempty"`   // the event that ended its trading before the last candle
	NotTraded     []NotTraded `json:"not_traded,omitempty"` // desired trades that did not happen
	Machine       string      `json:"machine,omitempty"`    // direct, or engine and why
	Assumptions   []string    `json:"assumptions"`
	ResultSHA256  string      `json:"result_sha256"`
}

// The minimum costs of the pessimistic column.
const (
	minSlippage  = exchange.RateOne / 2000 // 0.05 %
	minLatencyMS = 1_000
	maxOfVolume  = exchange.RateOne / 10 // where no volume cap is set
)

// ideal returns a market without costs that takes the best path within every candle. It shows the value of the
// decisions alone.
func (c Costs) ideal() Costs {
	return Costs{FeeFromQuote: c.FeeFromQuote, Path: sim.Best, Queue: exchange.RateOne}
}

// pessimistic charges every fee as a taker's, doubles slippage and latency, and halves the volume cap, each at least
// at the level of a small venue. It takes the worst path, and fills resting orders only when the price has gone
// through them.
func (c Costs) pessimistic() Costs {
	c.Futures.Maker, c.Spot.Maker = max(c.Futures.Maker, c.Futures.Taker), max(c.Spot.Maker, c.Spot.Taker)
	c.Slippage, c.Impact, c.VolumeCap = max(2*c.Slippage, minSlippage), 2*c.Impact, c.VolumeCap/2
	c.LatencyMS = max(2*c.LatencyMS, minLatencyMS)
	c.Path, c.Through, c.Queue = sim.Worst, true, 0
	if c.VolumeCap == 0 {
		c.VolumeCap = maxOfVolume
	}
	return c
}

// hasVolume reports whether the candles of every leg have a volume. Without one, no volume cap can be set.
func (c *Config) hasVolume() bool {
	for i := range c.Legs {
		if !slices.ContainsFunc(c.Legs[i].Tape.Candles.Volume, func(volume float64) bool { return volume > 0 }) {
			return false
		}
	}
	return true
}

// repriced returns the final equity of this run's executions at other costs: the result of a strategy that acts
// identically in the other market.
func (r *run) repriced(under Costs) exchange.Amount {
	extra := exchange.Amount{}
	for i := range r.ledger.fills {
		f := &r.ledger.fills[i]
		if f.OrderID == 0 {
			continue // a liquidation
		}
		symbol := r.legs[f.leg].symbol
		value, own, other := symbol.Notional(f.Price, f.Quantity), r.config.Costs.of(symbol.Market), under.of(symbol.Market)
		if f.Maker {
			extra = extra.Add(value.MulRate(max(0, other.Maker-own.Maker)))
			continue
		}
		extra = extra.Add(value.MulRate(max(0, other.Taker-own.Taker)))
		extra = extra.Add(value.MulRate(under.Slippage).Sub(f.Slipped).Max(exchange.Amount{}))
	}
	return r.ledger.equity.Sub(extra).Max(exchange.Amount{}.Min(r.ledger.equity))
}

// unburdened returns the final equity of this run's executions without costs: the result of a strategy that acts
// identically in a market without costs.
func (r *run) unburdened(funding exchange.Amount) exchange.Amount {
	saved := funding.Max(exchange.Amount{})
	for i := range r.ledger.fills {
		f := &r.ledger.fills[i]
		symbol := r.legs[f.leg].symbol
		fee := f.Fee
		if f.InBase {
			fee = worth(symbol, f.Fee, f.Price)
		}
		saved = saved.Add(fee.Max(exchange.Amount{})).Add(f.Slipped.Max(exchange.Amount{}))
	}
	return r.ledger.equity.Add(saved)
}

// RunColumns runs the configuration, and the same candles with an ideal and a pessimistic market: one tape, three
// books. It returns the result of the configuration, which is the realistic column. Every leg needs its Make.
func RunColumns(ctx context.Context, config Config) (*Result, error) {
	configs := [3]Config{config, config, config}
	configs[0].Costs, configs[2].Costs = config.Costs.ideal(), config.Costs.pessimistic()
	if config.Costs.VolumeCap == 0 && !config.hasVolume() {
		configs[2].Costs.VolumeCap = 0
	}
	for i := range configs[0].Legs { // without costs there is no funding either
		if i == 0 {
			configs[0].Legs = append([]Leg(nil), config.Legs...)
		}
		configs[0].Legs[i].Funding = nil
	}
	var (
		results [3]*Result
		errs    [3]error
		group   sync.WaitGroup
	)
	for i := range configs {
		if i != 1 {
			configs[i].Progress, configs[i].Record, configs[i].Note, configs[i].auxiliary = nil, nil, nil, true
		}
		do := func() { results[i], errs[i] = Run(ctx, configs[i]) }
		if config.InTurn {
			do()
		} else {
			group.Go(do)
		}
	}
	group.Wait()
	for _, i := range []int{1, 0, 2} {
		if errs[i] != nil {
			return nil, errs[i]
		}
	}
	result := results[1]
	own := [3]string{results[0].FinalEquity, result.FinalEquity, results[2].FinalEquity}
	if result.repriced.Less(exchange.MustAmount(own[2])) {
		results[2].FinalEquity = result.repriced.String()
	}
	if exchange.MustAmount(own[0]).Less(result.unburdened) {
		results[0].FinalEquity = result.unburdened.String()
	}
	for i, name := range []string{"ideal", "realistic", "pessimistic"} {
		result.Columns = append(result.Columns, results[i].column(name))
		result.Columns[i].OwnEquity = own[i]
	}
	result.bound()
	return result, nil
}

func (r *Result) column(name string) Column {
	c := Column{
		Name:          name,
		FinalEquity:   r.FinalEquity,
		OwnEquity:     r.FinalEquity,
		MaxDrawdown:   r.MaxDrawdown,
		Sharpe:        r.Sharpe,
		CAGR:          r.CAGR,
		ProfitFactor:  r.ProfitFactor,
		Fills:         r.Fills,
		RoundTrips:    r.RoundTrips,
		Wins:          r.Wins,
		TotalFees:     r.TotalFees,
		TotalFunding:  r.TotalFunding,
		TotalSlippage: r.TotalSlippage,
		Liquidations:  r.Liquidations,
		EndedBy:       r.EndedBy,
		NotTraded:     r.NotTraded,
		Machine:       r.Machine,
		Assumptions:   r.Assumptions,
		ResultSHA256:  r.ResultSHA256,
	}
	first := exchange.MustAmount(r.InitialEquity).Float()
	if first > 0 {
		c.Profit = finite(float64(100 * (exchange.MustAmount(r.FinalEquity).Float()/first - 1)))
	}
	return c
}

// Finals are the final equities of the columns.
type Finals struct {
	Ideal       string `json:"ideal"`
	Realistic   string `json:"realistic"`
	Pessimistic string `json:"pessimistic"`
}

// UnmarshalJSON ignores the list that earlier versions have here.
func (f *Finals) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '[' {
		return nil
	}
	type plain Finals
	return json.Unmarshal(text, (*plain)(f))
}

// bound records whether the columns bound the result.
func (r *Result) bound() {
	ideal, realistic, pessimistic := r.Columns[0].FinalEquity, r.Columns[1].FinalEquity, r.Columns[2].FinalEquity
	r.Finals = &Finals{ideal, realistic, pessimistic}
	less := func(one, other string) bool { return exchange.MustAmount(one).Less(exchange.MustAmount(other)) }
	ordered := !less(ideal, realistic) && !less(realistic, pessimistic)
	r.Ordered = &ordered
	if !ordered {
		r.warn(BoundsNotOrdered, "the columns end with %s, %s and %s: they are not ordered, so they are no bounds", ideal, realistic, pessimistic)
	}
	if own := r.Columns[0].OwnEquity; own != ideal {
		r.warn(IdealRepriced, "the ideal column's own run ends with %s, with other fills than the realistic run: "+
			"it shows those of the realistic run without costs, %s", own, ideal)
	}
	if own := r.Columns[2].OwnEquity; own != pessimistic {
		r.warn(PessimisticRepriced, "the pessimistic column's own run ends with %s, with other fills than the realistic run: "+
			"it shows those of the realistic run at its costs, %s", own, pessimistic)
	}
}
