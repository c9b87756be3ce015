package tryout

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"botd/backtest"
	"botd/backtest/resultstore"
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
		if have := symbolOf(path); have != want {
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
		{candles(t, "0.00000001", 100_000_000), "1", "0.1"},                      // 1.00: a tenth of it is worth 0.1
		{candles(t, "0.00000001", 101_000_000), "0.01", "0.01"},                  // 1.01: a tenth is worth more
		{candles(t, "0.00000001", 1_000_000_000_000_000_000), "1", "0.00000001"}, // 10,000,000,000: no step is smaller
		{candles(t, "0.00000001", 50_000_000, 12_345_678), "0.00000001", "0.1"},  // 0.5, and 0.12345678 at the end
	} {
		have := ticksOf(c.recorded)
		if have.Price.String() != c.price || have.Quantity.String() != c.quantity {
			t.Errorf("want %s and %s, have %s and %s", c.price, c.quantity, have.Price, have.Quantity)
		}
	}
}

func TestTheSettingsNearTheGivenOnesAreVaried(t *testing.T) {
	t.Parallel()
	parameters := []strategy.Parameter{{Name: "mode", Kind: "text", Default: "long_only"}, {Name: "fast", Kind: "int", Default: "10", Min: "1"},
		{Name: "slow", Kind: "int", Min: "2", Max: "40"}, {Name: "third", Kind: "decimal", Default: "1"}}
	have := vary(parameters, strategy.Values{"slow": "40"})
	if want := []string{"fast=8,10,13", "slow=30,40"}; !slices.Equal(have, want) {
		t.Errorf("want %v, have %v", want, have)
	}
	rules := []strategy.Parameter{{Name: "entry_long", Kind: "text", Default: "False"}, {Name: "exit_long", Kind: "text", Default: "False"}}
	have = vary(rules, strategy.Values{"entry_long": "rsi(close, 14) < 30 and close > sma(close, 50)"})
	if want := []string{`entry_long="rsi(close, 14) < 22.5 and close > sma(close, 50)","rsi(close, 14) < 30 and close > sma(close, 50)",` +
		`"rsi(close, 14) < 37.5 and close > sma(close, 50)"`}; !slices.Equal(have, want) {
		t.Errorf("want the threshold of the rule varied: %v, have %v", want, have)
	}
	if have := vary(parameters[1:2], strategy.Values{"fast": "1"}); len(have) != 0 {
		t.Errorf("want nothing to vary near 1, have %v", have)
	}
}

