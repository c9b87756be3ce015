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

// roleOf is the role of a request with a cookie and headers.
func roleOf(guard *Guard, host string, cookie *http.Cookie, headers ...string) Role {
	request := httptest.NewRequest(http.MethodGet, "http://"+host+"/api/v1/status", nil)
	request.AddCookie(cookie)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	who := guard.Identify(request, time.Now())
	return who.Role
}

const host = "127.0.0.1:8420"

// TestSessionsSurviveARestart opens sessions, restarts, and changes the tokens: a session
// goes on where its token stands, and no file holds a cookie.
func TestSessionsSurviveARestart(t *testing.T) {
	t.Parallel()
	directory, tokens := t.TempDir(), Tokens{Operator: newToken(), Viewer: newToken()}
	guard, closing := run(t, directory, tokens)
	operator, viewer, left := login(t, guard, tokens.Operator, host), login(t, guard, tokens.Viewer, host), login(t, guard, tokens.Operator, host)
	request := httptest.NewRequest(http.MethodDelete, "http://"+host+LoginPath, nil)
	request.AddCookie(left)
	guard.Logout(request)
	closing()
	path := filepath.Join(directory, SessionsFile)
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
	defer closing()
	viewer.Name = guard.cookie
	operator.Name = guard.cookie
	if have := roleOf(guard, host, operator); have != Public {
		t.Errorf("a session whose token was replaced: want it ended, have %v", have)
	}
	if have := roleOf(guard, host, viewer); have != Viewer {
		t.Errorf("a session whose token stands: want it open, have %v", have)
	}
}

// TestASessionIsGoodForTheOriginItWasOpenedAt replays a cookie as a browser would send it for
// a page of another port or site, and at other names of this machine.
func TestASessionIsGoodForTheOriginItWasOpenedAt(t *testing.T) {
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

// TestADaemonHasANameOfItsOwn checks which hosts requests may be for.
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
