package tape

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
)

// TestColumnsAreStoredInFewBytes checks, for columns, the unit of their differences and the bytes per
// difference.
func TestColumnsAreStoredInFewBytes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		numbers []int64
		unit    int64
		width   int
	}{
		{[]int64{5}, 1, 0}, {[]int64{5, 5, 5}, 1, 0}, {[]int64{1704067200000, 1704067260000, 1704067380000}, 60_000, 1}, {[]int64{0, 12, -6}, 6, 1},
		{[]int64{0, 1, 128}, 1, 1}, {[]int64{0, 1, 129}, 1, 2}, {[]int64{0, 1, -127}, 1, 1}, {[]int64{0, 1, -128}, 1, 2}, {[]int64{0, 1, 32768}, 1, 2},
		{[]int64{0, 1, 32769}, 1, 3}, {[]int64{0, 1, 1 << 62}, 1, 8}, {[]int64{math.MaxInt64, math.MinInt64, 0}, 1, 8}, {[]int64{0, math.MinInt64, 0}, 1, 8},
	} {
		var column columnHeader
		bytes := planes(c.numbers, &column)
		if column.First != c.numbers[0] || column.Unit != c.unit || column.Width != c.width || len(bytes) != c.width*len(c.numbers) {
			t.Errorf("%v: want units of %d in %d bytes, have %+v in %d altogether", c.numbers, c.unit, c.width, column, len(bytes))
		}
	}
	for _, c := range [][3]int64{{0, 0, 0}, {0, 5, 5}, {5, 0, 5}, {-5, 0, 5}, {12, 18, 6}, {12, -18, 6}, {-12, 18, 6}, {7, 5, 1}, {math.MinInt64, 6, 1},
		{6, math.MinInt64, 1}} {
		if have := divisor(c[0], c[1]); have != c[2] {
			t.Errorf("%d and %d: want a divisor of %d, have %d", c[0], c[1], c[2], have)
		}
	}
	for _, c := range []struct {
		floats []float64
		places int // -1: bits
		want   []int64
	}{
		{[]float64{0}, 0, []int64{0}}, {[]float64{7, 8}, 0, []int64{7, 8}}, {[]float64{0.5, 1.25}, 2, []int64{50, 125}}, {[]float64{-1.5}, 1, []int64{-15}},
		{[]float64{0.00000001}, 8, []int64{1}}, {[]float64{1 << 53}, -1, nil}, {[]float64{1<<53 - 1}, 0, []int64{1<<53 - 1}},
		{[]float64{math.Copysign(0, -1)}, -1, nil}, {[]float64{1, 0.000000001}, -1, nil}, {[]float64{math.NaN()}, -1, nil}, {[]float64{math.Inf(1)}, -1, nil},
	} {
		numbers := make([]int64, len(c.floats))
		places := wholes(c.floats, numbers)
		if c.places < 0 {
			c.want = nil
			for _, f := range c.floats {
				c.want = append(c.want, int64(math.Float64bits(f)))
			}
		}
		if places != c.places || !slices.Equal(numbers, c.want) {
			t.Errorf("%v: want %v with %d places, have %v with %d", c.floats, c.want, c.places, numbers, places)
		}
	}
}

