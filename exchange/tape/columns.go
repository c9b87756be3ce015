package tape

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	goruntime "runtime"
	"sync"

	"github.com/klauspost/compress/zstd"

	"botd/exchange"
)

// The file of columns: magic, length and checksum of the header, the header as JSON, then one zstd
// frame per column. An integer column is stored as differences in units of their greatest common
// divisor, by byte position: first all lowest bytes, then all second bytes, as many as the largest
// difference has. Prices move little from candle to candle, so one or two bytes of eight remain.
const (
	columnsMagic   = "botdcol1"
	columnsVersion = 1
	maxHeader      = 1 << 28
)

type columnsHeader struct {
	Interval exchange.Interval `json:"interval"`
	Scale    int               `json:"price_scale"`
	Candles  int               `json:"candles"`
	Columns  []columnHeader    `json:"columns"`
	Holes    []Hole            `json:"holes"`
	Repaired []string          `json:"repaired"`
	Warnings []string          `json:"warnings"`
}

// columnHeader describes a column; it is zero for an empty one.
type columnHeader struct {
	First  int64 `json:"first"`
	Unit   int64 `json:"unit"`   // of the differences
	Width  int   `json:"width"`  // bytes per difference
	Places int   `json:"places"` // floats: integers of 10^-places; -1 for the floats' bits
	Bytes  int   `json:"bytes"`  // size of the frame
}

// stored is the content of a file of columns.
type stored struct {
	header  columnsHeader
	scale   int
	candles *exchange.Candles
}

// columnsOf lists the columns in the file's order.
func columnsOf(c *exchange.Candles) (whole []*[]int64, prices []*[]exchange.Price, floats []*[]float64) {
	return []*[]int64{&c.OpenMS, &c.Trades}, []*[]exchange.Price{&c.Open, &c.High, &c.Low, &c.Close},
		[]*[]float64{&c.Volume, &c.QuoteVolume, &c.TakerBase, &c.TakerQuote}
}

const columnCount = 10

var encoder = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(true), zstd.WithEncoderConcurrency(1))
})

