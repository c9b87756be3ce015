package probe

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"botd/exchange"
)

// spot places the smallest order far from the price on the spot market, follows it through the open
// list, cancels it, and waits for it in the history.
func (p *prober) spot(ctx context.Context, seen *Delays) {
	step := Step{Name: "spot", Outcome: OK}
	order, err := p.tiny(ctx, exchange.Spot)
	if err != nil {
		p.add(Step{Name: "spot", Outcome: Skip, What: "no order was placed: " + err.Error()})
		return
	}
	order.ClientOrderID = "botdprobe-s" + strconv.FormatInt(time.Now().UnixMilli(), 36)
	symbol, _ := p.symbols.Symbol(order.Key())
	if wallet := p.callWithRetries(ctx, exchange.Request{Operation: exchange.SpotWallet}); wallet.err != nil {
		p.add(Step{Name: "spot", Outcome: Fail, Status: wallet.status, What: "wallet: " + wallet.err.Error()})
		return
	}
	id, placed := p.place(ctx, &step, exchange.SpotPlace, &order, "see that the account has USDT on spot")
	if id == 0 {
		p.add(step)
		return
	}
	shown, err := p.inList(ctx, exchange.SpotOpenOrders, &order, id, true, placed.began)
	cancelErr := p.withdraw(context.WithoutCancel(ctx), exchange.Request{Operation: exchange.SpotCancel, Symbol: order.Symbol, OrderID: id})
	canceled := time.Now()
	var left, written time.Duration
	if err == nil && cancelErr == nil {
		if left, err = p.inList(ctx, exchange.SpotOpenOrders, &order, id, false, canceled); err == nil {
			written, err = p.inList(ctx, exchange.SpotOrderHistory, &order, id, true, canceled)
		}
	}
	if err := errors.Join(err, cancelErr); err != nil {
		step.failed(&order, id, err, cancelErr)
		p.add(step)
		return
	}
	seen.Rounds++
	seen.VisibilityMS = max(seen.VisibilityMS, shown.Milliseconds()+1, written.Milliseconds()+1)
	step.What = fmt.Sprintf("BUY LIMIT %s %s at %s: order %d, in the open list after %s, canceled, gone after %s, in the history after %s",
		symbol.QuantityDecimal(order.Quantity), order.Symbol, symbol.PriceDecimal(order.Price), id, shown.Round(time.Millisecond),
		left.Round(time.Millisecond), written.Round(time.Millisecond))
	p.add(step)
}

// inList reads a list until it contains an order, or no longer does, and returns the time since
// then.
func (p *prober) inList(ctx context.Context, list exchange.Operation, order *exchange.NewOrder, id int64, shown bool, since time.Time) (time.Duration, error) {
	for end := time.Now().Add(p.config.MaxWait); ; {
		r := p.callWithRetries(ctx, exchange.Request{Operation: list, Symbol: order.Symbol})
		if r.err != nil {
			return 0, fmt.Errorf("%s: %w", list, r.err)
		}
		found := false
		for _, o := range r.answer.Orders.Items() {
			if o.ID != id && o.ClientOrderID == order.ClientOrderID && list == exchange.SpotOpenOrders {
				p.again(ctx, exchange.Request{Operation: exchange.SpotCancel, Symbol: order.Symbol, OrderID: o.ID})
			}
			if o.ID != id {
				continue
			}
			if o.Filled > 0 {
				return 0, errors.New("it was filled: that must not happen so far from the price")
			}
			found = true
			p.noteList(list, o.ClientOrderID == order.ClientOrderID, r.ended.Sub(since))
		}
		if found == shown {
			return r.ended.Sub(since), nil
		}
		if time.Now().After(end) {
			return 0, fmt.Errorf("%s: after %s the order is there %v, want %v%s", list, p.config.MaxWait, found, shown, unread(&r.answer))
		}
		if !pause(ctx, pollInterval) {
			return 0, ctx.Err()
		}
	}
}

// unread returns the reason why rows of a list could not be read.
func unread(answer *exchange.Answer) string {
	if len(answer.Unreadable) == 0 {
		return ""
	}
	return fmt.Sprintf("; %d rows cannot be read: %s", len(answer.Unreadable), answer.Unreadable[0].Reason)
}

// List describes how one list shows an order placed with a client order id.
type List struct {
	List    string `json:"list"`
	Echoes  bool   `json:"echoes"` // its rows have the client order id
	AfterMS int64  `json:"after_ms"`
}

// listNames maps operations to the lists in a profile's client_order_id.
var listNames = map[exchange.Operation]string{
	exchange.FuturesOrder: "futures_order", exchange.FuturesOpenOrders: "futures_open", exchange.SpotOpenOrders: "spot_open",
	exchange.SpotOrderHistory: "spot_history",
}

// noteList records a list's first sight of the order.
func (p *prober) noteList(operation exchange.Operation, echoes bool, after time.Duration) {
	name := listNames[operation]
	for i := range p.report.Lists {
		if p.report.Lists[i].List == name {
			p.report.Lists[i].Echoes = p.report.Lists[i].Echoes && echoes
			return
		}
	}
	p.report.Lists = append(p.report.Lists, List{name, echoes, after.Milliseconds()})
}
