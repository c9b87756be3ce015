package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/runtime"
	"botd/runtime/api/auth"
)

// makeToken requests a token as botd token create does.
func (d *desk) makeToken(body string) string {
	d.t.Helper()
	request := httptest.NewRequest(http.MethodPost, "/api/v1/tokens", strings.NewReader(body))
	request = request.WithContext(auth.WithConnection(request.Context(), &net.UnixConn{}))
	recorder := httptest.NewRecorder()
	d.server.Handler().ServeHTTP(recorder, request)
	var made NewToken
	if err := json.Unmarshal(recorder.Body.Bytes(), &made); err != nil || recorder.Code != http.StatusOK {
		d.t.Fatalf("%d %s, %v", recorder.Code, recorder.Body, err)
	}
	return made.Token
}

// asked returns the status of a request.
func (d *desk) asked(method, path, body string, as func(*http.Request)) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
	as(request)
	recorder := httptest.NewRecorder()
	d.server.Handler().ServeHTTP(recorder, request)
	return recorder
}

func TestNamedTokenHasItsRoleUntilRevoked(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	d := newDeskWith(t, func(c *Config) {
		var err error
		if c.Keyring, err = auth.OpenKeyring(directory); err != nil {
			t.Fatal(err)
		}
	})
	viewer, operator := d.makeToken(`{"name":"phone","role":"viewer"}`), d.makeToken(`{"name":"desk","role":"operator"}`)
	pause := `{"level":"pause","reason":"x"}`
	for _, c := range []struct {
		token, path string
		want        int
	}{{viewer, "/api/v1/status", 200}, {operator, "/api/v1/status", 200}, {viewer, "/api/v1/risk/halt", 403}, {operator, "/api/v1/risk/halt", 202},
		{viewer + "x", "/api/v1/status", 401}} {
		method, body := http.MethodGet, ""
		if strings.HasSuffix(c.path, "halt") {
			method, body = http.MethodPost, pause
		}
		if have := d.asked(method, c.path, body, bearer(c.token)); have.Code != c.want {
			t.Errorf("%s: want %d, have %d %s", c.path, c.want, have.Code, have.Body)
		}
	}
	if requester := d.sent[len(d.sent)-1].Audit.Actor; requester != "token desk" {
		t.Errorf("want the journal to know whose token it was, have %q", requester)
	}
	cookie := d.asked(http.MethodPost, "/api/v1/session", `{"token":"`+viewer+`"}`, func(*http.Request) {}).Result().Cookies()[0]
	session := func(r *http.Request) { r.AddCookie(cookie) }
	if have := d.asked(http.MethodGet, "/api/v1/status", "", session).Code; have != 200 {
		t.Fatalf("its session: want 200, have %d", have)
	}

	// Another start knows them. The file contains no token and is readable by its owner only.
	again, err := auth.OpenKeyring(directory)
	if err != nil {
		t.Fatal(err)
	}
	known := newDeskWith(t, func(c *Config) { c.Keyring = again })
	if have := known.asked(http.MethodGet, "/api/v1/session", "", bearer(viewer)); have.Code != http.StatusOK || !strings.Contains(have.Body.String(),
		`"role":"viewer"`) {
		t.Errorf("want the token known after another start, have %d %s", have.Code, have.Body)
	}
	path := filepath.Join(directory, auth.KeyringFile)
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(text), viewer) || strings.Contains(string(text), operator) {
		t.Errorf("want hashes alone in %s, have %s, %v", path, text, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("want mode 600, have %v, %v", info.Mode(), err)
	}

	if have := d.asked(http.MethodDelete, "/api/v1/tokens/phone", "", bearer(operator)); have.Code != 200 {
		t.Fatalf("revoke: %d %s", have.Code, have.Body)
	}
	for name, as := range map[string]func(*http.Request){"the token": bearer(viewer), "its session": session} {
		if have := d.asked(http.MethodGet, "/api/v1/status", "", as).Code; have != http.StatusUnauthorized {
			t.Errorf("%s after it was revoked: want 401, have %d", name, have)
		}
	}
	if have := d.asked(http.MethodGet, "/api/v1/status", "", bearer(operator)).Code; have != 200 {
		t.Errorf("the other: want 200, have %d", have)
	}
}

func TestAStreamEndsSoonAfterItsTokenIsRevoked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		client, _, _, _, err := d.server.stream.join(&auth.Identity{}, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		to := discard{http.Header{}}
		if reason := d.server.follow(ctx, &flow{w: to, control: http.NewResponseController(to)}, client, "revoked"); reason != "other" {
			t.Errorf("want it ended by botd, have %s", reason)
		}
	})
}

