package lane

import (
	"context"
	"fmt"
	"time"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/record"
)

// sale is one spot sale whose end is not known yet.
type sale struct {
	clientID string
	orderID  int64 // 0 if unknown
	at       time.Time
}

// settleSpot reads the open orders and the wallet and acts on them: it cancels all own orders, because a resting sale holds
// the asset, and sells the free part of the quantity that the journal explains.
func (l *Lane) settleSpot(ctx context.Context, a *action, exposures []*exposure) progress {
	answers, p := l.both(ctx, [2]string{"spot orders", "the spot wallet"}, [2]exchange.Operation{exchange.SpotOpenOrders, exchange.SpotWallet})
	if !p.read {
		return p
	}
	for _, t := range exposures {
		var free exchange.Quantity
		for _, b := range answers[1].Balances.Items() {
			if b.Asset == t.Symbol.Base {
				free = t.Symbol.QuantityOf(b.Free)
			}
		}
		left, blind := l.settleSale(ctx, a, t, answers[0].Orders.Items(), free)
		p.left, p.blind = append(p.left, left...), append(p.blind, blind...)
	}
	return p
}

// settleSale acts on one symbol: first all own orders must have ended with a known fill; then the
// rest is sold, one sale at a time.
func (l *Lane) settleSale(ctx context.Context, a *action, t *exposure, open []exchange.Order, free exchange.Quantity) (left, blind []string) {
	for i := range open {
		o := &open[i]
		if o.Symbol != t.Symbol.Name {
			continue
		}
		switch p := t.placement(o); {
		case p != nil && t.ends(p):
			left = append(left, fmt.Sprintf("order %d on %s to cancel", o.ID, t.Symbol.Key()))
			l.cancel(ctx, t, o.ID)
		case t.sale != nil && o.ClientOrderID == t.sale.clientID:
			t.sale.orderID = o.ID
			if time.Since(t.sale.at) >= sendAgain { // the price has passed its limit: the next uses the current price
				l.cancel(ctx, t, o.ID)
			}
		}
	}
	if t.level < record.LevelFlatten || len(left) > 0 {
		return left, nil
	}
	if why := l.evidence(ctx, t); why != "" {
		return []string{why}, nil
	}
	quantity := t.Symbol.FloorQuantity(min(t.leftToSell(), free))
	last := l.lastPrice(ctx, t)
	if quantity <= 0 || last > 0 && t.Symbol.BelowMinimum(last, quantity) {
		return nil, nil // nothing, or dust that no order can sell
	}
	if last <= 0 {
		return nil, []string{fmt.Sprintf("%s: its price is not known", t.Symbol.Key())}
	}
	left = append(left, fmt.Sprintf("%s of %s to sell", t.Symbol.QuantityDecimal(quantity), t.Symbol.Key()))
	if l.isPlacing(t.Symbol.Key()) {
		return left, nil
	}
	quantity = min(quantity, t.Symbol.FloorQuantity(t.Symbol.QuantityFor(t.Symbol.MaxNotional, last)))
	order := exchange.NewOrder{Market: exchange.Spot, Side: exchange.Sell, Type: exchange.Limit, Quantity: quantity,
		Price: t.Symbol.SalePrice(last, t.Collar, quantity)}
	at := time.Now()
	id, outcome := l.place(ctx, a, t, order)
	switch outcome := outcome.(type) {
	case record.Acknowledged:
		t.sale = &sale{id, outcome.OrderID, at}
	case record.Uncertain:
		t.sale = &sale{id, 0, at}
	case record.Refused:
		blind = append(blind, fmt.Sprintf("the sale of %s is refused: %s", t.Symbol.Key(), outcome.Reason))
		pause(ctx, retryAfter)
	case record.Ended:
		blind = append(blind, fmt.Sprintf("the sale of %s did not leave: %s", t.Symbol.Key(), outcome.Evidence))
	}
	return left, blind
}

// lastPrice returns the newest price, or the list's.
func (l *Lane) lastPrice(ctx context.Context, t *exposure) exchange.Price {
	answer, err := l.read(ctx, exchange.Request{Operation: exchange.SpotTicker, Symbol: t.Symbol.Name})
	if err == nil && answer.Tickers.Done() && len(answer.Tickers.Items()) > 0 && answer.Tickers.Items()[0].Last > 0 {
		return answer.Tickers.Items()[0].Last
	}
	return t.Last
}

// evidence finds the final fill of every own order in the order history. It returns what is still
// unknown.
func (l *Lane) evidence(ctx context.Context, t *exposure) (missing string) {
	if t.known() {
		return ""
	}
	since := l.config.NowMS()
	for i := range t.Orders {
		since = min(since, t.Orders[i].SentMS())
	}
	if t.sale != nil {
		since = min(since, l.config.NowMS()-time.Since(t.sale.at).Milliseconds())
	}
	answer, err := l.read(ctx, exchange.Request{Operation: exchange.SpotOrderHistory, Symbol: t.Symbol.Name, StartMS: max(0, since-reconcile.HistorySlackMS),
		Limit: exchange.HistoryPage})
	if err != nil {
		return fmt.Sprintf("the sold quantity of %s is unknown: %v", t.Symbol.Key(), err)
	}
	rows := answer.Orders.Items()
	for i := range rows {
		o := &rows[i]
		if !o.Status.Final() {
			continue
		}
		if p := t.placement(o); p != nil {
			t.noteFinal(o.ID, o.Filled, l)
			if p.OrderID() == 0 {
				t.noteFinal(keyWithoutOrderID(p), o.Filled, l)
			}
		}
		if t.sale != nil && (o.ID == t.sale.orderID || t.sale.orderID == 0 && o.ClientOrderID == t.sale.clientID) {
			t.sold += o.Filled
			t.sale = nil
		}
	}
	if t.known() {
		return ""
	}
	return fmt.Sprintf("an order on %s whose end is not known yet", t.Symbol.Key())
}

// keyWithoutOrderID returns a key for an order whose exchange id was unknown in the list.
func keyWithoutOrderID(p *account.Placement) int64 { return -p.SentMS() }

func (t *exposure) noteFinal(orderID int64, filled exchange.Quantity, l *Lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t.final[orderID] = filled
}

// known reports whether all own orders have ended with a known fill. An opening that may never have
// reached the exchange does not prevent the sale.
func (t *exposure) known() bool {
	if t.sale != nil {
		return false
	}
	for i := range t.Orders {
		p := &t.Orders[i]
		key := p.OrderID()
		if key == 0 {
			key = keyWithoutOrderID(p)
		}
		if _, ended := t.final[key]; !ended && (key > 0 || !p.Purpose().Opens()) {
			return false
		}
	}
	return true
}

// leftToSell returns the quantity that the journal explained when the list was made, adjusted for
// fills since.
func (t *exposure) leftToSell() exchange.Quantity {
	left := t.Close - t.sold
	for i := range t.Orders {
		p := &t.Orders[i]
		key := p.OrderID()
		if key == 0 {
			key = keyWithoutOrderID(p)
		}
		if filled, ended := t.final[key]; ended {
			left += (filled - p.Filled()) * exchange.Quantity(p.Order().Side.Sign())
		}
	}
	return left
}
