package api

import (
	"encoding/json"
	"math"
	"strconv"
	"testing"

	"botd/runtime/view"
	"botd/strategy"
)

// plotted reads a strategy's plots and the candles of the same time.
func plotted(t *testing.T, d *desk, query string) (plots struct {
	Interval string
	OpenMS   []int64 `json:"open_ms"`
	Lines    []struct {
		Name   string
		Own    bool
		Values []*float64
	}
}, candles view.Candles) {
	t.Helper()
	if err := json.Unmarshal([]byte(d.want(200, "/api/v1/strategies/trend/plots?"+query)), &plots); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(d.want(200, "/api/v1/candles?market=futures&symbol=BTC-USDT&interval="+plots.Interval+"&"+query)), &candles); err != nil {
		t.Fatal(err)
	}
	return plots, candles
}

func TestPlotsAreComputedOverTheCandlesOfTheStrategy(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	status := running(t)
	status.NowMS += 60 * 60_000 // so that there are candles
	d.market.Advance(status.NowMS)
	d.board.Show(*status)
	plots, candles := plotted(t, d, "limit=40")
	if len(plots.Lines) != 2 || plots.Lines[0].Name != "sma 3" || plots.Lines[0].Own || plots.Lines[1].Name != "macd 3 5 2" || !plots.Lines[1].Own {
		t.Fatalf("want the average over the price and the signal below it, have %+v", plots.Lines)
	}
	if len(plots.OpenMS) != len(candles.OpenMS) || len(plots.OpenMS) == 0 {
		t.Fatalf("want a value for each candle: %d candles, %d values", len(candles.OpenMS), len(plots.OpenMS))
	}
	for i := range plots.OpenMS {
		if plots.OpenMS[i] != candles.OpenMS[i] || plots.Lines[0].Values[i] == nil || plots.Lines[1].Values[i] == nil {
			t.Fatalf("value %d of %d: want it at the candle's time and there from the first on, since what came before is known", i, len(plots.OpenMS))
		}
		if i < 2 {
			continue
		}
		sum := 0.0
		for _, text := range candles.Close[i-2 : i+1] {
			value, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += value
		}
		if have := *plots.Lines[0].Values[i]; math.Abs(have-sum/3) > have*1e-7 {
			t.Errorf("average %d: want %v, have %v", i, sum/3, have)
		}
	}
}

func TestPlotsOfAnUnknownIndicatorAreAFaultAndNoPanic(t *testing.T) {
	t.Parallel()
	for _, plot := range []strategy.Plot{{Indicator: "nothing"}, {Indicator: "sma", Parameters: map[string]float64{"period": -1}}} {
		d := newDeskWith(t, func(c *Config) { c.Plots = func(string) []strategy.Plot { return []strategy.Plot{plot} } })
		d.board.Show(*running(t))
		d.want(500, "/api/v1/strategies/trend/plots?limit=5")
	}
}

// TestPlotsArePacedAsCandlesAre requests more of them than a credential may: they read the exchange, too.
func TestPlotsArePacedAsCandlesAre(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.board.Show(*running(t))
	for range 200 {
		if code, _ := d.ask("GET", "/api/v1/strategies/trend/plots?limit=5", "", bearer(viewerToken)); code == 429 {
			return
		}
	}
	t.Error("want one of 200 requests at once refused with 429")
}
