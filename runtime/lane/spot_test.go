package lane

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/internal/enginetest"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// holding returns a scene whose strategy holds 1 ETH on spot, with a resting sale of 0.4 (order 2).
func holding(t *testing.T) (s *scene, ether func(text string) exchange.Price) {
	t.Helper()
	s = newScene(t)
	ether = func(text string) exchange.Price { return enginetest.Price(t, symbolOf(spot), text) }
	s.place(placement.Entry, ordered(spot, exchange.Buy, exchange.Limit, 10_000, ether("2600")))
	sale := s.place(placement.ExitOrder, ordered(spot, exchange.Sell, exchange.Limit, 4_000, ether("2700")))
	s.show("two", spot, 10_000, ether("2500"), sale)
	return s, ether
}

// sales returns the spot orders among the changes of the venue.
func (s *scene) sales() (all []string) {
	for _, line := range s.venue.done() {
		if _, what, found := strings.Cut(line, "spot_"); found {
			all = append(all, what)
		}
	}
	return all
}

// free returns the free amount of the wallet in ETH.
func (s *scene) free() string {
	s.t.Helper()
	answer, err := s.venue.Do(s.t.Context(), exchange.Request{Operation: exchange.SpotWallet})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, b := range answer.Balances.Items() {
		if b.Asset == "ETH" {
			return b.Free.String()
		}
	}
	return "0"
}

// The resting sale is canceled first, because it holds the asset; then all is sold by a limit order below the price.
func TestSpotHoldingIsSoldThroughThePrice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := holding(t)
		defer s.stop()
		if err := s.halt(record.LevelFlatten, account.Scope{Strategy: "two"}); err != nil {
			t.Fatal(err)
		}
		pass(5 * time.Second)
		want(t, "requests", s.sales(), "cancel ETH-USDT 2", "place ETH-USDT SELL LIMIT 10000 at 247500000000")
		if first := s.venue.since[0]; first != 20-reconcile.HistorySlackMS { // the resting sale was sent at 20 ms, and clocks differ by a minute at most
			t.Errorf("want the history since the oldest order, have %d ms", first)
		}
		if s.free() != "0" || s.LastActivation().DoneMS == 0 || s.Degraded()[0].Remaining != "" {
			t.Errorf("want nothing left, have %s, %+v", s.free(), s.Degraded())
		}
	})
}

// A sale rests until its price was passed; it is canceled after two seconds, and the rest follows at the new price.
func TestRestingSaleIsReplaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, ether := holding(t)
		defer s.stop()
		s.venue.set(exchange.SpotTicker, errBusy, nil) // the list's price, which is too high
		s.known[0].Last = ether("2700")
		s.Show(s.known)
		if err := s.halt(record.LevelFlatten, account.Scope{}); err != nil {
			t.Fatal(err)
		}
		pass(1500 * time.Millisecond)
		want(t, "requests", s.sales(), "cancel ETH-USDT 2", "place ETH-USDT SELL LIMIT 10000 at 267300000000")
		s.venue.set(exchange.SpotTicker, nil, nil)
		pass(5 * time.Second)
		want(t, "requests later", s.sales(), "cancel ETH-USDT 3", "place ETH-USDT SELL LIMIT 10000 at 247500000000")
		if s.free() != "0" {
			t.Errorf("want it sold, have %s", s.free())
		}
	})
}

// A sale whose answer is lost rests: it is found by its client order id, canceled, and sold again.
func TestLostSaleThatRestsIsReplaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, ether := holding(t)
		defer s.stop()
		s.venue.set(exchange.SpotTicker, errBusy, nil)
		s.venue.set(exchange.SpotPlace, nil, &exchange.Uncertain{})
		s.known[0].Last = ether("2700")
		s.Show(s.known)
		if err := s.halt(record.LevelFlatten, account.Scope{}); err != nil {
			t.Fatal(err)
		}
		pass(1500 * time.Millisecond)
		s.venue.set(exchange.SpotTicker, nil, nil)
		s.venue.set(exchange.SpotPlace, nil, nil)
		pass(5 * time.Second)
		want(t, "requests", s.sales(), "cancel ETH-USDT 2", "place ETH-USDT SELL LIMIT 10000 at 267300000000", "cancel ETH-USDT 3",
			"place ETH-USDT SELL LIMIT 10000 at 247500000000")
		if s.free() != "0" || s.LastActivation().DoneMS == 0 {
			t.Errorf("want it sold, have %s", s.free())
		}
	})
}

