package paper

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
	"botd/exchange/sim"
)

const (
	usd = exchange.Price(100_000_000)
	btc = exchange.Quantity(1000)
)

var btcFutures = exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}

var (
	buyMarket = exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: btc / 10}
	buyLimit  = exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Price: 49_900 * usd, Quantity: btc / 10}
)

func TestPublicOperationsAreTheVenuesAndTradingIsNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, newVenue(), nil)
		b.run(t)
		answer, err := b.Do(t.Context(), exchange.Request{Operation: exchange.FuturesHealth})
		if err != nil || answer.Status != "the venue's own" {
			t.Errorf("health: want the venue's own, have %q, %v", answer.Status, err)
		}
		id := b.place(t, buyMarket)
		pass(10 * time.Millisecond)
		b.want(t, id, exchange.StatusFilled, btc/10)
		account, err := b.Do(t.Context(), exchange.Request{Operation: exchange.FuturesAccount})
		if err != nil {
			t.Fatal(err)
		}
		// 0.1 at 50001 costs a fee of 0.05 %.
		if want := "9997.49995"; account.Account.WalletBalance.String() != want {
			t.Errorf("wallet: want %s, have %s", want, account.Account.WalletBalance)
		}
	})
}

// TestAPlacementBeyondItsSendLimitIsNotDone tests the time to live and a recall.
func TestAPlacementBeyondItsSendLimitIsNotDone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, newVenue(), nil)
		b.run(t)
		order := buyMarket
		order.Market, order.Symbol = exchange.Futures, "BTC-USDT"
		recalled := make(chan struct{})
		close(recalled)
		now := clock{}.ServerNowMS()
		for _, c := range []struct {
			departure exchange.SendLimit
			want      string
		}{
			{exchange.SendLimit{NotAfterMS: now - 1}, "time to live"},
			{exchange.SendLimit{NotAfterMS: now + 1_000, Recalled: recalled}, "recalled"},
			{exchange.SendLimit{NotAfterMS: now + 1_000, Recalled: make(chan struct{})}, ""},
		} {
			_, err := b.DoBefore(t.Context(), exchange.Request{Operation: exchange.FuturesPlace, Order: order}, c.departure)
			var unsent *exchange.Unavailable
			if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &unsent) || !strings.Contains(unsent.Reason, c.want)) {
				t.Errorf("want %q, have %v", c.want, err)
			}
		}
		pass(10 * time.Millisecond)
		if account, err := b.Do(t.Context(), exchange.Request{Operation: exchange.FuturesAccount}); err != nil ||
			account.Account.WalletBalance.String() != "9997.49995" {
			t.Errorf("want one order done, have a wallet of %s, %v", account.Account.WalletBalance, err)
		}
	})
}

func TestAMarketOrderPaysThePricesOfTheVenuesOrderBook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		real := newVenue()
		real.set(50_000, btc/20)
		b := newBench(t, real, nil)
		b.run(t)
		b.place(t, buyMarket)
		pass(10 * time.Millisecond)
		answer, err := b.Do(t.Context(), exchange.Request{Operation: exchange.FuturesOpenPositions})
		if err != nil {
			t.Fatal(err)
		}
		if p := answer.Positions.Items(); len(p) != 1 || p[0].EntryPrice.String() != "50006" {
			t.Errorf("half at 50001 and half at 50011: want entry 50006, have %+v", p)
		}
	})
}

func TestALimitOrderWaitsForTheVenueToTradeThroughIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, newVenue(), nil)
		b.run(t)
		b.real.trade(49_000, btc) // before the order, so it must not fill it
		id := b.place(t, buyLimit)
		pass(1500 * time.Millisecond)
		b.want(t, id, exchange.StatusOpen, 0)
		b.real.trade(49_900, btc) // at its price, behind the whole queue
		pass(time.Second)
		b.want(t, id, exchange.StatusOpen, 0)
		b.real.trade(49_899, btc/50) // through its price, with a smaller quantity than the order
		pass(time.Second)
		b.want(t, id, exchange.StatusOpen, btc/50)
		pass(5 * time.Second)
		b.want(t, id, exchange.StatusOpen, btc/50) // a trade that is reported again counts once
		b.real.trade(49_899, btc)
		pass(time.Second)
		b.want(t, id, exchange.StatusFilled, btc/10)
	})
}

