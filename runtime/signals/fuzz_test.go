package signals

import (
	"encoding/json"
	"testing"

	"botd/internal/inbound"
)

// FuzzMessage reads an arbitrary message. It is a signal within its bounds, or refused.
func FuzzMessage(f *testing.F) {
	for _, seed := range []string{
		`{"token":"t","id":"1","strategy":"follow","position":"long","time":"2026-01-31T12:00:00Z"}`,
		`{"id":1,"strategy":"s","action":"close","size":"50%","time":1700000000000,"expires":"4h"}`,
		`{"id":"1","ID":"2"}`, `[]`, `{"id":["1"]}`, `{"size":1e999999999}`, "{\"\u212a\":1}",
		`{"id":"1","strategy":"s","position":"long","po\u017fition":"short","time":1700000000000}`,
		"{\"id\":\"1\",\"\u017ftrategy\":\"s\",\"position\":\"long\",\"time\":1700000000000}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := read(text)
		if err != nil {
			return
		}
		if inbound.CheckKeys(text) != nil || !json.Valid(text) {
			t.Errorf("%q: want it refused", text)
		}
		s, err := m.signal()
		if err != nil {
			return
		}
		if len(s.ID) > maxID || s.ID == "" || s.Side < -1 || s.Side > 1 || s.Share <= 0 || len(m.Comment) > maxComment {
			t.Errorf("%q: want a signal within its bounds, have %+v", text, s)
		}
		if s.ExpiresMS != 0 && s.ExpiresMS <= s.AtMS {
			t.Errorf("%q: want it to end after it begins, have %+v", text, s)
		}
	})
}
