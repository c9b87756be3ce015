// Package jsonalias adds the deprecated names of renamed fields to JSON.
//
// A struct tag lists the old names of a field, separated by commas. Each appears at the end of the object, with the field's value:
//
//	Remedy string `json:"remedy" was:"way_out"`
package jsonalias

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Marshal encodes a value as json.Marshal does, with the old names.
func Marshal(value any) ([]byte, error) { return json.Marshal(WithOldNames(value)) }

// WithOldNames returns a value whose encoding also has the old names. A value without renamed fields is returned as it is.
func WithOldNames(value any) any {
	if value == nil {
		return nil
	}
	source := reflect.ValueOf(value)
	wide := widened(source.Type(), nil)
	if wide == source.Type() {
		return value
	}
	target := reflect.New(wide).Elem()
	assign(target, source)
	return target.Interface()
}

// OldNames returns the deprecated names of a field.
func OldNames(field reflect.StructField) []string {
	return strings.FieldsFunc(field.Tag.Get("was"), func(r rune) bool { return r == ',' })
}

// known holds the widened type of each type that was encoded.
var known sync.Map

// widened returns a type that is encoded like the given one, with the old names. outer are the types that contain it: a type
// that contains itself stays as it is.
func widened(of reflect.Type, outer []reflect.Type) reflect.Type {
	if wide, is := known.Load(of); is {
		return wide.(reflect.Type)
	}
	if slices.Contains(outer, of) || of.Implements(reflect.TypeFor[json.Marshaler]()) || of.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return of
	}
	wide, outer := of, append(slices.Clip(outer), of)
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if element := widened(of.Elem(), outer); element != of.Elem() {
			wide = containing(of, element)
		}
	case reflect.Struct:
		wide = widenedStruct(of, outer)
	}
	known.Store(of, wide)
	return wide
}

// containing returns a type of the same kind with other elements.
func containing(of, element reflect.Type) reflect.Type {
	switch of.Kind() {
	case reflect.Pointer:
		return reflect.PointerTo(element)
	case reflect.Slice:
		return reflect.SliceOf(element)
	}
	return reflect.MapOf(of.Key(), element)
}

// widenedStruct returns a struct with the encoded fields in their order, then the old names.
func widenedStruct(of reflect.Type, outer []reflect.Type) reflect.Type {
	var fields, old []reflect.StructField
	changed := false
	for _, f := range fieldsOf(of) {
		wide := widened(f.Type, outer)
		changed = changed || wide != f.Type || len(f.old) > 0
		fields = append(fields, reflect.StructField{Name: fmt.Sprint("F", len(fields)), Type: wide, Tag: f.Tag})
		_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		for _, name := range f.old {
			tag := reflect.StructTag(fmt.Sprintf("json:%q", name+","+options))
			old = append(old, reflect.StructField{Name: fmt.Sprint("Old", len(old)), Type: wide, Tag: tag})
		}
	}
	if !changed {
		return of
	}
	return reflect.StructOf(append(fields, old...))
}

// field is an encoded field and its old names.
type field struct {
	reflect.StructField
	old []string
}

// encoded holds the encoded fields of each struct.
var encoded sync.Map

// fieldsOf returns the encoded fields of a struct, including those of embedded structs.
func fieldsOf(of reflect.Type) []field {
	if all, is := encoded.Load(of); is {
		return all.([]field)
	}
	var all []field
	for _, f := range reflect.VisibleFields(of) {
		if !f.Anonymous && f.IsExported() && f.Tag.Get("json") != "-" {
			all = append(all, field{f, OldNames(f)})
		}
	}
	encoded.Store(of, all)
	return all
}

// assign copies a value into one of its widened type.
func assign(target, source reflect.Value) {
	if target.Type() == source.Type() {
		target.Set(source)
		return
	}
	switch source.Kind() {
	case reflect.Pointer:
		if !source.IsNil() {
			target.Set(reflect.New(target.Type().Elem()))
			assign(target.Elem(), source.Elem())
		}
	case reflect.Slice:
		if !source.IsNil() {
			target.Set(reflect.MakeSlice(target.Type(), source.Len(), source.Len()))
		}
		for i := range source.Len() {
			assign(target.Index(i), source.Index(i))
		}
	case reflect.Map:
		if !source.IsNil() {
			target.Set(reflect.MakeMapWithSize(target.Type(), source.Len()))
		}
		for entry := source.MapRange(); entry.Next(); {
			value := reflect.New(target.Type().Elem()).Elem()
			assign(value, entry.Value())
			target.SetMapIndex(entry.Key(), value)
		}
	case reflect.Struct:
		fields := fieldsOf(source.Type())
		next := len(fields)
		for i, f := range fields {
			assign(target.Field(i), source.FieldByIndex(f.Index))
			for range f.old {
				target.Field(next).Set(target.Field(i))
				next++
			}
		}
	}
}
