package backtest_test

import (
	"strings"
	"testing"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/strategy"
)

// peeker gets the whole tape when it is made, and uses the candle n ahead.
type peeker struct {
	candles *exchange.Candles
	ahead   int
	seen    int
}

func (*peeker) Warmup() int             { return 0 }
func (p *peeker) Candle(*strategy.View) { p.seen++ }
func (p *peeker) Decide(_ *strategy.View, plan *strategy.Plan) {
	if at := p.seen - 1 + p.ahead; at < p.candles.Len() && p.seen > 0 {
		if p.candles.Close[at] > p.candles.Close[p.seen-1] {
			plan.Hold(strategy.Size{Equity: exchange.RateOne / 2}.Target(1), "it will rise")
		} else {
			plan.Hold(strategy.Flat(), "it will fall")
		}
	}
}

// scaler divides by the largest of all closes: the mistake of normalizing data.
type scaler struct{ candles *exchange.Candles }

func (scaler) Warmup() int           { return 0 }
func (scaler) Candle(*strategy.View) {}
func (s scaler) Decide(view *strategy.View, plan *strategy.Plan) {
	top := exchange.Price(0)
	for _, price := range s.candles.Close {
		top = max(top, price)
	}
	if view.Last*1000 > top*999 {
		plan.Hold(strategy.Size{Equity: exchange.RateOne / 2}.Target(1), "near the top")
	} else {
		plan.Hold(strategy.Flat(), "far from it")
	}
}

func TestLookaheadIsFound(t *testing.T) {
	t.Parallel()
	recorded := steps(symbol(t, exchange.Futures, "0.1", "0.001"), 2_000)
	config := crossing(t, recorded, exchange.RateOne, strategy.Protection{}, bothWays)
	honest, err := backtest.FindLookahead(t.Context(), config, 12)
	if err != nil {
		t.Fatal(err)
	}
	if !honest.OK || honest.Decisions < 50 || honest.Cuts < 10 {
		t.Errorf("an honest strategy: want it clean by many decisions, have %+v", honest)
	}
	for name, cheat := range map[string]func(*tape.Tape) (strategy.Strategy, error){
		"one candle ahead":   func(over *tape.Tape) (strategy.Strategy, error) { return &peeker{over.Candles, 1, 0}, nil },
		"an hour ahead":      func(over *tape.Tape) (strategy.Strategy, error) { return &peeker{over.Candles, 60, 0}, nil },
		"by the whole range": func(over *tape.Tape) (strategy.Strategy, error) { return scaler{over.Candles}, nil },
	} {
		config.Legs[0].Make = cheat
		found, err := backtest.FindLookahead(t.Context(), config, 12)
		if err != nil {
			t.Fatal(err)
		}
		if found.OK || len(found.Differences) == 0 || found.Differences[0].Strategy != "crossing" {
			t.Errorf("%s: want it found, have %+v", name, found)
		}
	}
}

