package probe

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"botd/exchange"
)

// Pace of looking for an order.
const (
	lookEvery = 20 * time.Millisecond
	settleFor = time.Second // reads go on for as long after an order is gone, to catch an old one
)

// delays places a tiny order far from the price a few times, watches how long it
// takes to be seen, cancels it, and watches how long it is still told of.
func (p *prober) delays(ctx context.Context) {
	order, err := p.tiny(ctx)
	if err != nil {
		p.add(Step{Name: "delays", Outcome: Fail, What: "no order was placed: " + err.Error()})
		return
	}
	seen := Delays{}
	for round := range p.config.Rounds {
		order.ClientOrderID = "botdprobe-" + strconv.FormatInt(time.Now().UnixMilli(), 36) + strconv.Itoa(round)
		step := p.round(ctx, order, &seen)
		p.add(step)
		if step.Outcome == Fail {
			return
		}
	}
	p.report.Delays = &seen
	p.add(Step{Name: "delays", Outcome: OK, What: fmt.Sprintf("an order is seen within %d ms of being sent (D); a read is up to %d ms old (L); the largest of %d",
		seen.VisibilityMS, seen.StalenessMS, seen.Rounds)})
}

// tiny is the smallest order the symbol allows, a LIMIT BUY that only rests.
func (p *prober) tiny(ctx context.Context) (exchange.NewOrder, error) {
	order := exchange.NewOrder{Market: exchange.Futures, Symbol: p.config.Symbol, Side: exchange.Buy, Type: exchange.Limit, PostOnly: true}
	symbol, found := p.symbols.Symbol(order.Key())
	if !found {
		return order, fmt.Errorf("the venue lists no futures symbol %s", p.config.Symbol)
	}
	depth := p.patiently(ctx, exchange.Request{Operation: exchange.FuturesDepth, Symbol: symbol.Name, Limit: 5}, 0)
	if depth.err != nil {
		return order, depth.err
	}
	if len(depth.answer.Depth.Bids) == 0 {
		return order, errors.New("the book has no bid to keep away from")
	}
	bid := depth.answer.Depth.Bids[0].Price
	order.Price = symbol.FloorPrice(bid - exchange.Price(float64(bid)*p.config.Distance.Float()))
	if order.Price <= 0 {
		return order, fmt.Errorf("a price %s below %s is none", p.config.Distance, symbol.PriceDecimal(bid))
	}
	order.Quantity = max(symbol.QuantityFor(symbol.MinNotional, order.Price), symbol.QuantityTick)
	for symbol.Notional(order.Price, order.Quantity).Less(symbol.MinNotional) {
		order.Quantity += symbol.QuantityTick
	}
	return order, nil
}

// round is one order's life.
func (p *prober) round(ctx context.Context, order exchange.NewOrder, seen *Delays) Step {
	symbol, _ := p.symbols.Symbol(order.Key())
	placed := p.call(ctx, exchange.Request{Operation: exchange.FuturesPlace, Order: order}, 0)
	step := Step{Name: "trade", Outcome: OK, Status: placed.status, LatencyMS: ms(placed.took())}
	id := placed.answer.Order.ID
	if placed.err != nil {
		if id = p.lost(ctx, &order, placed.err); id == 0 {
			step.Outcome, step.What = Fail, fmt.Sprintf("placing BUY LIMIT %s at %s: %v", symbol.QuantityDecimal(order.Quantity), symbol.PriceDecimal(order.Price), placed.err)
			step.Hint = "see that the account has margin and no SHORT position there; --distance changes how far from the price it stands"
			return step
		}
	}
	looked := watch{p: p, id: id, symbol: order.Symbol, sent: placed.began}
	shown, err := looked.until(ctx, true)
	cancelErr := p.withdraw(context.WithoutCancel(ctx), id) // even when the user gave up
	if err == nil && cancelErr == nil {
		_, err = looked.until(ctx, false)
	}
	if err := errors.Join(err, cancelErr); err != nil {
		step.Outcome, step.What = Fail, fmt.Sprintf("order %d: %v", id, err)
		if cancelErr != nil {
			step.Hint = fmt.Sprintf("order %d may still be open on %s: look, and cancel it by hand", id, order.Symbol)
		}
		return step
	}
	seen.Rounds++
	seen.VisibilityMS = max(seen.VisibilityMS, shown.Milliseconds()+1)
	seen.StalenessMS = max(seen.StalenessMS, looked.stale.Milliseconds())
	step.What = fmt.Sprintf("BUY LIMIT %s %s at %s: order %d, seen after %s, canceled, gone; a read was at most %s old",
		symbol.QuantityDecimal(order.Quantity), order.Symbol, symbol.PriceDecimal(order.Price), id, shown.Round(time.Millisecond), looked.stale.Round(time.Millisecond))
	return step
}

