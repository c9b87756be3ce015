package sim_test

import (
	"context"
	"testing"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/internal/conformance"
)

// direct calls a simulated exchange in process.
type direct struct{ *sim.Exchange }

func (d direct) Do(_ context.Context, request exchange.Request) (exchange.Answer, error) {
	return d.Exchange.Do("", &request)
}

func wantStory(t *testing.T, findings []conformance.Finding, least int) {
	t.Helper()
	if len(findings) < least {
		t.Errorf("want at least %d findings, have %d", least, len(findings))
	}
	for _, f := range findings {
		if f.Err != nil {
			text := f.Err.Error()
			t.Errorf("%s: %s", f.What, text[:min(600, len(text))])
		}
	}
}

func randomExchange(t testing.TB, seed uint64) *sim.Exchange {
	t.Helper()
	x, err := sim.New(sim.Config{Symbols: sim.DefaultSymbols(), StartMS: conformance.StartMS + 7*3_600_000 + 12_345, OrderDelayMS: sim.DefaultOrderDelayMS})
	if err != nil {
		t.Fatal(err)
	}
	for _, symbol := range sim.DefaultSymbols() {
		x.SetMarket(symbol.Key(), sim.Random(seed))
	}
	return x
}

// TestTheRandomMarketIsConsistent reads a random market at its start.
func TestTheRandomMarketIsConsistent(t *testing.T) {
	t.Parallel()
	wantStory(t, conformance.Read(context.Background(), direct{randomExchange(t, 0)}, conformance.Bounds{}), 90)
}

// TestTheRandomMarketIsConsistentWithinAMinute reads a market whose past and present meet within a minute.
func TestTheRandomMarketIsConsistentWithinAMinute(t *testing.T) {
	t.Parallel()
	x := randomExchange(t, 0)
	x.Advance(x.NowMS() + 61_003)
	wantStory(t, conformance.Read(context.Background(), direct{x}, conformance.Bounds{}), 90)
}

// TestTheRandomMarketIsConsistentAcrossHours reads a market after hours have passed, and a funding payment.
func TestTheRandomMarketIsConsistentAcrossHours(t *testing.T) {
	t.Parallel()
	x := randomExchange(t, 1)
	x.Advance(x.NowMS() + 7_200_001)
	wantStory(t, conformance.Read(context.Background(), direct{x}, conformance.Bounds{}), 90)
}

// TestTheStillMarketIsConsistent does the same with prices that the test sets.
func TestTheStillMarketIsConsistent(t *testing.T) {
	t.Parallel()
	x, err := sim.New(sim.Config{Symbols: sim.DefaultSymbols(), StartMS: conformance.StartMS})
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(50) {
		for _, symbol := range sim.DefaultSymbols() {
			last, _ := x.Price(symbol.Key())
			if err := x.SetPrice(symbol.Key(), symbol.FloorPrice(last+last/1000*exchange.Price(i%7-3)), 0); err != nil {
				t.Fatal(err)
			}
		}
		x.Advance(x.NowMS() + 45_000)
	}
	wantStory(t, conformance.Read(context.Background(), direct{x}, conformance.Bounds{Own: true}), 90)
}

// TestARandomMarketFillsAsItsOrderBookShows sends orders through several levels. Each level gives the displayed
// quantity, the order book shows the rest, and the next move of the market renews it. The fills agree with the
// candles.
func TestARandomMarketFillsAsItsOrderBookShows(t *testing.T) {
	t.Parallel()
	x := randomExchange(t, 5)
	if err := x.AddAccount(sim.AccountConfig{Name: "alice", FuturesUSDT: exchange.AmountOf(10_000_000)}); err != nil {
		t.Fatal(err)
	}
	symbol := x.Symbol(exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"})
	asks := func() []exchange.Level {
		answer, err := x.Do("", &exchange.Request{Operation: exchange.FuturesDepth, Symbol: symbol.Name, Limit: 20})
		if err != nil {
			t.Fatal(err)
		}
		return answer.Depth.Asks
	}
	x.Advance(exchange.Minute1.OpenOf(x.NowMS()) + int64(exchange.Minute1) + 100)
	before := asks()
	order := exchange.NewOrder{Market: exchange.Futures, Symbol: symbol.Name, Side: exchange.Buy, Type: exchange.MarketOrder,
		Quantity: before[0].Quantity + before[1].Quantity + before[2].Quantity/2/symbol.QuantityTick*symbol.QuantityTick}
	if _, err := x.Do("alice", &exchange.Request{Operation: exchange.FuturesPlace, Order: order}); err != nil {
		t.Fatal(err)
	}
	x.Advance(x.NowMS() + 5)
	fills := x.Fills()
	if len(fills) != 3 {
		t.Fatalf("want a fill at each of three levels, have %+v", fills)
	}
	for i, fill := range fills {
		if fill.Price != before[i].Price || i < 2 && fill.Quantity != before[i].Quantity {
			t.Errorf("fill %d: want %+v, have %d at %d", i, before[i], fill.Quantity, fill.Price)
		}
	}
	after := asks()
	if after[0].Price != before[2].Price || after[0].Quantity != before[2].Quantity-fills[2].Quantity || after[1] != before[3] {
		t.Errorf("want what is left of %+v, have %+v", before[2:4], after[:2])
	}
	x.Advance(x.NowMS() + 2_000)
	last, _ := x.Price(symbol.Key())
	if renewed := asks(); renewed[0].Price != last+symbol.PriceTick {
		t.Errorf("want the quotes a tick from %d again, have %d", last, renewed[0].Price)
	}
	wantStory(t, conformance.Read(context.Background(), direct{x}, conformance.Bounds{Own: true}), 90)
}

// TestARandomMarketHasCalmAndWildTimes compares its candles of two weeks with the properties of a market:
// hours differ greatly in how far they move, tails are fat, and there are candles of every interval.
func TestARandomMarketHasCalmAndWildTimes(t *testing.T) {
	t.Parallel()
	x := randomExchange(t, 11)
	answer, err := x.Do("", &exchange.Request{Operation: exchange.FuturesCandles, Symbol: "BTC-USDT", Interval: exchange.Minute15, Limit: 1500})
	if err != nil {
		t.Fatal(err)
	}
	c := answer.Candles
	if c.Len() < 14*96 {
		t.Fatalf("want two weeks of 15m candles, have %d", c.Len())
	}
	var squares, fourths float64
	var days []float64
	for i := 1; i < c.Len(); i++ {
		move := float64(c.Close[i])/float64(c.Close[i-1]) - 1
		squares, fourths = squares+move*move, fourths+move*move*move*move
		if i%96 == 0 {
			days = append(days, squares)
		}
	}
	n := float64(c.Len() - 1)
	if tails := fourths / n / (squares / n * squares / n); tails < 3.5 {
		t.Errorf("want fat tails, a kurtosis above 3.5, have %.2f", tails)
	}
	calm, wild := days[0], days[0]
	for i := 1; i < len(days); i++ {
		calm, wild = min(calm, days[i]-days[i-1]), max(wild, days[i]-days[i-1])
	}
	if wild < 2*calm {
		t.Errorf("want a wild day of twice a calm one's variance, have %g and %g", wild, calm)
	}
}
