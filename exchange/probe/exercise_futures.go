package probe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"botd/exchange"
)

// futuresFills opens the smallest position that can be closed in two parts, tries a stop and a
// partial fill, and closes the position. If a position is already open, it sends nothing, because
// that position is not the probe's.
func (e *exercise) futuresFills(ctx context.Context) {
	began := time.Now()
	e.start = began
	held, err := e.position(ctx)
	if err == nil && held != 0 {
		e.skip("a position is open on "+e.symbol.Name+": it is left alone", "futures_fill")
		return
	}
	if err == nil && e.rows == 0 {
		var hidden bool
		if hidden, err = e.hidden(ctx); err == nil && hidden {
			e.skip("the account has margin in positions that the list does not show: they are left alone", "futures_fill")
			return
		}
	}
	if err == nil {
		_, err = e.quotes(ctx)
	}
	if err != nil {
		e.done("fill", began, err, "")
		return
	}
	defer e.closePosition(context.WithoutCancel(ctx))
	if !e.open(ctx) {
		return
	}
	e.stop(ctx, exchange.NewOrder{Side: exchange.Sell, Type: exchange.StopMarket, ClosePosition: true, WorkingType: exchange.ContractPrice,
		StopPrice: e.symbol.FloorPrice(e.bid - exchange.Price(float64(e.bid)*e.config.Distance.Float()))})
	e.partial(ctx)
	e.reduce(ctx)
}

// hidden reports whether the account uses margin for a position.
func (e *exercise) hidden(ctx context.Context) (bool, error) {
	r := e.callWithRetries(ctx, exchange.Request{Operation: exchange.FuturesAccount})
	return !r.answer.Account.PositionMargin.IsZero(), r.err
}

// position reads the open quantity of the symbol, and records a list that omits the open position.
func (e *exercise) position(ctx context.Context) (held float64, err error) {
	r := e.callWithRetries(ctx, exchange.Request{Operation: exchange.FuturesOpenPositions})
	if r.err != nil {
		return 0, r.err
	}
	e.rows = len(r.rows)
	for _, row := range r.rows {
		if textOf(row["symbol"]) != e.symbol.Name {
			continue
		}
		quantity := numberOf(row["remainingQty"])
		if textOf(row["side"]) == exchange.Short.String() {
			quantity = -quantity
		}
		held += quantity
	}
	switch {
	case held == 0:
		e.leftOut = e.holds
	case e.leftOut:
		e.habits.seen[habitEmpty] = true
		fallthrough
	default:
		e.holds, e.leftOut = true, false
	}
	return held, nil
}

// open buys and measures when the order and the position show the fill.
func (e *exercise) open(ctx context.Context) bool {
	began, quantity := time.Now(), 2*e.smallest(1)
	id, sent, err := e.send(ctx, exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: quantity})
	var refusal *exchange.Refusal
	refused := errors.As(err, &refusal) && !refusal.Unauthorized()
	if err != nil && !refused {
		return e.done("fill", began, err, "")
	}
	var took time.Duration
	word := "refused"
	if !refused {
		if took, word, err = e.filled(ctx, id, sent); err != nil {
			return e.done("fill", began, err, "")
		}
		e.report.Filled = true // from now on an empty list of positions proves nothing
	}
	var held float64
	shown, shownErr := e.pollPosition(ctx, sent, &held, refused)
	if refused {
		if held == 0 {
			return e.done("fill", began, err, "")
		}
		e.habits.seen[habitRefuses] = true
		return e.done("fill", began, nil, "BUY MARKET %s was refused and executed: the position is %v", e.symbol.QuantityDecimal(quantity), held)
	}
	if shownErr != nil {
		return e.done("fill", began, shownErr, "")
	}
	e.noteTwice(e.units(held), quantity)
	e.compare(took, shown)
	return e.done("fill", began, nil, "BUY MARKET %s: order %d, %s after %s, in the list of positions after %s", e.symbol.QuantityDecimal(quantity),
		id, word, took.Round(time.Millisecond), shown.Round(time.Millisecond))
}

// pollPosition waits until the list of positions shows one, only briefly after a refusal.
func (e *exercise) pollPosition(ctx context.Context, since time.Time, held *float64, refused bool) (time.Duration, error) {
	return e.poll(ctx, since, "no list of positions shows it", func() (bool, error) {
		var err error
		*held, err = e.position(ctx)
		return *held != 0 || refused && time.Since(since) > settleFor, err
	})
}

