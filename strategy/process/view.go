package process

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/strategy"
)

// viewJSON is the part of a view that rarely changes. Decimals are strings.
type viewJSON struct {
	Symbol   *SymbolJSON     `json:"symbol,omitempty"` // the symbol's rules as last read, if they differ from those of the hello
	Position positionJSON    `json:"position"`
	Equity   exchange.Amount `json:"equity"`
	Leverage int             `json:"leverage,omitempty"`
	Working  []workingJSON   `json:"working"`
	Fills    fills           `json:"fills"`
	Events   []eventJSON     `json:"events,omitempty"`
	Missed   int             `json:"missed,omitempty"`
	Memory   memory          `json:"memory"`
	Funding  *fundingJSON    `json:"funding,omitempty"`
	Pair     *pairJSON       `json:"pair,omitempty"`
	Book     *bookJSON       `json:"book,omitempty"`
	Funds    exchange.Amount `json:"buying_power,omitzero"`
	Version  uint64          `json:"version"`
}

type positionJSON struct {
	Quantity   decimal.Decimal `json:"quantity"`
	EntryPrice exchange.Amount `json:"entry_price"`
	SinceMS    int64           `json:"since_ms"`
}

type workingJSON struct {
	Key       string             `json:"key"`
	Side      exchange.Side      `json:"side"`
	Type      exchange.OrderType `json:"type"`
	Price     decimal.Decimal    `json:"price"`
	StopPrice decimal.Decimal    `json:"stop_price"`
	Quantity  decimal.Decimal    `json:"quantity"`
	Filled    decimal.Decimal    `json:"filled"`
}

type eventJSON struct {
	AtMS     int64              `json:"at_ms"`
	Kind     strategy.EventKind `json:"kind"`
	Key      string             `json:"key"`
	Reduces  bool               `json:"reduces,omitempty"`
	Side     exchange.Side      `json:"side"`
	Quantity decimal.Decimal    `json:"quantity"`
	Price    exchange.Amount    `json:"price"`
	Rule     string             `json:"rule,omitempty"`
	Reason   string             `json:"why,omitempty"`
}

type fundingJSON struct {
	Rate   exchange.Rate `json:"rate"`
	NextMS int64         `json:"next_ms"`
}

type pairJSON struct {
	Market   exchange.Market `json:"market"`
	Symbol   *SymbolJSON     `json:"symbol"`
	Position decimal.Decimal `json:"position"`
	Last     decimal.Decimal `json:"last"`
}

// bookJSON is the top of the order book; each level is a price and a quantity.
type bookJSON struct {
	AtMS int64                `json:"at_ms"`
	Bids [][2]decimal.Decimal `json:"bids"`
	Asks [][2]decimal.Decimal `json:"asks"`
}

func newBook(s *exchange.Symbol, b *strategy.OrderBook) *bookJSON {
	levels := func(side []exchange.Level) [][2]decimal.Decimal {
		all := make([][2]decimal.Decimal, len(side))
		for i, l := range side {
			all[i] = [2]decimal.Decimal{s.PriceDecimal(l.Price), s.QuantityDecimal(l.Quantity)}
		}
		return all
	}
	return &bookJSON{b.AtMS, levels(b.Bids), levels(b.Asks)}
}

func (i *bookJSON) book(c *converter) strategy.OrderBook {
	levels := func(side [][2]decimal.Decimal) []exchange.Level {
		all := make([]exchange.Level, len(side))
		for i, l := range side {
			all[i] = exchange.Level{Price: c.price(l[0]), Quantity: c.quantity(l[1])}
		}
		return all
	}
	return strategy.OrderBook{AtMS: i.AtMS, Bids: levels(i.Bids), Asks: levels(i.Asks)}
}

func newView(v *strategy.View) *viewJSON {
	s := v.Symbol
	i := &viewJSON{Equity: v.Equity, Funds: v.BuyingPower, Leverage: v.Leverage, Working: []workingJSON{}, Missed: v.Missed, Memory: memory{v.Memory},
		Version:  v.Version,
		Position: positionJSON{s.QuantityDecimal(v.Position.Quantity), v.Position.EntryPrice, v.Position.SinceMS}}
	for _, w := range v.Working {
		i.Working = append(i.Working, workingJSON{w.Key, w.Side, w.Type, s.PriceDecimal(w.Price), s.PriceDecimal(w.StopPrice),
			s.QuantityDecimal(w.Quantity), s.QuantityDecimal(w.Filled)})
	}
	for _, f := range v.Fills {
		i.Fills = append(i.Fills, fill{f.Key, s.QuantityDecimal(f.Quantity)})
	}
	for _, e := range v.Events {
		i.Events = append(i.Events, eventJSON{e.AtMS, e.Kind, e.Key, e.Reduces, e.Side, s.QuantityDecimal(e.Quantity), e.Price, e.Rule, e.Reason})
	}
	if v.Funding.Known {
		i.Funding = &fundingJSON{v.Funding.Rate, v.Funding.NextMS}
	}
	if v.OrderBook.AtMS != 0 {
		i.Book = newBook(s, &v.OrderBook)
	}
	if p := v.Pair; p.Known {
		i.Pair = &pairJSON{p.Symbol.Market, newSymbol(p.Symbol), p.Symbol.QuantityDecimal(p.Position), p.Symbol.PriceDecimal(p.Last)}
	}
	return i
}

