package research

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"botd/backtest/inputs"
	"botd/configs"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/sim/server"
	"botd/exchange/tape"
	"botd/exchange/wire"
	"botd/internal/failure"
)

// NewExchange returns the command botd exchange.
func NewExchange() *cobra.Command {
	var o server.Options
	var accounts string
	command := &cobra.Command{
		Use: "exchange", Short: "serve the simulated exchange", Args: cobra.NoArgs,
		Long: `Serves the simulated exchange over the signed HTTP interface: a test exchange for any bot, without
real keys and without risk. --control adds an unsigned interface for tests on
loopback: prices, the clock, faults, and the actual state of every order.`,
		Example: "  botd exchange --account KEY:SECRET --market random --seed 7\n  botd exchange --account KEY:SECRET --market still --clock manual --control",
		RunE: func(command *cobra.Command, _ []string) error {
			if slices.Contains(o.Variants, "list") {
				for _, v := range server.Variants() {
					fmt.Fprintf(command.OutOrStdout(), "%-26s %s\n", v.Name+duration(v.Duration), v.What)
				}
				return nil
			}
			o.Log = func(format string, values ...any) { fmt.Fprintf(command.ErrOrStderr(), format+"\n", values...) }
			var err error
			if o.Custom, err = ownAccounts(accounts); err != nil {
				return err
			}
			venue, listener, err := server.Open(o, loaders())
			if err != nil {
				return openFailed(err)
			}
			fmt.Fprintf(command.ErrOrStderr(), "the simulated exchange listens on http://%s\n", listener.Addr())
			return venue.Serve(command.Context(), listener)
		},
	}
	f := command.Flags()
	f.StringVar(&o.Listen, "listen", server.DefaultListen, "address")
	f.StringArrayVar(&o.Accounts, "account", nil, "KEY:SECRET or KEY:SECRET:read, repeatable")
	f.StringVar(&accounts, "accounts", "", "file of accounts (YAML) with individual deposits and fees")
	f.StringVar(&o.Market, "market", "random", "still, random, or a file of recorded candles")
	f.Float64Var(&o.Speed, "speed", 1, "speed of the clock, as a multiple of real time")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the random market")
	f.StringVar(&o.Clock, "clock", "real", "real or manual")
	f.StringVar(&o.Start, "start", "", "start time of the clock (RFC 3339)")
	f.StringVar(&o.Funding, "funding", "", "file of recorded funding rates")
	f.IntVar(&o.Budget, "budget", 0, "requests a second, per key and per address; 0 is unlimited")
	f.BoolVar(&o.Control, "control", false, "serve the control interface (loopback only)")
	f.StringVar(&o.State, "state", "", "file in which accounts are stored across restarts")
	f.StringVar(&o.Symbols, "symbols", "", "symbol records (YAML) instead of the built-in ones")
	f.StringArrayVar(&o.Variants, "variant", nil, "NAME[=DURATION][,NAME], repeatable: another legal reading of the interface; list prints them all")
	f.StringVar(&o.Signer.Template, "signature", wire.DefaultTemplate, "what is signed: exchange.signature.payload of docs/configuration.md")
	f.StringVar(&o.Signer.Encoding, "encoding", "hex", "encoding of signatures: hex or base64")
	f.DurationVar(&o.Window, "window", 5*time.Second, "maximum error of x-timestamp")
	f.Var((*delay)(&o.Delay), "delay", "delay until an order or a cancel takes effect")
	f.DurationVar(&o.DelaySpread, "delay-spread", 0, "additional delay of up to this, drawn for each order")
	f.StringVar(&o.Opposite, "opposite", "reject", "treatment of an order opposite to the position without reduceOnly: reject or net")
	f.Var((*fees)(&o.FuturesFees), "futures-fees", "futures fees of new accounts, MAKER,TAKER (default 0.02%,0.05%)")
	f.Var((*fees)(&o.SpotFees), "spot-fees", "spot fees of new accounts, MAKER,TAKER (default 0.1%,0.1%)")
	f.Var((*rate)(&o.Liquidation), "liquidation-fee", "fee on the value liquidated (default: the account's taker fee)")
	return command
}

// duration formats a variant's default as a flag value.
func duration(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return "=" + d.String()
}

// ownAccounts reads a file of accounts.
func ownAccounts(path string) ([]server.CustomAccount, error) {
	if path == "" {
		return nil, nil
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, failure.Wrap(failure.NoInput, err)
	}
	given, problems := configs.LoadAccounts(path)
	if problems.Errors() > 0 {
		return nil, failure.Wrap(failure.Config, problems)
	}
	own := make([]server.CustomAccount, len(given))
	for i, a := range given {
		own[i] = server.CustomAccount{Account: server.Account{Key: a.Key, Secret: a.Secret, ReadOnly: a.ReadOnly}, Config: sim.AccountConfig{
			Name: a.Key, FuturesUSDT: a.Futures, Spot: a.Spot, FuturesMaker: a.FuturesMaker, FuturesTaker: a.FuturesTaker, SpotMaker: a.SpotMaker,
			SpotTaker: a.SpotTaker}}
	}
	return own, nil
}

// openFailed gives the error of an exchange that cannot start its exit code: most causes are on the command line.
func openFailed(err error) error {
	var (
		coded *failure.Error
		path  *fs.PathError
		link  *os.LinkError
		state *server.StateError
	)
	switch {
	case errors.As(err, &coded):
		return err
	case errors.Is(err, syscall.EADDRINUSE):
		return failure.New(failure.Temporary, "stop the process that listens there, or choose another --listen", "%v", err)
	case errors.Is(err, server.ErrBusy):
		return failure.Wrap(failure.Temporary, err)
	case errors.As(err, &state):
		return failure.Wrap(failure.Data, err)
	case errors.As(err, &path), errors.As(err, &link):
		return failure.Wrap(failure.IO, err)
	}
	return failure.Wrap(failure.Usage, err)
}

// delay is a duration; 0 means no delay.
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

// fees are two shares or percentages; 0 means no fee.
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

// rate is one share or percentage; 0 means none.
type rate exchange.Rate

func (r *rate) Set(text string) error {
	given, err := fee(text)
	*r = rate(given)
	return err
}

func (r *rate) String() string {
	if *r == 0 {
		return ""
	}
	return max(0, exchange.Rate(*r)).String()
}
func (*rate) Type() string { return "rate" }

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

// loaders read the files that the exchange accepts.
func loaders() server.Loaders {
	return server.Loaders{
		Tape: func(path string, symbol *exchange.Symbol) (*exchange.Candles, error) {
			recorded, err := tape.LoadCandles(path, symbol, 0, tape.Options{})
			if err != nil {
				return nil, tape.Failure(err)
			}
			return recorded.Candles, nil
		},
		Funding: func(path string) (map[string][]sim.FundingPoint, error) {
			rows, err := tape.LoadFunding(path)
			if err != nil {
				return nil, tape.Failure(err)
			}
			if len(rows) > 0 && rows[0].Symbol == "" {
				return nil, failure.New(failure.Data, "botd data funding import "+path+" --symbol SYMBOL writes one that does",
					"%s does not name the symbol of its rates", path)
			}
			points := map[string][]sim.FundingPoint{}
			for _, row := range rows {
				points[row.Symbol] = append(points[row.Symbol], sim.FundingPoint{TimeMS: row.TimeMS, Rate: row.Rate})
			}
			return points, nil
		},
		Symbols: inputs.Symbols,
	}
}
