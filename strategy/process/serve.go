package process

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"botd/exchange"
	"botd/strategy"
)

// Load builds the strategy that a hello requests. If the hello names no symbol, Load returns only
// the strategy's parameters.
type Load func(h *Hello) (strategy.Strategy, []strategy.Parameter, error)

// Serve answers questions to one strategy until the input ends.
func Serve(r io.Reader, w io.Writer, load Load) error {
	s := &server{in: bufio.NewReader(r), out: w}
	text, err := s.read()
	if err != nil {
		return ended(err)
	}
	var h Hello
	if err := json.Unmarshal(text, &h); err != nil {
		return s.fail(fmt.Errorf("read the hello: %w", err))
	}
	if h.Type != typeHello || h.Protocol != Protocol {
		return s.fail(fmt.Errorf("want a hello of protocol %d, have %.60q", Protocol, text))
	}
	if err := s.begin(&h, load); err != nil {
		return s.fail(err)
	}
	for {
		text, err := s.read()
		if err != nil {
			return ended(err)
		}
		if err := s.receive(text); err != nil {
			return s.fail(err)
		}
	}
}

// ended returns nil if the other end closed the stream between two messages.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// server is the strategy's end of the connection.
type server struct {
	in       *bufio.Reader
	out      io.Writer
	frame    []byte // of the newest message
	buffer   []byte // of the newest answer
	strategy strategy.Strategy
	view     strategy.View
	symbol   *exchange.Symbol // with the rules of the hello
	candles  exchange.Candles
	columns  *receivedColumns // nil if there are none
	others   *receivedOthers
	plan     strategy.Plan
}

func (s *server) read() (text []byte, err error) {
	s.frame, err = readFrame(s.in, s.frame, maxFrame)
	return s.frame, err
}

func (s *server) write(message any) (err error) {
	s.buffer, err = writeFrame(s.out, s.buffer, message, maxAnswer)
	return err
}

// fail reports an error, which ends the process.
func (s *server) fail(cause error) error {
	return errors.Join(cause, s.write(struct {
		Type string `json:"type"`
		fault
	}{typeError, faultOf(cause)}))
}

func (s *server) begin(h *Hello, load Load) (err error) {
	defer caught(&err)
	made, parameters, err := load(h)
	if err != nil {
		return err
	}
	w := Welcome{Type: typeHello, Protocol: Protocol, Parameters: parameters}
	if made != nil {
		setting, err := h.Setting()
		if err != nil {
			return err
		}
		s.strategy, w.Warmup, s.symbol = made, made.Warmup(), setting.Symbol
		s.view = strategy.View{Symbol: setting.Symbol, Interval: setting.Interval, Size: setting.Size, Leverage: h.Leverage}
		s.candles.Interval = setting.Interval
		_, w.Explains = made.(strategy.Conditional)
		w.Reentry = strategy.ReentryOf(made)
		w.Watch = newWatch(strategy.WatchingOf(made))
		s.others = newReceivedOthers(strategy.OthersOf(made))
		s.view.Others, w.Others = s.others.all, s.others.keys
		if reader, reads := made.(strategy.ColumnReader); reads && h.received != nil {
			s.columns = h.received
			w.Columns = reader.ReadsColumns()
			s.columns.read = w.Columns
		}
	}
	return s.write(&w)
}

// newWatch returns a strategy's subscriptions, or nil for none.
func newWatch(w strategy.Watching) *watchJSON {
	if w == (strategy.Watching{}) {
		return nil
	}
	info := &watchJSON{Funding: w.Funding, Events: w.Events, Book: w.OrderBook, Funds: w.Funds}
	if w.Pair != (exchange.SymbolKey{}) {
		info.Pair = &pairName{w.Pair.Market, w.Pair.Name}
	}
	return info
}

// caught turns a panic of the strategy into an error.
func caught(err *error) {
	switch cause := recover().(type) {
	case nil:
	case error:
		*err = cause
	default:
		*err = fmt.Errorf("%v", cause)
	}
}

// receive stores the data of a message, and answers its question if it asks one.
func (s *server) receive(text []byte) (err error) {
	defer caught(&err)
	var q question
	if err := json.Unmarshal(text, &q); err != nil {
		return fmt.Errorf("read a message: %w", err)
	}
	if s.strategy == nil {
		return errors.New("the hello named no symbol")
	}
	if s.columns != nil {
		s.columns.store(q.Columns)
	}
	if err := s.others.store(q.Others, s.keep()); err != nil {
		return err
	}
	if q.Candles != nil {
		if err := readRows(q.Candles, s.view.Symbol, s.candle); err != nil {
			return err
		}
	}
	if q.View != nil {
		var info viewJSON
		if err := json.Unmarshal(q.View, &info); err != nil {
			return fmt.Errorf("read a view: %w", err)
		}
		if err := info.into(&s.view, s.symbol); err != nil {
			return fmt.Errorf("read a view: %w", err)
		}
	}
	if q.Last != "" {
		last, err := readScaled([]byte(q.Last), s.view.Symbol.PriceScale)
		if err != nil {
			return err
		}
		s.view.Last = exchange.Price(last)
	}
	switch q.Type {
	case typeDecide:
		return s.decide(&q)
	case typeExplain:
		return s.explain()
	}
	return nil
}

// candle passes one candle to the strategy.
func (s *server) candle(c *exchange.Candle) {
	s.candles = *shortened(&s.candles, s.keep())
	s.candles.Append(*c)
	s.view.NowMS = c.OpenMS + int64(s.view.Interval)
	s.view.SetHistory(&s.candles, s.candles.Len())
	if s.columns != nil {
		s.columns.next(c, s.view.Interval)
	}
	s.strategy.Candle(&s.view)
}

// keep returns the minimum number of candles that a strategy can look back at.
func (s *server) keep() int { return max(4_096, s.strategy.Warmup()+1) }

func (s *server) decide(q *question) error {
	s.view.NowMS = q.NowMS
	s.plan.Reset()
	s.strategy.Decide(&s.view, &s.plan)
	return s.write(struct {
		Type string    `json:"type"`
		Plan *planJSON `json:"plan"`
	}{typePlan, newPlan(&s.plan, s.view.Symbol)})
}

func (s *server) explain() error {
	var conditions []strategy.Condition
	if conditional, is := s.strategy.(strategy.Conditional); is {
		conditions = conditional.Conditions(&s.view)
	}
	return s.write(struct {
		Type       string               `json:"type"`
		Conditions []strategy.Condition `json:"conditions"`
	}{typeExplain, conditions})
}