// TestAWrongFileOfColumnsIsRefused covers headers that are wrong although their checksum is right, and one that is right.
func TestAWrongFileOfColumnsIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.columns")
	read := func(magic string, length int, header []byte, frames string) error {
		start := append([]byte(magic), make([]byte, 8)...)
		binary.LittleEndian.PutUint32(start[8:], uint32(length))
		binary.LittleEndian.PutUint32(start[12:], crc32.ChecksumIEEE(header))
		if err := os.WriteFile(path, append(append(start, header...), frames...), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := readColumns(path)
		return err
	}
	with := func(change func(h *columnsHeader)) []byte {
		h := columnsHeader{Interval: exchange.Minute1, Candles: 1, Columns: make([]columnHeader, columnCount)}
		change(&h)
		text, err := json.Marshal(&h)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for name, c := range map[string]struct {
		change func(h *columnsHeader)
		right  bool
	}{
		"no column has numbers": {func(*columnsHeader) {}, true},
		"nine columns":          {func(h *columnsHeader) { h.Columns = h.Columns[1:] }, false},
		"eleven columns":        {func(h *columnsHeader) { h.Columns = append(h.Columns, columnHeader{}) }, false},
		"no candles":            {func(h *columnsHeader) { h.Candles = 0 }, false},
		"the most candles":      {func(h *columnsHeader) { h.Candles = 100_000_000 }, true},
		"one more":              {func(h *columnsHeader) { h.Candles = 100_000_001 }, false},
		"less than no bytes":    {func(h *columnsHeader) { h.Columns[3].Bytes = -1 }, false},
		"all bytes":             {func(h *columnsHeader) { h.Columns[3].Bytes = 4 }, true},
		"more than there are":   {func(h *columnsHeader) { h.Columns[3].Bytes = 5 }, false},
		"more in two":           {func(h *columnsHeader) { h.Columns[3].Bytes, h.Columns[5].Bytes = 3, 2 }, false},
		"eight bytes a number":  {func(h *columnsHeader) { h.Columns[3].Width = 8 }, true},
		"nine":                  {func(h *columnsHeader) { h.Columns[3].Width = 9 }, false},
		"less than none":        {func(h *columnsHeader) { h.Columns[3].Width = -1 }, false},
		"eight places":          {func(h *columnsHeader) { h.Columns[9].Places = 8 }, true},
		"nine places":           {func(h *columnsHeader) { h.Columns[9].Places = 9 }, false},
		"a frame that is none":  {func(h *columnsHeader) { h.Columns[0].Bytes, h.Columns[0].Unit = 4, 1 }, false},
	} {
		header := with(c.change)
		if err := read(columnsMagic, len(header), header, "abcd"); (err == nil) != c.right {
			t.Errorf("%s: want it right %t, have %v", name, c.right, err)
		}
	}
	header := with(func(*columnsHeader) {})
	for name, err := range map[string]error{
		"another magic":      read("botdcol2", len(header), header, ""),
		"a longer header":    read(columnsMagic, len(header)+1, header, ""),
		"a shorter one":      read(columnsMagic, len(header)-1, header, ""),
		"a header of 256 MB": read(columnsMagic, 1<<28+1, header, ""),
		"no JSON":            read(columnsMagic, 1, []byte("{"), ""),
	} {
		if !errors.Is(err, errColumns) {
			t.Errorf("%s: want %v, have %v", name, errColumns, err)
		}
	}
	if err := os.WriteFile(path, []byte(columnsMagic+"\x00\x00\x00\x00\x00\x00\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readColumns(path); !errors.Is(err, errColumns) {
		t.Errorf("15 bytes: want %v, have %v", errColumns, err)
	}
}

// TestFilesThatCannotBeReadAreNamed covers a file that is missing where a cache looks for it, and one without a header to keep.
func TestFilesThatCannotBeReadAreNamed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.csv")
	if sha, err := hashFile(path); sha != "" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: want %v, have %q, %v", fs.ErrNotExist, sha, err)
	}
	if err := cutFront(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: want %v, have %v", fs.ErrNotExist, err)
	}
	if err := os.WriteFile(path, []byte("no newline"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := cutFront(path); err == nil || !strings.Contains(err.Error(), path+": read its header: ") {
		t.Errorf("no header: have %v", err)
	}
	// The digest of "no newline" is sha256sum's.
	if sha, err := hashFile(path); sha != "84629f9a7125f5b50e9767df4fea1e93b34462b57bd35a12ebca2b52520f5c84" || err != nil {
		t.Errorf("have %s, %v", sha, err)
	}
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(file.Truncate(8<<30+1), file.Close()); err != nil {
		t.Skipf("a file with a hole of 8 GiB cannot be made here: %v", err)
	}
	want := fmt.Sprintf("%s: 8589934593 bytes are more than 8589934592\nhint: split the file", path)
	if _, err := LoadCandles(path, nil, 0, Options{}); err == nil || err.Error() != want {
		t.Errorf("want %s, have %v", want, err)
	}
}
