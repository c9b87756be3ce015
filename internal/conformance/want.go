package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
)

// want is the expected value at one place of an answer. A path consists of names and of [index] or [name=value] in lists;
// len is a list's length, keys are an object's names separated by commas, in any order. The operators:
//
//	=  the value: decimals by number, in HTTP steps by their very text
//	:  the JSON type: string, decimal (a string holding one), number, int, bool, array, object
//	>  <  a decimal above or below
//	!  not there
type want struct {
	path     []string
	operator byte
	value    string
}

func parseWant(word string) (want, error) {
	switch {
	case word == "none":
		return want{path: []string{"len"}, operator: '=', value: "0"}, nil
	case !strings.ContainsAny(word, "=:<>!"):
		return want{path: []string{"status"}, operator: '=', value: word}, nil
	}
	depth, at := 0, -1
	for i, letter := range word {
		switch {
		case letter == '[':
			depth++
		case letter == ']':
			depth--
		case depth == 0 && strings.ContainsRune("=:<>!", letter):
			at = i
		}
		if at >= 0 {
			break
		}
	}
	if at < 1 {
		return want{}, fmt.Errorf("expectation %q is not PATH, operator, VALUE", word)
	}
	return want{path: split(word[:at]), operator: word[at], value: word[at+1:]}, nil
}

// split splits a path such as wallets[asset=BTC].frozen.
func split(path string) []string {
	path = strings.ReplaceAll(path, "[", ".[")
	var parts []string
	for depth, start, i := 0, 0, 0; i <= len(path); i++ {
		switch {
		case i == len(path) || path[i] == '.' && depth == 0:
			if i > start {
				parts = append(parts, path[start:i])
			}
			start = i + 1
		case path[i] == '[':
			depth++
		case path[i] == ']':
			depth--
		}
	}
	return parts
}

// check compares one place of a JSON text. exact compares the text itself.
func (w want) check(body []byte, ids map[string]int64, exact bool) error {
	have, found, err := find(body, w.path)
	if err != nil {
		return err
	}
	place := strings.Join(w.path, ".")
	if w.operator == '!' {
		if found {
			return fmt.Errorf("%s: want nothing there, have %s", place, have)
		}
		return nil
	}
	value := w.value
	if name, isName := strings.CutPrefix(value, "$"); isName {
		value = strconv.FormatInt(ids[name], 10)
	}
	if w.path[len(w.path)-1] == "keys" {
		value = strings.Join(slices.Sorted(slices.Values(strings.Split(value, ","))), ",")
	}
	if !found || !w.holds(value, have, exact) {
		return fmt.Errorf("%s: want %c%s, have %s in %s", place, w.operator, value, have, excerpt(body))
	}
	return nil
}

func (w want) holds(value string, have json.RawMessage, exact bool) bool {
	if w.operator == ':' {
		return hasType(have, value)
	}
	if exact && w.operator == '=' {
		return string(have) == value
	}
	text := string(have)
	if unquoted := ""; json.Unmarshal(have, &unquoted) == nil {
		text = unquoted
	}
	number, err := decimal.NewFromString(text)
	limit, limitErr := decimal.NewFromString(value)
	switch {
	case err != nil || limitErr != nil:
		return w.operator == '=' && (text == value || value == `""` && text == "")
	case w.operator == '<':
		return number.LessThan(limit)
	case w.operator == '>':
		return number.GreaterThan(limit)
	}
	return number.Equal(limit)
}

// hasType reports whether a JSON value has the type the document names.
func hasType(have json.RawMessage, kind string) bool {
	if len(have) == 0 {
		return false
	}
	first := have[0]
	numeric := first == '-' || first >= '0' && first <= '9'
	switch kind {
	case "string":
		return first == '"'
	case "decimal":
		text := ""
		_, err := decimal.NewFromString(strings.Trim(string(have), `"`))
		return json.Unmarshal(have, &text) == nil && err == nil
	case "number":
		return numeric
	case "int":
		_, err := strconv.ParseInt(string(have), 10, 64)
		return err == nil
	case "bool":
		return first == 't' || first == 'f'
	case "array":
		return first == '['
	case "object":
		return first == '{'
	}
	return false
}

// find follows a path. It does not find a missing index or name; a list in the place of an object is an error.
func find(body []byte, path []string) (have json.RawMessage, found bool, err error) {
	have = bytes.TrimSpace(body)
	for _, part := range path {
		switch {
		case part == "len" && (string(have) == "NULL" || string(have) == "null"):
			return json.RawMessage("0"), true, nil
		case part == "len" || part[0] == '[':
			var list []json.RawMessage
			if err := json.Unmarshal(have, &list); err != nil {
				return nil, false, fmt.Errorf("want a list at %s, have %s", part, excerpt(have))
			}
			if part == "len" {
				return json.RawMessage(strconv.Itoa(len(list))), true, nil
			}
			if have, found = pick(list, part[1:len(part)-1]); !found {
				return nil, false, nil
			}
		default:
			var object map[string]json.RawMessage
			if err := json.Unmarshal(have, &object); err != nil {
				return nil, false, fmt.Errorf("want an object with %s, have %s", part, excerpt(have))
			}
			if part == "keys" {
				return json.RawMessage(strings.Join(slices.Sorted(maps.Keys(object)), ",")), true, nil
			}
			if have, found = object[part]; !found {
				return nil, false, nil
			}
		}
	}
	return have, true, nil
}

// pick returns a list's element by index or by the value of one of its fields; an
// index below 0 counts from the end.
func pick(list []json.RawMessage, selector string) (json.RawMessage, bool) {
	if name, value, byField := strings.Cut(selector, "="); byField {
		for _, each := range list {
			field, found, err := find(each, []string{name})
			if err == nil && found && strings.Trim(string(field), `"`) == value {
				return each, true
			}
		}
		return nil, false
	}
	index, err := strconv.Atoi(selector)
	if err == nil && index < 0 {
		index += len(list)
	}
	if err != nil || index < 0 || index >= len(list) {
		return nil, false
	}
	return list[index], true
}

func excerpt(body []byte) string {
	const most = 1500
	if len(body) > most {
		return string(body[:most]) + "..."
	}
	return string(body)
}
