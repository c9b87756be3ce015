package engine

import (
	"strings"
	"testing"

	"botd/exchange"
)

// Failure domains (exactly-once.md, Declared states; cases 23, 43, 44): a failing call affects only its own domain.

// pairOf has two strategies, one on BTC-USDT and one on ETH-USDT of a market, which hold the positions in the
// pointers.
func pairOf(t testing.TB, market exchange.Market, one, two *exchange.Quantity, options ...option) *world {
	t.Helper()
	return newWorld(t, swing(one), append(options, protected, func(w *world) {
		if market == exchange.Spot {
			onSpot(w)
		}
		second := w.config.Strategies[0]
		second.Name, second.Strategy = "two", scripted(swing(two))
		second.Symbol = w.venue.Symbol(exchange.SymbolKey{Market: market, Name: "ETH-USDT"})
		w.config.Strategies = append(w.config.Strategies, second)
	})...)
}

// small are positions in BTC and ETH that fit one account.
func small(market exchange.Market) (btc, ethers exchange.Quantity) {
	if market == exchange.Futures {
		return 20, 200
	}
	return 2_000, 20_000
}

// heldOf is the exchange's position or holding of a symbol beyond the account's initial one.
func (w *world) heldOf(market exchange.Market, name string) exchange.Quantity {
	w.t.Helper()
	if market == exchange.Futures {
		p, _ := w.venue.Position("one", name)
		return p.Signed()
	}
	rules := w.venue.Symbol(exchange.SymbolKey{Market: market, Name: name})
	free, frozen := w.venue.Balance("one", rules.Base)
	return rules.FloorQuantity(rules.QuantityOf(free.Add(frozen))) - w.began[rules.Base]
}

// about reports whether a call concerns a symbol, by its name or by an order of it.
func (w *world) about(call *Call, name string) bool {
	r := call.Request
	if r.OrderID != 0 {
		for p := range w.engine.Tracker().Live() {
			if p.OrderID() == r.OrderID {
				return p.Order().Symbol == name
			}
		}
	}
	return r.Symbol == name || r.Order.Symbol == name
}

var delisted = map[exchange.Market]error{
	exchange.Futures: &exchange.Refusal{Status: 400, Code: exchange.CodeFuturesInvalidSymbol, Message: "Invalid symbol."},
	exchange.Spot:    &exchange.Refusal{Status: 400, Code: exchange.CodeSpotInvalidSymbol, Message: "Invalid symbol."},
}

func bothMarkets(t *testing.T, run func(t *testing.T, market exchange.Market)) {
	for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		t.Run(market.String(), func(t *testing.T) {
			t.Parallel()
			run(t, market)
		})
	}
}

// wantBlind expects exactly the given blindness, by scope.
func (w *world) wantBlind(of ...string) {
	w.t.Helper()
	var have []string
	for _, d := range w.engine.Degraded() {
		if d.State == "blind" {
			have = append(have, strings.TrimPrefix(strings.TrimSpace(d.Scope.String()), "symbol "))
			if d.Cause == "" || d.SinceMS == 0 || d.Remedy == "" {
				w.t.Errorf("a declared state has a cause, a time and a remedy: have %+v", d)
			}
		}
	}
	if strings.Join(have, ", ") != strings.Join(of, ", ") {
		w.t.Errorf("blind: want %q, have %q", of, have)
	}
}

