package api

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"botd/runtime/api/auth"
	"botd/runtime/view"
)

func TestUnknownHostsAreRefused(t *testing.T) {
	t.Parallel()
	d := newDeskWith(t, func(c *Config) { c.Access = Access{BehindProxy: true, Hosts: []string{"botd.example"}} })
	for host, want := range map[string]int{
		"127.0.0.1:8420": 200, "localhost:1": 200, "[::1]:8420": 200, "botd.example": 200, "BOTD.example:443": 200,
		"evil.example": 421, "127.0.0.1.evil.example": 421, "192.0.2.1": 421, "": 421, "botd.example.evil": 421,
	} {
		code, _ := d.ask(http.MethodGet, "/api/v1/status", "", func(r *http.Request) { bearer(viewerToken)(r); r.Host = host })
		if code != want {
			t.Errorf("host %q: want %d, have %d", host, want, code)
		}
	}
	code, _ := d.ask(http.MethodGet, "/api/v1/status", "", func(r *http.Request) {
		r.Host = "anything"
		*r = *r.WithContext(auth.WithConnection(r.Context(), &net.UnixConn{}))
	})
	if code != 200 {
		t.Errorf("over the socket: want any host, have %d", code)
	}
}

func TestEveryAnswerIsGuarded(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, path := range []string{"/", "/login", "/login.js", "/api/v1/status", "/api/v1/nowhere", "/nowhere", "/metrics", "/healthz"} {
		header := d.answer(http.MethodGet, path, "", nil).Header()
		if have := header.Get("Content-Security-Policy"); have != policy || strings.Contains(have, "unsafe") || !strings.Contains(have,
			"default-src 'none'") || !strings.Contains(have, "frame-ancestors 'none'") {
			t.Errorf("%s: want a strict policy, have %q", path, have)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin"} {
			if have := header.Get(name); have != want {
				t.Errorf("%s: %s: want %q, have %q", path, name, want, have)
			}
		}
		if header.Get("Access-Control-Allow-Origin") != "" || header.Get("X-Request-ID") == "" {
			t.Errorf("%s: want no other origin let in, and a request id, have %v", path, header)
		}
	}
	for _, part := range []string{"<script>", "onclick", "style="} { // the policy would block them
		if strings.Contains(loginHTML+landingHTML, part) {
			t.Errorf("a page has %s inline", part)
		}
	}
}

func TestNoTokenIsTakenFromAURL(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, query := range []string{"?token=" + testToken, "?access_token=" + testToken, "?code=" + d.server.NewLink().Code} {
		if code, _ := d.ask(http.MethodGet, "/api/v1/status"+query, "", nil); code != 401 {
			t.Errorf("%s: want 401, have %d", query, code)
		}
	}
	if path := d.server.NewLink().Path; !strings.HasPrefix(path, "/login#") {
		t.Errorf("want the code in the fragment, have %s", path)
	}
}

func TestRolesAreEnforced(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, each := range routes {
		if each.path == "/api/v1/events" {
			continue
		}
		path := strings.NewReplacer("{name}", "trend", "{id}", "1", "{market}", "futures", "{symbol}", "BTC-USDT").Replace(each.path)
		for token, role := range map[string]auth.Role{"": auth.Public, viewerToken: auth.Viewer, testToken: auth.Operator} {
			change := bearer(token)
			if token == "" {
				change = nil
			}
			code, _ := d.ask(each.method, path, "", change)
			want := map[bool]int{true: 403, false: 401}[role == auth.Viewer]
			if allowed := role >= each.minimum; allowed && (code == 401 && each.path != "/api/v1/session" || code == 403 &&
				each.path != "/api/v1/session/link" && each.path != "/api/v1/tokens") || !allowed && code != want {
				t.Errorf("%s %s as %s: want it let in %t, have %d", each.method, path, role, allowed, code)
			}
		}
	}
}

func (d *desk) login(body string) *http.Cookie {
	d.t.Helper()
	a := d.answer(http.MethodPost, "/api/v1/session", body, nil)
	if cookies := a.Result().Cookies(); a.Code == 200 && len(cookies) == 1 {
		return cookies[0]
	}
	return nil
}

func with(cookie *http.Cookie) func(*http.Request) {
	return func(r *http.Request) { r.AddCookie(cookie) }
}

