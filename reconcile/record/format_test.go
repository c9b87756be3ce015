package record

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// shape lists the contents of records: each kind, each JSON field with its type, and each value of an
// enumeration.
type shape map[string]bool

var (
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// add lists a type under a name.
func (s shape) add(name string, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.Uint8 && t.Implements(textMarshaler):
		s[name+" "+t.Name()] = true
		s.values(t)
	case t.Implements(marshaler), t.Implements(textMarshaler):
		s[name+" "+t.Name()] = true
	case t.Kind() == reflect.Struct:
		s.fields(name, t)
	case t.Kind() == reflect.Slice:
		s.add(name+"[]", t.Elem())
	default:
		s[name+" "+t.String()] = true
	}
}

// fields lists the fields of a structure.
func (s shape) fields(name string, t reflect.Type) {
	s[name] = true
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && tag == "":
			s.add(name, f.Type)
		case f.IsExported() && tag != "-":
			if tag == "" {
				tag = f.Name
			}
			s.add(name+"."+tag, f.Type)
		}
	}
}

// values lists the texts that an enumeration accepts.
func (s shape) values(t reflect.Type) {
	for i := range 256 {
		value := reflect.New(t)
		value.Elem().SetUint(uint64(i))
		text, err := value.Elem().Interface().(encoding.TextMarshaler).MarshalText()
		if err != nil || len(text) == 0 {
			continue
		}
		again := reflect.New(t)
		read, ok := again.Interface().(encoding.TextUnmarshaler)
		if ok && read.UnmarshalText(text) == nil && again.Elem().Uint() == uint64(i) {
			s[fmt.Sprintf("%s %q", t.Name(), text)] = true
		}
	}
}

// shapeNow lists what this package writes.
func shapeNow(t *testing.T) shape {
	s := shape{}
	s.fields("record", reflect.TypeFor[envelope]())
	for _, kind := range Kinds() {
		body, err := decoders[kind]([]byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		s.fields(kind.String(), reflect.TypeOf(body))
	}
	return s
}

// listed returns the list of epoch 1 after all changes in formats.
func listed(t *testing.T) shape {
	text, err := os.ReadFile("testdata/format1.txt")
	if err != nil {
		t.Fatal(err)
	}
	s := shape{}
	for line := range strings.Lines(string(text)) {
		s[strings.TrimSpace(line)] = true
	}
	for i, line := range formats[1:] {
		if name := line[1:]; line[0] == '+' && !s[name] {
			s[name] = true
		} else if line[0] == '-' && s[name] {
			delete(s, name)
		} else {
			t.Errorf("line %d of formats, %q: want + before an addition, - before a removal", i+2, line)
		}
	}
	return s
}

// TestFormatsListEveryKindAndField fails if records have content that no format epoch names: an older botd
// would open such a journal and ignore it.
func TestFormatsListEveryKindAndField(t *testing.T) {
	t.Parallel()
	have, want := shapeNow(t), listed(t)
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if !want[name] {
			missing = append(missing, "+"+name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if !have[name] {
			missing = append(missing, "-"+name)
		}
	}
	if len(missing) > 0 {
		t.Errorf("formats (epoch %d) does not match the content of records. Append to formats in reconcile/record/format.go:\n", FormatEpoch)
		for _, line := range missing {
			t.Errorf("\t%q,", line)
		}
	}
	if len(have) < 100 || !have["boot.epoch int64"] || !have["sending.order.StopPrice exchange.Price"] || !have[`State "uncertain"`] {
		t.Errorf("want kinds, fields of nested types and values listed, have %d lines: %q", len(have), slices.Sorted(maps.Keys(have)))
	}
}
