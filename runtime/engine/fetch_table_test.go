package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/internal/reconciletest"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// acknowledged has the exchange answer a placement with an id; rests has a list show it, too.
func (w *world) acknowledged(clientOrderID string, id int64) {
	w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: clientOrderID, Body: record.Acknowledged{OrderID: id}})
}

func (w *world) rests(clientOrderID string, id int64) {
	w.acknowledged(clientOrderID, id)
	w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: clientOrderID, Body: record.Fill{OrderID: id}})
}

// An order is read by its id if it has one and awaits an outcome.
func TestOrdersAreReadByIDIfListFails(t *testing.T) {
	t.Parallel()
	limit := func(w *world) string {
		order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Price: 1, Quantity: 10,
			ClientOrderID: w.engine.tracker.NextClientOrderID("t")}
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, Strategy: "one", Symbol: bitcoin, ClientOrderID: order.ClientOrderID,
			Body: record.Sending{Order: order, Purpose: placement.Order}})
		return order.ClientOrderID
	}
	for _, c := range []struct {
		name string
		with func(w *world)
		want bool
	}{
		{"it was not answered", func(w *world) { limit(w) }, false},
		{"it was answered", func(w *world) { w.acknowledged(limit(w), 5) }, true},
		{"it rests", func(w *world) { w.rests(limit(w), 5) }, false},
		{"it rests, and is being canceled", func(w *world) {
			id := limit(w)
			w.rests(id, 5)
			w.engine.tracker.NoteCancel(id, w.now)
		}, true},
		{"at market", func(w *world) { w.rests(w.sends(placement.Exit), 5) }, true},
		{"on spot", func(w *world) { w.acknowledged(w.sendsOn(coin, placement.Exit), 5) }, false},
	} {
		w := settled(t)
		see(w.engine.tracker.Track(coin), func(o *seen) { o.Rules = w.venue.Symbol(coin) })
		r := w.engine.reader
		r.roundReads = roundReads{phase: phaseOrders, lateMS: never}
		c.with(w)
		w.out.Reset()
		r.fetchVanished()
		want := exchange.Request{Operation: exchange.FuturesOrder, OrderID: 5}
		if calls := w.out.Calls; (len(calls) == 1) != c.want || c.want && calls[0].Request != want || r.roundReads.pending != len(calls) {
			t.Errorf("%s: want it read %t, have %+v", c.name, c.want, calls)
		}
	}
}

