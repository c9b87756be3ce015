package inbound

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestAKeyCountsOnceInOneSpelling(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want error
	}{
		{`{"level":"pause","reason":"a \"level\""}`, nil},
		{`{"limits":{"max_daily_loss":"2%","Max_daily_loss2":null},"list":[{"a":1},{"a":2},["a","a"]],"a":{"a":{"a":1}}}`, nil},
		{`{"a":1e999,"b":"b"}`, nil},
		{`{"level":"flatten","level":"pause"}`, errTwice},
		{`{"level":"flatten","Level":"pause"}`, errTwice},
		{`{"a":1e999,"b":1,"b":2}`, errTwice},
		{`{"position":"flat","poſition":"long"}`, errTwice},
		{`{"key":1,"\u212aey":2}`, errTwice},
		{`{"limits":{"a":"1%","a":null}}`, errTwice},
		{`{"list":[1,{"b":{},"b":[]}]}`, errTwice},
		{`{"a":[],"b":{},"a":1}`, errTwice},
		{`{"Level":"pause"}`, ErrSpelling},
		{`{"":1}`, nil}, // no known key is empty
		{`{"poſition":"long"}`, ErrSpelling},
		{`{"a":1`, nil}, {``, nil}, {`[1]`, nil}, {`}`, nil}, // not JSON, or not an object
	} {
		if have := CheckKeys([]byte(c.text)); !errors.Is(have, c.want) || (c.want == nil) != (have == nil) {
			t.Errorf("%s: want %v, have %v", c.text, c.want, have)
		}
	}
}

// TestManyKeysAreCheckedQuickly covers a body with many keys and one with deep nesting: neither takes time
// quadratic in its length.
func TestManyKeysAreCheckedQuickly(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 200_000 {
		b.WriteString(`,"k` + strings.Repeat("a", i%7) + string(rune('0'+i%10)) + time.Duration(i).String() + `":1`)
	}
	for _, text := range []string{"{" + b.String()[1:] + "}", strings.Repeat(`{"a":`, 200_000)} {
		done := make(chan error, 1)
		go func() { done <- CheckKeys([]byte(text)) }()
		select {
		case <-done:
		case <-t.Context().Done():
			t.Fatal("want an answer before the test's own deadline")
		}
	}
}

// FuzzKeys compares the check with Go's decoder: an accepted body has as many values as are decoded from it.
func FuzzKeys(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":2}`, `{"a":1,"A":2}`, `{"a":{"b":1,"b":2}}`, `[{"a":1}]`, `{"a":1}{"a":2}`, `{`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var all map[string]json.RawMessage
		if CheckKeys(text) != nil || json.Unmarshal(text, &all) != nil {
			return
		}
		folded := map[string]bool{}
		for name := range all {
			if folded[strings.ToLower(name)] {
				t.Errorf("%q: want no two keys that differ in case alone", text)
			}
			folded[strings.ToLower(name)] = true
		}
		var values int
		for decoder, depth := json.NewDecoder(strings.NewReader(string(text))), 0; ; {
			token, err := decoder.Token()
			if err != nil {
				break
			}
			switch token {
			case json.Delim('{'), json.Delim('['):
				depth++
			case json.Delim('}'), json.Delim(']'):
				if depth--; depth == 1 {
					values++
				}
				continue
			}
			if depth == 1 && token != json.Delim('{') {
				values++ // a key, or a plain value
			}
		}
		if all != nil && values != 2*len(all) {
			t.Errorf("%q: want %d keys with their values, have %d", text, len(all), values)
		}
	})
}
