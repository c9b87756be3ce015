package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/sim/server"
	"botd/exchange/tape"
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
	return command
}

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
