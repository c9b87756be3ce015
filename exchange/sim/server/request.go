package server

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"botd/docs"
	"botd/exchange"
	"botd/exchange/wire"
	"botd/internal/inbound"
)

// serveHTTP answers a request under the active faults.
func (s *Server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	most := int64(maxBody)
	if r.URL.Path == statePath && r.Method == http.MethodPost && s.control {
		most = maxState
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil {
		p := unreadable(err)
		s.journal(r, body).recordAnswer(p.status, "")
		p.send(w, false)
		return
	}
	if p, found := s.outside(r, body); found {
		p.send(w, false)
		return
	}
	entry := s.journal(r, body)
	cameMS := s.clock.nowMS()
	h := s.faults.inject(r)
	if h.delayMS > 0 && !s.clock.wait(cameMS, h.delayMS, s.stopped) || h.kind == DropRequest {
		entry.recordAnswer(0, h.name())
		panic(http.ErrAbortHandler)
	}
	if h.kind == Status {
		p := refused(h.status, h.status, "a fault of the control interface")
		p.retrySeconds = retryOf(h.status)
		entry.recordAnswer(p.status, h.name())
		p.send(w, false)
		return
	}
	if h.kind == Empty {
		p := success([]string{})
		entry.recordAnswer(p.status, h.name())
		p.send(w, false)
		return
	}
	p := s.answer(r, body, h.hideMS)
	s.variants.rewrite(r, &p)
	if h.kind == DropResponse {
		entry.recordAnswer(0, h.name())
		panic(http.ErrAbortHandler)
	}
	entry.recordAnswer(p.status, h.name())
	p.send(w, h.kind == Truncate)
}

// outside answers a request outside the interface: the control interface, the index and the documents.
func (s *Server) outside(r *http.Request, body []byte) (p reply, found bool) {
	switch path := r.URL.Path; {
	case strings.HasPrefix(path, controlPrefix):
		return s.answerControl(r, body), true
	case path == indexPath:
		return s.index(r), true
	case path == documentPath:
		return s.document(r, docs.OpenAPI), true
	case path == olderPath:
		return s.document(r, docs.OpenAPI30), true
	}
	return p, false
}

// indexPath is the path of the index, which describes the server and links to its documentation.
const indexPath = "/"

func (s *Server) index(r *http.Request) reply {
	if r.Method != http.MethodGet {
		return wrongMethod(r, []string{http.MethodGet})
	}
	return success(struct {
		Name     string `json:"name"`
		Document string `json:"document"`
		Control  bool   `json:"control"`
	}{"botd exchange: a simulated exchange", documentPath, s.control})
}

// documentPath serves the interface's OpenAPI description, and olderPath the same in OpenAPI 3.0
// for older generators.
const (
	documentPath = "/openapi.json"
	olderPath    = "/openapi-3.0.json"
)

func (s *Server) document(r *http.Request, read func() ([]byte, error)) reply {
	if r.Method != http.MethodGet {
		return wrongMethod(r, []string{http.MethodGet})
	}
	content, err := read()
	if err != nil {
		return s.failed(err)
	}
	return reply{status: http.StatusOK, body: content}
}

func unreadable(err error) reply {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return refused(http.StatusBadRequest, wire.CodeMalformed, "body is larger than 1 MiB")
	}
	return refused(http.StatusBadRequest, wire.CodeMalformed, "body could not be read")
}

func retryOf(status int) int {
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		return 1
	}
	return 0
}

// answer performs everything the interface requires of a request: budget, route, signature,
// decoding, execution.
func (s *Server) answer(r *http.Request, body []byte, hideMS int64) reply {
	if seconds, ok := s.budget.spend(s.budgetNames(r)...); !ok {
		p := refused(http.StatusTooManyRequests, http.StatusTooManyRequests,
			fmt.Sprintf("more than %d requests a second, come back in %d s", s.budget.perSecond, seconds))
		p.retrySeconds = seconds
		return p
	}
	operation, symbol, known, allowed := wire.Match(r.Method, r.URL.Path)
	if operation == 0 && !known {
		return unknownPath(r)
	}
	if operation == 0 {
		return wrongMethod(r, allowed)
	}
	var caller caller
	if operation.Signed() {
		var refusal *exchange.Refusal
		if caller, refusal = s.authenticate(operation, r, body); refusal != nil {
			return refusalReply(refusal)
		}
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return refused(http.StatusBadRequest, wire.CodeMalformed, fmt.Sprintf("query %.40q: %v", r.URL.RawQuery, err))
	}
	request, err := wire.DecodeRequest(operation, symbol, query, body, s.symbols)
	if err != nil {
		return s.failure(err)
	}
	reported, err := s.execute(caller, &request, hideMS)
	if err != nil {
		return s.failure(err)
	}
	status, content, err := wire.EncodeAnswer(&reported, &request, s.symbols)
	if err != nil {
		return s.failed(fmt.Errorf("encode %s: %w", operation, err))
	}
	return reply{status: status, body: content}
}