// compare records how much later than the order itself another list showed a fill. A list that was
// empty for a while reveals nothing about its age.
func (e *exercise) compare(order, list time.Duration) {
	if e.habits.seen[habitEmpty] {
		return
	}
	late := (list - order).Milliseconds()
	e.seen.VisibilityMS = max(e.seen.VisibilityMS, order.Milliseconds()+1)
	e.seen.StalenessMS = max(e.seen.StalenessMS, late)
	if e.market == exchange.Futures && late > noticeable {
		e.habits.seen[habitStalePositions] = true
	}
}

// reduce closes a part with a reduceOnly order and measures when the position shows it.
func (e *exercise) reduce(ctx context.Context) {
	began := time.Now()
	var before float64
	if _, err := e.pollPosition(ctx, began, &before, false); err != nil {
		e.done("reduce", began, err, "")
		return
	}
	quantity := e.smallest(1)
	id, sent, err := e.send(ctx, exchange.NewOrder{Side: exchange.Sell, Type: exchange.MarketOrder, Quantity: quantity, ReduceOnly: true})
	var refusal *exchange.Refusal
	refused := errors.As(err, &refusal)
	if err != nil && !refused {
		e.done("reduce", began, err, "")
		return
	}
	took, word := time.Duration(0), "refused"
	if !refused {
		if took, word, err = e.filled(ctx, id, sent); err != nil {
			e.done("reduce", began, err, "")
			return
		}
	}
	now := before
	shown, shownErr := e.poll(ctx, sent, "the list of positions does not show it", func() (bool, error) {
		var err error
		now, err = e.position(ctx)
		return now < before && (now > 0 || e.closed(ctx)) || refused && time.Since(sent) > settleFor, err
	})
	switch {
	case refused && now < before:
		e.habits.seen[habitRefuses], err = true, nil
	case !refused:
		e.compare(took, shown)
		err = shownErr
	}
	e.noteTwice(e.units(before-now), quantity)
	e.resold += e.units(before - now)
	e.done("reduce", began, err, "SELL MARKET reduceOnly %s: order %d, %s after %s, in the list of positions after %s",
		e.symbol.QuantityDecimal(quantity), id, word, took.Round(time.Millisecond), shown.Round(time.Millisecond))
}

// closePosition closes the position that the exercise opened, however the exercise ended, and no
// more. An empty list does not prove that nothing is open: the history must show that the position
// has ended.
func (e *exercise) closePosition(ctx context.Context) {
	began := time.Now()
	e.reserve = true
	defer func() { e.reserve = false }()
	var took time.Duration
	var held float64
	var err, refused error
	sent, ended := began, false
	was := 0.0
	for try := 0; try < 5 && !ended; try++ {
		if held, err = e.position(ctx); err == nil {
			e.resold += e.units(max(0, was-held))
			was = 0
		}
		if own := min(e.units(held), e.most()); err == nil && own > 0 {
			sent, was, e.holds = time.Now(), held, false
			_, _, refused = e.send(ctx, exchange.NewOrder{Side: exchange.Sell, Type: exchange.MarketOrder, Quantity: own, ReduceOnly: true})
		}
		_, polled := e.poll(ctx, began, "it is not there", func() (bool, error) {
			if held, err = e.position(ctx); err == nil && held == 0 && took == 0 && e.closed(ctx) {
				took = time.Since(sent)
			}
			ended = err == nil && held == 0 && (took > 0 || !e.report.Filled && time.Since(began) > settleFor)
			return ended || err != nil || held > 0 && (sent == began || time.Since(sent) > e.config.MaxWait/4), nil
		})
		err = errors.Join(refused, err, polled)
	}
	switch {
	case !ended:
		e.add(
			Step{
				Name:    "futures_close",
				Outcome: Fail,
				What: fmt.Sprintf("a position of %v %s may still be open, %s of it from this probe: positions/history does not show its end: %v", held,
					e.symbol.Name, e.symbol.QuantityDecimal(max(0, e.most())), err),
				Hint: "look at the account, and close it manually",
			},
		)
	case took > 0:
		e.seen.VisibilityMS = max(e.seen.VisibilityMS, took.Milliseconds()+1)
		e.report.History = e.done("close", began, nil, "the position is closed; positions/history has it after %s", took.Round(time.Millisecond))
	}
}

// closed reports whether the history shows a position of the symbol that ended after the exercise
// began.
func (e *exercise) closed(ctx context.Context) bool {
	r := e.callWithRetries(ctx, exchange.Request{Operation: exchange.FuturesPositionsHistory, Symbol: e.symbol.Name, Limit: 5})
	for _, row := range r.rows {
		if seconds := numberOf(row["updatedAt"]); seconds >= float64(e.start.Add(e.offset).Unix()-1) {
			return true
		}
	}
	return false
}
