package paint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
	"unicode/utf8"
)

// TestColorsOfBotdAlonePass writes external text that tries to color itself and to hide the text after it.
func TestColorsOfBotdAlonePass(t *testing.T) {
	t.Parallel()
	outside := "\x1b[31mFAILED\x1b[0m \x1b[8mhidden \x1b[1;2;31mguessed \x1b]0;title\a\n"
	var out bytes.Buffer
	w := NewWriter(&out)
	if n, err := io.WriteString(w, outside); n != len(outside) || err != nil {
		t.Errorf("want %d bytes taken, have %d, %v", len(outside), n, err)
	}
	want := `\u001b[31mFAILED\u001b[0m \u001b[8mhidden \u001b[1;2;31mguessed \u001b]0;title\u0007` + "\n"
	if out.String() != want {
		t.Errorf("want %q, have %q", want, out.String())
	}
	out.Reset()
	fmt.Fprintf(w, "%s %s", Own("\x1b[32mok\x1b[0m \x1b[1;31mbad\x1b[0m"), outside)
	if want := "\x1b[32mok\x1b[0m \x1b[1;31mbad\x1b[0m " + want; out.String() != want {
		t.Errorf("want %q, have %q", want, out.String())
	}
	out.Reset()
	if _, err := io.WriteString(OwnWriter(w), "\x1b[90m12:00\x1b[0m\n"); err != nil || out.String() != "\x1b[90m12:00\x1b[0m\n" {
		t.Errorf("want the color of a line of the log, have %q, %v", out.String(), err)
	}
}

func TestJSONKeepsItsValue(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	value := map[string]string{"symbol": "BTC\u202eTDSU\U000e0041"}
	if err := json.NewEncoder(NewWriter(&out)).Encode(value); err != nil {
		t.Fatal(err)
	}
	var again map[string]string
	if err := json.Unmarshal(out.Bytes(), &again); err != nil || again["symbol"] != value["symbol"] || strings.ContainsRune(out.String(), '\u202e') {
		t.Errorf("want the same value without the sign, have %q, %v", out.String(), err)
	}
}

// TestWritesEndAnywhere cuts a rune of each length at each place; the rest of it comes with the next write, or never.
func TestWritesEndAnywhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		writes []string
		want   []string // what each write adds
	}{
		{[]string{"\xe2", "\x82", "\xac"}, []string{"", "", "€"}},
		{[]string{"a\xc3", "\xa9b"}, []string{"a", "éb"}},
		{[]string{"\xf0\x9f\x98", "\x80"}, []string{"", "😀"}},
		{[]string{"\xf0\x9f", "\x98\x80!"}, []string{"", "😀!"}},
		{[]string{"\xf0", "\x9f\x98\x80"}, []string{"", "😀"}},
		{[]string{"ab€", "cd"}, []string{"ab€", "cd"}},
		{[]string{"\xe2\x80", "\xae"}, []string{"", `\u202e`}},
		{[]string{"\xe2\x80", "x"}, []string{"", `\ufffd\ufffdx`}},
		{[]string{"\x80"}, []string{`\ufffd`}},
		{[]string{"\x80\x80\x80\x80\x80"}, []string{`\ufffd\ufffd\ufffd\ufffd\ufffd`}},
		{[]string{"é\x80\x80\x80\x80"}, []string{`é\ufffd\ufffd\ufffd\ufffd`}},
		{[]string{"a\x7fb"}, []string{`a\u007fb`}},
		{[]string{"a\tb\n", "", "\x1f"}, []string{"a\tb\n", "", `\u001f`}},
	} {
		var out bytes.Buffer
		w := NewWriter(&out)
		for i, text := range c.writes {
			out.Reset()
			if n, err := io.WriteString(w, text); n != len(text) || err != nil || out.String() != c.want[i] {
				t.Errorf("%q, write %d: want %q of all bytes, have %q of %d, %v", c.writes, i+1, c.want[i], out.String(), n, err)
			}
		}
	}
}

// failing is a stream that is closed.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestAFailedWriteIsReported(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]io.Writer{"plain": NewWriter(failing{}), "its own colors": OwnWriter(failing{})} {
		for _, text := range []string{"plain", "€", "\x1b[31m"} {
			if n, err := io.WriteString(w, text); n != 0 || !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("%s, %q: want nothing written, have %d, %v", name, text, n, err)
			}
		}
	}
	var out bytes.Buffer
	if n, err := io.WriteString(OwnWriter(&out), "\x1b[31mx"); n != 6 || err != nil {
		t.Errorf("want the 6 bytes of the text, have %d, %v", n, err)
	}
	if w := NewWriter(&out); w.To() != io.Writer(&out) {
		t.Errorf("want the stream behind it, have %v", w.To())
	}
}

// TestPlainTextCostsNothing writes text like nearly all output, which passes without a copy.
func TestPlainTextCostsNothing(t *testing.T) {
	w, text := NewWriter(io.Discard), []byte("all of ~ASCII: 0123456789 !?@AZaz\t|\n")
	if have := testing.AllocsPerRun(100, func() { _, _ = w.Write(text) }); have != 0 {
		t.Errorf("want no allocation, have %v", have)
	}
}

// FuzzWriter writes in pieces: no invisible character passes, whatever the pieces are.
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
		for _, out := range []string{once.String(), pieces.String()} {
			if !utf8.ValidString(out) || strings.ContainsFunc(out, func(r rune) bool {
				return r != '\n' && r != '\t' && !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r)
			}) {
				t.Errorf("%q: have %q", text, out)
			}
		}
	})
}