// TestOnlyLinkSessionsCreateTokens tries each way to log in.
func TestOnlyLinkSessionsCreateTokens(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	d := newDeskWith(t, func(c *Config) {
		var err error
		if c.Keyring, err = auth.OpenKeyring(directory); err != nil {
			t.Fatal(err)
		}
	})
	named := d.makeToken(`{"name":"desk","role":"operator"}`)
	soon, late := time.Now().Add(time.Hour).UTC().Format(time.RFC3339), time.Now().AddDate(2, 0, 0).UTC().Format(time.RFC3339)
	in := func(text string) func(*http.Request) {
		cookie := d.asked(http.MethodPost, "/api/v1/session", text, func(*http.Request) {}).Result().Cookies()[0]
		return func(r *http.Request) { r.AddCookie(cookie) }
	}
	linked := in(`{"code":"` + d.server.NewLink().Code + `"}`)
	for _, c := range []struct {
		name  string
		as    func(*http.Request)
		ends  string
		want  int
		makes bool
	}{
		{"by-link", linked, soon, 200, true},
		{"by-link-too-long", linked, late, 400, true},
		{"by-link-without-end", linked, "", 400, true},
		{"by-pasted-token", in(`{"token":"` + testToken + `"}`), soon, 403, false},
		{"by-pasted-named-token", in(`{"token":"` + named + `"}`), soon, 403, false},
		{"by-token", bearer(testToken), soon, 403, false},
		{"by-named-token", bearer(named), soon, 403, false},
	} {
		text := `{"name":"` + c.name + `","role":"viewer"`
		if c.ends != "" {
			text += `,"ends":"` + c.ends + `"`
		}
		if have := d.asked(http.MethodPost, "/api/v1/tokens", text+"}", c.as); have.Code != c.want {
			t.Errorf("%s: want %d, have %d %s", c.name, c.want, have.Code, have.Body)
		}
		reported := d.asked(http.MethodGet, "/api/v1/session", "", c.as)
		if want := `"makes_tokens":` + map[bool]string{true: "true", false: "false"}[c.makes]; !strings.Contains(reported.Body.String(), want) {
			t.Errorf("%s: want it reported %s, have %s", c.name, want, reported.Body)
		}
	}
}

// TestATokenByALinkLivesFor366DaysAtMost covers the longest life that is accepted in a browser, and one a second longer.
func TestATokenByALinkLivesFor366DaysAtMost(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d := newDeskWith(t, func(c *Config) {
			var err error
			if c.Keyring, err = auth.OpenKeyring(directory); err != nil {
				t.Fatal(err)
			}
		})
		cookie := d.asked(http.MethodPost, "/api/v1/session", `{"code":"`+d.server.NewLink().Code+`"}`, func(*http.Request) {}).Result().Cookies()[0]
		for name, c := range map[string]struct {
			life time.Duration
			want int
		}{"year": {366 * 24 * time.Hour, 200}, "longer": {366*24*time.Hour + time.Second, 400}, "second": {time.Second, 200}, "none": {0, 400}} {
			text := fmt.Sprintf(`{"name":"%s","role":"viewer","ends":"%s"}`, name, time.Now().Add(c.life).UTC().Format(time.RFC3339))
			have := d.asked(http.MethodPost, "/api/v1/tokens", text, func(r *http.Request) { r.AddCookie(cookie) })
			if have.Code != c.want {
				t.Errorf("%s: want %d, have %d %s", name, c.want, have.Code, have.Body)
			}
		}
	})
}

// The token no longer works, and the answer reports that the journal lacks the revocation.
func TestUnrecordedRevocationApplies(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	now := time.Now()
	token, err := d.server.config.Keyring.Add(auth.Key{Name: "phone", Role: "viewer", Made: now})
	if err != nil {
		t.Fatal(err)
	}
	d.fails = runtime.ErrNotDurable
	answer := d.asked(http.MethodDelete, "/api/v1/tokens/phone", "", bearer(testToken))
	if p := decoded[Problem](t, answer.Body.String()); answer.Code != 503 || p.Code != "unwritten" || !strings.HasPrefix(p.Detail,
		"the token no longer works; ") {
		t.Errorf("want it reported, have %d %s", answer.Code, answer.Body)
	}
	if code, _ := d.ask(http.MethodGet, "/api/v1/version", "", bearer(token)); code != 401 {
		t.Errorf("want the token worth nothing, have %d", code)
	}
	if answer := d.asked(http.MethodDelete, "/api/v1/tokens/phone", "", bearer(testToken)); answer.Code != 404 {
		t.Errorf("want it gone, have %d", answer.Code)
	}
}

// The name of a token that could not be saved stays free.
func TestUnsavedTokenIsInvalid(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "gone")
	d := newDeskWith(t, func(c *Config) {
		var err error
		if c.Keyring, err = auth.OpenKeyring(directory); err != nil {
			t.Fatal(err)
		}
	})
	cookie := d.asked(http.MethodPost, "/api/v1/session", `{"code":"`+d.server.NewLink().Code+`"}`, func(*http.Request) {}).Result().Cookies()[0]
	answer := d.asked(http.MethodPost, "/api/v1/tokens", `{"name":"phone","role":"viewer","ends":"`+time.Now().Add(time.Hour).UTC().Format(time.RFC3339)+`"}`,
		func(r *http.Request) { r.AddCookie(cookie) })
	if p := decoded[Problem](t, answer.Body.String()); answer.Code != 503 || p.Code != "unwritten" || !strings.HasPrefix(p.Detail,
		"the token could not be saved") ||
		len(d.server.config.Keyring.List()) != 0 {
		t.Errorf("want it refused, have %d %s", answer.Code, answer.Body)
	}
}
