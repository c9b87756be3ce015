package report

import (
	"encoding/json"
	"math"
	"slices"

	"botd/backtest"
	"botd/exchange"
)

// Limits of a page's data. The page states what it omits, and the files of the same directory contain everything.
const (
	maxBars   = 8_000
	maxPoints = 2_000
	maxFills  = 20_000
	maxTrips  = 20_000
)

// charts is the data that the page's script draws, in columns. Times are in seconds.
type charts struct {
	Equity  curve    `json:"equity"`
	Rolling rolling  `json:"rolling"`
	Series  []series `json:"series"`
	Trips   trips    `json:"trips"`
	Live    *live    `json:"live,omitempty"`
}

// instants are times, each encoded as its distance from the one before: repeated numbers compress well.
type instants []int64

// MarshalJSON writes the distances.
func (all instants) MarshalJSON() ([]byte, error) {
	distances, last := make([]int64, len(all)), int64(0)
	for i, at := range all {
		distances[i], last = at-last, at
	}
	return json.Marshal(distances)
}

type curve struct {
	Time     instants  `json:"t"`
	Equity   []float64 `json:"e"`
	Hold     []float64 `json:"h"` // the symbols bought and held with the same money, scaled to the volatility of the equity
	Drawdown []float64 `json:"d"` // percent, at most 0
	Leverage []float64 `json:"l"`
}

// series is one symbol's candles with the events on them.
type series struct {
	Name     string   `json:"name"`
	Interval string   `json:"interval"`
	Places   int      `json:"places"` // of prices
	Tick     float64  `json:"tick"`
	Time     instants `json:"t"`
	// Prices are in units of 10^-places: the first open, then each value's distance from the open of the same candle,
	// and each open's from the close before.
	Open   []int64   `json:"o"`
	High   []int64   `json:"h"`
	Low    []int64   `json:"l"`
	Close  []int64   `json:"c"`
	Volume []float64 `json:"v"`
	Fills  fills     `json:"fills"`
	Levels levels    `json:"levels"`
	Lines  []line    `json:"lines"`
}

type fills struct {
	Time     instants  `json:"t"`
	Price    []float64 `json:"p"`
	Quantity []float64 `json:"q"` // signed: sales are negative
	Purpose  []string  `json:"w"`
	Left     int       `json:"left"` // number of omitted fills
}

type levels struct {
	From  instants  `json:"a"`
	To    instants  `json:"b"` // 0: until the end
	Price []float64 `json:"p"`
	Stop  []int     `json:"s"`
}

// trips are the round trips, for the table and the candles.
type trips struct {
	Series   []int     `json:"n"`
	Strategy []string  `json:"who"`
	Entered  instants  `json:"a"`
	Left     instants  `json:"b"`
	Long     []int     `json:"s"`
	Quantity []string  `json:"q"`
	Entry    []float64 `json:"p"`
	Exit     []float64 `json:"x"`
	PNL      []float64 `json:"g"`
	Fees     []float64 `json:"f"`
	Funding  []float64 `json:"u"`
	Adverse  []float64 `json:"mae"`
	Favor    []float64 `json:"mfe"`
	Reasons  []string  `json:"in"`
	Exits    []string  `json:"out"`
	Missing  int       `json:"left"`
}

func chartData(result *backtest.Result, sources []Source) *charts {
	c := &charts{Equity: curveOf(result.Curve(), float(result.InitialEquity), sources), Series: []series{}}
	firstMS, equity := result.Daily()
	c.Rolling = rollingOf(firstMS, dailyReturns(equity))
	for i := range sources {
		c.Series = append(c.Series, seriesOf(result, &sources[i]))
	}
	c.Trips = tripsOf(result, sources)
	return c
}

