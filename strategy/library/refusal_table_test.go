package library

import (
	"errors"
	"fmt"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// The cases are each impossible value, with the refused parameter, and a similar possible one.
func TestImpossibleParametersAreRefused(t *testing.T) {
	t.Parallel()
	futures, spot := exchange.Futures, exchange.Spot
	with := func(base strategy.Values, pairs ...string) strategy.Values {
		values := strategy.Values{}
		for name, value := range base {
			values[name] = value
		}
		for i := 0; i < len(pairs); i += 2 {
			values[pairs[i]] = pairs[i+1]
		}
		return values
	}
	dca := strategy.Values{"amount": "100"}
	quote := strategy.Values{"quantity": "0.1", "max_position": "0.5"}
	grid := strategy.Values{"lower": "100", "upper": "140", "lines": "5", "quantity": "0.1"}
	for _, c := range []struct {
		strategy string
		market   exchange.Market
		values   strategy.Values
		refused  string // the refused parameter; empty for none
	}{
		{"twap", futures, strategy.Values{"quantity": "0.001"}, ""},
		{"twap", futures, strategy.Values{"quantity": "0"}, "quantity"},
		{"twap", futures, strategy.Values{"quantity": "0.0015"}, "quantity"},
		{"twap", futures, strategy.Values{"quantity": "0.1", "side": "sell"}, ""},
		{"twap", spot, strategy.Values{"quantity": "0.1", "side": "sell"}, "side"},
		{"twap", spot, strategy.Values{"quantity": "0.1"}, ""},
		{"dca", futures, with(dca, "amount", "5"), ""},
		{"dca", futures, with(dca, "amount", "4.99"), "amount"},
		{"dca", futures, with(dca, "amount", "0"), "amount"},
		{"dca", futures, with(dca, "fall", "50%", "falls", "2", "step_scale", "1.9"), ""},
		{"dca", futures, with(dca, "fall", "50%", "falls", "2", "step_scale", "2"), "step_scale"},
		{"dca", futures, with(dca, "fall", "50%", "falls", "1", "step_scale", "5"), ""},
		{"dca", futures, with(dca, "fall", "50%", "falls", "0", "step_scale", "5"), ""},
		{"dca", futures, with(dca, "amount", "1000", "fall", "1%", "falls", "3", "scale", "10"), ""},
		{"dca", futures, with(dca, "amount", "1001", "fall", "1%", "falls", "3", "scale", "10"), "falls"},
		{"dca", futures, with(dca, "amount", "1001", "falls", "3", "scale", "10"), ""},
		{"dca", futures, with(dca, "fall", "0.00000001"), ""},
		{"dca", futures, with(dca, "fall", "90%", "falls", "0", "step_scale", "0.5"), ""},
		{"dca", futures, with(dca, "amount", "1001", "fall", "0.00000001", "falls", "3", "scale", "10"), "falls"},
		{"rebalance", futures, strategy.Values{"weight": "0.00000001"}, ""},
		{"market_making", futures, with(quote, "quantity", "0.001"), ""},
		{"market_making", futures, with(quote, "max_position", "0.5005"), "max_position"},
		{"grid", futures, with(grid, "lower", "0.96", "upper", "1.2093", "lines", "4", "spacing", "geometric", "quantity", "10"), "lines"},
		{"grid", spot, with(grid, "lower", "10000", "upper", "14000", "quantity", "0.001"), "fee"},
		{"grid", spot, with(grid, "lower", "10000", "upper", "14000", "quantity", "0.001", "fee", "0"), ""},
		{"grid", futures, with(grid, "lower", "10000", "upper", "14000", "quantity", "0", "quote", "5"), "quote"},
		{"dca", futures, with(dca, "fall", "0.000000001"), "fall"},
		{"dca", futures, with(dca, "take_profit", "0.000000001"), "take_profit"},
		{"dca", futures, with(dca, "scale", "1.000000001"), "scale"},
		{"dca", futures, with(dca, "step_scale", "1.000000001"), "step_scale"},
		{"twap", futures, strategy.Values{"quantity": "0.1", "price_bound": "0.000000001"}, "price_bound"},
		{"market_making", futures, with(quote, "floor", "0.000000001"), "floor"},
		{"market_making", futures, with(quote, "ceiling", "0.000000001"), "ceiling"},
		{"grid", futures, with(grid, "quantity", "0", "quote", "5.0000000000000000001"), "quote"},
		{"grid", futures, with(grid, "quantity", "0", "quote", "20", "reinvest", "0.000000001"), "reinvest"},
		{"grid", futures, with(grid, "stop", "0.000000001"), "stop"},
		{"grid", spot, with(grid, "fee", "0.000000001"), "fee"},
		{"turtle", futures, strategy.Values{"risk": "0.0123456789"}, "risk"},
		{"turtle", futures, strategy.Values{"max_notional": "0.0123456789"}, "max_notional"},
		{"funding_carry", futures, strategy.Values{"quantity": "0.1", "enter": "0.0000123456789", "leave": "0.000001234567", "band": "0.0123456789"}, ""},
		{"rebalance", futures, strategy.Values{"weight": "0"}, "weight"},
		{"rebalance", futures, strategy.Values{"weight": "0.000001"}, ""},
		{"funding_carry", futures, strategy.Values{"quantity": "0.001"}, ""},
		{"funding_carry", futures, strategy.Values{"quantity": "0"}, "quantity"},
		{"funding_carry", futures, strategy.Values{"quantity": "0.0015"}, "quantity"},
		{"funding_carry", futures, strategy.Values{"quantity": "0.1", "enter": "0.01%", "leave": "0.02%"}, "leave"},
		{"funding_carry", futures, strategy.Values{"quantity": "0.1", "enter": "0.01%", "leave": "0.01%"}, ""},
		{"market_making", futures, with(quote, "quantity", "0.5"), ""},
		{"market_making", futures, with(quote, "quantity", "0.501"), "max_position"},
		{"market_making", futures, with(quote, "quantity", "0"), "quantity"},
		{"market_making", futures, with(quote, "quantity", "0.0015"), "quantity"},
		{"market_making", futures, with(quote, "max_position", "0"), "max_position"},
		{"market_making", futures, with(quote, "target", "-0.5"), ""},
		{"market_making", futures, with(quote, "target", "-0.501"), "target"},
		{"market_making", futures, with(quote, "target", "0.501"), "target"},
		{"market_making", futures, with(quote, "target", "0.0005"), "target"},
		{"market_making", spot, with(quote, "target", "-0.1"), "target"},
		{"market_making", spot, with(quote, "target", "0.1"), ""},
		{"market_making", futures, with(quote, "floor", "100", "ceiling", "100"), "ceiling"},
		{"market_making", futures, with(quote, "floor", "100", "ceiling", "100.1"), ""},
		{"market_making", futures, with(quote, "floor", "100"), ""},
		{"grid", futures, grid, ""},
		{"grid", futures, with(grid, "quantity", "0.05"), ""},
		{"grid", futures, with(grid, "quantity", "0.049"), "quantity"},
		{"grid", futures, with(grid, "quantity", "0", "quote", "6"), ""},
		{"grid", futures, with(grid, "quantity", "0", "quote", "4"), "quote"},
		{"grid", futures, with(grid, "reinvest", "0.5"), "reinvest"},
		{"grid", futures, with(grid, "quantity", "0", "quote", "20", "reinvest", "0.5"), ""},
		{"turtle", futures, strategy.Values{"entry": "20", "failsafe": "20"}, "failsafe"},
		{"turtle", futures, strategy.Values{"entry": "20", "failsafe": "21"}, ""},
		{"turtle", futures, strategy.Values{"entry": "20", "failsafe": "0"}, ""},
		{"turtle", futures, strategy.Values{"max_notional": "2"}, ""},
		{"turtle", spot, strategy.Values{"max_notional": "1"}, ""},
		{"turtle", spot, strategy.Values{"max_notional": "1.01"}, "max_notional"},
		{"turtle", spot, strategy.Values{"mode": "long_short"}, "mode"},
		{"donchian", spot, strategy.Values{"mode": "long_short"}, "mode"},
		{"donchian", futures, strategy.Values{"mode": "long_short"}, ""},
		{"ema_cross", spot, strategy.Values{"mode": "long_short"}, "mode"},
		{"signal", spot, strategy.Values{"mode": "long_short"}, "mode"},
		{"rsi", futures, strategy.Values{"low": "50", "high": "50"}, "low"},
		{"rsi", futures, strategy.Values{"low": "49", "high": "50"}, ""},
		{"zscore", futures, strategy.Values{"enter": "2", "leave": "2"}, "leave"},
		{"zscore", futures, strategy.Values{"enter": "2", "leave": "1.9"}, ""},
	} {
		made := setting(t, c.market)
		made.Size = strategy.Size{Quantity: 10}
		definition, _ := strategy.NewRegistry(All()...).Find(c.strategy)
		s, err := definition.New(made, c.values)
		var wrong *strategy.ValueError
		switch {
		case c.refused == "" && (err != nil || s == nil):
			t.Errorf("%s on %s of %v: want it made, have %v", c.strategy, c.market, c.values, err)
		case c.refused != "" && (!errors.As(err, &wrong) || wrong.Parameter != c.refused || wrong.Err == nil || wrong.Err.Error() == ""):
			t.Errorf("%s on %s of %v: want %s refused with its reason, have %v", c.strategy, c.market, c.values, c.refused, err)
		}
	}
}

// The cases list the warm-up, the watched inputs, and the profit of one pair of orders before fees.
func TestStrategyRequirements(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		strategy string
		values   strategy.Values
		want     string // warm-up, watching, economics
	}{
		{"buy_and_hold", nil, "0"},
		{"twap", strategy.Values{"quantity": "0.1"}, "0"},
		{"dca", strategy.Values{"amount": "100"}, "1 events"},
		{"dca", strategy.Values{"amount": "100", "take_profit": "5%"}, "1 events, makes 0.052 as taker twice"},
		{"rebalance", strategy.Values{"weight": "40%"}, "1 events, weight 0.4"},
		{"funding_carry", strategy.Values{"quantity": "0.1"}, "1 funding pair spot BTC-USDT"},
		{"grid", strategy.Values{"lower": "100", "upper": "140", "lines": "5", "quantity": "0.1"}, "1, makes 0.07142857 as maker twice, from 100 to 140"},
		{"market_making", strategy.Values{"quantity": "0.1", "max_position": "0.5", "spread": "2%"}, "1 book, makes 0.02 as maker twice"},
		{"grid", strategy.Values{"lower": "100", "upper": "140", "lines": "2", "quantity": "0.1"}, "1, makes 0.28571428 as maker twice, from 100 to 140"},
		{"avellaneda", strategy.Values{"quantity": "0.1", "max_position": "0.5", "period": "7"}, "8 book, makes 0.0002 as maker twice"},
		{"signal", nil, "0"},
		{"sma_cross", strategy.Values{"fast": "2", "slow": "5"}, "6"},
		{"ema_cross", strategy.Values{"fast": "2", "slow": "5"}, "15"},
		{"macd", strategy.Values{"fast": "2", "slow": "5", "signal": "4"}, "19"},
		{"supertrend", strategy.Values{"period": "7"}, "35"},
		{"donchian", strategy.Values{"entry": "7", "exit": "3"}, "8"},
		{"donchian", strategy.Values{"entry": "3", "exit": "7"}, "8"},
		{"rsi", strategy.Values{"period": "7"}, "8"},
		{"bollinger", strategy.Values{"period": "7"}, "7"},
		{"zscore", strategy.Values{"period": "7"}, "7"},
		{"turtle", strategy.Values{"entry": "20", "exit": "10", "failsafe": "55", "period": "5"}, "56 events"},
		{"turtle", strategy.Values{"entry": "20", "exit": "10", "failsafe": "55", "period": "20"}, "61 events"},
	} {
		made := setting(t, exchange.Futures)
		made.Size, made.Fees = strategy.Size{Quantity: 10}, strategy.Fees{Taker: exchange.RateOne / 1000}
		definition, _ := strategy.NewRegistry(All()...).Find(c.strategy)
		s, err := definition.New(made, c.values)
		if err != nil {
			t.Fatal(c.strategy, err)
		}
		have := fmt.Sprint(s.Warmup())
		watching := strategy.WatchingOf(s)
		for _, part := range []struct {
			is   bool
			text string
		}{{watching.Events, " events"}, {watching.Funding, " funding"}, {watching.OrderBook, " book"}, {watching.Pair != (exchange.SymbolKey{}),
			" pair " + watching.Pair.String()}} {
			if part.is {
				have += part.text
			}
		}
		if knows, is := s.(interface {
			Economics() (strategy.Economics, bool)
		}); is {
			if e, known := knows.Economics(); known {
				have += fmt.Sprintf(", makes %s as %s", e.Gross, map[[2]int]string{{2, 0}: "maker twice", {0, 2}: "taker twice"}[[2]int{e.Makers, e.Takers}])
			}
		}
		if ranged, is := s.(interface {
			Range() (low, high exchange.Price)
		}); is {
			low, high := ranged.Range()
			have += fmt.Sprintf(", from %v to %v", made.Symbol.PriceDecimal(low), made.Symbol.PriceDecimal(high))
		}
		if weighed, is := s.(interface{ Weight() exchange.Rate }); is {
			have += ", weight " + weighed.Weight().String()
		}
		if have != c.want {
			t.Errorf("%s of %v: want %s, have %s", c.strategy, c.values, c.want, have)
		}
	}
}

// Without the exchange's minimum only this check finds a too small amount.
func TestTooSmallAmountsAreRefusedWithoutMinimum(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		strategy string
		values   strategy.Values
		refused  string
	}{
		{"dca", strategy.Values{"amount": "0"}, "amount"},
		{"dca", strategy.Values{"amount": "0.0000000000000000001"}, "amount"},
		{"dca", strategy.Values{"amount": "0.000000000000000001"}, ""},
		{"market_making", strategy.Values{"quantity": "1", "max_position": "1", "floor": "0.00000001", "ceiling": "0.00000001"}, "ceiling"},
		{"market_making", strategy.Values{"quantity": "1", "max_position": "1", "floor": "0.00000001", "ceiling": "0.00000002"}, ""},
	} {
		definition, _ := strategy.NewRegistry(All()...).Find(c.strategy)
		_, err := definition.New(cheap(t, exchange.Futures), c.values)
		var wrong *strategy.ValueError
		if errors.As(err, &wrong) != (c.refused != "") || c.refused != "" && wrong.Parameter != c.refused {
			t.Errorf("%s of %v: want %q refused, have %v", c.strategy, c.values, c.refused, err)
		}
	}
}
