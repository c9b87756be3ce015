package probe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"botd/exchange"
)

// Intervals for watching an order.
const (
	pollInterval = 20 * time.Millisecond
	settleFor    = time.Second // reads continue this long after an order has ended, to detect stale reads
)

// delays measures each market independently, with orders far from the price and with the smallest
// orders that fill.
func (p *prober) delays(ctx context.Context) {
	p.empties(ctx)
	markets := []exchange.Market{exchange.Futures, exchange.Spot}
	var seen [2]Delays
	for i, market := range markets {
		if market == exchange.Futures {
			p.futures(ctx, &seen[i])
		} else {
			p.spot(ctx, &seen[i])
		}
	}
	both := Delays{}
	for i, market := range markets {
		one := &seen[i]
		if one.Rounds == 0 {
			continue
		}
		if !p.config.NoFills {
			p.exercised(ctx, market, one)
		}
		p.report.Markets[market.String()] = *one
		both = Delays{max(both.VisibilityMS, one.VisibilityMS), max(both.StalenessMS, one.StalenessMS), both.Rounds + one.Rounds}
	}
	if both.Rounds == 0 {
		p.skip("no order was followed from its placement to its end on either market", "delays")
		return
	}
	p.report.Delays = &both
	p.add(Step{Name: "delays", Outcome: OK, What: fmt.Sprintf("an order is seen within %d ms of being sent (D); "+
		"a read is up to %d ms old (L); the largest of %d", both.VisibilityMS, both.StalenessMS, both.Rounds)})
}

// futures places a tiny order far from the price several times, measures how long it takes to
// become visible, cancels it, and measures how long reads still return it. The result is empty if a
// round failed.
func (p *prober) futures(ctx context.Context, seen *Delays) {
	order, err := p.tiny(ctx, exchange.Futures)
	if err != nil {
		p.add(Step{Name: "trade", Outcome: Fail, What: "no order was placed: " + err.Error()})
		return
	}
	for round := range p.config.Rounds {
		order.ClientOrderID = "botdprobe-" + strconv.FormatInt(time.Now().UnixMilli(), 36) + strconv.Itoa(round)
		step := p.round(ctx, order, seen)
		p.add(step)
		if step.Outcome == Fail {
			*seen = Delays{} // a failed step measured nothing
			return
		}
	}
}

// empties reads lists that are empty in most accounts and requests an order that does not exist, to
// see how the venue writes both.
func (p *prober) empties(ctx context.Context) {
	for _, operation := range []exchange.Operation{exchange.FuturesOpenOrders, exchange.FuturesOpenPositions, exchange.SpotOpenOrders, exchange.SpotUserTrades,
		exchange.SpotOrderHistory} {
		p.callWithRetries(ctx, exchange.Request{Operation: operation, Symbol: p.config.Symbol})
	}
	p.callWithRetries(ctx, exchange.Request{Operation: exchange.FuturesOrder, OrderID: noOrder})
}

// noOrder is an id that no venue has reached.
const noOrder = 1<<53 - 1

// tiny returns the smallest order that the symbol allows: a LIMIT BUY that rests.
func (p *prober) tiny(ctx context.Context, market exchange.Market) (exchange.NewOrder, error) {
	order := exchange.NewOrder{Market: market, Symbol: p.config.Symbol, Side: exchange.Buy, Type: exchange.Limit, PostOnly: market == exchange.Futures}
	symbol, found := p.symbols.Symbol(order.Key())
	if !found {
		return order, fmt.Errorf("the venue lists no %s symbol %s", market, p.config.Symbol)
	}
	depth := p.callWithRetries(ctx, exchange.Request{Operation: exchange.FuturesDepth.On(market), Symbol: symbol.Name, Limit: 5})
	if depth.err != nil {
		return order, depth.err
	}
	if len(depth.answer.Depth.Bids) == 0 {
		return order, errors.New("the book has no bid to keep away from")
	}
	bid := depth.answer.Depth.Bids[0].Price
	order.Price = symbol.FloorPrice(bid - exchange.Price(float64(bid)*p.config.Distance.Float()))
	if order.Price <= 0 {
		return order, fmt.Errorf("a price %s below %s is not possible", p.config.Distance, symbol.PriceDecimal(bid))
	}
	order.Quantity = max(symbol.QuantityFor(symbol.MinNotional, order.Price), symbol.QuantityTick)
	for symbol.BelowMinimum(order.Price, order.Quantity) {
		order.Quantity += symbol.QuantityTick
	}
	return order, nil
}

