package process

import (
	"cmp"
	"errors"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/strategy"
)

// planJSON is a plan. A member that is missing or null leaves its subject unchanged. Decimals may
// be strings or numbers.
type planJSON struct {
	Target     *targetJSON     `json:"target,omitempty"`
	Leverage   int             `json:"leverage,omitempty"`
	Orders     *[]orderJSON    `json:"orders,omitempty"`
	Exits      *[]orderJSON    `json:"exits,omitempty"`
	Protection *protectionJSON `json:"protection,omitempty"`
	Reason     string          `json:"reason,omitempty"`
	Memory     *memory         `json:"memory,omitempty"`
	SignalMS   int64           `json:"signal_ms,omitempty"`
	Notify     []string        `json:"notify,omitempty"`
}

// targetJSON is a target; exactly one field is set.
type targetJSON struct {
	Quantity *decimal.Decimal `json:"quantity,omitempty"`
	Equity   *decimal.Decimal `json:"equity,omitempty"`
	Quote    *decimal.Decimal `json:"quote,omitempty"`
}

type orderJSON struct {
	Key       string          `json:"key"`
	Side      exchange.Side   `json:"side"`
	Price     decimal.Decimal `json:"price"`
	Quantity  decimal.Decimal `json:"quantity"`
	PostOnly  bool            `json:"post_only,omitempty"`
	StopPrice decimal.Decimal `json:"stop_price"`
}

type protectionJSON struct {
	StopLoss   *distanceJSON `json:"stop_loss,omitempty"`
	TakeProfit *distanceJSON `json:"take_profit,omitempty"`
}

// distanceJSON is a price or a share of the entry price.
type distanceJSON struct {
	Price *decimal.Decimal `json:"price,omitempty"`
	Share *decimal.Decimal `json:"share,omitempty"`
}

func newPlan(p *strategy.Plan, s *exchange.Symbol) *planJSON {
	i := &planJSON{Leverage: p.Leverage, Reason: p.Reason, SignalMS: p.SignalMS, Notify: p.Notices()}
	switch t := p.Target; t.Kind {
	case strategy.ByQuantity:
		i.Target = &targetJSON{Quantity: new(s.QuantityDecimal(t.Quantity))}
	case strategy.ByEquity:
		i.Target = &targetJSON{Equity: new(t.Share.Decimal())}
	case strategy.ByQuote:
		i.Target = &targetJSON{Quote: new(t.Quote.Decimal())}
	}
	if p.OrdersSet {
		i.Orders = newOrders(p.Orders, s)
	}
	if p.ExitsSet {
		i.Exits = newOrders(p.Exits, s)
	}
	if p.Protection.Set {
		i.Protection = &protectionJSON{newDistance(p.Protection.StopLoss, s), newDistance(p.Protection.TakeProfit, s)}
	}
	if remembered := p.Remembered(); remembered.Len() > 0 {
		i.Memory = &memory{remembered}
	}
	return i
}

func newOrders(orders []strategy.DesiredOrder, s *exchange.Symbol) *[]orderJSON {
	infos := make([]orderJSON, 0, len(orders))
	for _, o := range orders {
		infos = append(infos, orderJSON{o.Key, o.Side, s.PriceDecimal(o.Price), s.QuantityDecimal(o.Quantity), o.PostOnly, s.PriceDecimal(o.StopPrice)})
	}
	return &infos
}

func newDistance(d strategy.Distance, s *exchange.Symbol) *distanceJSON {
	switch {
	case d.Price != 0:
		return &distanceJSON{Price: new(s.PriceDecimal(d.Price))}
	case d.Share != 0:
		return &distanceJSON{Share: new(d.Share.Decimal())}
	}
	return nil
}

// into writes the plan into an empty strategy.Plan.
func (i *planJSON) into(p *strategy.Plan, s *exchange.Symbol) error {
	c := &converter{symbol: s}
	p.Leverage, p.Reason, p.SignalMS = i.Leverage, i.Reason, i.SignalMS
	for _, text := range i.Notify {
		p.Notify(text)
	}
	if t := i.Target; t != nil {
		switch {
		case t.Quantity != nil && t.Equity == nil && t.Quote == nil:
			p.Target = strategy.Target{Kind: strategy.ByQuantity, Quantity: c.quantity(*t.Quantity)}
		case t.Equity != nil && t.Quantity == nil && t.Quote == nil:
			p.Target = strategy.Target{Kind: strategy.ByEquity, Share: c.rate(*t.Equity)}
		case t.Quote != nil && t.Quantity == nil && t.Equity == nil:
			p.Target = strategy.Target{Kind: strategy.ByQuote, Quote: c.amount(*t.Quote)}
		default:
			return errors.New("a target is one of quantity, equity and quote")
		}
	}
	if i.Target != nil && i.Orders != nil {
		return errors.New("a plan has a target or opening orders, not both")
	}
	if i.Orders != nil {
		p.Orders, p.OrdersSet = c.orders(*i.Orders), true
	}
	if i.Exits != nil {
		p.Exits, p.ExitsSet = c.orders(*i.Exits), true
	}
	if protection := i.Protection; protection != nil {
		p.Protection = strategy.Protection{Set: true, StopLoss: c.distance(protection.StopLoss), TakeProfit: c.distance(protection.TakeProfit)}
	}
	if i.Memory != nil {
		if why := i.Memory.OutOfBounds(); why != "" { // before Remember, which compares each key with all others
			return errors.New(why)
		}
		for e := range i.Memory.All() {
			p.Remember(e.Key, e.Value)
		}
	}
	if why := p.WordsOutOfBounds(); why != "" {
		return errors.New(why)
	}
	return c.err
}

func (c *converter) orders(infos []orderJSON) (orders []strategy.DesiredOrder) {
	for _, o := range infos {
		if o.Key == "" || o.Side == 0 {
			c.err = cmp.Or(c.err, errors.New("an order needs a key and a side"))
		}
		orders = append(orders, strategy.DesiredOrder{Key: o.Key, Side: o.Side, Price: c.price(o.Price), Quantity: c.quantity(o.Quantity),
			PostOnly: o.PostOnly, StopPrice: c.price(o.StopPrice)})
	}
	return orders
}

func (c *converter) distance(i *distanceJSON) (d strategy.Distance) {
	switch {
	case i == nil:
	case i.Price != nil:
		d.Price = c.price(*i.Price)
	case i.Share != nil:
		d.Share = c.rate(*i.Share)
	}
	return d
}
