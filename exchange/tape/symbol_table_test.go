package tape_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/exchange/tape"
)

// TestEachFieldOfASymbolIsRead reads two complete records, and one of defaults.
func TestEachFieldOfASymbolIsRead(t *testing.T) {
	t.Parallel()
	const text = `
- symbol: BTC-USDT
  baseAsset: XBT
  quoteAsset: USD
  priceTick: 0.1
  quantityTick: 0.001
  minNotional: 5
  maxNotional: 2000
  isTrade: false
  isReduceOnly: true
  isCancelOrder: false
  adjustedFundingRateCap: 0.02
  adjustedFundingRateFloor: -0.03
  fundingIntervalHours: 4
  market: futures
  brackets:
    - {symbol: BTC-USDT, min: 0, max: 1000, marginRatio: 0.005, marginAmount: 0, maxLeverage: 100}
    - &last {min: 1000, max: 5000, marginRatio: 0.01, marginAmount: 5, maxLeverage: 50}
- {symbol: ETH-USDT, market: spot, base: ETH, quote: USDT, priceTick: 1e-2, quantityTick: 0.5, orderTypes: "LIMIT, MARKET"}
- {symbol: SOL-USDT, market: futures, priceTick: 1, quantityTick: 1, brackets: [{max: 9, marginRatio: 0.1, maxLeverage: 1000}]}
`
	want := []string{`{"symbol":"BTC-USDT","market":"futures","base":"XBT","quote":"USD","priceTick":"0.1","quantityTick":"0.001","minNotional":"5",` +
		`"maxNotional":"2000","isTrade":false,"isReduceOnly":true,"isCancelOrder":false,"adjustedFundingRateCap":"0.02","adjustedFundingRateFloor":"-0.03",` +
		`"fundingIntervalHours":4,"brackets":[{"min":"0","max":"1000","marginRatio":"0.005","marginAmount":"0","maxLeverage":100},` +
		`{"min":"1000","max":"5000","marginRatio":"0.01","marginAmount":"5","maxLeverage":50}]}`,
		`{"symbol":"ETH-USDT","market":"spot","base":"ETH","quote":"USDT","priceTick":"0.01","quantityTick":"0.5","minNotional":"0","maxNotional":"1000000",` +
			`"isTrade":true,"isReduceOnly":false,"isCancelOrder":true,"adjustedFundingRateCap":"0","adjustedFundingRateFloor":"0","fundingIntervalHours":8,` +
			`"orderTypes":"LIMIT,MARKET"}`,
		`{"symbol":"SOL-USDT","market":"futures","base":"SOL","quote":"USDT","priceTick":"1","quantityTick":"1","minNotional":"0","maxNotional":"1000000",` +
			`"isTrade":true,"isReduceOnly":false,"isCancelOrder":true,"adjustedFundingRateCap":"0","adjustedFundingRateFloor":"0","fundingIntervalHours":8,` +
			`"brackets":[{"min":"0","max":"9","marginRatio":"0.1","marginAmount":"0","maxLeverage":1000}]}`}
	symbols, err := tape.LoadSymbols(file(t, "s.yaml", []byte(text)))
	if err != nil || len(symbols) != len(want) {
		t.Fatalf("want %d symbols, have %d (%v)", len(want), len(symbols), err)
	}
	for i, symbol := range symbols {
		have, err := json.Marshal(tape.RecordOf(symbol))
		if err != nil || string(have) != want[i] {
			t.Errorf("want %s\nhave %s (%v)", want[i], have, err)
		}
	}
}