// into writes the received values into a view. The rules of the hello apply unless it contains others.
func (i *viewJSON) into(v *strategy.View, hello *exchange.Symbol) error {
	v.Symbol = hello
	if i.Symbol != nil {
		current, err := i.Symbol.symbol(hello.Market)
		if err != nil {
			return err
		}
		v.Symbol = current
	}
	c := &converter{symbol: v.Symbol, exact: true}
	v.Position = strategy.Position{Quantity: c.quantity(i.Position.Quantity), EntryPrice: i.Position.EntryPrice, SinceMS: i.Position.SinceMS}
	v.Equity, v.Leverage, v.Memory, v.Version = i.Equity, i.Leverage, i.Memory.Memory, i.Version
	v.Working, v.Fills, v.Events, v.Missed = v.Working[:0], v.Fills[:0], v.Events[:0], i.Missed
	for _, w := range i.Working {
		v.Working = append(v.Working, strategy.WorkingOrder{Key: w.Key, Side: w.Side, Type: w.Type, Price: c.price(w.Price),
			StopPrice: c.price(w.StopPrice), Quantity: c.quantity(w.Quantity), Filled: c.quantity(w.Filled)})
	}
	for _, f := range i.Fills {
		v.Fills = append(v.Fills, strategy.KeyFill{Key: f.key, Quantity: c.quantity(f.quantity)})
	}
	for _, e := range i.Events {
		v.Events = append(v.Events, strategy.Event{AtMS: e.AtMS, Kind: e.Kind, Key: e.Key, Reduces: e.Reduces, Side: e.Side,
			Quantity: c.quantity(e.Quantity), Price: e.Price, Rule: e.Rule, Reason: e.Reason})
	}
	v.BuyingPower = i.Funds
	v.Funding, v.Pair, v.OrderBook = strategy.Funding{}, strategy.Pair{}, strategy.OrderBook{}
	if i.Book != nil {
		v.OrderBook = i.Book.book(c)
	}
	if f := i.Funding; f != nil {
		v.Funding = strategy.Funding{Rate: f.Rate, NextMS: f.NextMS, Known: true}
	}
	if p := i.Pair; p != nil {
		symbol, err := p.Symbol.symbol(p.Market)
		if err != nil {
			return err
		}
		pair := &converter{symbol: symbol, exact: true}
		v.Pair = strategy.Pair{Symbol: symbol, Position: pair.quantity(p.Position), Last: pair.price(p.Last), Known: true}
		c.err = cmp.Or(c.err, pair.err)
	}
	return c.err
}

// converter converts decimals to a symbol's units and keeps the first error. It rounds values with
// too many decimal places: a price to the nearest tick, a quantity towards zero.
type converter struct {
	symbol *exchange.Symbol
	exact  bool // prices keep a tick of former rules
	err    error
}

func (c *converter) price(d decimal.Decimal) exchange.Price {
	price, err := c.symbol.Price(d)
	if err != nil || !c.exact && !c.symbol.OnPriceTick(price) {
		tick := c.symbol.PriceDecimal(c.symbol.PriceTick)
		price, err = c.symbol.Price(d.DivRound(tick, 0).Mul(tick))
	}
	c.err = cmp.Or(c.err, err)
	return price
}

func (c *converter) quantity(d decimal.Decimal) exchange.Quantity {
	quantity, err := c.symbol.Quantity(d)
	if err != nil {
		quantity, err = c.symbol.Quantity(d.Truncate(int32(c.symbol.QuantityScale)))
	}
	c.err = cmp.Or(c.err, err)
	return quantity
}

func (c *converter) rate(d decimal.Decimal) exchange.Rate {
	rate, err := exchange.RateFromDecimal(d.Truncate(8))
	c.err = cmp.Or(c.err, err)
	return rate
}

func (c *converter) amount(d decimal.Decimal) exchange.Amount {
	amount, err := exchange.AmountRounded(d)
	c.err = cmp.Or(c.err, err)
	return amount
}

// memory is an object whose members keep their order.
type memory struct{ strategy.Memory }

// MarshalJSON writes the members in their order.
func (m memory) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, e := range m.Entries() {
		text = appendMember(text, i, e.Key)
		text = fmt.Appendf(text, "%d", e.Value)
	}
	return append(text, '}'), nil
}

// UnmarshalJSON reads the members in their order.
func (m *memory) UnmarshalJSON(text []byte) error {
	var entries []strategy.MemoryVariable
	err := members(text, func(key string, d *json.Decoder) error {
		var value int64
		err := d.Decode(&value)
		entries = append(entries, strategy.MemoryVariable{Key: key, Value: value})
		return err
	})
	m.Memory = strategy.MemoryOf(entries...)
	return err
}

// fills is an object of quantities by key, in their order.
type fills []fill

type fill struct {
	key      string
	quantity decimal.Decimal
}

// MarshalJSON writes the members in their order.
func (f fills) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i := range f {
		text = appendMember(text, i, f[i].key)
		text = append(append(append(text, '"'), f[i].quantity.String()...), '"')
	}
	return append(text, '}'), nil
}

// UnmarshalJSON reads the members in their order.
func (f *fills) UnmarshalJSON(text []byte) error {
	*f = nil
	return members(text, func(key string, d *json.Decoder) error {
		var quantity decimal.Decimal
		err := d.Decode(&quantity)
		*f = append(*f, fill{key, quantity})
		return err
	})
}

func appendMember(text []byte, i int, key string) []byte {
	if i > 0 {
		text = append(text, ',')
	}
	name, _ := json.Marshal(key) // a string can always be encoded
	return append(append(text, name...), ':')
}

// members reads an object, member by member.
func members(text []byte, read func(key string, d *json.Decoder) error) error {
	if bytes.Equal(text, []byte("null")) {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return fmt.Errorf("%.40s is not an object", text)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		if err := read(key.(string), d); err != nil { // the decoder accepts no other key type
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}
