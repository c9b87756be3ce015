package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"botd/configs"
	"botd/exchange"
	"botd/exchange/rest"
	"botd/exchange/sim"
	"botd/internal/failure"
	"botd/runtime/gateway"
)

// publicFlags say which venue is looked at.
type publicFlags struct{ url, directory, market, output string }

func (f *publicFlags) add(command *cobra.Command, market string) {
	command.Flags().StringVar(&f.url, "base-url", "", "the venue's address (default: the configuration's, in demo the demo's market)")
	command.Flags().StringVarP(&f.directory, "config", "c", "", "configuration directory (default ./configs, else the built-in examples)")
	command.Flags().StringVar(&f.market, "market", market, "futures or spot")
}

// publicVenue is a venue's public data, for looking at.
type publicVenue struct {
	do      func(context.Context, exchange.Request) (exchange.Answer, error)
	now     func() int64
	symbols []*exchange.Symbol
	where   string
}

// open reaches the venue asked for, that of the configuration, or the demo's market.
func (f *publicFlags) open(command *cobra.Command) (*publicVenue, error) {
	if f.url != "" {
		return openPublic(command.Context(), f.url)
	}
	config, err := loadGood(f.directory)
	if err != nil {
		return nil, err
	}
	v, running, err := publicOf(command.Context(), config)
	if err == nil && !running {
		fmt.Fprintln(command.ErrOrStderr(), "no --base-url, and no demo runs: this is the demo's market as a new one would begin")
	}
	return v, err
}

// publicOf reaches the public data of the exchange that a configuration names. Of a demo
// that does not run it is the market as a new one would begin.
func publicOf(ctx context.Context, config *configs.Config) (v *publicVenue, running bool, err error) {
	if config.Mode != configs.Demo {
		v, err = openPublic(ctx, config.Exchange.BaseURL)
		return v, true, err
	}
	// A demo that runs tells where its exchange listens.
	address, err := os.ReadFile(filepath.Join(config.DataDir, string(configs.Demo), addressFile))
	if err == nil {
		if v, err := openPublic(ctx, strings.TrimSpace(string(address))); err == nil {
			return v, true, nil
		}
	}
	x, err := demoMarket(nil, demoStart{seed: 1}, sim.DefaultAccount(demoAccount))
	if err != nil {
		return nil, false, err
	}
	return &publicVenue{
		do:  func(_ context.Context, request exchange.Request) (exchange.Answer, error) { return x.Do("", &request) },
		now: x.NowMS, symbols: sim.DefaultSymbols(), where: "the demo's market",
	}, false, nil
}

// loadGood reads a configuration that must be right.
func loadGood(directory string) (*configs.Config, error) {
	config, problems, err := load(directory, "")
	if err != nil {
		return nil, err
	}
	if err := problems.Err(); err != nil {
		return nil, failure.New(failure.Config, "botd check shows all of it", "%s", problems.String())
	}
	return config, nil
}

func openPublic(ctx context.Context, address string) (*publicVenue, error) {
	client, err := gateway.Client(ctx, rest.Config{BaseURL: address})
	if err != nil {
		return nil, err
	}
	return &publicVenue{do: client.Do, now: client.ServerNowMS, symbols: client.Symbols().All(), where: address}, nil
}

// ask performs one request.
func (v *publicVenue) ask(ctx context.Context, request exchange.Request) (exchange.Answer, error) {
	answer, err := v.do(ctx, request)
	if err == nil {
		return answer, nil
	}
	if exchange.ErrorKind(err) == "refusal" {
		return answer, failure.New(failure.Negative, "", "%s: %w", v.where, err)
	}
	return answer, failure.New(failure.Unavailable, "is the venue up? botd probe says more", "%s: %w", v.where, err)
}

// find returns a symbol of a market by its name.
func (v *publicVenue) find(market, name string) (*exchange.Symbol, error) {
	of, err := exchange.ParseMarket(market)
	if err != nil {
		return nil, failure.Usagef("--market: %v", err)
	}
	if symbol, found := exchange.FindSymbol(v.symbols, of, name); found {
		return symbol, nil
	}
	near, short := "", strings.Map(letters, strings.ToUpper(name))
	for _, symbol := range v.symbols {
		if symbol.Market == of && short != "" && strings.HasPrefix(strings.Map(letters, symbol.Name), short) {
			near = fmt.Sprintf("\nhint: did you mean %s?", symbol.Name)
			break
		}
	}
	if near == "" {
		near = "\nhint: botd markets lists what there is"
	}
	return nil, failure.Usagef("%s has no %s symbol %s%s", v.where, of, name, near)
}

// letters keeps what a symbol is recognised by.
func letters(r rune) rune {
	if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
		return r
	}
	return -1
}
