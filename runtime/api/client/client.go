// Package client queries a running daemon over its API: through its unix socket, or over TCP with a token.
package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"botd/configs"
	"botd/internal/failure"
	"botd/runtime/api"
	"botd/runtime/api/auth"
)

// TokenFile is the environment variable that names the file of a token, for a daemon over TCP. A
// flag would be visible in the list of processes.
const TokenFile = "BOTD_TOKEN_FILE"

// Search configures how a daemon is found and called.
type Search struct {
	Socket      string                             // the unix socket; if set, nothing else is tried
	Address     string                             // HOST:PORT or a URL; if set, no socket is tried
	Listen      string                             // the address that is configured
	Directories []string                           // of the modes, the likeliest first: each may have a socket and tokens
	TokenFile   string                             // of a daemon over TCP; empty for the one in its directory
	Timeout     time.Duration                      // of an answer, when it is longer than answerWithin
	Trace       func(format string, values ...any) // may be nil
}

// Daemon is the running botd, as a client reaches it.
type Daemon struct {
	Where  string // for people
	base   string // of its URLs
	token  string // over TCP
	client *http.Client
	Within time.Duration // of an answer
	trace  func(format string, values ...any)
}

// answerWithin bounds each request: a daemon that hangs must not hang its caller.
const answerWithin = 10 * time.Second

// longestAnswer bounds the memory that an answer takes.
const longestAnswer = 16 << 20

// Find finds the running daemon: through the unix socket in a data directory, which is for its
// owner alone and needs no token; otherwise at the TCP address, with a token.
func (s Search) Find(ctx context.Context) (*Daemon, error) {
	if s.Socket != "" {
		if d := s.overSocket(s.Socket); d != nil {
			return d, nil
		}
		return nil, failure.New(failure.Unavailable, "is botd running? the socket is data_dir/MODE/"+api.SocketName, "no daemon answers on %s", s.Socket)
	}
	if s.Address == "" {
		for _, directory := range s.Directories {
			if d := s.overSocket(filepath.Join(directory, api.SocketName)); d != nil {
				return d, nil
			}
		}
	}
	return s.overTCP(ctx)
}

// daemon follows no redirect, which could turn a change into a read and lead the token elsewhere.
func (s Search) daemon(where, base string, transport http.RoundTripper) *Daemon {
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &Daemon{Where: where, base: base, client: client, Within: max(answerWithin, s.Timeout), trace: s.Trace}
}

// overSocket returns the daemon behind a unix socket, or nil.
func (s Search) overSocket(path string) *Daemon {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return nil
	}
	_ = conn.Close() // it only showed that a process listens
	return s.daemon(path, "http://botd", &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}})
}

// overTCP returns the daemon at an address. Its token is the one that the daemon accepts: a data
// directory may hold those of other modes.
func (s Search) overTCP(ctx context.Context) (*Daemon, error) {
	address := cmp.Or(s.Address, s.Listen)
	if address == configs.ListenOff {
		return nil, failure.New(failure.Unavailable, "is botd running? botd run starts it; -c selects another configuration",
			"no daemon answers on %s, and listen is off", filepath.Join(s.Directories[0], api.SocketName))
	}
	d := s.daemon(withoutCredentials(address), "http://"+address, http.DefaultTransport)
	if strings.Contains(address, "://") {
		d.base = strings.TrimSuffix(address, "/")
	}
	if s.TokenFile != "" {
		token, err := configs.ReadToken(TokenFile, s.TokenFile)
		if err != nil {
			return nil, failure.Wrap(failure.Credentials, err)
		}
		d.token = token
		return d, d.private()
	}
	health, _, err := d.Send(ctx, http.MethodGet, "/healthz", nil)
	if err != nil {
		return nil, err
	}
	var reported struct{ Mode string }
	_ = json.Unmarshal(health, &reported) // without a mode no token is found, which the next answer shows
	for _, directory := range s.Directories {
		if filepath.Base(directory) != reported.Mode {
			continue
		}
		text, err := os.ReadFile(filepath.Join(directory, auth.OperatorFile))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, failure.Wrap(failure.Credentials, err)
		}
		d.token = strings.TrimSpace(string(text))
		break
	}
	return d, d.private()
}