// A market without a halt has nothing left to do, and reads go on each second once all is done.
func TestLaneReadsFastUntilAllIsDone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := holding(t)
		defer s.stop()
		last := enginetest.Price(t, symbolOf(bitcoin), "50000")
		s.place(placement.Entry, ordered(bitcoin, exchange.Buy, exchange.MarketOrder, 1, 0))
		s.show("one", bitcoin, 1, last)
		for _, read := range []exchange.Operation{exchange.FuturesOpenPositions, exchange.SpotWallet, exchange.SpotOpenOrders} {
			s.venue.set(read, errBusy, nil)
		}
		if err := s.halt(record.LevelFlatten, account.Scope{Strategy: "one"}); err != nil {
			t.Fatal(err)
		}
		pass(10 * time.Second)
		if n := s.venue.count(exchange.FuturesOpenPositions); n < 80 || n > 110 || s.position() != 0 {
			t.Errorf("unread: want ten reads a second and the position closed by the list, have %d, %d", n, s.position())
		}
		if n := s.venue.count(exchange.SpotWallet); n != 0 {
			t.Errorf("a market without a halt: want it left alone, have %d reads", n)
		}
		s.venue.set(exchange.FuturesOpenPositions, nil, nil)
		pass(time.Second)
		if d := s.Degraded()[0]; d.Remaining != "" || len(d.Blind) != 0 || s.LastActivation().DoneMS == 0 {
			t.Errorf("want all done, have %+v", d)
		}
		s.venue.count(exchange.FuturesOpenPositions)
		pass(10 * time.Second)
		if n := s.venue.count(exchange.FuturesOpenPositions); n < 9 || n > 11 {
			t.Errorf("done: want a read a second, have %d in ten", n)
		}
		if err := s.halt(record.LevelCancel, account.Scope{Strategy: "two"}); err != nil {
			t.Fatal(err)
		}
		pass(10 * time.Second)
		if n := s.venue.count(exchange.SpotWallet); n < 80 || n > 110 {
			t.Errorf("spot, unread: want ten reads a second, have %d", n)
		}
		want(t, "by the list", s.sales()) // a cancel ends no exit order
		if err := s.halt(record.LevelFlatten, account.Scope{Strategy: "two"}); err != nil {
			t.Fatal(err)
		}
		s.venue.set(exchange.SpotWallet, nil, nil)
		s.venue.set(exchange.SpotOpenOrders, nil, nil)
		pass(5 * time.Second)
		if s.free() != "0" {
			t.Errorf("want it sold, have %s", s.free())
		}
		s.venue.count(exchange.SpotWallet)
		pass(10 * time.Second)
		if n := s.venue.count(exchange.SpotWallet); n < 9 || n > 11 {
			t.Errorf("spot, done: want a read a second, have %d in ten", n)
		}
	})
}

// Orders that the list names are canceled while nothing can be read.
func TestSpotOrdersAreCanceledByTheList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := holding(t)
		defer s.stop()
		s.venue.set(exchange.SpotOpenOrders, errBusy, nil)
		if err := s.halt(record.LevelFlatten, account.Scope{}); err != nil {
			t.Fatal(err)
		}
		pass(3 * time.Second)
		want(t, "requests", s.sales(), "cancel ETH-USDT 2")
	})
}

// What cannot be sold yet is declared with its reason, and is sold once that is over.
func TestDelayedSaleIsDeclared(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		operation   exchange.Operation
		fails, lost error
		last        string
		want        string // among what is left or not seen
	}{
		"the history is not read": {exchange.SpotOrderHistory, errBusy, nil, "2500", ""},
		"a refused sale": {exchange.SpotPlace, &exchange.Refusal{Operation: exchange.SpotPlace, Message: "no"}, nil, "2500",
			"the sale of spot ETH-USDT is refused: no"},
		"a sale that did not leave": {exchange.SpotPlace, &exchange.Unavailable{Operation: exchange.SpotPlace, Reason: "late"}, nil, "2500",
			"the sale of spot ETH-USDT did not leave: never sent: late"},
		"a sale whose answer is lost": {exchange.SpotPlace, nil, &exchange.Uncertain{}, "2500", ""},
		"no price":                    {exchange.SpotTicker, errBusy, nil, "0", "spot ETH-USDT: its price is not known"},
		"a cancel that is not answered": {exchange.SpotCancel, errBusy, nil, "2500",
			"order 2 on spot ETH-USDT to cancel"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, ether := holding(t)
				defer s.stop()
				s.venue.set(c.operation, c.fails, c.lost)
				s.known[0].Last = ether(c.last)
				s.Show(s.known)
				if err := s.halt(record.LevelFlatten, account.Scope{}); err != nil {
					t.Fatal(err)
				}
				pass(700 * time.Millisecond)
				d := s.Degraded()[0]
				if have := d.Remaining + "; " + strings.Join(d.Blind, "; "); c.want != "" && !strings.Contains(have, c.want) {
					t.Errorf("want %q declared, have %q", c.want, have)
				}
				if places := c.operation == exchange.SpotPlace && c.fails != nil; strings.HasPrefix(d.Remaining, "1 of spot ETH-USDT to sell") != places {
					t.Errorf("want the quantity declared %t, have %q", places, d.Remaining)
				}
				s.venue.set(c.operation, nil, nil)
				pass(8 * time.Second)
				if s.free() != "0" || s.LastActivation().DoneMS == 0 {
					t.Errorf("want it sold then, have %s free, %+v", s.free(), s.Degraded())
				}
				quantities := 0
				for _, line := range s.sales() {
					if strings.HasPrefix(line, "place ETH-USDT SELL LIMIT 10000 ") {
						quantities++
					}
				}
				if quantities == 0 || c.lost != nil && quantities != 1 {
					t.Errorf("want it sold once, have %d sales", quantities)
				}
			})
		})
	}
}