func TestSessionIsOneHTTPOnlyCookie(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		d := newDeskWith(t, func(c *Config) { c.Access.BehindProxy = secure })
		cookie := d.login(`{"token":"` + viewerToken + `"}`)
		if cookie == nil || !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Secure != secure || cookie.Path != "/" ||
			cookie.Domain != "" || strings.HasPrefix(cookie.Name, "__Host-") != secure {
			t.Fatalf("secure %t: want a guarded cookie, have %+v", secure, cookie)
		}
		if code, text := d.ask(http.MethodGet, "/api/v1/session", "", with(cookie)); code != 200 || !strings.Contains(text, `"role":"viewer"`) ||
			!strings.Contains(text, `"by":"session"`) {
			t.Errorf("want a viewer's session, have %d %s", code, text)
		}
		if code, _ := d.ask(http.MethodPost, "/api/v1/risk/halt", `{"level":"pause","reason":"x"}`, with(cookie)); code != 403 {
			t.Errorf("a viewer's halt: want 403, have %d", code)
		}
		foreign := func(r *http.Request) { with(cookie)(r); r.Header.Set("Origin", "https://evil.example") }
		if code, _ := d.ask(http.MethodDelete, "/api/v1/session", "", foreign); code != 403 {
			t.Errorf("from another site's page: want 403, have %d", code)
		}
	}
	one, other := newDesk(t), newDeskWith(t, func(c *Config) { c.Tokens.Operator = "botd_ANOTHER" })
	if one.login(`{"token":"`+viewerToken+`"}`).Name == other.login(`{"token":"`+viewerToken+`"}`).Name {
		t.Error("two daemons on one host: want cookies of different names")
	}
}

// These are grants of package auth.
const (
	sessionIdle  = 12 * time.Hour
	sessionLimit = 7 * 24 * time.Hour
	linkLife     = 10 * time.Minute
	longestDelay = 30 * time.Second
)

func TestASessionEndsWhenItRestsOrGrowsOld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		asked := func(cookie *http.Cookie) int {
			code, _ := d.ask(http.MethodGet, "/api/v1/session", "", with(cookie))
			return code
		}
		rests := d.login(`{"token":"` + testToken + `"}`)
		time.Sleep(sessionIdle)
		if code := asked(rests); code != 200 {
			t.Errorf("after %s: want 200, have %d", sessionIdle, code)
		}
		time.Sleep(sessionIdle + time.Second)
		if code := asked(rests); code != 401 {
			t.Errorf("after it rested: want 401, have %d", code)
		}
		busy := d.login(`{"token":"` + testToken + `"}`)
		for began := time.Now(); time.Since(began) < sessionLimit; time.Sleep(time.Hour) {
			if code := asked(busy); code != 200 {
				t.Fatalf("after %s of use: want 200, have %d", time.Since(began), code)
			}
		}
		time.Sleep(time.Hour)
		if code := asked(busy); code != 401 {
			t.Errorf("after %s: want 401, have %d", sessionLimit, code)
		}
	})
}

func TestALinkLogsInOnceWithinTenMinutes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		link, late := d.server.NewLink(), d.server.NewLink()
		if !link.Ends.Equal(time.Now().Add(linkLife).UTC()) || len(link.Code) < 26 {
			t.Errorf("want a long code that ends in %s, have %+v", linkLife, link)
		}
		if cookie := d.login(`{"code":"` + link.Code + `"}`); cookie == nil {
			t.Fatal("want to be logged in")
		} else if code, text := d.ask(http.MethodGet, "/api/v1/session", "", with(cookie)); code != 200 || !strings.Contains(text, "operator") {
			t.Errorf("want an operator, have %d %s", code, text)
		}
		if d.login(`{"code":"`+link.Code+`"}`) != nil {
			t.Error("a second time: want it refused")
		}
		time.Sleep(linkLife + time.Second)
		if d.login(`{"code":"`+late.Code+`"}`) != nil {
			t.Error("too late: want it refused")
		}
		if d.login(`{"code":"","token":""}`) != nil {
			t.Error("nothing given: want it refused")
		}
	})
}

func TestWrongTokensAreDelayedWithoutLockingOutTheRightOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		try := func(token string) int {
			code, _ := d.ask(http.MethodGet, "/api/v1/status", "", bearer(token))
			return code
		}
		for i := range 8 {
			delay := min(longestDelay, time.Second<<i)
			if code := try("wrong"); code != 401 {
				t.Fatalf("wrong token %d: want 401, have %d", i, code)
			}
			time.Sleep(delay - time.Millisecond)
			if code := try("wrong"); code != 429 {
				t.Errorf("before %s: want 429, have %d", delay, code)
			}
			if code := try(testToken); code != 200 {
				t.Errorf("the right token meanwhile: want 200, have %d", code)
			}
			time.Sleep(time.Millisecond)
		}
	})
}

