package library

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// flatCandles are candles that are a close and nothing more.
func flatCandles(closes ...float64) (all []exchange.Candle) {
	for i, c := range closes {
		p := exchange.Price(c * 1e8)
		all = append(all, exchange.Candle{OpenMS: int64(i) * 60_000, Open: p, High: p, Low: p, Close: p, Volume: 1})
	}
	return all
}

// sides feeds candles and returns the target after each: . none, L long, 0 flat, S short.
func sides(t *testing.T, s strategy.Strategy, candles []exchange.Candle) string {
	t.Helper()
	view := strategy.View{Symbol: setting(t, exchange.Futures).Symbol}
	plan, text := strategy.Plan{}, ""
	for _, c := range candles {
		view.Candle = c
		s.Candle(&view)
		plan.Reset()
		s.Decide(&view, &plan)
		switch {
		case plan.Target.Kind == strategy.NoTarget:
			text += "."
		case plan.Reason == "":
			t.Fatalf("%s: a target without a reason", text)
		default:
			text += string("S0L"[plan.Target.Sign()+1])
		}
	}
	return text
}

func TestSignalsEnterAndLeaveAtTheRightCandles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		values  strategy.Values
		candles []exchange.Candle
		want    string
	}{
		// EMA(1) is the close, EMA(2) begins as the mean of two: 20 10 -> 15; then weights of 2/3.
		{"ema_cross", strategy.Values{"fast": "1", "slow": "2", "mode": "long_short"}, flatCandles(20, 10, 30, 31, 20), "..LLS"},
		{"ema_cross", strategy.Values{"fast": "1", "slow": "2"}, flatCandles(20, 10, 30, 31, 20), "..LL0"},
		// Fast 2, slow 3, signal 2: the histogram exists from the fourth candle on.
		{"macd", strategy.Values{"fast": "2", "slow": "3", "signal": "2", "mode": "long_short"}, flatCandles(10, 10, 10, 10, 9, 8, 20, 30, 10), "....SSLLS"},
		// Entry 3, exit 2: a close above the three before, then below the two before.
		{"donchian", strategy.Values{"entry": "3", "exit": "2", "mode": "long_short"}, flatCandles(9, 10, 10, 11, 12, 13, 11.5, 11.6, 9), "...LLL00S"},
		{"donchian", strategy.Values{"entry": "3", "exit": "2", "mode": "long_short"}, flatCandles(10, 11, 10, 9, 8, 7, 8.5), "...SSS0"},
		// Period 3, one deviation: 10 10 7 has mean 9, deviation 1.41; 7 is below 7.59.
		{"bollinger", strategy.Values{"period": "3", "deviations": "1", "mode": "long_short"}, flatCandles(10, 10, 7, 8, 8.3, 8.1, 12), "..LL00S"},
		{"bollinger", strategy.Values{"period": "3", "deviations": "1"}, flatCandles(10, 10, 13, 12, 11, 8), "..00LL"},
		// The scores of the same: -1.41, -0.27, 1.22, 1.37.
		{"zscore", strategy.Values{"period": "3", "enter": "1.3", "leave": "0", "mode": "long_short"}, flatCandles(10, 10, 7, 8, 9, 12), "..LL0S"},
		{"zscore", strategy.Values{"period": "3", "enter": "1.3", "leave": "0.5"}, flatCandles(10, 10, 7, 8, 9), "..L00"},
		// Period 1, once the range: the line turns where a close passes the band.
		{"supertrend", strategy.Values{"period": "1", "multiplier": "1", "mode": "long_short"}, flatCandles(10, 11, 12, 9, 8, 14), "...SSL"},
	} {
		t.Run(fmt.Sprint(c.name, c.values), func(t *testing.T) {
			t.Parallel()
			if have := sides(t, newStrategy(t, c.name, exchange.Futures, c.values), c.candles); have != c.want {
				t.Errorf("want %s, have %s", c.want, have)
			}
		})
	}
}

func TestSellingShortIsRefusedOnSpot(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, definition := range All() {
		if !slices.ContainsFunc(definition.Parameters, func(p strategy.Parameter) bool { return p.Name == "mode" }) {
			continue
		}
		seen++
		_, err := definition.New(setting(t, exchange.Spot), strategy.Values{"mode": "long_short"})
		var wrong *strategy.ValueError
		if !errors.As(err, &wrong) || wrong.Parameter != "mode" {
			t.Errorf("%s: want params.mode to be wrong, have %v", definition.Name, err)
		}
		if _, err := definition.New(setting(t, exchange.Spot), nil); err != nil {
			t.Errorf("%s: %v", definition.Name, err)
		}
	}
	if seen < 6 {
		t.Errorf("only %d strategies have a mode", seen)
	}
}

func TestWrongParametersNameTheParameter(t *testing.T) {
	t.Parallel()
	registry := strategy.NewRegistry(All()...)
	for _, c := range []struct {
		name, parameter, want string
		market                exchange.Market
		values                strategy.Values
	}{
		{"ema_cross", "fast", "26 is not below slow 26", exchange.Futures, strategy.Values{"fast": "26"}},
		{"macd", "fast", "30 is not below slow 26", exchange.Futures, strategy.Values{"fast": "30"}},
		{"zscore", "leave", "2 is not below enter 2", exchange.Futures, strategy.Values{"leave": "2"}},
		{"dca", "amount", "4 USDT is less than minNotional 5", exchange.Futures, strategy.Values{"amount": "4"}},
		{"grid", "quantity", "0.0001 is not a multiple above zero of quantityTick 0.001", exchange.Futures,
			strategy.Values{"lower": "1", "upper": "2", "quantity": "0.0001"}},
		{"grid", "upper", "1 is not above lower 2", exchange.Futures, strategy.Values{"lower": "2", "upper": "1", "quantity": "1"}},
		{"grid", "lines", "closer than priceTick 0.1", exchange.Futures, strategy.Values{"lower": "100", "upper": "100.5", "quantity": "1"}},
		{"grid", "quantity", "less than minNotional 5", exchange.Futures, strategy.Values{"lower": "100", "upper": "200", "quantity": "0.049"}},
		{"grid", "side", "short needs the futures market", exchange.Spot, strategy.Values{"lower": "100", "upper": "200", "quantity": "1", "side": "short"}},
	} {
		definition, _ := registry.Find(c.name)
		_, err := definition.New(setting(t, c.market), c.values)
		var wrong *strategy.ValueError
		if !errors.As(err, &wrong) || wrong.Parameter != c.parameter || !strings.Contains(wrong.Error(), c.want) {
			t.Errorf("%s: want %s: %s, have %v", c.name, c.parameter, c.want, err)
		}
	}
}
