package sim

import (
	"errors"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

const startMS = 1_767_225_600_000 // 2026-01-01T00:00:00Z

// desk is an exchange with one account and short methods for tests.
type desk struct {
	*testing.T
	*Exchange
	account string
	market  exchange.Market
	name    string
}

func newDesk(t *testing.T, config Config) *desk {
	t.Helper()
	if config.Symbols == nil {
		config.Symbols = DefaultSymbols()
	}
	if config.StartMS == 0 {
		config.StartMS = startMS
	}
	x, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"alice", "bob"} {
		if err := x.AddAccount(DefaultAccount(name)); err != nil {
			t.Fatal(err)
		}
	}
	return &desk{t, x, "alice", exchange.Futures, "BTC-USDT"}
}

func (d *desk) as(account string) *desk {
	other := *d
	other.account = account
	return &other
}

func (d *desk) on(market exchange.Market, name string) *desk {
	other := *d
	other.market, other.name = market, name
	return &other
}

func (d *desk) key() exchange.SymbolKey { return exchange.SymbolKey{Market: d.market, Name: d.name} }

func (d *desk) p(text string) exchange.Price {
	price, err := d.Symbol(d.key()).Price(decimal.RequireFromString(text))
	if err != nil {
		d.Fatal(err)
	}
	return price
}

func (d *desk) q(text string) exchange.Quantity {
	quantity, err := d.Symbol(d.key()).Quantity(decimal.RequireFromString(text))
	if err != nil {
		d.Fatal(err)
	}
	return quantity
}

// order parses "buy LIMIT 0.01 @50000 stop 49000 mark reduce close post".
func (d *desk) order(side string, kind exchange.OrderType, quantity, price string, more ...func(*exchange.NewOrder)) exchange.NewOrder {
	order := exchange.NewOrder{Market: d.market, Symbol: d.name, Side: exchange.Buy, Type: kind}
	if side == "sell" {
		order.Side = exchange.Sell
	}
	if quantity != "" {
		if d.market == exchange.Spot && kind == exchange.MarketOrder {
			order.QuoteAmount = exchange.MustAmount(quantity)
		} else {
			order.Quantity = d.q(quantity)
		}
	}
	if price != "" {
		order.Price = d.p(price)
	}
	for _, each := range more {
		each(&order)
	}
	return order
}

func reduceOnly(o *exchange.NewOrder)    { o.ReduceOnly = true }
func closePosition(o *exchange.NewOrder) { o.ClosePosition = true }
func postOnly(o *exchange.NewOrder)      { o.PostOnly = true }

func (d *desk) stopAt(price string, kind exchange.WorkingType) func(*exchange.NewOrder) {
	return func(o *exchange.NewOrder) { o.StopPrice, o.WorkingType = d.p(price), kind }
}

func (d *desk) try(order exchange.NewOrder) (exchange.Order, error) {
	op := exchange.FuturesPlace
	if d.market == exchange.Spot {
		op = exchange.SpotPlace
	}
	answer, err := d.Do(d.account, &exchange.Request{Operation: op, Order: order})
	return answer.Order, err
}

func (d *desk) place(order exchange.NewOrder) exchange.Order {
	d.Helper()
	placed, err := d.try(order)
	if err != nil {
		d.Fatal(err)
	}
	return placed
}

func (d *desk) refused(code int, order exchange.NewOrder) {
	d.Helper()
	_, err := d.try(order)
	d.wantCode(code, err)
}

func (d *desk) wantCode(code int, err error) {
	d.Helper()
	var refusal *exchange.Refusal
	if !errors.As(err, &refusal) {
		d.Fatalf("want a refusal with code %d, have %v", code, err)
	}
	if refusal.Code != code || refusal.Status != 400 {
		d.Fatalf("want HTTP 400 and code %d, have %v", code, err)
	}
}

func (d *desk) do(request exchange.Request) exchange.Answer {
	d.Helper()
	answer, err := d.Do(d.account, &request)
	if err != nil {
		d.Fatal(err)
	}
	return answer
}

// state returns an order with its internal state.
func (d *desk) state(id int64) OrderState {
	d.Helper()
	for _, o := range d.AllOrders() {
		if o.ID == id {
			return o
		}
	}
	d.Fatalf("no order %d", id)
	return OrderState{}
}

func (d *desk) wantStatus(id int64, status exchange.OrderStatus) {
	d.Helper()
	if have := d.state(id).Status; have != status {
		d.Fatalf("order %d: want %s, have %s", id, status, have)
	}
}

func (d *desk) setLast(price string) {
	d.Helper()
	if err := d.SetPrice(d.key(), d.p(price), 0); err != nil {
		d.Fatal(err)
	}
}

func (d *desk) wantAmount(what, want string, have exchange.Amount) {
	d.Helper()
	if have != exchange.MustAmount(want) {
		d.Fatalf("%s: want %s, have %s", what, want, have)
	}
}

func (d *desk) position() exchange.Position {
	d.Helper()
	p, ok := d.Position(d.account, d.name)
	if !ok {
		d.Fatal("want an open position, have none")
	}
	return p
}

func (d *desk) flat() {
	d.Helper()
	if p, ok := d.Position(d.account, d.name); ok {
		d.Fatalf("want no position, have %+v", p)
	}
}

// checkMoney checks the balance of every account's wallet.
func (d *desk) checkMoney() {
	d.Helper()
	for _, a := range d.accounts {
		m := a.money
		if sum := m.Deposits.Add(m.Realized).Sub(m.Funding).Sub(m.Fees).Add(m.Insurance); m.Wallet != sum {
			d.Fatalf("account %s: want wallet %s, have %s", a.config.Name, sum, m.Wallet)
		}
	}
}

// Quiet calls the instrument's Quiet. An unknown symbol is never quiet.
func (x *Exchange) Quiet(key exchange.SymbolKey, low, high exchange.Price, untilMS int64) bool {
	i, known := x.Instrument(key)
	return known && i.Quiet(low, high, untilMS)
}

// SkipTo calls the instrument's SkipTo.
func (x *Exchange) SkipTo(nowMS int64, key exchange.SymbolKey, last exchange.Price) {
	if i, known := x.Instrument(key); known {
		i.SkipTo(nowMS, last)
	}
}
