package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"botd/exchange"
)

// spotFills buys the smallest quantity that can be sold again, waits for it in history, trades and
// wallet, tries a stop and a partial fill, and sells the purchase.
func (e *exercise) spotFills(ctx context.Context) {
	began := time.Now()
	before, err := e.free(ctx)
	if err == nil {
		_, err = e.quotes(ctx)
	}
	if err != nil {
		e.done("fill", began, err, "")
		return
	}
	defer e.sellAll(context.WithoutCancel(ctx), before)
	if !e.buy(ctx, before) {
		return
	}
	if types := e.symbol.OrderTypes; len(types) == 0 || slices.Contains(types, exchange.StopLimit) {
		trigger := e.symbol.FloorPrice(e.bid - exchange.Price(float64(e.bid)*e.config.Distance.Float()))
		e.stop(ctx, exchange.NewOrder{Side: exchange.Sell, Type: exchange.StopLimit, Quantity: e.smallest(2), StopPrice: trigger,
			Price: e.symbol.FloorPrice(trigger - trigger/100)})
	} else {
		e.skip("the pair does not accept STOP_LIMIT orders", "spot_stop")
	}
	e.partial(ctx)
}

// free reads the free balance of the base asset.
func (e *exercise) free(ctx context.Context) (exchange.Quantity, error) {
	r := e.callWithRetries(ctx, exchange.Request{Operation: exchange.SpotWallet})
	if r.err != nil {
		return 0, r.err
	}
	for _, balance := range r.answer.Balances.Items() {
		if balance.Asset == e.symbol.Base {
			return e.symbol.QuantityOf(balance.Free), nil
		}
	}
	return 0, nil
}

// buy buys and measures when order, trades and wallet show the fill.
func (e *exercise) buy(ctx context.Context, before exchange.Quantity) bool {
	began, quantity := time.Now(), e.smallest(3)
	id, sent, err := e.send(ctx, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Price: e.through(exchange.Buy), Quantity: quantity})
	var refusal *exchange.Refusal
	refused := errors.As(err, &refusal) && !refusal.Unauthorized()
	if err != nil && !refused {
		return e.done("fill", began, err, "")
	}
	var booked time.Duration
	var now exchange.Quantity
	if refused {
		_, _ = e.pollWallet(ctx, sent, before, &now, true)
		if now <= before {
			return e.done("fill", began, err, "")
		}
		e.habits.seen[habitRefuses] = true
		return e.done("fill", began, nil, "BUY LIMIT %s was refused and executed: the wallet has more", e.symbol.QuantityDecimal(quantity))
	}
	took, word, err := e.filled(ctx, id, sent)
	if err == nil {
		e.sure += quantity
		booked, err = e.pollWallet(ctx, sent, before, &now, false)
	}
	if err != nil {
		return e.done("fill", began, err, "")
	}
	e.noteTwice(now-before, quantity)
	e.compare(took, booked)
	traded, err := e.poll(ctx, sent, "the list of trades does not show it", func() (bool, error) {
		r := e.callWithRetries(ctx, exchange.Request{Operation: exchange.SpotUserTrades, Symbol: e.symbol.Name, Limit: 10})
		return r.err == nil && slices.ContainsFunc(r.answer.Fills.Items(), func(f exchange.UserTrade) bool { return f.OrderID == id }), r.err
	})
	e.compare(took, traded)
	e.historyEcho(ctx, id)
	e.report.Filled = true
	return e.done("fill", began, err, "BUY LIMIT %s: order %d, %s after %s, in the wallet after %s, in the trades after %s",
		e.symbol.QuantityDecimal(quantity), id, word, took.Round(time.Millisecond), booked.Round(time.Millisecond), traded.Round(time.Millisecond))
}

// historyEcho records whether the history contains the client order id of a filled order.
func (e *exercise) historyEcho(ctx context.Context, id int64) {
	r := e.callWithRetries(ctx, exchange.Request{Operation: exchange.SpotOrderHistory, Symbol: e.symbol.Name})
	for _, row := range r.rows {
		if found, clientID, _, _ := orderOf(row); found == id {
			e.noteList(exchange.SpotOrderHistory, clientID != "", 0)
		}
	}
}

func (e *exercise) pollWallet(ctx context.Context, since time.Time, before exchange.Quantity, now *exchange.Quantity, refused bool) (time.Duration, error) {
	return e.poll(ctx, since, "the wallet does not show it", func() (bool, error) {
		var err error
		*now, err = e.free(ctx)
		return *now > before || refused && time.Since(since) > settleFor, err
	})
}

// sellAll sells the exercise's purchases, however the exercise ended, and no more: the rest of the
// wallet is not the probe's, whatever an earlier read showed.
func (e *exercise) sellAll(ctx context.Context, before exchange.Quantity) {
	began := time.Now()
	e.reserve = true
	defer func() { e.reserve = false }()
	var err error
	var took time.Duration
	var was, left exchange.Quantity // wallet balance before a sale; quantity to sell
	for try := 0; try < 5; try++ {
		now, readErr := e.free(ctx)
		if _, quoteErr := e.quotes(ctx); readErr != nil || quoteErr != nil {
			err = errors.Join(readErr, quoteErr)
			continue
		}
		e.resold += max(0, was-now)
		was = 0
		left = e.symbol.FloorQuantity(min(now-before, e.most()))
		price := e.through(exchange.Sell)
		if err = nil; e.tooSmall(price, left) {
			missing := e.sure - e.sure/maxFee - e.resold // each purchase paid a fee
			if e.tooSmall(price, missing) {
				break // the rest is below the smallest order
			}
			left, err = missing, errors.New("the wallet does not show it")
			pause(ctx, settleFor)
			continue
		}
		id, sent, sendErr := e.send(ctx, exchange.NewOrder{Side: exchange.Sell, Type: exchange.Limit, Price: price, Quantity: left})
		was = now
		if err = sendErr; err != nil {
			pause(ctx, settleFor) // an exchange may have executed an order that it refused
			continue
		}
		if took, _, err = e.filled(ctx, id, sent); err != nil {
			err = errors.Join(err, e.withdraw(ctx, e.cancelOf(id)))
			continue
		}
		_, err = e.poll(ctx, sent, "the wallet does not show what was sold", func() (bool, error) {
			at, err := e.free(ctx)
			return at <= now-left, err
		})
	}
	sold := fmt.Sprintf("sold again after %s", took.Round(time.Millisecond))
	if took == 0 { // nothing was bought, or a sale was refused and executed
		sold = "nothing is left to sell"
	}
	step := Step{Name: "spot_close", Outcome: OK, LatencyMS: ms(time.Since(began)),
		What: fmt.Sprintf("%s; %s is left, below the smallest order", sold, e.symbol.QuantityDecimal(max(left, 0)))}
	if err != nil {
		step.Outcome, step.What = Fail, fmt.Sprintf("%s %s of the purchase may still be held: %v", e.symbol.QuantityDecimal(cmp.Or(left, e.most())),
			e.symbol.Base, err)
		step.Hint = "sell it manually"
	}
	e.add(step)
}

// tooSmall reports whether a sale is below the smallest order.
func (e *exercise) tooSmall(price exchange.Price, quantity exchange.Quantity) bool {
	return quantity <= 0 || e.symbol.BelowMinimum(price, quantity)
}
