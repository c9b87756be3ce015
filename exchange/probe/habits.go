package probe

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"botd/exchange"
	"botd/exchange/wire"
)

// Habits of venues, under the names that botd exchange --variant uses.
const (
	habitHistoryIDs     = "history-without-client-id"
	habitOpenIDs        = "open-without-client-id"
	habitNoise          = "float-noise"
	habitWords          = "foreign-status-words"
	habitExtra          = "extra-fields"
	habitStrings        = "strings-for-numbers"
	habitNull           = "null-lists"
	habitNoEnvelopes    = "list-envelopes-off"
	habitEnvelopes      = "list-envelopes-on"
	habitMark           = "byte-order-mark"
	habitErrorWords     = "error-words"
	habitRefuses        = "refuse-but-execute"
	habitTwice          = "duplicate-delivery"
	habitStalePositions = "stale-positions"
	habitEmpty          = "empty-positions"
)

// habits are the deviations of a venue's answers: where the interface leaves a choice, and where
// the venue violates it.
type habits struct {
	seen         map[string]bool
	words        map[exchange.Market]map[string]exchange.OrderStatus // status words that are not in the interface
	unknownWords map[string]bool                                     // words whose meaning remains unknown
	canceled     map[int64]bool                                      // orders whose cancel was confirmed
	beyond       bool                                                // quantities have noise that binary floats do not leave
}

func newHabits() *habits {
	return &habits{seen: map[string]bool{}, unknownWords: map[string]bool{}, canceled: map[int64]bool{},
		words: map[exchange.Market]map[string]exchange.OrderStatus{exchange.Futures: {}, exchange.Spot: {}}}
}

// names returns the observed habits, sorted.
func (h *habits) names() []string {
	names := []string{}
	for name, seen := range h.seen {
		if seen {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// observe records the habits in an answer as received, and returns its records.
func (h *habits) observe(request *exchange.Request, status int, body []byte, table symbolFinder) []map[string]any {
	text := wire.WithoutMark(body)
	if len(text) < len(body) {
		h.seen[habitMark] = true
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var content any
	if decoder.Decode(&content) != nil {
		return nil
	}
	rows := recordsOf(content)
	if status >= 400 {
		for _, row := range rows {
			if _, ours := row["error"]; !ours && (row["msg"] != nil || row["message"] != nil) {
				h.seen[habitErrorWords] = true
			}
		}
		return nil
	}
	h.shape(request.Operation, content)
	for _, row := range rows {
		h.fields(row)
		if request.Operation.Signed() {
			h.order(request.Operation.Market(), row)
			h.quantities(request.Operation.Market(), row, table)
		}
	}
	return rows
}

// shape records lists in unexpected envelopes, lists without their envelope, and null for a list.
func (h *habits) shape(operation exchange.Operation, content any) {
	_, isList := content.([]any)
	_, isObject := content.(map[string]any)
	switch operation {
	case exchange.SpotTickers, exchange.SpotWallet:
		if isList {
			h.seen[habitNoEnvelopes] = true
		}
	case exchange.SpotCandles, exchange.SpotOrderHistory:
		if isObject {
			h.seen[habitEnvelopes] = true
		}
	}
	if content == nil && operation != exchange.FuturesCancelAll {
		h.seen[habitNull] = true
	}
}

// numbered lists the fields that the interface defines as JSON numbers.
var numbered = []string{"serverTime", "priceTick", "quantityTick", "createdAt"}

// fields records numbers written as strings, and names that differ only in case.
func (h *habits) fields(row map[string]any) {
	for _, name := range numbered {
		if _, text := row[name].(string); text {
			h.seen[habitStrings] = true
		}
	}
	lower := map[string]bool{}
	for name := range row {
		if lower[strings.ToLower(name)] {
			h.seen[habitExtra] = true
		}
		lower[strings.ToLower(name)] = true
	}
}

// order learns the status words of the probe's own orders.
func (h *habits) order(market exchange.Market, row map[string]any) {
	word, _ := row["status"].(string)
	id, _, filled, quantity := orderOf(row)
	if _, isOrder := row["side"]; !isOrder || row["filled"] == nil || word == "" || id == 0 {
		return
	}
	if _, err := exchange.ParseOrderStatus(word); err == nil {
		return
	}
	h.seen[habitWords] = true
	switch {
	case quantity > 0 && same(filled, quantity):
		h.words[market][word] = exchange.StatusFilled
	case h.canceled[id]:
		h.words[market][word] = exchange.StatusCanceled
	default:
		h.unknownWords[market.String()+" "+word] = true
	}
}

func same(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b)) }

// symbolFinder returns the rules of a symbol.
type symbolFinder interface {
	Symbol(exchange.SymbolKey) (*exchange.Symbol, bool)
}

// quantities records digits finer than the symbol's tick.
func (h *habits) quantities(market exchange.Market, row map[string]any, table symbolFinder) {
	name, _ := row["symbol"].(string)
	symbol, found := table.Symbol(exchange.SymbolKey{Market: market, Name: name})
	if !found || row["type"] == "MARKET" && market == exchange.Spot {
		return
	}
	tick := symbol.QuantityFloat(symbol.QuantityTick)
	for _, field := range []string{"filled", "remainingQty", "quantity"} {
		value := numberOf(row[field])
		nearest := float64(math.Round(value/tick) * tick)
		text := textOf(row[field])
		if _, fraction, _ := strings.Cut(text, "."); len(strings.TrimRight(fraction, "0")) <= symbol.QuantityScale || value == 0 {
			continue
		}
		h.seen[habitNoise] = true
		h.beyond = h.beyond || math.Abs(value-nearest) > 1e-12*max(1, math.Abs(value))
	}
}

// recordsOf returns the objects of an answer: itself, or the elements of its list.
func recordsOf(content any) (rows []map[string]any) {
	switch c := content.(type) {
	case map[string]any:
		rows = append(rows, c)
		for _, value := range c {
			if list, isList := value.([]any); isList {
				rows = append(rows, recordsOf(list)...)
			}
		}
	case []any:
		for _, each := range c {
			if row, isObject := each.(map[string]any); isObject {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// orderOf reads the fields that identify an order and its progress, whatever the spelling of its
// status.
func orderOf(row map[string]any) (id int64, clientID string, filled, quantity float64) {
	id, _ = strconv.ParseInt(textOf(row["id"]), 10, 64)
	if clientID = textOf(row["client_order_id"]); clientID == "" {
		clientID = textOf(row["clientOrderId"])
	}
	return id, clientID, numberOf(row["filled"]), numberOf(row["quantity"])
}

func numberOf(value any) float64 {
	number, _ := strconv.ParseFloat(textOf(value), 64)
	return number
}

func textOf(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}
