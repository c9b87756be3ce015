package ops

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"botd/exchange"
	"botd/reconcile"
	"botd/runtime/engine"
)

// Server serves metrics, health and the API on loopback.
type Server struct {
	board    *Board
	metrics  *Metrics
	token    string
	control  Control
	listener net.Listener
}

// Control is how the server reaches the engine.
type Control struct {
	Send   func(context.Context, engine.Event) error // returns when what the engine recorded of it is durable
	Read   func(context.Context, func()) error       // calls while the engine is at rest
	Engine Engine                                    // only within Read
}

// Engine is what the server reads of the engine.
type Engine interface {
	Status() engine.Status
	Preview(level string, scope reconcile.Scope) []engine.Step
	Quarantines() []engine.Quarantine
	Resolving(key exchange.SymbolKey, adopt bool, reason string) (engine.Resolution, error)
}

// maxRequest bounds a request's body.
const maxRequest = 64 << 10

// Listen takes the address. An address that is not loopback is refused: there
// is no TLS here.
func Listen(address string, board *Board, metrics *Metrics, token string, control Control) (*Server, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("listen %q: not host:port", address)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("listen %s: only loopback addresses are served, since there is no TLS here\nhint: listen: 127.0.0.1:8420, and an ssh tunnel or a proxy with TLS in front", address)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen %s: %w\nhint: another program, maybe another botd, has this address; set listen in botd.yaml or --listen", address, err)
	}
	return &Server{board, metrics, token, control, listener}, nil
}

// Address is where the server listens.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Serve answers until the context ends.
func (s *Server) Serve(ctx context.Context) error {
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: log.New(io.Discard, "", 0)} // a client's mistakes are no lines of botd's log
	ctx, cancel := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		limited, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if server.Shutdown(limited) != nil {
			server.Close()
		}
	}()
	err := server.Serve(s.listener)
	cancel() // it may have failed by itself
	<-stopped
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Handler routes every path.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	exposition := promhttp.HandlerFor(s.metrics.Registry, promhttp.HandlerOpts{})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		s.metrics.Ready(s.board.Checks())
		exposition.ServeHTTP(w, r)
	})
	mux.HandleFunc("GET /healthz", s.healthz)
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.HandleFunc("GET /api/v1/status", s.json(func() any { return s.board.statusJSON() }))
	mux.HandleFunc("GET /api/v1/orders", s.json(func() any { return list(s.board.ordersJSON()) }))
	mux.HandleFunc("GET /api/v1/intents", s.json(func() any { return list(s.board.intentsJSON()) }))
	mux.HandleFunc("GET /api/v1/positions", s.json(func() any { return list(s.board.positionsJSON()) }))
	limits := s.json(func() any { return list(s.board.limitsJSON()) })
	mux.HandleFunc("GET /api/v1/limits", limits)
	mux.HandleFunc("GET /api/v1/risk/limits", limits)
	for _, prefix := range []string{"POST /api/v1/risk/", "POST /api/v1/"} {
		mux.HandleFunc(prefix+"halt", s.halt)
		mux.HandleFunc(prefix+"rearm", s.rearm)
	}
	mux.HandleFunc("GET /api/v1/quarantines", s.quarantines)
	mux.HandleFunc("POST /api/v1/resolve", s.resolve)
	protection := http.NewCrossOriginProtection()
	return s.guard(protection.Handler(mux), mux)
}

// guard lets only requests in that name a loopback host, so that no web page can
// reach the API by a name it controls, and counts them.
func (s *Server) guard(next http.Handler, mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		ip := net.ParseIP(strings.Trim(host, "[]"))
		if host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			problem(w, http.StatusMisdirectedRequest, "the Host header names no loopback address")
			return
		}
		began, recorder := time.Now(), &statusWriter{ResponseWriter: w, status: http.StatusOK}
		r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
		next.ServeHTTP(recorder, r)
		_, handler := mux.Handler(r)
		if handler == "" {
			handler = other // no route, so no label made of what was asked for
		}
		s.metrics.httpRequests.WithLabelValues(handler, strconv.Itoa(recorder.status)).Inc()
		s.metrics.httpSeconds.WithLabelValues(handler).Observe(time.Since(began).Seconds())
	})
}

type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Items is a list as the API answers it.
func Items[T any](items []T) any { return list(items) }

func list[T any](items []T) any {
	return struct {
		Schema int `json:"schema"`
		Items  []T `json:"items"`
	}{1, items}
}

func (s *Server) json(value func() any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, value()) }
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	// A client that is gone gets no answer; there is nobody left to tell.
	_ = json.NewEncoder(w).Encode(value)
}

// problem answers an error (RFC 9457).
func problem(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"type": "about:blank", "title": http.StatusText(status), "status": status, "detail": detail})
}

func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	if !s.board.Alive() {
		answer(w, http.StatusServiceUnavailable, map[string]string{"status": "the loop has not beaten for 30 s"})
		return
	}
	answer(w, http.StatusOK, map[string]string{"status": "ok"})
}

func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	checks := s.board.Checks()
	ready := !slices.ContainsFunc(checks, func(c Check) bool { return !c.OK })
	status, word := http.StatusOK, "ready"
	if !ready {
		status, word = http.StatusServiceUnavailable, "not ready"
	}
	body := map[string]any{"status": word}
	if _, verbose := r.URL.Query()["verbose"]; verbose || !ready {
		body["checks"] = checks
	}
	answer(w, status, body)
}

// authorized checks the token of a request that changes something.
func (s *Server) authorized(w http.ResponseWriter, r *http.Request) bool {
	given, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !found || subtle.ConstantTimeCompare([]byte(given), []byte(s.token)) != 1 {
		w.Header().Set("WWW-Authenticate", "Bearer")
		problem(w, http.StatusUnauthorized, "a change needs the token in data_dir: Authorization: Bearer TOKEN")
		return false
	}
	return true
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// shortestToken is the length below which a token file is not whole.
const shortestToken = 20

// Token returns the API token in a data directory, made at the first start. The
// file is for its owner alone.
func Token(directory string) (string, error) {
	path := filepath.Join(directory, "token")
	text, err := os.ReadFile(path)
	if err == nil && len(strings.TrimSpace(string(text))) >= shortestToken {
		if err := os.Chmod(path, 0o600); err != nil {
			return "", fmt.Errorf("keep the API token for its owner alone: %w", err)
		}
		return strings.TrimSpace(string(text)), nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read the API token: %w", err)
	}
	token := "botd_" + rand.Text()
	// A token cut short by a crash is replaced; the new file is never readable by others.
	if err := errors.Join(ignoreMissing(os.Remove(path)), os.WriteFile(path, []byte(token+"\n"), 0o600)); err != nil {
		return "", fmt.Errorf("write the API token: %w", err)
	}
	return token, nil
}
