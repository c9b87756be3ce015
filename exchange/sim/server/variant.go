package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/wire"
)

// Variant is another valid reading of the interface document, or a common habit of venues.
type Variant struct {
	Name     string
	What     string
	Duration time.Duration // its default; 0 if it takes none
	rewrite  func(operation exchange.Operation, row map[string]any)
}

// Variants lists the variants of botd exchange --variant.
func Variants() []Variant {
	return []Variant{
		{"history-without-client-id", "the spot order history does not echo client order ids", 0, withoutID(exchange.SpotOrderHistory)},
		{"open-without-client-id", "the open lists of both markets do not echo client order ids", 0,
			withoutID(exchange.SpotOpenOrders, exchange.FuturesOpenOrders)},
		{"float-noise", "one's own quantities carry the noise of binary floats: 0.9970000000000002", 0, noisy},
		{"foreign-status-words", "filled spot orders are EXECUTED; canceled orders of both markets CANCELLED", 0, foreignWords},
		{"extra-fields", "every record has additional fields, such as Status beside status", 0, extraFields},
		{"strings-for-numbers", "every number is written as a string", 0, nil},
		{"null-lists", "an empty list is written as null", 0, nil},
		{"list-envelopes-off", "tickers and wallets are plain arrays, not objects that contain one", 0, nil},
		{"list-envelopes-on", "spot candles and the spot order history are objects with a list in data", 0, nil},
		{"byte-order-mark", "every body begins with a byte order mark", 0, nil},
		{"error-words", "error bodies say msg instead of error", 0, nil},
		{"refuse-but-execute", "every fifth placement is executed and answered as refused", 0, nil},
		{"duplicate-delivery", "every fifth placement is executed twice", 0, nil},
		{"stale-positions", "the list of open positions is this old", 6 * time.Second, nil},
		{"empty-positions", "the list of open positions is empty for this long, once a minute", 3 * time.Second, nil},
	}
}

const everyFifth = 5

// variants are the active variants.
type variants struct {
	rewrites []func(exchange.Operation, map[string]any)
	named    map[string]time.Duration

	// The following are guarded by the server's mutex.
	placements int
	version    uint64
	positions  map[string][]positionsAt // by account, oldest first
}

type positionsAt struct {
	timeMS int64
	answer exchange.Answer
}

// parseVariants reads NAME[=DURATION], several separated by commas.
func parseVariants(texts []string) (variants, error) {
	v := variants{named: map[string]time.Duration{}, positions: map[string][]positionsAt{}}
	for _, text := range texts {
		for _, one := range strings.Split(text, ",") {
			if one = strings.TrimSpace(one); one == "" {
				continue
			}
			name, length, given := strings.Cut(one, "=")
			at := slices.IndexFunc(Variants(), func(each Variant) bool { return each.Name == name })
			if at < 0 {
				return v, fmt.Errorf("variant %q is unknown: --variant list prints them all", name)
			}
			variant := Variants()[at]
			v.named[name] = variant.Duration
			if given {
				duration, err := time.ParseDuration(length)
				if err != nil || duration <= 0 || duration > time.Minute || variant.Duration == 0 {
					return v, fmt.Errorf("variant %q: want %s alone, or with a duration of at most 1m where it has one", one, name)
				}
				v.named[name] = duration
			}
			if variant.rewrite != nil {
				v.rewrites = append(v.rewrites, variant.rewrite)
			}
		}
	}
	return v, nil
}

func (v *variants) has(name string) bool {
	_, found := v.named[name]
	return found
}

// rewrite rewrites a reply according to the variants.
func (v *variants) rewrite(r *http.Request, p *reply) {
	if len(v.named) == 0 {
		return
	}
	operation, _, _, _ := wire.Match(r.Method, r.URL.Path)
	if p.status >= http.StatusBadRequest && v.has("error-words") {
		p.body = bytes.Replace(p.body, []byte(`"error":`), []byte(`"msg":`), 1)
	}
	if p.status < http.StatusBadRequest && operation != 0 {
		p.body = v.answer(operation, p.body)
	}
	if v.has("byte-order-mark") {
		p.body = append([]byte("\xef\xbb\xbf"), p.body...)
	}
}

func (v *variants) answer(operation exchange.Operation, body []byte) []byte {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var content any
	if decoder.Decode(&content) != nil {
		return body // cancel-all's NULL
	}
	if object, isObject := content.(map[string]any); isObject && v.has("list-envelopes-off") {
		switch operation { // before other rewrites of the records: a list has no envelope
		case exchange.SpotTickers:
			content = object["tickers"]
		case exchange.SpotWallet:
			content = object["wallets"]
		}
	}
	for _, row := range rowsOf(content) {
		for _, rewrite := range v.rewrites {
			rewrite(operation, row)
		}
	}
	if v.has("strings-for-numbers") {
		content = stringly(content)
	}
	if v.has("null-lists") {
		content = nullLists(content)
	}
	if v.has("list-envelopes-on") && (operation == exchange.SpotCandles || operation == exchange.SpotOrderHistory) {
		content = map[string]any{"data": content}
	}
	rewritten, err := json.Marshal(content)
	if err != nil {
		return body
	}
	return rewritten
}

