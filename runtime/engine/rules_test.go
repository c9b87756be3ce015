package engine

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/strategy"
)

// The tests of this file change a symbol's rules while there is a position (exactly-once.md, case 45).

// stepGrows makes the quantity step ten times as large, with a position that is no multiple of it.
func stepGrows(t testing.TB, market exchange.Market) {
	one, two := exchange.Quantity(26), exchange.Quantity(0)
	if market == exchange.Spot {
		one = 2_006
	}
	w := pairOf(t, market, &one, &two)
	w.pass(30_000)
	held, sent, key := w.heldOf(market, "BTC-USDT"), len(w.sent), exchange.SymbolKey{Market: market, Name: "BTC-USDT"}
	w.venue.Symbol(key).QuantityTick *= 10
	w.pass(90_000)
	one++ // priced by the larger step, the target does not shrink when the step is reset
	w.pass(90_000)
	w.venue.Symbol(key).QuantityTick /= 10
	w.pass(90_000)
	if have := w.heldOf(market, "BTC-USDT"); have/10 != held/10 || len(w.sent) != sent {
		t.Errorf("want it held as it was, %d, and nothing sent; have %d, %d sent\n%s", held, have, len(w.sent)-sent, w.story())
	}
	if !w.stopped(key) {
		t.Errorf("want its stop as it was, have none")
	}
}

func TestLargerStepCausesNoSale(t *testing.T) {
	t.Parallel()
	bothMarkets(t, func(t *testing.T, market exchange.Market) { stepGrows(t, market) })
}

// stopOutlasts changes the rules so that they accept no stop, and then the stop's price.
func stopOutlasts(t testing.TB, change func(*exchange.Symbol)) {
	share := exchange.RateOne / 50
	w := newWorld(t, func(_ *strategy.View, plan *strategy.Plan) {
		plan.Target = strategy.Target{Kind: strategy.ByQuantity, Quantity: 2_000}
		plan.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: share}}
	}, onSpot)
	w.pass(30_000)
	rules, before := w.venue.Symbol(coin), *w.venue.Symbol(coin)
	change(rules)
	w.pass(90_000) // they are read each minute
	share = exchange.RateOne / 40
	for range 90 {
		w.pass(1_000)
		if !w.stopped(coin) {
			t.Fatalf("want the stop to stand, have none\n%s", w.story())
		}
	}
	*rules = before
	w.pass(90_000)
	moved := false
	w.venue.EachOpenOrder("one", exchange.Spot, func(o *exchange.Order) {
		moved = moved || o.Type.StopLoss() && o.StopPrice < exchange.Price(49_000)*1e8
	})
	if !moved {
		t.Errorf("want the stop moved once the rules accept it\n%s", w.story())
	}
}

func notTraded(s *exchange.Symbol) { s.Tradable = false }

func TestStopStaysIfRulesAcceptNoReplacement(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*exchange.Symbol){
		"not traded":       notTraded,
		"a larger minimum": func(s *exchange.Symbol) { s.MinNotional = s.MinNotional.Mul(1_000) },
		"a larger step":    func(s *exchange.Symbol) { s.QuantityTick *= 10_000 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stopOutlasts(t, change)
		})
	}
}

func TestExitWaitsForNextReadOfRulesAtMost(t *testing.T) {
	t.Parallel()
	target := exchange.Quantity(20)
	w := newWorld(t, swing(&target), protected)
	w.pass(30_000)
	rules := *w.symbol().Rules()
	rules.Tradable = false // the rules that were read; the exchange trades it again
	see(w.symbol(), func(o *seen) { o.Rules = &rules })
	target = 0
	w.pass(6_000)
	w.wantHeld(0)
}

func TestStricterRulesAreRereadEveryFewSeconds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(20), protected)
	w.pass(70_000)
	rules := w.venue.Symbol(bitcoin)
	tick := rules.PriceTick
	rules.PriceTick *= 10
	w.pass(65_000)
	if have := w.symbol().Rules().PriceTick; have != tick*10 {
		t.Fatalf("want the rules read within a minute, have a tick of %d", have)
	}
	rules.PriceTick = tick
	w.pass(4_000)
	if have := w.symbol().Rules().PriceTick; have != tick {
		t.Errorf("want the rules read within 4 s, have a tick of %d instead of %d", have, tick)
	}
}

