package client

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"botd/internal/failure"
	"botd/runtime/api"
	"botd/runtime/api/auth"
)

func TestHungDaemonTimesOut(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0") // nobody accepts, as when the daemon is stopped
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	d := &Daemon{Where: "it", base: "http://" + listener.Addr().String(), client: &http.Client{}, Within: 20 * time.Millisecond}
	if _, _, err := d.Send(t.Context(), http.MethodGet, "/healthz", nil); failure.CodeOf(err) != failure.Unavailable {
		t.Errorf("want exit code %d, have %v", failure.Unavailable, err)
	}
}

func TestTokenIsNotSentUnencrypted(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]bool{"http://127.0.0.1:1": true, "http://localhost:1": true, "http://[::1]:1": true,
		"https://bot.example": true, "http://bot.example": false, "http://192.0.2.1:8420": false} {
		d := Daemon{Where: base, base: base, token: "t"}
		if have := d.private() == nil; have != want {
			t.Errorf("%s: want let through %t, have %t", base, want, have)
		}
	}
}

// request is what the daemon of a test received.
type request struct{ method, path, body, authorization string }

// daemon is a server that answers each request alike, and the requests that it received.
type daemon struct {
	*httptest.Server
	got []request
}

func answering(status int, answer string) *daemon {
	d := &daemon{}
	d.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		d.got = append(d.got, request{r.Method, r.URL.RequestURI(), string(body), r.Header.Get("Authorization")})
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	return d
}

// onSocket serves the answer on the unix socket of a new data directory.
func onSocket(t *testing.T, answer string) (directory string) {
	t.Helper()
	directory = t.TempDir()
	listener, err := net.Listen("unix", filepath.Join(directory, api.SocketName))
	if err != nil {
		t.Fatal(err)
	}
	d := answering(http.StatusOK, answer)
	d.Listener = listener
	d.Start()
	t.Cleanup(d.Close)
	return directory
}

// overNetwork serves the answer over TCP.
func overNetwork(t *testing.T, status int, answer string) *daemon {
	t.Helper()
	d := answering(status, answer)
	d.Start()
	t.Cleanup(d.Close)
	return d
}

