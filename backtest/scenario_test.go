package backtest_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/strategy"
	"botd/strategy/overlay"
)

// scenario is one question in testdata/exit_scenarios.txt.
type scenario struct {
	name    string
	set     map[string]string
	candles []string
	signals []string
	theirs  []string
	ours    []string
	because string
}

// wants returns botd's expected trades.
func (s *scenario) wants() []string {
	if s.because != "" {
		return s.ours
	}
	return s.theirs
}

func readScenarios(t *testing.T) (all []*scenario) {
	t.Helper()
	text, err := os.ReadFile("testdata/exit_scenarios.txt")
	if err != nil {
		t.Fatal(err)
	}
	for block := range strings.SplitSeq(string(text), "\n\n") {
		s := &scenario{set: map[string]string{}}
		for line := range strings.Lines(block) {
			line = strings.TrimSpace(line)
			word, rest, _ := strings.Cut(line, " ")
			switch {
			case strings.HasPrefix(line, "#") || line == "":
			case s.name == "":
				s.name = line
			case word == "set":
				for pair := range strings.FieldsSeq(rest) {
					key, value, _ := strings.Cut(pair, "=")
					s.set[key] = value
				}
			case word == "theirs":
				s.theirs = append(s.theirs, rest)
			case word == "ours":
				s.ours = append(s.ours, rest)
			case word == "because":
				s.because = rest
			default:
				fields := strings.Fields(line)
				s.candles = append(s.candles, strings.Join(fields[:4], " "))
				s.signals = append(s.signals, strings.Join(fields[4:], " "))
			}
		}
		if s.name != "" {
			all = append(all, s)
		}
	}
	return all
}

// questioned follows the signals at a candle's close. Without a position and a signal it requests none: an
// entry rests for one candle.
type questioned struct {
	*scenario
	symbol *exchange.Symbol
	seen   int
	since  int // the candle of the followed signal
	leaves int // the candle of the exit signal with a price; 0 for none
}

const questionedSize = 10

func (*questioned) Warmup() int             { return 0 }
func (s *questioned) Candle(*strategy.View) { s.seen++ }

func (s *questioned) asks(word string) bool {
	return slices.Contains(strings.Fields(s.signals[s.seen-1]), word)
}

// price returns the price of a setting at the first, or a later, decision since the signal; 0 for none.
func (s *questioned) price(key string, since int) exchange.Price {
	prices := strings.Split(s.set[key], ",")
	if s.set[key] == "" || since >= len(prices) {
		return 0
	}
	at, err := s.symbol.Price(decimal.RequireFromString(prices[since]))
	if err != nil {
		panic(err)
	}
	return at
}

func (s *questioned) Decide(view *strategy.View, plan *strategy.Plan) {
	held := view.Position.Quantity
	unit := s.symbol.QuantityTick * 1000
	enter := exchange.Quantity(0)
	if s.asks("long") {
		enter += questionedSize * unit
	}
	if s.asks("short") {
		enter -= questionedSize * unit
	}
	switch {
	case s.asks("exit") && s.set["exit"] != "":
		s.leaves = s.seen
		s.leave(view, plan)
	case held != 0 && s.asks("exit") && (enter == 0 || (enter > 0) != (held > 0)):
		plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: enter}, "signal")
	case held != 0 && s.asks("part"):
		plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: held - unit}, "part")
	case held != 0 && s.asks("add"):
		plan.Orders, plan.OrdersSet = append(plan.Orders, strategy.DesiredOrder{Key: "add", Side: exchange.Buy, Price: s.price("add", 0), Quantity: unit}), true
	case held != 0 && s.leaves > 0:
		s.leave(view, plan)
	case held != 0:
	case s.set["entry"] != "":
		s.enter(enter, plan)
	default:
		plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: enter}, "signal")
	}
}

// enter rests an opening limit order.
func (s *questioned) enter(quantity exchange.Quantity, plan *strategy.Plan) {
	if quantity != 0 {
		s.since = s.seen
	}
	plan.OrdersSet = true
	if price := s.price("entry", s.seen-s.since); s.since > 0 && price > 0 {
		quantity = questionedSize * s.symbol.QuantityTick * 1000
		side := exchange.Buy
		if strings.Contains(s.signals[s.since-1], "short") {
			side = exchange.Sell
		}
		plan.Orders = append(plan.Orders, strategy.DesiredOrder{Key: "in", Side: side, Price: price, Quantity: quantity})
	}
}

// leave rests a closing limit order.
func (s *questioned) leave(view *strategy.View, plan *strategy.Plan) {
	plan.ExitsSet = true
	if price := s.price("exit", s.seen-s.leaves); price > 0 {
		plan.Exits = append(plan.Exits, strategy.DesiredOrder{Key: "out", Side: exchange.SideOf(-view.Position.Quantity), Price: price,
			Quantity: max(view.Position.Quantity, -view.Position.Quantity)})
	}
}

