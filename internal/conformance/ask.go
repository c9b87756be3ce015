package conformance

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// request reads a step's words:
//
//	buy|sell [spot] TYPE QUANTITY [@PRICE] [stop=P] [by=MARK_PRICE|CONTRACT_PRICE] [reduceOnly] [closePosition] [postOnly] [id=TEXT]
//	get|cancel LABEL
//	OPERATION [NAME=VALUE...]
//
// A quantity of - is none; on spot MARKET it is the amount of USDT. An operation on one symbol uses the current symbol unless it names another.
func (r *runner) request(s *step) (exchange.Request, error) {
	request := exchange.Request{Operation: s.operation()}
	if request.Operation.Places() {
		err := r.order(s.words, &request.Order)
		request.Symbol = request.Order.Symbol
		return request, err
	}
	switch request.Operation {
	case exchange.FuturesOpenOrders, exchange.FuturesPositionsHistory, exchange.SpotOpenOrders, exchange.SpotOrderHistory, exchange.SpotUserTrades:
	default:
		request.Symbol = r.key.Name
	}
	for _, word := range s.words[1:] {
		name, value, named := strings.Cut(word, "=")
		if !named {
			name, value = "order", word
		}
		if err := r.parameter(&request, name, value); err != nil {
			return request, fmt.Errorf("%s: %w", word, err)
		}
	}
	return request, nil
}

func (r *runner) parameter(request *exchange.Request, name, value string) (err error) {
	var number int64
	if name != "order" {
		number, _ = strconv.ParseInt(value, 10, 64)
	}
	switch name {
	case "symbol":
		request.Symbol = value
	case "interval":
		request.Interval, err = exchange.ParseInterval(value)
	case "startTime":
		request.StartMS = number
	case "endTime":
		request.EndMS = number
	case "limit":
		request.Limit = int(number)
	case "offset":
		request.Offset = int(number)
	case "leverage":
		request.Leverage = int(number)
	case "side":
		if request.Operation == exchange.FuturesPositionsHistory {
			request.PositionSide, err = exchange.ParsePositionSide(value)
		} else {
			request.Side, err = exchange.ParseSide(value)
		}
	case "type":
		request.Type, err = exchange.ParseOrderType(value)
	case "order":
		id, known := r.ids[value]
		if request.OrderID = id; !known {
			request.OrderID, err = strconv.ParseInt(value, 10, 64)
		}
	default:
		err = fmt.Errorf("unknown parameter")
	}
	return err
}

func (r *runner) order(words []string, order *exchange.NewOrder) (err error) {
	symbol := r.symbols[r.key]
	order.Market, order.Symbol = r.key.Market, r.key.Name
	if symbol == nil { // an unlisted symbol: its quantities have no scale
		symbol = r.symbols[exchange.SymbolKey{Market: r.key.Market, Name: "BTC-USDT"}]
	}
	side := words[0]
	words = words[1:]
	if words[0] == "spot" {
		words = words[1:]
	}
	if order.Side, err = exchange.ParseSide(strings.ToUpper(side)); err != nil {
		return err
	}
	if order.Type, err = exchange.ParseOrderType(words[0]); err != nil {
		return err
	}
	for i, word := range words[1:] {
		if err := readOrderWord(symbol, order, i, word); err != nil {
			return fmt.Errorf("%s: %w", word, err)
		}
	}
	return nil
}

func readOrderWord(symbol *exchange.Symbol, order *exchange.NewOrder, at int, word string) (err error) {
	name, value, _ := strings.Cut(word, "=")
	price := func(text string) (exchange.Price, error) {
		d, err := decimal.NewFromString(text)
		if err != nil {
			return 0, err
		}
		return symbol.Price(d)
	}
	switch {
	case word == "-":
	case at == 0 && order.Market == exchange.Spot && order.Type == exchange.MarketOrder:
		order.QuoteAmount, err = exchange.ParseAmount(word)
	case at == 0:
		var d decimal.Decimal
		if d, err = decimal.NewFromString(word); err == nil {
			order.Quantity, err = symbol.Quantity(d)
		}
	case word[0] == '@':
		order.Price, err = price(word[1:])
	case name == "stop":
		order.StopPrice, err = price(value)
	case name == "by":
		order.WorkingType, err = exchange.ParseWorkingType(value)
	case name == "id":
		order.ClientOrderID = value
	case word == "reduceOnly":
		order.ReduceOnly = true
	case word == "closePosition":
		order.ClosePosition = true
	case word == "postOnly":
		order.PostOnly = true
	default:
		err = fmt.Errorf("unknown word")
	}
	return err
}

