package printable

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
	"unicode/utf8"
)

func TestSignsThatCannotBeSeenAreEscaped(t *testing.T) {
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

func TestAWriterKeepsColoursAndTheValueOfJSON(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if n, err := NewWriter(&out).Write([]byte("\x1b[32mok\x1b[0m \x1b[8mhidden \x1b]0;title\a\n")); n != 34 || err != nil {
		t.Errorf("want 34 bytes taken, have %d, %v", n, err)
	}
	if want := "\x1b[32mok\x1b[0m \\u001b[8mhidden \\u001b]0;title\\u0007\n"; out.String() != want {
		t.Errorf("want %q, have %q", want, out.String())
	}
	out.Reset()
	value := map[string]string{"symbol": "BTC\u202eTDSU\U000e0041"}
	if err := json.NewEncoder(NewWriter(&out)).Encode(value); err != nil {
		t.Fatal(err)
	}
	var again map[string]string
	if err := json.Unmarshal(out.Bytes(), &again); err != nil || again["symbol"] != value["symbol"] || strings.ContainsRune(out.String(), '\u202e') {
		t.Errorf("want the same value without the sign, have %q, %v", out.String(), err)
	}
}

// FuzzWriter writes in pieces: nothing that cannot be seen passes, whatever the pieces are.
func FuzzWriter(f *testing.F) {
	for _, seed := range []string{"BTC\u202e", "\x1b[31mred\x1b[0m", "\xe2\x80", "\xf3\xa0\x81\x81", "€€€"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var once, pieces bytes.Buffer
		if _, err := NewWriter(&once).Write(append(text, ' ')); err != nil {
			t.Fatal(err)
		}
		w := NewWriter(&pieces)
		reader := iotest.OneByteReader(bytes.NewReader(append(text, ' ')))
		for b := make([]byte, 1); ; {
			if n, err := reader.Read(b); err != nil {
				break
			} else if _, err := w.Write(b[:n]); err != nil {
				t.Fatal(err)
			}
		}
		for _, out := range []string{colour.ReplaceAllString(once.String(), ""), pieces.String()} {
			if !utf8.ValidString(out) || strings.ContainsFunc(out, func(r rune) bool {
				return r != '\n' && r != '\t' && !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r)
			}) {
				t.Errorf("%q: have %q", text, out)
			}
		}
	})
}
