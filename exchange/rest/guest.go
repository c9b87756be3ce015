package rest

import (
	"context"
	"fmt"

	"golang.org/x/time/rate"

	"botd/exchange"
)

// Guests' share of the request budget, and the substitute for an unlimited budget.
const (
	guestShare      = 10 // a tenth
	guestOfNoBudget = 50 // requests per second
	guestBurst      = 5  // seconds of the share at once
)

// ViewerClient reads public data for viewers, not for the engine. All guests together use a tenth of the
// request budget, and their requests go last.
type ViewerClient struct{ client *Client }

// ForViewers returns a reader for viewers.
func (c *Client) ForViewers() *ViewerClient { return &ViewerClient{c} }

func newGuests(budget float64) *rate.Limiter {
	if budget == 0 {
		budget = guestOfNoBudget
	}
	return rate.NewLimiter(rate.Limit(budget/guestShare), max(1, int(budget/guestShare*guestBurst)))
}

type guestKey struct{}

// Do performs a read of public data.
func (g *ViewerClient) Do(ctx context.Context, request exchange.Request) (exchange.Answer, error) {
	if operation := request.Operation; operation.Signed() || operation.Changes() {
		return exchange.Answer{}, fmt.Errorf("%s is not public and not available to viewers", operation)
	}
	return g.client.Do(context.WithValue(ctx, guestKey{}, true), request)
}

type urgentKey struct{}

// Urgent gives requests made with the context priority over everything except exits. The kill
// switch uses it for its reads.
func Urgent(ctx context.Context) context.Context { return context.WithValue(ctx, urgentKey{}, true) }

// levelOf returns the priority of a request made with a context.
func levelOf(ctx context.Context, request *exchange.Request) priority {
	switch {
	case ctx.Value(guestKey{}) != nil:
		return priorityGuest
	case ctx.Value(urgentKey{}) != nil:
		return priorityExit
	}
	return priorityOf(request)
}

// await waits until a request may be sent.
func (c *Client) await(ctx context.Context, level priority, of exchange.Operation, recalled <-chan struct{}) (probe bool, err error) {
	if level == priorityGuest {
		if err := c.guests.Wait(ctx); err != nil {
			return false, err
		}
	}
	return c.budgets[of.Market()].wait(ctx, level, of.Places(), recalled)
}