func TestEachWrongSymbolIsNamed(t *testing.T) {
	t.Parallel()
	with := func(rest string) string {
		return "\n- {symbol: X-Y, priceTick: 0.1, quantityTick: 0.1, " + rest + "}\n"
	}
	brackets := func(rest string) string { return with("brackets: [" + rest + "]") }
	const list = "\nhint: expected a YAML list of symbol records"
	for _, c := range []struct{ text, want string }{
		{"", ":1: not a list\nhint: - {symbol: BTC-USDT, priceTick: 0.01, quantityTick: 0.00001, minNotional: 5, maxNotional: 1000000}"},
		{"symbol: X", ":1: not a list\nhint: - {symbol: BTC-USDT, priceTick: 0.01, quantityTick: 0.00001, minNotional: 5, maxNotional: 1000000}"},
		{"[]", ":1: no symbol records"},
		{"- x\n", ":1: not a symbol record"},
		{"- {a: 1\n", ":1: did not find expected ',' or '}'" + list},
		{"\n- {symbol: X-Y}", ":2: quantityTick is missing"},
		{with("symbol: Z"), `:2: key "symbol" appears twice`},
		{with("base: A, baseAsset: A"), `:2: key "baseAsset" appears twice`},
		{with("quoteAsset: A, quote: A"), `:2: key "quote" appears twice`},
		{with("minNotionl: 5"), ":2: unknown key \"minNotionl\"\nhint: did you mean minNotional?"},
		{with("market: options"), `:2: unknown market "options" (known: [futures spot])`},
		{with("minNotional: [5]"), `:2: "" is not a decimal number`},
		{with("minNotional: five"), `:2: "five" is not a decimal number`},
		{with("minNotional: 1e31"), `:2: "1e31" is not a decimal number`},
		{with("minNotional: 1e-31"), `:2: "1e-31" is not a decimal number`},
		{with("isTrade: yes"), `:2: "yes" is neither true nor false`},
		{with("isCancelOrder: 1"), `:2: "1" is neither true nor false`},
		{with("fundingIntervalHours: 0"), `:2: "0" is not a whole number from 1 to 168`},
		{with("fundingIntervalHours: 169"), `:2: "169" is not a whole number from 1 to 168`},
		{with("fundingIntervalHours: 1.5"), `:2: "1.5" is not a whole number from 1 to 168`},
		{with(`orderTypes: "LIMIT,ICEBERG"`), "ICEBERG"},
		{with("brackets: {min: 0}"), ":2: brackets are not a list\nhint: a list of {min, max, marginRatio, marginAmount, maxLeverage}"},
		{brackets("1"), ":2: not a bracket\nhint: {min, max, marginRatio, marginAmount, maxLeverage}"},
		{brackets("{min: 0, max: 9}"), ":2: maxLeverage is missing"},
		{brackets("{min: 0, max: 9, leverage: 5}"), `:2: unknown key "leverage"`},
		{brackets("{min: 9, max: 9, maxLeverage: 5}"), ":2: bracket ends at 9, which is not above its beginning 9"},
		{brackets("{min: 0, max: 9, maxLeverage: 5}, {min: 8, max: 10, maxLeverage: 5}"), ":2: bracket begins at 8, the previous one ends at 9"},
		{brackets("{min: 0, max: 9, maxLeverage: 1001}"), `:2: "1001" is not a whole number from 1 to 1000`},
		{"- {symbol: X-Y, market: spot, priceTick: 1, quantityTick: 1}\n- {symbol: X-Y, market: spot, priceTick: 1, quantityTick: 1}",
			":2: spot X-Y appears twice"},
	} {
		path := file(t, "s.yaml", []byte(c.text))
		symbols, err := tape.LoadSymbols(path)
		var wrong *tape.DataError
		if !errors.As(err, &wrong) || symbols != nil || !strings.HasPrefix(strings.TrimPrefix(err.Error(), path), c.want) &&
			(strings.HasPrefix(c.want, ":") || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: want %q, have %v", c.text, c.want, err)
		}
	}
	for _, text := range []string{with("fundingIntervalHours: 168"), with("minNotional: 1e-18"), with("isTrade: true"), with("fundingIntervalHours: 1")} {
		if _, err := tape.LoadSymbols(file(t, "s.yaml", []byte(text))); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestEachTargetOfASignalIsRead reads a file of signals, and one that recorded them.
func TestEachTargetOfASignalIsRead(t *testing.T) {
	t.Parallel()
	want := []tape.SignalRow{{1, "a", 1, 1}, {1, "b", -1, 1}, {2, "a", 0, 1}, {3, "a", 0, 1}, {3, "a", 1, 0.25}, {4, "a", -1, 0.5}, {5, "a", 1, 1}, {6,
		"a", -1, 1}}
	have, err := tape.LoadSignals(outside(t,
		"strategy,time_ms,target,remark\na,1,long,\nb,1,short,\na,2,flat,\na,3,0,\na,3,0.25,\na,4,-0.5,\na,5,1,\na,6,-1,x\n"))
	if err != nil || !slices.Equal(want, have) {
		t.Errorf("want %+v, have %+v (%v)", want, have, err)
	}
	seen, directory := &tally{}, t.TempDir()
	config := seen.config(directory)
	recorder := tape.NewRecorder(config)
	for _, row := range append(want, tape.SignalRow{TimeMS: 5, Strategy: "late", Side: 1, Share: 0.125}) {
		recorder.Signal(row)
	}
	recorder.Close()
	again, err := tape.LoadSignals(config.Store.SignalsPath())
	if err != nil || !slices.Equal(append(want, tape.SignalRow{TimeMS: 6, Strategy: "late", Side: 1, Share: 0.125}), again) || seen.stored != 9 ||
		seen.lost != 0 {
		t.Errorf("want them recorded, the late one at the time before it; have %+v, %+v (%v)", again, seen, err)
	}
	for target, known := range map[string]bool{"1.01": false, "-1.01": false, "NaN": false, "": false, "LONG": false, "1e-3": true} {
		_, err := tape.LoadSignals(outside(t, "time_ms,strategy,target\n1,a,long\n2,a,"+target+"\n"))
		var wrong *tape.DataError
		if known != (err == nil) || err != nil && (!errors.As(err, &wrong) || wrong.Line != 3 || wrong.Column != "target" ||
			wrong.Hint != "long, short, flat, or a share of the size from -1 to 1") {
			t.Errorf("%q: want known %t, have %v", target, known, err)
		}
	}
}

// TestTimesOfOtherUnitsAreRefused reads times next to the bounds of milliseconds: 2001, 1973 and 2286.
func TestTimesOfOtherUnitsAreRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0": "", "-5": "", "999999999": "", "1000000000": "unit", "99999999999": "unit", "100000000000": "", "9999999999999": "", "10000000000000": "unit",
		"1.5": "is not a time in milliseconds", "": "is not a time in milliseconds",
	} {
		_, err := tape.LoadColumns([]string{outside(t, "time_ms,flow\n"+text+",1\n")}, false)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), "outside.csv:2: ") || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: want %q, have %v", text, want, err)
		}
		if want == "unit" && !strings.HasSuffix(err.Error(), text+" is in another unit than milliseconds\nhint: times are milliseconds since 1970, "+
			"as 1704067200000 for 2024-01-01") {
			t.Errorf("%q: have %v", text, err)
		}
	}
}

