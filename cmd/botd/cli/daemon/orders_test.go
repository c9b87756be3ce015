package daemon

import (
	"testing"

	"botd/runtime/view"
)

func TestOrderShowsOnlyItsFields(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		order view.Order
		want  string
	}{
		{view.Order{Quantity: "0.5"}, "0.5"},
		{view.Order{Quantity: "0", ClosePosition: true}, "all"},
		{view.Order{Quantity: "0", QuoteAmount: "99.84"}, "for 99.84 USDT"},
	} {
		if have := quantityOf(&c.order); have != c.want {
			t.Errorf("quantity of %+v: want %s, have %s", c.order, c.want, have)
		}
	}
	if have := unlessNone("0") + unlessNone("49000"); have != "49000" {
		t.Errorf("prices: want only the one there is, have %q", have)
	}
}
