package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strconv"

	"botd/exchange"
)

// CodeMalformed is the simulated exchange's code for a request it can not read.
const CodeMalformed = 1000

// limit is an operation's default and maximum of the limit parameter.
type limit struct{ normal, most int }

// limits is the interface's table of limits.
var limits = map[exchange.Operation]limit{
	exchange.FuturesDepth: {100, 1000}, exchange.FuturesTrades: {500, 1000}, exchange.FuturesCandles: {500, 1500},
	exchange.FuturesPositionsHistory: {30, 1000}, exchange.SpotDepth: {100, 100}, exchange.SpotTrades: {500, 1000},
	exchange.SpotCandles: {100, 500}, exchange.SpotOrderHistory: {500, 1000}, exchange.SpotUserTrades: {500, 1000},
}

// DecodeRequest reads a request as the server gets it. Its errors are
// *exchange.Refusal with status 400 that name field and value.
func DecodeRequest(operation exchange.Operation, pathSymbol string, query url.Values, body []byte, symbols Symbols) (exchange.Request, error) {
	d := requestDecoder{query: query, symbols: symbols, request: exchange.Request{Operation: operation, Symbol: pathSymbol}}
	if RouteOf(operation).Method == "POST" {
		d.readBody(body)
	} else {
		d.readQuery()
	}
	if d.err != nil {
		code := CodeMalformed
		if _, unknown := d.err.(*UnknownSymbolError); unknown {
			code = invalidSymbol(operation.Market())
		}
		return exchange.Request{}, &exchange.Refusal{Operation: operation, Status: 400, Code: code, Message: d.err.Error()}
	}
	return d.request, nil
}

func invalidSymbol(market exchange.Market) int {
	if market == exchange.Spot {
		return exchange.CodeSpotInvalidSymbol
	}
	return exchange.CodeFuturesInvalidSymbol
}

type requestDecoder struct {
	query   url.Values
	fields  map[string]json.RawMessage
	symbols Symbols
	request exchange.Request
	err     error
}

func (d *requestDecoder) fail(format string, arguments ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, arguments...)
	}
}

// queried reads a query parameter as a whole number; absent is zero.
func (d *requestDecoder) queried(name string) int64 {
	text := d.query.Get(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		d.fail("%s %q is not a whole number", name, text)
	}
	return n
}

func (d *requestDecoder) readQuery() {
	r := &d.request
	if r.Symbol == "" {
		r.Symbol = d.query.Get("symbol")
	}
	switch r.Operation {
	case exchange.FuturesDepth, exchange.FuturesTrades, exchange.FuturesCandles, exchange.SpotDepth, exchange.SpotTrades, exchange.SpotCandles:
		d.require("symbol", r.Symbol)
	case exchange.FuturesOrder:
		d.require("order_id", d.query.Get("order_id"))
	}
	if r.Operation == exchange.FuturesCandles || r.Operation == exchange.SpotCandles {
		d.candleQuery()
	}
	scale := int64(1)
	if r.Operation == exchange.FuturesPositionsHistory {
		scale = 1000
		if side := d.query.Get("side"); side != "" {
			var err error
			if r.PositionSide, err = exchange.ParsePositionSide(side); err != nil {
				d.fail("%v", err)
			}
		}
	}
	r.StartMS, r.EndMS, r.OrderID = d.moment("startTime", scale), d.moment("endTime", scale), d.queried("order_id")
	r.Offset = int(min(d.queried("offset"), math.MaxInt32))
	if r.Offset < 0 {
		d.fail("offset %d is below 0", r.Offset)
	}
	if r.Operation == exchange.SpotOrderHistory {
		d.historyQuery()
	}
	d.limit()
}

// moment reads a time; a given zero is told from none by being one unit late at most.
func (d *requestDecoder) moment(name string, scale int64) int64 {
	n := d.queried(name)
	if n < 0 || n > math.MaxInt64/2000 {
		d.fail("%s %d is not a time", name, n)
		return 0
	}
	return n * scale
}

func (d *requestDecoder) candleQuery() {
	text := d.query.Get("interval")
	d.require("interval", text)
	if d.err != nil {
		return
	}
	interval, err := exchange.ParseInterval(text)
	if err != nil {
		d.fail("%v", err)
	}
	d.request.Interval = interval
	if d.request.Operation == exchange.SpotCandles {
		d.require("startTime", d.query.Get("startTime"))
		d.require("endTime", d.query.Get("endTime"))
	}
}

func (d *requestDecoder) historyQuery() {
	var err error
	if side := d.query.Get("side"); side != "" {
		if d.request.Side, err = exchange.ParseSide(side); err != nil {
			d.fail("%v", err)
		}
	}
	if kind := d.query.Get("type"); kind != "" {
		if d.request.Type, err = exchange.ParseOrderType(kind); err != nil {
			d.fail("%v", err)
		}
	}
}

func (d *requestDecoder) require(name, value string) {
	if value == "" {
		d.fail("%s is required", name)
	}
}

// limit applies default and maximum: above it is clamped, below 1 is refused.
func (d *requestDecoder) limit() {
	bound, found := limits[d.request.Operation]
	if !found {
		return
	}
	text := d.query.Get("limit")
	if text == "" {
		d.request.Limit = bound.normal
		return
	}
	n := d.queried("limit")
	if n < 1 {
		d.fail("limit %q must be a whole number from 1", text)
		return
	}
	n = min(n, int64(bound.most))
	if d.request.Operation == exchange.SpotDepth && n != 5 && n != 10 && n != 20 && n != 50 && n != 100 {
		d.fail("limit %d: valid are 5, 10, 20, 50, 100", n)
	}
	d.request.Limit = int(n)
}