func TestColumnsOfSeveralFiles(t *testing.T) {
	t.Parallel()
	first, second := outside(t, "a,time_ms,b\n1,1000,2\n,2000,\n3,5000,4\n"), outside(t, "time_ms,a\n500,7\n4000,8\n")
	c, err := tape.LoadColumns([]string{first, second + "=x_"}, false)
	if err != nil {
		t.Fatal(err)
	}
	if names := c.Names(); !slices.Equal(names, []string{"a", "b", "x_a"}) {
		t.Errorf("names: have %q", names)
	}
	if from, to := c.Span(); from != 500 || to != 5000 {
		t.Errorf("span: want 500 to 5000, have %d to %d", from, to)
	}
	for _, q := range []struct {
		name string
		atMS int64
		want float64
	}{{"a", 999, math.NaN()}, {"a", 1000, 1}, {"a", 2000, 1}, {"a", 4999, 1}, {"a", 5000, 3}, {"b", 2500, 2}, {"x_a", 499, math.NaN()}, {"x_a", 500, 7},
		{"x_a", 1 << 40, 8}} {
		if have, known := c.At(q.name, q.atMS); known == math.IsNaN(q.want) || known && have != q.want {
			t.Errorf("%s at %d: want %v, have %v, %t", q.name, q.atMS, q.want, have, known)
		}
	}
	_, err = tape.LoadColumns([]string{first, second}, false)
	var wrong *tape.DataError
	if !errors.As(err, &wrong) || wrong.Path != second || wrong.Column != "a" || wrong.What != "column a is in "+first+" too" ||
		wrong.Hint != "give one of them a prefix: FILE=PREFIX" {
		t.Errorf("a name twice: have %v", err)
	}
	if _, err := tape.LoadColumns([]string{first + "=x", first + "absent"}, false); err == nil || !strings.Contains(err.Error(), "absent") {
		t.Errorf("no file: have %v", err)
	}
	equal := strings.TrimSuffix(first, "outside.csv") + "a=b.csv"
	if path, prefix := tape.ColumnPath(equal + "=p"); path != strings.TrimSuffix(equal, "=b.csv") || prefix != "b.csv=p" {
		t.Errorf("no such file: want the first = to split, have %s, %s", path, prefix)
	}
}