// curveOf thins out the equity: it returns each stretch's last point, with the deepest drawdown within it.
func curveOf(points []backtest.Point, initial float64, sources []Source) curve {
	var c curve
	stretch := (len(points) + maxPoints - 1) / maxPoints
	peak, fall := initial, 0.0
	for i, p := range points {
		equity := p.Equity.Float()
		peak = max(peak, equity)
		if peak > 0 {
			fall = min(fall, 100*(equity/peak-1))
		}
		if (i+1)%stretch != 0 && i != len(points)-1 {
			continue
		}
		c.Time, c.Equity = append(c.Time, p.AtMS/1000), append(c.Equity, round(equity, 2))
		c.Drawdown, c.Leverage = append(c.Drawdown, round(fall, 3)), append(c.Leverage, round(p.Leverage, 3))
		c.Hold = append(c.Hold, round(float64(initial*held(sources, p.AtMS)), 2))
		fall = 0
	}
	if len(c.Hold) > 0 { // both begin with the same money, before the first point
		c.Hold = evened(append([]float64{initial}, c.Hold...), append([]float64{initial}, c.Equity...))[1:]
	}
	return c
}

// evened scales a curve's changes to the volatility of another one. A strategy with a tenth of its equity in the
// market would otherwise look flat next to one that is fully invested.
func evened(curve, other []float64) []float64 {
	own, target := spread(curve), spread(other)
	if own == 0 || target == 0 {
		return curve
	}
	out := []float64{curve[0]}
	for i := 1; i < len(curve); i++ {
		out = append(out, round(max(0, out[i-1]*(1+(curve[i]/curve[i-1]-1)*target/own)), 2))
	}
	return out
}

// spread returns the standard deviation of a curve's changes, or 0 where it is undefined.
func spread(curve []float64) float64 {
	if len(curve) < 3 {
		return 0
	}
	sum, squares, n := 0.0, 0.0, float64(len(curve)-1)
	for i := 1; i < len(curve); i++ {
		if curve[i-1] <= 0 {
			return 0
		}
		change := curve[i]/curve[i-1] - 1
		sum, squares = sum+change, squares+float64(change*change)
	}
	return math.Sqrt(max(0, squares/n-sum/n*sum/n))
}

// held returns the relative value of the symbols at a time, after a purchase with equal shares at their first open.
func held(sources []Source, atMS int64) float64 {
	sum := 0.0
	for _, s := range sources {
		at, _ := slices.BinarySearch(s.Candles.OpenMS, atMS-int64(s.Candles.Interval)+1)
		at = min(at, s.Candles.Len()-1)
		switch {
		case s.Candles.CloseMS(at) <= atMS:
			sum += float64(s.Candles.Close[at]) / float64(s.Candles.Open[0])
		case at > 0:
			sum += float64(s.Candles.Close[at-1]) / float64(s.Candles.Open[0])
		default:
			sum++
		}
	}
	return sum / float64(max(1, len(sources)))
}