func (d *requestDecoder) readBody(body []byte) {
	if len(bytes.TrimSpace(body)) == 0 {
		body = []byte("{}")
	}
	if err := unmarshal(body, &d.fields); err != nil || d.fields == nil {
		d.fail("the body is not a JSON object")
		return
	}
	r := &d.request
	r.Symbol = d.text("symbol")
	switch r.Operation {
	case exchange.FuturesPlace, exchange.SpotPlace:
		d.readOrder()
	case exchange.FuturesCancel:
		r.OrderID = d.integer("id")
	case exchange.SpotCancel:
		r.OrderID = d.integer("orderId")
		d.require("symbol", r.Symbol)
	case exchange.SpotCancelAll:
		d.require("symbol", r.Symbol)
	case exchange.FuturesSetLeverage:
		d.require("symbol", r.Symbol)
		leverage := d.integer("leverage")
		if leverage < 1 || leverage > math.MaxInt32 {
			d.fail("leverage %d is not from 1 up", leverage)
		}
		r.Leverage = int(leverage)
	}
}

// field returns a body field; null counts as absent.
func (d *requestDecoder) field(name string) (json.RawMessage, bool) {
	raw, found := d.fields[name]
	return raw, found && !bytes.Equal(raw, []byte("null"))
}

func (d *requestDecoder) text(name string) string {
	raw, found := d.field(name)
	if !found {
		return ""
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		d.fail("%s %s is not a string", name, excerpt(raw))
	}
	return text
}

func (d *requestDecoder) flag(name string) bool {
	raw, found := d.field(name)
	if !found {
		return false
	}
	var flag bool
	if err := json.Unmarshal(raw, &flag); err != nil {
		d.fail("%s %s is neither true nor false", name, excerpt(raw))
	}
	return flag
}

func (d *requestDecoder) integer(name string) int64 {
	raw, found := d.field(name)
	if !found {
		d.fail("%s is required", name)
		return 0
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		d.fail("%s %s is not a whole number", name, excerpt(raw))
	}
	return n
}

// decimal reads a decimal from a JSON number or string; given is false when it is absent.
func (d *requestDecoder) decimal(name string) (n number, given bool) {
	raw, found := d.field(name)
	if !found {
		return n, false
	}
	if len(raw) > 0 && raw[0] != '"' && raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') || bytes.Equal(raw, []byte(`""`)) {
		d.fail("%s %s is not a decimal number", name, excerpt(raw))
		return n, true
	}
	if err := n.UnmarshalJSON(raw); err != nil {
		d.fail("%s: %v", name, err)
	}
	return n, true
}

func (d *requestDecoder) readOrder() {
	r := &d.request
	o := &r.Order
	o.Market, o.Symbol = r.Operation.Market(), r.Symbol
	d.require("symbol", r.Symbol)
	var err error
	if o.Side, err = exchange.ParseSide(d.text("side")); err != nil {
		d.fail("side: %v", err)
	}
	if o.Type, err = exchange.ParseOrderType(d.text("type")); err != nil {
		d.fail("type: %v", err)
	}
	if o.Market == exchange.Spot {
		o.ClientOrderID = d.text("clientOrderId")
	} else {
		o.ClientOrderID = d.text("client_order_id")
		o.ReduceOnly, o.ClosePosition, o.PostOnly = d.flag("reduceOnly"), d.flag("closePosition"), d.flag("postOnly")
		if o.WorkingType, err = exchange.ParseWorkingType(d.text("workingType")); err != nil {
			d.fail("workingType: %v", err)
		}
	}
	if d.err != nil {
		return
	}
	symbol, found := d.symbols.Symbol(o.Key())
	if !found {
		d.err = &UnknownSymbolError{o.Key()}
		return
	}
	d.readNumbers(o, symbol)
}

func (d *requestDecoder) readNumbers(o *exchange.NewOrder, symbol *exchange.Symbol) {
	price, _ := d.decimal("price")
	stop, _ := d.decimal("stopPrice")
	quantity, given := d.decimal("qt")
	if d.err != nil {
		return
	}
	if !given && !o.ClosePosition {
		d.fail("qt is required")
		return
	}
	var err error
	if o.Price, err = symbol.Price(price.Decimal); err != nil {
		d.fail("price %s must be a multiple of priceTick %s", price, symbol.PriceDecimal(symbol.PriceTick))
	}
	if o.StopPrice, err = symbol.Price(stop.Decimal); err != nil {
		d.fail("stopPrice %s must be a multiple of priceTick %s", stop, symbol.PriceDecimal(symbol.PriceTick))
	}
	if o.Market == exchange.Spot && byQuote(o.Type) {
		if o.QuoteAmount, err = readAmount(quantity); err != nil {
			d.fail("qt %s: %v", quantity, err)
		}
		return
	}
	if o.Quantity, err = symbol.Quantity(quantity.Decimal); err != nil {
		d.fail("qt %s must be a multiple of quantityTick %s", quantity, symbol.QuantityDecimal(symbol.QuantityTick))
	}
}