// The history of the order's symbol is read from a minute before it was sent, unless a list has shown the order resting and still does.
// Its trades are read if the list does not show it. The newest orders are read of a symbol that was not read, and while another botd
// trades.
func TestSpotOrderReads(t *testing.T) {
	t.Parallel()
	row := exchange.UnreadableRow{ID: 5, Symbol: "BTC-USDT"}
	rests := func(w *world) { w.rests(w.sendsOn(coin, placement.Order), 5) }
	refused := func(w *world) {
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: w.sendsOn(coin, placement.Entry), Body: record.Refused{Reason: "no"}})
	}
	const history, hour = "history from -60000", "history from -4199999" // an hour before the start, almost ten minutes after it
	for _, c := range []struct {
		name    string
		listed  []int64 // ids of the listed open orders; nil if the list could not be read
		with    func(w *world)
		garbled bool // the order's row is unreadable
		want    string
	}{
		{"nothing is under way", []int64{}, func(*world) {}, false, ""},
		{"it was not answered", []int64{}, func(w *world) { w.sendsOn(coin, placement.Entry) }, false, history},
		{"it was answered, and is listed", []int64{5}, func(w *world) { w.acknowledged(w.sendsOn(coin, placement.Entry), 5) }, false, history},
		{"it was answered, and is not listed", []int64{7}, func(w *world) { w.acknowledged(w.sendsOn(coin, placement.Entry), 5) }, false,
			history + ", trades of 5"},
		{"it rests", []int64{7, 5}, rests, false, ""},
		{"it does not rest any more", []int64{7}, rests, false, history + ", trades of 5"},
		{"its row cannot be read", []int64{7}, rests, true, ""},
		{"the list cannot be read", nil, rests, false, history + ", trades of 5"},
		{"it is being canceled, and is listed", []int64{5}, func(w *world) {
			rests(w)
			w.engine.tracker.NoteCancel(w.engine.tracker.LiveAt(0).ClientOrderID(), w.now)
		}, false, history},
		{"two of one symbol", []int64{}, func(w *world) { w.sendsOn(coin, placement.Entry); w.now += 7; w.sendsOn(coin, placement.Exit) }, false, history},
		{"it was refused", []int64{}, refused, false, history},
		{"one was refused, and one is not answered", []int64{}, func(w *world) { refused(w); w.sendsOn(coin, placement.Exit) }, false, history},
		{"it was not answered, with a new journal", []int64{}, func(w *world) { w.sendsOn(coin, placement.Entry); w.engine.startMS += 20_001 }, false, hour},
		{"it was refused, with a new journal", []int64{}, func(w *world) { refused(w); w.engine.startMS += 20_001 }, false, hour},
		{"it was refused in a backtest", []int64{}, func(w *world) { refused(w); w.engine.config.Feed = true }, false, ""},
		{"its symbol was not read", []int64{}, func(w *world) { see(w.symbol(), func(o *seen) { o.Read = false }) }, false, "newest"},
		{"its symbol was not read, in a backtest", []int64{}, func(w *world) {
			see(w.symbol(), func(o *seen) {
				o.Read, w.engine.config.Feed = false, true
			})
		}, false, ""},
		{"another botd trades", []int64{}, func(w *world) {
			see(w.symbol(), func(o *seen) {
				o.Foreign = []exchange.Order{{ID: 9, ClientOrderID: w.unknownID(), Market: exchange.Spot, Symbol: "BTC-USDT"}}
			})
		}, false, "newest"},
	} {
		w := newWorld(t, hold(0), onSpot)
		w.pass(20_000)
		w.engine.out = &w.out
		r := w.engine.reader
		r.startMS -= newJournalMS
		c.with(w)
		r.roundReads = roundReads{phase: phaseOrders, lateMS: never}
		if c.listed != nil {
			var orders []exchange.Order
			for _, id := range c.listed {
				orders = append(orders, exchange.Order{ID: id, Market: exchange.Spot, Symbol: "BTC-USDT"})
			}
			r.roundReads.snapshot.SpotOrders = exchange.FetchedOf(orders)
		}
		if c.garbled {
			r.roundReads.snapshot.UnreadOrders = []reconcile.UnreadOrder{{Market: exchange.Spot, Open: true, Row: row}}
		}
		w.out.Reset()
		sentMS := startMS + int64(20_000)
		r.fetchVanished()
		var have []string
		for i := range w.out.Calls {
			switch request := w.out.Calls[i].Request; {
			case request.Operation == exchange.SpotOrderHistory && request.StartMS == 0:
				have = append(have, "newest")
			case request.Operation == exchange.SpotOrderHistory:
				have = append(have, fmt.Sprint("history from ", request.StartMS-sentMS))
			default:
				have = append(have, fmt.Sprint("trades of ", request.OrderID))
			}
			if request := w.out.Calls[i].Request; request.Symbol != "BTC-USDT" || request.Limit != 1_000 {
				t.Errorf("%s: want the whole page of its symbol, have %+v", c.name, request)
			}
		}
		if strings.Join(have, ", ") != c.want || r.roundReads.requested != strings.Contains(c.want, "history") {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
	}
}

// The history is read from the second on in which the uncertain opening was sent, since its dates have that
// resolution.
func TestPositionsHistoryStartsAtOpeningSecond(t *testing.T) {
	t.Parallel()
	for sentMS, want := range map[int64]int64{1_000: 1_000, 1_234: 1_000, 1_999: 1_000, 2_000: 2_000, 2_999: 2_000} {
		w := settled(t)
		began := w.now
		w.now += sentMS
		id := w.sends(placement.Entry)
		w.engine.tracker.Apply(&record.Record{AtMS: w.now, ClientOrderID: id, Body: record.Uncertain{Reason: "timeout"}})
		w.engine.nowMS = w.now + 60_000
		w.out.Reset()
		w.engine.reader.askEnds()
		if calls := w.out.Calls; len(calls) != 1 || calls[0].Request != (exchange.Request{Operation: exchange.FuturesPositionsHistory, Symbol: "BTC-USDT",
			StartMS: began + want, Limit: 100}) {
			t.Errorf("sent at %d ms: want the ends since %d ms, have %+v", sentMS, want, calls)
		}
	}
}