func TestStaleDataBlocksFillsAndIsReported(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"unavailable", "frozen"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, newVenue(), nil)
				b.run(t)
				resting := b.place(t, buyLimit)
				if fault == "frozen" {
					b.real.freeze()
				} else {
					b.real.fail(&exchange.Unavailable{Reason: "timeout"})
				}
				pass(9 * time.Second)
				id := b.place(t, buyMarket) // data that is 9 s old is still fresh
				pass(10 * time.Millisecond)
				b.want(t, id, exchange.StatusFilled, btc/10)
				pass(12 * time.Second)
				if b.heard("paper.stale") != 1 {
					t.Errorf("want it reported once")
				}
				_, err := b.tryPlace(buyMarket)
				var unavailable *exchange.Unavailable
				if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), "not sent") || !strings.Contains(err.Error(), "max_age 10s") {
					t.Errorf("a placement on old data: want it surely not sent, with the bound, have %v", err)
				}
				b.want(t, resting, exchange.StatusOpen, 0) // reads continue
				if _, err := b.Do(t.Context(), exchange.Request{Operation: exchange.FuturesCancel, OrderID: resting}); err != nil {
					t.Errorf("cancel while the venue is away: %v", err)
				}
			})
		})
	}
}

func TestStalenessIsReportedWithItsCauseAndItsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, newVenue(), nil)
		last := func() Staleness { b.mu.Lock(); defer b.mu.Unlock(); return b.stale }
		b.real.fail(&exchange.Unavailable{Reason: "timeout"})
		b.run(t)
		if have := last(); !have.Stale || have.SinceMS != 0 || !strings.Contains(have.Reason, "timeout") {
			t.Errorf("before the first answer: want stale since ever, by the timeout, have %+v", have)
		}
		b.real.fail(nil)
		pass(2 * time.Second)
		if have := last(); have != (Staleness{Key: btcFutures}) {
			t.Errorf("answered: want fresh, have %+v", have)
		}
		answered := time.Now().UnixMilli()
		b.real.fail(&exchange.Unavailable{Reason: "timeout"})
		pass(9 * time.Second)
		if last().Stale {
			t.Error("9 s later: want fresh still")
		}
		pass(2 * time.Second)
		b.real.fail(&exchange.Unavailable{Reason: "connection refused"})
		pass(5 * time.Second)
		if have := last(); !have.Stale || have.SinceMS < answered-1_000 || have.SinceMS > answered+1_000 || !strings.Contains(have.Reason, "refused") {
			t.Errorf("too old: want stale since about %d, by the newest fault, have %+v", answered, have)
		}
	})
}

func TestAGapInventsNoFill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, newVenue(), nil)
		b.run(t)
		id := b.place(t, buyLimit)
		pass(2 * time.Second)
		b.real.fail(&exchange.Unavailable{Reason: "timeout"})
		pass(5 * time.Second)
		b.real.trade(49_000, btc) // an unseen move of the price
		pass(25 * time.Second)
		b.real.fail(nil)
		pass(2 * time.Second)
		b.want(t, id, exchange.StatusOpen, 0)
		if b.heard("paper.stale") != 1 || b.heard("paper.fresh") != 1 {
			t.Errorf("want both ends of the gap reported")
		}
		b.real.trade(49_000, btc)
		pass(time.Second)
		b.want(t, id, exchange.StatusFilled, btc/10)
	})
}

func TestAnOrderInFlightWhenDataBecomeStaleDoesNotFill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, newVenue(), nil)
		b.Poll(t.Context()) // once only
		pass(10*time.Second - 2*time.Millisecond)
		id := b.place(t, buyMarket) // it reaches the order book 5 ms later, 3 ms too late
		pass(time.Second)
		b.want(t, id, exchange.StatusCanceled, 0)
	})
}

func TestTheAccountSurvivesAndAStopIsTriggeredAfterwards(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		real := newVenue()
		first := newBench(t, real, nil)
		first.run(t)
		first.place(t, buyMarket)
		pass(10 * time.Millisecond)
		stop := first.place(t, exchange.NewOrder{Side: exchange.Sell, Type: exchange.StopMarket, StopPrice: 49_500 * usd,
			WorkingType: exchange.ContractPrice, ClosePosition: true})
		// This is the state when the answer was returned: what kill -9 leaves.
		second := newBench(t, real, first.stored())
		if _, err := second.tryPlace(buyMarket); err == nil {
			t.Error("before the first data: want a placement refused")
		}
		second.run(t)
		pass(10 * time.Millisecond)
		second.want(t, stop, exchange.StatusNew, 0)
		real.set(49_400, btc)
		pass(time.Second)
		second.want(t, stop, exchange.StatusFilled, btc/10)
		answer, err := second.Do(t.Context(), exchange.Request{Operation: exchange.FuturesOpenPositions})
		if err != nil || len(answer.Positions.Items()) != 0 {
			t.Errorf("want the position closed by its stop, have %+v, %v", answer.Positions, err)
		}
	})
}

