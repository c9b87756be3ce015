package server

import (
	"cmp"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"botd/exchange"
)

// noSuchOrder is an id that no exchange assigns.
const noSuchOrder = math.MaxInt64

// hiddenOrder identifies an order that a hide fault keeps out of lists.
type hiddenOrder struct {
	market exchange.Market
	id     int64
}

// execute calls the exchange. It returns once everything that its answer reports about an account
// is on disk; it does not acknowledge a change that could not be written.
func (s *Server) execute(by caller, request *exchange.Request, hideMS int64) (exchange.Answer, error) {
	var answer exchange.Answer
	var bad error
	err := s.locked(func() { answer, bad = s.do(by, request, hideMS) })
	if request.Operation.Changes() {
		s.wakeClock()
	}
	if err == nil && request.Operation.Signed() {
		err = s.save()
	}
	if err != nil {
		return answer, err
	}
	return answer, bad
}

// do is execute under the lock.
func (s *Server) do(by caller, request *exchange.Request, hideMS int64) (exchange.Answer, error) {
	nowMS := s.exchange.NowMS()
	if request.Operation.Signed() {
		// This is checked again under the lock, so that no request is admitted after its window
		// (the fence of exactly-once depends on it).
		if refusal := s.checkTimestamp(request.Operation, by.stampMS, nowMS); refusal != nil {
			return exchange.Answer{}, refusal
		}
	}
	s.reveal()
	if s.hides(exchange.Futures, request.OrderID) && request.Operation == exchange.FuturesOrder {
		return s.deny(by, request)
	}
	if err := s.refusesSymbol(request.Operation, cmp.Or(request.Symbol, request.Order.Symbol)); err != nil {
		return exchange.Answer{}, err
	}
	answer, err := s.place(by, request)
	if err == nil && !request.Operation.Changes() {
		err = s.refusesSymbol(request.Operation, answer.Order.Symbol)
	}
	if err != nil {
		return answer, err
	}
	if hideMS > 0 && request.Operation.Places() {
		s.hidden[hiddenOrder{request.Operation.Market(), answer.Order.ID}] = nowMS + hideMS
	}
	s.variants.openPositions(by.key, nowMS, &answer)
	s.leaveOut(&answer)
	s.leaveOutDelisted(&answer)
	return answer, nil
}

// deny answers a request for a hidden order like one for an order that does not exist.
func (s *Server) deny(by caller, request *exchange.Request) (exchange.Answer, error) {
	unknown := *request
	unknown.OrderID = noSuchOrder
	answer, err := s.exchange.Do(by.key, &unknown)
	if refusal, ok := errors.AsType[*exchange.Refusal](err); ok {
		refusal.Message = strings.ReplaceAll(refusal.Message, strconv.Itoa(noSuchOrder), strconv.FormatInt(request.OrderID, 10))
	}
	return answer, err
}

func (s *Server) hides(market exchange.Market, id int64) bool {
	return s.hidden[hiddenOrder{market, id}] != 0
}

// reveal forgets hidden orders whose time is over.
func (s *Server) reveal() {
	for order, untilMS := range s.hidden {
		if untilMS <= s.exchange.NowMS() {
			delete(s.hidden, order)
		}
	}
}

// leaveOut removes hidden orders from a list.
func (s *Server) leaveOut(answer *exchange.Answer) {
	switch answer.Operation {
	case exchange.FuturesOpenOrders, exchange.SpotOpenOrders, exchange.SpotOrderHistory:
	default:
		return
	}
	if len(s.hidden) == 0 {
		return
	}
	market := answer.Operation.Market()
	answer.Orders = exchange.FetchedOf(slices.DeleteFunc(slices.Clone(answer.Orders.Items()), func(order exchange.Order) bool {
		return s.hides(market, order.ID)
	}))
}

// save writes all changes so far, if there is a state file.
func (s *Server) save() error {
	if s.state.path == "" {
		return nil
	}
	s.mu.Lock()
	change := s.changes()
	s.mu.Unlock()
	return s.state.save(change)
}

// collectChanges is the source of the state file.
func (s *Server) collectChanges(all bool) (change, snapshot []byte, newest uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return nil, nil, 0, s.broken // the file stays at the last acknowledged state
	}
	if change, err = s.exchange.Changes(); err == nil && all {
		snapshot, err = s.exchange.Snapshot()
	}
	return change, snapshot, s.changes(), err
}

// changes counts the changes that must be written: those of accounts and calls of the control
// interface. It never goes back.
func (s *Server) changes() uint64 { return s.exchange.Version() + s.controlChanges + 1 }

// failed returns the answer after the exchange itself failed: the outcome of the request is
// unknown.
func (s *Server) failed(err error) reply {
	s.log("%v", err)
	return refused(http.StatusInternalServerError, http.StatusInternalServerError, err.Error())
}
