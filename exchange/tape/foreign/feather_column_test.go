package foreign

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// aboutOf returns the table of a type in Arrow's Schema.fbs with an int32, a bool and an int16 in its first fields.
func aboutOf(whole int32, flag bool, short int16) table {
	b := flatbuffers.NewBuilder(64)
	b.StartObject(2)
	if whole != 0 {
		b.PrependInt32Slot(0, whole, 0)
	} else {
		b.PrependInt16Slot(0, short, -1)
	}
	b.PrependBoolSlot(1, flag, false)
	b.Finish(b.EndObject())
	return root(b.FinishedBytes())
}

// TestEachTypeOfAColumnIsRead formats values of each type in Arrow's Columnar.rst: little endian, one bit per flag, offsets
// before texts, days or milliseconds of dates, and the unit of a timestamp.
func TestEachTypeOfAColumnIsRead(t *testing.T) {
	t.Parallel()
	bits := func(size int, values ...uint64) (data []byte) {
		for _, v := range values {
			data = append(data, binary.LittleEndian.AppendUint64(nil, v)[:size]...)
		}
		return data
	}
	const second = 1704164645
	for _, c := range []struct {
		name    string
		kind    byte
		about   table
		buffers int
		ends    []byte
		data    []byte
		want    []string
	}{
		{"null", 1, table{}, 0, nil, nil, []string{"", ""}},
		{"int8", 2, aboutOf(8, true, 0), 2, nil, bits(1, 0xff, 0x7f, 0x80), []string{"-1", "127", "-128"}},
		{"uint8", 2, aboutOf(8, false, 0), 2, nil, bits(1, 0xff, 0x7f), []string{"255", "127"}},
		{"int16", 2, aboutOf(16, true, 0), 2, nil, bits(2, 0xffff, 0x7fff), []string{"-1", "32767"}},
		{"uint16", 2, aboutOf(16, false, 0), 2, nil, bits(2, 0xffff, 1), []string{"65535", "1"}},
		{"int32", 2, aboutOf(32, true, 0), 2, nil, bits(4, 0xffffffff, 5), []string{"-1", "5"}},
		{"uint32", 2, aboutOf(32, false, 0), 2, nil, bits(4, 0xffffffff, 5), []string{"4294967295", "5"}},
		{"int64", 2, aboutOf(64, true, 0), 2, nil, bits(8, math.MaxUint64, 5), []string{"-1", "5"}},
		{"uint64", 2, aboutOf(64, false, 0), 2, nil, bits(8, math.MaxUint64, 5), []string{"18446744073709551615", "5"}},
		{"float", 3, aboutOf(0, false, 1), 2, nil, bits(4, uint64(math.Float32bits(0.1)), uint64(math.Float32bits(float32(math.NaN())))), []string{"0.1", ""}},
		{"double", 3, aboutOf(0, false, 2), 2, nil, bits(8, math.Float64bits(0.1), math.Float64bits(math.NaN()), math.Float64bits(1e21)),
			[]string{"0.1", "", "1000000000000000000000"}},
		{"text", 5, table{}, 3, bits(4, 0, 2, 2, 5), []byte("abc,d"), []string{"ab", "", "c d"}},
		{"long text", 20, table{}, 3, bits(8, 0, 2, 2, 5), []byte("abc,d"), []string{"ab", "", "c d"}},
		{"flag", 6, table{}, 2, nil, []byte{0b00000100, 0b1}, []string{"0", "0", "1", "0", "0", "0", "0", "0", "1"}},
		{"days", 8, aboutOf(0, false, 0), 2, nil, bits(4, 19_724, 0xffffffff), []string{"2024-01-02T00:00:00.000Z", "1969-12-31T00:00:00.000Z"}},
		{"milliseconds of a date", 8, aboutOf(0, false, 1), 2, nil, bits(8, second*1_000), []string{"2024-01-02T03:04:05.000Z"}},
		{"seconds", 10, aboutOf(0, false, 0), 2, nil, bits(8, second), []string{"2024-01-02T03:04:05.000Z"}},
		{"milliseconds", 10, aboutOf(0, false, 1), 2, nil, bits(8, second*1_000+250), []string{"2024-01-02T03:04:05.250Z"}},
		{"microseconds", 10, aboutOf(0, false, 2), 2, nil, bits(8, second*1_000_000), []string{"2024-01-02T03:04:05.000Z"}},
		{"nanoseconds", 10, aboutOf(0, false, 3), 2, nil, bits(8, second*1_000_000_000), []string{"2024-01-02T03:04:05.000Z"}},
	} {
		column := featherColumn{buffers: 2}
		if !column.understand(c.kind, c.about) || column.buffers != c.buffers {
			t.Errorf("%s: want it known with %d buffers, have %d", c.name, c.buffers, column.buffers)
			continue
		}
		values := &featherValues{ends: c.ends, data: c.data}
		for i, want := range c.want {
			if have := string(column.append([]byte("x"), values, i)); have != "x"+want {
				t.Errorf("%s, value %d: want %q, have %q", c.name, i, want, have[1:])
			}
		}
	}
	for name, about := range map[string]table{"an integer of 24 bits": aboutOf(24, true, 0), "half floats": aboutOf(0, false, 0), "quads": aboutOf(0,
		false, 3)} {
		kind := byte(featherFloat)
		if strings.HasPrefix(name, "an int") {
			kind = featherWhole
		}
		if column := (featherColumn{buffers: 2}); column.understand(kind, about) {
			t.Errorf("%s: want it refused", name)
		}
	}
	for _, kind := range []byte{0, 4, 7, 9, 11, 19, 21} {
		if column := (featherColumn{buffers: 2}); column.understand(kind, table{}) {
			t.Errorf("type %d: want it refused", kind)
		}
	}
}

