package foreign

import (
	"bufio"
	"errors"
	"strings"
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"
)

// TestAbsentFieldsHaveTheirDefaults covers a table without fields. Arrow's Schema.fbs gives a float without a precision half of one,
// and an integer without a width no bits: neither is read.
func TestAbsentFieldsHaveTheirDefaults(t *testing.T) {
	t.Parallel()
	b := flatbuffers.NewBuilder(64)
	b.StartObject(2)
	b.Finish(b.EndObject())
	none := root(b.FinishedBytes())
	length, begin := none.list(1)
	if _, found := none.table(1); length != 0 || begin != 0 || found || none.byte(1) != 0 || none.long(1) != 0 || none.short(1, 7) != 7 {
		t.Errorf("want no list, no table and defaults, have %d at %d, %t, %d, %d, %d", length, begin, found, none.byte(1), none.long(1), none.short(1, 7))
	}
	for _, kind := range []byte{featherFloat, featherWhole} {
		if column := (featherColumn{buffers: 2}); column.understand(kind, none) {
			t.Errorf("type %d without its size: want it refused", kind)
		}
	}
	b = flatbuffers.NewBuilder(64)
	b.StartObject(3)
	b.PrependInt16Slot(1, 5, 0)
	b.PrependInt16Slot(2, 6, 0)
	b.Finish(b.EndObject())
	if two := root(b.FinishedBytes()); two.short(0, 7) != 7 || two.short(1, 7) != 5 || two.short(2, 7) != 6 {
		t.Errorf("want 7, 5 and 6, have %d, %d, %d", two.short(0, 7), two.short(1, 7), two.short(2, 7))
	}
	if first, second := appendSeparated(nil, 0), appendSeparated([]byte("a"), 1); len(first) != 0 || string(second) != "a," {
		t.Errorf("want a comma before the second column alone, have %q, %q", first, second)
	}
}

// TestBeginningsOfFilesAreRefused covers a header, a bracket and other beginnings without a candle after them. A part of JSON is broken,
// and nothing else is.
func TestBeginningsOfFilesAreRefused(t *testing.T) {
	t.Parallel()
	for text, unknown := range map[string]bool{
		"": true, "\ufeff": true, " \n": true, "date,time,open,high,low,close,volume\n": true, "time,open,high,low,close,volume\n": true,
		"[": false, "{": false, "\ufeff[": false, "[]": true,
	} {
		_, _, err := CSV(bufio.NewReaderSize(strings.NewReader(text), 1<<16), "")
		if err == nil || errors.Is(err, ErrUnknown) != unknown {
			t.Errorf("%q: want it refused, unknown %t, have %v", text, unknown, err)
		}
	}
}
