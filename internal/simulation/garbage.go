package simulation

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"

	"botd/exchange"
	"botd/exchange/wire"
)

// Symbol returns a symbol of the exchange, for its JSON interface.
func (v *venue) Symbol(key exchange.SymbolKey) (*exchange.Symbol, bool) {
	if h := v.held[key]; h != nil {
		return h.rules, true
	}
	return nil, false
}

// spoiled reports whether an answer's rows can be garbage.
func spoiled(operation exchange.Operation) bool {
	switch operation {
	case exchange.FuturesOpenOrders, exchange.SpotOpenOrders, exchange.SpotOrderHistory, exchange.FuturesOrder, exchange.FuturesOpenPositions,
		exchange.SpotWallet:
		return true
	}
	return false
}

// spoil writes an answer as the exchange's JSON, makes one row of it unreadable, and
// reads it as the client does.
func (e *episode) spoil(b *beyond, request *exchange.Request, answer *exchange.Answer) error {
	if !spoiled(request.Operation) || !b.draw.chance(e.chance) {
		return nil
	}
	status, body, err := wire.EncodeAnswer(answer, request, b.w.venue)
	if err != nil {
		b.w.fail("simulation", "an answer cannot be written: %v", err)
		return nil
	}
	*answer, err = wire.DecodeAnswer(request, wire.HTTPResponse{Status: status, Body: e.spoilBody(b, body)}, b.w.venue)
	return err
}

// spoilBody replaces a part of a JSON document by a value that the interface does not define.
func (e *episode) spoilBody(b *beyond, body []byte) []byte {
	var document any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&document); err != nil {
		return body
	}
	rows, isList := document.([]any)
	switch {
	case !isList:
		e.spoilRow(document)
	case len(rows) == 0:
		return []byte("null")
	case e.way%6 == 5: // a foreign row, of a kind that the interface does not define
		document = append(rows, foreignRow(rows[0]))
	default:
		e.spoilRow(rows[b.draw.below(int64(len(rows)))])
	}
	spoiled, err := json.Marshal(document)
	if err != nil {
		return body
	}
	return spoiled
}

// spoilRow makes one field of a row unreadable, or adds the noise of binary fractions to its numbers, which changes them by less than a tick.
func (e *episode) spoilRow(row any) {
	fields, isObject := row.(map[string]any)
	if !isObject {
		return
	}
	change := func(name string, value any) {
		if _, has := fields[name]; has {
			fields[name] = value
		}
	}
	switch e.way % 5 {
	case 0:
		change("status", "EXECUTED")
	case 1:
		change("type", "TRAILING_STOP_MARKET")
	case 2:
		change("side", "BOTH")
	default:
		for _, name := range []string{"quantity", "filled", "remainingQty", "balance", "frozen"} {
			switch value := fields[name].(type) {
			case json.Number:
				fields[name] = json.Number(noisy(string(value)))
			case string:
				fields[name] = noisy(value)
			}
		}
	}
}

// noisy returns a number with the noise of a binary fraction: 0.997 as
// 0.9970000000000002.
func noisy(number string) string {
	whole, fraction, found := strings.Cut(number, ".")
	if !found || len(fraction) > 12 || strings.ContainsAny(number, "eE") {
		return number
	}
	return whole + "." + fraction + strings.Repeat("0", 15-len(fraction)) + "2"
}

// foreignRow returns a copy of a row under an unknown id.
func foreignRow(row any) any {
	fields, isObject := row.(map[string]any)
	if !isObject {
		return row
	}
	foreign := map[string]any{}
	maps.Copy(foreign, fields)
	for name, value := range map[string]any{"id": json.Number("987654321"), "client_order_id": "", "clientOrderId": "", "type": "TRAILING_STOP_MARKET",
		"asset": "ZZZ"} {
		if _, has := foreign[name]; has {
			foreign[name] = value
		}
	}
	return foreign
}
