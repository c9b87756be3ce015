package foreign

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// featherColumn describes the storage of a column's values.
type featherColumn struct {
	name    string
	buffers int // buffers per batch: a validity bitmap, possibly offsets, and the values
	append  func(rows []byte, from *featherValues, i int) []byte
}

// The types of Arrow's Schema.fbs that occur in candle files.
const (
	featherNull      = 1
	featherWhole     = 2
	featherFloat     = 3
	featherText      = 5
	featherFlag      = 6
	featherDate      = 8
	featherTimestamp = 10
	featherLargeText = 20
)

// featherColumns reads the schema.
func featherColumns(schema table) (columns []featherColumn, err error) {
	count, begin := schema.list(1)
	for i := range count {
		field := table{schema.Table}
		field.Pos = field.Indirect(begin + flatbuffers.UOffsetT(4*i))
		column := featherColumn{buffers: 2}
		if o := field.offset(0); o != 0 {
			column.name = string(field.ByteVector(o + field.Pos))
		}
		about, _ := field.table(3)
		if _, encoded := field.table(4); encoded {
			return nil, fmt.Errorf("column %s contains categories", column.name)
		}
		if !column.understand(field.byte(2), about) {
			return nil, fmt.Errorf("column %s contains neither numbers nor times nor text (Arrow type %d)", column.name, field.byte(2))
		}
		columns = append(columns, column)
	}
	if !slices.ContainsFunc(columns, func(c featherColumn) bool { return c.buffers > 0 }) {
		return nil, ErrUnknown // otherwise nothing would bound the number of rows
	}
	return columns, nil
}

// understand selects the formatter for the values of a type.
func (c *featherColumn) understand(kind byte, about table) bool {
	switch kind {
	case featherNull:
		c.buffers, c.append = 0, func(rows []byte, _ *featherValues, _ int) []byte { return rows }
	case featherFlag:
		c.append = func(rows []byte, from *featherValues, i int) []byte {
			return strconv.AppendInt(rows, int64(from.data[i/8]>>(i%8)&1), 10)
		}
	case featherWhole:
		bits, signed := about.GetInt32Slot(4, 0), about.byte(1) != 0
		c.append = func(rows []byte, from *featherValues, i int) []byte {
			if n := from.whole(i, int(bits)/8); signed {
				return strconv.AppendInt(rows, n<<(64-bits)>>(64-bits), 10)
			} else {
				return strconv.AppendUint(rows, uint64(n), 10)
			}
		}
		return bits == 8 || bits == 16 || bits == 32 || bits == 64
	case featherFloat:
		precision := about.short(0, 0)
		c.append = func(rows []byte, from *featherValues, i int) []byte {
			if precision == 1 {
				return appendFloat(rows, float64(math.Float32frombits(uint32(from.whole(i, 4)))), 32)
			}
			return appendFloat(rows, math.Float64frombits(uint64(from.whole(i, 8))), 64)
		}
		return precision == 1 || precision == 2
	case featherText, featherLargeText:
		c.buffers = 3
		c.append = func(rows []byte, from *featherValues, i int) []byte {
			size := 4 * (1 + int(kind/featherLargeText))
			begin, end := wholeAt(from.ends, i, size), wholeAt(from.ends, i+1, size)
			return append(rows, plain(string(from.data[begin:end]))...)
		}
	case featherDate:
		if about.short(0, 1) == 0 {
			c.append = appendTime(4, func(n int64) time.Time { return time.Unix(int64(int32(n))*86_400, 0) })
		} else {
			c.append = appendTime(8, time.UnixMilli)
		}
	case featherTimestamp:
		of, known := map[int16]func(int64) time.Time{0: func(n int64) time.Time { return time.Unix(n, 0) }, 1: time.UnixMilli, 2: time.UnixMicro,
			3: func(n int64) time.Time { return time.Unix(0, n) }}[about.short(0, 0)]
		c.append = appendTime(8, of)
		return known
	default:
		return false
	}
	return true
}

func appendFloat(rows []byte, number float64, bits int) []byte {
	if math.IsNaN(number) {
		return rows
	}
	return strconv.AppendFloat(rows, number, 'f', -1, bits)
}

func appendTime(size int, of func(int64) time.Time) func([]byte, *featherValues, int) []byte {
	return func(rows []byte, from *featherValues, i int) []byte {
		return of(from.whole(i, size)).UTC().AppendFormat(rows, "2006-01-02T15:04:05.000Z")
	}
}

// featherValues are a column's buffers in one batch.
type featherValues struct{ present, ends, data []byte }

func (v *featherValues) read(buffers int, next func() ([]byte, error)) (err error) {
	all := []*[]byte{&v.present, &v.ends, &v.data}
	if buffers < len(all) {
		all = []*[]byte{&v.present, &v.data}[:buffers]
	}
	for _, buffer := range all {
		if *buffer, err = next(); err != nil {
			return err
		}
	}
	return nil
}

// has reports whether value i is present: one bit per value, or no bits if all are present.
func (v *featherValues) has(i int) bool { return len(v.present) == 0 || v.present[i/8]>>(i%8)&1 == 1 }

func (v *featherValues) whole(i, size int) int64 { return wholeAt(v.data, i, size) }

// wholeAt returns the i-th unsigned number of a given width.
func wholeAt(data []byte, i, size int) int64 {
	switch at := data[i*size:]; size {
	case 1:
		return int64(at[0])
	case 2:
		return int64(binary.LittleEndian.Uint16(at))
	case 4:
		return int64(binary.LittleEndian.Uint32(at))
	default:
		return int64(binary.LittleEndian.Uint64(at))
	}
}

// unpack returns a buffer's bytes, up to a maximum. A length precedes compressed bytes; -1 means
// that they are not compressed.
func unpack(raw []byte, codec byte, most int) ([]byte, error) {
	const (
		lz4Frame, zstandard = 0, 1
		prefix              = 8
	)
	size := int64(binary.LittleEndian.Uint64(raw))
	raw = raw[prefix:]
	switch {
	case size == -1:
		return raw, nil
	case size < 0:
		return nil, errFeatherCut
	case size > int64(most):
		return nil, errTooLarge
	case codec == zstandard:
		decoder, err := zstandardDecoder()
		if err != nil {
			return nil, err
		}
		out, err := decoder.DecodeAll(raw, nil)
		if err == nil && int64(len(out)) != size {
			err = errFeatherCut
		}
		return out, err
	case codec != lz4Frame:
		return nil, fmt.Errorf("compressed with an unknown codec (%d)", codec)
	}
	var out bytes.Buffer // it grows as bytes arrive, because the stated size may be wrong
	if n, err := io.Copy(&out, io.LimitReader(lz4.NewReader(bytes.NewReader(raw)), size+1)); err != nil || n != size {
		return nil, errFeatherCut
	}
	return out.Bytes(), nil
}

var zstandardDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxFile), zstd.WithDecoderConcurrency(1))
})
