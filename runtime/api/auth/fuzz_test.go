package auth

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// FuzzSessions reads arbitrary contents of sessions.json. An open session must have a role, belong to a token
// of this directory, and end in time.
func FuzzSessions(f *testing.F) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	s := &store{tokens: Tokens{Operator: "operator-of-a-test", Viewer: "viewer-of-a-test"}}
	sound := []stored{{strings.Repeat("ab", 32), "operator", "", true, "localhost:1", s.voucher(Operator), now.Add(-time.Hour), now}}
	text, err := json.Marshal(sound)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	for _, change := range [][2]string{{"operator", "viewer"}, {"2026", "2027"}, {"2026", "0001"}, {"abab", "zz"}, {"abab", ""}, {"[", "[null,"}} {
		f.Add([]byte(strings.ReplaceAll(string(text), change[0], change[1])))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		open, err := s.parse(text, now)
		if err != nil {
			return
		}
		for _, each := range open {
			if each.role != Operator && each.role != Viewer || each.began.After(now) ||
				now.Sub(each.began) > sessionLimit || now.Sub(each.active) > sessionIdle {
				t.Errorf("%q: want a session that has not ended, have %+v", text, each)
			}
		}
		if len(open) > 0 && !strings.Contains(string(text), s.voucher(Operator)) && !strings.Contains(string(text), s.voucher(Viewer)) {
			t.Errorf("%q: want no session without this directory's token, have %d", text, len(open))
		}
	})
}

// FuzzKeyring reads arbitrary contents of tokens.json. Only an operator's key gives an operator's role.
func FuzzKeyring(f *testing.F) {
	for _, seed := range []string{`[]`, `[{"name":"phone","role":"operator","hash":"ab","made":"2026-01-01T00:00:00Z","ends":null}]`, `[null]`,
		`[{"role":"OPERATOR","hash":"ab"},{"role":"","hash":"ab","ends":"0001-01-01T00:00:00Z"}]`, `{}`} {
		f.Add([]byte(seed), "ab")
	}
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text []byte, hash string) {
		keys, err := parseKeys(text)
		if err != nil {
			return
		}
		key, found := (&Keyring{keys: keys}).Find(hash, now)
		if found && (key.Hash != hash || key.Expired(now) || key.role() == Operator && key.Role != "operator") {
			t.Errorf("%q: want a key of this hash that has not ended, have %+v", text, key)
		}
	})
}