// lost looks for an order whose placement was not answered; 0 when it was refused
// or does not turn up.
func (p *prober) lost(ctx context.Context, order *exchange.NewOrder, err error) int64 {
	var refusal *exchange.Refusal
	if errors.As(err, &refusal) {
		return 0
	}
	ctx = context.WithoutCancel(ctx)
	for end := time.Now().Add(p.config.Patience); time.Now().Before(end); {
		r := p.patiently(ctx, exchange.Request{Operation: exchange.FuturesOpenOrders, Symbol: order.Symbol}, 0)
		if r.err == nil {
			for _, o := range r.answer.Orders.Items() {
				if o.ClientOrderID == order.ClientOrderID {
					return o.ID
				}
			}
		}
		pause(ctx, lookEvery)
	}
	return 0
}

// withdraw cancels an order, until the venue says it is done or it is not there.
func (p *prober) withdraw(ctx context.Context, id int64) error {
	var err error
	for range 5 {
		r := p.patiently(ctx, exchange.Request{Operation: exchange.FuturesCancel, OrderID: id}, 0)
		if err = r.err; err == nil {
			return nil
		}
		pause(ctx, 10*lookEvery)
	}
	return fmt.Errorf("cancel: %w", err)
}

// watch follows one order through GET and the open list, and notes reads that told
// less than one before them had.
type watch struct {
	p      *prober
	id     int64
	symbol string
	sent   time.Time
	stale  time.Duration
}

// look is what one read told: whether the order is open.
type look struct {
	open bool
	reply
}

// until reads until both ways tell that the order is open, or that it is not, and
// go on telling so for a while. It returns how long after sending both first did.
func (w *watch) until(ctx context.Context, open bool) (time.Duration, error) {
	var first [2]time.Time // when GET and the list first told it
	var newest time.Time   // when it was first told at all
	end := time.Now().Add(w.p.config.Patience)
	for {
		for i, read := range [2]func(context.Context) (look, error){w.get, w.list} {
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
				// Asked after the news was out, and it did not know them.
				w.stale = max(w.stale, seen.began.Sub(newest))
				first[i] = time.Time{}
			}
		}
		told := !first[0].IsZero() && !first[1].IsZero()
		switch now := time.Now(); {
		case told && now.Sub(newest) >= settleFor:
			return laterOf(first).Sub(w.sent), nil
		case !told && now.After(end):
			return 0, fmt.Errorf("after %s GET and the open list do not both tell whether it is open", w.p.config.Patience)
		}
		if !pause(ctx, lookEvery) {
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

// get asks for the order. Before it is visible the venue may say that there is none.
func (w *watch) get(ctx context.Context) (look, error) {
	r := w.p.patiently(ctx, exchange.Request{Operation: exchange.FuturesOrder, OrderID: w.id}, 0)
	var refusal *exchange.Refusal
	if r.err != nil && !(errors.As(r.err, &refusal) && (r.status == 400 || r.status == 404)) {
		return look{}, fmt.Errorf("get: %w", r.err)
	}
	if r.answer.Order.Filled > 0 {
		return look{}, errors.New("it was filled: that must not happen so far from the price")
	}
	status := r.answer.Order.Status
	return look{r.err == nil && (status == exchange.StatusOpen || status == exchange.StatusNew || status == exchange.StatusCreated), r}, nil
}

// list looks for it among the open orders.
func (w *watch) list(ctx context.Context) (look, error) {
	r := w.p.patiently(ctx, exchange.Request{Operation: exchange.FuturesOpenOrders, Symbol: w.symbol}, 0)
	if r.err != nil {
		return look{}, fmt.Errorf("open orders: %w", r.err)
	}
	for _, o := range r.answer.Orders.Items() {
		if o.ID == w.id {
			return look{o.Status != exchange.StatusPreCanceled, r}, nil
		}
	}
	return look{false, r}, nil
}
