package backtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
)

const minute = int64(exchange.Minute1)

// barsAt returns candles of an interval at these multiples of it, from 10 to 20.
func barsAt(interval exchange.Interval, at ...int64) *exchange.Candles {
	c := &exchange.Candles{Interval: interval}
	for _, n := range at {
		c.Append(exchange.Candle{OpenMS: n * int64(interval), Open: 15, High: 20, Low: 10, Close: 15})
	}
	return c
}

// The cases are a candle without all of its parts, and one whose low or high is in none of them.
func TestCandlesThatTheirDetailDoesNotCover(t *testing.T) {
	t.Parallel()
	five := barsAt(exchange.Minute5, 0, 1, 2)
	whole := []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}
	for _, c := range []struct {
		what         string
		fine         *exchange.Candles
		missing, odd int
	}{
		{"all minutes", barsAt(exchange.Minute1, whole...), 0, 0},
		{"minutes before too", barsAt(exchange.Minute1, append([]int64{-2, -1}, whole...)...), 0, 0},
		{"the last is missing", barsAt(exchange.Minute1, whole[:14]...), 1, 0},
		{"the first is missing", barsAt(exchange.Minute1, whole[1:]...), 1, 0},
		{"one inside is missing", barsAt(exchange.Minute1, slices.Delete(slices.Clone(whole), 7, 8)...), 1, 0},
		{"none", barsAt(exchange.Minute1), 3, 0},
	} {
		if missing, odd := detailOf(five, c.fine); missing != c.missing || odd != c.odd {
			t.Errorf("%s: want %d missing and %d odd, have %d and %d", c.what, c.missing, c.odd, missing, odd)
		}
	}
	for what, change := range map[string]func(fine *exchange.Candles){
		"lower":  func(fine *exchange.Candles) { fine.Low[9] = 9 },
		"higher": func(fine *exchange.Candles) { fine.High[5] = 21 },
		"flat": func(fine *exchange.Candles) {
			for i := 5; i < 10; i++ {
				fine.Low[i] = 11
			}
		},
	} {
		fine := barsAt(exchange.Minute1, whole...)
		change(fine)
		if missing, odd := detailOf(five, fine); missing != 0 || odd != 1 {
			t.Errorf("%s: want one that is not the sum, have %d and %d", what, missing, odd)
		}
	}
}

func TestMissingCandlesOfOtherSymbol(t *testing.T) {
	t.Parallel()
	own := barsAt(exchange.Minute1, 5, 6, 7, 9)
	for want, at := range map[int][]int64{0: {1, 5, 6, 7, 8, 9, 10}, 1: {5, 6, 7, 8}, 2: {6, 9}, 4: nil} {
		other := barsAt(exchange.Minute1, at...)
		if have := missingInOther(own, other); have != want {
			t.Errorf("%v: want %d lacking, have %d", other.OpenMS, want, have)
		}
	}
}

// Payments are at 8, 16 and 24 h of a day, and candles from 1 h, or from 0, to 25 h. A rate at the end or before the start is none of
// them.
func TestFundingThatWasNotRecorded(t *testing.T) {
	t.Parallel()
	symbol, _ := exchange.FindSymbol(sim.DefaultSymbols(), exchange.Futures, "BTC-USDT")
	hours := make([]int64, 24)
	for i := range hours {
		hours[i] = 240 + int64(i) + 1
	}
	rates := func(hours ...int64) (rows []tape.FundingRow) {
		for _, hour := range hours {
			rows = append(rows, tape.FundingRow{TimeMS: (240 + hour) * int64(exchange.Hour1)})
		}
		return rows
	}
	const incomplete = "funding_incomplete: "
	for _, c := range []struct {
		rows     []tape.FundingRow
		constant exchange.Rate
		from     int64
		want     []string
	}{
		{nil, 0, 1, []string{"no_funding: no funding rates were given: funding is 0"}},
		{nil, 1, 1, nil},
		{rates(8, 16, 24), 0, 1, nil},
		{rates(0, 8, 16, 24, 32), 0, 1, nil},
		{rates(0, 8, 16, 16, 32), 0, 1, []string{incomplete + "1 of 3 funding payments have no recorded rate: they count as 0"}},
		{rates(8, 16, 24), 0, 0, []string{incomplete + "1 of 4 funding payments have no recorded rate: they count as 0"}},
		{rates(8, 12, 16, 24, 25), 0, 1,
			[]string{incomplete + "1 recorded funding rates do not fall on a payment, which is due every 8 hours, and were ignored"}},
	} {
		open := slices.Clone(hours)
		if c.from == 0 {
			open = append([]int64{240}, open...)
		}
		l := &leg{symbol: symbol, candles: barsAt(exchange.Hour1, open...), config: &Leg{Funding: c.rows}}
		var have []string
		(&run{config: &Config{Costs: Costs{Funding: c.constant}}}).fundingWarnings(l, func(code, format string, arguments ...any) {
			have = append(have, code+": "+fmt.Sprintf(format, arguments...))
		})
		if !slices.Equal(have, c.want) {
			t.Errorf("rates at %v of candles from %d h: want %v, have %v", c.rows, c.from, c.want, have)
		}
	}
}

