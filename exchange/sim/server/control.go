package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/exchange/wire"
)

const controlPrefix = "/control/"

// maxAdvanceMS bounds one move of a manual clock: ten years.
const maxAdvanceMS = 10 * 366 * int64(exchange.Day1)

// controls are the calls of the control interface (docs/exchange.md, The control interface).
var controls = []struct {
	method, path string
	do           func(s *Server, r *http.Request, body []byte) reply
}{
	{http.MethodPost, "/control/v1/price", reading((*Server).setPrice)},
	{http.MethodPost, "/control/v1/clock", reading((*Server).moveClock)},
	{http.MethodPost, "/control/v1/symbol", reading((*Server).setSymbol)},
	{http.MethodPost, "/control/v1/faults", reading((*Server).addFault)},
	{http.MethodGet, "/control/v1/faults", ignoringRequest((*Server).listFaults)},
	{http.MethodDelete, "/control/v1/faults", ignoringRequest((*Server).clearFaults)},
	{http.MethodGet, "/control/v1/orders", (*Server).listOrders},
	{http.MethodGet, requestsPath, (*Server).listRequests},
	{http.MethodPost, "/control/v1/reset", ignoringRequest((*Server).reset)},
	{http.MethodPost, "/control/v1/deposit", reading((*Server).deposit)},
	{http.MethodPost, "/control/v1/account", reading((*Server).addAccount)},
	{http.MethodGet, statePath, ignoringRequest((*Server).snapshot)},
	{http.MethodPost, statePath, reading((*Server).restoreSnapshot)},
}

// reading is a call that uses only the request's body.
func reading[T any](do func(*Server, *T) reply) func(*Server, *http.Request, []byte) reply {
	return func(s *Server, _ *http.Request, body []byte) reply {
		request := new(T)
		if err := readControl(body, request); err != nil {
			return badControl("read body: %v", err)
		}
		return do(s, request)
	}
}

// ignoringRequest is a call that uses nothing of the request.
func ignoringRequest(do func(*Server) reply) func(*Server, *http.Request, []byte) reply {
	return func(s *Server, _ *http.Request, _ []byte) reply { return do(s) }
}

// answerControl answers a call of the control interface. It is neither signed nor limited, so only
// programs on this machine may call it.
func (s *Server) answerControl(r *http.Request, body []byte) reply {
	if !s.control {
		return unknownPath(r)
	}
	if err := fromThisMachine(r); err != nil {
		return refused(http.StatusForbidden, http.StatusForbidden, err.Error())
	}
	var allowed []string
	for _, c := range controls {
		if c.path != r.URL.Path {
			continue
		}
		if c.method == r.Method {
			return c.do(s, r, body)
		}
		allowed = append(allowed, c.method)
	}
	if allowed == nil {
		return unknownPath(r)
	}
	return wrongMethod(r, allowed)
}

// fromThisMachine refuses requests that a web page in a local browser could send: those from other
// sites, and those to names that resolve to a loopback address.
func fromThisMachine(r *http.Request) error {
	address, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if address == nil || !loopback(address) {
		return fmt.Errorf("the control interface answers on loopback addresses only, not on %v", address)
	}
	if err := http.NewCrossOriginProtection().Check(r); err != nil {
		return fmt.Errorf("control: %w", err)
	}
	if _, tcp := address.(*net.TCPAddr); !tcp {
		return nil
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if ip := net.ParseIP(strings.Trim(host, "[]")); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("the control interface answers on loopback addresses only, not as %q", host)
	}
	return nil
}

func badControl(format string, values ...any) reply {
	return refused(http.StatusBadRequest, wire.CodeMalformed, fmt.Sprintf(format, values...))
}

// readControl reads the body of a control call. Names are case-sensitive, and an unknown name is an
// error, because a misspelled fault would let a test pass. 30.0 is 30.
func readControl(body []byte, into any) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(wire.WithoutMark(body), &fields); err != nil {
		return err
	}
	for name, raw := range fields {
		fields[name] = wholeNumber(raw)
	}
	written, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	return wire.UnmarshalKnown(written, into)
}