// round runs the life of one order.
func (p *prober) round(ctx context.Context, order exchange.NewOrder, seen *Delays) Step {
	symbol, _ := p.symbols.Symbol(order.Key())
	step := Step{Name: "trade", Outcome: OK}
	id, placed := p.place(ctx, &step, exchange.FuturesPlace, &order,
		"see that the account has margin and no SHORT position there; --distance changes how far from the price it stands")
	if id == 0 {
		return step
	}
	watch := orderWatch{p: p, id: id, order: &order, sent: placed.began}
	shown, err := watch.until(ctx, true)
	cancelErr := p.withdraw(context.WithoutCancel(ctx), exchange.Request{Operation: exchange.FuturesCancel, OrderID: id}) // even if the user interrupted
	if err == nil && cancelErr == nil {
		_, err = watch.until(ctx, false)
	}
	if err := errors.Join(err, cancelErr); err != nil {
		step.failed(&order, id, err, cancelErr)
		return step
	}
	seen.Rounds++
	seen.VisibilityMS = max(seen.VisibilityMS, shown.Milliseconds()+1)
	seen.StalenessMS = max(seen.StalenessMS, watch.stale.Milliseconds())
	step.What = fmt.Sprintf("BUY LIMIT %s %s at %s: order %d, seen after %s, canceled, gone; a read was at most %s old",
		symbol.QuantityDecimal(order.Quantity), order.Symbol, symbol.PriceDecimal(order.Price), id, shown.Round(time.Millisecond),
		watch.stale.Round(time.Millisecond))
	return step
}

// place places an order and returns its id and the call. The id is 0 if there is no such order; the
// step then contains the reason, and the hint unless the key is what was refused.
func (p *prober) place(ctx context.Context, step *Step, operation exchange.Operation, order *exchange.NewOrder, hint string) (id int64, placed reply) {
	placed = p.submit(ctx, exchange.Request{Operation: operation, Order: *order})
	step.Status, step.LatencyMS = placed.status, ms(placed.took())
	if placed.err == nil {
		return placed.answer.Order.ID, placed
	}
	if id = p.lost(order, &placed); id == 0 {
		symbol, _ := p.symbols.Symbol(order.Key())
		step.Outcome, step.What = Fail, fmt.Sprintf("placing BUY LIMIT %s at %s: %v", symbol.QuantityDecimal(order.Quantity),
			symbol.PriceDecimal(order.Price), placed.err)
		if step.Hint = hint; judge(&placed) == keyRefused {
			step.Hint = hints[keyRefused]
		}
	}
	return id, placed
}

// failed records the failure of a placed order.
func (s *Step) failed(order *exchange.NewOrder, id int64, err, cancelErr error) {
	s.Outcome, s.What = Fail, fmt.Sprintf("order %d: %v", id, err)
	if cancelErr != nil {
		s.Hint = fmt.Sprintf("order %d may still be open on %s %s, or have been filled: check, cancel it, and close what it filled", id, order.Market,
			order.Symbol)
	}
}

// submit sends a placement and waits for its answer even if the user interrupts meanwhile;
// otherwise it would be unknown whether the order exists.
func (p *prober) submit(ctx context.Context, request exchange.Request) reply {
	if err := ctx.Err(); err != nil {
		return reply{err: err}
	}
	return p.call(context.WithoutCancel(ctx), request)
}

// lost searches for an order whose placement got no answer. It returns 0 if the order was refused,
// was not sent, or does not appear.
func (p *prober) lost(order *exchange.NewOrder, placed *reply) int64 {
	var refusal *exchange.Refusal
	refused, patience := errors.As(placed.err, &refusal), p.config.MaxWait
	if placed.began.IsZero() {
		return 0
	}
	if refused && (refusal.Unauthorized() || order.Type == exchange.MarketOrder) {
		return 0
	}
	if refused { // an exchange may execute an order that it refuses
		patience = settleFor
	}
	ctx := context.Background()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		r := p.callWithRetries(ctx, exchange.Request{Operation: exchange.FuturesOpenOrders.On(order.Market), Symbol: order.Symbol})
		for _, row := range r.rows {
			if id, clientID, _, _ := orderOf(row); clientID == order.ClientOrderID && id != 0 {
				if refused {
					p.habits.seen[habitRefuses] = true
				}
				return id
			}
		}
		pause(ctx, pollInterval)
	}
	return 0
}

