package cli

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"botd/runtime/ops"
	"botd/runtime/view"
)

func TestATableTooWideForTheTerminalIsBlocksOfLines(t *testing.T) {
	t.Parallel()
	written := func(most int) string {
		var out bytes.Buffer
		g := grid(&out, table.Row{"strategy", "why"})
		g.most = most
		g.AppendRows([]table.Row{{"accumulate", "the slices due by now, and not one before"}, {"hold", ""}})
		g.Render()
		return out.String()
	}
	whole := written(0)
	if !strings.Contains(whole, "┌") || written(200) != whole {
		t.Errorf("want a table where there is room, or nobody knows; have\n%s%s", whole, written(200))
	}
	want := `STRATEGY  accumulate
WHY       the slices due by
          now, and not one
          before
────────────────────────────
STRATEGY  hold
`
	if have := written(28); have != want {
		t.Errorf("on 28 columns: want\n%shave\n%s", want, have)
	}
}

// A table is written through what watches its errors, a look through what keeps it
// until it is whole: behind both the terminal is found, for its colours and its width.
func TestATerminalIsFoundBehindWhatPassesOnToIt(t *testing.T) {
	t.Parallel()
	err := printTable(&glance{to: os.Stdout}, func(w io.Writer) {
		if have := endOf(w); have != io.Writer(os.Stdout) {
			t.Errorf("want standard output found, have %T", have)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

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