// The result is the sum of the order's own trades, at their average price, and the fees paid in the bought
// asset.
func TestOrderTradesAreSummed(t *testing.T) {
	t.Parallel()
	trade := func(order int64, price, quantity int64, fee, asset string) exchange.UserTrade {
		return exchange.UserTrade{OrderID: order, Price: exchange.Price(price * 1e8), Quantity: exchange.Quantity(quantity), Fee: exchange.MustAmount(fee),
			FeeAsset: asset}
	}
	for _, c := range []struct {
		name   string
		trades []exchange.UserTrade
		rules  bool
		want   string
	}{
		{"none", nil, true, "[]"},
		{"one", []exchange.UserTrade{trade(5, 100, 10, "0.01", "BTC")}, true, "[5: 10 at 100, fee 0.01]"},
		{"two", []exchange.UserTrade{trade(5, 100, 10, "0.01", "BTC"), trade(5, 103, 20, "0.02", "BTC")}, true, "[5: 30 at 102, fee 0.03]"},
		{"a fee in another asset", []exchange.UserTrade{trade(5, 100, 10, "0.5", "USDT")}, true, "[5: 10 at 100, fee 0]"},
		{"of another order", []exchange.UserTrade{trade(6, 100, 10, "0.01", "BTC")}, true, "[]"},
		{"without rules", []exchange.UserTrade{trade(5, 100, 10, "0.01", "BTC")}, false, "[]"},
	} {
		w := settled(t)
		r, symbol := w.engine.reader, w.engine.tracker.Track(coin)
		if see(symbol, func(o *seen) { o.Rules = nil }); c.rules {
			see(symbol, func(o *seen) { o.Rules = w.venue.Symbol(coin) })
		}
		r.roundReads = roundReads{phase: phaseOrders}
		r.sumTrades(&pendingCall{kind: callTrades, symbol: symbol, orderID: 5}, &exchange.Answer{Fills: exchange.FetchedOf(c.trades)})
		have := []string{}
		for _, one := range r.roundReads.snapshot.Trades {
			have = append(have, fmt.Sprintf("%d: %d at %s, fee %s", one.OrderID, one.Filled, one.Price, one.Fee))
		}
		if fmt.Sprint(have) != c.want {
			t.Errorf("%s: want %s, have %s", c.name, c.want, have)
		}
	}
}

func TestAFullPageOfAHistoryMayNotBeAllOfIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pages   []int
		partial bool
	}{{[]int{0}, false}, {[]int{999}, false}, {[]int{1_000}, true}, {[]int{1_000, 3}, true}, {[]int{3, 1_000}, true}} {
		r := &reader{base: emptyBase(1)}
		sum := 0
		for _, rows := range c.pages {
			r.addToSnapshot(&pendingCall{kind: callHistory}, &EventAnswer{Answer: exchange.Answer{Orders: exchange.FetchedOf(make([]exchange.Order, rows))}})
			sum += rows
		}
		if r.roundReads.partial != c.partial || len(r.roundReads.history) != sum {
			t.Errorf("pages of %v: want it partial %t, have %t, %d orders", c.pages, c.partial, r.roundReads.partial, len(r.roundReads.history))
		}
	}
}

// In a backtest no call is in flight between two events, and a failed read makes botd blind as it does live.
func TestTheReadsOfABacktestAreAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	var failure error
	w := newWorld(t, hold(10), func(w *world) {
		w.config.Read = func(request *exchange.Request) (exchange.Answer, error) {
			if failure != nil {
				return exchange.Answer{}, failure
			}
			return w.venue.Do("one", request)
		}
	})
	reads := 0
	w.network = func(call *Call) fate {
		if slices.Contains([]exchange.Operation{exchange.FuturesOpenOrders, exchange.FuturesOpenPositions, exchange.FuturesAccount}, call.Request.Operation) {
			reads++
		}
		return fate{}
	}
	w.pass(20_000)
	w.wantHeld(10)
	w.wantSound()
	if reads != 0 {
		t.Errorf("want no read of a round as a call, have %d", reads)
	}
	failure = errors.New("broken")
	w.pass(60_000)
	w.wantState("blind")
}

