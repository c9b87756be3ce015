// Package signals accepts trading signals over HTTP, each one once, in time, and authenticated by a token.
//
// It is a server of its own, so that only this one path is reachable from elsewhere,
// and not the API. The token may be in the body, because TradingView cannot send
// headers; it is never in the address. A signal is answered once it is durable, and
// recognized when it is sent again.
package signals

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"botd/internal/inbound"
	"botd/reconcile/record"
	"botd/runtime"
	"botd/runtime/engine"
	"botd/strategy"
)

// Path is the only path.
const Path = "/signal"

// Bounds.
const (
	maxBody      = 8 << 10
	engineWithin = 5 * time.Second
	answerWithin = 15 * time.Second
	perSecond    = 2 // signals, after burst of them
	burst        = 20
	receptions   = 3 // attempts to deliver a signal while its strategy's memory changes
	wrongBurst   = 5 // wrong tokens, then one a second
)

// Results of a request, the values of a metric's label.
const (
	Taken       = "taken"
	Repeated    = "repeated"
	Late        = "late" // or superseded, or from the future
	Refused     = "refused"
	Malformed   = "malformed"
	Wrong       = "wrong_token"
	Limited     = "limited"
	Unavailable = "unavailable"
)

// Results are all of them.
var Results = []string{Taken, Repeated, Late, Refused, Malformed, Wrong, Limited, Unavailable}

// Driver passes events to the engine.
type Driver interface {
	Send(ctx context.Context, event engine.Event) error
}

// Config configures a server.
type Config struct {
	Token   string
	Driver  Driver
	Receive func(*engine.Reception)      // has a strategy answer off the engine, in time
	Symbol  func(strategy string) string // the strategy's symbol; empty for an unknown strategy
	Count   func(result string)
	Record  func(strategy string, s *strategy.Signal) // an accepted signal
}

// Server accepts signals.
type Server struct {
	config Config
	token  [32]byte
	all    *rate.Limiter
	wrong  *rate.Limiter
}

// shortestToken is the length below which a token could be guessed.
const shortestToken = 16

// New returns a server.
func New(config Config) (*Server, error) {
	if len(config.Token) < shortestToken {
		return nil, errors.New("the token of signals is shorter than 16 characters\nhint: openssl rand -hex 24 makes one")
	}
	return &Server{config: config, token: sha256.Sum256([]byte(config.Token)), all: rate.NewLimiter(perSecond, burst),
		wrong: rate.NewLimiter(1, wrongBurst)}, nil
}

// Serve answers until the context ends.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	return inbound.Serve(ctx, inbound.NewServer(s, answerWithin), func() {}, listener)
}

// Answer is the response to a sender.
type Answer struct {
	Schema   int    `json:"schema"`
	Result   string `json:"result"`
	Strategy string `json:"strategy,omitempty"`
	ID       string `json:"id,omitempty"`
	Detail   string `json:"detail,omitempty"`
}

// ServeHTTP accepts one signal.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path != Path:
		http.NotFound(w, r)
		return
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		s.answer(w, http.StatusMethodNotAllowed, Answer{Result: Malformed, Detail: "signals are sent by POST"})
		return
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		s.answer(w, http.StatusRequestEntityTooLarge, Answer{Result: Malformed, Detail: "the body is longer than 8 KiB, or ends early"})
		return
	}
	message, err := read(text)
	given, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !bearer && message != nil {
		given = message.Token
	}
	if sum := sha256.Sum256([]byte(given)); subtle.ConstantTimeCompare(sum[:], s.token[:]) != 1 {
		// A sender without the token learns nothing else.
		if !s.wrong.Allow() {
			s.answer(w, http.StatusTooManyRequests, Answer{Result: Wrong})
			return
		}
		s.answer(w, http.StatusUnauthorized,
			Answer{Result: Wrong, Detail: `the token is missing or wrong: "token" in the body, or Authorization: Bearer`})
		return
	}
	inbound.Promote(r.Context(), inbound.Viewer)
	if !s.all.Allow() {
		w.Header().Set("Retry-After", "1")
		s.answer(w, http.StatusTooManyRequests, Answer{Result: Limited, Detail: "more than 2 signals a second"})
		return
	}
	if err != nil {
		s.answer(w, http.StatusBadRequest, Answer{Result: Malformed, Detail: err.Error()})
		return
	}
	s.accept(w, r, message)
}

