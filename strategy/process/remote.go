package process

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"botd/exchange"
	"botd/strategy"
)

// Connection is a process that runs a strategy. Kill ends it, from any goroutine; Cause waits for
// its end and returns the reason.
type Connection interface {
	io.ReadWriter
	Kill(cause string)
	Cause() string
}

// Program starts processes that run a strategy.
type Program struct {
	Start func() (Connection, error)
	Log   func(level, text string) // nil drops the strategy's log lines
}

// Remote is a strategy that runs in its own process.
type Remote struct {
	program Program
	hello   *Hello
	welcome Welcome
	symbol  *exchange.Symbol
	columns strategy.Columns // nil for none

	mu         sync.Mutex // guards connection and killed
	connection Connection
	killed     string // reason for the missing connection

	// Only the caller of the strategy uses the other fields.
	rows          []byte      // candles that have not been sent
	others        [][]byte    // unsent candles of other symbols
	unsentColumns []columnRow // column values at the closes of the unsent candles
	view          []byte      // the newest view that was sent
	last          string
	frame         []byte
	buffer        []byte

	rules   *exchange.Symbol // of the newest view
	changed *SymbolJSON      // these, if they differ from those of the hello

	batch   batch
	plan    strategy.Plan // plan of the newest complete answer
	decided bool          // plan is set
}

// rowsAtOnce bounds the candles of one message, in bytes.
const rowsAtOnce = 1 << 20

// columnsAtOnce bounds the values of columns in one message.
const columnsAtOnce = 1 << 16

// Bounds of a program's declared needs.
const (
	maxWarmup = 500_000 // candles
	maxNames  = 1_000   // of parameters and of columns
)

// StartsWithin bounds the time until a program answers the first message, during which an
// interpreter loads its libraries.
const StartsWithin = 30 * time.Second

// StartMS returns how long the process may take to start. A script's process is botd itself and
// needs no time.
func (r *Remote) StartMS() int64 {
	if r.hello.Script != nil {
		return 0
	}
	return StartsWithin.Milliseconds()
}

// NewRemote starts a process, reads the strategy's declared needs and ends the process.
func NewRemote(program Program, hello *Hello, setting *strategy.Setting) (made *Remote, err error) {
	r := &Remote{program: program, hello: hello, symbol: setting.Symbol, columns: setting.Columns}
	if err := r.learn(); err != nil {
		return nil, err
	}
	return r, nil
}

// Parameters starts a process, reads the strategy's parameters and ends the process.
func Parameters(program Program, hello *Hello) ([]strategy.Parameter, error) {
	r := &Remote{program: program, hello: hello}
	err := r.learn()
	return r.welcome.Parameters, err
}

// learn starts a process, reads the strategy's declaration and ends the process.
func (r *Remote) learn() (err error) {
	defer caught(&err)
	defer r.Kill(learned)
	r.begin()
	return nil
}

// learned is the reason recorded for a process that only answered the hello; the next question
// starts a new one.
const learned = "it was started only to read its declaration"

// Description is a strategy's declaration about itself, saved so that it need not be read again.
type Description struct{ welcome Welcome }

// Description returns the strategy's declaration about itself.
func (r *Remote) Description() Description { return Description{r.welcome} }

// Described returns NewRemote's result for a strategy whose declaration is already known, without
// starting a process.
func Described(program Program, hello *Hello, setting *strategy.Setting, d Description) *Remote {
	return &Remote{program: program, hello: hello, symbol: setting.Symbol, columns: setting.Columns, welcome: d.welcome}
}

// Warmup returns the strategy's declared warmup.
func (r *Remote) Warmup() int { return r.welcome.Warmup }

// Watches returns the strategy's declared subscriptions.
func (r *Remote) Watches() (w strategy.Watching) {
	if watch := r.welcome.Watch; watch != nil {
		w.Funding, w.Events, w.OrderBook, w.Funds = watch.Funding, watch.Events, watch.Book, watch.Funds
		if watch.Pair != nil {
			w.Pair = exchange.SymbolKey{Market: watch.Pair.Market, Name: watch.Pair.Symbol}
		}
	}
	return w
}

