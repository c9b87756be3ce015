package telegram

import (
	"encoding/json"
	"testing"
)

// FuzzPoll reads an arbitrary answer of Telegram's. The updates that are passed on are readable, have a
// number each, and were neither forwarded nor edited.
func FuzzPoll(f *testing.F) {
	for _, seed := range []string{
		`{"ok":true,"result":[{"update_id":1,"message":{"message_id":1,"date":1,"text":"/status","from":{"id":1},"chat":{"id":1,"type":"private"}}}]}`,
		`{"ok":true,"result":[{"update_id":2,"message":{"text":"/pause","forward_date":1}}]}`,
		`{"ok":true,"result":[null,{"update_id":"x"},{"update_id":3,"message":null}]}`, `{"ok":false,"error_code":429,"parameters":{"retry_after":3}}`, `[]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		cleaned, held, _, err := clean(text)
		if err != nil {
			return
		}
		var answer struct {
			OK     bool              `json:"ok"`
			Result []json.RawMessage `json:"result"`
		}
		if err := json.Unmarshal(cleaned, &answer); err != nil || !answer.OK || len(answer.Result) != held {
			t.Fatalf("%q: want %d updates, have %q, %v", text, held, cleaned, err)
		}
		for _, raw := range answer.Result {
			var one update
			if json.Unmarshal(raw, &one) != nil || one.ID == 0 || !typed(raw) {
				t.Errorf("%q: want a number each, and only what a person typed, have %s", text, raw)
			}
		}
	})
}