// written writes a file of mode 600, and returns its path.
func written(t *testing.T, directory, name, text string) string {
	t.Helper()
	path := filepath.Join(directory, name)
	if err := os.MkdirAll(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// failed reports an error with another exit code, or without one of these words.
func failed(t *testing.T, name string, err error, code int, words ...string) {
	t.Helper()
	if err == nil || failure.CodeOf(err) != code {
		t.Errorf("%s: want exit code %d, have %v", name, code, err)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%s: want %q, have %q", name, word, err)
		}
	}
}

// closed returns an address at which nothing listens.
func closed(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

func TestWhichDaemonAnswers(t *testing.T) {
	t.Parallel()
	first, second, none := onSocket(t, "first"), onSocket(t, "second"), t.TempDir()
	network := overNetwork(t, http.StatusOK, `{"mode":"live"}`)
	address := network.Listener.Addr().String()
	for _, c := range []struct {
		name   string
		search Search
		want   string
	}{
		{"the first directory with a socket", Search{Directories: []string{none, second, first}, Listen: address}, "second"},
		{"a named socket, whatever else there is", Search{Socket: filepath.Join(first, api.SocketName), Directories: []string{second}, Address: address},
			"first"},
		{"a named address, although a socket answers", Search{Address: address, Directories: []string{first}}, `{"mode":"live"}`},
		{"the configured address, where no socket answers", Search{Listen: address, Directories: []string{none}}, `{"mode":"live"}`},
		{"a URL with a slash at its end", Search{Address: network.URL + "/", Directories: []string{none}}, `{"mode":"live"}`},
	} {
		d, err := c.search.Find(t.Context())
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		answer, status, err := d.Send(t.Context(), http.MethodGet, "/api/v1/status?x=1", nil)
		if string(answer) != c.want || status != http.StatusOK || err != nil {
			t.Errorf("%s: want %s, have %q, %d, %v", c.name, c.want, answer, status, err)
		}
	}
	if last := network.got[len(network.got)-1]; last.path != "/api/v1/status?x=1" {
		t.Errorf("want the path after the URL without a second slash, have %s", last.path)
	}
}

func TestWhyNoDaemonIsFound(t *testing.T) {
	t.Parallel()
	none, nobody := t.TempDir(), closed(t)
	loose := written(t, t.TempDir(), "token", "secretTOKEN")
	if err := os.Chmod(loose, 0o644); err != nil {
		t.Fatal(err)
	}
	private := written(t, t.TempDir(), "token", "secretTOKEN")
	inaccessible := filepath.Join(t.TempDir(), "live") // its token is a directory
	if err := os.MkdirAll(filepath.Join(inaccessible, auth.OperatorFile), 0o700); err != nil {
		t.Fatal(err)
	}
	live := overNetwork(t, http.StatusOK, `{"mode":"live"}`)
	for _, c := range []struct {
		name   string
		search Search
		code   int
		words  []string
	}{
		{"a named socket is the only attempt", Search{Socket: filepath.Join(none, "x.sock"), Directories: []string{onSocket(t, "")}, Address: live.URL}, 69,
			[]string{"no daemon answers on " + filepath.Join(none, "x.sock"), "hint: is botd running? the socket is data_dir/MODE/botd.sock"}},
		{"no socket, and no address to try", Search{Listen: "off", Directories: []string{none, "other"}}, 69,
			[]string{"no daemon answers on " + filepath.Join(none, "botd.sock") + ", and listen is off", "hint: is botd running? botd run starts it"}},
		{"nothing at the address", Search{Listen: nobody, Directories: []string{none}}, 69, []string{"no daemon answers on " + nobody, "--listen"}},
		{"no address", Search{Address: "bad host:1", Directories: []string{none}}, 64, []string{`address "bad host:1" cannot be queried`}},
		{"no address, with a token", Search{Address: "bad host:1", TokenFile: private}, 64, []string{`address "bad host:1" cannot be queried`}},
		{"a file of a token that others can read", Search{Address: live.URL, TokenFile: loose}, 77, []string{TokenFile, loose}},
		{"no file of a token", Search{Address: live.URL, TokenFile: filepath.Join(none, "token")}, 77, []string{TokenFile}},
		{"a token for a network in the clear", Search{Address: "192.0.2.1:8420", TokenFile: private}, 64,
			[]string{"192.0.2.1:8420 unencrypted", "hint: use https://"}},
		{"a token in the data directory that cannot be read", Search{Address: live.URL, Directories: []string{inaccessible}}, 77, []string{auth.OperatorFile}},
	} {
		d, err := c.search.Find(t.Context())
		failed(t, c.name, err, c.code, c.words...)
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: want no token in the error, have %q", c.name, err)
		}
		if d != nil && c.code != 64 {
			t.Errorf("%s: want no daemon, have %+v", c.name, d)
		}
	}
}

// TestTheTokenIsThatOfTheDaemonsMode covers tokens of three modes, of which the daemon accepts one.
func TestTheTokenIsThatOfTheDaemonsMode(t *testing.T) {
	t.Parallel()
	data, other := t.TempDir(), t.TempDir()
	var directories []string
	for _, mode := range []string{"demo", "paper", "live"} {
		directories = append(directories, filepath.Join(data, mode))
		written(t, filepath.Join(data, mode), auth.OperatorFile, mode+"TOKEN\n")
	}
	written(t, filepath.Join(other, "paper"), auth.OperatorFile, "second")
	directories = append(directories, filepath.Join(other, "paper"))
	named := written(t, t.TempDir(), "token", "namedTOKEN\n")
	for _, c := range []struct {
		health, file string
		directories  []string
		want         string
	}{
		{`{"mode":"paper"}`, "", directories, "Bearer paperTOKEN"},
		{`{"mode":"live"}`, "", directories, "Bearer liveTOKEN"},
		{`{"mode":"testnet"}`, "", directories, ""},
		{`{"mode":"live"}`, "", []string{filepath.Join(data, "missing", "live")}, ""},
		{"<html>", "", directories, ""},
		{`{"mode":"paper"}`, named, directories, "Bearer namedTOKEN"},
	} {
		server := overNetwork(t, http.StatusOK, c.health)
		d, err := Search{Address: server.URL, Directories: c.directories, TokenFile: c.file}.Find(t.Context())
		if err != nil {
			t.Errorf("%s: %v", c.health, err)
			continue
		}
		if _, err := d.Call(t.Context(), http.MethodGet, "/api/v1/status", nil); err != nil {
			t.Errorf("%s: %v", c.health, err)
		}
		for _, r := range server.got {
			if want := c.want; r.path == "/healthz" && r.authorization != "" || r.path != "/healthz" && r.authorization != want {
				t.Errorf("%s: want %q for all but the health check, have %+v", c.health, want, r)
			}
		}
	}
}

// TestExitCodesOfRefusals expects the exit codes of docs/cli.md.
func TestExitCodesOfRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status, want int
		body         string
		words        []string
	}{
		{400, 1, `{"detail":"reason is missing"}`, []string{"the daemon answered 400 Bad Request: reason is missing"}},
		{401, 77, `{"detail":"no such token"}`, []string{"401 Unauthorized: no such token", "hint: this botd runs on another configuration", TokenFile}},
		{403, 77, `{"detail":"role viewer"}`, []string{"403 Forbidden: role viewer"}},
		{404, 1, `<html>not found</html>`, []string{"the daemon answered 404 Not Found: "}},
		{409, 1, `{"detail":"halted"}`, []string{"409 Conflict: halted"}},
		{429, 75, `{"detail":"slow down"}`, []string{"429 Too Many Requests: slow down"}},
		{500, 1, `{"detail":"x"}`, []string{"500 Internal Server Error: x"}},
		{503, 75, `{"detail":"starting"}`, []string{"503 Service Unavailable: starting"}},
	} {
		d, err := Search{Address: overNetwork(t, c.status, c.body).URL}.Find(t.Context())
		if err != nil {
			t.Errorf("%d: %v", c.status, err)
			continue
		}
		answer, err := d.Call(t.Context(), http.MethodPost, "/api/v1/halt", nil)
		failed(t, c.words[0], err, c.want, c.words...)
		if hinted := strings.Contains(err.Error(), "hint:"); hinted != (c.status == 401) || answer != nil {
			t.Errorf("%d: want a hint for a refused token alone and no answer, have %q, %q", c.status, err, answer)
		}
	}
}