// A symbol lacks a price if a round could act on one, and none is from the last half second.
func TestSymbolLacksPrice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		with func(w *world, one *leg)
		want bool
	}{
		{"nothing is held or desired", func(*world, *leg) {}, false},
		{"there was none yet", func(_ *world, one *leg) { see(one.symbol, func(o *seen) { o.LastMS = 0 }) }, true},
		{"there was none yet, at the beginning of time", func(w *world, one *leg) {
			see(one.symbol, func(o *seen) {
				o.LastMS, w.engine.nowMS = 0, 100
			})
		}, true},
		{"a position", func(_ *world, one *leg) { see(one.symbol, func(o *seen) { o.Position = -1 }) }, true},
		{"it decides by a schedule", func(_ *world, one *leg) { one.config.Schedule = each(1_000) }, true},
		{"a target", func(w *world, _ *leg) { w.plan(strategy.Target{Kind: strategy.ByQuantity, Quantity: -1}) }, true},
		{"orders", func(w *world, _ *leg) {
			w.engine.tracker.Apply(&record.Record{Strategy: "one", Symbol: bitcoin, Body: record.Plan{Plan: &strategy.Plan{OrdersSet: true}}})
		}, true},
		{"a position, and a price of 499 ms ago", func(w *world, one *leg) {
			see(one.symbol, func(o *seen) {
				o.Position, o.LastMS = 1, w.engine.nowMS-499
			})
		}, false},
		{"a position, and a price of 500 ms ago", func(w *world, one *leg) {
			see(one.symbol, func(o *seen) {
				o.Position, o.LastMS = 1, w.engine.nowMS-500
			})
		}, true},
	} {
		w := settled(t)
		one := w.engine.legs[0]
		see(one.symbol, func(o *seen) { one.config.Schedule, o.LastMS = nil, w.engine.nowMS-60_000 })
		c.with(w, one)
		if have := w.engine.reader.lacksPrice(one); have != c.want {
			t.Errorf("%s: want a price lacking %t, have %t", c.name, c.want, have)
		}
		if missing := w.engine.reader.missingPrices(exchange.Futures); (len(missing) == 1) != c.want || len(w.engine.reader.missingPrices(exchange.Spot)) != 0 {
			t.Errorf("%s: want it among the missing %t, have %d", c.name, c.want, len(missing))
		}
	}
}

// A list is read from four symbols of a market on, unless it has failed within a minute.
func TestPriceListIsReadFromFourSymbols(t *testing.T) {
	t.Parallel()
	symbols := sim.DefaultSymbols()
	for _, c := range []struct {
		count, singlyMS int64 // read individually until then, from now
		want            bool
	}{{3, 0, false}, {4, 0, true}, {4, 1, false}, {5, 0, true}} {
		config := settled(t).config
		config.Epoch, config.Random, config.Strategies = 1, placement.RandomFrom(1), nil
		for i := range c.count {
			symbol := *symbols[i%int64(len(symbols))]
			symbol.Market, symbol.Name = exchange.Futures, fmt.Sprint("S", i, "-USDT")
			config.Strategies = append(config.Strategies, StrategyConfig{Name: symbol.Name, Strategy: scripted(hold(0)), Symbol: &symbol,
				Interval: exchange.Minute1})
		}
		e, err := New(config, reconcile.NewTracker(config.Bounds))
		if err != nil {
			t.Fatal(err)
		}
		e.nowMS = 1_000_000
		r := e.reader
		r.singly[exchange.Futures] = e.nowMS + c.singlyMS
		if have := r.byList(exchange.Futures); have != c.want || r.byList(exchange.Spot) {
			t.Errorf("%d symbols: want the list read %t, have %t", c.count, c.want, have)
		}
		r.listFailed(&pendingCall{of: exchange.FuturesTickers})
		if r.singly[exchange.Futures] != e.nowMS+60_000 || r.byList(exchange.Futures) {
			t.Errorf("want single tickers read for a minute after a list has failed, have %d ms", r.singly[exchange.Futures]-e.nowMS)
		}
	}
}

// A ticker sets the price of its own symbol only, and only if it has one.
func TestTickerPrice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tickers []exchange.Ticker
		want    exchange.Price
	}{
		{[]exchange.Ticker{{Symbol: "BTC-USDT", Last: 7}}, 7}, {[]exchange.Ticker{{Symbol: "BTC-USDT"}}, 5}, {nil, 5},
		{[]exchange.Ticker{{Symbol: "ETH-USDT", Last: 9}, {Symbol: "BTC-USDT", Last: 7}}, 7}, {[]exchange.Ticker{{Symbol: "ETH-USDT", Last: 9}}, 5},
	} {
		w := settled(t)
		see(w.symbol(), func(o *seen) { o.Last, o.LastMS = 5, 1 })
		if w.engine.reader.applyTicker(w.symbol(), c.tickers); w.symbol().Last() != c.want {
			t.Errorf("%+v: want %d, have %d", c.tickers, c.want, w.symbol().Last())
		}
	}
}

