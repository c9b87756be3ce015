package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"botd/configs"
	"botd/exchange/rest"
	"botd/exchange/sim"
	"botd/exchange/sim/server"
	"botd/internal/failure"
	"botd/internal/privatefile"
	"botd/reconcile/journal"
	"botd/runtime"
	"botd/runtime/ops"
)

// observed passes the client's observations to the metrics, once they exist.
type observed struct{ metrics atomic.Pointer[ops.Metrics] }

func (o *observed) see(seen rest.Observation) {
	if m := o.metrics.Load(); m != nil {
		m.Request(seen.Operation, seen.Outcome, seen.Code, seen.Duration, seen.Waited)
	}
}

// Exchange is the exchange of the mode, for the daemon.
type Exchange struct {
	Client  *rest.Client  // clock, symbols, public data
	Trading runtime.Venue // the same, or the paper account on top of it
	Where   string        // for people: the address, and its kind
	Binding journal.Binding
	Stop    func() error                // ends the embedded exchange; it must be called
	reach   func(context.Context) error // nil: it is reached
	observe *observed

	written     string       // live: the content of the files of key and secret when they were last read
	credentials *rest.Config // live: the credentials in use; only the rotating goroutine changes them
	messages    pendingMessages
	stale       staleFeeds // paper alone
}

// Measure has the client's requests measured from now on.
func (v *Exchange) Measure(metrics *ops.Metrics) { v.observe.metrics.Store(metrics) }

// Reach connects to an opened exchange: until then its Client knows neither clock nor symbols. An
// error of code failure.Unavailable may be over at the next try.
func (v *Exchange) Reach(ctx context.Context) error {
	if v.reach == nil {
		return nil
	}
	err := v.reach(ctx)
	if err == nil {
		v.reach = nil
	}
	return err
}

// Network is how the exchange is reached. The zero value is the machine's.
type Network struct {
	Listen    func() (net.Listener, error) // of the demo's exchange
	Transport http.RoundTripper
}

// listen listens for the client of the demo's exchange.
func (n *Network) listen() (net.Listener, error) {
	if n.Listen != nil {
		return n.Listen()
	}
	return net.Listen("tcp", "127.0.0.1:0")
}

// Open opens the exchange of the mode. Reach connects to it.
func Open(ctx context.Context, config *configs.Config, directory string, market DemoMarket, network Network) (*Exchange, error) {
	switch config.Mode {
	case configs.Demo:
		return openDemo(ctx, config, directory, market, network)
	case configs.Paper:
		return openPaper(config, directory)
	}
	return openLive(config, directory, network)
}

// openLive opens the real service with the keys of the configuration.
func openLive(config *configs.Config, directory string, network Network) (*Exchange, error) {
	key, secret, err := configs.ReadSecrets(config.Exchange)
	if err != nil {
		return nil, failure.Wrap(failure.Credentials, err)
	}
	if err := unsettled(config); err != nil {
		return nil, err
	}
	keys, err := readSuccession(directory)
	if err != nil {
		return nil, err
	}
	v := &Exchange{
		Where:   config.Exchange.BaseURL,
		Stop:    func() error { return nil },
		observe: &observed{},
		Binding: journal.Binding{Mode: string(config.Mode), URL: config.Exchange.BaseURL, KeyFingerprint: keys.bound(Fingerprint(key)),
			Instance: config.Instance},
	}
	settings := rest.Config{BaseURL: config.Exchange.BaseURL, Key: key, Secret: secret, Observe: v.observe.see,
		Transport: network.Transport, Budget: float64(config.Exchange.RequestsPerSecond), Profile: Profile(&config.Exchange.Profile),
		Signer: Signer(&config.Exchange.Signature)}
	if v.Client, err = rest.New(settings); err != nil {
		return nil, failure.Wrap(failure.Config, err)
	}
	v.Trading, v.credentials = v.Client, &settings
	v.reach = func(ctx context.Context) error { return reach(ctx, v.Client, &settings) }
	return v, nil
}