func TestSocketIsAccessibleOnlyToItsOwner(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	path := filepath.Join(directory, SocketName)
	if err := os.WriteFile(path, nil, 0o644); err != nil { // left by a crash
		t.Fatal(err)
	}
	listener, err := ListenSocket(directory)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || info.Mode()&os.ModeSocket == 0 {
		t.Errorf("want a socket of mode 0600, have %v, %v", info.Mode(), err)
	}
	if left, err := os.ReadDir(directory); err != nil || len(left) != 1 {
		t.Errorf("want the socket alone, have %v, %v", left, err)
	}
	if _, err := ListenSocket(directory); err == nil || !strings.Contains(err.Error(), "another botd") {
		t.Errorf("while another answers: want it refused, have %v", err)
	}
	d := newDesk(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.server.Serve(ctx, listener) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn,
		error) {
		return net.Dial("unix", path)
	}}}
	response, err := client.Post("http://botd/api/v1/risk/halt", "application/json", strings.NewReader(`{"level":"pause","reason":"over the socket"}`))
	if err != nil {
		t.Fatal(err)
	}
	if response.Body.Close(); response.StatusCode != 202 || len(d.sent) != 1 || d.sent[0].Audit.Actor != "socket" || d.sent[0].Audit.From != "unix socket" {
		t.Errorf("want a halt without a token, and who asked, have %d, %+v", response.StatusCode, d.sent)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("afterwards: want no file, have %v", err)
	}
}

func TestTLSIsServedWithACertificate(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	access := Access{Certificate: filepath.Join(directory, "cert.pem"), Key: filepath.Join(directory, "key.pem")}
	pool := certify(t, access)
	listener, err := Listen("127.0.0.1:0", access)
	if err != nil {
		t.Fatal(err)
	}
	d := newDeskWith(t, func(c *Config) { c.Access = access })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.server.Serve(ctx, listener) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: pool}}}
	response, err := client.Get("https://" + listener.Addr().String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	if response.Body.Close(); response.StatusCode != 200 {
		t.Errorf("want 200, have %d", response.StatusCode)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// certify writes a certificate for 127.0.0.1 and returns a pool that trusts it.
func certify(t *testing.T, access Access) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "botd"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter:    time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
	if err := errors.Join(os.WriteFile(access.Certificate, text, 0o600), os.WriteFile(access.Key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY",
		Bytes: private}), 0o600)); err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	return pool
}

func TestAnUnchangedAnswerIsNotSentAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	first := d.answer(http.MethodGet, "/api/v1/risk/limits", "", bearer(viewerToken))
	again := d.answer(http.MethodGet, "/api/v1/risk/limits", "", func(r *http.Request) {
		bearer(viewerToken)(r)
		r.Header.Set("If-None-Match", first.Header().Get("ETag"))
	})
	if again.Code != 304 || again.Body.Len() != 0 {
		t.Errorf("want 304 and nothing, have %d %s", again.Code, again.Body)
	}
}

func TestPagesAreJoinedByTheirCursors(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	v := newVisitor(t, d)
	v.live()
	var ids []string
	after := ""
	for range 100 {
		path := "/api/v1/notices?limit=3"
		if after != "" {
			path += "&after=" + after
		}
		page := decoded[List[view.Notice]](t, d.want(200, path))
		for _, n := range page.Items {
			ids = append(ids, n.ID)
		}
		if page.Next == nil {
			break
		}
		after = *page.Next
	}
	all := decoded[List[view.Notice]](t, d.want(200, "/api/v1/notices?limit=1000"))
	var want []string
	for _, n := range all.Items {
		want = append(want, n.ID)
	}
	if !slices.Equal(want, ids) || len(want) < 10 {
		t.Errorf("want every notice once, newest first: %v, have %v", want, ids)
	}
}

