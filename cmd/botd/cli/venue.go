package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"botd/configs"
	"botd/exchange/rest"
	"botd/exchange/sim"
	"botd/exchange/sim/server"
	"botd/exchange/wire"
	"botd/internal/failure"
	"botd/reconcile/journal"
	"botd/runtime"
	"botd/runtime/gateway"
	"botd/runtime/ops"
)

// observed hands the client's observations to the metrics, once there are some.
type observed struct{ metrics atomic.Pointer[ops.Metrics] }

func (o *observed) see(seen rest.Observation) {
	if m := o.metrics.Load(); m != nil {
		m.Request(seen.Operation, seen.Outcome, seen.Code, seen.Duration, seen.Waited)
	}
}

// venue is the exchange traded on, as the daemon reaches it.
type venue struct {
	client  *rest.Client  // clock, symbols, public data
	trading runtime.Venue // the same, or the paper account beside it
	where   string        // for people: the address, and what it is
	binding journal.Binding
	stop    func() error // ends the embedded exchange; it must be called
	observe *observed
	tell    heard
	stale   staleFeeds // paper alone
}

// measure has the client's requests measured from now on.
func (v *venue) measure(metrics *ops.Metrics) { v.observe.metrics.Store(metrics) }

// openVenue reaches the exchange the mode asks for.
func openVenue(ctx context.Context, config *configs.Config, directory string, market demoStart) (*venue, error) {
	switch config.Mode {
	case configs.Demo:
		return openDemo(ctx, config, directory, market)
	case configs.Paper:
		return openPaper(ctx, config, directory)
	}
	return openLive(ctx, config)
}

// openLive reaches the real service with the keys of the configuration.
func openLive(ctx context.Context, config *configs.Config) (*venue, error) {
	key, secret, err := configs.ReadSecrets(config.Exchange)
	if err != nil {
		return nil, failure.Wrap(failure.Credentials, err)
	}
	v := &venue{where: config.Exchange.BaseURL, stop: func() error { return nil }, observe: &observed{},
		binding: journal.Binding{Mode: string(config.Mode), URL: config.Exchange.BaseURL, KeyFingerprint: fingerprint(key), Instance: config.Instance}}
	v.client, err = gateway.Client(ctx, rest.Config{BaseURL: config.Exchange.BaseURL, Key: key, Secret: secret, Observe: v.observe.see,
		Budget: float64(config.Exchange.RequestsPerSecond),
		Signer: wire.Signer{Template: config.Exchange.Signature.Payload, Encoding: config.Exchange.Signature.Encoding}})
	v.trading = v.client
	return v, err
}

// fingerprint names a key without telling it.
func fingerprint(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:6])
}

// demoAccount names the demo's account; its secret is made anew at each start
// and never leaves the process.
const demoAccount = "demo"

// addressFile tells where the running demo's exchange listens, for botd markets,
// candles and book. Its trading is signed with a secret that is told nowhere.
const addressFile = "exchange.address"

// openDemo starts the embedded exchange on a free loopback port, with its market
// and the paper account as the last run left them, and reaches it by the same
// signed client as a real one.
func openDemo(ctx context.Context, config *configs.Config, directory string, market demoStart) (*venue, error) {
	secret := rand.Text()
	venueServer, err := server.New(server.Config{
		Build: func(state []byte) (*sim.Exchange, error) {
			return demoMarket(state, market, simulatedAccount(demoAccount, &config.Simulated))
		},
		Clock:    server.Clock{StartMS: market.startMS},
		Accounts: []server.Account{{Key: demoAccount, Secret: secret}}, StatePath: filepath.Join(directory, "exchange.json"),
	})
	if err != nil {
		return nil, failure.New(failure.Data, "move "+directory+" away to begin with a new paper account", "start the demo's exchange: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, failure.New(failure.Unavailable, "", "start the demo's exchange: %w", err)
	}
	tellAddress, address := filepath.Join(directory, addressFile), "http://"+listener.Addr().String()
	if err := os.WriteFile(tellAddress, []byte(address+"\n"), 0o600); err != nil {
		return nil, failure.Wrap(failure.IO, errors.Join(err, listener.Close()))
	}
	// The exchange outlives the daemon's context, so that stopping can still settle.
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	group := &errgroup.Group{}
	group.Go(func() error { return venueServer.Serve(serving, listener) })
	v := &venue{where: "a simulated exchange inside botd (demo)", observe: &observed{},
		stop:    func() error { cancel(); return errors.Join(group.Wait(), os.Remove(tellAddress)) },
		binding: journal.Binding{Mode: string(configs.Demo), URL: "embedded", KeyFingerprint: fingerprint(demoAccount), Instance: config.Instance}}
	v.client, err = gateway.Client(ctx, rest.Config{BaseURL: address, Key: demoAccount, Secret: []byte(secret), Observe: v.observe.see})
	if err != nil {
		return nil, errors.Join(err, v.stop())
	}
	v.trading = v.client
	return v, nil
}

// simulatedAccount is the configured account of demo or paper.
func simulatedAccount(name string, c *configs.SimulatedConfig) sim.AccountConfig {
	return sim.AccountConfig{Name: name, FuturesUSDT: c.Futures, Spot: c.Spot, Leverage: sim.DefaultLeverage,
		FuturesMaker: c.FuturesMaker, FuturesTaker: c.FuturesTaker, SpotMaker: c.SpotMaker, SpotTaker: c.SpotTaker}
}

// demoStart says which market a new demo begins with.
type demoStart struct {
	seed    uint64
	startMS int64 // 0 for now
}

// demoMarket is the built-in market, moving at random; it has a past of two weeks
// at once. One seed serves all symbols, so that futures and spot of one move alike.
func demoMarket(state []byte, market demoStart, account sim.AccountConfig) (*sim.Exchange, error) {
	settings := sim.Config{Symbols: sim.DefaultSymbols(), StartMS: cmp.Or(market.startMS, time.Now().UnixMilli()), OrderDelayMS: sim.DefaultOrderDelayMS, Seed: market.seed}
	var (
		x   *sim.Exchange
		err error
	)
	if state == nil {
		if x, err = sim.New(settings); err == nil {
			err = x.AddAccount(account)
		}
	} else if x, err = sim.Restore(settings, state); err == nil {
		err = x.SetFees(account)
	}
	if err != nil {
		return nil, err
	}
	for _, symbol := range settings.Symbols {
		x.SetMarket(symbol.Key(), sim.Random(market.seed))
	}
	return x, nil
}