// rowsOf returns the records of an answer.
func rowsOf(content any) (rows []map[string]any) {
	switch c := content.(type) {
	case map[string]any:
		rows = append(rows, c)
		for _, value := range c {
			if list, ok := value.([]any); ok {
				rows = append(rows, rowsOf(list)...)
			}
		}
	case []any:
		for _, each := range c {
			if row, ok := each.(map[string]any); ok {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// nullLists writes every empty list as null.
func nullLists(content any) any {
	switch c := content.(type) {
	case map[string]any:
		for name, value := range c {
			c[name] = nullLists(value)
		}
	case []any:
		if len(c) == 0 {
			return nil
		}
		for i, value := range c {
			c[i] = nullLists(value)
		}
	}
	return content
}

func stringly(content any) any {
	switch c := content.(type) {
	case json.Number:
		return c.String()
	case map[string]any:
		for name, value := range c {
			c[name] = stringly(value)
		}
	case []any:
		for i, value := range c {
			c[i] = stringly(value)
		}
	}
	return content
}

func withoutID(operations ...exchange.Operation) func(exchange.Operation, map[string]any) {
	return func(operation exchange.Operation, row map[string]any) {
		if slices.Contains(operations, operation) {
			delete(row, "clientOrderId")
			delete(row, "client_order_id")
		}
	}
}

// noisy adds the error of a binary float: one unit in the last place of the double.
func noisy(operation exchange.Operation, row map[string]any) {
	if !operation.Signed() {
		return
	}
	for _, name := range []string{"filled", "remainingQty", "quantity"} {
		switch value := row[name].(type) {
		case json.Number:
			row[name] = json.Number(withNoise(value.String()))
		case string:
			row[name] = withNoise(value)
		}
	}
}

func withNoise(text string) string {
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || number == math.Trunc(number) {
		return text
	}
	return strconv.FormatFloat(math.Nextafter(math.Nextafter(number, math.Inf(1)), math.Inf(1)), 'f', -1, 64)
}

func foreignWords(operation exchange.Operation, row map[string]any) {
	word, _ := row["status"].(string)
	_, isOrder := row["side"]
	_, filled := row["filled"]
	switch {
	case !isOrder || !filled:
	case word == "CANCELED":
		row["status"] = "CANCELLED"
	case word == "FILLED" && operation.Market() == exchange.Spot:
		row["status"] = "EXECUTED"
	}
}

func extraFields(_ exchange.Operation, row map[string]any) {
	row["Status"], row["STATUS"], row["ID"], row["Filled"], row["note"] = "FILLED", "FILLED", 1, "999999", "x"
}

// place executes a placement according to the variants. The caller holds the server's mutex.
func (s *Server) place(by caller, request *exchange.Request) (exchange.Answer, error) {
	v := &s.variants
	answer, err := s.exchange.Do(by.key, request)
	if err != nil || !request.Operation.Places() || len(v.named) == 0 {
		return answer, err
	}
	if v.placements++; v.placements%everyFifth != 0 {
		return answer, nil
	}
	if v.has("duplicate-delivery") {
		var refusal *exchange.Refusal
		if _, err := s.exchange.Do(by.key, request); err != nil && !errors.As(err, &refusal) {
			return answer, err
		}
	}
	if v.has("refuse-but-execute") {
		return exchange.Answer{}, &exchange.Refusal{Operation: request.Operation, Status: http.StatusBadRequest, Code: sim.CodeMargin,
			Message: "insufficient balance"}
	}
	return answer, nil
}

// forget clears the memory of a replaced state. The caller holds the server's mutex.
func (v *variants) forget(placements int) {
	v.placements, v.version = placements, 0
	clear(v.positions)
}

// notePositions records the list of open positions with its time. It is called under the server's
// mutex, after every change.
func (v *variants) notePositions(x *sim.Exchange, accounts map[string]*Account) {
	old := v.named["stale-positions"]
	if old == 0 || v.version == x.Version() && v.version != 0 {
		return
	}
	v.version = x.Version()
	for key := range accounts {
		answer, err := x.Do(key, &exchange.Request{Operation: exchange.FuturesOpenPositions})
		if err != nil {
			continue
		}
		saved := v.positions[key]
		for len(saved) > 1 && saved[1].timeMS <= x.NowMS()-old.Milliseconds() {
			saved = saved[1:]
		}
		v.positions[key] = append(saved, positionsAt{x.NowMS(), answer})
	}
}

// openPositions replaces the list of open positions.
func (v *variants) openPositions(key string, nowMS int64, answer *exchange.Answer) {
	if answer.Operation != exchange.FuturesOpenPositions {
		return
	}
	if old := v.named["stale-positions"].Milliseconds(); old > 0 {
		for _, then := range v.positions[key] {
			if then.timeMS <= nowMS-old || then.timeMS == v.positions[key][0].timeMS {
				answer.Positions = then.answer.Positions
			}
		}
	}
	if empty := v.named["empty-positions"].Milliseconds(); empty > 0 && nowMS%int64(exchange.Minute1) < empty {
		answer.Positions = exchange.FetchedOf[exchange.Position](nil)
	}
}