func TestMetricsNeedATokenWhereThatIsConfigured(t *testing.T) {
	t.Parallel()
	for _, needed := range []bool{false, true} {
		d := newDeskWith(t, func(c *Config) {
			c.Access.MetricsToken = needed
			c.Metrics.Registry.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "botd_account_balance_usdt_of_a_test", Help: "Money."}))
		})
		want := http.StatusOK
		if needed {
			want = http.StatusUnauthorized
		}
		if code, _ := d.ask(http.MethodGet, "/metrics", "", func(*http.Request) {}); code != want {
			t.Errorf("needed %t, without a token: want %d, have %d", needed, want, code)
		}
		if _, text := d.ask(http.MethodGet, "/metrics", "", func(*http.Request) {}); strings.Contains(text, "_usdt") {
			t.Errorf("needed %t, without a token: want no money, have %s", needed, text)
		}
		if code, text := d.ask(http.MethodGet, "/metrics", "", bearer(viewerToken)); code != http.StatusOK ||
			!strings.Contains(text, "botd_build_info") || !strings.Contains(text, "botd_account_balance_usdt_of_a_test") {
			t.Errorf("needed %t, with the viewer's token: want the metrics, have %d", needed, code)
		}
		if code, _ := d.ask(http.MethodGet, "/healthz", "", func(*http.Request) {}); code == http.StatusUnauthorized {
			t.Errorf("needed %t: want health without a token", needed)
		}
	}
}

// TestMetricsAtAnAddressOfTheirOwnNeedTheirToken calls the address of the metrics with their token, with
// others, and for anything else.
func TestMetricsAtAnAddressOfTheirOwnNeedTheirToken(t *testing.T) {
	t.Parallel()
	const token = "a token of metrics, long enough"
	d := newDeskWith(t, func(c *Config) {
		c.Metrics.Registry.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "botd_account_balance_usdt_of_a_test", Help: "Money."}))
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.server.ServeMetrics(ctx, listener, token) }()
	for _, c := range []struct {
		path, token string
		want        int
	}{
		{"/metrics", token, http.StatusOK},
		{"/metrics", "", http.StatusUnauthorized},
		{"/metrics", viewerToken, http.StatusUnauthorized},
		{"/api/v1/status", token, http.StatusNotFound},
		{"/healthz", token, http.StatusNotFound},
		{"/", token, http.StatusNotFound},
	} {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+listener.Addr().String()+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+c.token)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if challenge := response.Header.Get("WWW-Authenticate"); (challenge == "Bearer") != (c.want == http.StatusUnauthorized) {
			t.Errorf("%s with token %q: which credential is wanted: have %q", c.path, c.token, challenge)
		}
		if money := strings.Contains(string(text), "_usdt"); err != nil || response.StatusCode != c.want || money != (c.want == http.StatusOK) {
			t.Errorf("%s with token %q: want %d, have %d, money %t, %v", c.path, c.token, c.want, response.StatusCode, money, err)
		}
	}
	stop()
	http.DefaultClient.CloseIdleConnections()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// The socket's directory may have been removed, too. Once the server has closed it, it stays removed.
func TestASocketWhoseFileIsTakenAwayIsMadeAgain(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "data")
	path := filepath.Join(directory, SocketName)
	if err := os.MkdirAll(filepath.Join(path, "occupied"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := ListenSocket(directory); err == nil || !strings.HasPrefix(err.Error(), "listen "+path+": ") {
		t.Errorf("what cannot be removed in its place: want an error, have %v", err)
	}
	if err := errors.Join(os.RemoveAll(path)); err != nil {
		t.Fatal(err)
	}
	listener, err := ListenSocket(directory)
	if err != nil {
		t.Fatal(err)
	}
	s := listener.(*socket)
	reached := func() bool {
		connection, err := net.Dial("unix", path)
		if err != nil {
			return false
		}
		return connection.Close() == nil
	}
	for _, away := range []string{path, directory} {
		if err := os.RemoveAll(away); err != nil {
			t.Fatal(err)
		}
		if reached() {
			t.Fatal("want nothing there")
		}
		s.renew()
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 || !reached() {
			t.Errorf("want a socket of mode 0600 again, have %v, %v", info, err)
		}
		if parent, err := os.Stat(directory); err != nil || parent.Mode() != os.ModeDir|0o700 && away == directory {
			t.Errorf("want its directory for its owner alone, have %v, %v", parent.Mode(), err)
		}
	}
	before := s.current()
	if s.renew(); s.current() != before {
		t.Error("want one that is there left")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("closing without its file: %v", err)
	}
	if s.renew(); reached() {
		t.Error("closed: want it away")
	}
}
