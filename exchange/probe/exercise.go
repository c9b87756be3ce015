package probe

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"botd/exchange"
)

// Bounds of the cost and the duration of an exercise.
const (
	maxPartialSpend = 10 // default bound of a partial fill, times minNotional, or
	maxPartialLots  = 3  // times the smallest order, whichever is larger
	partialReads    = 20 // number of reads of the order book to find a level that is small enough
	maxFee          = 50 // the fee is assumed to be at most one part in 50 of a purchase
	slowestPoll     = 250 * time.Millisecond
	noticeable      = 1500 // ms between the first sight of a change in two lists that makes the later one stale
)

// exercise places one market's orders that fill: the smallest possible ones. Everything is closed
// afterwards.
type exercise struct {
	*prober
	market exchange.Market
	symbol *exchange.Symbol
	seen   *Delays
	bid    exchange.Price
	ask    exchange.Price
	serial int
	sent   string // client order id of the last order
	// Futures only: the list of positions has shown an open position that nothing has closed since,
	// and later omitted it.
	holds, leftOut bool
	rows           int // number of rows in the last list of positions
	start          time.Time
	// The maximum that the exercise's orders may have bought, the quantity that reads have
	// confirmed, and the quantity sold again. No more than that is ever sold.
	mayHave, sure, resold exchange.Quantity
}

// exercised runs the filling orders on a market, cleans up, and reports whether it ran.
func (p *prober) exercised(ctx context.Context, market exchange.Market, seen *Delays) {
	e := &exercise{prober: p, market: market, seen: seen}
	symbol, found := p.symbols.Symbol(exchange.SymbolKey{Market: market, Name: p.config.Symbol})
	if !found {
		p.skip(fmt.Sprintf("the venue lists no %s symbol %s", market, p.config.Symbol), market.String()+"_fill")
		return
	}
	e.symbol = symbol
	if market == exchange.Spot {
		e.spotFills(ctx)
		return
	}
	e.futuresFills(ctx)
}

// again cancels a duplicate order that the exchange placed under the same client order id.
func (p *prober) again(ctx context.Context, cancel exchange.Request) {
	p.habits.seen[habitTwice] = true
	_ = p.withdraw(context.WithoutCancel(ctx), cancel) // the next read of the list tries again
}

// done adds a step with its result, or the error that ended it.
func (e *exercise) done(name string, began time.Time, err error, format string, values ...any) bool {
	step := Step{Name: e.market.String() + "_" + name, Outcome: OK, LatencyMS: ms(time.Since(began)), What: fmt.Sprintf(format, values...)}
	if err != nil {
		step.Outcome, step.What = Fail, err.Error()
	}
	e.add(step)
	return err == nil
}

// quotes reads the best quotes and the size of the best ask.
func (e *exercise) quotes(ctx context.Context) (askSize exchange.Quantity, err error) {
	r := e.callWithRetries(ctx, exchange.Request{Operation: exchange.FuturesDepth.On(e.market), Symbol: e.symbol.Name, Limit: 5})
	if r.err != nil {
		return 0, r.err
	}
	if d := &r.answer.Depth; len(d.Bids) > 0 && len(d.Asks) > 0 {
		e.bid, e.ask = d.Bids[0].Price, d.Asks[0].Price
		return d.Asks[0].Quantity, nil
	}
	return 0, errors.New("a side of the book is empty")
}

// through returns a price slightly beyond the other side's best, so that a limit order fills at
// little extra cost.
func (e *exercise) through(side exchange.Side) exchange.Price {
	if side == exchange.Buy {
		return e.symbol.CeilPrice(e.ask + e.ask/200)
	}
	return e.symbol.FloorPrice(e.bid - e.bid/200)
}

// smallest returns the least quantity worth a number of times minNotional.
func (e *exercise) smallest(times int64) exchange.Quantity {
	quantity := max(e.symbol.QuantityFor(e.symbol.MinNotional.Mul(times), e.bid), e.symbol.QuantityTick)
	for e.symbol.Notional(e.bid-e.bid/20, quantity).Less(e.symbol.MinNotional.Mul(times)) {
		quantity += e.symbol.QuantityTick
	}
	return quantity
}