func TestWarmupReportsInfluenceOfFirstCandles(t *testing.T) {
	t.Parallel()
	recorded := steps(symbol(t, exchange.Futures, "0.1", "0.001"), 4_000)
	found, err := backtest.FindWarmup(t.Context(), crossing(t, recorded, exchange.RateOne, strategy.Protection{}, bothWays))
	if err != nil {
		t.Fatal(err)
	}
	if found.Declared != 21 || found.Rows[0].Before != 21 || found.Rows[len(found.Rows)-1].Before != 2_000 {
		t.Errorf("want runs from the declared 21 candles to all 2000, have %+v", found)
	}
	if found.Enough == nil || *found.Enough > 1_000 {
		t.Errorf("crosses of a moving average forget: want a length that is enough, have %+v", found.Rows)
	}
	// A strategy that counts candles from the first one never forgets.
	config := crossing(t, recorded, exchange.RateOne, strategy.Protection{}, bothWays)
	config.Legs[0].Make = func(*tape.Tape) (strategy.Strategy, error) { return &counter{}, nil }
	if found, err = backtest.FindWarmup(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	for _, row := range found.Rows[:len(found.Rows)-1] {
		if row.Before%7 != 2_000%7 && row.Differing == 0 {
			t.Errorf("with %d candles before: want differences, have none", row.Before)
		}
	}
}

// counter is long in every seventh candle, counted from the first that it saw.
type counter struct{ seen int }

func (*counter) Warmup() int             { return 1 }
func (c *counter) Candle(*strategy.View) { c.seen++ }
func (c *counter) Decide(_ *strategy.View, plan *strategy.Plan) {
	if c.seen%7 == 0 {
		plan.Hold(strategy.Size{Equity: exchange.RateOne / 2}.Target(1), "the seventh")
	} else {
		plan.Hold(strategy.Flat(), "another")
	}
}

func TestAReportIsVerifiedByRunningItAgain(t *testing.T) {
	t.Parallel()
	recorded := steps(symbol(t, exchange.Futures, "0.1", "0.001"), 1_000)
	run := func(change func(*backtest.Config)) *backtest.Result {
		config := crossing(t, recorded, exchange.RateOne, strategy.Protection{}, bothWays)
		config.ConfigSHA256 = "c"
		change(&config)
		result, err := backtest.RunColumns(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	plain := run(func(*backtest.Config) {})
	if v := backtest.Verify(plain, run(func(c *backtest.Config) { c.Version = "another" })); !v.OK || len(v.Checks) != 7 {
		t.Errorf("the same again: want all of 7 checks equal, have %+v", v.Checks)
	}
	for what, change := range map[string]func(*backtest.Config){
		"config_sha256": func(c *backtest.Config) { c.ConfigSHA256 = "d" },
		"final_equity":  func(c *backtest.Config) { c.Costs.Slippage = 10_000 },
		"data_sha256":   func(c *backtest.Config) { other := *recorded; other.SHA256 = "e"; c.Legs[0].Tape = &other },
	} {
		v := backtest.Verify(plain, run(change))
		found := false
		for _, check := range v.Checks {
			found = found || check.What == what && !check.Equal
		}
		if v.OK || !found {
			t.Errorf("%s: want it to differ, have %+v", what, v.Checks)
		}
	}
}

func TestLookaheadNeedsRebuildableStrategy(t *testing.T) {
	t.Parallel()
	recorded := steps(symbol(t, exchange.Futures, "0.1", "0.001"), 100)
	config := caseConfig(recorded, &scripted{})
	if _, err := backtest.FindLookahead(t.Context(), config, 3); err == nil || !strings.Contains(err.Error(), "made again") {
		t.Errorf("lookahead: have %v", err)
	}
	if _, err := backtest.FindWarmup(t.Context(), config); err == nil || !strings.Contains(err.Error(), "made again") {
		t.Errorf("warmup: have %v", err)
	}
}

// idle never decides anything.
type idle struct{}

func (idle) Warmup() int                           { return 0 }
func (idle) Candle(*strategy.View)                 {}
func (idle) Decide(*strategy.View, *strategy.Plan) {}

// Nothing was examined, which differs from "nothing was found".
func TestIdleStrategyIsNotExamined(t *testing.T) {
	t.Parallel()
	recorded := steps(symbol(t, exchange.Futures, "0.1", "0.001"), 500)
	config := crossing(t, recorded, exchange.RateOne, strategy.Protection{}, bothWays)
	config.Legs[0].Make = func(*tape.Tape) (strategy.Strategy, error) { return idle{}, nil }
	found, err := backtest.FindLookahead(t.Context(), config, 12)
	if err != nil {
		t.Fatal(err)
	}
	if found.OK || len(found.Differences) != 0 || len(found.Unexamined) != 1 || found.Unexamined[0] != "crossing" {
		t.Errorf("want nothing found and crossing not examined, have %+v", found)
	}
}