// rulesOfNow raises the minimum order and lowers it again; a strategy sees each rule once it has been read.
func rulesOfNow(t testing.TB) {
	var seen exchange.Amount
	w := newWorld(t, func(view *strategy.View, plan *strategy.Plan) {
		seen = view.Symbol.MinNotional
		plan.Target = strategy.Target{Kind: strategy.ByQuantity, Quantity: 20}
	}, protected, func(w *world) {
		atStart := *w.venue.Symbol(bitcoin)
		w.config.Strategies[0].Symbol = &atStart
	})
	w.pass(10_000)
	rules := w.venue.Symbol(bitcoin)
	before := rules.MinNotional
	for _, least := range []exchange.Amount{before.Mul(20), before} {
		rules.MinNotional = least
		w.pass(65_000)
		if seen != least {
			t.Errorf("want the strategy to see a smallest order of %s, have %s", least, seen)
		}
	}
}

func TestStrategySeesTheCurrentRules(t *testing.T) {
	t.Parallel()
	rulesOfNow(t)
}

// A strategy sizes its orders by the minimum, which is lowered before they can be sent: it decides again by the current rules.
func TestPlanUnderOldRulesIsDecidedAgain(t *testing.T) {
	t.Parallel()
	formerRules(t)
}

func formerRules(t testing.TB) {
	w := newWorld(t, func(view *strategy.View, plan *strategy.Plan) {
		plan.Target = strategy.Target{Kind: strategy.ByQuantity, Quantity: view.Symbol.QuantityFor(view.Symbol.MinNotional.Mul(2), view.Last)}
	}, protected, func(w *world) {
		w.venue.Symbol(bitcoin).MinNotional = exchange.AmountOf(1_000)
		w.venue.Symbol(bitcoin).Tradable = false
		atStart := *w.venue.Symbol(bitcoin)
		w.config.Strategies[0].Symbol = &atStart
		w.config.Strategies[0].Schedule = each(60_000)
	})
	w.pass(70_000)
	w.venue.Symbol(bitcoin).MinNotional, w.venue.Symbol(bitcoin).Tradable = exchange.AmountOf(100), true
	for len(w.sent) == 0 && w.now < startMS+600_000 {
		w.pass(100)
	}
	if most := w.symbol().Rules().QuantityFor(exchange.AmountOf(220), w.symbol().Last()); len(w.sent) == 0 || w.sent[0].Quantity > most {
		t.Errorf("want at most %d bought first, have %+v\n%s", most, w.sent, w.story())
	}
}

// A stop is gone, and the first rules of the start accept no order for what the stop covered: for the whole position, for the
// last purchase, or for nothing at all.
func TestStartRereadsRulesThatPreventStop(t *testing.T) {
	t.Parallel()
	grown := func(w *world, rules *exchange.Symbol) {
		rules.MinNotional = rules.Notional(w.engine.Tracker().Track(spotEther).Last(), 3_000)
	}
	forbids := func(_ *world, rules *exchange.Symbol) { rules.Tradable = false }
	for _, c := range []struct {
		name        string
		first, then exchange.Quantity
		stricter    func(*world, *exchange.Symbol)
	}{
		{"the smallest order is more than all", 2_000, 0, grown},
		{"the smallest order is more than a part", 4_000, 2_000, grown},
		{"nothing is traded", 2_000, 0, forbids},
		{"nothing is traded, and a part has its stop", 4_000, 2_000, forbids},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			quantity := c.first
			w := newWorld(t, func(v *strategy.View, p *strategy.Plan) { hold(quantity)(v, p) }, onEther, protected)
			w.pass(60_000)
			quantity += c.then
			w.pass(60_000)
			rules := w.venue.Symbol(spotEther)
			before := *rules
			c.stricter(w, rules)
			w.pass(65_000) // they are read
			newest := int64(0)
			w.venue.EachOpenOrder("one", exchange.Spot, func(o *exchange.Order) { newest = max(newest, o.ID) })
			if _, err := w.venue.Do("one", &exchange.Request{Operation: exchange.SpotCancel, Symbol: "ETH-USDT", OrderID: newest}); err != nil {
				t.Fatal(err)
			}
			w.pass(16_000) // that is detected
			strict := *rules
			w.config.Strategies[0].Symbol = &strict
			w.start()
			w.pass(8_000)
			if w.coveredEther() > w.inEther()-1_900 {
				t.Fatalf("want no stop that the exchange would refuse\n%s", w.story())
			}
			*rules = before
			w.pass(6_000)
			if covered := w.coveredEther(); covered < w.inEther()-4 {
				t.Errorf("want it covered within seconds, have %d of %d\n%s", covered, w.inEther(), w.story())
			}
		})
	}
}

