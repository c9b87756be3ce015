package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"botd/exchange"
)

// candles reads candles into columns: with the fast scanner if they are arrays of plain numbers, as
// documented, otherwise with the tolerant reader.
func (d *answerDecoder) candles() error {
	symbol, err := d.symbol(d.request.Symbol)
	if err != nil {
		return err
	}
	candles := &exchange.Candles{Interval: d.request.Interval}
	if d.profile.emptyAsNull(d.body) {
		d.answer.Candles = candles
		return nil
	}
	if !scanCandles(d.body, symbol, candles) {
		if candles, err = d.readCandles(symbol); err != nil {
			return err
		}
	}
	d.answer.Candles = candles
	return nil
}

// readCandles reads arrays or objects, wrapped or not, oldest or newest first.
func (d *answerDecoder) readCandles(symbol *exchange.Symbol) (*exchange.Candles, error) {
	body, err := unwrapped(d.profile, d.body)
	if err != nil {
		return nil, err
	}
	raw, err := split(d.profile, body)
	if err != nil {
		return nil, err
	}
	read := make([]exchange.Candle, len(raw))
	for i := range raw {
		if read[i], err = readCandle(raw[i], symbol); err != nil {
			return nil, fmt.Errorf("candle %d: %w", i, err)
		}
	}
	if n := len(read); n > 1 && read[0].OpenMS > read[n-1].OpenMS {
		slices.Reverse(read)
	}
	candles := &exchange.Candles{Interval: d.request.Interval}
	for i, candle := range read {
		if i > 0 && read[i-1].OpenMS >= candle.OpenMS {
			return nil, fmt.Errorf("candle of %d after one of %d", candle.OpenMS, read[i-1].OpenMS)
		}
		candles.Append(candle)
	}
	return candles, nil
}

// candleFields are the elements of a candle by index (interface, Futures candle), each with the
// names it may have in an object: the interface does not document the spot record.
var candleFields = [11][]string{
	{"openTime", "open_time", "time", "timestamp", "t"},
	{"open", "o", "openPrice"},
	{"high", "h", "highPrice"},
	{"low", "l", "lowPrice"},
	{"close", "c", "closePrice"},
	{"volume", "v", "baseVolume"},
	{"closeTime", "close_time", "T"},
	{"quoteVolume", "quote_volume", "quoteAssetVolume", "q"},
	{"trades", "count", "numberOfTrades", "n"},
	{"takerBuyVolume", "takerBuyBaseVolume", "V"},
	{"takerBuyQuoteVolume", "Q"},
}

const (
	requiredFields   = 6  // of the 11: without quote volume and after
	maxIntegerDigits = 15 // digits of a count or a time
)

func readCandle(raw json.RawMessage, symbol *exchange.Symbol) (exchange.Candle, error) {
	fields, err := candleNumbers(raw)
	if err != nil {
		return exchange.Candle{}, err
	}
	r := reader{symbol: symbol}
	for i := range requiredFields {
		r.need(candleFields[i][0], fields[i].given)
	}
	integer := func(n number) int64 {
		if !n.IsInteger() || n.NumDigits()+int(n.Exponent()) > maxIntegerDigits {
			r.note(fmt.Errorf("%s is not a count or a time", n))
			return 0
		}
		return n.IntPart()
	}
	candle := exchange.Candle{
		OpenMS: seconds(integer(fields[0])).ms(), Open: r.price("open", fields[1]), High: r.price("high", fields[2]), Low: r.price("low", fields[3]),
		Close: r.price("close", fields[4]), Volume: fields[5].InexactFloat64(), QuoteVolume: fields[7].InexactFloat64(), Trades: integer(fields[8]),
		TakerBase: fields[9].InexactFloat64(), TakerQuote: fields[10].InexactFloat64(),
	}
	r.note(candle.Plausible())
	return candle, r.err
}

func candleNumbers(raw json.RawMessage) (fields [11]number, err error) {
	if len(raw) == 0 || raw[0] != '{' {
		elements, err := array[number](raw)
		copy(fields[:], elements)
		return fields, err
	}
	var named map[string]json.RawMessage
	if err := json.Unmarshal(raw, &named); err != nil {
		return fields, err
	}
	for i, names := range candleFields {
		for _, name := range names {
			if text, found := named[name]; found {
				if err := fields[i].UnmarshalJSON(text); err != nil {
					return fields, fmt.Errorf("%s: %w", name, err)
				}
				break
			}
		}
	}
	return fields, nil
}

// scanCandles reads an array of arrays of plain numbers without encoding/json and decimals. For
// anything else, valid or not, it returns false and leaves it to readCandles.
func scanCandles(body []byte, symbol *exchange.Symbol, into *exchange.Candles) bool {
	s := scanner{body: body}
	*into = *roomFor(into.Interval, bytes.Count(body, []byte("["))-1)
	if !s.skip('[') {
		return false
	}
	if s.skip(']') {
		return s.atEnd()
	}
	last := int64(-1)
	for {
		candle, ok := s.candle(symbol.PriceScale)
		if !ok || candle.OpenMS <= last || candle.Plausible() != nil {
			return false
		}
		last = candle.OpenMS
		into.Append(candle)
		if s.skip(',') {
			continue
		}
		return s.skip(']') && s.atEnd()
	}
}

// roomFor returns no candles, with room for n, up to the maximum of a request.
func roomFor(interval exchange.Interval, n int) *exchange.Candles {
	return exchange.NewCandles(interval, min(max(n, 0), routes[exchange.FuturesCandles-1].Limit.Max))
}

// scanner reads a body from left to right.
type scanner struct {
	body []byte
	at   int
}