// TestBuffersAreUnpackedToTheirLength reads buffers whose length precedes them.
func TestBuffersAreUnpackedToTheirLength(t *testing.T) {
	t.Parallel()
	writer, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := writer.EncodeAll([]byte("hello"), nil)
	var frame bytes.Buffer
	other := lz4.NewWriter(&frame)
	if _, err := other.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	sized := func(size int64, rest []byte) []byte {
		return append(binary.LittleEndian.AppendUint64(nil, uint64(size)), rest...)
	}
	for _, c := range []struct {
		name  string
		raw   []byte
		codec byte
		most  int
		want  string
		err   error
	}{
		{"not packed", sized(-1, []byte("hello")), 1, 9, "hello", nil},
		{"packed", sized(5, packed), 1, 5, "hello", nil},
		{"larger than permitted", sized(5, packed), 1, 4, "", errTooLarge},
		{"shorter than stated", sized(6, packed), 1, 9, "", errFeatherCut},
		{"longer than stated", sized(4, packed), 1, 9, "", errFeatherCut},
		{"an impossible length", sized(-2, packed), 1, 9, "", errFeatherCut},
		{"nothing", sized(0, nil), 1, 9, "", nil},
		{"LZ4", sized(5, frame.Bytes()), 0, 5, "hello", nil},
		{"LZ4 larger than permitted", sized(5, frame.Bytes()), 0, 4, "", errTooLarge},
		{"LZ4 shorter than stated", sized(6, frame.Bytes()), 0, 9, "", errFeatherCut},
		{"LZ4 longer than stated", sized(4, frame.Bytes()), 0, 9, "", errFeatherCut},
		{"no LZ4", sized(5, packed), 0, 9, "", errFeatherCut},
	} {
		have, err := unpack(c.raw, c.codec, c.most)
		if !errors.Is(err, c.err) || c.err == nil && (err != nil || string(have) != c.want) {
			t.Errorf("%s: want %q and %v, have %q and %v", c.name, c.want, c.err, have, err)
		}
	}
	if _, err := unpack(sized(5, packed), 7, 9); err == nil || err.Error() != "compressed with an unknown codec (7)" {
		t.Errorf("another codec: have %v", err)
	}
	if _, err := unpack(sized(5, packed[:len(packed)-3]), 1, 9); err == nil {
		t.Error("a part of a buffer: want an error")
	}
	present := featherValues{present: []byte{0b10, 0b1}}
	for i, want := range map[int]bool{0: false, 1: true, 7: false, 8: true} {
		if present.has(i) != want || !(&featherValues{}).has(i) {
			t.Errorf("value %d: want it there %t, and always without a bitmap", i, want)
		}
	}
}