// Rules without margin brackets keep the known brackets, because a leverage must always be checked against some. Brackets that are read
// replace them.
func TestRulesWithoutMarginLevelsKeepKnownOnes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10))
	w.pass(10_000)
	before := w.symbol().Rules().Brackets
	if len(before) == 0 {
		t.Fatal("the symbol has no margin levels to lose")
	}
	read := func(brackets []exchange.Bracket) {
		w.mirror = func(answer *exchange.Answer) {
			if !answer.Symbols.Done() {
				return
			}
			var changed []*exchange.Symbol
			for _, symbol := range answer.Symbols.Items() {
				other := *symbol
				other.Brackets = brackets
				changed = append(changed, &other)
			}
			answer.Symbols = exchange.FetchedOf(changed)
		}
		w.pass(200_000) // they are read each minute, or later
		w.mirror = nil
	}
	read(nil)
	if have := w.symbol().Rules().Brackets; len(have) != len(before) {
		t.Errorf("read without: want %d levels kept, have %d", len(before), len(have))
	}
	one := []exchange.Bracket{{Max: exchange.AmountOf(1_000_000), MaxLeverage: 12}}
	read(one)
	if have := w.symbol().Rules().Brackets; len(have) != 1 || have[0].MaxLeverage != 12 {
		t.Errorf("read again: want one level of leverage 12, have %+v", have)
	}
}

// The exchange lowers the leverage of a size below the one that is set. Nothing opens, as explain shows; the stop moves, the
// exit is sent, and the strategy trades again once the brackets are reset.
func TestLoweredBracketsKeepProtectionAndExits(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]int{"below the leverage that is set": 5, "to one": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target, share := exchange.Quantity(20), exchange.RateOne/50
			w := newWorld(t, func(_ *strategy.View, plan *strategy.Plan) {
				plan.Target = strategy.Target{Kind: strategy.ByQuantity, Quantity: target}
				plan.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: share}}
			}, ownRules)
			w.pass(30_000)
			rules := w.venue.Symbol(bitcoin)
			before := rules.Brackets
			rules.Brackets = slices.Clone(before)
			for i := range rules.Brackets {
				rules.Brackets[i].MaxLeverage = most
			}
			w.pass(70_000)
			target, share = 40, exchange.RateOne/40
			for range 120 {
				w.pass(1_000)
				if !w.stopped(bitcoin) {
					t.Fatalf("want a stop to stand, have none\n%s", w.story())
				}
			}
			w.wantHeld(20)
			if len(w.refused) > 1 {
				t.Errorf("want at most one refusal, before the levels are read, have %v", w.refused)
			}
			target = 0
			w.pass(10_000)
			w.wantHeld(0)
			target = 20
			w.pass(20_000)
			w.wantHeld(0)
			rules.Brackets = before
			w.pass(400_000)
			w.wantHeld(20)
			w.wantSound()
		})
	}
}

// The first rules of a start name a minimum far above the position that lacks its stop: one read decides nothing, so they are read again within seconds,
// and until then the position is not dust.
func TestOneReadOfRulesMakesNoPositionDust(t *testing.T) {
	t.Parallel()
	for name, on := range map[string]option{"spot": onEther, "next to a person's units": onSpot} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hugeMinimum(t, on)
		})
	}
}

func hugeMinimum(t testing.TB, on option) {
	w := newWorld(t, hold(2_000), on)
	w.pass(60_000)
	wrong := *w.config.Strategies[0].Symbol
	wrong.MinNotional = exchange.AmountOf(100_000)
	w.config.Strategies[0].Symbol = &wrong
	protected(w)
	w.start()
	w.pass(500)
	if d := w.flatten(); d.Remaining == "" {
		t.Errorf("want the position to be closed, have %+v", d)
	}
	w.give(&EventHalt{Reason: "rearmed"})
	w.pass(4_500)
	if have := w.forSale(); have < 1_990 {
		t.Errorf("want a stop within seconds, have %d for sale\n%s", have, w.story())
	}
}
