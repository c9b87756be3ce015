package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"botd/exchange"
)

// Profile holds a venue's choices that the interface leaves open. A nil profile is the interface
// alone.
type Profile struct {
	NullLists   bool // a list answered as null is empty
	HalfTick    bool // a quantity within half a tick is read as the tick
	StatusWords map[exchange.Market]map[string]exchange.OrderStatus
}

// maxRowText bounds the retained text of an unreadable row, in bytes.
const maxRowText = 200

// setAside records an unreadable row, with its readable fields.
func (d *answerDecoder) setAside(raw []byte, err error) {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(raw, &fields) // nothing can be read if it is not an object
	row := exchange.UnreadableRow{Reason: clean(err.Error()), Raw: clean(string(raw))}
	var unknown *UnknownSymbolError
	row.UnknownSymbol = errors.As(err, &unknown)
	row.Symbol, row.Asset = word(fields["symbol"]), word(fields["asset"])
	if row.ClientOrderID = word(fields["client_order_id"]); row.ClientOrderID == "" {
		row.ClientOrderID = word(fields["clientOrderId"])
	}
	var id whole
	if json.Unmarshal(fields["id"], &id) == nil {
		row.ID = int64(id)
	}
	if symbol, err := d.symbol(row.Symbol); err == nil {
		row.Filled, row.FilledRead = filledOf(fields["filled"], reader{symbol: symbol, profile: d.profile})
	}
	d.answer.Unreadable = append(d.answer.Unreadable, row)
}

func filledOf(raw json.RawMessage, r reader) (filled exchange.Quantity, read bool) {
	var n number
	if json.Unmarshal(raw, &n) != nil || !n.given {
		return 0, false
	}
	filled = r.quantity("filled", n)
	return filled, r.err == nil
}

// word reads a name: a short JSON string without control characters, or nothing.
func word(raw json.RawMessage) string {
	const maxWord = 64
	var text string
	if json.Unmarshal(raw, &text) != nil || len(text) > maxWord || clean(text) != text {
		return ""
	}
	return text
}

// clean clips a venue's text and replaces unprintable characters.
func clean(text string) string {
	if len(text) > maxRowText {
		text = fmt.Sprintf("%s... (%d bytes)", text[:maxRowText], len(text))
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, text)
}
