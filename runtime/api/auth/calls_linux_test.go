package auth

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"botd/internal/disk/disktest"
)

// TestEachFileCallOfTheTokensFails creates the tokens of a directory, adds two named ones and revokes one.
func TestEachFileCallOfTheTokensFails(t *testing.T) {
	t.Parallel()
	disktest.EachCallFails(t, func(directory string, reported func(error)) {
		again := func(do func() error) {
			err := do()
			if err != nil {
				reported(err)
				err = do()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		var tokens Tokens
		again(func() (err error) { tokens, _, err = ReadTokens(directory); return err })
		if next, _, err := ReadTokens(directory); err != nil || next != tokens || len(tokens.Operator) < shortestToken || len(tokens.Viewer) < shortestToken {
			t.Errorf("want the same tokens again, %+v, have %+v, %v", tokens, next, err)
		}
		keys, err := OpenKeyring(directory)
		if err != nil {
			t.Fatal(err)
		}
		held := map[string]string{}
		names := func(k *Keyring) string {
			var all []string
			for _, key := range k.List() {
				all = append(all, key.Name)
			}
			return strings.Join(all, " ")
		}
		stand := func(want string) {
			stored, err := OpenKeyring(directory)
			if err != nil || names(keys) != want || names(stored) != want {
				t.Errorf("want the tokens %q, have %q in force and %q after a restart, %v", want, names(keys), names(stored), err)
			}
			for name, token := range held {
				if found, known := keys.find(token, time.Now()); known != strings.Contains(want, name) || known && found.Name != name {
					t.Errorf("the token %s: have %+v, %t", name, found, known)
				}
			}
		}
		for _, name := range []string{"phone", "desk"} {
			again(func() (err error) { held[name], err = keys.Add(Key{Name: name, Role: "viewer"}); return err })
		}
		stand("phone desk")
		again(func() error { return keys.Remove("phone") })
		stand("desk")
	})
}

// TestEachFileCallOfTheSessionsFails ends two daemons: one with an open session, one with an ended session.
func TestEachFileCallOfTheSessionsFails(t *testing.T) {
	t.Parallel()
	disktest.EachCallFails(t, func(directory string, reported func(error)) {
		tokens := Tokens{Operator: strings.Repeat("o", shortestToken), Viewer: strings.Repeat("v", shortestToken)}
		start := func() (*Guard, func()) {
			guard := NewGuard(Config{Tokens: tokens})
			return guard, guard.OpenSessions(directory, time.Now(), reported)
		}
		guard, closing := start()
		cookie := login(t, guard, tokens.Operator, host)
		closing()
		guard, closing = start()
		if have := roleOf(guard, host, cookie); have != Operator {
			t.Errorf("a session that was opened: want it open after a restart, have %v", have)
		}
		request := httptest.NewRequest(http.MethodDelete, "http://"+host+LoginPath, nil)
		request.AddCookie(cookie)
		guard.Logout(request)
		closing()
		guard, closing = start()
		defer closing()
		if have := roleOf(guard, host, cookie); have != Public {
			t.Errorf("a session that was ended: want it ended after a restart, have %v", have)
		}
	})
}
