package server

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/wire"
)

// Options are the flags of `botd exchange` (docs/exchange.md, Settings). The
// zero value of each means its default.
type Options struct {
	Listen   string   // address; 127.0.0.1:8421
	Accounts []string // KEY:SECRET or KEY:SECRET:read
	Custom   []CustomAccount
	Market   string  // still, random (default), or a file of recorded candles
	Speed    float64 // of a real clock; 1
	Seed     uint64  // of the random market and of delays
	Clock    string  // real (default) or manual
	Start    string  // RFC 3339; start of the clock
	Funding  string  // file of recorded rates
	Budget   int     // requests per second; 0 is unlimited
	Control  bool
	State    string   // file that stores the accounts across restarts
	Symbols  string   // file of symbol records
	Variants []string // NAME[=DURATION], as Variants lists them

	// Settings in which a venue may deviate from docs/exchange.md.
	Signer      wire.Signer
	Window      time.Duration // maximum difference of x-timestamp; 5 s
	Delay       time.Duration // until an order or a cancel takes effect; 5 ms, negative for none
	DelaySpread time.Duration // additional random delay up to this for each order
	Opposite    string        // reject (default) or net for an opening order opposite to the position
	FuturesFees Fees          // of new accounts; 0.02 % and 0.05 %
	SpotFees    Fees          // of new accounts; 0.1 % both
	Liquidation exchange.Rate // fee; 0 is the account's taker fee, negative none

	Log func(format string, values ...any)
}

// CustomAccount is an account with its own deposits and fees.
type CustomAccount struct {
	Account
	Config sim.AccountConfig // its name is the key
}

// Fees are an account's fees as a share of a trade's value. Negative means none.
type Fees struct{ Maker, Taker exchange.Rate }

// or fills in defaults.
func (f Fees) or(maker, taker exchange.Rate) (exchange.Rate, exchange.Rate) {
	return max(0, cmp.Or(f.Maker, maker)), max(0, cmp.Or(f.Taker, taker))
}

// account returns the initial state of a new account.
func (o *Options) account(name string) sim.AccountConfig {
	for i := range o.Custom {
		if o.Custom[i].Key == name {
			account := o.Custom[i].Config
			account.Name = name
			return account
		}
	}
	account := sim.DefaultAccount(name)
	account.FuturesMaker, account.FuturesTaker = o.FuturesFees.or(account.FuturesMaker, account.FuturesTaker)
	account.SpotMaker, account.SpotTaker = o.SpotFees.or(account.SpotMaker, account.SpotTaker)
	return account
}

// delays returns both delays in milliseconds.
func (o *Options) delays() (delayMS, spreadMS int64, err error) {
	delayMS, spreadMS = int64(sim.DefaultOrderDelayMS), o.DelaySpread.Milliseconds()
	if o.Delay != 0 {
		delayMS = max(0, o.Delay.Milliseconds())
	}
	if spreadMS < 0 {
		return 0, 0, fmt.Errorf("delay spread %s is below 0", o.DelaySpread)
	}
	return delayMS, spreadMS, nil
}

// DefaultListen is the address on which `botd exchange` listens.
const DefaultListen = "127.0.0.1:8421"

// Loaders read files for Open. The command line passes them, so that this package depends on no
// file format.
type Loaders struct {
	Tape    func(path string, symbol *exchange.Symbol) (*exchange.Candles, error)
	Funding func(path string) (map[string][]sim.FundingPoint, error) // by futures symbol
	Symbols func(path string) ([]*exchange.Symbol, error)
}

// Open builds the exchange that the options describe, and a listener for it.
func Open(options Options, load Loaders) (*Server, net.Listener, error) {
	config, err := options.config(load)
	if err != nil {
		return nil, nil, err
	}
	s, err := New(config)
	if err != nil {
		return nil, nil, err
	}
	address := options.Listen
	address = cmp.Or(address, DefaultListen)
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, nil, err
	}
	if options.Control && !loopback(listener.Addr()) {
		return nil, nil, errors.Join(controlOff(listener.Addr()), listener.Close())
	}
	return s, listener, nil
}

func (o *Options) config(load Loaders) (Config, error) {
	config := Config{
		Signer: o.Signer, Budget: o.Budget, Control: o.Control, StatePath: o.State, Log: o.Log, NewAccount: o.account, Variants: o.Variants,
	}
	var err error
	if config.Accounts, err = parseAccounts(o.Accounts); err != nil {
		return config, err
	}
	for i := range o.Custom {
		config.Accounts = append(config.Accounts, o.Custom[i].Account)
	}
	if config.Clock, err = o.clock(); err != nil {
		return config, err
	}
	symbols := sim.DefaultSymbols()
	if o.Symbols != "" {
		if symbols, err = load.Symbols(o.Symbols); err != nil {
			return config, fmt.Errorf("symbols: %w", err)
		}
	}
	tapes, err := o.tapes(symbols, load)
	if err != nil {
		return config, err
	}
	if len(tapes) > 0 {
		config.Clock.StartMS = max(config.Clock.StartMS, tapes[0].candles.OpenMS[0])
	}
	var rates map[string][]sim.FundingPoint
	if o.Funding != "" {
		if rates, err = load.Funding(o.Funding); err != nil {
			return config, fmt.Errorf("funding: %w", err)
		}
	}
	delayMS, spreadMS, err := o.delays()
	if err != nil {
		return config, err
	}
	start := sim.Config{Symbols: symbols, StartMS: config.Clock.start(), OrderDelayMS: delayMS, OrderDelaySpreadMS: spreadMS, OppositeOrder: o.Opposite,
		LiquidationFee: o.Liquidation, Seed: o.Seed}
	config.Build = func(state []byte) (*sim.Exchange, error) { return o.build(start, state, tapes, rates) }
	return config, nil
}

func (o *Options) clock() (Clock, error) {
	c := Clock{Speed: o.Speed, WindowMS: o.Window.Milliseconds()}
	switch o.Clock {
	case "", "real":
	case "manual":
		c.Manual = true
	default:
		return c, fmt.Errorf("clock %q is neither real nor manual", o.Clock)
	}
	if o.Start != "" {
		start, err := time.Parse(time.RFC3339, o.Start)
		if err != nil {
			return c, fmt.Errorf("start %q is not a time such as 2026-01-01T00:00:00Z", o.Start)
		}
		c.StartMS = start.UnixMilli()
		if c.StartMS <= 0 {
			return c, fmt.Errorf("start %q is not after 1970", o.Start)
		}
	}
	return c, nil
}

// parseAccounts parses KEY:SECRET and KEY:SECRET:read.
func parseAccounts(texts []string) ([]Account, error) {
	accounts := make([]Account, 0, len(texts))
	for i, text := range texts {
		// Errors never contain the text, because it includes a secret.
		parts := strings.Split(text, ":")
		if len(parts) < 2 || len(parts) > 3 || parts[0] == "" || parts[1] == "" || len(parts) == 3 && parts[2] != "read" {
			return nil, fmt.Errorf("account %d is not KEY:SECRET or KEY:SECRET:read", i+1)
		}
		accounts = append(accounts, Account{Key: parts[0], Secret: parts[1], ReadOnly: len(parts) == 3})
	}
	return accounts, nil
}
