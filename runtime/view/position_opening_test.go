package view

import (
	"testing"

	"botd/exchange"
)

// A position's age counts from the fill that opened it from flat or from the other side, not from later additions, and survives
// restarts. A position that no fill explains has no age.
func TestAPositionIsAsOldAsItsFirstFill(t *testing.T) {
	t.Parallel()
	p := &pricing{h: NewHistory()}
	opened := func(held exchange.Quantity) int64 { return p.h.Opened("trend", bitcoin.Key(), held) }
	trades := func(side exchange.Side, quantity exchange.Quantity, atMS int64) {
		p.fills(side, quantity)
		p.h.fills.all[len(p.h.fills.all)-1].value.AtMS = atMS
	}
	trades(exchange.Buy, 2, 10)
	trades(exchange.Buy, 1, 20)
	if have := opened(3); have != 10 {
		t.Errorf("added to: want 10, have %d", have)
	}
	trades(exchange.Sell, 3, 30)
	trades(exchange.Sell, 1, 40)
	if have := opened(-1); have != 40 {
		t.Errorf("from flat: want 40, have %d", have)
	}
	trades(exchange.Buy, 4, 50)
	if have := opened(3); have != 50 {
		t.Errorf("from the other side: want 50, have %d", have)
	}
	if have, flat := opened(30), opened(0); have != 0 || flat != 0 {
		t.Errorf("a position that fills do not explain, and none: want 0, have %d and %d", have, flat)
	}
	if have := p.h.Opened("trend", bitcoin.Key(), 3); have != 50 { // it is found by the position
		t.Errorf("asked again: want 50, have %d", have)
	}
}
