package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"botd/exchange"
)

// Codes of the simulated exchange for errors in decoding a request. Codes of a rule equal those in
// exchange/sim, which applies the rules; a test compares them.
const (
	CodeMalformed     = 1000 // wrong type, no JSON, or a missing parameter
	CodeParameter     = 2000
	CodeSide          = 2001
	CodeType          = 2002
	CodeQuantityTick  = 2006
	CodePriceTick     = 2009
	CodeStopPriceTick = 2012
)

// DecodeRequest reads a request strictly, on the server's side. Its errors are *exchange.Refusal
// with status 400 that name field and value.
func DecodeRequest(operation exchange.Operation, pathSymbol string, query url.Values, body []byte, symbols Symbols) (exchange.Request, error) {
	route := RouteOf(operation)
	d := requestDecoder{symbols: symbols, request: exchange.Request{Operation: operation, Symbol: pathSymbol}}
	if route.Method == post {
		d.source = d.object(body)
	} else {
		d.source = parameters{query}
	}
	for _, p := range route.Parameters {
		if d.refusal != nil {
			break
		}
		d.read(p, route.Limit)
	}
	if d.refusal != nil {
		return exchange.Request{}, d.refusal
	}
	return d.request, nil
}

type requestDecoder struct {
	source  source
	symbols Symbols
	request exchange.Request
	refusal *exchange.Refusal // the first
}

// source is a query or a body. It distinguishes an absent value from an invalid one.
type source interface {
	word(name string) (value string, err error)
	integer(name string) (value int64, given bool, err error)
}

func (d *requestDecoder) refuse(code int, format string, arguments ...any) {
	if d.refusal == nil {
		d.refusal = &exchange.Refusal{Operation: d.request.Operation, Status: 400, Code: code, Message: fmt.Sprintf(format, arguments...)}
	}
}

// read reads one parameter into its field.
func (d *requestDecoder) read(p Parameter, limit Limit) {
	r := &d.request
	var err error
	switch p.Field {
	case FieldOrder:
		d.order()
	case FieldSymbol:
		r.Symbol = d.word(p)
	case FieldInterval:
		if word := d.word(p); word != "" {
			r.Interval, err = exchange.ParseInterval(word)
		}
	case FieldSide:
		if word := d.word(p); word != "" {
			r.Side, err = exchange.ParseSide(word)
		}
	case FieldPositionSide:
		if word := d.word(p); word != "" {
			r.PositionSide, err = exchange.ParsePositionSide(word)
		}
	case FieldType:
		if word := d.word(p); word != "" {
			r.Type, err = exchange.ParseOrderType(word)
		}
	case FieldStart:
		r.StartMS = d.time(p, 1)
	case FieldEnd:
		r.EndMS = d.time(p, 1)
	case FieldStartSeconds:
		r.StartMS = d.time(p, 1000)
	case FieldEndSeconds:
		r.EndMS = d.time(p, 1000)
	case FieldOrderID:
		r.OrderID = d.integer(p, math.MinInt64, math.MaxInt64)
	case FieldLeverage: // the exchange checks its bounds
		r.Leverage = int(d.integer(p, math.MinInt32, math.MaxInt32))
	case FieldOffset:
		r.Offset = int(d.integer(p, 0, math.MaxInt32))
	case FieldLimit:
		d.limit(p, limit)
	}
	if err != nil {
		d.refuse(CodeParameter, "%s: %v", p.Name, err)
	}
}

func (d *requestDecoder) word(p Parameter) string {
	value, err := d.source.word(p.Name)
	if err != nil {
		d.refuse(CodeMalformed, "%v", err)
	} else if value == "" && p.Required {
		d.refuse(CodeMalformed, "%s is required", p.Name)
	}
	return value
}

func (d *requestDecoder) integer(p Parameter, low, high int64) int64 {
	value, given, err := d.source.integer(p.Name)
	switch {
	case err != nil:
		d.refuse(CodeMalformed, "%v", err)
	case !given && p.Required:
		d.refuse(CodeMalformed, "%s is required", p.Name)
	case given && (value < low || value > high):
		d.refuse(CodeParameter, "%s %d is outside %d..%d", p.Name, value, low, high)
		return 0
	}
	return value
}

// latestTime is the latest accepted time in milliseconds.
const latestTime = math.MaxInt64 / 2_000_000

func (d *requestDecoder) time(p Parameter, unit int64) int64 {
	return d.integer(p, 0, latestTime) * unit
}

// limit applies default and maximum: a larger limit is reduced to the maximum, one below 1 is
// refused (docs/exchange.md, limits above the maximum).
func (d *requestDecoder) limit(p Parameter, bound Limit) {
	value, given, err := d.source.integer(p.Name)
	switch {
	case err != nil:
		d.refuse(CodeMalformed, "%v", err)
		return
	case !given:
		value = int64(bound.Default)
	case value < 1:
		d.refuse(CodeParameter, "%s %d is below 1", p.Name, value)
		return
	}
	d.request.Limit = int(min(value, int64(bound.Max)))
	if d.request.Operation == exchange.SpotDepth && !slices.Contains(orderBookLimits, d.request.Limit) {
		d.refuse(CodeParameter, "%s %d is not one of 5, 10, 20, 50, 100", p.Name, value)
	}
}

