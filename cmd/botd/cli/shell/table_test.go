package shell

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/table"
)

func TestATableTooWideForTheTerminalIsBlocksOfLines(t *testing.T) {
	t.Parallel()
	written := func(most int) string {
		var out bytes.Buffer
		g := NewTable(&out, table.Row{"strategy", "why"})
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
	err := PrintTable(&glance{to: os.Stdout}, func(w io.Writer) {
		if have := endOf(w); have != io.Writer(os.Stdout) {
			t.Errorf("want standard output found, have %T", have)
		}
	})
	if err != nil {
		t.Error(err)
	}
}
