package lane

import (
	"context"
	"fmt"
	"sync"
	"time"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/record"
)

// Times between the lane's reads, and before a request is sent again.
const (
	soon       = 100 * time.Millisecond
	later      = time.Second
	sendAgain  = reconcile.RepeatMS * time.Millisecond // a cancel, and an order without visible effect (case 20)
	retryAfter = 500 * time.Millisecond                // a refused close
)

// actByList needs no reads: cancels may be repeated, and reduceOnly cannot flip a position.
func (l *Lane) actByList(ctx context.Context, a *action, exposures []*exposure) {
	var group sync.WaitGroup
	group.Go(func() { l.cancelListed(ctx, a, exposures) })
	for _, t := range exposures {
		if t.level == record.LevelFlatten && t.Close != 0 && !l.isPlacing(t.Symbol.Key()) {
			group.Go(func() { l.close(ctx, a, t, t.Close, t.Close) })
		}
	}
	group.Wait()
}

// settleFutures reads both lists and acts on them.
func (l *Lane) settleFutures(ctx context.Context, a *action, exposures []*exposure) progress {
	began := time.Now()
	answers, p := l.both(ctx, [2]string{"futures orders", "futures positions"},
		[2]exchange.Operation{exchange.FuturesOpenOrders, exchange.FuturesOpenPositions})
	if !p.read {
		return p
	}
	var acting sync.WaitGroup
	var mu sync.Mutex // guards p
	for _, t := range exposures {
		acting.Go(func() {
			left, blind := l.settleOn(ctx, a, t, answers[0].Orders.Items(), answers[1].Positions.Items(), began)
			mu.Lock()
			defer mu.Unlock()
			p.left, p.blind = append(p.left, left...), append(p.blind, blind...)
		})
	}
	acting.Wait()
	return p
}

// settleOn acts on a read of one symbol.
func (l *Lane) settleOn(ctx context.Context, a *action, t *exposure, orders []exchange.Order, positions []exchange.Position,
	began time.Time) (left, blind []string) {
	for i := range orders {
		if o := &orders[i]; o.Symbol == t.Symbol.Name {
			if p := t.placement(o); p != nil && t.ends(p) {
				left = append(left, fmt.Sprintf("order %d on %s to cancel", o.ID, t.Symbol.Key()))
				l.cancel(ctx, t, o.ID)
			}
		}
	}
	if t.level < record.LevelFlatten {
		return left, nil
	}
	remaining := -t.Others
	for i := range positions {
		if positions[i].Symbol == t.Symbol.Name {
			remaining += positions[i].Signed()
		}
	}
	quantity := t.toClose(remaining)
	if quantity == 0 {
		return left, nil
	}
	left = append(left, fmt.Sprintf("%s of %s to close", t.Symbol.QuantityDecimal(quantity), t.Symbol.Key()))
	if t.Others != 0 && l.isPlacing(t.Symbol.Key()) || !t.mayClose(remaining, began) {
		if t.closed.refused {
			blind = append(blind, t.closed.why)
		}
		return left, blind
	}
	if why := l.close(ctx, a, t, quantity, remaining); why != "" {
		blind = append(blind, why)
	}
	return left, blind
}

// toClose returns the signed quantity of a read position that the lane closes: all of it if the
// position is botd's alone.
func (t *exposure) toClose(remaining exchange.Quantity) exchange.Quantity {
	sign := exchange.Quantity(1)
	if remaining < 0 {
		sign = -1
	}
	maxQuantity := t.maxClose(sign)
	switch {
	case maxQuantity == 0:
		return 0 // a position on that side is not botd's
	case t.Others == 0:
		return remaining
	}
	return sign * max(0, min(remaining*sign, maxQuantity-t.sent))
}

// mayClose reports whether another close may follow the newest one (class R): after a read that
// began after its answer and shows its effect, or shows none for long enough.
func (t *exposure) mayClose(remaining exchange.Quantity, began time.Time) bool {
	c := &t.closed
	switch {
	case c.at.IsZero():
		return true
	case began.Before(c.at):
		return false
	case c.refused:
		return time.Since(c.at) >= retryAfter
	}
	return remaining == c.from-c.by || time.Since(c.at) >= sendAgain
}

// close sends one reduceOnly market order. It returns the reason if nothing can be sent.
func (l *Lane) close(ctx context.Context, a *action, t *exposure, quantity, from exchange.Quantity) (why string) {
	size := quantity.Abs()
	if t.Last > 0 {
		size = min(size, t.Symbol.QuantityFor(t.Symbol.MaxNotional, t.Last)) // the rest follows
	}
	if size = t.Symbol.FloorQuantity(size); size == 0 || t.Last > 0 && t.Symbol.BelowMinimum(t.Last, size) {
		return fmt.Sprintf("%s of %s is too small for an order of its own: it is left to the engine", t.Symbol.QuantityDecimal(quantity), t.Symbol.Key())
	}
	_, outcome := l.place(ctx, a, t, exchange.NewOrder{Market: exchange.Futures, Side: exchange.SideOf(-quantity), Type: exchange.MarketOrder,
		Quantity: size, ReduceOnly: true})
	signed := size
	if quantity < 0 {
		signed = -size
	}
	c := closing{at: time.Now(), from: from, by: signed}
	switch body := outcome.(type) {
	case record.Refused:
		c.refused = true
		why = fmt.Sprintf("the close of %s is refused: %s", t.Symbol.Key(), body.Reason)
	case record.Ended:
		c.refused = true
		why = fmt.Sprintf("the close of %s did not leave: %s", t.Symbol.Key(), body.Evidence)
	default:
		t.sent += size
	}
	c.why = why
	t.closed = c
	return why
}