// Reentry returns the strategy's declared re-entry policy.
func (r *Remote) Reentry() strategy.Reentry { return r.welcome.Reentry }

// TakesProfit is true, because the program's plans are not known in advance.
func (*Remote) TakesProfit() bool { return true }

// Restart starts over in a new process.
func (r *Remote) Restart() {
	r.Kill("it starts over")
	r.begin()
}

// Kill ends the process. A goroutine that is calling the strategy finds it lost.
func (r *Remote) Kill(cause string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.connection != nil {
		r.connection.Kill(cause)
	}
	r.connection, r.killed = nil, cause
}

// begin starts a process and sends it the hello. A process that declares more than the bounds allow
// is lost.
func (r *Remote) begin() {
	connection, err := r.program.Start()
	if err != nil {
		panic(&strategy.LostError{Cause: "its process cannot be started: " + err.Error()})
	}
	r.mu.Lock()
	r.connection, r.killed = connection, ""
	r.mu.Unlock()
	runtime.AddCleanup(r, func(c Connection) { c.Kill("no longer in use") }, connection)
	r.rows, r.others, r.unsentColumns, r.view, r.last = r.rows[:0], nil, nil, r.view[:0], ""
	r.batch, r.decided = batch{}, false
	r.send(r.hello)
	a := r.receive(typeHello)
	if a.Protocol != Protocol {
		r.lose(fmt.Sprintf("it speaks protocol %d; botd speaks %d", a.Protocol, Protocol))
	}
	if a.Warmup < 0 || a.Warmup > maxWarmup {
		r.lose(fmt.Sprintf("its warm-up is %d candles; want 0 to %d", a.Warmup, maxWarmup))
	}
	if len(a.Parameters) > maxNames || len(a.Columns) > maxNames {
		r.lose(fmt.Sprintf("it names %d parameters and %d columns; at most %d of each are allowed", len(a.Parameters), len(a.Columns), maxNames))
	}
	if len(a.Others) > strategy.MaxOthers {
		r.lose(fmt.Sprintf("it reads candles of %d other symbols; at most %d are allowed", len(a.Others), strategy.MaxOthers))
	}
	r.welcome = a.Welcome
}

// current returns the current connection. A strategy whose process has ended is lost until it is
// restarted; a strategy that has not been called yet starts now.
func (r *Remote) current() Connection {
	r.mu.Lock()
	connection, killed := r.connection, r.killed
	r.mu.Unlock()
	switch {
	case connection != nil:
		return connection
	case killed != "" && killed != learned:
		panic(&strategy.LostError{Cause: killed})
	}
	r.begin()
	return r.current()
}

// lose ends the process because of its own fault.
func (r *Remote) lose(cause string) {
	cause = strategy.Clip(cause, maxLine)
	r.Kill(cause)
	panic(&strategy.LostError{Cause: cause})
}

// vanished handles a process that ended by itself or was killed.
func (r *Remote) vanished(connection Connection) {
	cause := connection.Cause()
	r.Kill(cause)
	panic(&strategy.LostError{Cause: cause})
}

func (r *Remote) send(message any) {
	connection := r.current()
	var err error
	if r.buffer, err = writeFrame(connection, r.buffer, message, maxFrame); err != nil {
		r.vanished(connection)
	}
}

// receive returns the next message that is not a log line.
func (r *Remote) receive(kind string) *answer {
	connection := r.current()
	for {
		var err error
		if r.frame, err = readFrame(connection, r.frame, maxAnswer); err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				connection.Kill("its answer cannot be read: " + err.Error())
			}
			r.vanished(connection)
		}
		var a answer
		if err := json.Unmarshal(r.frame, &a); err != nil {
			r.lose("its answer cannot be read: " + err.Error())
		}
		switch a.Type {
		case kind:
			return &a
		case typeLog:
			if r.program.Log != nil {
				r.program.Log(a.Level, a.Text)
			}
		case typeError:
			err := a.err()
			r.Kill("it failed: " + a.Message)
			panic(err)
		default:
			r.lose(fmt.Sprintf("it answers %.60q, but %q was requested", a.Type, kind))
		}
	}
}

