package shell

import (
	"bytes"
	"io"
	"os"
	"slices"
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

func TestNarrowTableDropsColumnsBeforeBlocks(t *testing.T) {
	t.Parallel()
	written := func(most int, w io.Writer, out *bytes.Buffer) string {
		out.Reset()
		g := NewTable(w, table.Row{"strategy", "net", "age", "why"})
		g.most = most
		g.Signed("net")
		g.Spare("why", "age")
		g.AppendRows([]table.Row{{"accumulate", "-0.60", "3 min", "the slices due by now"}, {"hold", "+0.19", "-", ""}, {"trend", "0.00", "-", ""}})
		g.Render()
		return out.String()
	}
	var plain, colored bytes.Buffer
	for most, want := range map[int]string{
		70: "│ STRATEGY   │ NET   │ AGE   │ WHY                   │",
		40: "│ STRATEGY   │ NET   │ AGE   │\n",
		24: "a wider terminal also shows: why, age\n",
		20: "STRATEGY  accumulate\nNET       -0.60\n",
	} {
		if have := written(most, &plain, &plain); !strings.Contains(have, want) {
			t.Errorf("on %d columns: want %q, have\n%s", most, want, have)
		}
	}
	painted := written(70, &shape{Writer: Printable(&colored), colors: true}, &colored)
	for _, want := range []string{"│ \x1b[31m-0.60\x1b[0m │", "│ \x1b[32m+0.19\x1b[0m │", "│ 0.00  │", "│ 3 min │", "│ -     │"} {
		if !strings.Contains(painted, want) {
			t.Errorf("want %q, have\n%q", want, painted)
		}
	}
}

func TestARowWithMoreCellsThanTheHeaderIsWhole(t *testing.T) {
	t.Parallel()
	rows := []table.Row{{"a", "-1", "more of its"}, {"b"}}
	drawn := func(most int) (out, returned string) {
		var text bytes.Buffer
		g := NewTable(&shape{Writer: Printable(&text), colors: true}, table.Row{"name", "net"})
		g.most = most
		g.Signed("net")
		g.AppendRows(rows)
		returned = g.Render()
		return text.String(), returned
	}
	if have, returned := drawn(0); !strings.Contains(have, "│ a    │ \x1b[31m-1\x1b[0m  │ more of its │") || strings.Count(returned, "\n") != 5 {
		t.Errorf("want a table of six lines, have\n%q\n%q", have, returned)
	}
	want := "NAME  a\nNET   \x1b[31m-1\x1b[0m\n      more of\n      its\n────────────────\nNAME  b\n"
	if have, _ := drawn(16); have != want {
		t.Errorf("on 16 columns: want\n%q\nhave\n%q", want, have)
	}
	if rows[0][1] != "-1" {
		t.Errorf("want the rows as they were given, have %q", rows[0])
	}
}

// More lines would scroll it at each refresh.
func TestAWatchedScreenIsNeverLongerThanTheTerminal(t *testing.T) {
	t.Parallel()
	content := "one\ntwo three four\nfive\nsix\n"
	for _, c := range []struct {
		columns, rows int
		want          []string
	}{
		{0, 0, []string{"one", "two three four", "five", "six"}},
		{80, 24, []string{"one", "two three four", "five", "six"}},
		{80, 5, []string{"one", "two three four", "five", "six"}},
		{80, 4, []string{"one", "two three four", "... 2 more lines: a taller or wider terminal shows them"}},
		{10, 24, []string{"one", "two three ", "four", "five", "six"}},
	} {
		if have := fitted(content, c.columns, c.rows); !slices.Equal(have, c.want) {
			t.Errorf("on %d columns and %d rows: want %q, have %q", c.columns, c.rows, c.want, have)
		}
	}
}

// A table is written through a writer that checks errors, a watched screen through one that buffers it. The
// terminal is found behind both, for its colors and its width.
func TestTerminalIsFoundBehindWrappers(t *testing.T) {
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
