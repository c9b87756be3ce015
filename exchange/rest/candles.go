package rest

import (
	"context"

	"botd/exchange"
)

// Span narrows a list. Zero fields are not sent; the venue's defaults apply.
type Span struct {
	StartMS, EndMS int64 // inclusive
	Limit, Offset  int
}

// Candles returns a symbol's candles, oldest first. On futures they include the forming candle and,
// without a start, are the newest; the default limit is 500, at most 1500, and span.Offset is not
// sent. On spot start and end are required; the default limit is 100, at most 500, and there are no
// 30m and 1w candles [Futures candle, Spot public].
func (c *Client) Candles(ctx context.Context, key exchange.SymbolKey, interval exchange.Interval, span Span) (*exchange.Candles, error) {
	request := exchange.Request{Operation: exchange.FuturesCandles.On(key.Market), Symbol: key.Name, Interval: interval,
		StartMS: span.StartMS, EndMS: span.EndMS, Limit: span.Limit}
	if key.Market == exchange.Spot {
		request.Offset = span.Offset
	}
	answer, err := c.Do(ctx, request)
	return answer.Candles, err
}

// FundingRate returns the rate of a symbol's next funding payment and its time [Funding rate].
func (c *Client) FundingRate(ctx context.Context, symbol string) (exchange.FundingRate, error) {
	answer, err := c.Do(ctx, exchange.Request{Operation: exchange.FuturesFundingRate, Symbol: symbol})
	return answer.Funding, err
}
