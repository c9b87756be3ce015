package cli

import (
	"bytes"
	"testing"
	"time"

	"botd/runtime/ops"
	"botd/runtime/view"
)

func TestALogLineOfAnotherDayHasItsDate(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	for _, c := range []struct{ at, want string }{
		{"2026-11-21T02:59:59Z", "02:59:59 INF back\n"},
		{"2026-11-20T23:59:59.9Z", "2026-11-20 23:59:59 INF back\n"},
	} {
		var out bytes.Buffer
		logText(&out, &ops.LogLine{Time: c.at, Level: "info", Message: "back"}, false, now)
		if have := out.String(); have != c.want {
			t.Errorf("a line of %s: want %q, have %q", c.at, c.want, have)
		}
	}
}

func TestAnOrderIsShownWithWhatItHas(t *testing.T) {
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