// failure distinguishes a refusal from a failure of the exchange itself.
func (s *Server) failure(err error) reply {
	if refusal, ok := errors.AsType[*exchange.Refusal](err); ok {
		return refusalReply(refusal)
	}
	return s.failed(err)
}

func refusalReply(refusal *exchange.Refusal) reply {
	return reply{status: refusal.Status, body: wire.EncodeRefusal(refusal)}
}

// caller is the signer of a request and its time of signing.
type caller struct {
	key     string
	stampMS int64
}

// authenticate returns the signer of a request.
func (s *Server) authenticate(operation exchange.Operation, r *http.Request, body []byte) (caller, *exchange.Refusal) {
	no := func(status, code int, format string, values ...any) (caller, *exchange.Refusal) {
		return caller{}, &exchange.Refusal{Operation: operation, Status: status, Code: code, Message: fmt.Sprintf(format, values...)}
	}
	key := r.Header.Get(wire.HeaderKey)
	account := s.account(key)
	if key == "" {
		return no(http.StatusUnauthorized, exchange.CodeUnknownKey, "header %s is missing", wire.HeaderKey)
	}
	if account == nil {
		return no(http.StatusUnauthorized, exchange.CodeUnknownKey, "key %.40q is unknown", key)
	}
	timestamp := r.Header.Get(wire.HeaderTimestamp)
	stampMS, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return no(http.StatusUnauthorized, exchange.CodeInvalidTimestamp, "header %s %.40q is not an integer of milliseconds", wire.HeaderTimestamp, timestamp)
	}
	if refusal := s.checkTimestamp(operation, stampMS, s.clock.nowMS()); refusal != nil {
		return caller{}, refusal
	}
	path := r.RequestURI
	if !strings.HasPrefix(path, "/") {
		path = r.URL.RequestURI() // a proxy's absolute form
	}
	signed := wire.Signed{Timestamp: timestamp, Method: r.Method, Path: path, Key: key, Body: body}
	if !s.signer.Verify([]byte(account.Secret), signed, r.Header.Get(wire.HeaderSignature)) {
		return no(http.StatusUnauthorized, exchange.CodeInvalidSignature, "header %s does not fit the request", wire.HeaderSignature)
	}
	inbound.Promote(r.Context(), inbound.Operator)
	if account.ReadOnly && operation.Changes() {
		return no(http.StatusForbidden, exchange.CodeNotPermitted, "key %q may only read", key)
	}
	return caller{key, stampMS}, nil
}

// checkTimestamp refuses a timestamp outside its window.
func (s *Server) checkTimestamp(operation exchange.Operation, stampMS, nowMS int64) *exchange.Refusal {
	window := s.clock.windowMS()
	if stampMS >= nowMS-window && stampMS <= nowMS+window {
		return nil
	}
	return &exchange.Refusal{
		Operation: operation, Status: http.StatusUnauthorized, Code: exchange.CodeInvalidTimestamp,
		Message: fmt.Sprintf("header %s %d is more than %d ms from server time %d", wire.HeaderTimestamp, stampMS, window, nowMS),
	}
}

// symbolTable finds symbols without the exchange's lock: they are immutable.
type symbolTable map[exchange.SymbolKey]*exchange.Symbol

// begins reports whether any symbol of a market begins with a text.
func (t symbolTable) begins(market exchange.Market, text string) bool {
	for key := range t {
		if key.Market == market && strings.HasPrefix(key.Name, text) {
			return true
		}
	}
	return false
}

// Symbol returns a symbol's rules.
func (t symbolTable) Symbol(key exchange.SymbolKey) (*exchange.Symbol, bool) {
	symbol, found := t[key]
	return symbol, found
}
