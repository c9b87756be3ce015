package tryout

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"botd/backtest"
	"botd/backtest/saved"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/strategy"
)

func TestSymbolsAreFoundInTheNamesOfFiles(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"data/Binance_DOGEUSDT_1h.csv": "DOGE-USDT", "Bitstamp_DOGEUSD_d.csv": "DOGE-USDT", "doge-usd.csv": "DOGE-USDT",
		"SOL_USDT-1h.json": "SOL-USDT", "XRPEUR_60.csv": "XRP-EUR", "XBTUSD_60.csv": "BTC-USDT",
		"BTC_USDT_USDT-1h-futures.feather": "BTC-USDT", "1000PEPEUSDT-1m-2024-01.zip": "1000PEPE-USDT", "candles.csv": "", "kraken-usd.csv": "",
		"BINANCE_BTCUSDT, 60.csv": "BTC-USDT", "prices.txt": ""} {
		if have := SymbolOf(path); have != want {
			t.Errorf("%s: want %q, have %q", path, want, have)
		}
	}
}

func candles(t *testing.T, places string, prices ...exchange.Price) *tape.Tape {
	t.Helper()
	symbol, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Spot, Name: "DOGE-USDT", Base: "DOGE", Quote: "USDT",
		PriceTick: decimal.RequireFromString(places), QuantityTick: decimal.New(1, -3), MaxNotional: decimal.NewFromInt(1_000_000)})
	if err != nil {
		t.Fatal(err)
	}
	return &tape.Tape{Symbol: symbol, Candles: &exchange.Candles{Open: prices, High: prices, Low: prices, Close: prices, OpenMS: make([]int64, len(prices))}}
}

func TestTicksAreGuessedFromThePrices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		recorded        *tape.Tape
		price, quantity string
	}{
		{candles(t, "0.00000001", 12_345_000, 12_300_000), "0.00001", "0.1"}, // 0.12345 and 0.12300
		{candles(t, "0.00000001", 6_000_010_000_000, 6_000_000_000_000), "0.1", "0.000001"},
		{candles(t, "0.00000001", 985), "0.00000001", "1000"},
	} {
		have := TicksOf(c.recorded)
		if have.Price.String() != c.price || have.Quantity.String() != c.quantity {
			t.Errorf("want %s and %s, have %s and %s", c.price, c.quantity, have.Price, have.Quantity)
		}
	}
}

func TestTheSettingsNearTheGivenOnesAreVaried(t *testing.T) {
	t.Parallel()
	parameters := []strategy.Parameter{{Name: "mode", Kind: "text", Default: "long_only"}, {Name: "fast", Kind: "int", Default: "10", Min: "1"},
		{Name: "slow", Kind: "int", Min: "2", Max: "40"}, {Name: "third", Kind: "decimal", Default: "1"}}
	have := Vary(parameters, strategy.Values{"slow": "40"})
	if want := []string{"fast=8,10,13", "slow=30,40"}; !slices.Equal(have, want) {
		t.Errorf("want %v, have %v", want, have)
	}
	rules := []strategy.Parameter{{Name: "entry_long", Kind: "text", Default: "False"}, {Name: "exit_long", Kind: "text", Default: "False"}}
	have = Vary(rules, strategy.Values{"entry_long": "rsi(close, 14) < 30 and close > sma(close, 50)"})
	if want := []string{`entry_long="rsi(close, 14) < 22.5 and close > sma(close, 50)","rsi(close, 14) < 30 and close > sma(close, 50)",` +
		`"rsi(close, 14) < 37.5 and close > sma(close, 50)"`}; !slices.Equal(have, want) {
		t.Errorf("want the threshold of the rule varied: %v, have %v", want, have)
	}
	if have := Vary(parameters[1:2], strategy.Values{"fast": "1"}); len(have) != 0 {
		t.Errorf("want nothing to vary near 1, have %v", have)
	}
}

// outcome is an outcome without objections, modified by change.
func outcome(change func(*Outcome)) *Outcome {
	percent := func(value float64) *float64 { return &value }
	from := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	o := &Outcome{Lookahead: &backtest.Lookahead{OK: true, Decisions: 200, Cuts: 20}, Result: &backtest.Result{Name: "trend", RoundTrips: 40, Fills: 80,
		From: from, To: from.AddDate(1, 0, 0), Figures: backtest.Figures{BuyAndHold: percent(5)}, Columns: []backtest.Column{{Name: "realistic",
			Profit: percent(12)}, {Name: "pessimistic", Profit: percent(3)}}}, Sweep: &saved.Sweep{}}
	for _, made := range []float64{12, 10, -4} {
		o.Sweep.Trials = append(o.Sweep.Trials, backtest.Trial{Params: map[string]string{"fast": "8"}, Seen: &backtest.Column{Profit: percent(made)}})
	}
	change(o)
	return o
}

func TestTheVerdictIsOneSentence(t *testing.T) {
	t.Parallel()
	loss := -2.5
	for _, c := range []struct {
		want   string
		change func(*Outcome)
	}{
		{"Worth trying on paper: +12.0 % after costs (buy and hold +5.0 %), and no check speaks against it.", func(*Outcome) {}},
		{"Not yet: it made -2.5 % after costs (buy and hold +5.0 %).", func(o *Outcome) { o.Result.Columns[0].Profit = &loss }},
		{"Earns, but does not convince: +12.0 % after costs (buy and hold +5.0 %); -2.5 % with worse costs and fills.",
			func(o *Outcome) { o.Result.Columns[1].Profit = &loss }},
		{"Earns, but does not convince: +12.0 % after costs (buy and hold +5.0 %); 1 of 3 settings near yours earn.",
			func(o *Outcome) { o.Sweep.Trials[0].Seen.Profit = &loss }},
		{"Earns, but does not convince: +12.0 % after costs (buy and hold +5.0 %); 12 round trips; below 30 luck decides.",
			func(o *Outcome) { o.Result.RoundTrips = 12 }},
		{"Earns, but less than holding: +12.0 % after costs (buy and hold +20.0 %).",
			func(o *Outcome) { more := 20.0; o.Result.Figures.BuyAndHold = &more }},
		{"Not usable: it decides by candles that come later, so that its +12.0 % after costs (buy and hold +5.0 %) cannot be had.",
			func(o *Outcome) { o.Lookahead.Differences = make([]backtest.Difference, 2) }},
		{"It did not trade: no condition of an entry was met, or every order was refused.",
			func(o *Outcome) { o.Result.RoundTrips, o.Result.Fills = 0, 0 }},
	} {
		o := outcome(c.change)
		if have := o.Verdict(); have != c.want {
			t.Errorf("want %s\nhave %s", c.want, have)
		}
		var page strings.Builder
		if err := o.WritePage(&page); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(page.String(), `src="report.html"`) || !strings.Contains(page.String(), "No look-ahead") {
			t.Errorf("want the checks and the report in the page, have %.300s", page.String())
		}
	}
}