// send places an order of the exercise and returns its id. An id of 0 without an error means that
// the order was refused but may have been executed.
func (e *exercise) send(ctx context.Context, order exchange.NewOrder) (id int64, sent time.Time, err error) {
	e.serial++
	order.Market, order.Symbol = e.market, e.symbol.Name
	order.ClientOrderID = "botdprobe-x" + strconv.FormatInt(time.Now().UnixMilli(), 36) + strconv.Itoa(e.serial)
	e.sent = order.ClientOrderID
	r := e.submit(ctx, exchange.Request{Operation: exchange.FuturesPlace.On(e.market), Order: order})
	if order.Side == exchange.Buy && !r.began.IsZero() {
		e.mayHave += order.Quantity
	}
	if r.err == nil {
		return r.answer.Order.ID, r.began, nil
	}
	if id := e.lost(&order, &r); id != 0 {
		return id, r.began, nil
	}
	return 0, r.began, fmt.Errorf("placing %s %s %s: %w", order.Side, order.Type, e.symbol.QuantityDecimal(order.Quantity), r.err)
}

// most returns the largest quantity that the exercise's own orders may have left open.
func (e *exercise) most() exchange.Quantity {
	if e.habits.seen[habitTwice] {
		return 2*e.mayHave - e.resold
	}
	return e.mayHave - e.resold
}

// noteTwice records whether an order was executed twice. A much larger quantity belongs to someone
// else and does not count.
func (e *exercise) noteTwice(came, quantity exchange.Quantity) {
	if 2*came > 3*quantity && 2*came < 5*quantity {
		e.habits.seen[habitTwice] = true
	}
}

// poll reads until a condition holds, at growing intervals, and returns the time since then.
func (e *exercise) poll(ctx context.Context, since time.Time, what string, holds func() (bool, error)) (time.Duration, error) {
	wait := pollInterval
	for end := time.Now().Add(e.config.MaxWait); ; wait = min(wait*3/2, slowestPoll) {
		held, err := holds()
		switch {
		case err != nil:
			return 0, err
		case held:
			return time.Since(since), nil
		case time.Now().After(end):
			return 0, fmt.Errorf("after %s %s", e.config.MaxWait, what)
		}
		if !pause(ctx, wait) {
			return 0, ctx.Err()
		}
	}
}

// orderRow reads an order as received, with GET on futures and from the lists on spot.
func (e *exercise) orderRow(ctx context.Context, id int64) (map[string]any, error) {
	requests := []exchange.Request{{Operation: exchange.FuturesOrder, OrderID: id}}
	if e.market == exchange.Spot {
		requests = []exchange.Request{
			{Operation: exchange.SpotOrderHistory, Symbol: e.symbol.Name},
			{Operation: exchange.SpotOpenOrders, Symbol: e.symbol.Name},
		}
	}
	for _, request := range requests {
		r := e.callWithRetries(ctx, request)
		if r.err != nil && !r.withoutOrder() && len(r.rows) == 0 {
			return nil, r.err
		}
		for _, row := range r.rows {
			if found, _, _, _ := orderOf(row); found == id {
				return row, nil
			}
		}
	}
	return nil, nil
}

// filled waits until an order has filled completely.
func (e *exercise) filled(ctx context.Context, id int64, since time.Time) (took time.Duration, word string, err error) {
	took, err = e.poll(ctx, since, fmt.Sprintf("order %d is not shown as filled", id), func() (bool, error) {
		row, err := e.orderRow(ctx, id)
		_, _, filled, quantity := orderOf(row)
		word = textOf(row["status"])
		return filled > 0 && same(filled, quantity), err
	})
	return took, word, err
}

// stop places a stop far from the price, waits for it in the open list, and cancels it.
func (e *exercise) stop(ctx context.Context, order exchange.NewOrder) {
	began := time.Now()
	id, sent, err := e.send(ctx, order)
	if err != nil {
		e.done("stop", began, err, "")
		return
	}
	var shown, ended time.Duration
	kind := ""
	if shown, err = e.poll(ctx, sent, "the stop is not in the open list", func() (bool, error) { return e.listed(ctx, id, &kind) }); err == nil {
		e.seen.VisibilityMS = max(e.seen.VisibilityMS, shown.Milliseconds()+1)
	}
	err = errors.Join(err, e.withdraw(context.WithoutCancel(ctx), e.cancelOf(id)))
	canceled := time.Now()
	if err == nil {
		ended, err = e.poll(ctx, canceled, "the stop is still in the open list", func() (bool, error) {
			listed, err := e.listed(ctx, id, &kind)
			return !listed, err
		})
	}
	e.done("stop", began, err, "%s at %s: order %d, in the open list as %s after %s, canceled, gone after %s", order.Type,
		e.symbol.PriceDecimal(order.StopPrice), id, kind, shown.Round(time.Millisecond), ended.Round(time.Millisecond))
}

