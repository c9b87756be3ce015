package gateway

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"botd/configs"
	"botd/exchange"
	"botd/exchange/paper"
	"botd/exchange/rest"
	"botd/exchange/sim"
	"botd/exchange/sim/server"
	"botd/internal/failure"
	"botd/reconcile/account"
	"botd/reconcile/journal"
	"botd/runtime/engine"
	"botd/runtime/ops"
)

// openPaper opens a real venue's public data without keys. Once the venue is reached, the paper
// account is opened on top of it, as the last run left it.
func openPaper(config *configs.Config, directory string) (*Exchange, error) {
	v := &Exchange{
		Where:   "the public data of " + config.Exchange.BaseURL + ", no keys",
		observe: &observed{},
		Stop:    func() error { return nil },
		Binding: journal.Binding{Mode: string(configs.Paper), URL: config.Exchange.BaseURL, KeyFingerprint: Fingerprint(paper.Account),
			Instance: config.Instance},
	}
	settings := rest.Config{BaseURL: config.Exchange.BaseURL, Observe: v.observe.see, Budget: float64(config.Exchange.RequestsPerSecond),
		Profile: Profile(&config.Exchange.Profile)}
	var err error
	if v.Client, err = rest.New(settings); err != nil {
		return nil, failure.Wrap(failure.Config, err)
	}
	v.Trading = v.Client
	v.reach = func(ctx context.Context) error {
		if err := reach(ctx, v.Client, &settings); err != nil {
			return err
		}
		return v.openAccount(ctx, config, directory)
	}
	return v, nil
}

// openAccount opens the paper account and has its data polled.
func (v *Exchange) openAccount(ctx context.Context, config *configs.Config, directory string) error {
	path := filepath.Join(directory, journal.AccountFile)
	store, state, err := server.OpenState(path, func(format string, values ...any) { v.messages.log("paper.state", fmt.Sprintf(format, values...)) })
	if err != nil {
		return failure.New(failure.Data, "move "+directory+" away to begin with a new paper account", "%w", errors.Join(err, store.Close()))
	}
	account, err := paper.New(paper.Config{
		Public: v.Client, Clock: v.Client, Symbols: v.Client.Symbols().All(), Watch: Traded(config),
		Deposit: simulatedAccount(paper.Account, &config.Simulated), DelayMS: sim.DefaultOrderDelayMS,
		PollEvery: time.Duration(config.Paper.PollMS) * time.Millisecond, MaxAge: time.Duration(config.Paper.MaxAgeMS) * time.Millisecond,
		State: state, Store: store, Notify: v.messages.log, OnStale: v.stale.record,
	})
	if err != nil {
		err = errors.Join(err, store.Close())
		return failure.New(
			failure.Data,
			"does the venue have the strategies' symbols? otherwise move "+path+" and the journal next to it away to begin with a new paper account",
			"open the paper account: %w",
			err,
		)
	}
	v.Trading = account
	account.Poll(ctx)
	// The feed outlives the daemon's context, so that stopping can still settle.
	feeding, cancel := context.WithCancel(context.WithoutCancel(ctx))
	group := &errgroup.Group{}
	group.Go(func() error { account.Run(feeding); return nil })
	v.Stop = func() error { cancel(); return errors.Join(group.Wait(), store.Close()) }
	return nil
}

// staleFeeds are the symbols whose data are too old in paper, as a declared state.
type staleFeeds struct {
	mu  sync.Mutex // guards all
	all []engine.Degraded
}

// record notes that a symbol's data are too old, or fresh again.
func (f *staleFeeds) record(seen paper.Staleness) {
	f.mu.Lock()
	defer f.mu.Unlock()
	scope := account.Scope{Symbol: seen.Key}
	at := slices.IndexFunc(f.all, func(d engine.Degraded) bool { return d.Scope == scope })
	if !seen.Stale {
		if at >= 0 {
			f.all = slices.Delete(f.all, at, at+1)
		}
		return
	}
	cause := "the venue's data are older than paper.max_age"
	if seen.SinceMS == 0 {
		cause = "the venue has sent no data yet"
	}
	if seen.Reason != "" {
		cause += ": " + seen.Reason
	}
	d := engine.Degraded{
		State:   "stale",
		Scope:   scope,
		Cause:   cause,
		SinceMS: seen.SinceMS,
		Remedy: "ends when data arrive again, which is polled for; meanwhile nothing is accepted, fills or is triggered on the paper " +
			"account there, and what is traded then fills nothing later",
	}
	switch {
	case at >= 0:
		d.SinceMS = f.all[at].SinceMS
		f.all[at] = d
	default:
		if d.SinceMS == 0 {
			d.SinceMS = time.Now().UnixMilli()
		}
		f.all = append(f.all, d)
	}
}

// Degraded returns the states in force.
func (v *Exchange) Degraded() []engine.Degraded {
	v.stale.mu.Lock()
	defer v.stale.mu.Unlock()
	return slices.Clone(v.stale.all)
}

// Watch starts reading the data of a symbol that a strategy begins to trade.
func (v *Exchange) Watch(key exchange.SymbolKey) {
	if account, simulated := v.Trading.(*paper.Venue); simulated {
		account.Watch(key)
	}
}

// Traded returns the instruments of the strategies.
func Traded(config *configs.Config) (keys []exchange.SymbolKey) {
	for i := range config.Strategies {
		keys = append(keys, exchange.SymbolKey{Market: config.Strategies[i].Market, Name: config.Strategies[i].Symbol})
	}
	return keys
}

// pendingMessages holds a venue's messages until there is a console.
type pendingMessages struct {
	mu      sync.Mutex // guards all below
	console *ops.Console
	queued  [][2]string
}

func (p *pendingMessages) log(event, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.console == nil {
		p.queued = append(p.queued, [2]string{event, text})
		return
	}
	p.console.Warn(event, "paper     %s", text)
}

// LogTo logs the exchange's messages, earlier ones included.
func (v *Exchange) LogTo(console *ops.Console) { v.messages.to(console) }

func (p *pendingMessages) to(console *ops.Console) {
	p.mu.Lock()
	p.console = console
	queued := p.queued
	p.queued = nil
	p.mu.Unlock()
	for _, line := range queued {
		p.log(line[0], line[1])
	}
}