// regularly is a schedule with a fixed period in milliseconds.
type regularly int64

func (r regularly) Next(atMS int64) int64 { return (atMS/int64(r) + 1) * int64(r) }

func TestDecisionsInsideCandles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		everyMS int64
		detail  exchange.Interval
		trades  bool
		want    bool
	}{{0, 0, false, false}, {5 * minute, 0, false, false}, {minute, 0, false, true}, {minute, exchange.Minute1, false, false},
		{minute / 2, exchange.Minute1, false, true},
		{minute, 0, true, false}} {
		l := &leg{candles: barsAt(exchange.Minute5, 0, 1), config: &Leg{}}
		if c.everyMS != 0 {
			l.config.Strategy.Schedule = regularly(c.everyMS)
		}
		if c.detail != 0 {
			l.config.Detail = &tape.Tape{Candles: barsAt(c.detail)}
		}
		if c.trades {
			l.config.Trades = &exchange.Trades{}
		}
		if have := l.fineSchedule(); have != c.want {
			t.Errorf("%+v: have %v", c, have)
		}
	}
}

// The costs are in the order of the report.
func TestTheAssumptionsNameTheCosts(t *testing.T) {
	t.Parallel()
	futures, _ := exchange.FindSymbol(sim.DefaultSymbols(), exchange.Futures, "BTC-USDT")
	spot, _ := exchange.FindSymbol(sim.DefaultSymbols(), exchange.Spot, "ETH-USDT")
	percents := func(hundredths int64) exchange.Rate { return exchange.RateOne / 10_000 * exchange.Rate(hundredths) }
	r := &run{config: &Config{}, legs: []leg{{symbol: futures, config: &Leg{}}}}
	r.ledger.futures = true
	const (
		next     = "fill next_open: a decision on a candle's close reaches the market at the next candle's open, at its price"
		free     = "slippage 0: the market takes any quantity at its price"
		prompt   = "latency 0 ms from placement to the book"
		touch    = "a resting order fills when its price is touched"
		liquid   = "liquidation by the symbols' margin brackets, cross margin, at the mark, with the taker fee"
		pathText = "path inside a candle: open, low, high, close if the candle rose, otherwise open, high, low, close; a gap fills at the open"
	)
	want := []string{"fees: maker 0 %, taker 0 %, in USDT", next, free, prompt, touch, pathText, "funding every 8 hours at the open, at a constant 0 %", liquid}
	if have := r.assumptions(); !slices.Equal(have, want) {
		t.Errorf("want %s\nhave %s", strings.Join(want, "\n"), strings.Join(have, "\n"))
	}
	r.legs = append(r.legs, leg{symbol: spot, config: &Leg{Detail: &tape.Tape{Candles: barsAt(exchange.Minute1)}, Trades: &exchange.Trades{}}})
	r.legs[0].config.Funding = make([]tape.FundingRow, 3)
	r.ledger.spot = "USDT"
	r.config.Costs = Costs{Futures: Fees{Maker: percents(2), Taker: percents(5)}, Spot: Fees{Maker: percents(10), Taker: percents(20)}, Slippage: percents(1),
		Impact: percents(50), VolumeCap: percents(1_000), LatencyMS: 250, Through: true, Queue: percents(5_000), Path: sim.Worst}
	want = []string{"fees: maker 0.02 %, taker 0.05 %, in USDT", "fees: maker 0.1 %, taker 0.2 %, in the asset received", next,
		"slippage: takers pay 0.01 % of the price, plus 0.5 % times the order's share of the candle's volume",
		"volume cap: orders fill at most 10 % of a candle's volume, the rest in the candles after it",
		"latency 250 ms from placement to the book; a taker gets the worst possible price within that time",
		"a resting order fills at its price once the market has traded a tick beyond it",
		"path inside a candle: the order of low and high that is worse for positions and resting orders, so a stop comes before a target; " +
			"a gap fills at the open",
		"path of ETH-USDT by 0 trades: a trade beyond a resting order's price fills it, a trade at its price fills it by 50 % of the trade; " +
			"a taker pays the next trade's price",
		"path of ETH-USDT by its candles of 1m, as far as they are complete", "funding of BTC-USDT every 8 hours at the open, 3 recorded rates", liquid}
	if have := r.assumptions(); !slices.Equal(have, want) {
		t.Errorf("want %s\nhave %s", strings.Join(want, "\n"), strings.Join(have, "\n"))
	}
	r.config.Costs.FeeFromQuote, r.config.Costs.Impact = true, 0
	if have := r.assumptions(); have[1] != "fees: maker 0.1 %, taker 0.2 %, in USDT" || have[3] != "slippage: takers pay 0.01 % of the price" {
		t.Errorf("have %v", have)
	}
}