// send sends an HTTP request that it builds itself:
//
//	METHOD TARGET [unsigned] [key=K] [secret=S] [age=MS] [timestamp=T] [signature=S] [times=N] {BODY}
//
// $label in target or body stands for the id saved under that label. With an error status the second expected
// word is the error body's code; @Name=value is a header.
func (r *runner) send(s *step) error {
	wired, ok := r.venue.(Wired)
	if !ok {
		return fmt.Errorf("this venue takes no HTTP")
	}
	call := Call{Account: r.account, Method: s.words[0], Target: r.withIDs(s.words[1]), Body: r.withIDs(s.body)}
	times := 1
	for _, word := range s.words[2:] {
		name, value, _ := strings.Cut(word, "=")
		number, _ := strconv.ParseInt(value, 10, 64)
		switch name {
		case "unsigned":
			call.Unsigned = true
		case "key":
			call.Key = value
		case "secret":
			call.Secret = value
		case "age":
			call.AgeMS = number
		case "timestamp":
			call.Timestamp = value
		case "signature":
			call.Signature = value
		case "times":
			times = int(number)
		case "padding":
			call.Body = strings.TrimSuffix(call.Body, "}") + `,"padding":"` + strings.Repeat("x", int(number)) + `"}`
		default:
			return fmt.Errorf("unknown word %q", word)
		}
	}
	var reply Reply
	for range times {
		var err error
		if reply, err = wired.Send(call); err != nil {
			if s.outcome.kind == "unavailable" {
				return nil
			}
			return err
		}
	}
	return r.checkReply(s, reply)
}

func (r *runner) checkReply(s *step, reply Reply) error {
	if reply.Status != s.outcome.status {
		return fmt.Errorf("want HTTP %d, have %d %s", s.outcome.status, reply.Status, excerpt(reply.Body))
	}
	if s.outcome.code != "" {
		var body struct {
			Code  *int
			Error *string
		}
		if err := json.Unmarshal(reply.Body, &body); err != nil || body.Code == nil || body.Error == nil || *body.Error == "" {
			return fmt.Errorf("want an error body with code and error, have %s", excerpt(reply.Body))
		}
		if err := s.outcome.compare(reply.Status, *body.Code, *body.Error); err != nil {
			return err
		}
	}
	r.note(s, reply.Body)
	var bodyWants, rest []want
	for _, w := range s.wants {
		if header, isHeader := strings.CutPrefix(w.path[0], "@"); !isHeader {
			bodyWants = append(bodyWants, w)
		} else if have := reply.Header.Get(header); have != w.value {
			return fmt.Errorf("header %s: want %q, have %q", header, w.value, have)
		} else {
			rest = append(rest, w)
		}
	}
	if len(rest) == len(s.wants) {
		return nil
	}
	if whole := bodyWants[0]; len(bodyWants) == 1 && len(whole.path) == 1 && whole.path[0] == "body" {
		if string(reply.Body) != whole.value {
			return fmt.Errorf("body: want %q, have %q", whole.value, excerpt(reply.Body))
		}
		return nil
	}
	only := *s
	only.wants = bodyWants
	return r.checkAll(&only, reply.Body, true)
}

// withIDs replaces $labels in a text with their saved ids.
func (r *runner) withIDs(text string) string {
	for name, id := range r.ids {
		text = strings.ReplaceAll(text, "$"+name+"$", strconv.FormatInt(id, 10))
	}
	return text
}