// accept passes a signal to its strategy.
func (s *Server) accept(w http.ResponseWriter, r *http.Request, m *message) {
	a := Answer{Strategy: m.Strategy, ID: string(m.ID)}
	signal, err := m.signal()
	traded := s.config.Symbol(m.Strategy)
	if err == nil && traded != "" && m.Symbol != "" && plainSymbol(m.Symbol) != plainSymbol(traded) {
		err = errors.New("the strategy trades " + traded + ", not the symbol of the signal")
	}
	if err != nil {
		a.Result, a.Detail = Malformed, err.Error()
		s.answer(w, http.StatusBadRequest, a)
		return
	}
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	given, err := s.give(r.Context(), m, signal, &record.Audit{Actor: "signal", Role: "signal", From: host, Action: "signal", Object: m.Strategy,
		Detail: m.String(), RequestID: string(m.ID)})
	if err != nil {
		// In either case: a signal that is sent again is either taken or known.
		a.Result, a.Detail = Unavailable, "botd does not take signals now: send it again"
		if errors.Is(err, runtime.ErrNotDurable) {
			a.Detail = "it is not written to the journal yet: send it again"
		}
		s.answer(w, http.StatusServiceUnavailable, a)
		return
	}
	result, status := verdict(given.Err)
	a.Result = result
	if given.Err != nil {
		a.Detail = given.Err.Error()
	} else {
		s.config.Record(m.Strategy, &given.Signal)
	}
	s.answer(w, status, a)
}

// give passes a signal to the strategy, off the engine if the strategy answers there, and its
// result to the engine. If the strategy's memory changes in between, the signal is passed again.
func (s *Server) give(ctx context.Context, m *message, signal *strategy.Signal, audit *record.Audit) (given engine.Signal, err error) {
	for range receptions {
		given = engine.Signal{Signal: *signal}
		if err := s.send(ctx, &engine.EventPrepareSignal{Strategy: m.Strategy, Signal: &given}); err != nil {
			return given, err
		}
		if given.Reception != nil {
			s.config.Receive(given.Reception)
		}
		err = s.send(ctx, &engine.EventAudited{Audit: audit, Event: &engine.EventSignal{Strategy: m.Strategy, Signal: &given}})
		if err != nil || !errors.Is(given.Err, engine.ErrMemoryChanged) {
			break
		}
	}
	return given, err
}

func (s *Server) send(ctx context.Context, event engine.Event) error {
	ctx, cancel := context.WithTimeout(ctx, engineWithin)
	defer cancel()
	return s.config.Driver.Send(ctx, event)
}

// verdict translates the engine's answer to a result and a status.
func verdict(err error) (result string, status int) {
	switch {
	case err == nil:
		return Taken, http.StatusOK
	case errors.Is(err, strategy.ErrRepeated):
		return Repeated, http.StatusOK
	case errors.Is(err, strategy.ErrLate), errors.Is(err, strategy.ErrEarly):
		return Late, http.StatusGone
	case errors.Is(err, strategy.ErrSuperseded):
		return Late, http.StatusConflict
	case errors.Is(err, engine.ErrNoStrategy):
		return Refused, http.StatusNotFound
	case errors.Is(err, engine.ErrNotReady), errors.Is(err, engine.ErrFailed), errors.Is(err, engine.ErrStopping),
		errors.Is(err, engine.ErrLate), errors.Is(err, engine.ErrMemoryChanged):
		return Unavailable, http.StatusServiceUnavailable
	}
	return Refused, http.StatusUnprocessableEntity
}

func (s *Server) answer(w http.ResponseWriter, status int, a Answer) {
	s.config.Count(a.Result)
	a.Schema = 1
	text, err := json.Marshal(a)
	if err != nil {
		panic("signals: " + err.Error()) // texts
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // a disconnected sender gets no answer
}
