package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/wire"
)

// fillRecord is one fill (docs/exchange.md, The control interface).
type fillRecord struct {
	ID       int64           `json:"id"`
	Account  string          `json:"account"`
	Market   exchange.Market `json:"market"`
	Symbol   string          `json:"symbol"`
	OrderID  int64           `json:"order_id"` // 0 for a liquidation
	Side     exchange.Side   `json:"side"`
	Price    decimal.Decimal `json:"price"`
	Quantity decimal.Decimal `json:"qty"`
	Fee      exchange.Amount `json:"fee"`
	FeeAsset string          `json:"fee_asset"`
	Role     string          `json:"role"`
	TimeMS   int64           `json:"time"`
}

// listOrders answers with the exchange's internal state: every account's orders, including hidden
// and not yet visible ones, and every fill.
func (s *Server) listOrders(r *http.Request, _ []byte) reply {
	page, err := pageOf(r)
	if err != nil {
		return badControl("%v", err)
	}
	var orders []sim.OrderState
	var fills []sim.Fill
	err = s.locked(func() { orders, fills = s.exchange.AllOrders(), append(fills, s.exchange.Fills()...) })
	if err == nil {
		err = s.save() // even here, no order is reported before it is stored
	}
	if err != nil {
		return s.failed(err)
	}
	orders, fills = cut(orders, page), cut(fills, page)
	state := struct {
		Orders []json.RawMessage `json:"orders"`
		Fills  []fillRecord      `json:"fills"`
	}{make([]json.RawMessage, 0, len(orders)), make([]fillRecord, 0, len(fills))}
	for i := range orders {
		record, err := s.orderRecord(&orders[i])
		if err != nil {
			return s.failed(err)
		}
		state.Orders = append(state.Orders, record)
	}
	for i := range fills {
		state.Fills = append(state.Fills, s.fillRecord(&fills[i]))
	}
	return success(state)
}

// page is a part of a list; limit 0 means all of it.
type page struct{ offset, limit int }

func pageOf(r *http.Request) (p page, err error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return p, fmt.Errorf("query: %w", err)
	}
	known := map[string]*int{"offset": &p.offset, "limit": &p.limit}
	for name, texts := range query {
		into := known[name]
		if into == nil {
			return p, fmt.Errorf("parameter %.40q is unknown (known: offset, limit)", name)
		}
		if *into, err = strconv.Atoi(texts[0]); err != nil || *into < 0 {
			return p, fmt.Errorf("%s %.40q is not a number", name, texts[0])
		}
	}
	return p, nil
}

func cut[T any](list []T, p page) []T {
	list = list[min(p.offset, len(list)):]
	if p.limit > 0 {
		list = list[:min(p.limit, len(list))]
	}
	return list
}

// orderRecord is the interface's order record with account and market added.
func (s *Server) orderRecord(order *sim.OrderState) (json.RawMessage, error) {
	operation := exchange.FuturesOrder
	if order.Market == exchange.Spot {
		operation = exchange.SpotCancel // it answers with a single order, whatever its status
	}
	answer := exchange.Answer{Operation: operation, Order: order.Order}
	_, body, err := wire.EncodeAnswer(&answer, &exchange.Request{Operation: operation, Symbol: order.Symbol}, s.symbols)
	if err != nil {
		return nil, fmt.Errorf("encode order %d: %w", order.ID, err)
	}
	account, err := json.Marshal(order.Account)
	if err != nil {
		return nil, fmt.Errorf("encode account of order %d: %w", order.ID, err)
	}
	return fmt.Appendf(body[:len(body)-1], `,"account":%s,"market":%q}`, account, order.Market), nil
}

func (s *Server) fillRecord(fill *sim.Fill) fillRecord {
	symbol := s.symbols[exchange.SymbolKey{Market: fill.Market, Name: fill.Symbol}]
	role := "taker"
	if fill.Maker {
		role = "maker"
	}
	return fillRecord{
		ID: fill.ID, Account: fill.Account, Market: fill.Market, Symbol: fill.Symbol, OrderID: fill.OrderID, Side: fill.Side,
		Price: symbol.PriceDecimal(fill.Price), Quantity: symbol.QuantityDecimal(fill.Quantity),
		Fee: fill.Fee, FeeAsset: fill.FeeAsset, Role: role, TimeMS: fill.TimeMS,
	}
}
