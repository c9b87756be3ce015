package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"botd/exchange"
)

// array reads a JSON array; anything else, including null, is an error.
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

// split reads a JSON array's rows as raw JSON. Null is an empty list if the profile permits it.
func split(p *Profile, body []byte) (rows []json.RawMessage, err error) {
	if p.emptyAsNull(body) {
		return nil, nil
	}
	return array[json.RawMessage](body)
}

// emptyAsNull reports whether a body is an empty list that the venue writes as null.
func (p *Profile) emptyAsNull(body []byte) bool {
	return p != nil && p.NullLists && bytes.EqualFold(bytes.TrimSpace(body), []byte("null"))
}

// list reads an array of records that do not depend on a symbol. A row that cannot be read is set
// aside.
func list[F, T any](d *answerDecoder, body []byte, read func(*F) (T, error)) (exchange.Fetched[T], error) {
	rows, err := split(d.profile, body)
	if err != nil {
		return exchange.Fetched[T]{}, err
	}
	items := make([]T, 0, len(rows))
	for _, row := range rows {
		var f F
		err := unmarshal(row, &f)
		var item T
		if err == nil {
			item, err = read(&f)
		}
		if err != nil {
			d.setAside(row, err)
			continue
		}
		items = append(items, item)
	}
	return exchange.FetchedOf(items), nil
}

// unreadable sets the treatment of a record that cannot be read or whose symbol is not in the
// table.
type unreadable uint8

const (
	allOrNone unreadable = iota // the answer is malformed
	setAside                    // it is in the answer's Unreadable
	passOver                    // a record with an unknown symbol is skipped; otherwise the answer is malformed
)

// symbolList reads an array of records that depend on their symbol's scales.
func symbolList[F, T any](d *answerDecoder, body []byte, otherwise unreadable, name func(*F) string,
	read func(*F, reader) (T, error)) (exchange.Fetched[T], error) {
	rows, err := split(d.profile, body)
	if err != nil {
		return exchange.Fetched[T]{}, err
	}
	items := make([]T, 0, len(rows))
	for i, row := range rows {
		item, err := symbolRow(d, row, name, read)
		switch {
		case err == nil:
			items = append(items, item)
		case otherwise == setAside:
			d.setAside(row, err)
		case otherwise == passOver && namesUnknown(err):
		default:
			return exchange.Fetched[T]{}, fmt.Errorf("element %d: %w", i, err)
		}
	}
	return exchange.FetchedOf(items), nil
}

// namesUnknown reports whether the only fault is that the symbol is missing from the table.
func namesUnknown(err error) bool {
	var unknown *UnknownSymbolError
	return errors.As(err, &unknown) && unknown.Key.Name != ""
}

// symbolRow reads one record by the scales of the symbol that it names.
func symbolRow[F, T any](d *answerDecoder, row []byte, name func(*F) string, read func(*F, reader) (T, error)) (item T, err error) {
	var f F
	if err = unmarshal(row, &f); err != nil {
		return item, err
	}
	symbol, err := d.symbol(name(&f))
	if err != nil {
		return item, err
	}
	return read(&f, reader{symbol: symbol, profile: d.profile})
}

// oneTicker reads the ticker of the requested symbol as a list of one.
func oneTicker[F any](d *answerDecoder, name func(*F) string, read func(*F, reader) (exchange.Ticker, error)) error {
	ticker, err := symbolRow(d, d.body, name, read)
	if err != nil {
		return err
	}
	if d.request.Symbol != ticker.Symbol {
		return fmt.Errorf("the answer is about %s, not %s", ticker.Symbol, d.request.Symbol)
	}
	d.answer.Tickers = exchange.FetchedOf([]exchange.Ticker{ticker})
	return nil
}

// symbolsOf reads a symbol list. It skips a symbol that cannot be represented, so that one exotic
// instrument does not hide the others. If none can be represented, the list is malformed.
func symbolsOf[F any](d *answerDecoder, read func(*F) (*exchange.Symbol, error)) (exchange.Fetched[*exchange.Symbol], error) {
	symbols, err := list(d, d.body, read)
	if unread := d.answer.Unreadable; err == nil && len(symbols.Items()) == 0 && len(unread) > 0 {
		return exchange.Fetched[*exchange.Symbol]{}, errors.New(unread[0].Reason)
	}
	d.answer.Unreadable = nil
	return symbols, err
}

// wrappers are the names under which venues wrap a list.
var wrappers = []string{"data", "candles", "klines", "orders", "history", "list", "items", "rows", "result"}

// unwrapped returns the array in an undocumented body: the body itself, or the one list in an
// object that is not an error.
func unwrapped(p *Profile, body []byte) ([]byte, error) {
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
		if raw := fields[name]; len(raw) > 0 && (raw[0] == '[' || p.emptyAsNull(raw)) {
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