func TestAnswersAreReadAsTheirType(t *testing.T) {
	t.Parallel()
	server := overNetwork(t, http.StatusCreated, `{"items":[7,8]}`)
	d, err := Search{Address: server.URL}.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	page, raw, err := Ask[Page[int]](t.Context(), d, http.MethodPut, "/api/v1/x", map[string]string{"reason": "<night>"})
	if err != nil || !slices.Equal(page.Items, []int{7, 8}) || string(raw) != `{"items":[7,8]}` {
		t.Errorf("want 7 and 8, have %+v, %s, %v", page, raw, err)
	}
	var sent map[string]string
	got := server.got[len(server.got)-1]
	if err := json.Unmarshal([]byte(got.body), &sent); err != nil || got.method != "PUT" || sent["reason"] != "<night>" {
		t.Errorf("want the reason sent by PUT, have %+v, %v", got, err)
	}
	if _, _, err := Ask[Page[int]](t.Context(), d, http.MethodGet, "/", nil); err != nil || server.got[len(server.got)-1].body != "" {
		t.Errorf("want a request without a body, have %+v, %v", server.got[len(server.got)-1], err)
	}
	_, raw, err = Ask[Page[string]](t.Context(), d, http.MethodGet, "/", nil)
	failed(t, "another type", err, 69, "the answer of "+server.URL+" is not botd's", "hint: does that address belong to botd?")
	if raw != nil {
		t.Errorf("want nothing of an answer that is not botd's, have %s", raw)
	}
	sentBefore := len(server.got)
	if _, err := d.Call(t.Context(), http.MethodPost, "/", func() {}); err == nil || len(server.got) != sentBefore {
		t.Errorf("want a body that is no JSON refused before it is sent, have %v", err)
	}
	server.Close()
	_, _, err = Ask[int](t.Context(), d, http.MethodGet, "/", nil)
	failed(t, "a daemon that ended", err, 69, "no daemon answers on "+server.URL)
}

