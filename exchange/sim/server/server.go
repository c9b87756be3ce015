// Package server serves the simulated exchange over the signed HTTP interface.
//
// A Server owns one sim.Exchange. Every request first advances the exchange to the clock's time.
// Between requests a goroutine of Serve does so whenever something is due, so that conditional
// orders and funding need no request. With a state file, everything that an answer reports about an
// account is on disk before the answer is sent. The control interface, for tests only, sets prices
// and the clock and injects faults; it is served only on loopback addresses.
package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/wire"
	"botd/internal/inbound"
)

// Limits of the HTTP server.
const (
	maxBody           = 1 << 20 // bytes (docs/exchange.md, bodies)
	maxHeader         = 8 << 10
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 30 * time.Second
	idleTimeout       = 2 * time.Minute
	stopTimeout       = 5 * time.Second // for requests in flight when Serve ends
)

// limits bounds the connections. An account owner's connections are never closed to make room for
// others.
var limits = inbound.Limits{All: 1024, Unknown: 512}

// Account is a key that may use the exchange. The key is also the account's name there.
type Account struct {
	Key, Secret string
	ReadOnly    bool // refuses every call that changes state
}

// Config configures a Server. Exchange or Build is enough. Without accounts it answers only the
// public calls.
type Config struct {
	Exchange   *sim.Exchange
	Build      Build                              // instead of Exchange; required with StatePath
	Accounts   []Account                          // those that the exchange lacks are added, with NewAccount
	NewAccount func(key string) sim.AccountConfig // initial state of a new account; nil is sim.DefaultAccount
	Signer     wire.Signer
	Clock      Clock
	Budget     int      // requests per second of each key and each address; 0 is unlimited
	Control    bool     // serve the control interface
	Variants   []string // NAME[=DURATION], as Variants lists them
	StatePath  string   // file that stores the accounts across restarts; empty for none
	Log        func(format string, values ...any)
}

// Build creates the exchange: with sim.Restore from a state, with sim.New without one.
type Build func(state []byte) (*sim.Exchange, error)

// Server serves one simulated exchange.
type Server struct {
	accountsMu sync.RWMutex        // guards accounts, together with mu for changes
	accounts   map[string]*Account // replaced, never modified
	configured map[string]*Account // initial accounts
	symbols    symbolTable
	signer     wire.Signer
	clock      *clock
	budget     *budget
	faults     faults
	requests   requests
	build      Build // nil if the exchange was passed in
	newAccount func(key string) sim.AccountConfig
	control    bool
	state      stateFile
	log        func(format string, values ...any)
	wake       chan struct{} // the next due time may have changed
	stopped    chan struct{} // closed when Serve ends
	stopOnce   sync.Once

	mu             sync.Mutex // guards all below
	exchange       *sim.Exchange
	controlChanges uint64 // number of changes of a price or the clock by the control interface
	hidden         map[hiddenOrder]int64
	delisted       map[exchange.SymbolKey]bool
	variants       variants
	broken         error // a panic of the exchange: none of its results can be trusted
}

// New creates a server and restores the accounts of the state file, if there is one.
func New(config Config) (*Server, error) {
	if config.Budget < 0 {
		return nil, fmt.Errorf("budget %d is below 0: set requests per second, or 0 for unlimited", config.Budget)
	}
	if err := config.Signer.Check(); err != nil {
		return nil, err
	}
	s := &Server{
		accounts: make(map[string]*Account), signer: config.Signer, budget: newBudget(config.Budget), control: config.Control,
		log:  config.Log,
		wake: make(chan struct{}, 1), stopped: make(chan struct{}), hidden: make(map[hiddenOrder]int64), delisted: map[exchange.SymbolKey]bool{},
	}
	var err error
	if s.variants, err = parseVariants(config.Variants); err != nil {
		return nil, err
	}
	if s.log == nil {
		s.log = func(string, ...any) {}
	}
	s.state = stateFile{path: config.StatePath, source: s.collectChanges, log: s.log, minRewrite: minRewrite}
	if err := s.begin(&config); err != nil {
		return nil, errors.Join(err, s.state.close())
	}
	return s, nil
}

// begin restores the exchange, its accounts and its clock.
func (s *Server) begin(config *Config) (err error) {
	if s.exchange, err = s.restore(config); err != nil {
		return err
	}
	if config.StatePath != "" {
		s.exchange.Track()
	}
	if config.NewAccount == nil {
		config.NewAccount = sim.DefaultAccount
	}
	s.build, s.newAccount = config.Build, config.NewAccount
	if err := s.admit(config.Accounts); err != nil {
		return err
	}
	if s.symbols, err = symbolsOf(s.exchange); err != nil {
		return err
	}
	if s.clock, err = newClock(config.Clock, s.exchange.NowMS()); err != nil {
		return err
	}
	s.exchange.Advance(s.clock.nowMS())
	return s.save()
}