// A quantity below the minimum value stays, one above the maximum is sold in parts, and only what is both free and botd's is sold.
func TestSaleQuantity(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wallet string
		close  exchange.Quantity
		does   []string
	}{
		"botd's part of the wallet": {"3", 10_000, []string{"place ETH-USDT SELL LIMIT 10000 at 247500000000"}},
		"no more than is free":      {"0.5", 10_000, []string{"place ETH-USDT SELL LIMIT 5000 at 247500000000"}},
		"dust":                      {"0.0019", 10_000, nil},
		"just enough for an order":  {"0.002", 10_000, []string{"place ETH-USDT SELL LIMIT 20 at 250000000000"}},
		"nothing":                   {"3", 0, nil},
		"more than one order may be worth": {"700", 7_000_000, []string{"place ETH-USDT SELL LIMIT 4000000 at 247500000000",
			"place ETH-USDT SELL LIMIT 3000000 at 247500000000"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				defer s.stop()
				wallet := map[string]exchange.Amount{"ETH": exchange.MustAmount(c.wallet)}
				if err := s.venue.exchange.AddAccount(sim.AccountConfig{Name: "two", Spot: wallet}); err != nil {
					t.Fatal(err)
				}
				s.venue.name = "two"
				s.show("two", spot, c.close, enginetest.Price(t, symbolOf(spot), "2500"))
				if err := s.halt(record.LevelFlatten, account.Scope{}); err != nil {
					t.Fatal(err)
				}
				pass(5 * time.Second)
				want(t, "requests", s.sales(), c.does...)
			})
		})
	}
}

// While the lane acts, the engine opens nothing in the scope of the halt and closes nothing where the lane does. Cancels and protection pass.
func TestGateBlocksEngineDuringLane(t *testing.T) {
	t.Parallel()
	reduce := ordered(bitcoin, exchange.Sell, exchange.MarketOrder, 1, 0)
	reduce.ReduceOnly = true
	stop := exchange.NewOrder{Market: exchange.Futures, Symbol: bitcoin.Name, Side: exchange.Sell, Type: exchange.StopMarket, ClosePosition: true,
		StopPrice: 4_800_000_000_000, WorkingType: exchange.MarkPrice}
	open, sale := ordered(bitcoin, exchange.Buy, exchange.MarketOrder, 1, 0), ordered(spot, exchange.Sell, exchange.Limit, 100, 260_000_000_000)
	for name, c := range map[string]struct {
		level                       record.HaltLevel
		scope                       account.Scope
		opens, closes, stops, sells bool
	}{
		"a pause":                     {record.LevelPause, account.Scope{}, false, true, true, true},
		"a cancel":                    {record.LevelCancel, account.Scope{}, false, true, true, true},
		"a flatten":                   {record.LevelFlatten, account.Scope{}, false, false, true, false},
		"a flatten of one strategy":   {record.LevelFlatten, account.Scope{Strategy: "one"}, false, false, true, true},
		"a flatten of another symbol": {record.LevelFlatten, account.Scope{Symbol: spot}, true, true, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, _ := holding(t)
				defer s.stop()
				s.show("one", bitcoin, 0, 0)
				gate := s.Gate()
				send := func(order exchange.NewOrder) error {
					operation := exchange.FuturesPlace
					if order.Market == exchange.Spot {
						operation = exchange.SpotPlace
					}
					_, err := gate.Do(t.Context(), exchange.Request{Operation: operation, Order: order})
					return err
				}
				if err := errors.Join(send(open), send(stop)); err != nil {
					t.Errorf("before: want all to pass, have %v", err)
				}
				pass(time.Second)
				if err := s.halt(c.level, c.scope); err != nil {
					t.Fatal(err)
				}
				for what, o := range map[string]struct {
					order  exchange.NewOrder
					passes bool
				}{"an opening": {open, c.opens}, "a close": {reduce, c.closes}, "a stop": {stop, c.stops}, "a sale": {sale, c.sells}} {
					err := send(o.order)
					var held *exchange.Unavailable
					if is := errors.As(err, &held); is == o.passes || is && held.Reason != "not sent: the kill switch acts without the engine" {
						t.Errorf("%s: want it to pass %t, have %v", what, o.passes, err)
					}
				}
				if _, err := gate.Do(t.Context(), exchange.Request{Operation: exchange.FuturesCancelAll, Symbol: bitcoin.Name}); err != nil {
					t.Errorf("a cancel: want it to pass, have %v", err)
				}
				s.answer(nil)
				pass(5 * time.Second)
				if err := send(open); err != nil {
					t.Errorf("afterwards: want an opening to pass, have %v", err)
				}
			})
		})
	}
}