// withoutCredentials returns an address without the name and password that a URL may contain.
func withoutCredentials(address string) string {
	end := strings.LastIndexByte(address, '@')
	if end < 0 {
		return address
	}
	scheme, _, found := strings.Cut(address, "://")
	if !found {
		return "..." + address[end:]
	}
	return scheme + "://..." + address[end:]
}

// private refuses to send a token over a network unencrypted.
func (d *Daemon) private() error {
	at, err := url.Parse(d.base)
	if err != nil {
		return failure.Usagef("address %q cannot be queried", d.Where)
	}
	if host := at.Hostname(); d.token == "" || at.Scheme == "https" || host == "localhost" || net.ParseIP(host).IsLoopback() {
		return nil
	}
	return failure.Usagef("a token would be sent to %s unencrypted\nhint: use https://, or an ssh tunnel to the daemon's own address", d.Where)
}

// Call sends a request to the daemon.
func (d *Daemon) Call(ctx context.Context, method, path string, body any) ([]byte, error) {
	var reader io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		reader = bytes.NewReader(text)
	}
	answer, status, err := d.Send(ctx, method, path, reader)
	if err != nil || status/100 == 2 {
		return answer, err
	}
	var problem api.Problem
	_ = json.Unmarshal(answer, &problem) // an answer that is not a problem document shows its status alone
	code, hint := failure.Negative, ""
	switch status {
	case http.StatusUnauthorized:
		code = failure.Credentials
		hint = "this botd runs on another configuration: go to its directory, name it by -c DIR, or name the file of a token in " + TokenFile
	case http.StatusForbidden:
		code = failure.Credentials
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		hint = "redirects are not followed: give --url the final address"
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		code = failure.Temporary
	}
	return nil, failure.New(code, hint, "the daemon answered %d %s: %s", status, http.StatusText(status), problem.Detail)
}

// Send sends a request and returns its answer, regardless of the status.
func (d *Daemon) Send(ctx context.Context, method, path string, body io.Reader) (answer []byte, status int, err error) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, d.Within)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, d.base+path, body)
	if err != nil {
		return nil, 0, failure.Usagef("address %q cannot be queried", d.Where)
	}
	if d.token != "" {
		request.Header.Set("Authorization", "Bearer "+d.token)
	}
	response, err := d.client.Do(request)
	if err != nil {
		return nil, 0, failure.New(failure.Unavailable, "is botd running? botd run starts it; -c and --listen select another one",
			"no daemon answers on %s", d.Where)
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(response.Body, longestAnswer+1))
	if err != nil {
		return nil, 0, failure.New(failure.Unavailable, "", "read the daemon's answer: %w", err)
	}
	if len(answer) > longestAnswer {
		return nil, 0, failure.New(failure.Unavailable, "", "the answer of %s to %s is longer than %d MiB", d.Where, path, longestAnswer>>20)
	}
	if d.trace != nil {
		d.trace("%s %s on %s: %d, %d bytes in %s", method, path, d.Where, response.StatusCode, len(answer), time.Since(began).Round(time.Microsecond))
	}
	return answer, response.StatusCode, nil
}

// Ask calls the daemon and reads its answer as a T.
func Ask[T any](ctx context.Context, d *Daemon, method, path string, body any) (out T, raw json.RawMessage, err error) {
	raw, err = d.Call(ctx, method, path, body)
	if err != nil {
		return out, nil, err
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		return out, nil, failure.New(failure.Unavailable, "does that address belong to botd?", "the answer of %s is not botd's", d.Where)
	}
	return out, raw, nil
}

// Page is a list the API answers.
type Page[T any] struct {
	Items []T `json:"items"`
}