func TestFailedSymbolBlindsOnlyItself(t *testing.T) {
	t.Parallel()
	bothMarkets(t, func(t *testing.T, market exchange.Market) {
		one, two := small(market)
		w := pairOf(t, market, &one, &two)
		w.pass(30_000)
		before := w.heldOf(market, "ETH-USDT")
		if w.heldOf(market, "BTC-USDT") == 0 || before == 0 {
			t.Fatalf("want both held\n%s", w.story())
		}
		w.network = func(call *Call) fate {
			if w.about(call, "ETH-USDT") {
				return fate{err: delisted[market]}
			}
			return fate{}
		}
		w.pass(60_000)
		w.wantBlind(market.String() + " ETH-USDT")
		if w.engine.Blind(exchange.SymbolKey{Market: market, Name: "BTC-USDT"}) || !w.engine.Blind(exchange.SymbolKey{Market: market, Name: "ETH-USDT"}) {
			t.Error("want ETH-USDT blind, and BTC-USDT not")
		}
		if status := w.engine.Status(); status.Blind || status.NowMS-status.SoundMS > 20_000 {
			t.Errorf("want the account seen, have blind %v, last read %d ms ago", status.Blind, status.NowMS-status.SoundMS)
		}
		one = 0
		w.pass(10_000)
		if have := w.heldOf(market, "BTC-USDT"); have > 5 { // on spot the fee takes less than a step
			t.Errorf("want BTC-USDT sold, have %d\n%s", have, w.story())
		}
		if have := w.heldOf(market, "ETH-USDT"); have != before {
			t.Errorf("want ETH-USDT as it was, %d; have %d", before, have)
		}
		again, more := small(market)
		one, two = again/2, more+more/2
		w.pass(10_000)
		if have := w.heldOf(market, "BTC-USDT"); have < again/2-10 {
			t.Errorf("want BTC-USDT bought again, have %d\n%s", have, w.story())
		}
		if have := w.heldOf(market, "ETH-USDT"); have != before {
			t.Errorf("want nothing opened on the blind symbol, have %d instead of %d", have, before)
		}
		w.network = nil
		w.pass(60_000)
		w.wantBlind()
		if have := w.heldOf(market, "ETH-USDT"); have <= before {
			t.Errorf("want it traded again when it is read, have %d\n%s", have, w.story())
		}
	})
}

func TestUnreadablePriceBlindsOnlyItsSymbol(t *testing.T) {
	t.Parallel()
	bothMarkets(t, func(t *testing.T, market exchange.Market) {
		one, two := small(market)
		w := pairOf(t, market, &one, &two)
		w.pass(30_000)
		w.network = func(call *Call) fate {
			if op := call.Request.Operation; (op == exchange.FuturesTicker || op == exchange.SpotTicker) && call.Request.Symbol == "ETH-USDT" {
				return fate{err: &exchange.Unavailable{Operation: op, Reason: "status 500"}}
			}
			return fate{}
		}
		w.pass(60_000)
		w.wantBlind(market.String() + " ETH-USDT")
		one, two = 0, 0
		w.pass(20_000)
		for _, name := range []string{"BTC-USDT", "ETH-USDT"} { // an exit needs no new price
			if have := w.heldOf(market, name); have > 50 {
				t.Errorf("want %s sold, have %d\n%s", name, have, w.story())
			}
		}
	})
}

func TestFailedMarketBlindsOnlyItself(t *testing.T) {
	t.Parallel()
	for _, lost := range []exchange.Operation{exchange.FuturesOpenOrders, exchange.FuturesOpenPositions, exchange.SpotOpenOrders, exchange.SpotWallet} {
		for name, failing := range map[string]fate{
			"failing": {err: &exchange.Unavailable{Operation: lost, Reason: "status 503"}},
			"hanging": {longMS: 300_000},
		} {
			t.Run(lost.String()+" "+name, func(t *testing.T) {
				t.Parallel()
				one, two := exchange.Quantity(20), exchange.Quantity(2_000)
				w := newWorld(t, swing(&one), protected, func(w *world) {
					second := w.config.Strategies[0]
					second.Name, second.Strategy, second.Symbol, second.Leverage = "two", scripted(swing(&two)), w.venue.Symbol(coin), 0
					w.config.Strategies = append(w.config.Strategies, second)
				})
				w.pass(30_000)
				w.network = func(call *Call) fate {
					if call.Request.Operation == lost {
						return failing
					}
					return fate{}
				}
				w.pass(120_000)
				w.wantBlind("market " + lost.Market().String())
				one, two = 0, 0
				w.pass(30_000)
				other := exchange.Spot + exchange.Futures - lost.Market()
				if have := w.heldOf(other, "BTC-USDT"); have > 5 {
					t.Errorf("want %s sold, have %d\n%s", other, have, w.story())
				}
				if have := w.heldOf(lost.Market(), "BTC-USDT"); lost == exchange.FuturesOpenOrders && have != 0 {
					t.Errorf("want the position closed by what the position list shows, have %d", have)
				}
				w.network = nil
				w.pass(120_000)
				w.wantBlind()
				if have := w.heldOf(lost.Market(), "BTC-USDT"); have > 5 {
					t.Errorf("want it sold when it is read, have %d\n%s", have, w.story())
				}
			})
		}
	}
}