// Candle saves the candle until the next call of the strategy. It first sends what changed
// alongside the candle.
func (r *Remote) Candle(v *strategy.View) {
	r.current()
	if r.batch.left() {
		return // the program has already received the candle
	}
	q := question{Type: typeCandles}
	r.see(v, &q)
	if q.View != nil || q.Last != "" {
		r.sendCandles(v)
		r.send(&q)
	}
	unsent, newest := r.addOthers(v), v.Candle()
	if r.columns != nil && len(r.welcome.Columns) > 0 {
		r.unsentColumns = append(r.unsentColumns, newColumnRow(r.columns, r.welcome.Columns, newest.OpenMS+r.hello.IntervalMS))
	}
	r.rows = r.welcome.append(r.rows, r.symbol, &newest)
	if len(r.rows)+unsent > rowsAtOnce || len(r.unsentColumns)*len(r.welcome.Columns) > columnsAtOnce {
		r.sendCandles(v)
	}
}

// see adds the changed parts of the view to a question.
func (r *Remote) see(v *strategy.View, q *question) {
	info := newView(v)
	info.Symbol = r.changedRules(v.Symbol)
	text, err := json.Marshal(info)
	if err != nil {
		panic(fmt.Errorf("write a view: %w", err))
	}
	if !bytes.Equal(text, r.view) {
		r.view = append(r.view[:0], text...)
		q.View = text
	}
	if last := string(appendScaled(nil, int64(v.Last), r.symbol.PriceScale)); last != r.last {
		r.last, q.Last = last, last
	}
}

// changedRules returns a symbol's rules if they differ from those of the hello, or nil.
func (r *Remote) changedRules(rules *exchange.Symbol) *SymbolJSON {
	if rules == r.rules {
		return r.changed
	}
	r.rules, r.changed = rules, nil
	if rules == r.symbol {
		return nil
	}
	info := newSymbol(rules)
	have, _ := json.Marshal(info) // texts and numbers: no error is possible
	if hello, _ := json.Marshal(r.hello.Symbol); !bytes.Equal(have, hello) {
		r.changed = info
	}
	return r.changed
}

// sendCandles sends the saved candles.
func (r *Remote) sendCandles(v *strategy.View) {
	if len(r.rows) > 0 {
		r.send(&question{Type: typeCandles, Candles: r.welcome.member(r.rows), Others: r.takeOthers(v), Columns: r.unsentColumns})
		r.rows, r.unsentColumns = r.rows[:0], nil
	}
}

// Decide requests a decision from the strategy.
func (r *Remote) Decide(v *strategy.View, plan *strategy.Plan) {
	r.current()
	if r.batch.left() {
		r.decidePrepared(v, plan)
		return
	}
	q := &question{Type: typeDecide, NowMS: v.NowMS}
	r.see(v, q)
	if len(r.rows) > 0 {
		q.Candles, q.Others, q.Columns = r.welcome.member(r.rows), r.takeOthers(v), r.unsentColumns
	}
	r.send(q)
	r.rows, r.unsentColumns = r.rows[:0], nil
	a := r.receive(typePlan)
	if a.Plan == nil {
		return
	}
	r.read(a.Plan, v.Symbol, plan)
}

// Conditions requests the strategy's conditions.
func (r *Remote) Conditions(v *strategy.View) []strategy.Condition {
	if !r.welcome.Explains {
		return nil
	}
	r.sendCandles(v)
	r.send(&question{Type: typeExplain})
	return r.receive(typeExplain).Conditions
}
