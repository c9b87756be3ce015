package gateway

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"botd/configs"
	"botd/configs/engineconfig"
	"botd/exchange"
	"botd/exchange/paper"
	"botd/exchange/rest"
	"botd/exchange/sim"
	"botd/exchange/sim/server"
	"botd/internal/failure"
	"botd/reconcile/journal"
	"botd/runtime"
)

// Copy is a read-only venue, and its time.
type Copy struct {
	Trading runtime.Venue
	Clock   runtime.Clock
	Symbol  engineconfig.SymbolOf
	Known   []*exchange.Symbol // all of them
	Where   string
	Stop    func()
}

// ReadOnly refuses every request that changes anything. A rehearsing engine sends no such request;
// this makes sure.
type ReadOnly struct{ Venue runtime.Venue }

func (l ReadOnly) Do(ctx context.Context, request exchange.Request) (exchange.Answer, error) {
	if request.Operation.Changes() {
		return exchange.Answer{}, &exchange.Unavailable{Operation: request.Operation, Reason: "a rehearsal sends nothing"}
	}
	return l.Venue.Do(ctx, request)
}

func OpenCopy(ctx context.Context, config *configs.Config, directory string) (*Copy, error) {
	switch config.Mode {
	case configs.Demo:
		return DemoCopy(config, directory)
	case configs.Paper:
		return paperCopy(ctx, config, directory)
	}
	v, err := openLive(config, directory, Network{})
	if err == nil {
		err = v.Reach(ctx)
	}
	if err != nil {
		return nil, err
	}
	return &Copy{Trading: v.Client, Clock: v.Client, Symbol: v.Client.Symbols().Symbol, Where: v.Where, Stop: func() {}}, nil
}

// inside is the demo's exchange as the last run left it, advanced to the present. It is a copy: the
// next run uses the original.
type inside struct {
	mu       sync.Mutex // guards exchange
	exchange *sim.Exchange
}

func (i *inside) ServerNowMS() int64 { return time.Now().UnixMilli() }

func (i *inside) Do(_ context.Context, request exchange.Request) (exchange.Answer, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.exchange.Advance(max(i.exchange.NowMS(), i.ServerNowMS()))
	return i.exchange.Do(DemoAccount, &request)
}

func DemoCopy(config *configs.Config, directory string) (*Copy, error) {
	state, err := copyOfState(filepath.Join(directory, journal.AccountFile))
	if err != nil {
		return nil, err
	}
	x, err := newDemo(state, DemoMarket{Seed: 1}, simulatedAccount(DemoAccount, &config.Simulated))
	if err != nil {
		return nil, failure.New(failure.Data, "", "open a copy of the demo's exchange: %w", err)
	}
	known := sim.DefaultSymbols()
	venue := &inside{exchange: x}
	return &Copy{Trading: venue, Clock: venue, Symbol: rest.NewSymbolTable(known...).Symbol, Known: known, Where: "a copy of the demo's exchange",
		Stop: func() {}}, nil
}

func paperCopy(ctx context.Context, config *configs.Config, directory string) (*Copy, error) {
	client, err := Client(ctx, rest.Config{BaseURL: config.Exchange.BaseURL, Budget: float64(config.Exchange.RequestsPerSecond),
		Profile: Profile(&config.Exchange.Profile)})
	if err != nil {
		return nil, err
	}
	state, err := copyOfState(filepath.Join(directory, journal.AccountFile))
	if err != nil {
		return nil, err
	}
	account, err := paper.New(
		paper.Config{
			Public:    client,
			Clock:     client,
			Symbols:   client.Symbols().All(),
			Watch:     Traded(config),
			Deposit:   simulatedAccount(paper.Account, &config.Simulated),
			DelayMS:   sim.DefaultOrderDelayMS,
			PollEvery: time.Duration(config.Paper.PollMS) * time.Millisecond,
			MaxAge:    time.Duration(config.Paper.MaxAgeMS) * time.Millisecond,
			State:     state,
		},
	)
	if err != nil {
		return nil, failure.New(failure.Data, "", "open a copy of the paper account: %w", err)
	}
	account.Poll(ctx)
	return &Copy{Trading: account, Clock: client, Symbol: client.Symbols().Symbol, Where: "the public data of " + config.Exchange.BaseURL,
		Stop: func() {}}, nil
}

// copyOfState reads a simulated exchange's state from a copy of its file, since opening the file
// may rewrite it. The file may not exist yet.
func copyOfState(path string) (state []byte, err error) {
	source, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, failure.Wrap(failure.IO, err)
	}
	defer source.Close()
	directory, err := os.MkdirTemp("", "botd-rehearsal-")
	if err != nil {
		return nil, failure.Wrap(failure.IO, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(directory)) }()
	copied, err := os.OpenFile(filepath.Join(directory, journal.AccountFile), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, failure.Wrap(failure.IO, err)
	}
	_, err = io.Copy(copied, source)
	if err := errors.Join(err, copied.Close()); err != nil {
		return nil, failure.Wrap(failure.IO, err)
	}
	store, state, err := server.OpenState(copied.Name(), func(string, ...any) {})
	if err != nil {
		return nil, failure.New(failure.Data, "", "%w", errors.Join(err, store.Close()))
	}
	return state, store.Close()
}
