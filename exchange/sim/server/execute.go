package server

import (
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"botd/exchange"
)

// noSuchOrder is an id no exchange gives out.
const noSuchOrder = math.MaxInt64

// hiddenOrder names an order that a hide fault keeps out of lists.
type hiddenOrder struct {
	market exchange.Market
	id     int64
}

// execute asks the exchange. It returns when what it tells of an account is on
// disk; a change that could not be written is not acknowledged.
func (s *Server) execute(by caller, request *exchange.Request, hideMS int64) (exchange.Answer, error) {
	var told exchange.Answer
	var bad error
	err := s.locked(func() { told, bad = s.do(by, request, hideMS) })
	if request.Operation.Changes() {
		s.wakeClock()
	}
	if err == nil && request.Operation.Signed() {
		err = s.keep()
	}
	if err != nil {
		return told, err
	}
	return told, bad
}

// do is execute under the lock.
func (s *Server) do(by caller, request *exchange.Request, hideMS int64) (exchange.Answer, error) {
	nowMS := s.exchange.NowMS()
	if request.Operation.Signed() {
		// Once more, now that nothing can pass in between: a request is never
		// admitted later than its window (the fence of exactly-once rests on it).
		if refusal := s.outside(request.Operation, by.stampMS, nowMS); refusal != nil {
			return exchange.Answer{}, refusal
		}
	}
	s.reveal()
	if s.hides(exchange.Futures, request.OrderID) && request.Operation == exchange.FuturesOrder {
		return s.deny(by, request)
	}
	told, err := s.exchange.Do(by.key, request)
	if err != nil {
		return told, err
	}
	if hideMS > 0 && request.Operation.Places() {
		s.hidden[hiddenOrder{request.Operation.Market(), told.Order.ID}] = nowMS + hideMS
	}
	s.leaveOut(&told)
	return told, nil
}

// deny answers a request for a hidden order as one for an order there is not.
func (s *Server) deny(by caller, request *exchange.Request) (exchange.Answer, error) {
	unknown := *request
	unknown.OrderID = noSuchOrder
	told, err := s.exchange.Do(by.key, &unknown)
	var refusal *exchange.Refusal
	if errors.As(err, &refusal) {
		refusal.Message = strings.ReplaceAll(refusal.Message, strconv.Itoa(noSuchOrder), strconv.FormatInt(request.OrderID, 10))
	}
	return told, err
}

func (s *Server) hides(market exchange.Market, id int64) bool {
	return s.hidden[hiddenOrder{market, id}] != 0
}

// reveal forgets the orders whose time is over.
func (s *Server) reveal() {
	for order, untilMS := range s.hidden {
		if untilMS <= s.exchange.NowMS() {
			delete(s.hidden, order)
		}
	}
}

// leaveOut takes hidden orders out of a list.
func (s *Server) leaveOut(told *exchange.Answer) {
	switch told.Operation {
	case exchange.FuturesOpenOrders, exchange.SpotOpenOrders, exchange.SpotOrderHistory:
	default:
		return
	}
	if len(s.hidden) == 0 {
		return
	}
	market := told.Operation.Market()
	told.Orders = exchange.FetchedOf(slices.DeleteFunc(slices.Clone(told.Orders.Items()), func(order exchange.Order) bool {
		return s.hides(market, order.ID)
	}))
}

// keep writes what happened to the accounts so far, when there is a state file.
func (s *Server) keep() error {
	if s.state.path == "" {
		return nil
	}
	s.mu.Lock()
	change := s.changes()
	s.mu.Unlock()
	return s.state.keep(change)
}

// look tells the state file what changed.
func (s *Server) look(all bool) (change, snapshot []byte, newest uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return nil, nil, 0, s.broken // the file stays at what was acknowledged before
	}
	if change, err = s.exchange.Changes(); err == nil && all {
		snapshot, err = s.exchange.Snapshot()
	}
	return change, snapshot, s.changes(), err
}

// changes counts what is worth writing: what happened to accounts, and what the
// control interface told. It never goes back.
func (s *Server) changes() uint64 { return s.exchange.Version() + s.told + 1 }

// failed is the answer when the exchange itself failed: the caller does not know
// what became of the request.
func (s *Server) failed(err error) reply {
	s.log("%v", err)
	return refused(http.StatusInternalServerError, http.StatusInternalServerError, err.Error())
}
