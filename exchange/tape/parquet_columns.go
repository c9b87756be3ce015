package tape

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"sync"

	"github.com/parquet-go/parquet-go"

	"botd/exchange"
)

// A Parquet file in the store's own format is read by columns. Separate goroutines decode them, and
// numbers are not converted to text and back. Its first rows, which determine columns, scale and
// interval, and every row that is not a plain successor of the previous candle still go through the
// equivalent CSV, so the checks and errors are the same.

const (
	batchRows = 4096
	headRows  = 1024 // more than preview examines
	batches   = 2    // per column, in flight
)

// batch is the next rows of all columns.
type batch struct {
	rows   int
	first  int // index of the first row to take; the head contained the earlier ones
	layout layout
	parts  []*part // by the layout; nil for a skipped column
}

// part is the next rows of one column.
type part struct {
	values []parquet.Value
	whole  []int64 // times, prices in units, counts
	real   []float64
	asText []bool // the number must be parsed by slow
	reader *columnReader
}

// columnReader decodes one column.
type columnReader struct {
	index  int
	column column
	number numeric
	bytes  bool // its values are byte arrays
	scale  int
	parts  chan *part
	free   chan *part
	err    error // set before parts is closed
}

// columns reads a Parquet file in the store's own form. It reports whether it was one.
func (f *feed) columns(path string, file *os.File, size int64) (read bool, err error) {
	var magic [4]byte
	if _, err := file.ReadAt(magic[:], 0); err != nil || string(magic[:]) != "PAR1" {
		return false, nil
	}
	source, err := openParquet(path, file, size)
	if err != nil {
		return false, err
	}
	head, err := source.head()
	if err != nil {
		return false, err
	}
	layout, ok := source.layout(head, f.given)
	if !ok {
		return false, nil
	}
	total := int(source.file.NumRows())
	sum := make(chan string, 1)
	var unhashed error
	go func() {
		sha, err := hashFile(path)
		unhashed = err
		sum <- sha
	}()
	if err := f.send(block{data: append(head, make([]byte, padding)...)[:len(head)], total: total}); err != nil {
		return true, err
	}
	if err := f.batches(source, layout, size, total); err != nil {
		return true, err
	}
	f.sha = <-sum
	return true, unhashed
}

func (f *feed) send(b block) error {
	select {
	case f.blocks <- b:
		return nil
	case <-f.stop:
		return errStopped
	}
}

// layout returns the meaning of the columns if the parser can read them directly.
func (p *parquetFile) layout(head []byte, given string) (layout, bool) {
	if !native(head, given) {
		return nil, false
	}
	first, _, _ := bytes.Cut(head, []byte{'\n'})
	line := string(first)
	known, isRow, err := layoutOf(p.path, line)
	if given != "" {
		known, isRow, err = layoutGiven(given, line)
	}
	return known, err == nil && !isRow && len(known) == len(p.names)
}

// batches reads the columns in parallel.
func (f *feed) batches(p *parquetFile, layout layout, size int64, total int) error {
	var group sync.WaitGroup
	defer group.Wait()
	stop := make(chan struct{})
	defer close(stop)
	readers := make([]*columnReader, len(layout))
	for i, c := range layout {
		if c == skipped {
			continue
		}
		r := &columnReader{index: i, column: c, number: p.numbers[i], bytes: p.bytes[i], scale: f.scale,
			parts: make(chan *part, batches), free: make(chan *part, batches)}
		for range batches {
			r.free <- &part{reader: r, values: make([]parquet.Value, batchRows), whole: make([]int64, batchRows), real: make([]float64, batchRows),
				asText: make([]bool, batchRows)}
		}
		readers[i] = r
		group.Go(func() {
			defer close(r.parts)
			r.err = r.read(p, stop)
		})
	}
	for done := 0; done < total; {
		b := &batch{layout: layout, parts: make([]*part, len(layout)), rows: min(batchRows, total-done)}
		b.first = max(0, min(headRows-done, b.rows))
		for i, r := range readers {
			if r == nil {
				continue
			}
			var next *part
			var open bool
			select {
			case next, open = <-r.parts:
			case <-f.stop:
				return errStopped
			}
			if !open || len(next.values) != b.rows {
				return errors.Join(r.err, brokenParquet(p.path, errors.New("its columns have different lengths")))
			}
			b.parts[i] = next
		}
		done += b.rows
		if err := f.send(block{batch: b, done: int64(float64(size) * float64(done) / float64(total))}); err != nil {
			return err
		}
	}
	return nil
}

// read decodes the column in parts of batchRows.
func (r *columnReader) read(p *parquetFile, stop <-chan struct{}) (err error) {
	defer rescue(p.path, &err)
	var present *part
	filled := 0
	flush := func() {
		present.values = present.values[:filled]
		present.convert()
		r.parts <- present // there is room, because at most batches parts exist
		present, filled = nil, 0
	}
	for _, group := range p.file.RowGroups() {
		pages := group.ColumnChunks()[r.index].Pages()
		err := eachPage(pages, func(values parquet.ValueReader) error {
			for {
				if present == nil {
					select {
					case present = <-r.free:
						present.values = present.values[:batchRows]
					case <-stop:
						return errStopped
					}
				}
				n, err := values.ReadValues(present.values[filled:])
				if r.bytes {
					for i := filled; i < filled+n; i++ {
						present.values[i] = present.values[i].Clone() // the page is reused
					}
				}
				if filled += n; filled == batchRows {
					flush()
				}
				if err != nil {
					return err
				}
			}
		})
		if err != nil {
			return brokenParquet(p.path, err)
		}
	}
	if filled > 0 {
		flush()
	}
	return nil
}