// Fingerprint identifies a key without exposing it.
func Fingerprint(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:6])
}

// DemoAccount names the demo's account; its secret is generated at each start
// and never leaves the process.
const DemoAccount = "demo"

// AddressFile holds the address of the running demo's exchange, for botd markets,
// candles and book. Trading requests are signed with a secret that is never written.
const AddressFile = "exchange.address"

// openDemo starts the embedded exchange on a free loopback port, with its market and the paper
// account as the last run left them, and connects to it with the signed client that a real one
// uses.
func openDemo(ctx context.Context, config *configs.Config, directory string, market DemoMarket, network Network) (*Exchange, error) {
	secret := rand.Text()
	venueServer, err := server.New(server.Config{
		Build: func(state []byte) (*sim.Exchange, error) {
			return newDemo(state, market, simulatedAccount(DemoAccount, &config.Simulated))
		},
		Clock:    server.Clock{StartMS: market.StartMS},
		Accounts: []server.Account{{Key: DemoAccount, Secret: secret}}, StatePath: filepath.Join(directory, journal.AccountFile),
	})
	if err != nil {
		return nil, failure.New(failure.Data, "move "+directory+" away to begin with a new paper account", "start the demo's exchange: %w", err)
	}
	listener, err := network.listen()
	if err != nil {
		return nil, failure.New(failure.Unavailable, "", "start the demo's exchange: %w", err)
	}
	addressPath, address := filepath.Join(directory, AddressFile), "http://"+listener.Addr().String()
	if err := privatefile.Write(addressPath, []byte(address+"\n")); err != nil {
		return nil, failure.Wrap(failure.IO, errors.Join(err, listener.Close()))
	}
	// The exchange outlives the daemon's context, so that stopping can still settle.
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	group := &errgroup.Group{}
	group.Go(func() error { return venueServer.Serve(serving, listener) })
	v := &Exchange{Where: "a simulated exchange inside botd (demo)", observe: &observed{},
		Stop:    func() error { cancel(); return errors.Join(group.Wait(), os.Remove(addressPath)) },
		Binding: journal.Binding{Mode: string(configs.Demo), URL: "embedded", KeyFingerprint: Fingerprint(DemoAccount), Instance: config.Instance}}
	v.Client, err = Client(ctx, rest.Config{BaseURL: address, Key: DemoAccount, Secret: []byte(secret), Observe: v.observe.see, Transport: network.Transport})
	if err != nil {
		return nil, errors.Join(err, v.Stop())
	}
	v.Trading = v.Client
	return v, nil
}

// simulatedAccount returns the configured account of the mode demo or paper.
func simulatedAccount(name string, c *configs.SimulatedConfig) sim.AccountConfig {
	return sim.AccountConfig{Name: name, FuturesUSDT: c.Futures, Spot: c.Spot, Leverage: sim.DefaultLeverage,
		FuturesMaker: c.FuturesMaker, FuturesTaker: c.FuturesTaker, SpotMaker: c.SpotMaker, SpotTaker: c.SpotTaker}
}

// DemoMarket selects the market of a new demo.
type DemoMarket struct {
	Seed    uint64
	StartMS int64 // 0 for now
}

// newDemo returns the built-in market, with random prices and a past of two weeks. One seed serves all
// symbols, so that futures and spot of one move alike.
func newDemo(state []byte, market DemoMarket, account sim.AccountConfig) (*sim.Exchange, error) {
	settings := sim.Config{Symbols: sim.DefaultSymbols(), StartMS: cmp.Or(market.StartMS, time.Now().UnixMilli()),
		OrderDelayMS: sim.DefaultOrderDelayMS, Seed: market.Seed}
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
		x.SetMarket(symbol.Key(), sim.Random(market.Seed))
	}
	return x, nil
}
