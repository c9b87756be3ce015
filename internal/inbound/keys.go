package inbound

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode"
)

// These are the errors of a body's keys. Neither repeats the body, which may contain a token.
var (
	errTwice    = errors.New("a key is given twice: which of its values is meant cannot be known")
	ErrSpelling = errors.New("a key has other characters than lower-case letters, digits and _")
)

// CheckKeys rejects a JSON object with a duplicate key at any depth, or with a top-level key of other characters than known keys have (lower-case letters,
// digits and _). Go's decoder uses the last of two values, and reads both Position and poſition (with a long s) as position. Invalid JSON is reported
// elsewhere.
func CheckKeys(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var open []level
	var spelling error
	for {
		token, err := decoder.Token()
		if err != nil {
			return spelling
		}
		if inner := len(open) - 1; inner >= 0 && open[inner].keys != nil {
			name, is := token.(string)
			if is && !open[inner].value {
				keys, folded := open[inner].keys, fold(name)
				if keys[folded]++; keys[folded] > 1 {
					return errTwice
				}
				if inner == 0 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
					spelling = ErrSpelling
				}
			}
			open[inner].value = !open[inner].value
		}
		switch token {
		case json.Delim('{'):
			open = append(open, level{keys: map[string]int{}})
		case json.Delim('['):
			open = append(open, level{})
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		}
	}
}

// level is an object or a list that has not ended.
type level struct {
	keys  map[string]int // number of occurrences of each, folded; nil for a list
	value bool           // the next token is the value of a key
}

// fold returns a name in the common spelling of all names that Go's decoder considers equal.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		smallest := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			smallest = min(smallest, next)
		}
		return smallest
	}, name)
}
