package sim

import (
	"fmt"
	"testing"

	"botd/exchange"
)

// The current candle shows a quarter of its recorded numbers with each step that has passed: open, low, high and close for a rising one. A
// longer one adds the closed minutes.
func TestFormingCandle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		atMS         int64
		minute, five string // open high low close, then volume, quote volume, trades, taker volumes
	}{
		{0, "100 100 100 100, 2 200 3 1 100", "100 100 100 100, 2 200 3 1 100"},
		{14_999, "100 100 100 100, 2 200 3 1 100", "100 100 100 100, 2 200 3 1 100"},
		{15_000, "100 100 90 90, 4 400 6 2 200", "100 100 90 90, 4 400 6 2 200"},
		{30_000, "100 110 90 110, 6 600 9 3 300", "100 110 90 110, 6 600 9 3 300"},
		{59_999, "100 110 90 105, 8 800 12 4 400", "100 110 90 105, 8 800 12 4 400"},
		{60_000, "105 105 105 105, 1 100 1 0.25 25", "100 110 90 105, 9 900 13 4.25 425"},
		{75_000, "105 120 105 120, 2 200 3 0.5 50", "100 120 90 120, 10 1000 15 4.5 450"},
		{90_000, "105 120 80 80, 3 300 4 0.75 75", "100 120 80 80, 11 1100 16 4.75 475"},
		{119_999, "105 120 80 104, 4 400 6 1 100", "100 120 80 104, 12 1200 18 5 500"},
		{150_000, "105 120 80 104, 4 400 6 1 100", "100 120 80 104, 12 1200 18 5 500"},
	} {
		d := newDesk(t, Config{}).on(exchange.Futures, "SOL-USDT")
		candles := d.barsOf(exchange.Minute1, [6]float64{0, 100, 110, 90, 105, 8}, [6]float64{60, 105, 120, 80, 104, 4})
		candles.QuoteVolume, candles.Trades = []float64{800, 400}, []int64{12, 6}
		candles.TakerBase, candles.TakerQuote = []float64{4, 1}, []float64{400, 100}
		d.SetMarket(d.key(), Tape(candles, TapeConfig{}))
		d.Advance(startMS + c.atMS)
		for interval, want := range map[exchange.Interval]string{exchange.Minute1: c.minute, exchange.Minute5: c.five} {
			all := d.do(exchange.Request{Operation: exchange.FuturesCandles, Symbol: d.name, Interval: interval, Limit: 5}).Candles
			last := all.At(all.Len() - 1)
			unit := d.p("1")
			have := fmt.Sprintf("%d %d %d %d, %v %v %d %v %v", last.Open/unit, last.High/unit, last.Low/unit, last.Close/unit, last.Volume, last.QuoteVolume,
				last.Trades, last.TakerBase, last.TakerQuote)
			if have != want {
				t.Errorf("%s at %d ms: want %s, have %s", interval, c.atMS, want, have)
			}
		}
	}
}

// With a spread the trades are public: a quarter of the volume at each step, taken by a buyer, a seller, a buyer and a seller. What an
// account trades is added.
func TestPublicTradesOfRecordedCandle(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{}).on(exchange.Futures, "SOL-USDT")
	candles := d.barsOf(exchange.Minute1, [6]float64{0, 100, 110, 90, 105, 8.3}, [6]float64{60, 105, 120, 80, 104, 0})
	d.SetMarket(d.key(), Tape(candles, TapeConfig{SpreadTicks: 1}))
	d.place(d.order("buy", exchange.MarketOrder, "0.5", "")) // at 100.01
	d.Advance(startMS + 60_000)
	var have string
	for _, trade := range d.do(exchange.Request{Operation: exchange.FuturesTrades, Symbol: d.name, Limit: 10}).Trades.Items() {
		s := d.Symbol(d.key())
		have += fmt.Sprint(trade.TimeMS-startMS, " ", s.QuantityDecimal(trade.Quantity), " at ", s.PriceDecimal(trade.Price), " ", trade.QuoteAmount, " ",
			trade.BuyerIsMaker, "; ")
	}
	want := "0 2 at 100 200 false; 0 0.5 at 100.01 50.005 false; 15000 2 at 90 180 true; 30000 2 at 110 220 false; 59999 2.3 at 105 241.5 true; "
	if have != want {
		t.Errorf("want\n%s\nhave\n%s", want, have)
	}
	c := d.do(exchange.Request{Operation: exchange.FuturesCandles, Symbol: d.name, Interval: exchange.Minute1, Limit: 2}).Candles.At(0)
	unit := d.p("0.01")
	if have := fmt.Sprint(c.Open/unit, c.High/unit, c.Low/unit, c.Close/unit, c.Volume, c.QuoteVolume, c.Trades, c.TakerBase, c.TakerQuote); have !=
		"10000 11000 9000 10500 8.8 891.505 5 4.5 470.005" {
		t.Errorf("have %s", have)
	}
}
