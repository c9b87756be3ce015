package sim

import (
	"math/rand/v2"
	"testing"

	"botd/exchange"
)

// followed is a position whose stop is moved, or which is exited at market, at a moment at which its path is
// known.
type followed struct {
	drawn
	atMS  int64
	away  exchange.Price // distance of the stop from the price, against the position
	buys  bool
	exits bool // it exits at market
}

func drawFollowed(t *testing.T, seed uint64) *followed {
	random := rand.New(rand.NewPCG(seed, 91))
	f := &followed{drawn: drawMarket(random, symbolOf(t), 0), buys: random.IntN(2) == 0, exits: random.IntN(4) == 0}
	bar := 1 + random.IntN(f.candles.Len()-8)
	f.atMS = f.candles.OpenMS[bar] + random.Int64N(int64(f.candles.Interval))
	f.away = exchange.Price(1+random.IntN(40)) * symbolOf(t).PriceTick
	return f
}

// run returns the price at which the position was closed, the price that the path reached a second after the stop was
// moved, and the stop.
func (f *followed) run(t *testing.T, delayMS int64) (exit, before, soon, stop exchange.Price) {
	t.Helper()
	desk := newDesk(t, Config{OrderDelayMS: delayMS})
	desk.SetMarket(solFutures, Tape(f.candles, TapeConfig{Order: Worst, Detail: f.detail, Costs: Costs{Bounded: true, Through: true}}))
	desk.Advance(f.candles.OpenMS[0])
	seat, _ := desk.Instrument(solFutures)
	place := func(order exchange.NewOrder) {
		order.Market, order.Symbol = exchange.Futures, solFutures.Name
		if _, err := desk.Do(desk.account, &exchange.Request{Operation: exchange.FuturesPlace, Order: order}); err != nil {
			t.Fatal(err)
		}
	}
	enters, leaves := exchange.Buy, exchange.Sell
	if !f.buys {
		enters, leaves = leaves, enters
	}
	quantity := seat.orderBook.symbol.QuantityTick
	place(exchange.NewOrder{Side: enters, Type: exchange.MarketOrder, Quantity: quantity})
	desk.Advance(f.atMS)
	before, _ = seat.Price()
	stop = seat.orderBook.symbol.FloorPrice(before - f.away)
	if !f.buys {
		stop = seat.orderBook.symbol.FloorPrice(before + f.away)
	}
	seat.Trail(stop, 0, true)
	seat.Reveal(true)
	if f.exits {
		place(exchange.NewOrder{Side: leaves, Type: exchange.MarketOrder, Quantity: quantity, ReduceOnly: true})
	} else {
		place(exchange.NewOrder{Side: leaves, Type: exchange.StopMarket, StopPrice: stop, WorkingType: exchange.ContractPrice, ClosePosition: true})
	}
	seat.Reveal(false)
	entries := len(desk.Fills())
	desk.Advance(f.atMS + 1_000)
	soon, _ = seat.Price()
	desk.Advance(f.candles.CloseMS(f.candles.Len() - 1))
	if fills := desk.Fills(); len(fills) > max(1, entries) || f.exits {
		exit = fills[len(fills)-1].Price
	}
	return exit, before, soon, stop
}

// TestAStopThatFollowsThePathNeverGainsByDelay delays the orders that a position's exits send at a moment at which they know
// the path. A delay never gives a better price, and one millisecond costs at most the path's move in it.
func TestAStopThatFollowsThePathNeverGainsByDelay(t *testing.T) {
	t.Parallel()
	wantFollowedOrdered(t, true)
}

// TestAShortsStopThatFollowsThePathNeverGainsByDelay does so with shorts.
func TestAShortsStopThatFollowsThePathNeverGainsByDelay(t *testing.T) {
	t.Parallel()
	wantFollowedOrdered(t, false)
}

func wantFollowedOrdered(t *testing.T, buys bool) {
	t.Helper()
	compared, dearer := 0, 0
	for seed := range uint64(700) {
		f := drawFollowed(t, seed)
		if f.buys != buys {
			continue
		}
		last, before := exchange.Price(0), int64(0)
		for _, delay := range []int64{0, 1, 10, 100, 1_000, 10_000, 60_000} {
			exit, _, _, stop := f.run(t, delay)
			if exit == 0 || last == 0 && delay > 0 {
				break // the stop was passed on the way, or never
			}
			cost := last - exit
			if !f.buys {
				cost = -cost
			}
			switch {
			case delay == 0:
				last, before = exit, delay
				continue
			case cost < 0:
				t.Fatalf("seed %d: delayed by %d ms instead of %d it gains %d; %+v, stop %d", seed, delay, before, -cost, f.atMS-startMS, stop)
			case delay == 1 && cost > 10*symbolOf(t).PriceTick:
				t.Fatalf("seed %d: a millisecond costs %d ticks", seed, cost/symbolOf(t).PriceTick)
			case cost > 0:
				dearer++
			}
			compared++
			last, before = exit, delay
		}
	}
	if compared < 1_000 || dearer < 150 { // of each half
		t.Errorf("%d pairs, %d of them dearer: too few to prove anything", compared, dearer)
	}
	t.Logf("%d pairs, %d dearer, none cheaper", compared, dearer)
}

// On the worse path the price goes no further in favor of a position once the stop that follows it should be within the
// candle, whether it is there or not.
func TestThePathTurnsWhereTheStopIsToStand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stop  string
		delay int64
		falls bool
	}{{"50300", 0, true}, {"50300", 20_000, true}, {"48000", 0, false}, {"48000", 20_000, false}} {
		d := newDesk(t, Config{OrderDelayMS: c.delay})
		candles := d.tapeOf([4]string{"50000", "50000", "50000", "50000"}, [4]string{"50000", "51000", "49000", "50000"})
		d.SetMarket(d.key(), Tape(candles, TapeConfig{Order: Worst, Costs: Costs{Bounded: true}}))
		d.Advance(startMS + 1)
		d.place(d.order("buy", exchange.MarketOrder, "0.01", ""))
		d.Advance(startMS + 60_000)
		seat, _ := d.Instrument(d.key())
		seat.Trail(0, d.p("50500"), true)
		d.Advance(startMS + 68_000)
		before, _ := seat.Price()
		if before <= d.p("50400") {
			t.Fatalf("want the price on its way to the high, have it at %d", before)
		}
		seat.Trail(d.p(c.stop), 0, true)
		d.Advance(startMS + 68_100)
		if after, _ := seat.Price(); (after < before) != c.falls {
			t.Errorf("stop %s, delay %d: want it to fall %t, have %d after %d", c.stop, c.delay, c.falls, after, before)
		}
	}
}