func eachPage(pages parquet.Pages, read func(parquet.ValueReader) error) error {
	defer pages.Close()
	for {
		page, err := pages.ReadPage()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		err = read(page.Values())
		parquet.Release(page)
		if err != io.EOF {
			return err
		}
	}
}

// convert reads the values as the numbers that their texts would be.
func (p *part) convert() {
	c, n := p.reader, len(p.values)
	whole, reals, asText := p.whole[:n], p.real[:n], p.asText[:n]
	for i := range p.values {
		v, ok := &p.values[i], false
		whole[i], reals[i] = 0, 0
		switch kind := v.Kind(); {
		case v.IsNull():
			ok = c.column > filled
		case kinds[c.column] == real && kind == parquet.Double:
			reals[i] = v.Double()
			ok = plain(reals[i])
		case kinds[c.column] == real:
			reals[i], ok = c.number.real(v)
		case kinds[c.column] == price:
			whole[i], ok = c.number.price(v, c.scale)
		default:
			whole[i], ok = c.number.whole(v)
		}
		asText[i] = !ok
	}
}

// exactDigits is the maximum number of digits for which different decimals have different float64
// values.
const exactDigits = 1e15

// plain reports whether a float is a possible number in a candle file.
func plain(f float64) bool {
	return f >= 0 && f < exactDigits && (f > 1e-15 || f == 0) && !math.Signbit(f)
}

func (n *numeric) integer(v *parquet.Value) (value int64, ok bool) {
	switch {
	case n.binary && n.places == 0:
	case v.Kind() == parquet.Int64:
		value, ok = v.Int64()/n.divide, v.Int64() >= 0
	case v.Kind() == parquet.Int32:
		value, ok = int64(v.Int32())/n.divide, v.Int32() >= 0
	}
	return value, ok && value < int64(exchange.PowerOf10(maxDigits))
}

func (n *numeric) whole(v *parquet.Value) (int64, bool) {
	if v.Kind() == parquet.Double {
		f := v.Double()
		return int64(f), plain(f) && f == math.Trunc(f)
	}
	value, ok := n.integer(v)
	return value, ok && n.places == 0
}

// price returns units of 10^-scale. A double represents the nearest decimal of at most 15 digits;
// any other is parsed from its text.
func (n *numeric) price(v *parquet.Value, scale int) (int64, bool) {
	if v.Kind() == parquet.Double {
		f := v.Double()
		if !plain(f) || scale > maxDigits {
			return 0, false
		}
		value := math.Floor(float64(f*exchange.FloatPowerOf10(scale)) + 0.5)
		return int64(value), value < exactDigits && value/exchange.FloatPowerOf10(scale) == f
	}
	value, ok := n.integer(v)
	if !ok || n.places > maxDigits {
		return 0, false
	}
	return units(uint64(value), n.places, scale)
}

func (n *numeric) real(v *parquet.Value) (float64, bool) {
	value, ok := n.integer(v)
	if !ok || value > 1<<53 || n.places > maxDigits {
		return 0, false
	}
	return float64(value) / exchange.FloatPowerOf10(n.places), true
}

// line returns a row as CSV.
func (b *batch) line(row int) (line []byte) {
	if row >= b.rows {
		return nil
	}
	for _, part := range b.parts {
		if part != nil {
			line = part.reader.number.text(line, part.values[row])
		}
		line = append(line, ',')
	}
	line[len(line)-1] = '\n'
	return line
}

// release returns the parts to their readers.
func (b *batch) release() {
	for _, part := range b.parts {
		if part != nil {
			part.reader.free <- part // there is room, because the part came from there
		}
	}
}

// batch parses the rows of a batch.
func (p *parser) batch(b *batch) (finer int, err error) {
	p.reserve(b.rows-b.first, 0)
	for i := b.first; i < b.rows; i++ {
		if !p.storePlain(b, i) {
			line := b.line(i)
			if finer, err = p.slow(line[:len(line)-1], b.line(i+1)); err != nil || finer > 0 {
				return finer, err
			}
		}
		p.line += p.step
	}
	return 0, nil
}

// storePlain stores a row that is a plain successor of the previous candle, and leaves any other to slow.
func (p *parser) storePlain(b *batch, i int) bool {
	for k, c := range b.layout {
		part := b.parts[k]
		switch {
		case c == skipped:
		case part.asText[i]:
			return false
		case kinds[c] == real:
			p.row.real[c] = part.real[i]
		default:
			p.row.whole[c] = part.whole[i]
		}
	}
	if !p.next() {
		return false
	}
	p.keep()
	return true
}
