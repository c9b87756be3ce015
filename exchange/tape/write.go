package tape

import (
	"bufio"
	"io"
	"strconv"

	"botd/exchange"
)

// Step is called with the progress of writing; an error stops the writing. It may be nil.
type Step func(done, total int) error

// stepRows is the number of candles between two calls of Step.
const stepRows = 1 << 14

func (s Step) at(i, total int) error {
	if s == nil || (i+1)%stepRows != 0 {
		return nil
	}
	return s(i+1, total)
}

// WriteCSV writes candles in the format of LoadCandles: exact prices, and empty fields for columns
// that the candles lack.
func WriteCSV(w io.Writer, candles *exchange.Candles, symbol *exchange.Symbol, step Step) error {
	out := bufio.NewWriterSize(w, 1<<16)
	out.WriteString(header)
	out.WriteByte('\n')
	var line []byte
	for i := range candles.Len() {
		line = appendRow(line[:0], candles, i, symbol.PriceScale)
		if _, err := out.Write(line); err != nil {
			return err
		}
		if err := step.at(i, candles.Len()); err != nil {
			return err
		}
	}
	return out.Flush()
}

func appendRow(line []byte, c *exchange.Candles, i, scale int) []byte {
	line = strconv.AppendInt(line, c.OpenMS[i], 10)
	for _, price := range [...]exchange.Price{c.Open[i], c.High[i], c.Low[i], c.Close[i]} {
		line = appendPrice(append(line, ','), int64(price), scale)
	}
	line = strconv.AppendFloat(append(line, ','), c.Volume[i], 'f', -1, 64)
	line = strconv.AppendInt(append(line, ','), c.CloseMS(i)-1, 10)
	line = append(line, ',')
	if len(c.QuoteVolume) > 0 {
		line = strconv.AppendFloat(line, c.QuoteVolume[i], 'f', -1, 64)
	}
	line = append(line, ',')
	if len(c.Trades) > 0 {
		line = strconv.AppendInt(line, c.Trades[i], 10)
	}
	if len(c.TakerBase) == 0 {
		return append(line, ",,\n"...)
	}
	line = strconv.AppendFloat(append(line, ','), c.TakerBase[i], 'f', -1, 64)
	line = strconv.AppendFloat(append(line, ','), c.TakerQuote[i], 'f', -1, 64)
	return append(line, '\n')
}

// appendPrice writes a number in units of 10^-scale without trailing zeros.
func appendPrice(line []byte, price int64, scale int) []byte {
	for scale > 0 && price%10 == 0 {
		price, scale = price/10, scale-1
	}
	if scale == 0 {
		return strconv.AppendInt(line, price, 10)
	}
	unit := int64(exchange.PowerOf10(scale))
	line = append(strconv.AppendInt(line, price/unit, 10), '.')
	fraction := len(line)
	line = strconv.AppendInt(line, price%unit+unit, 10) // the unit's own digit keeps the leading zeros
	return append(line[:fraction], line[fraction+1:]...)
}