func TestVerbosePrintsEachRequestWithoutTheToken(t *testing.T) {
	t.Parallel()
	var lines []string
	server := overNetwork(t, http.StatusOK, "12345")
	file := written(t, t.TempDir(), "token", "secretTOKEN")
	trace := func(format string, values ...any) { lines = append(lines, fmt.Sprintf(format, values...)) }
	d, err := Search{Address: server.URL, TokenFile: file, Trace: trace}.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.Send(t.Context(), http.MethodGet, "/metrics", nil); err != nil {
		t.Fatal(err)
	}
	want := "GET /metrics on " + server.URL + ": 200, 5 bytes in "
	if len(lines) != 1 || !strings.HasPrefix(lines[0], want) || strings.Contains(lines[0], "secret") {
		t.Errorf("want one line %q, have %q", want, lines)
	}
}

// TestTheLongerOfTwoTimeoutsCounts has --timeout extend the ten seconds of docs/cli.md, not shorten them: it ends the command itself.
func TestTheLongerOfTwoTimeoutsCounts(t *testing.T) {
	t.Parallel()
	directory := onSocket(t, "")
	for given, want := range map[time.Duration]time.Duration{0: 10 * time.Second, time.Second: 10 * time.Second, time.Minute: time.Minute} {
		d, err := Search{Directories: []string{directory}, Timeout: given}.Find(t.Context())
		if err != nil || d.Within != want || d.Where != filepath.Join(directory, api.SocketName) {
			t.Errorf("--timeout %s: want %s, have %+v, %v", given, want, d, err)
		}
	}
}

// TestAnAnswerIsReadWholeOrRefused covers answers around the limit of 16 MiB, and one that breaks off.
func TestAnAnswerIsReadWholeOrRefused(t *testing.T) {
	t.Parallel()
	const most = 16 << 20
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &n)
		if r.URL.Query().Has("torn") {
			w.Header().Set("Content-Length", strconv.Itoa(n+1))
		}
		_, _ = w.Write(make([]byte, n))
	}))
	defer server.Close()
	d, err := Search{Address: server.URL}.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if answer, status, err := d.Send(t.Context(), http.MethodGet, fmt.Sprintf("/%d", most), nil); len(answer) != most || status != 200 || err != nil {
		t.Errorf("want %d bytes, have %d, %d, %v", most, len(answer), status, err)
	}
	_, status, err := d.Send(t.Context(), http.MethodGet, fmt.Sprintf("/%d", most+1), nil)
	failed(t, "one byte more", err, 69, "longer than 16 MiB")
	if status != 0 {
		t.Errorf("want no status, have %d", status)
	}
	answer, status, err := d.Send(t.Context(), http.MethodGet, "/9?torn", nil)
	failed(t, "torn", err, 69, "read the daemon's answer: unexpected EOF")
	if status != 0 || answer != nil {
		t.Errorf("want nothing of a torn answer, have %q, %d", answer, status)
	}
}

// A halt that followed a redirect would become a GET, and the token would go to any address in the answer, even unencrypted.
func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	elsewhere := overNetwork(t, http.StatusOK, `{}`)
	file := written(t, t.TempDir(), "token", "secretTOKEN")
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, status))
		defer server.Close()
		d, err := Search{Address: server.URL, TokenFile: file}.Find(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, err = d.Call(t.Context(), http.MethodPost, "/api/v1/halt", map[string]string{"reason": "night"})
		failed(t, "redirect", err, 1, fmt.Sprintf("the daemon answered %d %s", status, http.StatusText(status)), "hint: redirects are not followed: give --url")
	}
	if len(elsewhere.got) > 0 {
		t.Errorf("want nothing sent elsewhere, have %+v", elsewhere.got)
	}
}

// TestThePasswordOfAURLIsNotShown covers a password for a proxy in front of the daemon.
func TestThePasswordOfAURLIsNotShown(t *testing.T) {
	t.Parallel()
	_, err := Search{Address: "http://user:secretWORD@" + closed(t)}.Find(t.Context())
	failed(t, "nothing listens", err, 69, "no daemon answers on http://...@127.0.0.1:")
	_, err = Search{Address: "user:secretWORD@bad host"}.Find(t.Context())
	failed(t, "no URL", err, 64, `address "...@bad host" cannot be queried`)
}
