package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"botd/configs"
	"botd/configs/engineconfig"
	"botd/exchange"
	"botd/exchange/paper"
	"botd/exchange/rest"
	"botd/exchange/sim"
	"botd/exchange/sim/server"
	"botd/internal/failure"
	"botd/reconcile"
	"botd/reconcile/journal"
	"botd/reconcile/record"
	"botd/runtime"
	"botd/runtime/api/client"
	"botd/runtime/engine"
	"botd/runtime/gateway"
	"botd/runtime/view"
)

// rehearsalPatience bounds how long a rehearsal looks before it tells what it knows.
const rehearsalPatience = 20 * time.Second

// rehearsed is a venue that is only looked at, and the time there.
type rehearsed struct {
	trading runtime.Venue
	clock   runtime.Clock
	symbol  engineconfig.SymbolOf
	known   []*exchange.Symbol // all of them
	where   string
	stop    func()
}

// looking lets nothing through that changes anything. An engine that rehearses
// asks for nothing of the kind; this makes sure.
type looking struct{ venue runtime.Venue }

func (l looking) Do(ctx context.Context, request exchange.Request) (exchange.Answer, error) {
	if request.Operation.Changes() {
		return exchange.Answer{}, &exchange.Unavailable{Operation: request.Operation, Reason: "a rehearsal sends nothing"}
	}
	return l.venue.Do(ctx, request)
}

// nowhere is a journal of which nothing is kept.
type nowhere struct{}

func (nowhere) Append(context.Context, []record.Record) error { return nil }

// outlooks asks the running daemon, or where none runs rehearses a start: the
// journal is read, the venue looked at, and nothing is written or sent.
func outlooks(command *cobra.Command, flags *askFlags) ([]view.TickPreview, error) {
	d, err := flags.daemon(command.Context())
	if err == nil {
		all, _, err := client.Ask[client.Page[view.TickPreview]](command.Context(), d, "GET", "/api/v1/plan", nil)
		return all.Items, err
	}
	if failure.CodeOf(err) != failure.Unavailable {
		return nil, err
	}
	config, err := loadGood(flags.directory)
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(command.ErrOrStderr(), "no daemon runs: this is what a start would find")
	return rehearse(command.Context(), config)
}

// rehearse starts an engine that decides and sends nothing, lets it look once, and
// returns what its strategies' next ticks would do.
func rehearse(ctx context.Context, config *configs.Config) ([]view.TickPreview, error) {
	directory := filepath.Join(config.DataDir, string(config.Mode))
	v, err := openRehearsal(ctx, config, directory)
	if err != nil {
		return nil, err
	}
	defer v.stop()
	book, err := journalled(ctx, config, directory)
	if err != nil {
		return nil, err
	}
	account, err := engineconfig.Account(config, book, v.symbol)
	if err != nil {
		return nil, err
	}
	account.Rehearse = true
	machine, err := engine.New(account, book)
	if err != nil {
		return nil, failure.Wrap(failure.Config, err)
	}
	return look(ctx, machine, v)
}

// look drives the engine until everything was read once.
func look(ctx context.Context, machine *engine.Engine, v *rehearsed) ([]view.TickPreview, error) {
	limited, enough := context.WithTimeout(ctx, rehearsalPatience)
	defer enough()
	var all []view.TickPreview
	driver := runtime.New(runtime.Config{Machine: machine, Venue: looking{venue: v.trading}, Journal: nowhere{}, Clock: v.clock, Beat: func(int64) {
		if limited.Err() != nil {
			return
		}
		known := true
		all = nil
		for _, o := range machine.Outlooks() {
			known = known && o.CandleMS > 0 && o.Last > 0 && machine.Book().Symbol(o.Symbol.Key()).Read
			all = append(all, view.TickPreviewOf(&o))
		}
		if known {
			enough()
		}
	}})
	if err := driver.Run(limited); err != nil {
		return nil, failure.Wrap(failure.Internal, err)
	}
	return all, context.Cause(ctx)
}

