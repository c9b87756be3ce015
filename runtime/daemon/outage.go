package daemon

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"botd/configs"
	"botd/exchange"
	"botd/exchange/rest"
	"botd/internal/failure"
	"botd/internal/printable"
	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/runtime"
	"botd/runtime/api"
	"botd/runtime/engine"
	"botd/runtime/haltfile"
	"botd/runtime/ops"
	"botd/runtime/reload"
)

// How often a start tries a venue that it does not reach, and how often that is logged.
const (
	patience   = 3 * time.Second  // of the start, before it logs that it waits
	reachEvery = 2 * time.Second  // positions may lack their stops meanwhile
	maxReach   = 15 * time.Second // of one try
	logEvery   = time.Minute
)

// outage is a start whose exchange is not reached (case 52): closed, unreachable, or failing.
type outage struct {
	strategies []configs.StrategyConfig
	since      time.Time
	halted     chan struct{} // receives when a halt arrives

	mu       sync.Mutex // guards all below
	cause    string
	tries    int
	reported time.Time
}

// waitable reports whether a venue that was not reached may be reached later. Credentials and
// configuration must be corrected by a person.
func waitable(err error) bool {
	var code *failure.Error
	return errors.As(err, &code) && code.Code == failure.Unavailable
}

// reach reaches the exchange. It waits for an exchange that does not answer: metrics, health, API
// and kill switch are served meanwhile, with the journal and without strategies.
func (p *process) reach(ctx context.Context) error {
	err := p.tryReach(ctx, patience)
	if !waitable(err) || ctx.Err() != nil {
		return err
	}
	p.outage = &outage{strategies: p.config.Strategies, since: time.Now(), cause: printable.Error(err), tries: 1, halted: make(chan struct{}, 1)}
	defer func() { p.outage = nil }()
	until, reached := context.WithCancel(ctx)
	defer reached()
	var end error
	attempts := inBackground(until, func(ctx context.Context) {
		end = p.attempt(ctx)
		reached()
	})
	err = p.trade(until)
	reached()
	attempts()
	return errors.Join(err, end)
}

// tryReach tries once, within a time. A list without a strategy's symbol is read again: one list does not
// decide that a symbol is gone, and one without any symbol shows that the exchange is not ready. A paper account takes its symbols when
// it is reached.
func (p *process) tryReach(ctx context.Context, within time.Duration) error {
	ctx, cancel := context.WithTimeout(rest.Urgent(ctx), within) // a kill switch may wait for it
	defer cancel()
	symbols := p.venue.Client.Symbols()
	if err := p.venue.Reach(ctx); err != nil || p.config.Mode == configs.Paper || allListed(p.config.Strategies, symbols) {
		return err
	}
	if err := p.venue.Client.RefreshSymbols(ctx); err != nil {
		return failure.New(failure.Unavailable, "", "read the symbols again: %w", err)
	}
	for i := range p.config.Strategies {
		market := p.config.Strategies[i].Market
		if !slices.ContainsFunc(symbols.All(), func(s *exchange.Symbol) bool { return s.Market == market }) {
			return failure.New(failure.Unavailable, "", "the exchange lists no %s symbol", market)
		}
	}
	return nil
}

// allListed reports whether the exchange lists the symbol of each strategy.
func allListed(strategies []configs.StrategyConfig, symbols *rest.SymbolTable) bool {
	return !slices.ContainsFunc(strategies, func(c configs.StrategyConfig) bool {
		_, found := symbols.Symbol(exchange.SymbolKey{Market: c.Market, Name: c.Symbol})
		return !found
	})
}

// attempt tries to reach the exchange until it is reached, something else is wrong, or the
// context ends. A halt makes it try at once, even while a try hangs.
func (p *process) attempt(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-p.outage.halted:
		case <-time.After(reachEvery):
		}
		trying, abandon := context.WithCancel(ctx)
		tried := make(chan error, 1)
		go func() { tried <- p.tryReach(trying, maxReach) }()
		var err error
		select {
		case err = <-tried:
			abandon()
		case <-p.outage.halted:
			abandon()
			<-tried
			p.outage.wake()
			continue
		}
		if ctx.Err() != nil {
			return nil
		}
		if !waitable(err) {
			return err
		}
		p.outage.failed(err)
		p.supervisor.Notify("WATCHDOG=1")
	}
}

// wake makes the next try begin at once.
func (o *outage) wake() {
	select {
	case o.halted <- struct{}{}:
	default:
	}
}

func (o *outage) failed(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cause, o.tries = printable.Error(err), o.tries+1
}