// wholeNumber returns an integer without fraction and exponent, and anything else unchanged.
func wholeNumber(raw json.RawMessage) json.RawMessage {
	const maxText, maxExponent = 40, 18
	if len(raw) > maxText || !bytes.ContainsAny(raw, ".eE") || raw[0] == '"' {
		return raw
	}
	number, err := decimal.NewFromString(string(raw))
	if err != nil || number.Exponent() < -maxText || number.Exponent() > maxExponent || !number.IsInteger() {
		return raw
	}
	return json.RawMessage(number.Truncate(0).String())
}

// done is the answer of a call without a result.
func done() reply { return success(map[string]string{"status": "OK"}) }

type priceRequest struct {
	Market exchange.Market  `json:"market"`
	Symbol string           `json:"symbol"`
	Price  *decimal.Decimal `json:"price"`
	Mark   *decimal.Decimal `json:"mark"`
}

func (s *Server) setPrice(request *priceRequest) reply {
	if request.Price == nil {
		return badControl("price is missing")
	}
	return s.change(func() error {
		key := exchange.SymbolKey{Market: request.Market, Name: request.Symbol}
		symbol := s.exchange.Symbol(key)
		if symbol == nil {
			return fmt.Errorf("symbol %q of market %q is unknown", request.Symbol, request.Market)
		}
		price, err := symbol.Price(*request.Price)
		if err != nil {
			return fmt.Errorf("price: %w", err)
		}
		mark := price
		if request.Mark != nil {
			if mark, err = symbol.Price(*request.Mark); err != nil {
				return fmt.Errorf("mark: %w", err)
			}
			if mark <= 0 {
				return fmt.Errorf("mark %s is not above zero", symbol.PriceDecimal(mark))
			}
		}
		return s.exchange.SetPrice(key, price, mark)
	})
}

type clockRequest struct {
	AdvanceMS *int64 `json:"advance_ms"`
}

func (s *Server) moveClock(request *clockRequest) reply {
	if !s.clock.manual {
		return badControl("the clock runs by itself: start with --clock manual to move it")
	}
	if request.AdvanceMS == nil {
		return badControl("advance_ms is missing: 0 processes what is due")
	}
	if *request.AdvanceMS < 0 || *request.AdvanceMS > maxAdvanceMS {
		return badControl("advance_ms %d is not 0 to %d", *request.AdvanceMS, maxAdvanceMS)
	}
	return s.change(func() error {
		nowMS := s.clock.nowMS() + *request.AdvanceMS
		s.exchange.Advance(nowMS)
		s.clock.move(nowMS)
		return nil
	})
}

// change changes the exchange and answers once the change is on disk.
func (s *Server) change(do func() error) reply {
	var bad error
	err := s.locked(func() {
		if bad = do(); bad == nil {
			s.controlChanges++
		}
	})
	if err == nil && bad == nil {
		s.wakeClock()
		err = s.save()
	}
	switch {
	case bad != nil:
		return badControl("%v", bad)
	case err != nil:
		return s.failed(err)
	}
	return done()
}

func (s *Server) addFault(fault *Fault) reply {
	if err := fault.check(s.symbols); err != nil {
		return badControl("%v", err)
	}
	if err := s.faults.add(*fault); err != nil {
		return badControl("%v", err)
	}
	return done()
}

func (s *Server) listFaults() reply {
	return success(map[string][]Fault{"faults": s.faults.list()})
}

func (s *Server) clearFaults() reply {
	s.faults.clear()
	return done()
}

// unknownPath is the answer to an unknown path.
func unknownPath(r *http.Request) reply {
	return refused(http.StatusNotFound, http.StatusNotFound, fmt.Sprintf("path %q is unknown", r.URL.Path))
}

// wrongMethod is the answer to a path that has other methods.
func wrongMethod(r *http.Request, allowed []string) reply {
	slices.Sort(allowed)
	p := refused(http.StatusMethodNotAllowed, http.StatusMethodNotAllowed,
		fmt.Sprintf("method %s of path %q is not allowed (allowed: %s)", r.Method, r.URL.Path, strings.Join(allowed, ", ")))
	p.allow = strings.Join(allowed, ", ")
	return p
}