// restore returns the exchange, restored from the state file if there is one.
func (s *Server) restore(config *Config) (*sim.Exchange, error) {
	if config.Build == nil {
		if config.Exchange == nil || config.StatePath != "" {
			return nil, errors.New("a server needs an exchange, and with a state file it needs Build to restore it")
		}
		return config.Exchange, nil
	}
	merged, err := s.state.restore()
	if err != nil {
		return nil, err
	}
	if merged == nil {
		return config.Build(nil)
	}
	x, err := config.Build(merged)
	if err != nil {
		return nil, &StateError{restoreError(s.state.path, err)}
	}
	return x, nil
}

// account returns the account of a key, or nil.
func (s *Server) account(key string) *Account {
	s.accountsMu.RLock()
	defer s.accountsMu.RUnlock()
	return s.accounts[key]
}

// admit registers the accounts and opens those that the exchange lacks.
func (s *Server) admit(accounts []Account) error {
	for i, account := range accounts {
		if account.Key == "" || account.Secret == "" {
			return fmt.Errorf("account %d has no key or no secret", i+1)
		}
		if s.accounts[account.Key] != nil {
			return fmt.Errorf("account %q is given twice", account.Key)
		}
		s.accounts[account.Key] = &account
		if err := s.open(s.exchange, account.Key); err != nil {
			return err
		}
	}
	s.configured = s.accounts
	return nil
}

// symbolsOf reads the symbols of both markets from an exchange.
func symbolsOf(x *sim.Exchange) (symbolTable, error) {
	table := symbolTable{}
	for _, operation := range []exchange.Operation{exchange.FuturesSymbols, exchange.SpotPairs} {
		answer, err := x.Do("", &exchange.Request{Operation: operation})
		if err != nil {
			return nil, err
		}
		for _, symbol := range answer.Symbols.Items() {
			table[symbol.Key()] = symbol
		}
	}
	return table, nil
}

// Handler serves the interface, and the control interface if it is configured. Without Serve, time
// passes only with a request; events that were due in between then happen in order, each at its own
// time.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serveHTTP) }

// Serve answers requests until the context ends, lets those in flight finish, and returns nil; any
// other end is an error. A server serves once.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	if s.control && !loopback(listener.Addr()) {
		return errors.Join(controlOff(listener.Addr()), listener.Close())
	}
	listener = inbound.Limit(listener, limits)
	server := &http.Server{
		Handler: s.Handler(), MaxHeaderBytes: maxHeader, ConnContext: inbound.WithConnection,
		ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, IdleTimeout: idleTimeout,
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	var clockErr, stopErr error
	group.Go(func() {
		defer stop()
		clockErr = s.runClock(ctx)
	})
	group.Go(func() {
		<-ctx.Done()
		stopErr = s.shut(server)
	})
	serveErr := server.Serve(listener)
	stop()
	group.Wait()
	if errors.Is(serveErr, http.ErrServerClosed) {
		serveErr = nil
	} else {
		serveErr = fmt.Errorf("serve %s: %w", listener.Addr(), serveErr)
	}
	return errors.Join(clockErr, serveErr, stopErr, s.save(), s.state.close())
}

// shut lets the requests in flight finish and cuts off those that take too long.
func (s *Server) shut(server *http.Server) error {
	s.stopOnce.Do(func() { close(s.stopped) })
	limited, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if server.Shutdown(limited) != nil {
		return server.Close()
	}
	return nil
}

// runClock advances the exchange whenever something is due.
func (s *Server) runClock(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.wake:
		case <-timer.C:
		}
		wait, due, err := s.advance()
		if err != nil {
			return err
		}
		timer.Stop()
		if due {
			timer.Reset(max(wait, time.Millisecond)) // a fast clock passes many events in one step
		}
		if err := s.save(); err != nil {
			s.log("%v", err) // requests are answered with 500 until it can be written
			timer.Reset(time.Second)
		}
	}
}

// advance brings the exchange to the clock's time and returns how long until something is due.
func (s *Server) advance() (wait time.Duration, due bool, err error) {
	err = s.locked(func() {
		if nextMS, some := s.exchange.NextMS(); some {
			wait, due = s.clock.until(nextMS)
		}
	})
	return wait, due, err
}

// locked brings the exchange to the clock's time and calls do. A panic inside is a broken
// invariant: it is reported, and no further request is answered.
func (s *Server) locked(do func()) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return s.broken
	}
	defer func() {
		if reason := recover(); reason != nil {
			s.broken = fmt.Errorf("the exchange stopped: %v", reason)
			s.log("%v\n%s", s.broken, debug.Stack())
			s.wakeClock()
			err = s.broken
		}
	}()
	s.exchange.Advance(s.clock.nowMS())
	do()
	s.variants.notePositions(s.exchange, s.accounts)
	return nil
}

// wakeClock makes runClock check again for due events.
func (s *Server) wakeClock() {
	select {
	case s.wake <- struct{}{}:
	default: // a wake-up is already pending
	}
}

func controlOff(address net.Addr) error {
	return fmt.Errorf("control interface on %s refused: it is not signed; listen on 127.0.0.1", address)
}

// loopback reports whether an address is reachable only from this machine.
func loopback(address net.Addr) bool {
	switch a := address.(type) {
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	case *net.UnixAddr:
		return true
	}
	return address != nil && address.Network() == "pipe" // in memory
}
