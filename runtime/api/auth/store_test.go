package auth

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// run is one run of a daemon on a data directory.
func run(t *testing.T, directory string, tokens Tokens) (guard *Guard, closing func()) {
	t.Helper()
	guard = NewGuard(Config{Tokens: tokens})
	return guard, guard.OpenSessions(directory, time.Now(), func(err error) { t.Error(err) })
}

func login(t *testing.T, guard *Guard, token, host string) *http.Cookie {
	t.Helper()
	request := httptest.NewRequest(http.MethodPost, "http://"+host+LoginPath, nil)
	cookie, _, denied := guard.Login(request, token, "", time.Now())
	if denied != nil {
		t.Fatal(denied)
	}
	return cookie
}

// roleOf returns the role of a request with a cookie and headers.
func roleOf(guard *Guard, host string, cookie *http.Cookie, headers ...string) Role {
	request := httptest.NewRequest(http.MethodGet, "http://"+host+"/api/v1/status", nil)
	request.AddCookie(cookie)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	requester := guard.Identify(request, time.Now())
	return requester.Role
}

const host = "127.0.0.1:8420"

// TestSessionsSurviveARestart opens sessions, restarts, and changes the tokens. A session continues while its
// token is unchanged, and no file contains a cookie.
func TestSessionsSurviveARestart(t *testing.T) {
	t.Parallel()
	directory, tokens := t.TempDir(), Tokens{Operator: newToken(), Viewer: newToken()}
	guard, closing := run(t, directory, tokens)
	operator, viewer, left := login(t, guard, tokens.Operator, host), login(t, guard, tokens.Viewer, host), login(t, guard, tokens.Operator, host)
	request := httptest.NewRequest(http.MethodDelete, "http://"+host+LoginPath, nil)
	request.AddCookie(left)
	guard.Logout(request)
	closing()
	path := filepath.Join(directory, sessionsFile)
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(text), operator.Value) {
		t.Errorf("want a file without the cookies, have %s, %v", text, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("want mode 0600, have %v, %v", info, err)
	}
	guard, closing = run(t, directory, tokens)
	if have := roleOf(guard, host, operator); have != Operator {
		t.Errorf("the operator's session after a restart: have %v", have)
	}
	if have := roleOf(guard, host, viewer); have != Viewer {
		t.Errorf("the viewer's session after a restart: have %v", have)
	}
	if have := roleOf(guard, host, left); have != Public {
		t.Errorf("a session that was ended: want it ended after a restart, have %v", have)
	}
	closing()
	guard, closing = run(t, directory, Tokens{Operator: newToken(), Viewer: tokens.Viewer})
	viewer.Name = guard.cookie
	operator.Name = guard.cookie
	if have := roleOf(guard, host, operator); have != Public {
		t.Errorf("a session whose token was replaced: want it ended, have %v", have)
	}
	if have := roleOf(guard, host, viewer); have != Viewer {
		t.Errorf("a session whose token stands: want it open, have %v", have)
	}
	closing()
	login(t, guard, tokens.Viewer, host) // it is not saved any more, and waits for nobody
	guard, closing = run(t, directory, Tokens{Operator: tokens.Operator, Viewer: newToken()})
	viewer.Name = guard.cookie
	if have := roleOf(guard, host, viewer); have != Public {
		t.Errorf("a viewer's session whose token was replaced: want it ended, have %v", have)
	}
	closing()
}

