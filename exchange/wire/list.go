package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"botd/exchange"
)

// array reads a JSON array; anything else, null included, is an error.
func array[F any](body []byte) ([]F, error) {
	body = bytes.TrimSpace(body)
	if len(body) == 0 || body[0] != '[' {
		return nil, fmt.Errorf("want an array, have %s", excerpt(body))
	}
	var raw []F
	if err := json.Unmarshal(body, &raw); err != nil {
		return nil, err
	}
	return raw, nil
}

// list reads an array of records that do not depend on a symbol.
func list[F, T any](body []byte, read func(*F) (T, error)) (exchange.Fetched[T], error) {
	raw, err := array[F](body)
	if err != nil {
		return exchange.Fetched[T]{}, err
	}
	items := make([]T, 0, len(raw))
	for i := range raw {
		item, err := read(&raw[i])
		if err != nil {
			return exchange.Fetched[T]{}, fmt.Errorf("element %d: %w", i, err)
		}
		items = append(items, item)
	}
	return exchange.FetchedOf(items), nil
}

// unknown says what happens to a record whose symbol is not in the table.
type unknown bool

const (
	mustKnow unknown = false // the answer is malformed
	passOver unknown = true
)

// symbolList reads an array of records that depend on their symbol's scales.
func symbolList[F, T any](d *answerDecoder, body []byte, unknown unknown, name func(*F) string,
	read func(*F, *exchange.Symbol) (T, error)) (exchange.Fetched[T], error) {
	raw, err := array[F](body)
	if err != nil {
		return exchange.Fetched[T]{}, err
	}
	items := make([]T, 0, len(raw))
	for i := range raw {
		of := name(&raw[i])
		symbol, err := d.symbol(of)
		if err != nil && unknown == passOver && of != "" {
			continue
		}
		var item T
		if err == nil {
			item, err = read(&raw[i], symbol)
		}
		if err != nil {
			return exchange.Fetched[T]{}, fmt.Errorf("element %d: %w", i, err)
		}
		items = append(items, item)
	}
	return exchange.FetchedOf(items), nil
}

// one reads the single record of the requested symbol as a list of one.
func one[F, T any](d *answerDecoder, name func(*F) string, read func(*F, *exchange.Symbol) (T, error)) (exchange.Fetched[T], error) {
	var f F
	if err := json.Unmarshal(d.body, &f); err != nil {
		return exchange.Fetched[T]{}, err
	}
	symbol, err := d.symbol(name(&f))
	if err != nil {
		return exchange.Fetched[T]{}, err
	}
	if d.request.Symbol != symbol.Name {
		return exchange.Fetched[T]{}, fmt.Errorf("the answer is about %s, not %s", symbol.Name, d.request.Symbol)
	}
	item, err := read(&f, symbol)
	if err != nil {
		return exchange.Fetched[T]{}, err
	}
	return exchange.FetchedOf([]T{item}), nil
}

// symbolsOf reads a symbol list. It skips a symbol that cannot be represented, so that one exotic
// instrument does not lose the others. If none can be represented, the list is malformed.
func symbolsOf[F any](body []byte, read func(*F) (*exchange.Symbol, error)) (exchange.Fetched[*exchange.Symbol], error) {
	raw, err := array[F](body)
	if err != nil {
		return exchange.Fetched[*exchange.Symbol]{}, err
	}
	symbols, faults := make([]*exchange.Symbol, 0, len(raw)), error(nil)
	for i := range raw {
		symbol, err := read(&raw[i])
		if err != nil {
			faults = err
			continue
		}
		symbols = append(symbols, symbol)
	}
	if len(symbols) == 0 && faults != nil {
		return exchange.Fetched[*exchange.Symbol]{}, faults
	}
	return exchange.FetchedOf(symbols), nil
}

// wrappers are the names under which venues wrap a list.
var wrappers = []string{"data", "candles", "klines", "orders", "history", "list", "items", "rows", "result"}

// unwrapped returns the array in a body that the interface does not show: the body itself, or the
// one list in an object that is not an error.
func unwrapped(body []byte) ([]byte, error) {
	if len(body) == 0 || body[0] != '{' {
		return body, nil
	}
	if code, message, parsed := parseError(body); parsed && code != 0 {
		return nil, fmt.Errorf("a success that contains error %d: %s", code, message)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, err
	}
	var found []byte
	for _, name := range wrappers {
		if raw := fields[name]; len(raw) > 0 && raw[0] == '[' {
			if found != nil {
				return nil, errors.New("an object of several lists")
			}
			found = raw
		}
	}
	if found == nil {
		return nil, fmt.Errorf("want an array, have %s", excerpt(body))
	}
	return found, nil
}

func excerpt(body []byte) string {
	const maxBytes = 60
	if len(body) > maxBytes {
		return fmt.Sprintf("%q...", body[:maxBytes])
	}
	return fmt.Sprintf("%q", body)
}
