package backtest_test

import (
	"testing"

	"github.com/shopspring/decimal"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/runtime/engine"
	"botd/strategy"
)

// sharing requests a share of the equity again at every close, and stores what it saw.
type sharing struct {
	share exchange.Rate
	seen  []sight
}

type sight struct {
	atMS             int64
	last             exchange.Price
	equity           exchange.Amount
	position, wanted exchange.Quantity
}

func (*sharing) Warmup() int           { return 1 }
func (*sharing) Candle(*strategy.View) {}
func (s *sharing) Decide(v *strategy.View, plan *strategy.Plan) {
	wanted := v.Symbol.QuantityFor(v.Equity.MulRate(s.share), v.Last)
	s.seen = append(s.seen, sight{v.NowMS, v.Last, v.Equity, v.Position.Quantity, wanted})
	plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: wanted}, "its share")
}

// sharingRun is a run of a strategy that requests 40 % of the equity at every close.
func sharingRun(recorded *tape.Tape, change func(*backtest.Config)) (config backtest.Config, saw func() []sight) {
	var made *sharing
	create := func(*tape.Tape) (strategy.Strategy, error) {
		made = &sharing{share: exchange.RateOne * 2 / 5}
		return made, nil
	}
	first, _ := create(nil)
	config = backtest.Config{Cash: exchange.AmountOf(10_000), Costs: fees(20_000, 50_000), Legs: []backtest.Leg{{Kind: "sharing", Tape: recorded, Make: create,
		Strategy: engine.StrategyConfig{Name: "sharing", Symbol: recorded.Symbol, Interval: recorded.Candles.Interval, Leverage: 3, Strategy: first}}}}
	if change != nil {
		change(&config)
	}
	return config, func() []sight { return made.seen }
}

// TestEquityShareUsesMarkedEquity computes the equity at each close from fills and prices, and the quantity of 40 %
// of it.
func TestEquityShareUsesMarkedEquity(t *testing.T) {
	t.Parallel()
	recorded := steps(symbol(t, exchange.Futures, "0.1", "0.001"), 3_000)
	s := recorded.Symbol
	for _, machine := range []func(backtest.Config) backtest.Config{func(c backtest.Config) backtest.Config { return c }, backtest.ByEngine} {
		config, saw := sharingRun(recorded, nil)
		result := mustRun(t, machine(config))
		cash, held, next := decimal.NewFromInt(10_000), decimal.Zero, 0
		share, tick := decimal.RequireFromString("0.4"), decimal.RequireFromString("0.001")
		for _, at := range saw() {
			for ; next < len(result.Executions) && result.Executions[next].TimeMS < at.atMS; next++ {
				e := &result.Executions[next]
				quantity := decimal.RequireFromString(e.Quantity)
				if e.Side == "SELL" {
					quantity = quantity.Neg()
				}
				held = held.Add(quantity)
				cash = cash.Sub(quantity.Mul(decimal.RequireFromString(e.Price))).Sub(decimal.RequireFromString(e.Fee))
			}
			last := s.PriceDecimal(at.last)
			want := cash.Add(held.Mul(last))
			quantity := want.Mul(share).Div(last).Div(tick).Floor().Mul(tick)
			if have := decimal.RequireFromString(at.equity.String()); !have.Sub(want).Abs().LessThan(decimal.New(1, -6)) {
				t.Fatalf("%s, after %d fills at %s: want an equity of %s, have %s", result.Machine, next, last, want, have)
			}
			if have := s.QuantityDecimal(at.wanted); !have.Equal(quantity) {
				t.Fatalf("%s, after %d fills at %s: want a quantity of %s, have %s", result.Machine, next, last, quantity, have)
			}
		}
		if next < 20 || len(saw()) < 2_900 {
			t.Errorf("%s: want a position that is changed often, have %d fills in %d decisions", result.Machine, next, len(saw()))
		}
	}
}