// outcome is an outcome without objections, modified by change.
func outcome(change func(*Outcome)) *Outcome {
	percent := func(value float64) *float64 { return &value }
	from := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	o := &Outcome{Lookahead: &backtest.Lookahead{OK: true, Decisions: 200, Cuts: 20}, Result: &backtest.Result{Name: "trend", RoundTrips: 40, Fills: 80,
		From: from, To: from.AddDate(1, 0, 0), Figures: backtest.Figures{BuyAndHold: percent(5)}, Columns: []backtest.Column{{Name: "realistic",
			Profit: percent(12)}, {Name: "pessimistic", Profit: percent(3)}}}, Sweep: &resultstore.Sweep{}}
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
		{"Worth trying on paper: +12.0 % after costs (buy and hold +5.0 %), and no check failed.", func(*Outcome) {}},
		{"Not yet: it made -2.5 % after costs (buy and hold +5.0 %).", func(o *Outcome) { o.Result.Columns[0].Profit = &loss }},
		{"Earns, but does not convince: +12.0 % after costs (buy and hold +5.0 %); -2.5 % with worse costs and fills.",
			func(o *Outcome) { o.Result.Columns[1].Profit = &loss }},
		{"Earns, but does not convince: +12.0 % after costs (buy and hold +5.0 %); 1 of 3 settings near yours earn.",
			func(o *Outcome) { o.Sweep.Trials[0].Seen.Profit = &loss }},
		{"Earns, but does not convince: +12.0 % after costs (buy and hold +5.0 %); 12 round trips; below 30 luck decides.",
			func(o *Outcome) { o.Result.RoundTrips = 12 }},
		{"Earns, but less than holding: +12.0 % after costs (buy and hold +20.0 %).",
			func(o *Outcome) { more := 20.0; o.Result.Figures.BuyAndHold = &more }},
		{"Not usable: it uses later candles, so this result cannot be achieved: +12.0 % after costs (buy and hold +5.0 %).",
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

// TestTheBoundsOfTheChecks covers each figure at its bound and just beyond.
func TestTheBoundsOfTheChecks(t *testing.T) {
	t.Parallel()
	number := func(value float64) *float64 { return &value }
	trials := func(made ...float64) (all []backtest.Trial) {
		for _, m := range made {
			all = append(all, backtest.Trial{Seen: &backtest.Column{Profit: number(m)}})
		}
		return append(all, backtest.Trial{}, backtest.Trial{Seen: &backtest.Column{}}) // two that failed
	}
	for _, c := range []struct {
		name, check string
		change      func(*Outcome)
		want        Check
	}{
		{"nothing earned", "After costs", func(o *Outcome) { o.Result.Columns[0].Profit = number(0) }, Check{"", false, "+0.0 % with the configured costs"}},
		{"a little earned", "After costs", func(o *Outcome) { o.Result.Columns[0].Profit = number(0.1) }, Check{"", true, "+0.1 % with the configured costs"}},
		{"no figure", "After costs", func(o *Outcome) { o.Result.Columns[0].Profit = nil }, Check{"", false, "+0.0 % with the configured costs"}},
		{"nothing at worse costs", "With worse costs", func(o *Outcome) { o.Result.Columns[1].Profit = number(0) },
			Check{"", false, "+0.0 % with worse costs and fills"}},
		{"three of five", "Other settings", func(o *Outcome) { o.Sweep.Trials = trials(1, 2, 3) }, Check{"", true, "3 of 5 settings near yours earn"}},
		{"two of five, and one that earns nothing", "Other settings", func(o *Outcome) { o.Sweep.Trials = trials(1, 2, 0)[:5] },
			Check{"", false, "2 of 5 settings near yours earn"}},
		{"two settings", "Other settings", func(o *Outcome) { o.Sweep.Trials = trials(1, 2)[:2] }, Check{"", true, "2 of 2 settings near yours earn"}},
		{"30 trips", "Enough trades", func(o *Outcome) { o.Result.RoundTrips = 30 }, Check{"", true, "30 round trips; below 30 luck decides"}},
		{"29 trips", "Enough trades", func(o *Outcome) { o.Result.RoundTrips = 29 }, Check{"", false, "29 round trips; below 30 luck decides"}},
		{"90 days", "Enough time", func(o *Outcome) { o.Result.To = o.Result.From.AddDate(0, 0, 90) },
			Check{"", true, "90 days; below 90 one mood of the market decides"}},
		{"89 days", "Enough time", func(o *Outcome) { o.Result.To = o.Result.From.AddDate(0, 0, 89) },
			Check{"", false, "89 days; below 90 one mood of the market decides"}},
		{"as much as holding", "Against holding", func(o *Outcome) { o.Result.Figures.BuyAndHold = number(12) }, Check{"", false, "buy and hold made +12.0 %"}},
		{"liquidated", "No liquidation", func(o *Outcome) { o.Result.Liquidations = 1 }, Check{"", false, "1 liquidations"}},
		{"a decision by the future", "No look-ahead", func(o *Outcome) { o.Lookahead.Differences = make([]backtest.Difference, 1) },
			Check{"", false, "1 decisions depend on candles that come later"}},
		{"not examined", "No look-ahead", func(o *Outcome) { o.Lookahead.Unexamined = []string{"trend"} },
			Check{"", false, "too few decisions to examine for look-ahead: trend"}},
		{"examined", "No look-ahead", func(*Outcome) {}, Check{"", true, "200 decisions compared at 20 cuts, none depends on later candles"}},
	} {
		c.want.Name = c.check
		checks := outcome(c.change).Checks()
		if at := slices.IndexFunc(checks, func(check Check) bool { return check.Name == c.check }); at < 0 || checks[at] != c.want {
			t.Errorf("%s: want %+v, have %+v", c.name, c.want, checks)
		}
	}
	for _, change := range []func(*Outcome){func(o *Outcome) { o.Sweep = nil }, func(o *Outcome) { o.Sweep.Trials = o.Sweep.Trials[:1] }} {
		without := func(o *Outcome) { change(o); o.Result.Figures.BuyAndHold = nil }
		var names []string
		for _, check := range outcome(without).Checks() {
			names = append(names, check.Name)
		}
		if want := []string{"No look-ahead", "After costs", "With worse costs", "Enough trades", "Enough time"}; !slices.Equal(names, want) {
			t.Errorf("want %q where nothing varies, have %q", want, names)
		}
		if want, have := "Worth trying on paper: +12.0 % after costs, and no check failed.", outcome(without).Verdict(); have != want {
			t.Errorf("want %s, have %s", want, have)
		}
	}
	if have := outcome(func(o *Outcome) { o.Result.RoundTrips, o.Result.Fills = 0, 1 }).Verdict(); !strings.Contains(have, "0 round trips") {
		t.Errorf("want a position that is still open to count as trading, have %s", have)
	}
}

func TestTheSettingsOfATrialAreSorted(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	o := outcome(func(o *Outcome) {
		o.Sweep.Trials[1].Params = map[string]string{"slow": "30", "fast": "8", "atr": "14", "mode": "both"}
	})
	if err := o.WritePage(&page); err != nil || !strings.Contains(page.String(), "atr 14, fast 8, mode both, slow 30") {
		t.Errorf("want the settings in order, have %.2000s, %v", page.String(), err)
	}
}