// TestSessionIsValidOnlyForItsOrigin replays a cookie as a browser would send it for a page of
// another port or site, and at other names of this machine.
func TestSessionIsValidOnlyForItsOrigin(t *testing.T) {
	t.Parallel()
	tokens := Tokens{Operator: newToken()}
	guard := NewGuard(Config{Tokens: tokens})
	cookie := login(t, guard, tokens.Operator, host)
	for _, c := range []struct {
		name, host string
		headers    []string
		want       Role
	}{
		{"its own page", host, []string{"Sec-Fetch-Site", "same-origin", "Origin", "http://" + host}, Operator},
		{"typed into the address bar", host, []string{"Sec-Fetch-Site", "none"}, Operator},
		{"a link in a mail", host, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, Operator},
		{"no browser", host, nil, Operator},
		{"a page of another port", host, []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors"}, Public},
		{"a page of another port, in a browser that sends an origin alone", host, []string{"Origin", "http://127.0.0.1:9999"}, Public},
		{"a page of another site", host, []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, Public},
		{"another name of the machine", "localhost:8420", nil, Public},
		{"another port of the machine", "127.0.0.1:9999", nil, Public},
	} {
		if have := roleOf(guard, c.host, cookie, c.headers...); have != c.want {
			t.Errorf("%s: want %v, have %v", c.name, c.want, have)
		}
	}
}

// TestADaemonHasANameOfItsOwn checks which hosts requests may name.
func TestADaemonHasANameOfItsOwn(t *testing.T) {
	t.Parallel()
	one, two := Tokens{Operator: newToken()}, Tokens{Operator: newToken()}
	guard := NewGuard(Config{Tokens: one})
	for host, want := range map[string]bool{one.InstanceHost(): true, two.InstanceHost(): false, "evil.localhost": false, "localhost": true} {
		request := httptest.NewRequest(http.MethodGet, "http://"+host+":8420/", nil)
		if denied := guard.Check(request); (denied == nil) != want {
			t.Errorf("%s: want let in %t, have %v", host, want, denied)
		}
	}
}

// Each session that starts or ends is saved immediately.
func TestTimesOfUseAreSavedEveryFiveMinutes(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := sessions{store: store{path: "somewhere", saved: now, writes: make(chan []byte, 1)}}
	value := s.begin(session{role: Viewer}, now)
	saved := func() bool {
		select {
		case <-s.store.writes:
			return true
		default:
			return false
		}
	}
	if !saved() {
		t.Error("begun: want it saved")
	}
	for at, want := range map[time.Duration]bool{time.Minute: false, 5 * time.Minute: false} {
		if s.find(value, now.Add(at)); saved() != want {
			t.Errorf("after %s: want it saved %t", at, want)
		}
	}
	later := now.Add(5*time.Minute + time.Nanosecond)
	if s.find(value, later); !saved() {
		t.Error("after five minutes: want it saved")
	}
	if s.find(value, later.Add(5*time.Minute)); saved() {
		t.Error("five minutes after that: want it not saved yet")
	}
	if s.end(value); !saved() {
		t.Error("ended: want it saved")
	}
}

// The bound is a mebibyte, for sessions and for named tokens.
func TestFilesThatAreTooLongAreNotRead(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	for _, name := range []string{sessionsFile, KeyringFile} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte("[]"+strings.Repeat(" ", 1<<20)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := OpenKeyring(directory); err == nil {
		t.Error("named tokens: want an error")
	}
	warned := 0
	closing := NewGuard(Config{}).OpenSessions(directory, time.Now(), func(error) { warned++ })
	if closing(); warned != 1 {
		t.Errorf("sessions: want one warning, have %d", warned)
	}
}

// A caller without a credential is known by its address only. A session has the name of the token that opened it.
func TestCallerIsKnownByAddressAndName(t *testing.T) {
	t.Parallel()
	ring, err := OpenKeyring(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	token, err := ring.Add(Key{Name: "phone", Role: "viewer", Made: now})
	if err != nil {
		t.Fatal(err)
	}
	guard := NewGuard(Config{Tokens: Tokens{Operator: newToken()}, Keyring: ring})
	for address, want := range map[string]string{"192.0.2.7:99": "192.0.2.7", "[::1]:8": "::1", "@": "@"} {
		request := httptest.NewRequest(http.MethodGet, "http://"+host+"/", nil)
		request.RemoteAddr = address
		if requester := guard.Identify(request, now); requester != (Identity{From: want}) {
			t.Errorf("%s: have %+v", address, requester)
		}
	}
	cookie := login(t, guard, token, host)
	request := httptest.NewRequest(http.MethodGet, "http://"+host+"/", nil)
	request.AddCookie(cookie)
	if requester := guard.Identify(request, now); requester.Actor() != "session phone" || requester.Role != Viewer || requester.Credential() == "viewer " ||
		requester.MakesTokens() {
		t.Errorf("a session of a named token: have %+v", requester)
	}
	over := guard.Logout(request)
	if over.Name != cookie.Name || over.Value != "" || over.MaxAge != -1 {
		t.Errorf("want a cookie that deletes it, have %+v", over)
	}
	if requester := guard.Identify(request, now); requester.Role != Public {
		t.Errorf("logged out: have %+v", requester)
	}
	viewer := Identity{Role: Viewer}
	for range 60 {
		guard.PaceMarket(&viewer, now)
	}
	if denied := guard.PaceMarket(&viewer, now); denied == nil || denied.Status != 429 || denied.Wait != time.Second ||
		!strings.HasPrefix(denied.Detail, "more than 10 requests for market data a second") {
		t.Errorf("beyond the pace: have %+v", denied)
	}
}
