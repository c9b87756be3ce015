package gateway

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"botd/configs"
	"botd/exchange"
	"botd/exchange/rest"
	"botd/exchange/sim"
	"botd/internal/failure"
)

// Public reads a venue's public data.
type Public struct {
	Do      func(context.Context, exchange.Request) (exchange.Answer, error)
	NowMS   func() int64
	Symbols []*exchange.Symbol
	Where   string
}

// OpenPublic connects to the public data of the configured exchange. For a demo that does not run,
// it is the market of a new one.
func OpenPublic(ctx context.Context, config *configs.Config) (v *Public, running bool, err error) {
	if config.Mode != configs.Demo {
		v, err = PublicAt(ctx, config.Exchange.BaseURL)
		return v, true, err
	}
	// A running demo writes its exchange's address.
	address, err := os.ReadFile(filepath.Join(config.DataDir, string(configs.Demo), AddressFile))
	if err == nil {
		if v, err := PublicAt(ctx, strings.TrimSpace(string(address))); err == nil {
			return v, true, nil
		}
	}
	x, err := newDemo(nil, DemoMarket{Seed: 1}, sim.DefaultAccount(DemoAccount))
	if err != nil {
		return nil, false, err
	}
	return &Public{
		Do:    func(_ context.Context, request exchange.Request) (exchange.Answer, error) { return x.Do("", &request) },
		NowMS: x.NowMS, Symbols: sim.DefaultSymbols(), Where: "the demo's market",
	}, false, nil
}

// PublicAt connects to the public data of a venue. A market whose symbols cannot be read takes no
// requests; the other market is served all the same.
func PublicAt(ctx context.Context, address string) (*Public, error) {
	config := rest.Config{BaseURL: address}
	client, err := rest.New(config)
	if err != nil {
		return nil, failure.Wrap(failure.Config, err)
	}
	if err := reach(ctx, client, &config); err != nil && len(client.Symbols().All()) == 0 {
		return nil, err
	}
	return &Public{Do: client.Do, NowMS: client.ServerNowMS, Symbols: client.Symbols().All(), Where: address}, nil
}

// Ask performs one request.
func (v *Public) Ask(ctx context.Context, request exchange.Request) (exchange.Answer, error) {
	answer, err := v.Do(ctx, request)
	if err == nil {
		return answer, nil
	}
	if exchange.ErrorKind(err) == "refusal" {
		return answer, failure.New(failure.Negative, "", "%s: %w", v.Where, err)
	}
	return answer, failure.New(failure.Unavailable, "is the venue up? botd probe reports more", "%s: %w", v.Where, err)
}

// Find returns a symbol of a market by its name.
func (v *Public) Find(market, name string) (*exchange.Symbol, error) {
	of, err := exchange.ParseMarket(market)
	if err != nil {
		return nil, failure.Usagef("--market: %v", err)
	}
	if symbol, found := exchange.FindSymbol(v.Symbols, of, name); found {
		return symbol, nil
	}
	near, short := "", strings.Map(letters, strings.ToUpper(name))
	for _, symbol := range v.Symbols {
		if symbol.Market == of && short != "" && strings.HasPrefix(strings.Map(letters, symbol.Name), short) {
			near = fmt.Sprintf("\nhint: did you mean %s?", symbol.Name)
			break
		}
	}
	if near == "" {
		near = "\nhint: botd markets lists the symbols"
	}
	return nil, failure.Usagef("%s has no %s symbol %s%s", v.Where, of, name, near)
}

// letters keeps the characters that identify a symbol.
func letters(r rune) rune {
	if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
		return r
	}
	return -1
}
