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

// flatCandles are candles that have a close only.
func flatCandles(closes ...float64) (all []exchange.Candle) {
	for i, c := range closes {
		p := exchange.Price(c * 1e8)
		all = append(all, exchange.Candle{OpenMS: int64(i) * 60_000, Open: p, High: p, Low: p, Close: p, Volume: 1})
	}
	return all
}

// show makes a candle the only one of a view.
func show(view *strategy.View, candle exchange.Candle) {
	candles := &exchange.Candles{}
	candles.Append(candle)
	view.SetHistory(candles, 1)
}

// sides feeds candles and returns the target after each: . none, L long, 0 flat, S short.
func sides(t *testing.T, s strategy.Strategy, candles []exchange.Candle) string {
	t.Helper()
	view := strategy.View{Symbol: setting(t, exchange.Futures).Symbol}
	plan, text := strategy.Plan{}, ""
	for _, c := range candles {
		show(&view, c)
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
		// EMA(1) is the close, EMA(2) starts as the average of two: 20 10 -> 15; then weights of 2/3.
		{"ema_cross", strategy.Values{"fast": "1", "slow": "2", "mode": "long_short"}, flatCandles(20, 10, 30, 31, 20), "..LLS"},
		{"ema_cross", strategy.Values{"fast": "1", "slow": "2"}, flatCandles(20, 10, 30, 31, 20), "..LL0"},
		// Both averages start at the same price: from there, any candle beyond it is a cross.
		{"ema_cross", strategy.Values{"fast": "1", "slow": "2", "mode": "long_short"}, flatCandles(10, 10, 11, 9), "..LS"},
		{"ema_cross", strategy.Values{"fast": "1", "slow": "2", "mode": "long_short"}, flatCandles(10, 10, 9, 11), "..SL"},
		// Touching is not a cross: 20 10 15 ends with both at 15.
		{"ema_cross", strategy.Values{"fast": "1", "slow": "2", "mode": "long_short"}, flatCandles(20, 10, 15, 16), "...L"},
		{"ema_cross", strategy.Values{"fast": "1", "slow": "2", "mode": "long_short"}, flatCandles(10, 20, 15, 14), "...S"},
		// Fast 2, slow 3, signal 2: the histogram exists from the fourth candle on.
		{"macd", strategy.Values{"fast": "2", "slow": "3", "signal": "2", "mode": "long_short"}, flatCandles(10, 10, 10, 10, 9, 8, 20, 30, 10), "....SSLLS"},
		// Entry 3, exit 2: a close above the three before, then below the two before.
		{"donchian", strategy.Values{"entry": "3", "exit": "2", "mode": "long_short"}, flatCandles(9, 10, 10, 11, 12, 13, 11.5, 11.6, 9), "...LLL00S"},
		{"donchian", strategy.Values{"entry": "3", "exit": "2", "mode": "long_short"}, flatCandles(10, 11, 10, 9, 8, 7, 8.5), "...SSS0"},
		// Both channels are complete before the first signal, whichever is longer.
		{"donchian", strategy.Values{"entry": "2", "exit": "4", "mode": "long_short"}, flatCandles(10, 11, 12, 13, 14), "....L"},
		{"donchian", strategy.Values{"entry": "4", "exit": "2", "mode": "long_short"}, flatCandles(14, 13, 12, 11, 10), "....S"},
		// Period 3, one deviation: 10 10 7 has the mean 9 and the deviation 1.41; 7 is below 7.59.
		{"bollinger", strategy.Values{"period": "3", "deviations": "1", "mode": "long_short"}, flatCandles(10, 10, 7, 8, 8.3, 8.1, 12), "..LL00S"},
		{"bollinger", strategy.Values{"period": "3", "deviations": "1"}, flatCandles(10, 10, 13, 12, 11, 8), "..00LL"},
		// At the mean itself it leaves: 10 7 8.5 has the mean 8.5, and 10 13 11.5 has 11.5.
		{"bollinger", strategy.Values{"period": "3", "deviations": "1", "mode": "long_short"}, flatCandles(10, 10, 7, 8.5), "..L0"},
		{"bollinger", strategy.Values{"period": "3", "deviations": "1", "mode": "long_short"}, flatCandles(10, 10, 13, 11.5), "..S0"},
		// At a band itself it does not enter: 90 110 has the mean 100 and a deviation of 10.
		{"bollinger", strategy.Values{"period": "2", "deviations": "1", "mode": "long_short"}, flatCandles(90, 110, 90), "..."},
		{"zscore", strategy.Values{"period": "2", "enter": "1", "mode": "long_short"}, flatCandles(90, 110, 90), "..."},
		// A score is 1 or -1 where the price moves, otherwise 0.
		{"zscore", strategy.Values{"period": "2", "enter": "0.9", "leave": "0", "mode": "long_short"}, flatCandles(90, 110, 110, 90, 90), ".S0L0"},
		// The scores for these closes: -1.41, -0.27, 1.22, 1.37.
		{"zscore", strategy.Values{"period": "3", "enter": "1.3", "leave": "0", "mode": "long_short"}, flatCandles(10, 10, 7, 8, 9, 12), "..LL0S"},
		{"zscore", strategy.Values{"period": "3", "enter": "1.3", "leave": "0.5"}, flatCandles(10, 10, 7, 8, 9), "..L00"},
		// With period 1 the line turns where a close passes the band, which is one range away.
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

// The target is on the requested side.
func TestATargetIsTheConfiguredSizeOrTheWholeEquity(t *testing.T) {
	t.Parallel()
	for _, size := range []struct {
		given             strategy.Size
		wantLong, wantOut strategy.Target
	}{
		{strategy.Size{}, strategy.Target{Kind: strategy.ByEquity, Share: exchange.RateOne}, strategy.Target{Kind: strategy.ByEquity,
			Share: -exchange.RateOne}},
		{strategy.Size{Equity: 7}, strategy.Target{Kind: strategy.ByEquity, Share: 7}, strategy.Target{Kind: strategy.ByEquity, Share: -7}},
		{strategy.Size{Quantity: 7}, strategy.Target{Kind: strategy.ByQuantity, Quantity: 7}, strategy.Target{Kind: strategy.ByQuantity, Quantity: -7}},
		{strategy.Size{Quote: exchange.AmountOf(7)}, strategy.Target{Kind: strategy.ByQuote, Quote: exchange.AmountOf(7)},
			strategy.Target{Kind: strategy.ByQuote, Quote: exchange.AmountOf(-7)}},
	} {
		for _, c := range []struct {
			strategy string
			values   strategy.Values
			long     []float64 // closes after which it is long
			out      []float64 // and short then; flat in mode long_only
		}{
			{"buy_and_hold", nil, nil, nil},
			{"rsi", strategy.Values{"period": "2"}, []float64{100, 90, 80}, []float64{120, 140}},
			{"sma_cross", strategy.Values{"fast": "1", "slow": "2"}, []float64{20, 10, 30}, []float64{20}},
			{"sma_cross", strategy.Values{"fast": "1", "slow": "2", "mode": "long_short"}, []float64{20, 10, 30}, []float64{20}},
			{"ema_cross", strategy.Values{"fast": "1", "slow": "2"}, []float64{20, 10, 30}, []float64{10}},
			{"ema_cross", strategy.Values{"fast": "1", "slow": "2", "mode": "long_short"}, []float64{20, 10, 30}, []float64{10}},
		} {
			where := setting(t, exchange.Futures)
			where.Size = size.given
			b := newBook(t, newStrategyIn(t, where, c.strategy, c.values), exchange.Futures)
			wantOut := size.wantOut
			if c.values["mode"] == "" {
				wantOut = strategy.Flat()
			}
			b.feed(c.long...)
			if b.decide(100); b.plan.Target != size.wantLong || b.plan.Reason == "" {
				t.Errorf("%s of %+v: want %+v, have %+v", c.strategy, size.given, size.wantLong, b.plan)
			}
			if b.feed(c.out...); c.out == nil {
				wantOut = size.wantLong
			}
			if b.decide(100); b.plan.Target != wantOut || b.plan.Reason == "" {
				t.Errorf("%s %v of %+v: want %+v, have %+v", c.strategy, c.values, size.given, wantOut, b.plan)
			}
		}
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

// A breakout gives a signal at each new extreme, so it enters again after a stop.
func TestASignalIsGivenByTheCandleOfItsChange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		strategy string
		values   strategy.Values
		closes   []float64
		want     []int64 // candle of the signal in force
	}{
		{"ema_cross", strategy.Values{"fast": "1", "slow": "2", "mode": "long_short"}, []float64{10, 10, 11, 12, 9}, []int64{0, 0, 3, 3, 5}},
		{"macd", strategy.Values{"fast": "2", "slow": "3", "signal": "3"}, []float64{100, 100, 100, 100, 100, 112, 113}, []int64{0, 0, 0, 0, 0, 6, 6}},
		{"bollinger", strategy.Values{"period": "3", "deviations": "1"}, []float64{10, 10, 7, 6, 9}, []int64{0, 0, 3, 3, 5}},
		{"donchian", strategy.Values{"entry": "2", "exit": "1", "mode": "long_short"}, []float64{10, 10, 11, 12, 12, 13}, []int64{0, 0, 3, 4, 4, 6}},
	} {
		b := newBook(t, newStrategy(t, c.strategy, exchange.Futures, c.values), exchange.Futures)
		var have []int64
		for i, price := range c.closes {
			b.view.NowMS = int64(i + 1)
			b.feed(price)
			b.decide(price)
			have = append(have, b.plan.SignalMS)
		}
		if !slices.Equal(have, c.want) {
			t.Errorf("%s: want signals of candles %v, have %v", c.strategy, c.want, have)
		}
	}
}