func TestTradesOfEachColumnName(t *testing.T) {
	t.Parallel()
	for header, sides := range map[string][2]string{
		"id,price,qty,time_ms,side": {"BUY", "sell"}, "trade_id,PRICE,quantity,time,Side": {"b", "S"},
		"agg_trade_id,price,size,timestamp,is_buyer_maker": {"false", "TRUE"}, "id,price,amount,transact_time,is_buyer_maker": {"0", "1"},
	} {
		path := outside(t, header+"\n1,10.5,2,1000,"+sides[0]+"\n3,10.25,0,1000,"+sides[1]+"\n")
		have, err := tape.LoadTrades(path, ether(t))
		if err != nil || have.Len() != 2 || have.Sold[0] || !have.Sold[1] || have.TimeMS[1] != 1000 ||
			ether(t).QuantityDecimal(have.Quantity[0]).String() != "2" || have.Quantity[1] != 0 || ether(t).PriceDecimal(have.Price[1]).String() != "10.25" {
			t.Errorf("%s: have %+v (%v)", header, have, err)
		}
	}
	for header, want := range map[string]bool{"id,price,qty,time_ms": false, "price,qty,time_ms,side": false, "id,qty,time_ms,side": false,
		"id,price,time_ms,side": false,
		"id,price,qty,side":     false, "id,price,qty,time_ms,side": true, "open_time_ms,open,high,low,close,volume": false, "": false} {
		if have := tape.AreTrades(outside(t, header+"\n")); have != want {
			t.Errorf("%q: want trades %t, have %t", header, want, have)
		}
	}
	const good = "id,price,qty,time_ms,side\n1,10,1,1000,buy\n"
	for row, want := range map[string]string{
		"1,10,1,1001,buy": `id: "1" is not a number above the previous id`, "x,10,1,1001,buy": `id: "x" is not a number above the previous id`,
		"2,-1,1,1001,buy": `price: "-1" is not a price`, "2,,1,1001,buy": `price: "" is not a price`,
		"2,10.12345678901234567,1,1001,buy": `has more decimal places than the symbol`,
		"2,10,-0.1,1001,buy":                `qty: "-0.1" is not a quantity`, "2,10,Inf,1001,buy": `qty: "Inf" is not a quantity`,
		"2,10,1,999,buy": "time_ms: 999 is not after 1000",
		"2,10,1,1001,":   `side: "" is neither buy nor sell`,
	} {
		_, err := tape.LoadTrades(outside(t, good+row+"\n"), ether(t))
		var wrong *tape.DataError
		if !errors.As(err, &wrong) || wrong.Line != 3 || !strings.Contains(wrong.Column+": "+wrong.What, want) {
			t.Errorf("%s: want %q, have %v of %+v", row, want, err, wrong)
		}
	}
}

// TestColumnsOfTradesAreInAnyOrder puts each column first, and uses an invalid side.
func TestColumnsOfTradesAreInAnyOrder(t *testing.T) {
	t.Parallel()
	header, row := []string{"id", "price", "qty", "time_ms", "is_buyer_maker"}, []string{"7", "10.5", "2", "1000", "true"}
	for n := range header {
		turned := func(all []string) string { return strings.Join(slices.Concat(all[n:], all[:n]), ",") + "\n" }
		path := outside(t, turned(header)+turned(row))
		have, err := tape.LoadTrades(path, ether(t))
		if err != nil || !tape.AreTrades(path) || have.Len() != 1 || !have.Sold[0] || have.TimeMS[0] != 1000 ||
			ether(t).QuantityDecimal(have.Quantity[0]).String() != "2" || ether(t).PriceDecimal(have.Price[0]).String() != "10.5" {
			t.Errorf("%s: have %+v (%v)", header[n], have, err)
		}
	}
	_, err := tape.LoadTrades(outside(t, "id,price,qty,time_ms,is_buyer_maker\n1,10,1,1000,true\n2,10,1,1001,maybe\n"), ether(t))
	if wrong := (*tape.DataError)(nil); !errors.As(err, &wrong) || wrong.Line != 3 || wrong.Column != "is_buyer_maker" {
		t.Errorf("want the side of line 3 to be wrong, have %v", err)
	}
}