// seriesOf returns a symbol's candles, merged until they are few enough.
func seriesOf(result *backtest.Result, source *Source) series {
	symbol, candles := source.Symbol, source.Candles
	interval := shownInterval(candles)
	if interval != candles.Interval {
		candles = joined(candles, interval)
	}
	unit := symbol.PriceFloat(1)
	s := series{Name: symbol.Name, Interval: interval.String(), Places: symbol.PriceScale, Tick: symbol.PriceFloat(symbol.PriceTick)}
	last := int64(0)
	for i := range candles.Len() {
		open := int64(candles.Open[i])
		s.Time, s.Open = append(s.Time, candles.OpenMS[i]/1000), append(s.Open, open-last)
		s.High, s.Low, s.Close = append(s.High, int64(candles.High[i])-open), append(s.Low, open-int64(candles.Low[i])),
			append(s.Close, int64(candles.Close[i])-open)
		s.Volume = append(s.Volume, rough(candles.Volume[i]))
		last = int64(candles.Close[i])
	}
	for i := range result.Executions {
		e := &result.Executions[i]
		if e.Symbol != symbol.Name {
			continue
		}
		if len(s.Fills.Time) == maxFills {
			s.Fills.Left++
			continue
		}
		quantity := float(e.Quantity)
		if e.Side == exchange.Sell.String() {
			quantity = -quantity
		}
		s.Fills.Time, s.Fills.Price = append(s.Fills.Time, e.TimeMS/1000), append(s.Fills.Price, float(e.Price))
		s.Fills.Quantity, s.Fills.Purpose = append(s.Fills.Quantity, quantity), append(s.Fills.Purpose, e.Purpose)
	}
	for _, l := range result.Levels() {
		if l.Symbol != symbol.Key() || len(s.Levels.From) == maxFills {
			continue
		}
		stop := 0
		if l.Stop {
			stop = 1
		}
		s.Levels.From, s.Levels.To = append(s.Levels.From, l.FromMS/1000), append(s.Levels.To, l.ToMS/1000)
		s.Levels.Price, s.Levels.Stop = append(s.Levels.Price, float64(float64(l.Price)*unit)), append(s.Levels.Stop, stop)
	}
	s.Lines = linesOf(source, s.Time, interval)
	return s
}

// rough rounds to three digits, enough for a bar of volume.
func rough(number float64) float64 {
	if number <= 0 {
		return 0
	}
	return round(number, 2-int(math.Floor(math.Log10(number))))
}

// shownInterval returns the shortest interval whose merged candles are few enough, or the longest one.
func shownInterval(c *exchange.Candles) exchange.Interval {
	interval, count := c.Interval, c.Len()
	for _, longer := range exchange.Intervals() {
		if count > maxBars && longer > interval && longer%interval == 0 {
			interval, count = longer, joinedLen(c, longer)
		}
	}
	return interval
}

// joinedLen returns the number of candles that joined would make.
func joinedLen(c *exchange.Candles, longer exchange.Interval) (count int) {
	endMS := int64(math.MinInt64)
	for _, openMS := range c.OpenMS {
		if openMS >= endMS {
			count, endMS = count+1, longer.OpenOf(openMS)+int64(longer)
		}
	}
	return count
}

// joined merges candles. The last one may be incomplete.
func joined(c *exchange.Candles, longer exchange.Interval) *exchange.Candles {
	all := &exchange.Candles{Interval: longer}
	for i := range c.Len() {
		all.Merge(c.At(i))
	}
	return all
}

func tripsOf(result *backtest.Result, sources []Source) trips {
	var all trips
	several := len(result.BySymbol) > 1
	for i := range result.Trips {
		t := &result.Trips[i]
		if i == maxTrips {
			all.Missing = len(result.Trips) - maxTrips
			break
		}
		long := 0
		if t.Side == exchange.Buy.String() {
			long = 1
		}
		who := ""
		if several {
			who = t.Strategy
		}
		at := slices.IndexFunc(sources, func(s Source) bool { return s.Symbol.Name == t.Symbol })
		all.Series, all.Strategy = append(all.Series, at), append(all.Strategy, who)
		all.Entered, all.Left, all.Long = append(all.Entered, t.EnteredMS/1000), append(all.Left, t.LeftMS/1000), append(all.Long, long)
		all.Quantity, all.Entry, all.Exit = append(all.Quantity, t.Quantity), append(all.Entry, round(float(t.Entry), 8)),
			append(all.Exit, round(float(t.Exit), 8))
		all.PNL, all.Fees, all.Funding = append(all.PNL, round(float(t.PNL), 4)), append(all.Fees, round(float(t.Fees), 4)),
			append(all.Funding, round(float(t.Funding), 4))
		all.Adverse, all.Favor = append(all.Adverse, t.Adverse), append(all.Favor, t.Favorable)
		all.Reasons, all.Exits = append(all.Reasons, t.EntryReason), append(all.Exits, t.ExitPurpose)
	}
	return all
}
