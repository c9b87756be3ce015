// Package gateway opens the exchange of a mode: the embedded one, the paper account, the real service.
package gateway

import (
	"context"
	"errors"

	"botd/configs"
	"botd/exchange"
	"botd/exchange/rest"
	"botd/exchange/wire"
	"botd/internal/failure"
)

// Profile returns the conventions of the configured venue where the interface permits several.
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

// Signer returns the signer of the configured venue's requests.
func Signer(c *configs.SignatureConfig) wire.Signer {
	return wire.Signer{Template: c.Payload, Encoding: c.Encoding, Paths: c.Paths}
}

// unsettled refuses a live start while the settle time of a traded market is unknown: an unanswered
// request there would be decided too early, or never.
func unsettled(c *configs.Config) error {
	for _, problem := range c.UnsettledProblems() {
		return failure.New(failure.Config, problem.Hint, "%s", problem.What)
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

// reach reads the clock, the account if there is a key, and the symbols.
func reach(ctx context.Context, client *rest.Client, config *rest.Config) error {
	if err := client.SyncClock(ctx); err != nil {
		return failure.New(failure.Unavailable, "is the address right, and the exchange up?", "reach %s: %w", config.BaseURL, err)
	}
	if config.Key != "" { // a wrong key or signature is found before anything else
		if _, err := client.Do(ctx, exchange.Request{Operation: exchange.FuturesAccount}); err != nil {
			if refusal, ok := errors.AsType[*exchange.Refusal](err); ok && refusal.Unauthorized() {
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