// dueReport returns the cause and the tries to log; due reports that it is time to log them.
func (o *outage) dueReport() (cause string, tries int, due bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if time.Since(o.reported) < logEvery {
		return "", 0, false
	}
	o.reported = time.Now()
	return o.cause, o.tries, true
}

// degraded returns the declared state of the account.
func (o *outage) degraded() engine.Degraded {
	o.mu.Lock()
	defer o.mu.Unlock()
	return engine.Degraded{State: "waiting", Cause: o.cause, SinceMS: o.since.UnixMilli(),
		Remedy: "ends when the exchange answers, retried every two seconds; meanwhile nothing is read or sent, orders on the exchange " +
			"stay, halts are journalled"}
}

// outageEngine shows the waiting strategies alongside an engine that has none.
type outageEngine struct {
	*engine.Engine
	outage *outage
}

// HaltBlind reports that the account cannot be read.
func (e outageEngine) HaltBlind(level record.HaltLevel, _ account.Scope, _ int64) []string {
	if !level.EndsOrders() {
		return nil
	}
	return []string{e.outage.blindText()}
}

// blindText describes what a halt cannot read while the exchange is not reached.
func (o *outage) blindText() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return "the account cannot be seen: " + o.cause
}

// Status adds the waiting strategies, so that a halt may name them.
func (e outageEngine) Status() engine.Status {
	s := e.Engine.Status()
	one := e.outage.degraded()
	for i := range s.Degraded {
		if d := &s.Degraded[i]; d.State == "halted" {
			d.Blind = []string{e.outage.blindText()} // without strategies the engine would report everything held as not tradable
		}
	}
	s.Degraded = append(s.Degraded, one)
	for i := range e.outage.strategies {
		c := &e.outage.strategies[i]
		one.Scope = account.Scope{Strategy: c.Name, Symbol: exchange.SymbolKey{Market: c.Market, Name: c.Symbol}}
		s.Degraded = append(s.Degraded, one)
	}
	return s
}

// displayedEngine returns the engine that the API shows.
func (p *process) displayedEngine() api.Engine {
	if p.outage != nil {
		return outageEngine{p.machine, p.outage}
	}
	return p.machine
}

// unreached is a venue that is not reached: every request fails.
type unreached struct{}

func (unreached) Do(_ context.Context, request exchange.Request) (exchange.Answer, error) {
	return exchange.Answer{}, &exchange.Unavailable{Operation: request.Operation, Reason: "not sent: the exchange is not reached yet"}
}

// serveUntilReached serves while botd waits for the exchange, until the context ends.
func (p *process) serveUntilReached(ctx context.Context) error {
	if err := p.watch(ctx); err != nil {
		return err
	}
	defer p.recording.close()
	p.driver = runtime.New(
		runtime.Config{Machine: p.machine, Venue: unreached{}, Journal: timedJournal{p.store, p.metrics, p.backlog}, Clock: p.venue.Client,
			StopTimeout: runtime.DefaultStopTimeout, Notes: p.note, Beat: p.redraw},
	)
	stopNotices, err := p.startNotices()
	if err != nil {
		return err
	}
	defer stopNotices()
	p.reloads = reload.New(p.config, p.Seen, p.Read)
	p.logOutage()
	p.board.Beat() // a health check before the loop's first iteration finds the loop alive
	stopServer, err := p.serve(ctx)
	if err != nil {
		return err
	}
	stopBackground := inBackground(context.WithoutCancel(ctx), p.watchOutage, p.backlog.run,
		(&haltfile.Watcher{Directory: p.directory, Config: p.reloads.Current.Load, Code: p.key.Coder(haltfile.Kind), Send: p.driver.Send,
			Log: p.console.Warn}).Run)
	p.supervisor.Ready("waiting for " + p.venue.Where)
	err = p.driver.Run(ctx)
	stopBackground()
	if stopped := stopServer(); err == nil {
		err = stopped
	}
	return Failure(err)
}

// watchOutage logs from time to time that botd waits for the exchange.
func (p *process) watchOutage(ctx context.Context) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			p.logOutage()
		}
	}
}

// logOutage logs why the exchange is waited for, and shows it in readiness.
func (p *process) logOutage() {
	one := p.outage.degraded()
	p.board.Report(ops.Check{Name: "exchange", Detail: "waiting for it: " + one.Cause})
	if cause, tries, due := p.outage.dueReport(); due {
		p.console.Warn("daemon.waiting", "WAITING   for %s, tried %d times in %s: %s; nothing is sent, botd halt is accepted meanwhile",
			p.venue.Where, tries, time.Since(p.outage.since).Round(time.Second), cause)
	}
}
