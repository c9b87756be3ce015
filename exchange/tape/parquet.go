package tape

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"botd/exchange"
)

// A Parquet file is converted to equivalent CSV, a header and one line per row, so that all checks
// and line numbers are the same for both. Row n of the file is reported as line n + 1.

// parquetAsCSV returns the file's rows as CSV.
func parquetAsCSV(path string) (io.ReadCloser, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, err
	}
	source, err := openParquet(path, file, info.Size())
	if err != nil {
		file.Close()
		return nil, err
	}
	reader, writer := io.Pipe()
	go func() {
		defer file.Close()
		writer.CloseWithError(source.write(writer))
	}()
	return reader, nil
}

// parquetFile is an open file and the formats of its columns.
type parquetFile struct {
	path    string
	file    *parquet.File
	names   []string
	numbers []numeric
	bytes   []bool // columns that hold byte arrays
}

func openParquet(path string, file io.ReaderAt, size int64) (p *parquetFile, err error) {
	defer rescue(path, &err)
	opened, err := parquet.OpenFile(file, size)
	if err != nil {
		return nil, &DataError{Path: path, What: "the Parquet file cannot be read: " + err.Error(), Hint: "was the download complete?"}
	}
	p = &parquetFile{path: path, file: opened}
	for _, column := range opened.Schema().Columns() {
		name := strings.Join(column, ".")
		leaf, found := opened.Schema().Lookup(column...)
		if !found || leaf.MaxRepetitionLevel > 0 {
			return nil, &DataError{Path: path, Column: name, What: fmt.Sprintf("column %s holds lists", name), Hint: "expected one number a row"}
		}
		p.names = append(p.names, name)
		p.numbers = append(p.numbers, numberOf(leaf.Node.Type()))
		kind := leaf.Node.Type().Kind()
		p.bytes = append(p.bytes, kind == parquet.ByteArray || kind == parquet.FixedLenByteArray)
	}
	return p, nil
}

// rescue turns a panic of the library on a broken file into an error.
func rescue(path string, err *error) {
	if caught := recover(); caught != nil {
		*err = &DataError{Path: path, What: fmt.Sprintf("the Parquet file is broken: %v", caught), Hint: "was the download complete?"}
	}
}

// numeric describes how to read a column's values as numbers.
type numeric struct {
	divide int64 // times in nanoseconds
	places int   // of decimals
	binary bool
}

func numberOf(t parquet.Type) numeric {
	n := numeric{divide: 1}
	if logical := t.LogicalType(); logical != nil {
		switch kind := logical.Value.(type) {
		case *format.TimestampType:
			if _, nanoseconds := kind.Unit.Value.(*format.NanoSeconds); nanoseconds {
				n.divide = 1_000
			}
		case *format.DecimalType:
			n.places, n.binary = int(kind.Scale), true
		}
	}
	return n
}

// text appends a value as text.
func (n *numeric) text(line []byte, value parquet.Value) []byte {
	integer := func(whole int64) []byte {
		if whole /= n.divide; n.places == 0 {
			return strconv.AppendInt(line, whole, 10)
		}
		return append(strconv.AppendInt(line, whole, 10), "e-"+strconv.Itoa(n.places)...)
	}
	if value.IsNull() {
		return line
	}
	switch value.Kind() {
	case parquet.Int32:
		return integer(int64(value.Int32()))
	case parquet.Int64:
		return integer(value.Int64())
	case parquet.Float:
		return strconv.AppendFloat(line, float64(value.Float()), 'f', -1, 32)
	case parquet.Double:
		return strconv.AppendFloat(line, value.Double(), 'f', -1, 64)
	}
	if n.binary {
		return append(append(line, signed(value.ByteArray()).String()...), "e-"+strconv.Itoa(n.places)...)
	}
	text := value.String()
	if strings.ContainsAny(text, ",\r\n") {
		return append(line, '?') // the parser refuses it as not a number
	}
	return append(line, text...)
}

// signed parses the big-endian two's complement in which Parquet stores long decimals.
func signed(bytes []byte) *big.Int {
	n := new(big.Int).SetBytes(bytes)
	if len(bytes) > 0 && bytes[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(bytes))))
	}
	return n
}

func (p *parquetFile) write(w io.Writer) error { return p.rows(w, math.MaxInt) }

