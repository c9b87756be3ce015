// Package freeze serializes a value with everything that it points to, including unexported fields, and restores it.
//
// A checkpoint must contain the whole state. A manual list of fields would become
// incomplete one day, and a start would decide without the missing ones. So the package
// walks the types. Equal values have equal texts. Layout names the types: a text that was
// written with another layout is not read.
package freeze

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unsafe"
)

// errShort reports a text that ends early or that no writer wrote.
var errShort = errors.New("frozen value is damaged")

// Layout names the types in a value: a different layout has a different name.
func Layout(value any) string {
	var text bytes.Buffer
	layout(&text, reflect.TypeOf(value), map[reflect.Type]bool{})
	sum := sha256.Sum256(text.Bytes())
	return hex.EncodeToString(sum[:8])
}

func layout(text *bytes.Buffer, t reflect.Type, seen map[reflect.Type]bool) {
	fmt.Fprintf(text, "%s %s\n", t, t.Kind())
	if seen[t] {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		layout(text, t.Elem(), seen)
	case reflect.Map:
		layout(text, t.Key(), seen)
		layout(text, t.Elem(), seen)
	case reflect.Struct:
		for field := range t.Fields() {
			text.WriteString(field.Name + " ")
			layout(text, field.Type, seen)
		}
	case reflect.Interface, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		panic(fmt.Sprintf("freeze: a %s cannot be frozen", t))
	}
}

// Freeze writes the target of a pointer. Pointers to the same value stay shared.
func Freeze(pointer any) []byte {
	w := writer{known: map[unsafe.Pointer]uint64{}}
	w.value(reflect.ValueOf(pointer).Elem())
	return w.text
}

// Thaw reads a text into the target of a pointer with the same layout.
func Thaw(text []byte, pointer any) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%w: %v", errShort, cause)
		}
	}()
	r := reader{text: text}
	r.value(reflect.ValueOf(pointer).Elem())
	if len(r.text) > 0 {
		return fmt.Errorf("%w: %d bytes are left", errShort, len(r.text))
	}
	return nil
}

// open makes an unexported field readable and settable.
func open(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

type writer struct {
	text  []byte
	known map[unsafe.Pointer]uint64 // numbers of values that pointers point to, from 1
}

func (w *writer) number(n uint64) { w.text = binary.AppendUvarint(w.text, n) }

func (w *writer) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		w.number(map[bool]uint64{true: 1}[v.Bool()])
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.text = binary.AppendVarint(w.text, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		w.number(v.Uint())
	case reflect.String:
		w.number(uint64(v.Len()))
		w.text = append(w.text, v.String()...)
	case reflect.Struct:
		for _, field := range v.Fields() {
			w.value(open(field))
		}
	case reflect.Array:
		for i := range v.Len() {
			w.value(v.Index(i))
		}
	case reflect.Slice:
		if v.IsNil() {
			w.number(0)
			return
		}
		w.number(uint64(v.Len()) + 1)
		for i := range v.Len() {
			w.value(v.Index(i))
		}
	case reflect.Pointer:
		w.pointer(v)
	case reflect.Map:
		w.mapping(v)
	default:
		panic(fmt.Sprintf("freeze: a %s cannot be frozen", v.Type()))
	}
}

func (w *writer) pointer(v reflect.Value) {
	if v.IsNil() {
		w.number(0)
		return
	}
	if number, known := w.known[v.UnsafePointer()]; known {
		w.number(number)
		return
	}
	number := uint64(len(w.known)) + 1
	w.known[v.UnsafePointer()] = number
	w.number(number)
	w.value(v.Elem())
}

// mapping writes a map by its sorted keys.
func (w *writer) mapping(v reflect.Value) {
	if v.IsNil() {
		w.number(0)
		return
	}
	type entry struct {
		text []byte
		key  reflect.Value
	}
	entries := make([]entry, 0, v.Len())
	for _, key := range v.MapKeys() {
		single := writer{}
		single.value(addressable(key))
		entries = append(entries, entry{single.text, key})
	}
	slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare(a.text, b.text) })
	w.number(uint64(len(entries)) + 1)
	for _, e := range entries {
		w.text = append(w.text, e.text...)
		w.value(addressable(v.MapIndex(e.key)))
	}
}

// addressable copies a value to memory where its fields can be opened.
func addressable(v reflect.Value) reflect.Value {
	at := reflect.New(v.Type()).Elem()
	at.Set(v)
	return at
}

type reader struct {
	text  []byte
	known []reflect.Value // pointers, by number
}

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.text)
	if size <= 0 {
		panic("a number")
	}
	r.text = r.text[size:]
	return n
}

// length reads a length, which the remaining text bounds.
func (r *reader) length() int {
	n := r.number()
	if n > uint64(len(r.text))+1 {
		panic("a length")
	}
	return int(n)
}

func (r *reader) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.number() == 1)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, size := binary.Varint(r.text)
		if size <= 0 {
			panic("a number")
		}
		r.text = r.text[size:]
		v.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(r.number())
	case reflect.String:
		n := r.length()
		v.SetString(string(r.text[:n]))
		r.text = r.text[n:]
	case reflect.Struct:
		for _, field := range v.Fields() {
			r.value(open(field))
		}
	case reflect.Array:
		for i := range v.Len() {
			r.value(v.Index(i))
		}
	case reflect.Slice:
		r.slice(v)
	case reflect.Pointer:
		r.pointer(v)
	case reflect.Map:
		r.mapping(v)
	default:
		panic(fmt.Sprintf("a %s", v.Type()))
	}
}

func (r *reader) slice(v reflect.Value) {
	n := r.length()
	if n == 0 {
		v.SetZero()
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
	for i := range n - 1 {
		r.value(v.Index(i))
	}
}

func (r *reader) pointer(v reflect.Value) {
	switch number := r.number(); {
	case number == 0:
		v.SetZero()
	case number <= uint64(len(r.known)):
		v.Set(r.known[number-1])
	case number == uint64(len(r.known))+1:
		v.Set(reflect.New(v.Type().Elem()))
		r.known = append(r.known, addressable(v))
		r.value(v.Elem())
	default:
		panic("a pointer")
	}
}

func (r *reader) mapping(v reflect.Value) {
	n := r.length()
	if n == 0 {
		v.SetZero()
		return
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), n-1))
	for range n - 1 {
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		r.value(key)
		r.value(value)
		v.SetMapIndex(key, value)
	}
}
