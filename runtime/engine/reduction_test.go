package engine

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

var spotEther = exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"}

// onEther trades spot ETH-USDT. The account holds no other ETH, so a sale is smaller than the purchase by its fee.
func onEther(w *world) {
	w.config.Strategies[0].Symbol, w.config.Strategies[0].Leverage = w.venue.Symbol(spotEther), 0
}

// patient are the settle times of an unmeasured venue.
func patient(w *world) {
	w.config.Bounds = placement.Bounds{WindowMS: 60_000, VisibilityMS: 45_000, StalenessMS: 15_000}
}

// inEther returns the account's ETH, in units of the symbol.
func (w *world) inEther() exchange.Quantity {
	free, frozen := w.venue.Balance("one", "ETH")
	return w.venue.Symbol(spotEther).QuantityOf(free.Add(frozen))
}

// coveredEther returns how much of it resting stops would sell.
func (w *world) coveredEther() (sum exchange.Quantity) {
	w.venue.EachOpenOrder("one", exchange.Spot, func(o *exchange.Order) {
		if o.Type == exchange.StopLimit {
			sum += o.Remaining()
		}
	})
	return sum
}

func TestSpotStopFollowsFillWithinARound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(2_000), onEther, protected, patient)
	for w.inEther() == 0 {
		w.pass(100)
	}
	waited := int64(0)
	for ; w.coveredEther() == 0 && waited < 60_000; waited += 100 {
		w.pass(100)
	}
	if waited > 2_500 {
		t.Errorf("want a stop about a round after the fill, have it after %d ms\n%s", waited, w.story())
	}
	if held, covered := w.inEther(), w.coveredEther(); covered < held-w.venue.Symbol(spotEther).QuantityTick || covered > held {
		t.Errorf("want all of %d covered, have %d", held, covered)
	}
	w.wantNothingRefused()
	w.wantSound()
}

func TestGrowingSpotPositionStaysProtected(t *testing.T) {
	t.Parallel()
	target := exchange.Quantity(1_000)
	w := newWorld(t, swing(&target), onEther, protected, patient)
	w.pass(5_000)
	partly, half := 0, 0
	const seconds = 144
	for second := range seconds {
		if second%8 == 0 {
			target += 500
		}
		w.pass(1_000)
		switch covered, held := w.coveredEther(), w.inEther(); {
		case covered < held/2:
			half++
		case covered < held-held/100:
			partly++
		}
	}
	if half > 4 || partly > seconds/2 {
		t.Errorf("of %d s: want less than half covered for 4 and less than all for %d at most, have %d and %d\n%s", seconds, seconds/2, half, partly, w.story())
	}
	if target < 9_000 || w.inEther() < target-target/100 {
		t.Errorf("want it grown to %d, have %d", target, w.inEther())
	}
	w.wantNothingRefused()
}

func TestFlattenSellsRightAfterAPurchaseAtLiveSettleTimes(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]option{"protected": {onEther, protected, patient}, "without a stop": {onEther, patient}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, hold(2_000), options...)
			for w.inEther() == 0 {
				w.pass(10)
			}
			w.give(&EventHalt{Level: record.LevelFlatten, Reason: "a test"})
			waited := int64(0)
			for ; w.inEther() >= w.venue.Symbol(spotEther).QuantityTick && waited < 60_000; waited += 100 {
				w.pass(100)
			}
			if waited > 5_000 {
				t.Errorf("want it sold within 5 s, have %d ms\n%s", waited, w.story())
			}
			w.pass(60_000)
			w.wantNothingRefused()
		})
	}
}

// A person's own resting sale holds a part of what botd bought. The free part is sold nevertheless.
func TestSpotExitSellsFreeBalance(t *testing.T) {
	t.Parallel()
	target := exchange.Quantity(2_000)
	w := newWorld(t, swing(&target), onEther)
	w.pass(10_000)
	w.manually(exchange.Request{Operation: exchange.SpotPlace, Order: exchange.NewOrder{Market: exchange.Spot, Symbol: "ETH-USDT", Side: exchange.Sell,
		Type: exchange.Limit, Price: 3_000e8, Quantity: 500}})
	target = 0
	w.pass(20_000)
	if held := w.inEther(); held > 501 {
		t.Errorf("want all but the 500 that rest sold, have %d\n%s", held, w.story())
	}
	w.wantNothingRefused()
}

// An order that the exchange certainly refuses is not sent again and again. It is reported once.
func TestSpotDustIsNotSoldRepeatedly(t *testing.T) {
	t.Parallel()
	target := exchange.Quantity(30) // 0.003 ETH, 7.5 USDT
	w := newWorld(t, swing(&target), onEther, protected)
	w.pass(10_000)
	w.setSpotPrice("ETH-USDT", "1500") // 4.5 USDT, below the minimum
	target = 0
	sent := len(w.sent)
	w.pass(120_000)
	if len(w.sent) > sent+1 {
		t.Errorf("want no order that is too small, have %d more\n%s", len(w.sent)-sent, w.story())
	}
	w.wantNothingRefused()
}

// setSpotPrice sets the price of one spot symbol.
func (w *world) setSpotPrice(symbol, text string) {
	w.t.Helper()
	key := exchange.SymbolKey{Market: exchange.Spot, Name: symbol}
	p := w.venue.Symbol(key).PriceOf(exchange.MustAmount(text))
	if err := w.venue.SetPrice(key, p, 0); err != nil {
		w.t.Fatal(err)
	}
}