// TestAGeneratedVolumeIsInLots takes a part of each volume, also where the step of a quantity is not its last decimal place.
func TestAGeneratedVolumeIsInLots(t *testing.T) {
	t.Parallel()
	d := decimal.RequireFromString
	symbol, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Spot, Name: "ETH-USDT", Base: "ETH", Quote: "USDT",
		PriceTick: d("0.05"), QuantityTick: d("0.005"), MinNotional: d("5"), MaxNotional: d("1000000")})
	if err != nil {
		t.Fatal(err)
	}
	c := tape.Generate(5, symbol, exchange.Hour1, january, 500)
	for i := range c.Len() {
		candle := c.At(i)
		lots, taken := candle.Volume/0.005, candle.TakerBase/0.005
		if lots < 1 || math.Abs(lots-math.Round(lots)) > 1e-6 || math.Abs(taken-math.Round(taken)) > 1e-6 || taken > 0.65*lots || taken < 0.35*lots-1 {
			t.Fatalf("candle %d: want whole lots, and 35 to 65 in 100 taken, have %v of %v", i, taken, lots)
		}
		low, high := symbol.PriceFloat(candle.Low), symbol.PriceFloat(candle.High)
		mean, part := candle.QuoteVolume/candle.Volume, candle.TakerQuote
		if mean < low || mean > high || part < taken*0.005*low-1e-9 || part > taken*0.005*high+1e-9 {
			t.Fatalf("candle %d: want values at prices between %v and %v, have %+v", i, low, high, candle)
		}
	}
}

// TestGeneratedMarketHasItsMeasures checks the properties that the comment of Generate promises, over four weeks of minutes.
func TestGeneratedMarketHasItsMeasures(t *testing.T) {
	t.Parallel()
	symbol := bitcoin(t)
	const count = 40_000
	for _, interval := range []exchange.Interval{exchange.Minute1, exchange.Hour1} {
		c := tape.Generate(11, symbol, interval, january+1, count)
		if c.Len() != count || c.OpenMS[0] != january || c.OpenMS[count-1] != january+(count-1)*int64(interval) {
			t.Fatalf("want %d candles from %d, have %d from %d", count, int64(january), c.Len(), c.OpenMS[0])
		}
		if have := int64(c.Open[0] / symbol.PriceTick); have < 499_999 || have > 500_000 {
			t.Errorf("want BTC to begin at 50000, have %d ticks of 0.1", have)
		}
		minutes := float64(interval) / float64(exchange.Minute1)
		var squares, volume, taken, up float64
		for i := range count {
			candle := c.At(i)
			if err := candle.Plausible(); err != nil || i > 0 && candle.Open != c.Close[i-1] || !symbol.OnPriceTick(candle.Close) {
				t.Fatalf("candle %d: have %+v after %v (%v)", i, candle, c.Close[max(0, i-1)], err)
			}
			move := math.Log(float64(candle.Close) / float64(candle.Open))
			squares, volume, taken = squares+move*move, volume+candle.Volume, taken+candle.TakerBase/candle.Volume
			if move > 0 {
				up++
			}
			if body := max(candle.Open, candle.Close); float64(candle.High-body) > 0.6*8*0.0008*math.Sqrt(minutes)*float64(candle.Open) {
				t.Fatalf("candle %d: want a wick within 0.6 of the largest usual move, have %+v", i, candle)
			}
		}
		// The deviation of a minute is 0.0008; a year's is about 60 %.
		if deviation := math.Sqrt(squares / count / minutes); deviation < 0.0006 || deviation > 0.0012 {
			t.Errorf("%s: want moves of about 0.0008 a minute, have %v", interval, deviation)
		}
		if mean := volume * 50_000 / count / minutes; mean < 350_000 || mean > 700_000 {
			t.Errorf("%s: want about 400000 USDT a minute at the first price, have %v", interval, mean)
		}
		if part, rises := taken/count, up/count; part < 0.48 || part > 0.52 || rises < 0.45 || rises > 0.55 {
			t.Errorf("%s: want half of the volume taken and half of the candles rising, have %v and %v", interval, part, rises)
		}
	}
}