// A list of prices is awaited only for its own market and in the current round.
func TestPriceListIsAwaited(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p    pendingCall
		want bool
	}{
		{pendingCall{kind: callTickers, of: exchange.FuturesTickers}, true}, {pendingCall{kind: callTickers, of: exchange.SpotTickers}, false},
		{pendingCall{kind: callTickers, of: exchange.FuturesTickers, late: true}, false}, {pendingCall{kind: callTicker, of: exchange.FuturesTicker}, false},
	} {
		w := settled(t)
		clear(w.engine.calls)
		w.engine.begin(c.p)
		if have := w.engine.reader.listComes(exchange.Futures); have != c.want {
			t.Errorf("%+v: want %t, have %t", c.p, c.want, have)
		}
	}
}

// The earlier position of its symbol stays, or those of all symbols if the row names none. A row of another symbol does not
// matter.
func TestARowOfAPositionThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, unread := range map[string][]exchange.SymbolKey{"BTC-USDT": {bitcoin}, "": {wholeMarket}, "XYZ-USDT": nil} {
		_, r := undisturbed(t)
		r.addToSnapshot(&pendingCall{kind: callRound, of: exchange.FuturesOpenPositions}, &EventAnswer{Answer: exchange.Answer{
			Operation: exchange.FuturesOpenPositions, Unreadable: []exchange.UnreadableRow{{Symbol: name}}}})
		want := []exchange.SymbolKey{{Market: exchange.Futures, Name: name}}
		if snapshot := &r.roundReads.snapshot; !slices.Equal(snapshot.UnreadPositions, want) || !slices.Equal(snapshot.Unread, unread) ||
			len(r.roundReads.failures) != len(unread) {
			t.Errorf("%q: want %v not read, have %v, %v, %v", name, unread, snapshot.UnreadPositions, snapshot.Unread, r.roundReads.failures)
		}
	}
}

// The earlier balance of its asset stays. A row without a name keeps no balance.
func TestARowOfAWalletThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		assets []string
		want   string // balances; the unread ones
		of     []exchange.SymbolKey
		unread []exchange.SymbolKey
	}{
		{"the asset that is traded", []string{"BTC"}, "USDT 5, BTC 3", []exchange.SymbolKey{coin}, []exchange.SymbolKey{coin}},
		{"the asset that pays for it", []string{"USDT"}, "USDT 5, USDT 400", []exchange.SymbolKey{wholeSpot}, nil},
		{"another", []string{"XYZ"}, "USDT 5, XYZ 0", nil, nil},
		{"one without a name", []string{""}, "none", []exchange.SymbolKey{wholeSpot}, []exchange.SymbolKey{wholeSpot}},
		{"one without a name first", []string{"", "BTC"}, "none", []exchange.SymbolKey{wholeSpot, coin}, []exchange.SymbolKey{wholeSpot, coin}},
	} {
		b := valued(t, 1, 1)
		*reconciletest.Of(b.tracker).Balances = append(*reconciletest.Of(b.tracker).Balances, exchange.Balance{Asset: "BTC", Free: exchange.AmountOf(3)})
		r := &reader{base: b}
		answer := &exchange.Answer{Operation: exchange.SpotWallet,
			Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "USDT", Free: exchange.AmountOf(5)}})}
		for _, asset := range c.assets {
			answer.Unreadable = append(answer.Unreadable, exchange.UnreadableRow{Asset: asset})
		}
		r.addToSnapshot(&pendingCall{kind: callRound, of: exchange.SpotWallet}, &EventAnswer{Answer: *answer})
		have := []string{"none"}
		if balances := &r.roundReads.snapshot.Balances; balances.Done() {
			have = nil
			for _, one := range balances.Items() {
				have = append(have, one.Asset+" "+one.Free.String())
			}
		}
		var of []exchange.SymbolKey
		for _, f := range r.roundReads.failures {
			of = append(of, f.of)
		}
		if strings.Join(have, ", ") != c.want || !slices.Equal(of, c.of) ||
			!slices.Equal(r.roundReads.snapshot.Unread, c.unread) || !r.roundReads.snapshot.UnreadAssets {
			t.Errorf("%s: want %s, not read %v, have %s, %v, %v", c.name, c.want, c.of, have, of, r.roundReads.snapshot.Unread)
		}
	}
}
