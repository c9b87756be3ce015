// Package gateway opens the exchange of a mode: the embedded one, the paper account, the real service.
package gateway

import (
	"context"
	"errors"
	"fmt"

	"botd/configs"
	"botd/exchange"
	"botd/exchange/rest"
	"botd/exchange/wire"
	"botd/internal/failure"
)

// Profile is how the configured venue writes what the interface leaves open.
func Profile(c *configs.ProfileConfig) *wire.Profile {
	p := &wire.Profile{NullLists: c.NullLists == configs.NullIsEmpty, HalfTick: c.NumberNoise == configs.NoiseHalfTick,
		StatusWords: map[exchange.Market]map[string]exchange.OrderStatus{}}
	for market, words := range map[exchange.Market]map[string]string{exchange.Futures: c.FuturesWords, exchange.Spot: c.SpotWords} {
		p.StatusWords[market] = map[string]exchange.OrderStatus{}
		for word, name := range words {
			if status, err := exchange.ParseOrderStatus(name); err == nil { // checked when it was loaded
				p.StatusWords[market][word] = status
			}
		}
	}
	return p
}

// Signer is how the configured venue's requests are signed.
func Signer(c *configs.SignatureConfig) wire.Signer {
	return wire.Signer{Template: c.Payload, Encoding: c.Encoding, Paths: c.Paths}
}

// unsettled refuses a live start while nobody knows how long a market that is traded takes: what was
// sent there and not answered would be decided too early, or never.
func unsettled(c *configs.Config) error {
	for _, market := range c.Unsettled() {
		return failure.New(failure.Config, fmt.Sprintf("botd probe --trade --out FILE measures them, for exchange.profile: FILE; or write "+
			"exchange.settle: {%s: {window: ..., visibility: ..., staleness: ...}} by hand; or trade nothing on %s", market, market),
			"mode live: the bounds exchange.settle of the %s market, on which every unanswered order is decided, are neither measured nor set by hand",
			market)
	}
	return nil
}

// Client makes the signed client, reads the symbols and the clock.
func Client(ctx context.Context, config rest.Config) (*rest.Client, error) {
	client, err := rest.New(config)
	if err != nil {
		return nil, failure.Wrap(failure.Config, err)
	}
	return client, reach(ctx, client, &config)
}

// reach reads the clock, the account where there is a key, and the symbols.
func reach(ctx context.Context, client *rest.Client, config *rest.Config) error {
	if err := client.SyncClock(ctx); err != nil {
		return failure.New(failure.Unavailable, "is the address right, and the exchange up?", "reach %s: %w", config.BaseURL, err)
	}
	if config.Key != "" { // a wrong key or signature is found before anything else
		if _, err := client.Do(ctx, exchange.Request{Operation: exchange.FuturesAccount}); err != nil {
			var refusal *exchange.Refusal
			if errors.As(err, &refusal) && refusal.Unauthorized() {
				return failure.New(failure.Credentials, "check key_file, secret_file and exchange.signature", "%w", err)
			}
			return failure.New(failure.Unavailable, "", "read the account: %w", err)
		}
	}
	if err := client.RefreshSymbols(ctx); err != nil {
		return failure.New(failure.Unavailable, "", "read symbols of %s: %w", config.BaseURL, err)
	}
	return nil
}
