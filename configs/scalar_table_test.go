package configs

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"botd/exchange"
)

// The reader searches for the syntax error as far as that is fast.
func TestAFileIsReadUpToItsLength(t *testing.T) {
	t.Parallel()
	comment := func(length int) string { return "#" + strings.Repeat("x", length-1) }
	lines := func(count int, more string) string { return strings.Repeat("#\n", count) + more }
	for _, c := range []struct{ name, text, want string }{
		{"as long as it may be", "a: 1\n" + comment(maxFileBytes-5), ""},
		{"a byte longer", "a: 1\n" + comment(maxFileBytes-4), "0: is 1048577 bytes long; a configuration has at most 1048576"},
		{"of nothing", "# nothing\n", ""},
		{"null", "~\n", ""},
		{"an empty document", "---\n", ""},
		{"a list", "- a\n", "1: the file must be a block of keys, not a list"},
		{"a text", "a\n", "1: the file must be a block of keys, not a single value"},
		{"no UTF-8", "a: 1\nb: \xff\n", "2: contains bytes that are not valid UTF-8"},
		{"two documents", "a: 1\n---\nb: 2\n", "2: a second YAML document begins here"},
		{"the second is broken", "a: 1\n---\nb: [\n", "3: the text cannot be read as YAML from here on (or just above)"},
		{"broken in its first line", "a: b: c\n", "1: there is a colon where no key can be"},
		{"broken in its second line", "a: 1\nb: c: d\n", "2: there is a colon where no key can be"},
		{"broken after a comment", "#\n#\nb: c: d\ne: 1\n", "3: there is a colon where no key can be"},
		{"a tab", "a:\n\tb: 1\n", "2: the line is indented with a tab"},
		{"a tab before a comment", "a: 1\n\t# b\n", "2: the line is indented with a tab"},
		{"a tab after a text", "a: 1\t# b\nc: d: e\n", "2: there is a colon where no key can be"},
		{"a tab before F", "a:\n\tF: 1\n", "2: the line is indented with a tab"},
		{"299 lines before", lines(299, "a: b: c"), "300: there is a colon where no key can be"},
		{"300 lines before", lines(300, "a: b: c"), "301: there is a colon where no key can be"},
		{"64 KiB", "#" + strings.Repeat("x", 64<<10-10) + "\na: b: c\n", "2: there is a colon where no key can be"},
		{"an unknown fault", "a: \"\\xZZ\"\n", "1: the text cannot be read as YAML from here on (or just above)"},
	} {
		var problems Problems
		node := (&document{problems: &problems}).parse([]byte(c.text))
		have := ""
		for _, p := range problems {
			have += fmt.Sprintf("%d: %s", p.Line, p.What)
		}
		if have != c.want || (node == nil) != (c.want != "") || node != nil && node.Kind != yaml.MappingNode {
			t.Errorf("%s: want %q, have %q and %v", c.name, c.want, have, node)
		}
	}
}

// Nothing overflows, whatever the time.
func TestAScheduleEndsBeforeTimeDoes(t *testing.T) {
	t.Parallel()
	const minute = int64(exchange.Minute1)
	year := func(n int) int64 { return time.Date(n, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli() }
	for _, c := range []struct {
		spec        string
		after, want int64
	}{
		{"", 0, minute}, {"", minute - 1, minute}, {"", minute, 2 * minute}, {"", math.MaxInt64, never}, {"", never - 2*minute, never},
		{"", never - 2*minute - 1, (never-2*minute-1)/minute*minute + minute},
		{"@every 10s", 0, 10_000}, {"@every 10s", -1, 0}, {"@every 10s", -10_000, 0}, {"@every 10s", -10_001, -10_000},
		{"@every 10s", never - 20_000, (never-20_000)/10_000*10_000 + 10_000}, {"@every 10s", never - 19_999, never},
		{"0 0 1 1 *", year(2026), year(2027)}, {"0 0 1 1 *", year(9000), year(9001)}, {"0 0 1 1 *", year(9001), never},
		{"0 0 29 2 *", year(2096) + 200*86_400_000, time.Date(2104, 2, 29, 0, 0, 0, 0, time.UTC).UnixMilli()},
		{"  @every   10s ", 0, 10_000}, {"0   0 1 1 *", year(2026), year(2027)},
	} {
		schedule, _, err := parseSchedule(c.spec, exchange.Minute1)
		if err != nil {
			t.Fatal(err)
		}
		if have := schedule.Next(c.after); have != c.want {
			t.Errorf("%q after %d: want %d, have %d", c.spec, c.after, c.want, have)
		}
	}
	if have := (Schedule{}).Next(0); have != never {
		t.Errorf("without an interval: want never, have %d", have)
	}
	fits, long := strings.Repeat("0,", 123)+"0 0 1 1 *", strings.Repeat("0,", 124)+"0 0 1 1 *"
	if _, _, err := parseSchedule(fits+" ", exchange.Minute1); err != nil || len(fits) != 255 {
		t.Errorf("%d characters: %v", len(fits), err)
	}
	if _, _, err := parseSchedule(long, exchange.Minute1); err == nil || !strings.Contains(err.Error(), "is too long") {
		t.Errorf("%d characters: want them refused, have %v", len(long), err)
	}
}
