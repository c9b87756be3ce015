package sim

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// The cases are each reference to something that does not exist, and each duplicate or missing entry.
func TestASnapshotThatContradictsItselfIsRefused(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/first_schema.json") // with live orders, events, positions and two accounts
	if err != nil {
		t.Fatal(err)
	}
	restore := func(text []byte) error {
		_, err := Restore(Config{Symbols: DefaultSymbols(), OrderDelayMS: 5}, text)
		return err
	}
	if err := restore(text); err != nil {
		t.Fatal(err)
	}
	first := func(s map[string]any, list string) map[string]any { return s[list].([]any)[0].(map[string]any) }
	for _, c := range []struct {
		name string
		edit func(s map[string]any)
		want string
	}{
		{"of another version", func(s map[string]any) { s["Schema"] = 99 }, "schema 99"},
		{"a text for a number", func(s map[string]any) { s["OrderID"] = "many" }, "read snapshot"},
		{"an account without settings", func(s map[string]any) {
			first(s, "Accounts")["Config"], first(s, "Accounts")["Name"] = nil, "alice"
		}, "has no settings"},
		{"an account twice", func(s map[string]any) { s["Accounts"] = append(s["Accounts"].([]any), first(s, "Accounts")) }, "appears twice"},
		{"a position on a symbol that is not there", func(s map[string]any) { held(s)["Symbol"] = "NONE-USDT" }, "unknown symbol NONE-USDT"},
		{"an order of no account", func(s map[string]any) { first(s, "Orders")["Account"] = "nobody" }, "has no account or symbol"},
		{"an order on no symbol", func(s map[string]any) { first(s, "Orders")["Symbol"] = "NONE-USDT" }, "has no account or symbol"},
		{"an event of no order", func(s map[string]any) { first(s, "Queue")["OrderID"] = 4_711 }, "unknown order 4711"},
		{"an order that is not there stands in a book", func(s map[string]any) { standing(s)["Standing"] = []any{4_711} }, "order 4711 is in the book"},
		{"an order stands in another's book", func(s map[string]any) {
			ids := standing(s)["Standing"]
			delete(standing(s), "Standing")
			for _, b := range s["Books"].([]any) {
				if b := b.(map[string]any); b["Symbol"] == "ETH-USDT" {
					b["Standing"] = ids
					return
				}
			}
		}, "but belongs to another symbol"},
	} {
		var s map[string]any
		numbers := json.NewDecoder(bytes.NewReader(text))
		numbers.UseNumber() // some need more digits than a float has
		if err := numbers.Decode(&s); err != nil {
			t.Fatal(err)
		}
		c.edit(s)
		edited, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := restore(edited); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %q, have %v", c.name, c.want, err)
		}
	}
	if err := restore(text[:len(text)/2]); err == nil || !strings.Contains(err.Error(), "read snapshot") {
		t.Errorf("half of it: have %v", err)
	}
}

// held returns the first position of a snapshot.
func held(s map[string]any) map[string]any {
	for _, a := range s["Accounts"].([]any) {
		if all, is := a.(map[string]any)["Positions"].([]any); is && len(all) > 0 {
			return all[0].(map[string]any)
		}
	}
	panic("no position")
}

// standing returns the first order book with an order.
func standing(s map[string]any) map[string]any {
	for _, b := range s["Books"].([]any) {
		if all, is := b.(map[string]any)["Standing"].([]any); is && len(all) > 0 {
			return b.(map[string]any)
		}
	}
	panic("no order stands")
}
