package wire

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"

	"botd/exchange"
)

// Symbols finds an instrument by its key.
type Symbols interface {
	Symbol(key exchange.SymbolKey) (*exchange.Symbol, bool)
}

// HTTPRequest is a request as it goes out.
type HTTPRequest struct {
	Method string
	Path   string // with ?query
	Body   []byte // nil for GET
}

// EncodeRequest writes a request of any operation.
func EncodeRequest(request *exchange.Request, symbols Symbols) (HTTPRequest, error) {
	route := RouteOf(request.Operation)
	out := HTTPRequest{Method: route.Method, Path: route.Path}
	if path, isPattern := cutSymbol(route.Path); isPattern {
		out.Path = path + url.PathEscape(request.Symbol)
	}
	if route.Method == "GET" {
		if query := queryOf(request).Encode(); query != "" {
			out.Path += "?" + query
		}
		return out, nil
	}
	body, err := bodyOf(request, symbols)
	if err != nil {
		return out, fmt.Errorf("encode %s: %w", request.Operation, err)
	}
	out.Body, err = json.Marshal(body)
	return out, err
}

func cutSymbol(path string) (string, bool) {
	const pattern = "{symbol}"
	if n := len(path) - len(pattern); n > 0 && path[n:] == pattern {
		return path[:n], true
	}
	return path, false
}

func queryOf(r *exchange.Request) url.Values {
	query := url.Values{}
	text := func(name, value string) {
		if value != "" {
			query.Set(name, value)
		}
	}
	integer := func(name string, value int64) {
		if value != 0 {
			query.Set(name, strconv.FormatInt(value, 10))
		}
	}
	if _, isPattern := cutSymbol(RouteOf(r.Operation).Path); !isPattern {
		text("symbol", r.Symbol)
	}
	if r.Interval != 0 {
		text("interval", r.Interval.String())
	}
	if r.Operation == exchange.FuturesPositionsHistory {
		integer("startTime", r.StartMS/1000)
		integer("endTime", r.EndMS/1000)
		text("side", r.PositionSide.String())
	} else {
		integer("startTime", r.StartMS)
		integer("endTime", r.EndMS)
		text("side", r.Side.String())
		text("type", r.Type.String())
	}
	integer("limit", int64(r.Limit))
	integer("offset", int64(r.Offset))
	integer("order_id", r.OrderID)
	return query
}

type orderBody struct {
	Symbol        string `json:"symbol"`
	Side          string `json:"side"`
	Type          string `json:"type"`
	Quantity      string `json:"qt,omitempty"`
	Price         string `json:"price,omitempty"`
	StopPrice     string `json:"stopPrice,omitempty"`
	WorkingType   string `json:"workingType,omitempty"`
	ReduceOnly    bool   `json:"reduceOnly,omitempty"`
	ClosePosition bool   `json:"closePosition,omitempty"`
	PostOnly      bool   `json:"postOnly,omitempty"`
	ClientOrderID string `json:"client_order_id,omitempty"`
}

// spotOrderBody carries numbers where the futures one carries strings.
type spotOrderBody struct {
	Symbol        string      `json:"symbol"`
	Side          string      `json:"side"`
	Type          string      `json:"type"`
	Quantity      json.Number `json:"qt"`
	Price         json.Number `json:"price,omitempty"`
	StopPrice     json.Number `json:"stopPrice,omitempty"`
	ClientOrderID string      `json:"clientOrderId,omitempty"`
}

func bodyOf(r *exchange.Request, symbols Symbols) (any, error) {
	type object = map[string]any
	switch r.Operation {
	case exchange.FuturesPlace, exchange.SpotPlace:
		return placeBody(&r.Order, symbols)
	case exchange.FuturesOpenOrders:
		if r.Symbol == "" {
			return object{}, nil
		}
		return object{"symbol": r.Symbol}, nil
	case exchange.FuturesCancel:
		return object{"id": r.OrderID}, nil
	case exchange.FuturesSetLeverage:
		return object{"symbol": r.Symbol, "leverage": r.Leverage}, nil
	case exchange.SpotCancel:
		return object{"orderId": r.OrderID, "symbol": r.Symbol}, nil
	case exchange.SpotCancelAll:
		return object{"symbol": r.Symbol}, nil
	}
	return object{}, nil
}

func placeBody(o *exchange.NewOrder, symbols Symbols) (any, error) {
	s, found := symbols.Symbol(o.Key())
	if !found {
		return nil, fmt.Errorf("unknown symbol %s", o.Key())
	}
	text := func(zero bool, value fmt.Stringer) string {
		if zero {
			return ""
		}
		return value.String()
	}
	quantity := text(o.Quantity == 0, s.QuantityDecimal(o.Quantity))
	price, stop := text(o.Price == 0, s.PriceDecimal(o.Price)), text(o.StopPrice == 0, s.PriceDecimal(o.StopPrice))
	if o.Market == exchange.Spot {
		if byQuote(o.Type) {
			quantity = o.QuoteAmount.String()
		}
		return spotOrderBody{Symbol: o.Symbol, Side: o.Side.String(), Type: o.Type.String(), Quantity: json.Number(quantity),
			Price: json.Number(price), StopPrice: json.Number(stop), ClientOrderID: o.ClientOrderID}, nil
	}
	return orderBody{Symbol: o.Symbol, Side: o.Side.String(), Type: o.Type.String(), Quantity: quantity, Price: price, StopPrice: stop,
		WorkingType: o.WorkingType.String(), ReduceOnly: o.ReduceOnly, ClosePosition: o.ClosePosition, PostOnly: o.PostOnly, ClientOrderID: o.ClientOrderID}, nil
}