// orderBookLimits are the valid limits of spot order books (interface, Limits).
var orderBookLimits = []int{5, 10, 20, 50, 100}

// parameters is a query.
type parameters struct{ query url.Values }

// once refuses a parameter that is given twice: it is not clear which one counts.
func (p parameters) once(name string) error {
	if n := len(p.query[name]); n > 1 {
		return fmt.Errorf("%s is given %d times", name, n)
	}
	return nil
}

func (p parameters) word(name string) (string, error) { return p.query.Get(name), p.once(name) }

func (p parameters) integer(name string) (int64, bool, error) {
	text, given := p.query.Get(name), p.query.Has(name)
	if err := p.once(name); err != nil || !given {
		return 0, given, err
	}
	n, err := wholeNumber(text)
	if err != nil && strings.Trim(text, "0123456789") == "" && text != "" {
		return math.MaxInt64, true, nil // more digits than an int64 has: larger than any bound
	}
	if err != nil {
		return 0, true, fmt.Errorf("%s %s is not a whole number", name, excerpt([]byte(text)))
	}
	return n, true, nil
}

// object reads the body; an empty one has no fields.
func (d *requestDecoder) object(body []byte) fields {
	if body = WithoutMark(body); len(body) == 0 {
		return nil
	}
	f, twice, err := readFields(json.NewDecoder(bytes.NewReader(body)))
	if err != nil {
		d.refuse(CodeMalformed, "the body %s is not a JSON object", excerpt(body))
	} else if twice != "" {
		d.refuse(CodeMalformed, "%.40q is given twice", twice)
	}
	return f
}

var errNotObject = errors.New("not a single JSON object")

// readFields reads one object and nothing after it, and returns the name of a field that is given
// twice: it is not clear which one counts.
func readFields(body *json.Decoder) (f fields, twice string, err error) {
	token, err := body.Token()
	if token != json.Delim('{') {
		return nil, "", cmp.Or(err, errNotObject)
	}
	f = fields{}
	for body.More() {
		if token, err = body.Token(); err != nil {
			return nil, "", err
		}
		name, _ := token.(string) // a key is always a string
		if _, again := f[name]; again {
			twice = name
		}
		var raw json.RawMessage
		if err = body.Decode(&raw); err != nil {
			return nil, "", err
		}
		f[name] = raw
	}
	if _, err = body.Token(); err != nil { // the closing brace
		return nil, "", err
	}
	if _, err = body.Token(); err != io.EOF {
		return nil, "", errNotObject
	}
	return f, twice, nil
}

// wholeNumber reads an integer as JSON numbers write it: 30, 30.0 and 3e1 are the same.
func wholeNumber(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil || text == "" || strings.Trim(text, "0123456789.eE+-") != "" {
		return n, err
	}
	var w whole
	err = w.UnmarshalJSON([]byte(text))
	return int64(w), err
}

// fields are the fields of a body. Unknown ones are ignored, since many clients send timeInForce.
type fields map[string]json.RawMessage

// given returns a field; null counts as absent.
func (f fields) given(name string) (json.RawMessage, bool) {
	raw, found := f[name]
	return raw, found && !bytes.Equal(raw, []byte("null"))
}

func (f fields) word(name string) (value string, err error) {
	raw, given := f.given(name)
	if given && json.Unmarshal(raw, &value) != nil {
		return "", fmt.Errorf("%s %s is not a string", name, excerpt(raw))
	}
	return value, nil
}

func (f fields) flag(name string) (value bool, err error) {
	raw, given := f.given(name)
	if given && json.Unmarshal(raw, &value) != nil {
		return false, fmt.Errorf("%s %s is neither true nor false", name, excerpt(raw))
	}
	return value, nil
}

func (f fields) integer(name string) (int64, bool, error) {
	raw, given := f.given(name)
	if !given {
		return 0, false, nil
	}
	n, err := wholeNumber(string(raw))
	if err != nil {
		return 0, true, fmt.Errorf("%s %s is not a whole number", name, excerpt(raw))
	}
	return n, true, nil
}

// decimal reads a decimal from a JSON number or a string.
func (f fields) decimal(name string) (n number, err error) {
	raw, given := f.given(name)
	if !given {
		return n, nil
	}
	isText := raw[0] == '"' && len(raw) > len(`""`)
	if !isText && raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return n, fmt.Errorf("%s %s is not a decimal number", name, excerpt(raw))
	}
	if err := n.UnmarshalJSON(raw); err != nil {
		return n, fmt.Errorf("%s: %w", name, err)
	}
	return n, nil
}