func (e *exercise) cancelOf(id int64) exchange.Request {
	return exchange.Request{Operation: exchange.FuturesCancel.On(e.market), Symbol: e.symbol.Name, OrderID: id}
}

func (e *exercise) listed(ctx context.Context, id int64, kind *string) (bool, error) {
	r := e.callWithRetries(ctx, exchange.Request{Operation: exchange.FuturesOpenOrders.On(e.market), Symbol: e.symbol.Name})
	listed := false
	for _, row := range r.rows {
		found, clientID, _, _ := orderOf(row)
		switch {
		case found == id:
			*kind, listed = textOf(row["type"]), true
		case clientID == e.sent:
			e.again(ctx, e.cancelOf(found))
		}
	}
	return listed, r.err
}

// affordable polls the order book for a best ask small enough to be exceeded by an affordable order, and
// returns the quantity of that order. It returns 0 if there was none and adds a step with the
// reason.
func (e *exercise) affordable(ctx context.Context) (quantity exchange.Quantity, err error) {
	least := exchange.Amount{}
	var most exchange.Amount
	for try := range partialReads {
		level, err := e.quotes(ctx)
		if err != nil {
			return 0, err
		}
		if most = e.config.Spend; most.IsZero() {
			most = e.symbol.MinNotional.Mul(maxPartialSpend).Max(e.symbol.Notional(e.ask, maxPartialLots*e.smallest(1)))
		}
		quantity = e.symbol.FloorQuantity(level) + e.smallest(1)
		worth := e.symbol.Notional(e.ask, quantity)
		if !most.Less(worth) {
			return quantity, nil
		}
		if try == 0 || worth.Less(least) {
			least = worth
		}
		if !pause(ctx, e.config.glance) {
			return 0, ctx.Err()
		}
	}
	e.add(
		Step{Name: e.market.String() + "_partial", Outcome: Skip, What: fmt.Sprintf("the best level of the book was never small enough in %d reads: "+
			"%s USDT at least, more than the %s USDT that are spent here; no order was filled in part", partialReads, least, most),
			Hint: "--spend USDT allows more; another symbol may have smaller levels"},
	)
	return 0, nil
}

// partial buys slightly more than the best level at its price if that level is small enough, so
// that the rest of the order stays. It returns the filled quantity.
func (e *exercise) partial(ctx context.Context) (filled exchange.Quantity) {
	began := time.Now()
	quantity, err := e.affordable(ctx)
	if err != nil {
		e.done("partial", began, err, "")
		return 0
	}
	if quantity == 0 {
		return 0
	}
	id, sent, err := e.send(ctx, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Price: e.ask, Quantity: quantity})
	if refusal, ok := errors.AsType[*exchange.Refusal](err); ok && !refusal.Unauthorized() { // it may need more funds than available
		e.add(Step{Name: e.market.String() + "_partial", Outcome: Skip, What: "no order was filled in part: " + err.Error()})
		return 0
	}
	if err != nil {
		e.done("partial", began, err, "")
		return 0
	}
	var took time.Duration
	word, part := "", 0.0
	took, err = e.poll(ctx, sent, fmt.Sprintf("order %d is not shown as filled in part", id), func() (bool, error) {
		row, err := e.orderRow(ctx, id)
		_, _, part, _ = orderOf(row)
		word = textOf(row["status"])
		return part > 0, err
	})
	whole := part > 0 && e.units(part) >= quantity
	_ = e.withdraw(context.WithoutCancel(ctx), e.cancelOf(id)) // it may have filled completely by now
	last, _ := e.orderRow(context.WithoutCancel(ctx), id)
	_, _, now, _ := orderOf(last)
	part = max(part, now)
	e.report.Partial = e.report.Partial || err == nil && !whole
	e.sure += e.units(part)
	if whole {
		e.add(
			Step{Name: e.market.String() + "_partial", Outcome: Skip,
				What: fmt.Sprintf("order %d for more than the best level was filled whole, not in part", id)},
		)
		return e.units(part)
	}
	e.done("partial", began, err, "BUY LIMIT %s at %s: order %d, filled %v in part after %s and then %s; the rest was canceled",
		e.symbol.QuantityDecimal(quantity), e.symbol.PriceDecimal(e.ask), id, part, took.Round(time.Millisecond), word)
	return e.units(part)
}

// units returns a quantity on the symbol's tick.
func (e *exercise) units(value float64) exchange.Quantity {
	tick := e.symbol.QuantityFloat(e.symbol.QuantityTick)
	return exchange.Quantity(value/tick+0.5) * e.symbol.QuantityTick
}
