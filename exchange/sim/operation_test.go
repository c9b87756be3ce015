package sim

import (
	"reflect"
	"testing"

	"botd/exchange"
)

// Place has the effects, the id and the refusals of Do.
func TestPlaceIsDoWithTheIDAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		account string
		request func(d *desk) exchange.Request
		refused bool
	}{
		{"alice", func(d *desk) exchange.Request {
			return futuresPlacement(d.order("buy", exchange.MarketOrder, "0.01", ""))
		}, false},
		{"alice", func(d *desk) exchange.Request {
			return futuresPlacement(d.order("sell", exchange.Limit, "0.01", "60000"))
		}, false},
		{"bob", func(d *desk) exchange.Request {
			spot := d.on(exchange.Spot, "BTC-USDT")
			return exchange.Request{Operation: exchange.SpotPlace, Order: spot.order("buy", exchange.MarketOrder, "10", "")}
		}, false},
		{"alice", func(d *desk) exchange.Request {
			return futuresPlacement(d.order("buy", exchange.MarketOrder, "1000", ""))
		}, true},
		{"nobody", func(d *desk) exchange.Request {
			return futuresPlacement(d.order("buy", exchange.MarketOrder, "0.01", ""))
		}, true},
		{"alice", func(*desk) exchange.Request { return exchange.Request{} }, true},
	} {
		plain, direct := newDesk(t, Config{}), newDesk(t, Config{})
		for range 3 {
			request := c.request(plain)
			answer, wanted := plain.Do(c.account, &request)
			id, err := direct.Place(c.account, &request)
			if id != answer.Order.ID || !reflect.DeepEqual(err, wanted) || (err != nil) != c.refused || (id == 0) != c.refused {
				t.Errorf("%s, %+v: want order %d and %v, have %d and %v", c.account, request, answer.Order.ID, wanted, id, err)
			}
		}
		if want, have := plain.AllOrders(), direct.AllOrders(); !reflect.DeepEqual(want, have) || plain.Version() != direct.Version() {
			t.Errorf("%s: want orders %+v, have %+v", c.account, want, have)
		}
	}
}

func futuresPlacement(order exchange.NewOrder) exchange.Request {
	return exchange.Request{Operation: exchange.FuturesPlace, Order: order}
}
