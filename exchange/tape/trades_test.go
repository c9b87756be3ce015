package tape_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/exchange/tape"
)

func ether(t *testing.T) *exchange.Symbol {
	t.Helper()
	d := decimal.RequireFromString
	symbol, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Spot, Name: "ETH-USDT", Base: "ETH", Quote: "USDT",
		PriceTick: d("0.01"), QuantityTick: d("0.0001"), MinNotional: d("5"), MaxNotional: d("1000000")})
	if err != nil {
		t.Fatal(err)
	}
	return symbol
}

func TestTradesAreReadWithTheirSide(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "trades.csv")
	text := "id,price,qty,time_ms,is_buyer_maker,local_ns\n1,2683.80000000,0.00200000,1723161255611,true,7\n2,2683.9,1.5,1723161255611,false,8\n" +
		"5,2683.70,0.25,1723161301000,true,9\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	symbol := ether(t)
	trades, err := tape.LoadTrades(path, symbol)
	if err != nil || !tape.AreTrades(path) {
		t.Fatal(err)
	}
	if trades.Len() != 3 || !trades.Sold[0] || trades.Sold[1] || symbol.QuantityDecimal(trades.Quantity[1]).String() != "1.5" ||
		symbol.PriceDecimal(trades.Price[2]).String() != "2683.7" {
		t.Errorf("have %+v", trades)
	}
	candles := trades.Candles(symbol, exchange.Minute1)
	if candles.Len() != 2 {
		t.Fatalf("want two candles, have %+v", candles)
	}
	first := candles.At(0)
	if symbol.PriceDecimal(first.High).String() != "2683.9" || first.Trades != 2 || first.Volume != 1.502 || first.TakerBase != 1.5 {
		t.Errorf("have %+v", first)
	}
}

func TestWrongTradesAreReportedByLine(t *testing.T) {
	t.Parallel()
	const header = "id,price,qty,time_ms,side\n1,10,1,1000,buy\n"
	for what, text := range map[string]string{
		"line 3: an id again":     header + "1,10,1,1001,buy\n",
		"line 3: a time before":   header + "2,10,1,999,buy\n",
		"line 3: no price":        header + "2,0,1,1001,buy\n",
		"line 3: too many places": header + "2,10.123456789123,1,1001,buy\n",
		"line 3: no quantity":     header + "2,10,-1,1001,buy\n",
		"line 3: not a number":    header + "2,10,NaN,1001,buy\n",
		"line 3: seconds":         header + "2,10,1,1723161255,buy\n",
		"line 3: nanoseconds":     header + "2,10,1,1723161255611000000,buy\n",
		"line 3: no side":         header + "2,10,1,1001,up\n",
		"line 1: no side column":  "id,price,qty,time_ms\n1,10,1,1000\n",
		"no trades":               "id,price,qty,time_ms,side\n",
	} {
		path := filepath.Join(t.TempDir(), "trades.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := tape.LoadTrades(path, ether(t))
		if err == nil {
			t.Errorf("%s: want an error", what)
			continue
		}
		if line, _, is := strings.Cut(what, ":"); is && !strings.Contains(err.Error(), "trades.csv:"+strings.TrimPrefix(line, "line ")) {
			t.Errorf("%s: have %v", what, err)
		}
	}
}

// TestTradesOfBinanceNeedNoHeader reads rows in the two layouts of its files of spot trades, in micro- and milliseconds.
func TestTradesOfBinanceNeedNoHeader(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"7,2683.80,1.5,4025.70,1735689600123456,False,True\n8,2683.70,0.5,1341.85,1735689600124000,True,True\n",
		"7,2683.80,1.5,90,91,1735689600123,false,true\n8,2683.70,0.5,92,92,1735689600124,true,true\n",
	} {
		path := outside(t, text)
		trades, err := tape.LoadTrades(path, ether(t))
		if err != nil || !tape.AreTrades(path) {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if trades.Len() != 2 || trades.TimeMS[0] != 1735689600123 || trades.TimeMS[1] != 1735689600124 || trades.Sold[0] || !trades.Sold[1] {
			t.Errorf("%q: have %+v", text, trades)
		}
	}
	const again = "8,2683.70,0.5,1341.85,1735689600124000,True,True\n"
	if _, err := tape.LoadTrades(outside(t, again+again), ether(t)); err == nil || !strings.Contains(err.Error(), "csv:2: ") {
		t.Errorf("want line 2 to be wrong, have %v", err)
	}
}

// TestRecordedTradesOfBinance reads minutes of ETH trades, and finds their candles in the trades.
func TestRecordedTradesOfBinance(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "..", "shared", "data", "micro", "binance-spot_ETHUSDT_2024-08-08_trades.csv")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Skip("no recorded trades here:", err)
	}
	symbol := ether(t)
	trades, err := tape.LoadTrades(path, symbol)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Count(string(text), "\n") - 1; trades.Len() != want {
		t.Errorf("want %d trades, have %d", want, trades.Len())
	}
	sum, counted := 0.0, int64(0)
	candles := trades.Candles(symbol, exchange.Minute1)
	for i := range candles.Len() {
		one := candles.At(i)
		sum, counted = sum+one.Volume, counted+one.Trades
		if one.Low > one.Open || one.Low > one.Close || one.High < one.Open || one.High < one.Close {
			t.Errorf("an impossible candle: %+v", one)
		}
	}
	if counted != int64(trades.Len()) || sum <= 0 {
		t.Errorf("want every trade in a candle, have %d of %d", counted, trades.Len())
	}
	t.Logf("%d trades, %d candles, %.2f ETH", trades.Len(), candles.Len(), sum)
}
