package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// WithoutMark removes the byte order mark that some servers and editors put before JSON.
func WithoutMark(body []byte) []byte {
	return bytes.TrimPrefix(bytes.TrimSpace(body), []byte("\xef\xbb\xbf"))
}

// unmarshal reads a record with case-sensitive names. encoding/json alone ignores case, so an
// additional field Status would override status.
func unmarshal(raw []byte, record any) error {
	names := namesOf(record)
	if len(names) == 0 || !hasOtherCase(raw, names) {
		return json.Unmarshal(raw, record)
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return json.Unmarshal(raw, record) // reports the record's own error
	}
	for name := range fields {
		if !slices.Contains(names, name) {
			delete(fields, name)
		}
	}
	exact, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	return json.Unmarshal(exact, record)
}

// UnmarshalKnown reads a record like Unmarshal. An unknown name is an error.
func UnmarshalKnown(raw []byte, record any) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	names := namesOf(record)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(names, name) {
			return fmt.Errorf("key %.40q is unknown (known: %s)", name, strings.Join(names, ", "))
		}
	}
	return json.Unmarshal(raw, record)
}

// namesOf returns the JSON names of a record's fields.
func namesOf(record any) []string {
	t := reflect.TypeOf(record).Elem()
	if t.Kind() != reflect.Struct {
		return nil
	}
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

// hasOtherCase reports whether raw may have a key that equals one of the names except for case.
func hasOtherCase(raw []byte, names []string) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '"' {
			continue
		}
		begin, escaped := i+1, false
		for i++; i < len(raw) && raw[i] != '"'; i++ {
			if raw[i] == '\\' {
				escaped = true
				i++
			}
		}
		text := raw[begin:min(i, len(raw))]
		rest := bytes.TrimLeft(raw[min(i+1, len(raw)):], " \t\r\n")
		if len(rest) == 0 || rest[0] != ':' {
			continue // a value
		}
		if escaped || slices.ContainsFunc(names, func(name string) bool {
			return strings.EqualFold(name, string(text)) && name != string(text)
		}) {
			return true
		}
	}
	return false
}