func TestFundingIsPaidOnTheHourAtTheReportedRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		real := newVenue()
		real.rate = 10_000 // 0.01 %
		b := newBench(t, real, nil)
		b.run(t)
		b.place(t, buyMarket)
		pass(10 * time.Millisecond)
		before := b.money()
		pass(8 * time.Hour)
		after := b.money()
		if want := "0.5"; after.Funding.String() != want || before.Funding.String() != "0" { // 0.1 x 50000 x 0.01 %
			t.Errorf("funding: want 0 then %s, have %s then %s", want, before.Funding, after.Funding)
		}
		state := b.stored()
		pass(17 * time.Hour)
		late := newBench(t, real, state)
		if late.heard("paper.funding_missed") != 1 || late.money().Funding != after.Funding {
			t.Errorf("two payments were due while nothing ran: want that reported and nothing charged, have %s", late.money().Funding)
		}
	})
}

func TestUnwrittenStateIsNotAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, newVenue(), nil)
		b.run(t)
		b.disk(errors.New("disk full"))
		_, err := b.tryPlace(buyLimit)
		var uncertain *exchange.Uncertain
		if !errors.As(err, &uncertain) {
			t.Errorf("a placement that could not be written: want it uncertain, have %v", err)
		}
		if _, err := b.Do(t.Context(), exchange.Request{Operation: exchange.FuturesOpenOrders}); exchange.ErrorKind(err) != "unavailable" {
			t.Errorf("a read of what is not written: want unavailable, have %v", err)
		}
		b.disk(nil)
		answer, err := b.Do(t.Context(), exchange.Request{Operation: exchange.FuturesOpenOrders})
		if err != nil || len(answer.Orders.Items()) != 0 {
			t.Fatalf("before it reached the book: want an empty list, have %v, %v", answer.Orders, err)
		}
		pass(10 * time.Millisecond)
		answer, err = b.Do(t.Context(), exchange.Request{Operation: exchange.FuturesOpenOrders})
		if err != nil || len(answer.Orders.Items()) != 1 {
			t.Errorf("once it can be written: want the order listed, have %v, %v", answer.Orders, err)
		}
	})
}

func TestOtherSymbolsAreFedOnceAPlacementUsesThem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, newVenue(), nil)
		b.run(t)
		order := buyMarket
		order.Market, order.Symbol, order.Quantity = exchange.Futures, "ETH-USDT", 1
		place := exchange.Request{Operation: exchange.FuturesPlace, Order: order}
		if _, err := b.Do(t.Context(), place); err == nil || !strings.Contains(err.Error(), "not reported any data") {
			t.Errorf("a symbol nobody fed: want it refused, have %v", err)
		}
		pass(time.Second)
		if _, err := b.Do(t.Context(), place); err != nil {
			t.Errorf("a second later: %v", err)
		}
		place.Order.Symbol = "XYZ-USDT"
		if _, err := b.Do(t.Context(), place); exchange.ErrorKind(err) != "refusal" {
			t.Errorf("a symbol the venue lacks: want a refusal, have %v", err)
		}
	})
}

func TestALaterWatchedSymbolIsFed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, newVenue(), nil)
		b.run(t)
		ether := exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"}
		b.Watch(ether)
		b.Watch(exchange.SymbolKey{Market: exchange.Futures, Name: "XYZ-USDT"}) // no one uses it
		pass(time.Second)
		order := buyMarket
		order.Market, order.Symbol, order.Quantity = ether.Market, ether.Name, 1
		if _, err := b.Do(t.Context(), exchange.Request{Operation: exchange.FuturesPlace, Order: order}); err != nil {
			t.Errorf("a second after it is watched: %v", err)
		}
	})
}

func TestConfiguredFeesApplyToAnExistingAccountToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		real := newVenue()
		first := newBench(t, real, nil)
		deposit := sim.DefaultAccount("")
		deposit.FuturesTaker = 100_000
		made, err := New(Config{Public: real, Clock: clock{}, Symbols: sim.DefaultSymbols(), Watch: []exchange.SymbolKey{btcFutures},
			Deposit: deposit, State: first.stored()})
		if err != nil {
			t.Fatal(err)
		}
		b := &bench{Venue: made, real: real}
		b.Poll(t.Context())
		b.place(t, buyMarket)
		if want := "5.0001"; b.money().Fees.String() != want {
			t.Errorf("fees: want %s, have %s", want, b.money().Fees)
		}
	})
}
