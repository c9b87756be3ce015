package printable

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestInvisibleCharactersAreEscaped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, one, lines string }{
		{"BTC-USDT 60 000 µ €", "BTC-USDT 60 000 µ €", "BTC-USDT 60 000 µ €"},
		{"\x1b[2J\x1b[1;1H", `\u001b[2J\u001b[1;1H`, `\u001b[2J\u001b[1;1H`},
		{"a\r\nb\tc", `a\u000d\u000ab\u0009c`, "a\\u000d\nb\tc"},
		{"BTC\u202eTDSU", `BTC\u202eTDSU`, `BTC\u202eTDSU`},
		{"zero\u200bwidth \u2066 \ufeff", `zero\u200bwidth \u2066 \ufeff`, `zero\u200bwidth \u2066 \ufeff`},
		{"\u009b31m \x7f", `\u009b31m \u007f`, `\u009b31m \u007f`},
		{"tag \U000e0041", `tag \udb40\udc41`, `tag \udb40\udc41`},
		{"broken \x9b", `broken \ufffd`, `broken \ufffd`},
	} {
		if have := Text(c.text); have != c.one {
			t.Errorf("%q: want %q, have %q", c.text, c.one, have)
		}
		if have := Lines(c.text); have != c.lines {
			t.Errorf("%q in lines: want %q, have %q", c.text, c.lines, have)
		}
	}
}

// TestAnExcerptIsBounded covers texts of about 500 bytes, and one whose escapes make it longer.
func TestAnExcerptIsBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{strings.Repeat("x", 500), strings.Repeat("x", 500)}, {strings.Repeat("x", 501), strings.Repeat("x", 500) + "…"},
		{strings.Repeat("x", 499) + "é", strings.Repeat("x", 499) + "…"}, {strings.Repeat("\n", 84), strings.Repeat(`\u000a`, 83) + `\u…`},
		{"a\nb", `a\u000ab`}, {"", ""},
		{"no key\nhint: write one", "no key; hint: write one"}, {"a.yaml:3: no key\n  hint: write one", "a.yaml:3: no key; hint: write one"},
		{"a hint: b\n hint: c", `a hint: b\u000a hint: c`},
	} {
		if have := Excerpt(c.text); have != c.want {
			t.Errorf("%.20q: want %q, have %q", c.text, c.want, have)
		}
	}
}

// TestTheProblemsOfAnErrorAreOnOneLine covers joined errors, nested in each other and in other errors, and an
// error of another program with a line break.
func TestTheProblemsOfAnErrorAreOnOneLine(t *testing.T) {
	t.Parallel()
	disk, key, forged := errors.New("no room"), errors.New("no key\nhint: write one"), errors.New("the venue reports x\ny")
	both := errors.Join(disk, key)
	for _, c := range []struct {
		err  error
		want string
	}{
		{disk, "no room"}, {both, "no room; no key\nhint: write one"}, {fmt.Errorf("stop: %w", both), "stop: no room; no key\nhint: write one"},
		{errors.Join(fmt.Errorf("stop: %w", both), disk), "stop: no room; no key\nhint: write one; no room"},
		{errors.Join(disk), "no room"}, {forged, "the venue reports x\ny"}, {errors.Join(forged, disk), "the venue reports x\ny; no room"},
		{fmt.Errorf("%w, then %w", both, errors.Join(disk, forged)), "no room; no key\nhint: write one, then no room; the venue reports x\ny"},
		{fmt.Errorf("a\nb: %w", forged), "a\nb: the venue reports x\ny"},
	} {
		if have := Error(c.err); have != c.want {
			t.Errorf("%q: want %q, have %q", c.err, c.want, have)
		}
	}
}
