package sim

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"botd/exchange"
)

// TestListsAndOrdersThatAreReusedShowTheSame gives the same requests to an exchange that stores everything, and to one that
// forgets finished orders and closed positions early and reuses them and its lists, as a backtest does.
func TestListsAndOrdersThatAreReusedShowTheSame(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(8, 9))
	forgotten, again := false, false
	for range 12 {
		delay := int64(random.IntN(2) * 5)
		plain := newDesk(t, Config{OrderDelayMS: delay})
		reused := newDesk(t, Config{OrderDelayMS: delay, ReuseLists: true, MaxHistory: 3})
		for step := range 250 {
			account := []string{"alice", "bob"}[random.IntN(2)]
			request, advance, price := drawRequest(random, plain.as(account)), random.Int64N(8), exchange.Price(49_500+random.IntN(1_000))*usd
			var answers [2]string
			for i, d := range []*desk{plain, reused} {
				answer, err := d.Do(account, &request)
				if advance == 7 {
					if err := d.SetPrice(d.key(), price, 0); err != nil {
						t.Fatal(err)
					}
				}
				d.Advance(d.NowMS() + advance)
				answers[i] = fmt.Sprint(answer.Order, answer.Orders, err)
				for _, each := range []*desk{d.as("alice"), d.as("bob"), d.as("alice").on(exchange.Spot, "BTC-USDT")} {
					answers[i] += each.holdings()
				}
				closed := d.as(account).do(exchange.Request{Operation: exchange.FuturesPositionsHistory, Limit: 3}).Positions.Items()
				answers[i] += fmt.Sprintln(closed)
			}
			if answers[0] != answers[1] {
				t.Fatalf("step %d, %+v: want\n%s\nhave\n%s", step, request, answers[0], answers[1])
			}
		}
		for _, a := range reused.accounts {
			again = again || a.closed > len(a.history)+len(a.spare)
		}
		forgotten = forgotten || len(reused.orders.spare) > 0 && reused.orders.count < plain.orders.count/2
		if !reflect.DeepEqual(plain.Money("alice"), reused.Money("alice")) {
			t.Errorf("want the same money, have %+v and %+v", plain.Money("alice"), reused.Money("alice"))
		}
	}
	if !forgotten || !again {
		t.Errorf("want orders and positions forgotten and used again, have orders %t and positions %t", forgotten, again)
	}
}

// drawRequest draws a placement, or a cancel of an open order.
func drawRequest(random *rand.Rand, d *desk) exchange.Request {
	var open []int64
	d.EachOpenOrder(d.account, exchange.Futures, func(o *exchange.Order) { open = append(open, o.ID) })
	switch draw := random.IntN(10); {
	case draw == 0:
		return exchange.Request{Operation: exchange.FuturesCancelAll}
	case draw < 4 && len(open) > 0:
		return exchange.Request{Operation: exchange.FuturesCancel, OrderID: open[random.IntN(len(open))]}
	case draw == 4:
		spot := d.on(exchange.Spot, "BTC-USDT")
		return exchange.Request{Operation: exchange.SpotPlace, Order: spot.order([]string{"buy", "sell"}[random.IntN(2)], exchange.MarketOrder, "10", "")}
	}
	order := d.order([]string{"buy", "sell"}[random.IntN(2)], exchange.OrderType(1+random.IntN(6)), "0.002", "")
	price := func() exchange.Price { return exchange.Price(49_000+random.IntN(2_000)) * usd }
	if order.Type.Priced() {
		order.Price = price()
	}
	if order.Type.Conditional() {
		order.StopPrice, order.WorkingType = price(), exchange.ContractPrice
	}
	order.ReduceOnly = random.IntN(3) == 0
	return exchange.Request{Operation: exchange.FuturesPlace, Order: order}
}

// holdings returns an account's open orders, requested twice, and its positions, as text.
func (d *desk) holdings() (text string) {
	d.Helper()
	orders, positions := exchange.FuturesOpenOrders, exchange.FuturesOpenPositions
	if d.market == exchange.Spot {
		orders = exchange.SpotOpenOrders
	}
	for _, symbol := range []string{"", d.name, ""} {
		text += fmt.Sprintln(slices.Clone(d.do(exchange.Request{Operation: orders, Symbol: symbol}).Orders.Items()))
	}
	return text + fmt.Sprintln(d.do(exchange.Request{Operation: positions}).Positions.Items())
}

// With a history of eight, the oldest are dropped when there are more than 26.
func TestOrdersAreForgottenAQuarterAndSixteenAtATime(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{MaxHistory: 8})
	first := d.place(d.order("buy", exchange.Limit, "0.001", "40000")) // stays open
	for range 25 {
		d.do(exchange.Request{Operation: exchange.FuturesCancel, OrderID: d.place(d.order("buy", exchange.Limit, "0.001", "49000")).ID})
	}
	if have := len(d.AllOrders()); have != 26 {
		t.Fatalf("want 26 orders stored, have %d", have)
	}
	last := d.place(d.order("buy", exchange.Limit, "0.001", "49000"))
	all := d.AllOrders()
	if len(all) != 8 || all[0].ID != first.ID || all[1].ID != last.ID-6 || all[7].ID != last.ID {
		t.Errorf("want the open one and the newest seven, have %d from %d and %d on", len(all), all[0].ID, all[1].ID)
	}
	for id, want := range map[int64]bool{first.ID: false, first.ID + 1: true, last.ID - 6: true, last.ID: false, last.ID + 1: true, 0: true, -1: true} {
		if have := d.Ended(id); have != want {
			t.Errorf("order %d: want it ended or forgotten %t, have %t", id, want, have)
		}
	}
	_, err := d.Do("alice", &exchange.Request{Operation: exchange.FuturesCancel, OrderID: first.ID + 1})
	d.wantCode(CodeUnknownOrder, err)
	_, err = d.Do("alice", &exchange.Request{Operation: exchange.FuturesCancel, OrderID: last.ID - 6})
	d.wantCode(CodeFinishedOrder, err)
	d.do(exchange.Request{Operation: exchange.FuturesCancel, OrderID: first.ID})
}

// Beyond the bound plus a quarter the oldest are dropped: closed positions and own spot trades.
func TestHistoriesHaveABound(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{MaxHistory: 8})
	spot := d.on(exchange.Spot, "BTC-USDT")
	for i := 1; i <= 14; i++ {
		d.place(d.order("buy", exchange.MarketOrder, "0.001", ""))
		d.place(d.order("sell", exchange.MarketOrder, "0.001", "", reduceOnly))
		spot.place(spot.order("sell", exchange.MarketOrder, "10", ""))
		want := i // up to ten, then eight again
		if i > 10 {
			want = 8 + (i-11)%3
		}
		closed := d.do(exchange.Request{Operation: exchange.FuturesPositionsHistory, Limit: 100}).Positions.Items()
		trades := d.do(exchange.Request{Operation: exchange.SpotUserTrades, Limit: 100}).Fills.Items()
		if want = min(want, 8); len(closed) != want || closed[0].ID != int64(i) { // no more than the bound is listed
			t.Errorf("%d closed: want %d from the newest on, have %d from %d", i, want, len(closed), closed[0].ID)
		}
		if len(d.accounts[0].history) > 10 || len(d.accounts[0].trades) > 10 || len(trades) < min(i, 8) || trades[0].ID != int64(3*i) {
			t.Errorf("%d closed: want ten stored at most, have %d and %d; %d trades from %d", i, len(d.accounts[0].history), len(d.accounts[0].trades),
				len(trades), trades[0].ID)
		}
	}
}