func writeColumns(w io.Writer, t *Tape) error {
	pack, err := encoder()
	if err != nil {
		return err
	}
	c := t.Candles
	header := columnsHeader{Interval: c.Interval, Scale: t.Symbol.PriceScale, Candles: c.Len(), Holes: t.Holes, Repaired: t.Repaired, Warnings: t.Warnings}
	var frames []byte
	numbers := make([]int64, c.Len())
	add := func(column columnHeader) {
		before := len(frames)
		frames = pack.EncodeAll(planes(numbers, &column), frames)
		column.Bytes = len(frames) - before
		header.Columns = append(header.Columns, column)
	}
	whole, prices, floats := columnsOf(c)
	for _, column := range whole {
		numbers = numbers[:copy(numbers[:cap(numbers)], *column)]
		add(columnHeader{})
	}
	for _, column := range prices {
		numbers = numbers[:len(*column)]
		for i, price := range *column {
			numbers[i] = int64(price)
		}
		add(columnHeader{})
	}
	for _, column := range floats {
		numbers = numbers[:len(*column)]
		add(columnHeader{Places: wholes(*column, numbers)})
	}
	text, err := json.Marshal(&header)
	if err != nil {
		return err
	}
	start := append([]byte(columnsMagic), make([]byte, 8)...)
	binary.LittleEndian.PutUint32(start[8:], uint32(len(text)))
	binary.LittleEndian.PutUint32(start[12:], crc32.ChecksumIEEE(text))
	for _, part := range [][]byte{start, text, frames} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// planes returns a column's differences as bytes and sets the parameters for reading them.
func planes(numbers []int64, column *columnHeader) []byte {
	n := len(numbers)
	if n == 0 {
		return nil
	}
	column.First, column.Unit = numbers[0], 0
	for i := 1; i < n && column.Unit != 1; i++ {
		column.Unit = divisor(column.Unit, numbers[i]-numbers[i-1])
	}
	column.Unit = max(1, column.Unit)
	largest := uint64(0)
	for i := 1; i < n; i++ {
		largest |= zigzag((numbers[i] - numbers[i-1]) / column.Unit)
	}
	for column.Width = 0; largest>>(8*column.Width) > 0 && column.Width < 8; column.Width++ {
	}
	bytes := make([]byte, column.Width*n)
	for i := 1; i < n; i++ {
		value := zigzag((numbers[i] - numbers[i-1]) / column.Unit)
		for plane := range column.Width {
			bytes[plane*n+i] = byte(value >> (8 * plane))
		}
	}
	return bytes
}

// divisor returns the greatest common divisor of two numbers, either of which may be zero. A
// difference that wrapped around has only the divisor 1.
func divisor(a, b int64) int64 {
	if a == math.MinInt64 || b == math.MinInt64 {
		return 1
	}
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

func zigzag(n int64) uint64      { return uint64(n<<1) ^ uint64(n>>63) }
func unzigzag(u uint64) int64    { return int64(u>>1) ^ -int64(u&1) }
func powerOf(places int) float64 { return float64(exchange.PowerOf10(places)) }

// wholes stores floats as integers of that many decimal places if they are exact, else as their
// bits.
func wholes(floats []float64, into []int64) (places int) {
	const exact = 1 << 53
	for places = 0; places <= 8; places++ {
		unit := powerOf(places)
		fits := true
		for i, f := range floats {
			n := math.Round(f * unit)
			if !(math.Abs(n) < exact) || n/unit != f || math.Signbit(f) && f == 0 {
				fits = false
				break
			}
			into[i] = int64(n)
		}
		if fits {
			return places
		}
	}
	for i, f := range floats {
		into[i] = int64(math.Float64bits(f))
	}
	return -1
}

var errColumns = errors.New("the file of columns is broken")

// readColumns reads a file of columns, all columns in parallel.
func readColumns(path string) (*stored, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(data) < 16 || string(data[:8]) != columnsMagic {
		return nil, errColumns
	}
	length := int(binary.LittleEndian.Uint32(data[8:]))
	if length > maxHeader || 16+length > len(data) || crc32.ChecksumIEEE(data[16:16+length]) != binary.LittleEndian.Uint32(data[12:]) {
		return nil, errColumns
	}
	s := &stored{candles: &exchange.Candles{}}
	if err := json.Unmarshal(data[16:16+length], &s.header); err != nil {
		return nil, fmt.Errorf("%w: %w", errColumns, err)
	}
	h := &s.header
	s.scale, s.candles.Interval = h.Scale, h.Interval
	if len(h.Columns) != columnCount || h.Candles < 1 || h.Candles > maxCandles {
		return nil, errColumns
	}
	if err := s.unpack(data[16+length:]); err != nil {
		return nil, err
	}
	return s, nil
}

// unpack fills the columns, in parallel on all processors.
func (s *stored) unpack(frames []byte) error {
	unpacker, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(8*maxCandles), zstd.WithDecoderConcurrency(0))
	if err != nil {
		return err
	}
	defer unpacker.Close()
	whole, prices, floats := columnsOf(s.candles)
	var (
		group sync.WaitGroup
		errs  [columnCount]error
		at    int
		slots = make(chan struct{}, goruntime.GOMAXPROCS(0))
	)
	for i := range s.header.Columns {
		column := &s.header.Columns[i]
		if column.Bytes < 0 || column.Bytes > len(frames)-at || column.Width < 0 || column.Width > 8 || column.Places > 8 {
			errs[i] = errColumns
			break
		}
		frame := frames[at : at+column.Bytes]
		at += column.Bytes
		if column.Unit == 0 {
			continue // the file has no such column
		}
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			n := s.header.Candles
			switch {
			case i < len(whole):
				*whole[i], errs[i] = sums[int64](unpacker, frame, column, n)
			case i < len(whole)+len(prices):
				*prices[i-len(whole)], errs[i] = sums[exchange.Price](unpacker, frame, column, n)
			default:
				*floats[i-len(whole)-len(prices)], errs[i] = fractions(unpacker, frame, column, n)
			}
		})
	}
	group.Wait()
	return errors.Join(errs[:]...)
}

// sums reads a column's differences and accumulates them.
func sums[T ~int64](unpacker *zstd.Decoder, frame []byte, column *columnHeader, n int) ([]T, error) {
	numbers := make([]T, n)
	return numbers, column.each(unpacker, frame, n, func(from int, values []int64) {
		for i, value := range values {
			numbers[from+i] = T(value)
		}
	})
}

// fractions reads a column of floats.
func fractions(unpacker *zstd.Decoder, frame []byte, column *columnHeader, n int) ([]float64, error) {
	floats := make([]float64, n)
	unit := powerOf(max(0, column.Places))
	return floats, column.each(unpacker, frame, n, func(from int, values []int64) {
		for i, value := range values {
			if column.Places < 0 {
				floats[from+i] = math.Float64frombits(uint64(value))
			} else {
				floats[from+i] = float64(value) / unit
			}
		}
	})
}

// each unpacks a column and passes its values on in parts, so that only the final form of the
// column is in memory.
func (c *columnHeader) each(unpacker *zstd.Decoder, frame []byte, n int, visit func(from int, values []int64)) error {
	bytes, err := unpacker.DecodeAll(frame, make([]byte, 0, c.Width*n))
	if err != nil {
		return fmt.Errorf("%w: %w", errColumns, err)
	}
	if len(bytes) != c.Width*n {
		return errColumns
	}
	var part [1024]int64
	value := c.First
	for from := 0; from < n; from += len(part) {
		values := part[:min(len(part), n-from)]
		clear(values)
		for plane := range c.Width {
			shift := 8 * plane
			for i, b := range bytes[plane*n+from : plane*n+from+len(values)] {
				values[i] |= int64(uint64(b) << shift)
			}
		}
		for i := range values {
			value += unzigzag(uint64(values[i])) * c.Unit // the first difference is 0
			values[i] = value
		}
		visit(from, values)
	}
	return nil
}
