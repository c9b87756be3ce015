package process

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"botd/exchange"
)

// columns of a candle's row: open time, open, high, low, close, volume, quote volume, trades,
// taker buy base, taker buy quote.
const columns = 10

// form is the format in which a program reads candles.
type form struct {
	Prices bool `json:"prices,omitempty"` // only times and prices
	Packed bool `json:"packed,omitempty"` // as binary numbers, in base64
}

// append adds a candle to rows. Prices are written with all digits, or packed as the nearest
// floats.
func (f form) append(rows []byte, s *exchange.Symbol, c *exchange.Candle) []byte {
	if f.Packed {
		return f.pack(rows, s, c)
	}
	if len(rows) == 0 {
		rows = append(rows, '[')
	} else {
		rows[len(rows)-1] = ','
	}
	rows = append(rows, '[')
	rows = strconv.AppendInt(rows, c.OpenMS, 10)
	for _, price := range [...]exchange.Price{c.Open, c.High, c.Low, c.Close} {
		rows = appendScaled(append(rows, ','), int64(price), s.PriceScale)
	}
	if f.Prices {
		return append(rows, ']', ']')
	}
	rows = appendFloat(append(rows, ','), c.Volume)
	rows = appendFloat(append(rows, ','), c.QuoteVolume)
	rows = strconv.AppendInt(append(rows, ','), c.Trades, 10)
	rows = appendFloat(append(rows, ','), c.TakerBase)
	rows = appendFloat(append(rows, ','), c.TakerQuote)
	return append(rows, ']', ']')
}

// pack adds a candle as eight little-endian bytes per number: times and trades are integers, all others
// floats.
func (f form) pack(rows []byte, s *exchange.Symbol, c *exchange.Candle) []byte {
	rows = binary.LittleEndian.AppendUint64(rows, uint64(c.OpenMS))
	for _, price := range [...]exchange.Price{c.Open, c.High, c.Low, c.Close} {
		rows = packFloat(rows, s.PriceFloat(price))
	}
	if f.Prices {
		return rows
	}
	rows = packFloat(packFloat(rows, c.Volume), c.QuoteVolume)
	rows = binary.LittleEndian.AppendUint64(rows, uint64(c.Trades))
	return packFloat(packFloat(rows, c.TakerBase), c.TakerQuote)
}

func packFloat(rows []byte, value float64) []byte {
	return binary.LittleEndian.AppendUint64(rows, math.Float64bits(value))
}

// member returns rows as a member of a message.
func (f form) member(rows []byte) json.RawMessage {
	if !f.Packed || len(rows) == 0 {
		return rows
	}
	text := make([]byte, 0, base64.StdEncoding.EncodedLen(len(rows))+2)
	return append(base64.StdEncoding.AppendEncode(append(text, '"'), rows), '"')
}

func appendFloat(text []byte, value float64) []byte {
	return strconv.AppendFloat(text, value, 'g', -1, 64)
}

// appendScaled adds a number with a given number of decimal places.
func appendScaled(text []byte, n int64, places int) []byte {
	if n < 0 {
		text, n = append(text, '-'), -n
	}
	start := len(text)
	text = strconv.AppendInt(text, n, 10)
	if places == 0 {
		return text
	}
	for len(text)-start <= places {
		text = append(text, 0)
		copy(text[start+1:], text[start:])
		text[start] = '0'
	}
	text = append(text, 0)
	point := len(text) - 1 - places
	copy(text[point+1:], text[point:])
	text[point] = '.'
	return text
}

// readRows reads candles that append wrote as text, one after another.
func readRows(rows []byte, s *exchange.Symbol, visit func(c *exchange.Candle)) error {
	rows = bytes.TrimSpace(rows)
	if len(rows) < 2 || rows[0] != '[' || rows[len(rows)-1] != ']' {
		return fmt.Errorf("candles are a list of rows")
	}
	rows = rows[1 : len(rows)-1]
	for len(rows) > 0 {
		from, to := bytes.IndexByte(rows, '['), bytes.IndexByte(rows, ']')
		if from < 0 || to < from {
			return fmt.Errorf("candles: a row does not end")
		}
		candle, err := readRow(rows[from+1:to], s)
		if err != nil {
			return err
		}
		visit(&candle)
		rows = rows[to+1:]
	}
	return nil
}

func readRow(row []byte, s *exchange.Symbol) (c exchange.Candle, err error) {
	cells := bytes.Split(row, []byte{','})
	if len(cells) != columns {
		return c, fmt.Errorf("a candle has %d numbers, not %d", columns, len(cells))
	}
	whole := func(i int, into *int64) {
		if err == nil {
			*into, err = strconv.ParseInt(string(bytes.TrimSpace(cells[i])), 10, 64)
		}
	}
	float := func(i int, into *float64) {
		if err == nil {
			*into, err = strconv.ParseFloat(string(bytes.TrimSpace(cells[i])), 64)
		}
	}
	whole(0, &c.OpenMS)
	for i, into := range []*exchange.Price{&c.Open, &c.High, &c.Low, &c.Close} {
		if err == nil {
			var n int64
			n, err = readScaled(bytes.TrimSpace(cells[1+i]), s.PriceScale)
			*into = exchange.Price(n)
		}
	}
	float(5, &c.Volume)
	float(6, &c.QuoteVolume)
	whole(7, &c.Trades)
	float(8, &c.TakerBase)
	float(9, &c.TakerQuote)
	return c, err
}

// readScaled reads a decimal number as an integer number of its smallest unit.
func readScaled(text []byte, places int) (int64, error) {
	whole, fraction, _ := bytes.Cut(text, []byte{'.'})
	if len(fraction) > places {
		return 0, fmt.Errorf("%s has more than %d decimal places", text, places)
	}
	digits := append(append(make([]byte, 0, len(whole)+places), whole...), fraction...)
	for range places - len(fraction) {
		digits = append(digits, '0')
	}
	n, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s is not a price", text)
	}
	return n, nil
}