// slow is a venue that waits before it performs a placement.
type slow struct {
	*venue
	wait chan struct{}
}

func (v slow) Do(ctx context.Context, request exchange.Request) (exchange.Answer, error) {
	if request.Operation.Places() && request.Order.ClientOrderID == "engine" {
		<-v.wait
	}
	return v.venue.Do(ctx, request)
}

// A close of the engine that is in progress may already be on the exchange: the lane waits for its end, and knows an order whose record is the
// engine's last.
func TestLaneWaitsForPlacementsInProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		defer s.stop()
		s.place(placement.Entry, ordered(bitcoin, exchange.Buy, exchange.MarketOrder, 20, 0))
		s.show("one", bitcoin, 8, enginetest.Price(t, symbolOf(bitcoin), "50000")).Others = 12
		s.Show(s.known)
		v := slow{s.venue, make(chan struct{})}
		s.config.Venue = v
		close8 := ordered(bitcoin, exchange.Sell, exchange.MarketOrder, 8, 0)
		close8.ReduceOnly, close8.ClientOrderID = true, "engine"
		go s.Gate().Do(t.Context(), exchange.Request{Operation: exchange.FuturesPlace, Order: close8}) //nolint:errcheck // it is read below
		synctest.Wait()
		if err := s.halt(record.LevelFlatten, account.Scope{}); err != nil {
			t.Fatal(err)
		}
		pass(5 * time.Second)
		want(t, "requests meanwhile", s.venue.done())
		close(v.wait)
		pass(5 * time.Second)
		if done := s.venue.done(); s.position() > 12 || len(done) == 0 || !strings.HasSuffix(done[0], "SELL MARKET 8 reduce") {
			t.Errorf("want the engine's close and no more than botd's part, have %d, %q", s.position(), done)
		}
	})
}

// A sending order that never passed the gate, or was refused, is on no exchange; one that passed is canceled by the id that it got.
func TestOnlySentOrdersAreCanceled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		passes      bool
		fails, lost error
		cancels     int
	}{
		"it never left":      {false, nil, nil, 0},
		"it was refused":     {true, &exchange.Refusal{Operation: exchange.FuturesPlace}, nil, 0},
		"it was not sent":    {true, &exchange.Unavailable{Operation: exchange.FuturesPlace}, nil, 0},
		"it is there":        {true, nil, nil, 1},
		"its answer is lost": {true, nil, &exchange.Uncertain{}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t)
				defer s.stop()
				opening := ordered(bitcoin, exchange.Buy, exchange.Limit, 10, enginetest.Price(t, symbolOf(bitcoin), "49000"))
				opening.ClientOrderID = "b-1"
				if c.passes {
					s.venue.set(exchange.FuturesPlace, c.fails, c.lost)
					_, err := s.Gate().Do(t.Context(), exchange.Request{Operation: exchange.FuturesPlace, Order: opening})
					if (err != nil) != (c.fails != nil || c.lost != nil) {
						t.Fatal(err)
					}
					s.venue.set(exchange.FuturesPlace, nil, nil)
				}
				s.venue.done()
				s.venue.set(exchange.FuturesOpenOrders, errBusy, nil) // by the list alone
				s.show("one", bitcoin, 0, enginetest.Price(t, symbolOf(bitcoin), "50000"), enginetest.Placement(record.Record{AtMS: epochMS, Strategy: "one",
					Symbol: bitcoin, ClientOrderID: "b-1", Body: record.Sending{Purpose: placement.Entry, Order: opening}}, placement.Sending, 0))
				if err := s.halt(record.LevelCancel, account.Scope{}); err != nil {
					t.Fatal(err)
				}
				pass(5 * time.Second)
				have := s.venue.done()
				if listed := c.cancels > 0 && c.lost == nil; len(have) > 0 != listed {
					t.Errorf("by the list: want it canceled %t, have %q", listed, have)
				}
				s.venue.set(exchange.FuturesOpenOrders, nil, nil)
				pass(5 * time.Second)
				if have = append(have, s.venue.done()...); len(have) != c.cancels || c.cancels > 0 && !strings.HasSuffix(have[0], "futures_cancel BTC-USDT 1") {
					t.Errorf("want %d cancels, have %q", c.cancels, have)
				}
			})
		})
	}
}