func TestUnreadableAccountBlocksOnlyOpenings(t *testing.T) {
	t.Parallel()
	one, two := small(exchange.Futures)
	w := pairOf(t, exchange.Futures, &one, &two)
	w.pass(30_000)
	w.network = func(call *Call) fate {
		if call.Request.Operation == exchange.FuturesAccount {
			return fate{err: &exchange.Unavailable{Operation: exchange.FuturesAccount, Reason: "status 503"}}
		}
		return fate{}
	}
	w.pass(60_000)
	w.wantBlind("account")
	one, two = 0, two*2
	w.pass(20_000)
	if have := w.heldOf(exchange.Futures, "BTC-USDT"); have != 0 {
		t.Errorf("want the exit out, have %d\n%s", have, w.story())
	}
	if have := w.heldOf(exchange.Futures, "ETH-USDT"); have > two/2 {
		t.Errorf("want nothing opened, have %d", have)
	}
}

func TestHungCallOfOneSymbolBlocksNoOther(t *testing.T) {
	t.Parallel()
	bothMarkets(t, func(t *testing.T, market exchange.Market) {
		one, two := small(market)
		w := pairOf(t, market, &one, &two)
		w.pass(30_000)
		w.network = func(call *Call) fate {
			list := call.Request.Operation == exchange.FuturesTickers || call.Request.Operation == exchange.SpotTickers // requested instead
			if list || w.about(call, "ETH-USDT") && !call.Request.Operation.Changes() {
				return fate{longMS: 300_000}
			}
			return fate{}
		}
		w.pass(60_000)
		w.wantBlind(market.String() + " ETH-USDT")
		one = 0
		w.pass(30_000)
		if have := w.heldOf(market, "BTC-USDT"); have > 5 {
			t.Errorf("want BTC-USDT sold, have %d\n%s", have, w.story())
		}
	})
}

// The price passes the level of a stop while single tickers hang. By the old price the stop would be sent again and
// again, and refused.
func TestAPriceThatHangsIsReadFromTheList(t *testing.T) {
	t.Parallel()
	bothMarkets(t, func(t *testing.T, market exchange.Market) { hungPrice(t, market) })
}

func hungPrice(t testing.TB, market exchange.Market) {
	t.Helper()
	one, two := small(market)
	held := one
	one = 0
	w := pairOf(t, market, &one, &two)
	w.pass(30_000)
	w.network = func(call *Call) fate {
		switch operation := call.Request.Operation; {
		case operation == exchange.FuturesTicker || operation == exchange.SpotTicker:
			return fate{longMS: 300_000}
		case operation.Places() && call.Request.Order.Type.Conditional():
			return fate{err: &exchange.Refusal{Operation: operation, Status: 400, Code: 2999, Message: "not now"}}
		}
		return fate{}
	}
	one = held
	w.pass(30_000)
	if have := w.heldOf(market, "BTC-USDT"); have < held*9/10 {
		t.Fatalf("want BTC-USDT bought, have %d\n%s", have, w.story())
	}
	key := exchange.SymbolKey{Market: market, Name: "BTC-USDT"}
	last, _ := w.venue.Price(key)
	if err := w.venue.SlideTo(key, w.venue.Symbol(key).FloorPrice(last/100*95)); err != nil {
		t.Fatal(err)
	}
	w.pass(10_000)
	if have := w.heldOf(market, "BTC-USDT"); have > held/10 {
		t.Errorf("want BTC-USDT sold at the price of the list, have %d\n%s", have, w.story())
	}
	w.wantBlind()
}

