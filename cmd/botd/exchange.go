package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/sim/server"
	"botd/exchange/tape"
	"botd/exchange/wire"
)

func newExchange() *cobra.Command {
	var o server.Options
	command := &cobra.Command{
		Use: "exchange", Short: "serve the simulated exchange", Args: cobra.NoArgs,
		Long: `Serves the simulated exchange over the signed HTTP interface: a partner to test a
bot against, without keys and without risk. --control adds an unsigned interface for
tests on loopback: prices, the clock, faults, and the truth about every order.`,
		Example: "  botd exchange --account KEY:SECRET --market random --seed 7\n  botd exchange --account KEY:SECRET --market still --clock manual --control",
		RunE: func(command *cobra.Command, _ []string) error {
			o.Log = func(format string, values ...any) { fmt.Fprintf(command.ErrOrStderr(), format+"\n", values...) }
			venue, listener, err := server.Open(o, loaders())
			if err != nil {
				return fail(exitUsage, err)
			}
			fmt.Fprintf(command.ErrOrStderr(), "the simulated exchange listens on http://%s\n", listener.Addr())
			return venue.Serve(command.Context(), listener)
		},
	}
	f := command.Flags()
	f.StringVar(&o.Listen, "listen", server.DefaultListen, "address")
	f.StringArrayVar(&o.Accounts, "account", nil, "KEY:SECRET or KEY:SECRET:read, repeatable")
	f.StringVar(&o.Market, "market", "random", "still, random, or a file of recorded candles")
	f.Float64Var(&o.Speed, "speed", 1, "times as fast as real time")
	f.Uint64Var(&o.Seed, "seed", 1, "of the random market")
	f.StringVar(&o.Clock, "clock", "real", "real or manual")
	f.StringVar(&o.Start, "start", "", "where the clock starts (RFC 3339)")
	f.StringVar(&o.Funding, "funding", "", "file of recorded funding rates")
	f.IntVar(&o.Budget, "budget", 0, "requests a second, per key and per address; 0 is unlimited")
	f.BoolVar(&o.Control, "control", false, "serve the control interface (loopback only)")
	f.StringVar(&o.State, "state", "", "file in which accounts survive")
	f.StringVar(&o.Symbols, "symbols", "", "symbol records (YAML) instead of the built-in ones")
	f.StringVar(&o.Signer.Template, "signature", wire.DefaultTemplate, "what is signed: {timestamp} {method} {path} {query} {body} {key}")
	f.StringVar(&o.Signer.Encoding, "encoding", "hex", "of signatures: hex or base64")
	f.DurationVar(&o.Window, "window", 5*time.Second, "how far x-timestamp may be off")
	f.Var((*delay)(&o.Delay), "delay", "until an order or a cancel takes effect")
	f.DurationVar(&o.DelaySpread, "delay-spread", 0, "up to that much more, drawn for each order")
	f.StringVar(&o.Opposite, "opposite", "reject", "an order opposite to the position without reduceOnly: reject or net")
	f.Var((*fees)(&o.FuturesFees), "futures-fees", "of new accounts, MAKER,TAKER (default 0.02%,0.05%)")
	f.Var((*fees)(&o.SpotFees), "spot-fees", "of new accounts, MAKER,TAKER (default 0.1%,0.1%)")
	return command
}

// delay is a duration whose 0 means at once.
type delay time.Duration

func (d *delay) Set(text string) error {
	given, err := time.ParseDuration(text)
	if err == nil && given < 0 {
		err = fmt.Errorf("%s is below 0", text)
	}
	if given == 0 {
		given = -1
	}
	*d = delay(given)
	return err
}

func (d *delay) String() string {
	if *d == 0 {
		return (sim.DefaultOrderDelayMS * time.Millisecond).String()
	}
	return max(0, time.Duration(*d)).String()
}
func (*delay) Type() string { return "duration" }

// fees are two shares or percentages, of which 0 means none.
type fees server.Fees

func (f *fees) Set(text string) error {
	maker, taker, found := strings.Cut(text, ",")
	if !found {
		return fmt.Errorf("%q is not MAKER,TAKER such as 0.02%%,0.05%%", text)
	}
	var err error
	if f.Maker, err = fee(maker); err == nil {
		f.Taker, err = fee(taker)
	}
	return err
}

func fee(text string) (exchange.Rate, error) {
	given, err := exchange.ParseRate(strings.TrimSpace(text))
	switch {
	case err != nil:
		return 0, err
	case given < 0 || given > maxFee:
		return 0, fmt.Errorf("fee %s is not 0 to 10%%", text)
	case given == 0:
		return -1, nil
	}
	return given, nil
}

// maxFee bounds a fee: a tenth of the value.
const maxFee exchange.Rate = 10_000_000

func (f *fees) String() string {
	if *f == (fees{}) {
		return ""
	}
	return max(0, f.Maker).String() + "," + max(0, f.Taker).String()
}
func (*fees) Type() string { return "rates" }

// loaders read the files the exchange may be given.
func loaders() server.Loaders {
	return server.Loaders{
		Tape: func(path string, symbol *exchange.Symbol) (*exchange.Candles, error) {
			recorded, err := tape.LoadCandles(path, symbol, 0, tape.Options{})
			if err != nil {
				return nil, dataError(err)
			}
			return recorded.Candles, nil
		},
		Funding: func(path string) (map[string][]sim.FundingPoint, error) {
			rows, err := tape.LoadFunding(path)
			if err != nil {
				return nil, dataError(err)
			}
			points := map[string][]sim.FundingPoint{}
			for _, row := range rows {
				points[row.Symbol] = append(points[row.Symbol], sim.FundingPoint{TimeMS: row.TimeMS, Rate: row.Rate})
			}
			return points, nil
		},
		Symbols: func(path string) ([]*exchange.Symbol, error) {
			symbols, err := tape.LoadSymbols(path, exchange.Futures)
			return symbols, dataErrorOrNil(err)
		},
	}
}

func dataErrorOrNil(err error) error {
	if err == nil {
		return nil
	}
	return dataError(err)
}
