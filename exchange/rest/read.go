package rest

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"

	"botd/exchange"
	"botd/exchange/wire"
)

// Bounds of reads.
const (
	maxTries     = 4
	firstBackoff = 200 * time.Millisecond
	maxBackoff   = 5 * time.Second
	maxPause     = 30 * time.Second // the caller must wait itself for a longer Retry-After
)

// read retries a read while venue or network are unavailable, once more after -1021 with a new
// clock reading, and once more after an unknown symbol with a new symbol list. A refusal is final.
func (c *Client) read(ctx context.Context, request *exchange.Request) (exchange.Answer, outcome) {
	pause := &backoff.ExponentialBackOff{InitialInterval: firstBackoff, Multiplier: 2, RandomizationFactor: 0.3, MaxInterval: maxBackoff}
	pause.Reset()
	synced, listed := false, false
	for tries := 1; ; tries++ {
		answer, outcome := c.try(ctx, request, exchange.SendLimit{})
		var (
			refusal *exchange.Refusal
			unknown *wire.UnknownSymbolError
		)
		switch {
		case outcome.err == nil && namesUnknown(&answer) && !listed:
			if listed = true; !c.relisted(ctx, request.Operation.Market()) {
				return answer, outcome
			}
		case outcome.err == nil:
			return answer, outcome
		case errors.As(outcome.err, &refusal) && refusal.Code == exchange.CodeInvalidTimestamp && request.Operation.Signed() && !synced:
			synced = true
			if c.synchronize(ctx, false) != nil {
				return answer, outcome
			}
		case errors.As(outcome.err, &unknown) && !listed:
			listed = true
			if c.list(ctx, unknown.Key.Market, true) != nil {
				return answer, outcome
			}
		case outcome.again && tries < maxTries:
			if !sleep(ctx, max(pause.NextBackOff(), outcome.retryAfter)) {
				return answer, outcome
			}
		default:
			return answer, outcome
		}
	}
}

// namesUnknown reports whether the symbol of a row is missing from the table.
func namesUnknown(answer *exchange.Answer) bool {
	return slices.ContainsFunc(answer.Unreadable, func(row exchange.UnreadableRow) bool { return row.UnknownSymbol && row.Symbol != "" })
}

// relisted reads a market's list again if it is old enough, and reports whether it did.
func (c *Client) relisted(ctx context.Context, market exchange.Market) bool {
	return c.symbols.age(market, c.config.Clock()) >= relistAfter && c.list(ctx, market, true) == nil
}

// sleep waits, unless the wait is too long or the context ends first.
func sleep(ctx context.Context, wait time.Duration) bool {
	if deadline, ok := ctx.Deadline(); wait > maxPause || ok && time.Until(deadline) <= wait {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
