package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// rowsOfJSON returns the rows of a JSON file as CSV: a list of lists, as in freqtrade's files and
// in answers of exchanges, or of objects, whose keys then make the header. The list may lie inside
// objects, as in {"result": {"list": [...]}}.
func rowsOfJSON(data []byte) ([]byte, error) {
	rows, err := listOf(data, 4)
	if err != nil {
		return nil, err
	}
	var (
		out  []byte
		keys []string
	)
	for i, row := range rows {
		if keys == nil && row[0] == '{' {
			var object map[string]json.RawMessage
			if err := json.Unmarshal(row, &object); err != nil {
				return nil, fmt.Errorf("row %d: %w", i+1, err)
			}
			keys = slices.Sorted(maps.Keys(object))
			out = append(append(out, strings.Join(keys, ",")...), '\n')
		}
		values, err := valuesOf(row, keys)
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i+1, err)
		}
		for k, value := range values {
			if k > 0 {
				out = append(out, ',')
			}
			out = append(out, plain(strings.Trim(string(value), `"`))...)
		}
		out = append(out, '\n')
	}
	return out, nil
}

// valuesOf returns a row's values; for an object, those of the keys.
func valuesOf(row json.RawMessage, keys []string) (values []json.RawMessage, err error) {
	if keys == nil {
		return values, json.Unmarshal(row, &values)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(row, &object); err != nil {
		return nil, err
	}
	for _, key := range keys {
		values = append(values, object[key])
	}
	return values, nil
}

// listOf finds the list of rows within a maximum number of nested objects.
func listOf(data []byte, depth int) ([]json.RawMessage, error) {
	data = bytes.TrimSpace(data)
	switch {
	case len(data) == 0 || depth == 0:
	case data[0] == '[':
		var rows []json.RawMessage
		if err := json.Unmarshal(data, &rows); err != nil {
			return nil, err
		}
		if len(rows) > 0 && (rows[0][0] == '[' || rows[0][0] == '{') {
			return rows, nil
		}
	case data[0] == '{':
		var object map[string]json.RawMessage
		if err := json.Unmarshal(data, &object); err != nil {
			return nil, err
		}
		for _, key := range slices.Sorted(maps.Keys(object)) {
			if rows, err := listOf(object[key], depth-1); err == nil {
				return rows, nil
			}
		}
	}
	return nil, ErrUnknown
}
