package backtest_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"testing"

	"github.com/shopspring/decimal"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/runtime/engine"
	"botd/strategy"
	"botd/strategy/library"
)

// shared is recorded data that is not part of the project.
func shared(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "shared", "data", filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("recorded data is not beside the project: %v", err)
	}
	return path
}

func symbol(t testing.TB, market exchange.Market, priceTick, quantityTick string) *exchange.Symbol {
	t.Helper()
	s, err := exchange.NewSymbol(exchange.SymbolSpec{
		Market:               market,
		Name:                 "BTC-USDT",
		Base:                 "BTC",
		Quote:                "USDT",
		PriceTick:            decimal.RequireFromString(priceTick),
		QuantityTick:         decimal.RequireFromString(quantityTick),
		MinNotional:          decimal.NewFromInt(5),
		MaxNotional:          decimal.NewFromInt(100_000_000),
		Tradable:             true,
		Cancelable:           true,
		FundingIntervalHours: 8,
		Brackets:             []exchange.Bracket{{Max: exchange.AmountOf(100_000_000), MarginRatio: 400_000, MaxLeverage: 50}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func build(t testing.TB, name string, setting strategy.Setting, values strategy.Values) strategy.Strategy {
	t.Helper()
	definition, found := strategy.NewRegistry(library.All()...).Find(name)
	if !found {
		t.Fatalf("no strategy %s", name)
	}
	s, err := definition.New(setting, values)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type reference struct {
	candles, strategy string
	values            strategy.Values
	market            exchange.Market
	priceTick         string
	quantityTick      string
	size              exchange.Rate
	leverage          int
	feeFromQuote      bool
	funding           string
}

func (c *reference) run(t testing.TB) *backtest.Result {
	t.Helper()
	recorded, err := tape.LoadCandles(shared(t, "candles/"+c.candles), symbol(t, c.market, c.priceTick, c.quantityTick), 0, tape.Options{})
	if err != nil {
		t.Fatal(err)
	}
	size := strategy.Size{Equity: c.size}
	config := backtest.Config{Cash: exchange.AmountOf(10_000), Costs: fees(40_000, 40_000), Legs: []backtest.Leg{
		{
			Kind: c.strategy,
			Tape: recorded,
			Strategy: engine.StrategyConfig{
				Name:     "reference",
				Symbol:   recorded.Symbol,
				Interval: recorded.Candles.Interval,
				Size:     size,
				Leverage: c.leverage,
				Strategy: build(t, c.strategy, strategy.Setting{Market: c.market, Symbol: recorded.Symbol, Interval: recorded.Candles.Interval,
					Size: size}, c.values),
			},
		},
	}}
	config.Costs.FeeFromQuote = c.feeFromQuote
	if c.funding != "" {
		if config.Legs[0].Funding, err = tape.LoadFunding(shared(t, "funding/"+c.funding)); err != nil {
			t.Fatal(err)
		}
	}
	result, err := backtest.Run(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func near(t *testing.T, what, want, have, within string) {
	t.Helper()
	w := decimal.RequireFromString(want)
	if off := decimal.RequireFromString(have).Sub(w).Abs(); off.GreaterThan(w.Abs().Mul(decimal.RequireFromString(within))) {
		t.Errorf("%s: want %s within %s of it, have %s", what, want, within, have)
	}
}

// sameFills compares executions with a reference's file: time, side, price, quantity.
func sameFills(t *testing.T, file string, executions []backtest.Execution, side, price, quantity int) {
	t.Helper()
	f, err := os.Open(shared(t, "reference/"+file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows = rows[1:]
	if len(rows) != len(executions) {
		t.Errorf("fills: want %d, have %d", len(rows), len(executions))
	}
	for i := range min(len(rows), len(executions)) {
		row, e := rows[i], executions[i]
		equal := func(a, b string) bool { return decimal.RequireFromString(a).Equal(decimal.RequireFromString(b)) }
		if row[0] != decimal.NewFromInt(e.TimeMS).String() || row[side] != e.Side || !equal(row[price], e.Price) ||
			!equal(row[quantity], e.Quantity) {
			t.Fatalf("fill %d: want %v, have %+v", i+1, row, e)
		}
	}
}

func TestSMACrossEqualsTheReferenceFillByFill(t *testing.T) {
	t.Parallel()
	c := reference{candles: "binance-spot_BTCUSDT_1h_2024.csv", strategy: "sma_cross", values: strategy.Values{"fast": "10", "slow": "50"},
		market: exchange.Spot, priceTick: "0.01", quantityTick: "0.00001", size: exchange.RateOne, feeFromQuote: true}
	result := c.run(t)
	sameFills(t, "BTCUSDT_1h_2024_step1e-5_sma_10_50_fills.csv", result.Executions, 1, 2, 3)
	near(t, "final equity", "16810.35056057", result.FinalEquity, "0.0000000001")
	near(t, "fees", "1162.20540303", result.TotalFees, "0.0000000001")
	near(t, "drawdown", "25.66422409", decimal.NewFromFloat(result.MaxDrawdown).String(), "0.000000001")
	if result.RoundTrips != 115 || result.Wins != 42 || result.OpenPosition == nil {
		t.Errorf("want 115 round trips, 42 won, one open; have %d, %d, %v", result.RoundTrips, result.Wins, result.OpenPosition)
	}
}

func TestSMACrossWithFeesInTheAssetReceived(t *testing.T) {
	t.Parallel()
	c := reference{candles: "binance-spot_BTCUSDT_1h_2024.csv", strategy: "sma_cross", values: strategy.Values{"fast": "10", "slow": "50"},
		market: exchange.Spot, priceTick: "0.01", quantityTick: "0.00001", size: exchange.RateOne}
	result := c.run(t)
	if result.Fills != 231 || result.RoundTrips != 115 || result.Wins != 42 {
		t.Errorf("want 231 fills, 115 round trips, 42 won; have %d, %d, %d", result.Fills, result.RoundTrips, result.Wins)
	}
	near(t, "final equity", "16810.35", result.FinalEquity, "0.0005")
	// The executions alone give the same equity, summed up manually.
	quote, base := decimal.NewFromInt(10_000), decimal.Zero
	for _, e := range result.Executions {
		price, quantity, fee := decimal.RequireFromString(e.Price), decimal.RequireFromString(e.Quantity), decimal.RequireFromString(e.Fee)
		if e.Side == "BUY" {
			quote, base = quote.Sub(price.Mul(quantity)), base.Add(quantity)
		} else {
			quote, base = quote.Add(price.Mul(quantity)), base.Sub(quantity)
		}
		if e.FeeAsset == "USDT" {
			quote = quote.Sub(fee)
		} else {
			base = base.Sub(fee)
		}
	}
	last := decimal.RequireFromString("93576.00")
	if want := quote.Add(base.Mul(last)); !want.Equal(decimal.RequireFromString(result.FinalEquity)) {
		t.Errorf("final equity by hand: want %s, have %s", want, result.FinalEquity)
	}
}

func TestRSIEqualsTheReferenceFillByFill(t *testing.T) {
	t.Parallel()
	c := reference{candles: "binance-spot_BTCUSDT_1h_2024.csv", strategy: "rsi", values: strategy.Values{},
		market: exchange.Spot, priceTick: "0.01", quantityTick: "0.00001", size: exchange.RateOne, feeFromQuote: true}
	result := c.run(t)
	sameFills(t, "BTCUSDT_1h_2024_step1e-5_rsi14_30_70_fills.csv", result.Executions, 1, 2, 3)
	near(t, "final equity", "10208.71001162", result.FinalEquity, "0.0000000001")
}

func TestBuyAndHoldEqualsTheReference(t *testing.T) {
	t.Parallel()
	c := reference{candles: "binance-spot_BTCUSDT_1h_2024.csv", strategy: "buy_and_hold", values: strategy.Values{},
		market: exchange.Spot, priceTick: "0.01", quantityTick: "0.00001", size: exchange.RateOne, feeFromQuote: true}
	result := c.run(t)
	if result.Fills != 1 || result.RoundTrips != 0 {
		t.Errorf("want 1 fill and no round trip, have %d and %d", result.Fills, result.RoundTrips)
	}
	t.Logf("final equity %s", result.FinalEquity)
}

func TestAPerpetualWithFundingComesNearTheReference(t *testing.T) {
	t.Parallel()
	c := reference{
		candles:      "binance-spot_BTCUSDT_1h_2023H1.csv",
		strategy:     "sma_cross",
		values:       strategy.Values{"fast": "10", "slow": "50", "mode": "long_short"},
		market:       exchange.Futures,
		priceTick:    "0.01",
		quantityTick: "0.001",
		size:         3 * exchange.RateOne,
		leverage:     3,
		funding:      "binance-usdm_BTCUSDT_funding_2020_2023.csv",
	}
	result := c.run(t)
	t.Logf("fills %d equity %s wallet %s fees %s funding %s drawdown %v", result.Fills, result.FinalEquity, result.Wallet, result.TotalFees,
		result.TotalFunding, result.MaxDrawdown)
	sameFills(t, "perp_like_BTCUSDT_1h_2023H1_lev3_fills.csv", result.Executions, 1, 3, 4)
	near(t, "final equity", "17957.07273539", result.FinalEquity, "0.0000001")
	near(t, "fees", "4781.99545268", result.TotalFees, "0.0000001")
	near(t, "funding", "528.69649193", result.TotalFunding, "0.0000001")
}
