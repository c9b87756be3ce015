package configs

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"botd/exchange"
)

// ProfileConfig is how the venue writes what the interface leaves open.
type ProfileConfig struct {
	NullLists    string // error, empty
	NumberNoise  string // float, half_tick
	FuturesWords map[string]string
	SpotWords    map[string]string
}

// What may be written for a list of null, and for numbers finer than the tick.
const (
	NullIsError   = "error"
	NullIsEmpty   = "empty"
	NoiseOfFloats = "float"
	NoiseHalfTick = "half_tick"
)

func defaultProfile() ProfileConfig {
	return ProfileConfig{NullLists: NullIsError, NumberNoise: NoiseOfFloats}
}

func (c *ProfileConfig) keys() []key {
	words := func(market exchange.Market, into *map[string]string) key {
		name := market.String()
		return key{name: name, members: &members{
			read: func(s *section) { readWords(s, into) },
			show: func(o outline) {
				for _, word := range slices.Sorted(maps.Keys(*into)) {
					o.set(word, (*into)[word])
				}
			},
			key: key{name: "WORD", value: text(new(string)), modes: profileModes,
				what: "what the venue's status word WORD means: a status of the interface", example: "FILLED"},
		}}
	}
	return []key{
		{name: "null_lists", value: choice(&c.NullLists, NullIsError, NullIsEmpty), modes: profileModes, example: NullIsEmpty,
			what: "what null means where the interface has a list: a list that cannot be read, or an empty one"},
		{name: "number_noise", value: choice(&c.NumberNoise, NoiseOfFloats, NoiseHalfTick), modes: profileModes, example: NoiseHalfTick,
			what: "which digits finer than the tick are noise in one's own quantities: those that binary floats leave (0.9970000000000002), " +
				"or all within half a tick"},
		{name: "status_words", keys: []key{words(exchange.Futures, &c.FuturesWords), words(exchange.Spot, &c.SpotWords)}},
	}
}

const (
	profileModes   = "paper, live"
	maxStatusWords = 100
)

var statusWord = regexp.MustCompile(`^[A-Za-z0-9_ -]{1,40}$`)

func readWords(s *section, into *map[string]string) {
	words := map[string]string{}
	for _, e := range s.entries {
		word, status := e.key.Value, ""
		if !statusWord.MatchString(word) || len(words) == maxStatusWords {
			s.report(Error, e.key.Line, e.key.Column, "a word such as EXECUTED", fmt.Sprintf("%s%s is not a status word", s.path, shortened(word)))
			continue
		}
		value := text(&status)
		node := value.read(s, word)
		if _, err := exchange.ParseOrderStatus(status); err != nil && node != nil {
			s.wrong(node, "a status of the interface, such as FILLED", "%s%s: %v", s.path, word, err)
			continue
		}
		words[word] = status
	}
	if len(words) > 0 {
		*into = words
	}
}