// skip skips white space and then one character, if present.
func (s *scanner) skip(c byte) bool {
	for s.at < len(s.body) {
		switch s.body[s.at] {
		case c:
			s.at++
			return true
		case ' ', '\n', '\t', '\r':
			s.at++
		default:
			return false
		}
	}
	return false
}

// atEnd reports whether only white space remains.
func (s *scanner) atEnd() bool { return len(bytes.TrimSpace(s.body[s.at:])) == 0 }

// candle reads an array of exactly eleven numbers.
func (s *scanner) candle(scale int) (c exchange.Candle, ok bool) {
	if !s.skip('[') {
		return c, false
	}
	var n [11]digits
	for i := range n {
		if i > 0 && !s.skip(',') {
			return c, false
		}
		if n[i], ok = s.number(); !ok {
			return c, false
		}
	}
	if !s.skip(']') || n[0].places != 0 || n[0].mantissa <= laterThanSeconds || n[0].mantissa >= 1e15 || n[8].places != 0 || n[8].mantissa >= 1e15 {
		return c, false
	}
	for i := 1; i <= 4; i++ {
		if !n[i].scale(scale) {
			return c, false
		}
	}
	return exchange.Candle{
		OpenMS: int64(n[0].mantissa), Open: exchange.Price(n[1].mantissa), High: exchange.Price(n[2].mantissa), Low: exchange.Price(n[3].mantissa),
		Close: exchange.Price(n[4].mantissa), Volume: n[5].float(), QuoteVolume: n[7].float(), Trades: int64(n[8].mantissa),
		TakerBase: n[9].float(), TakerQuote: n[10].float(),
	}, true
}

// digits is mantissa / 10^places, with at most 18 digits.
type digits struct {
	mantissa uint64
	places   int
	text     []byte
}

const maxDigits = 18 // they fit in an int64

// number reads digits with or without a point, in quotes or not. It does not read a sign, an
// exponent or an escape.
func (s *scanner) number() (n digits, ok bool) {
	quoted := s.skip('"')
	start, point := s.at, -1
	for s.at < len(s.body) {
		c := s.body[s.at]
		if c-'0' <= 9 {
			n.mantissa = n.mantissa*10 + uint64(c-'0')
		} else if c == '.' && point < 0 {
			point = s.at
		} else {
			break
		}
		s.at++
	}
	n.text = s.body[start:s.at]
	count := len(n.text)
	if point >= 0 {
		count, n.places = count-1, s.at-point-1
	}
	leadingZero := len(n.text) > 1 && n.text[0] == '0' && n.text[1] != '.'
	if count == 0 || count > maxDigits || point == start || point >= 0 && n.places == 0 || leadingZero {
		return n, false
	}
	if quoted {
		if s.at >= len(s.body) || s.body[s.at] != '"' {
			return n, false
		}
		s.at++
	}
	return n, true
}

// scale converts the mantissa to units of 10^-places. Finer digits are cut off.
func (n *digits) scale(places int) bool {
	if n.places >= places {
		n.mantissa /= exchange.PowerOf10(n.places - places)
		return true
	}
	factor := exchange.PowerOf10(places - n.places)
	if n.mantissa > (1<<63-1)/factor {
		return false
	}
	n.mantissa *= factor
	return true
}

// float returns the nearest float64. Dividing two exact floats rounds once; more digits than that
// take the slow path.
func (n *digits) float() float64 {
	if n.mantissa < 1<<53 {
		return float64(n.mantissa) / float64(exchange.PowerOf10(n.places))
	}
	f, err := strconv.ParseFloat(string(n.text), 64)
	if err != nil {
		panic(errors.Join(errors.New("wire: digits that are not a number"), err))
	}
	return f
}

// appendCandles writes arrays of 11 elements, as on both markets.
func appendCandles(body []byte, candles *exchange.Candles, scale int) ([]byte, error) {
	body = append(body, '[')
	for i := range candles.Len() {
		if i > 0 {
			body = append(body, ',')
		}
		c := candles.At(i)
		if sum := c.Volume + c.QuoteVolume + c.TakerBase + c.TakerQuote; math.IsNaN(sum) || math.IsInf(sum, 0) {
			return nil, fmt.Errorf("candle of %d: %w", c.OpenMS, errNoNumber)
		}
		body = strconv.AppendInt(append(body, '['), c.OpenMS, 10)
		for _, price := range [...]exchange.Price{c.Open, c.High, c.Low, c.Close} {
			body = append(appendScaled(append(body, `,"`...), int64(price), scale), '"')
		}
		body = appendFloat(body, c.Volume)
		body = strconv.AppendInt(append(body, ','), candles.CloseMS(i)-1, 10)
		body = appendFloat(body, c.QuoteVolume)
		body = strconv.AppendInt(append(body, ','), c.Trades, 10)
		body = append(appendFloat(appendFloat(body, c.TakerBase), c.TakerQuote), ']')
	}
	return append(body, ']'), nil
}

func appendFloat(body []byte, f float64) []byte {
	return append(strconv.AppendFloat(append(body, `,"`...), f, 'f', -1, 64), '"')
}

// appendScaled writes n / 10^scale without trailing zeros.
func appendScaled(body []byte, n int64, scale int) []byte {
	if n < 0 {
		body = append(body, '-')
		n = -n
	}
	unit := exchange.PowerOf10(scale)
	body = strconv.AppendUint(body, uint64(n)/unit, 10)
	rest := uint64(n) % unit
	if rest == 0 {
		return body
	}
	at := len(body)
	body = strconv.AppendUint(body, unit+rest, 10) // a 1 and exactly scale digits
	body[at] = '.'
	return bytes.TrimRight(body, "0")
}
