package wire

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"botd/exchange"
)

// Symbols finds an instrument by its key.
type Symbols interface {
	Symbol(key exchange.SymbolKey) (*exchange.Symbol, bool)
}

// HTTPRequest is a request ready to be sent.
type HTTPRequest struct {
	Method string
	Path   string // with ?query, as it is signed
	Body   []byte // nil for GET
}

// EncodeRequest encodes a request of any operation. It reads only the operation's own fields; a
// missing required field is an error.
func EncodeRequest(request *exchange.Request, symbols Symbols) (HTTPRequest, error) {
	route := RouteOf(request.Operation)
	out := HTTPRequest{Method: route.Method, Path: route.Path}
	fail := func(err error) (HTTPRequest, error) {
		return HTTPRequest{}, fmt.Errorf("encode %s: %w", request.Operation, err)
	}
	if prefix, isPattern := strings.CutSuffix(route.Path, symbolPattern); isPattern {
		if request.Symbol == "" {
			return fail(fmt.Errorf("symbol is required"))
		}
		out.Path = prefix + url.PathEscape(request.Symbol)
	}
	if request.Operation.Places() {
		body, err := placeBody(request, symbols)
		if err == nil {
			out.Body, err = json.Marshal(body)
		}
		if err != nil {
			return fail(err)
		}
		return out, nil
	}
	fields, err := parametersOf(request, route.Parameters)
	if err != nil {
		return fail(err)
	}
	if route.Method == post {
		out.Body, err = json.Marshal(fields)
		if err != nil {
			return fail(err)
		}
		return out, nil
	}
	query := url.Values{}
	for name, value := range fields {
		query.Set(name, fmt.Sprint(value))
	}
	if len(query) > 0 {
		out.Path += "?" + query.Encode() // sorted by name
	}
	return out, nil
}

// parametersOf returns the parameters that are set or required, as strings and int64.
func parametersOf(r *exchange.Request, parameters []Parameter) (map[string]any, error) {
	fields := map[string]any{}
	for _, p := range parameters {
		word, number := fieldOf(r, p.Field)
		switch {
		case word != "":
			fields[p.Name] = word
		case number != 0 || p.Required && p.Field.isTime(): // 1970 is a valid time too
			fields[p.Name] = number
		case p.Required:
			return nil, fmt.Errorf("%s is required", p.Name)
		}
	}
	return fields, nil
}

func (f Field) isTime() bool { return f >= FieldStart && f <= FieldEndSeconds }

// fieldOf returns a field as text or as a number; both are zero if it is not set.
func fieldOf(r *exchange.Request, field Field) (word string, number int64) {
	switch field {
	case FieldSymbol:
		word = r.Symbol
	case FieldInterval:
		if r.Interval != 0 {
			word = r.Interval.String()
		}
	case FieldSide:
		word = r.Side.String()
	case FieldPositionSide:
		word = r.PositionSide.String()
	case FieldType:
		word = r.Type.String()
	case FieldStart:
		number = r.StartMS
	case FieldEnd:
		number = r.EndMS
	case FieldStartSeconds:
		number = r.StartMS / 1000
	case FieldEndSeconds: // rounded up, so that the last second is whole
		number = (r.EndMS + 999) / 1000
	case FieldLimit:
		number = int64(r.Limit)
	case FieldOffset:
		number = int64(r.Offset)
	case FieldOrderID:
		number = r.OrderID
	case FieldLeverage:
		number = int64(r.Leverage)
	}
	return word, number
}

// futuresOrderBody has decimals as strings, as the interface recommends.
type futuresOrderBody struct {
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

// spotOrderBody uses numbers for the strings of futuresOrderBody.
type spotOrderBody struct {
	Symbol        string      `json:"symbol"`
	Side          string      `json:"side"`
	Type          string      `json:"type"`
	Quantity      json.Number `json:"qt"`
	Price         json.Number `json:"price,omitempty"`
	StopPrice     json.Number `json:"stopPrice,omitempty"`
	ClientOrderID string      `json:"clientOrderId,omitempty"`
}

// placeBody encodes a new order and omits zero quantities and prices. The interface's rules are
// applied by the risk check and the exchange, not here.
func placeBody(request *exchange.Request, symbols Symbols) (any, error) {
	o := &request.Order
	if market := request.Operation.Market(); o.Market != market {
		return nil, fmt.Errorf("an order of market %q", o.Market)
	}
	s, found := symbols.Symbol(o.Key())
	if !found {
		return nil, &UnknownSymbolError{o.Key()}
	}
	if o.Side != exchange.Buy && o.Side != exchange.Sell || o.Type < exchange.Limit || o.Type > exchange.TakeProfitMarket {
		return nil, fmt.Errorf("an order of side %q and type %q", o.Side, o.Type)
	}
	text := func(given bool, value fmt.Stringer) string {
		if !given {
			return ""
		}
		return value.String()
	}
	quantity := text(o.Quantity != 0, s.QuantityDecimal(o.Quantity))
	price, stop := text(o.Price != 0, s.PriceDecimal(o.Price)), text(o.StopPrice != 0, s.PriceDecimal(o.StopPrice))
	if o.Market == exchange.Futures {
		return futuresOrderBody{Symbol: o.Symbol, Side: o.Side.String(), Type: o.Type.String(), Quantity: quantity, Price: price, StopPrice: stop,
			WorkingType: o.WorkingType.String(), ReduceOnly: o.ReduceOnly, ClosePosition: o.ClosePosition, PostOnly: o.PostOnly,
			ClientOrderID: o.ClientOrderID}, nil
	}
	if byQuote(o.Type) {
		quantity = o.QuoteAmount.String()
	}
	if quantity == "" {
		quantity = strconv.Itoa(0)
	}
	return spotOrderBody{Symbol: o.Symbol, Side: o.Side.String(), Type: o.Type.String(), Quantity: json.Number(quantity),
		Price: json.Number(price), StopPrice: json.Number(stop), ClientOrderID: o.ClientOrderID}, nil
}