func percentOf(t *testing.T, text string) exchange.Rate {
	t.Helper()
	share, err := decimal.NewFromString(strings.TrimSuffix(text, "%"))
	if err != nil {
		t.Fatal(err)
	}
	return exchange.Rate(share.Shift(6).IntPart())
}

func (s *scenario) run(t *testing.T) *backtest.Result {
	t.Helper()
	symbol := symbol(t, exchange.Futures, "0.1", "0.001")
	recorded := candlesOf(t, symbol, exchange.Hour1, midnight, strings.Join(s.candles, "\n"))
	config := caseConfig(recorded, &scripted{})
	config.Costs = backtest.Costs{Path: sim.Worst}
	leg := &config.Legs[0].Strategy
	var rules overlay.TradeSettings
	if stop := s.set["stop"]; stop != "" {
		leg.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: percentOf(t, stop)}}
	}
	rules.Exit.Base = leg.Protection
	if trail := s.set["trail"]; trail != "" {
		rules.Exit.Trailing.Distance = percentOf(t, trail)
		if offset := s.set["offset"]; offset != "" {
			rules.Exit.Trailing.After = percentOf(t, offset)
		}
	}
	for pair := range strings.SplitSeq(s.set["returns"], ",") {
		if age, share, is := strings.Cut(pair, ":"); is {
			after, err := time.ParseDuration(age)
			if err != nil {
				t.Fatal(err)
			}
			rules.Exit.Returns = append(rules.Exit.Returns, overlay.Return{AgeMS: after.Milliseconds(), Profit: percentOf(t, share)})
		}
	}
	if leverage := s.set["leverage"]; leverage != "" {
		n, err := strconv.Atoi(leverage)
		if err != nil {
			t.Fatal(err)
		}
		leg.Leverage = n
	}
	leg.Strategy = overlay.Wrap(&questioned{scenario: s, symbol: symbol}, rules)
	return mustRun(t, config)
}

// trades formats a result's trades as the scenarios do.
func (s *scenario) trades(result *backtest.Result) (all []string) {
	candle := func(atMS int64) int64 { return (atMS - midnight) / int64(exchange.Hour1) }
	for _, trip := range result.Trips {
		how := map[string]string{"exit": "signal", "exit_order": "return", "stop_loss": "stop", "take_profit": "return"}[trip.ExitPurpose]
		switch {
		case how == "stop" && trailed(s, &trip):
			how = "trail"
		case how == "return" && s.set["exit"] != "":
			how = "signal"
		case how == "signal" && strings.Contains(trip.ExitReason, "return of"):
			how = "return"
		}
		all = append(all, fmt.Sprintf("%s %d %d %s", how, candle(trip.EnteredMS), candle(trip.LeftMS), trip.Exit))
	}
	if result.OpenPosition != nil {
		all = append(all, fmt.Sprintf("open %d", candle(result.Executions[len(result.Executions)-1].TimeMS)))
	}
	return all
}

// trailed reports whether a stop had moved from its first price.
func trailed(s *scenario, trip *backtest.TripRow) bool {
	if s.set["trail"] == "" {
		return false
	}
	entry, exit := decimal.RequireFromString(trip.Entry), decimal.RequireFromString(trip.Exit)
	first := s.set["stop"]
	if s.set["offset"] == "" {
		return true
	}
	share := decimal.RequireFromString(strings.TrimSuffix(first, "%")).Shift(-2)
	if trip.Side == "short" {
		share = share.Neg()
	}
	return !exit.Equal(entry.Sub(entry.Mul(share)))
}

// TestExitsAnswerTheQuestionsOfFreqtrade runs every question, and expects botd's answer to be freqtrade's or
// to differ for the reason in the file.
func TestExitsAnswerTheQuestionsOfFreqtrade(t *testing.T) {
	t.Parallel()
	agree, differ := 0, 0
	for i, s := range readScenarios(t) {
		if number, _, _ := strings.Cut(s.name, " "); number != strconv.Itoa(i) {
			t.Errorf("want question %d, have %s", i, s.name)
		}
		if have, want := s.trades(s.run(t)), s.wants(); !slices.Equal(have, want) {
			t.Errorf("%s:\n  want %q\n  have %q", s.name, want, have)
		}
		if s.because == "" {
			agree++
		} else if differ++; slices.Equal(s.ours, s.theirs) {
			t.Errorf("%s: there is nothing to explain", s.name)
		}
	}
	if agree+differ != 60 || agree < 43 {
		t.Errorf("want 60 questions and 43 like answers, have %d and %d", agree+differ, agree)
	}
	t.Logf("%d agree, %d differ for a reason", agree, differ)
}