func TestOnlyStrategyOnDelistedSymbolFails(t *testing.T) {
	t.Parallel()
	delisted := exchange.SymbolKey{Market: exchange.Futures, Name: "OLD-USDT"}
	w := newWorld(t, hold(10), func(w *world) { w.config.Missing = []MissingStrategy{{Name: "old", Symbol: delisted}} })
	w.pass(5_000)
	w.wantHeld(10)
	d := w.wantState("failed")
	if d.Scope.Strategy != "old" || d.Scope.Symbol != delisted || !strings.Contains(d.Cause, "OLD-USDT") {
		t.Errorf("want it declared with its symbol, have %+v", d)
	}
	if len(facts[NoteStrategyFailed](w.notes)) != 1 {
		t.Errorf("want it reported once, have %d", len(facts[NoteStrategyFailed](w.notes)))
	}
	reload := &Reload{Removed: []string{"old"}}
	if against := w.engine.ReloadObstacles(reload); len(against) != 0 {
		t.Errorf("want nothing against its removal, have %v", against)
	}
	w.give(&EventReload{Reload: reload})
	w.pass(5_000)
	w.wantSound()
}

// An entry was answered, and then the symbol's calls fail.
func TestPositionIsProtectedOnceSymbolReturns(t *testing.T) {
	t.Parallel()
	bothMarkets(t, func(t *testing.T, market exchange.Market) {
		one, two := exchange.Quantity(0), exchange.Quantity(0)
		w := pairOf(t, market, &one, &two)
		w.pass(30_000)
		one, _ = small(market)
		for w.heldOf(market, "BTC-USDT") == 0 {
			w.pass(50)
		}
		w.network = func(call *Call) fate {
			if w.about(call, "BTC-USDT") {
				return fate{err: delisted[market]}
			}
			return fate{}
		}
		w.pass(120_000)
		w.network = nil
		w.pass(4_000)
		if !w.stopped(exchange.SymbolKey{Market: market, Name: "BTC-USDT"}) {
			t.Errorf("want its stop within 4 s, have none\n%s", w.story())
		}
	})
}

// A spot exit waits for the cancels of all stops. While one cannot be canceled, the others stay.
func TestUncancelableStopKeepsOtherStops(t *testing.T) {
	t.Parallel()
	target := exchange.Quantity(1_000)
	w := newWorld(t, swing(&target), onSpot, protected)
	w.pass(30_000)
	target = 2_000
	w.pass(30_000)
	refused := int64(0)
	w.venue.EachOpenOrder("one", exchange.Spot, func(o *exchange.Order) { refused = max(refused, o.ID) })
	w.network = func(call *Call) fate {
		if call.Request.Operation == exchange.SpotCancel && call.Request.OrderID == refused {
			return fate{err: &exchange.Refusal{Status: 400, Code: 1121, Message: "no"}}
		}
		return fate{}
	}
	target = 0
	off, longest := 0, 0
	for range 120 {
		w.pass(1_000)
		covered := exchange.Quantity(0)
		w.venue.EachOpenOrder("one", exchange.Spot, func(o *exchange.Order) { covered += o.Remaining() })
		if off++; covered > 1_900 {
			off = 0
		}
		longest = max(longest, off)
	}
	if longest > 4 {
		t.Errorf("want its stops off for 4 s at most, have %d s\n%s", longest, w.story())
	}
	w.network = nil
	w.pass(65_000)
	if have := w.heldOf(exchange.Spot, "BTC-USDT"); have > 5 {
		t.Errorf("want it sold once the stop can be canceled, have %d", have)
	}
}

// Whoever canceled it, the time without a stop counts, and a symbol that cannot be read meanwhile is tried again soon.
func TestAStopThatNoListShowsIsNoProtection(t *testing.T) {
	t.Parallel()
	w := standing(t)
	if w.symbol().UnprotectedSinceMS() != 0 {
		t.Fatal("want its stop to stand")
	}
	w.mirror = func(answer *exchange.Answer) {
		if answer.Operation == exchange.FuturesOpenOrders {
			answer.Orders = exchange.FetchedOf[exchange.Order](nil)
		}
	}
	w.pass(20_000)
	if w.symbol().UnprotectedSinceMS() == 0 {
		t.Errorf("want it unprotected, as the list shows\n%s", w.story())
	}
	w.mirror = nil
	w.pass(5_000)
	if since := w.symbol().UnprotectedSinceMS(); since != 0 {
		t.Errorf("want it protected again, have it unprotected since %d", since)
	}
}
