package account

import (
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// A spot sale beyond what the fills explain has sold a person's units, unless a purchase that has not ended may explain it. While botd stands
// down, on the account or on the symbol, such a sale counts as one of another botd's purchases, until a person decides.
func TestSaleBeyondTheFillsIsOfOthers(t *testing.T) {
	t.Parallel()
	coin, future := exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"}, exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
	other := exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"}
	stands := []record.Record{{ClientOrderID: "bt-9-1", Body: record.Halt{Level: record.LevelPause, Reason: "a test"}}}
	quarantined := []record.Record{{Symbol: coin, ClientOrderID: "bt-9-1", Body: record.Quarantined{Reason: "a test"}}}
	halted := []record.Record{{Body: record.Halt{Level: record.LevelPause, Reason: "a test"}}}
	sends := func(key exchange.SymbolKey, side exchange.Side) []record.Record {
		return []record.Record{{Strategy: "one", Symbol: key, ClientOrderID: "live", Body: record.Sending{Purpose: placement.Order,
			Order: exchange.NewOrder{Market: key.Market, Symbol: key.Name, Side: side, Quantity: 20, ClientOrderID: "live"}}}}
	}
	adopts := func(quantity exchange.Quantity) record.Record {
		return record.Record{Symbol: coin, Body: record.Adopted{Quantity: quantity}}
	}
	for _, c := range []struct {
		name     string
		known    exchange.Quantity
		key      exchange.SymbolKey
		side     exchange.Side
		before   []record.Record
		others   exchange.Quantity // of ten
		oversold exchange.Quantity
	}{
		{"less than is known", 11, coin, exchange.Sell, stands, 0, 0},
		{"as much", 10, coin, exchange.Sell, stands, 0, 0},
		{"one more", 9, coin, exchange.Sell, nil, 1, 0},
		{"one more, while botd stands down", 9, coin, exchange.Sell, stands, 1, 1},
		{"one more, on a symbol on which botd stands down", 9, coin, exchange.Sell, quarantined, 1, 1},
		{"one more, while the account is paused", 9, coin, exchange.Sell, halted, 1, 0},
		{"all of it", 0, coin, exchange.Sell, stands, 10, 10},
		{"a purchase", 0, coin, exchange.Buy, stands, 0, 0},
		{"a short position on futures", 0, future, exchange.Sell, stands, 0, 0},
		{"all of it, and a purchase is live", 0, coin, exchange.Sell, sends(coin, exchange.Buy), 0, 0},
		{"all of it, and another sale is live", 0, coin, exchange.Sell, sends(coin, exchange.Sell), 10, 0},
		{"all of it, and a purchase of another symbol is live", 0, coin, exchange.Sell, sends(other, exchange.Buy), 10, 0},
		{"one more, and a purchase is live", 9, coin, exchange.Sell, sends(coin, exchange.Buy), 0, 0},
	} {
		s := New(Options{})
		s.Apply(&record.Record{Strategy: "one", Symbol: coin, Body: record.Result{}})
		first := adopts(c.known)
		s.Apply(&first)
		for i := range c.before {
			s.Apply(&c.before[i])
		}
		order := exchange.NewOrder{Market: c.key.Market, Symbol: c.key.Name, Side: c.side, Quantity: 10, ClientOrderID: "it"}
		s.Apply(&record.Record{Strategy: "one", Symbol: c.key, ClientOrderID: "it", Body: record.Sending{Order: order, Purpose: placement.Exit}})
		s.Apply(&record.Record{ClientOrderID: "it", Body: record.Ended{OrderID: 5, State: placement.Filled, Filled: 10, Price: exchange.AmountOf(90)}})
		fills, want := slices.Collect(s.Watch("one").Fills()), Fill{10 * exchange.Quantity(c.side.Sign()), c.others, exchange.AmountOf(90)}
		if spot := c.key == coin; (len(fills) == 1) != spot || spot && fills[0] != want {
			t.Errorf("%s: want one fill, %d of it from the holdings of others, have %+v", c.name, c.others, fills)
		}
		if have := s.Track(c.key).Oversold(); have != c.oversold {
			t.Errorf("%s: want %d sold of another botd's, have %d", c.name, c.oversold, have)
		}
		decided := adopts(0)
		if s.Apply(&decided); s.Track(coin).Oversold() != 0 {
			t.Errorf("%s: want none after the decision, have %d", c.name, s.Track(coin).Oversold())
		}
	}
}