// journalled is what the journal says, without taking it from a daemon that has it.
func journalled(ctx context.Context, config *configs.Config, directory string) (*reconcile.Book, error) {
	book := reconcile.NewBook(engineconfig.Settle(config.Exchange.Settle))
	path := filepath.Join(directory, journal.FileName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return book, nil
	}
	store, err := journal.Read(ctx, path)
	if err != nil {
		return nil, journal.Failure(err)
	}
	defer store.Close()
	if err := store.Replay(ctx, func(r *record.Record) error { book.Apply(r); return nil }); err != nil {
		return nil, failure.New(failure.Data, "botd journal verify says more", "replay the journal: %w", err)
	}
	return book, nil
}

func openRehearsal(ctx context.Context, config *configs.Config, directory string) (*rehearsed, error) {
	switch config.Mode {
	case configs.Demo:
		return rehearseDemo(config, directory)
	case configs.Paper:
		return rehearsePaper(ctx, config, directory)
	}
	v, err := openLive(ctx, config)
	if err != nil {
		return nil, err
	}
	return &rehearsed{trading: v.client, clock: v.client, symbol: v.client.Symbols().Symbol, where: v.where, stop: func() {}}, nil
}

// inside is the demo's exchange as the last run left it, moved on to now. It is a
// copy: the next run finds the original.
type inside struct {
	mu       sync.Mutex // guards exchange
	exchange *sim.Exchange
}

func (i *inside) ServerNowMS() int64 { return time.Now().UnixMilli() }

func (i *inside) Do(_ context.Context, request exchange.Request) (exchange.Answer, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.exchange.Advance(max(i.exchange.NowMS(), i.ServerNowMS()))
	return i.exchange.Do(demoAccount, &request)
}

func rehearseDemo(config *configs.Config, directory string) (*rehearsed, error) {
	state, err := copyOfState(filepath.Join(directory, "exchange.json"))
	if err != nil {
		return nil, err
	}
	x, err := demoMarket(state, demoStart{seed: 1}, simulatedAccount(demoAccount, &config.Simulated))
	if err != nil {
		return nil, failure.New(failure.Data, "", "open a copy of the demo's exchange: %w", err)
	}
	known := sim.DefaultSymbols()
	venue := &inside{exchange: x}
	return &rehearsed{trading: venue, clock: venue, symbol: rest.NewSymbolTable(known...).Symbol, known: known, where: "a copy of the demo's exchange", stop: func() {}}, nil
}

func rehearsePaper(ctx context.Context, config *configs.Config, directory string) (*rehearsed, error) {
	client, err := gateway.Client(ctx, rest.Config{BaseURL: config.Exchange.BaseURL, Budget: float64(config.Exchange.RequestsPerSecond)})
	if err != nil {
		return nil, err
	}
	state, err := copyOfState(filepath.Join(directory, "exchange.json"))
	if err != nil {
		return nil, err
	}
	account, err := paper.New(paper.Config{Public: client, Clock: client, Symbols: client.Symbols().All(), Watch: traded(config), Deposit: simulatedAccount(paper.Account, &config.Simulated),
		DelayMS: sim.DefaultOrderDelayMS, PollEvery: time.Duration(config.Paper.PollMS) * time.Millisecond, MaxAge: time.Duration(config.Paper.MaxAgeMS) * time.Millisecond, State: state})
	if err != nil {
		return nil, failure.New(failure.Data, "", "open a copy of the paper account: %w", err)
	}
	account.Poll(ctx)
	return &rehearsed{trading: account, clock: client, symbol: client.Symbols().Symbol, where: "the public data of " + config.Exchange.BaseURL, stop: func() {}}, nil
}

// copyOfState reads a simulated exchange's state from a copy of its file, since
// opening the file may rewrite it. There may be none yet.
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
	copied, err := os.OpenFile(filepath.Join(directory, "exchange.json"), os.O_CREATE|os.O_WRONLY, 0o600)
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