// withdraw cancels an order until the venue confirms or reports that the order does not exist.
func (p *prober) withdraw(ctx context.Context, cancel exchange.Request) error {
	var err error
	for range 5 {
		r := p.callWithRetries(ctx, cancel)
		if err = r.err; err == nil {
			p.habits.canceled[cancel.OrderID] = true
			return nil
		}
		pause(ctx, 10*pollInterval)
	}
	return fmt.Errorf("cancel: %w", err)
}

// orderWatch follows one order through GET and the open list, and records reads that are older than
// an earlier one.
type orderWatch struct {
	p     *prober
	id    int64
	order *exchange.NewOrder
	sent  time.Time
	stale time.Duration
}

// observation is the result of one read: whether the order is open.
type observation struct {
	open bool
	reply
}

// until reads until both sources agree that the order is open, or that it is not, and remain so for
// a while. It returns the time from sending until both agreed.
func (w *orderWatch) until(ctx context.Context, open bool) (time.Duration, error) {
	var first [2]time.Time // when GET and the list first reported it
	var newest time.Time   // when either first reported it
	end := time.Now().Add(w.p.config.MaxWait)
	for {
		for i, read := range [2]func(context.Context) (observation, error){w.get, w.list} {
			seen, err := read(ctx)
			if err != nil {
				return 0, err
			}
			switch {
			case seen.open == open && first[i].IsZero():
				first[i] = seen.ended
				if newest.IsZero() {
					newest = seen.ended
				}
			case seen.open != open && !newest.IsZero():
				// The read began after the change was visible but did not show it.
				w.stale = max(w.stale, seen.began.Sub(newest))
				first[i] = time.Time{}
			}
		}
		agreed := !first[0].IsZero() && !first[1].IsZero()
		switch now := time.Now(); {
		case agreed && now.Sub(newest) >= settleFor:
			return laterOf(first).Sub(w.sent), nil
		case !agreed && now.After(end):
			return 0, fmt.Errorf("after %s GET and the open list still disagree whether it is open", w.p.config.MaxWait)
		}
		if !pause(ctx, pollInterval) {
			return 0, ctx.Err()
		}
	}
}

func laterOf(times [2]time.Time) time.Time {
	if times[0].After(times[1]) {
		return times[0]
	}
	return times[1]
}

// withoutOrder reports whether the venue answered that there is no such order.
func (r *reply) withoutOrder() bool {
	var refusal *exchange.Refusal
	return errors.As(r.err, &refusal) && (r.status == http.StatusBadRequest || r.status == http.StatusNotFound)
}

// get reads the order. Before it is visible the venue may answer that it does not exist.
func (w *orderWatch) get(ctx context.Context) (observation, error) {
	r := w.p.callWithRetries(ctx, exchange.Request{Operation: exchange.FuturesOrder, OrderID: w.id})
	if r.err != nil && !r.withoutOrder() {
		return observation{}, fmt.Errorf("get: %w", r.err)
	}
	if r.answer.Order.Filled > 0 {
		return observation{}, errors.New("it was filled: that must not happen so far from the price")
	}
	if r.err == nil {
		w.p.noteList(exchange.FuturesOrder, r.answer.Order.ClientOrderID == w.order.ClientOrderID, r.ended.Sub(w.sent))
	}
	status := r.answer.Order.Status
	return observation{r.err == nil && (status == exchange.StatusOpen || status == exchange.StatusNew || status == exchange.StatusCreated), r}, nil
}

// list looks for the order in the open list.
func (w *orderWatch) list(ctx context.Context) (observation, error) {
	r := w.p.callWithRetries(ctx, exchange.Request{Operation: exchange.FuturesOpenOrders, Symbol: w.order.Symbol})
	if r.err != nil {
		return observation{}, fmt.Errorf("open orders: %w", r.err)
	}
	for _, o := range r.answer.Orders.Items() {
		if o.ID != w.id && o.ClientOrderID == w.order.ClientOrderID && o.Status != exchange.StatusPreCanceled {
			w.p.again(ctx, exchange.Request{Operation: exchange.FuturesCancel, OrderID: o.ID})
		}
		if o.ID == w.id {
			w.p.noteList(exchange.FuturesOpenOrders, o.ClientOrderID == w.order.ClientOrderID, r.ended.Sub(w.sent))
			return observation{o.Status != exchange.StatusPreCanceled, r}, nil
		}
	}
	return observation{false, r}, nil
}