// head returns the header and the first rows.
func (p *parquetFile) head() ([]byte, error) {
	var text bytes.Buffer
	err := p.rows(&text, headRows)
	return text.Bytes(), err
}

// rows writes the header and up to a number of rows.
func (p *parquetFile) rows(w io.Writer, most int) (err error) {
	defer rescue(p.path, &err)
	out := bufio.NewWriterSize(w, 1<<16)
	out.WriteString(strings.Join(p.names, ","))
	out.WriteByte('\n')
	rows := make([]parquet.Row, 512)
	for _, group := range p.file.RowGroups() {
		written, err := p.group(out, group, rows, most)
		if most -= written; err != nil {
			return err
		}
	}
	return out.Flush()
}

func (p *parquetFile) group(out *bufio.Writer, group parquet.RowGroup, rows []parquet.Row, most int) (written int, err error) {
	reader := group.Rows()
	defer reader.Close()
	var line []byte
	for written < most {
		n, err := reader.ReadRows(rows[:min(len(rows), most-written)])
		for _, row := range rows[:n] {
			line = line[:0]
			for _, value := range row {
				line = append(p.numbers[value.Column()].text(line, value), ',')
			}
			line[len(line)-1] = '\n'
			if _, err := out.Write(line); err != nil {
				return written, err
			}
		}
		written += n
		switch {
		case err == io.EOF:
			return written, nil
		case err != nil:
			return written, brokenParquet(p.path, err)
		}
	}
	return written, nil
}

func brokenParquet(path string, err error) error {
	return &DataError{Path: path, What: "the Parquet file is broken: " + err.Error(), Hint: "was the download complete?"}
}

// parquetRow is a candle of WriteParquet, with the contract's names.
type parquetRow struct {
	OpenTime    int64   `parquet:"open_time_ms,delta"`
	Open        float64 `parquet:"open"`
	High        float64 `parquet:"high"`
	Low         float64 `parquet:"low"`
	Close       float64 `parquet:"close"`
	Volume      float64 `parquet:"volume"`
	CloseTime   int64   `parquet:"close_time_ms,delta"`
	QuoteVolume float64 `parquet:"quote_volume"`
	Trades      int64   `parquet:"trades"`
	TakerBase   float64 `parquet:"taker_buy_base"`
	TakerQuote  float64 `parquet:"taker_buy_quote"`
}

// WriteParquet writes candles as Parquet with the contract's names. Prices are doubles, as every
// reader of such files expects. A price that a double cannot represent exactly is an error and is
// not rounded.
func WriteParquet(w io.Writer, candles *exchange.Candles, symbol *exchange.Symbol, step Step) error {
	writer := parquet.NewGenericWriter[parquetRow](w, parquet.Compression(&parquet.Zstd))
	rows := make([]parquetRow, 0, 4096)
	for i := range candles.Len() {
		candle := candles.At(i)
		row := parquetRow{OpenTime: candle.OpenMS, CloseTime: candles.CloseMS(i) - 1, Volume: candle.Volume, QuoteVolume: candle.QuoteVolume,
			Trades: candle.Trades, TakerBase: candle.TakerBase, TakerQuote: candle.TakerQuote}
		for k, price := range [...]exchange.Price{candle.Open, candle.High, candle.Low, candle.Close} {
			text := appendPrice(nil, int64(price), symbol.PriceScale)
			value, err := strconv.ParseFloat(string(text), 64)
			if err != nil || string(strconv.AppendFloat(nil, value, 'f', -1, 64)) != string(text) {
				return fmt.Errorf("candle %d: price %s has more digits than Parquet's doubles hold\nhint: export CSV", candle.OpenMS, text)
			}
			*[...]*float64{&row.Open, &row.High, &row.Low, &row.Close}[k] = value
		}
		if rows = append(rows, row); len(rows) == cap(rows) || i == candles.Len()-1 {
			if _, err := writer.Write(rows); err != nil {
				return err
			}
			rows = rows[:0]
		}
		if err := step.at(i, candles.Len()); err != nil {
			return err
		}
	}
	return writer.Close()
}

// WriteRows writes a table as Parquet. The tags of the row's struct name the columns.
func WriteRows[T any](w io.Writer, rows []T) error {
	writer := parquet.NewGenericWriter[T](w, parquet.Compression(&parquet.Zstd))
	if _, err := writer.Write(rows); err != nil {
		return err
	}
	return writer.Close()
}