// TestTheEquityOfTheViewIsTheRunsOwn compares what a strategy saw with the curve of the run. A funding payment and an order that arrives
// within a candle have the account read at a price that the strategy has not seen yet.
func TestTheEquityOfTheViewIsTheRunsOwn(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*backtest.Config){
		"nothing besides":           func(*backtest.Config) {},
		"funding within candles":    func(c *backtest.Config) { c.Costs.Funding = 1_000_000 },
		"a latency":                 func(c *backtest.Config) { c.Costs.LatencyMS = 5_000_000 },
		"slippage":                  func(c *backtest.Config) { c.Costs.Slippage = 40_000 },
		"a schedule within candles": func(c *backtest.Config) { c.Legs[0].Strategy.Schedule = every(exchange.Hour1) },
		"a schedule and funding within": func(c *backtest.Config) {
			c.Legs[0].Strategy.Schedule, c.Costs.Funding = every(exchange.Hour1*6), 1_000_000
		},
		"an order that is filled part by part": func(c *backtest.Config) { c.Costs.VolumeCap = exchange.RateOne / 1_000 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recorded := daily(symbol(t, exchange.Futures, "0.1", "0.001"), 400)
			for _, machine := range []func(backtest.Config) backtest.Config{func(c backtest.Config) backtest.Config { return c }, backtest.ByEngine} {
				config, saw := sharingRun(recorded, change)
				result := mustRun(t, machine(config))
				curve := map[int64]exchange.Amount{}
				for _, p := range result.Curve() {
					curve[p.AtMS] = p.Equity
				}
				compared := 0
				for _, at := range saw() {
					want, known := curve[at.atMS]
					if !known || at.position == 0 {
						continue
					}
					compared++
					if off := at.equity.Sub(want).Float(); off > 1e-4 || off < -1e-4 {
						t.Fatalf("%s, at %d: want %s, have %s", result.Machine, at.atMS, want, at.equity)
					}
				}
				if compared < 350 {
					t.Errorf("%s: want most closes compared, have %d", result.Machine, compared)
				}
			}
		})
	}
}

// daily turns the steps into days.
func daily(s *exchange.Symbol, count int) *tape.Tape {
	recorded := steps(s, count)
	c := recorded.Candles
	c.Interval = exchange.Day1
	for i := range c.OpenMS {
		c.OpenMS[i], c.Volume[i] = midnight+int64(i)*int64(exchange.Day1), 100
		c.High[i] += 5_000 * s.PriceTick
		c.Low[i] -= 3_000 * s.PriceTick
	}
	return recorded
}

// ahead has a position, and prepares its decisions with the equities that a stretch announces.
type ahead struct {
	scripted
	announced      map[int64]exchange.Amount
	met, different int
}

func (a *ahead) Batch(v *strategy.View, candles *exchange.Candles, from, to int, equity func(at int) exchange.Amount) int {
	for i := from; i < to; i++ {
		if a.announced[candles.CloseMS(i)] = v.Equity; equity != nil {
			a.announced[candles.CloseMS(i)] = equity(i)
		}
	}
	return to
}

func (a *ahead) Decide(v *strategy.View, plan *strategy.Plan) {
	if announced, is := a.announced[v.NowMS]; is && v.Position.Quantity != 0 {
		if a.met++; announced != v.Equity {
			a.different++
		}
	}
	a.scripted.Decide(v, plan)
}

// TestAStretchAnnouncesTheEquityOfEachClose covers a position of a strategy that decides for many closes at once.
func TestAStretchAnnouncesTheEquityOfEachClose(t *testing.T) {
	t.Parallel()
	recorded := steps(symbol(t, exchange.Futures, "0.1", "0.001"), 3_000)
	config := speedConfig(t, recorded, "10", "50")
	made := &ahead{scripted: scripted{targets: hold(t, recorded.Symbol, "0.010")}, announced: map[int64]exchange.Amount{}}
	config.Legs[0].Strategy.Strategy = made
	mustRun(t, config)
	if made.met < 2_900 || made.different > 0 {
		t.Errorf("want each of the equities announced as it is, have %d of %d different", made.different, made.met)
	}
}
