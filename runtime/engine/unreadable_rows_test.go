package engine

import (
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// The tests of this file cover unreadable rows (exactly-once.md, case 43): each affects only its own symbol
// or order.

// garble moves orders to the unreadable rows.
func garble(answer *exchange.Answer, which func(*exchange.Order) bool) {
	if !answer.Orders.Done() {
		return
	}
	var readable []exchange.Order
	for _, o := range answer.Orders.Items() {
		if !which(&o) {
			readable = append(readable, o)
			continue
		}
		answer.Unreadable = append(answer.Unreadable, exchange.UnreadableRow{Symbol: o.Symbol, ID: o.ID, ClientOrderID: o.ClientOrderID,
			Filled: o.Filled, FilledRead: true, Reason: `unknown order status "EXECUTED"`, Raw: `{"status":"EXECUTED"}`})
	}
	answer.Orders = exchange.FetchedOf(readable)
}

// withResting buys a quantity by one keyed order and has another one rest far from the price, until the
// quantity is 0: then it is flat.
func withResting(target *exchange.Quantity) func(*strategy.View, *strategy.Plan) {
	return func(view *strategy.View, plan *strategy.Plan) {
		if *target == 0 {
			plan.Hold(strategy.Flat(), "a test")
			return
		}
		plan.Orders, plan.OrdersSet = []strategy.DesiredOrder{{Key: "at once", Side: exchange.Buy, Price: 51_000e8, Quantity: *target},
			{Key: "low", Side: exchange.Buy, Price: 40_000e8, Quantity: *target}}, true
	}
}

func TestUnreadableOwnRowMakesOnlyItsPlacementUncertain(t *testing.T) {
	t.Parallel()
	bothMarkets(t, func(t *testing.T, market exchange.Market) {
		one, two := small(market)
		w := pairOf(t, market, &one, &two)
		w.config.Strategies[0].Strategy = scripted(withResting(&one))
		w.start()
		w.pass(30_000)
		key := exchange.SymbolKey{Market: market, Name: "BTC-USDT"}
		own := func() *placement.State {
			for p := range w.engine.Tracker().Live() {
				if p.Purpose() == placement.Order && p.Symbol() == key {
					state := p.State()
					return &state
				}
			}
			return nil
		}
		if s := own(); s == nil || *s != placement.Working {
			t.Fatalf("want the order at rest\n%s", w.story())
		}
		w.mirror = func(answer *exchange.Answer) {
			garble(answer, func(o *exchange.Order) bool {
				return o.Symbol == "BTC-USDT" && o.Type == exchange.Limit && o.Side == exchange.Buy
			})
		}
		sent := len(w.sent)
		w.pass(40_000)
		if s := own(); s == nil || *s != placement.Uncertain {
			t.Errorf("want it uncertain as long as its row cannot be read, have %v\n%s", s, w.story())
		}
		w.wantBlind(key.String())
		if len(w.sent) != sent {
			t.Errorf("want nothing sent for it, have %d more\n%s", len(w.sent)-sent, w.story())
		}
		one, two = 0, two+two/2
		w.pass(20_000)
		if have := w.heldOf(market, "BTC-USDT"); have > 5 {
			t.Errorf("want the exit of its own symbol out, have %d\n%s", have, w.story())
		}
		if have := w.heldOf(market, "ETH-USDT"); have < two-two/10 {
			t.Errorf("want the other symbol bought up to %d, have %d\n%s", two, have, w.story())
		}
		w.mirror = nil
		w.pass(60_000)
		w.wantBlind()
		if s := own(); s != nil {
			t.Errorf("want it canceled by its plan when its row is read, have %v\n%s", *s, w.story())
		}
	})
}

func TestUnreadableFilledRowEndsItsPlacement(t *testing.T) {
	t.Parallel()
	quantity := exchange.Quantity(2_000)
	w := newWorld(t, withResting(&quantity), onSpot, protected)
	w.pass(30_000)
	w.mirror = func(answer *exchange.Answer) {
		garble(answer, func(o *exchange.Order) bool { return o.Price == 40_000e8 && o.Status == exchange.StatusFilled })
	}
	w.price("39990")
	w.pass(15_000)
	ended, found := w.endedBy(func(p exchange.NewOrder) bool { return p.Price == 40_000e8 })
	if !found || ended.State != placement.Filled || !strings.Contains(ended.Evidence, "shows it as filled") {
		t.Errorf("want it filled by what its row shows, have %+v\n%s", ended, w.story())
	}
}

// endedBy returns how the placement of an order ended, by the journal.
func (w *world) endedBy(which func(exchange.NewOrder) bool) (record.Ended, bool) {
	for _, sent := range w.sent {
		for _, r := range w.records {
			if ended, is := r.Body.(record.Ended); is && r.ClientOrderID == sent.ClientOrderID && which(sent) {
				return ended, true
			}
		}
	}
	return record.Ended{}, false
}

func TestUnreadableForeignRowIsAnUnknownOrder(t *testing.T) {
	t.Parallel()
	bothMarkets(t, func(t *testing.T, market exchange.Market) {
		one, two := small(market)
		w := pairOf(t, market, &one, &two)
		w.pass(30_000)
		row := exchange.UnreadableRow{Symbol: "BTC-USDT", ID: 9_001, Reason: `unknown order type "TRAILING_STOP_MARKET"`, Raw: "{}"}
		w.mirror = func(answer *exchange.Answer) {
			if op := answer.Operation; op == exchange.FuturesOpenOrders || op == exchange.SpotOpenOrders {
				answer.Unreadable = append(answer.Unreadable, row)
			}
		}
		before := w.heldOf(market, "BTC-USDT")
		one, two = one*2, two+two/2
		w.pass(60_000)
		d := w.wantState("foreign")
		if d.Scope.Symbol.Name != "BTC-USDT" || !strings.Contains(d.Cause, "TRAILING_STOP_MARKET") {
			t.Errorf("want the unknown order on its symbol, with its cause; have %+v", d)
		}
		w.wantBlind()
		if have := w.heldOf(market, "BTC-USDT"); have != before {
			t.Errorf("want nothing opened beside it, have %d instead of %d\n%s", have, before, w.story())
		}
		if have := w.heldOf(market, "ETH-USDT"); have < two-two/10 {
			t.Errorf("want the other symbol bought up to %d, have %d\n%s", two, have, w.story())
		}
		one = 0
		w.pass(20_000)
		if have := w.heldOf(market, "BTC-USDT"); have > 5 {
			t.Errorf("want the exit out, have %d\n%s", have, w.story())
		}
		w.mirror = nil
		w.pass(30_000)
		w.wantSound()
	})
}

func TestUnreadablePositionDoesNotCountAsEnded(t *testing.T) {
	t.Parallel()
	one, two := small(exchange.Futures)
	w := pairOf(t, exchange.Futures, &one, &two)
	w.pass(30_000)
	w.mirror = func(answer *exchange.Answer) {
		if answer.Operation == exchange.FuturesOpenPositions {
			answer.Positions = exchange.FetchedOf(slices.DeleteFunc(slices.Clone(answer.Positions.Items()),
				func(p exchange.Position) bool { return p.Symbol == "BTC-USDT" }))
			answer.Unreadable = append(answer.Unreadable, exchange.UnreadableRow{Symbol: "BTC-USDT", Reason: `unknown side "BOTH"`, Raw: "{}"})
		}
	}
	records := len(w.records)
	w.pass(90_000)
	w.wantBlind("futures BTC-USDT")
	for _, r := range w.records[records:] {
		if r.Symbol.Name == "BTC-USDT" {
			t.Errorf("want nothing concluded about it, have %s %s", r.Kind(), r.Summary())
		}
	}
	if open := len(w.open()); open != 2 {
		t.Errorf("want both stops on the exchange, have %d orders", open)
	}
	two = 0
	w.pass(10_000)
	if have := w.heldOf(exchange.Futures, "ETH-USDT"); have != 0 {
		t.Errorf("want the other symbol's exit out, have %d\n%s", have, w.story())
	}
	w.mirror = nil
	w.pass(60_000)
	w.wantSound()
	w.wantHeld(one)
}

func TestUnreadableBalanceBlindsOnlyItsSymbol(t *testing.T) {
	t.Parallel()
	one, two := small(exchange.Spot)
	w := pairOf(t, exchange.Spot, &one, &two)
	w.pass(30_000)
	w.mirror = unreadBalance("ETH")
	before := w.heldOf(exchange.Spot, "ETH-USDT")
	one = 0
	w.pass(60_000)
	w.wantBlind("spot ETH-USDT")
	if w.engine.Tracker().Track(exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"}).Quarantine() != "" {
		t.Error("want a balance that cannot be read not taken for none")
	}
	if have := w.heldOf(exchange.Spot, "BTC-USDT"); have > 5 {
		t.Errorf("want the other symbol sold, have %d\n%s", have, w.story())
	}
	if have := w.heldOf(exchange.Spot, "ETH-USDT"); have != before {
		t.Errorf("want it as it was, have %d instead of %d", have, before)
	}
}

// The wallet that is known is older than the cancel of the stop that it froze units for: what is frozen now is unknown.
func TestFlattenSaysNothingOfUnitsFrozenInAnUnreadableBalance(t *testing.T) {
	t.Parallel()
	one, two := small(exchange.Spot)
	w := pairOf(t, exchange.Spot, &one, &two, protected)
	w.pass(30_000)
	w.mirror = unreadBalance("ETH")
	w.pass(10_000)
	w.flatten()
	w.pass(20_000)
	symbol := w.engine.Tracker().Symbol(exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"})
	if blind := strings.Join(w.wantState("halted").Blind, "\n"); symbol.FrozenUnexplained() == 0 || strings.Contains(blind, "frozen") ||
		!strings.Contains(blind, "spot ETH-USDT has not been readable since") {
		t.Errorf("want it unreadable, and nothing of the %d of the older wallet, have %s", symbol.FrozenUnexplained(), blind)
	}
}

// unreadBalance has the row of an asset unreadable.
func unreadBalance(asset string) func(*exchange.Answer) {
	return func(answer *exchange.Answer) {
		if answer.Operation == exchange.SpotWallet {
			answer.Balances = exchange.FetchedOf(slices.DeleteFunc(slices.Clone(answer.Balances.Items()),
				func(b exchange.Balance) bool { return b.Asset == asset }))
			answer.Unreadable = append(answer.Unreadable, exchange.UnreadableRow{Asset: asset, Reason: "balance 1e99", Raw: "{}"})
		}
	}
}

func TestRowWithoutNameBlindsMarket(t *testing.T) {
	t.Parallel()
	one, two := exchange.Quantity(20), exchange.Quantity(2_000)
	w := newWorld(t, swing(&one), protected, func(w *world) {
		second := w.config.Strategies[0]
		second.Name, second.Strategy, second.Symbol, second.Leverage = "two", scripted(swing(&two)), w.venue.Symbol(coin), 0
		w.config.Strategies = append(w.config.Strategies, second)
	})
	w.pass(30_000)
	w.mirror = func(answer *exchange.Answer) {
		if answer.Operation == exchange.FuturesOpenOrders {
			answer.Unreadable = append(answer.Unreadable, exchange.UnreadableRow{Reason: "no object", Raw: "5"})
		}
	}
	two, one = 4_000, 40
	w.pass(60_000)
	w.wantBlind("market futures")
	w.wantHeld(20)
	if have := w.heldOf(exchange.Spot, "BTC-USDT"); have < 3_900 {
		t.Errorf("want the other market bought up to 4000, have %d\n%s", have, w.story())
	}
	one = 0
	w.pass(10_000)
	w.wantHeld(0)
}

func TestForeignRowWithoutIDPreventsAbsence(t *testing.T) {
	t.Parallel()
	bothMarkets(t, func(t *testing.T, market exchange.Market) {
		one, two := small(market)
		w := pairOf(t, market, &one, &two)
		w.network = every(fate{lost: true})
		w.pass(2_000)
		w.mirror = func(answer *exchange.Answer) {
			if op := answer.Operation; op == exchange.FuturesOpenOrders || op == exchange.SpotOpenOrders {
				answer.Unreadable = append(answer.Unreadable, exchange.UnreadableRow{Symbol: "BTC-USDT", ID: 77, Reason: "no side", Raw: "{}"})
			}
		}
		w.pass(90_000)
		uncertain := w.engine.Tracker().AnyLive(func(p *account.Placement) bool {
			return p.State() == placement.Uncertain && p.Symbol().Name == "BTC-USDT"
		})
		if !uncertain {
			t.Errorf("want the lost placement uncertain still\n%s", w.story())
		}
	})
}
