package configs

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"botd/exchange"
	"botd/exchange/wire"
	"botd/internal/notation"
)

// ProfileConfig describes the venue's choices where the interface leaves them open.
type ProfileConfig struct {
	NullLists    string // error, empty
	NumberNoise  string // float, half_tick
	FuturesWords map[string]string
	SpotWords    map[string]string
	Lists        [4]string // of OrderLists: echoed, absent, or empty if unknown
}

// The values for null lists, and for numbers finer than the tick.
const (
	NullIsError   = "error"
	NullIsEmpty   = "empty"
	NoiseOfFloats = "float"
	NoiseHalfTick = "half_tick"
)

func defaultProfile() ProfileConfig {
	return ProfileConfig{NullLists: NullIsError, NumberNoise: NoiseOfFloats}
}

// profileKeys returns the keys of a venue's profile: a block of botd.yaml, or a separate file. exchange.signature and
// exchange.settle take precedence over it.
func (e *ExchangeConfig) profileKeys() []key {
	shownElsewhere := func() bool { return true }
	return append(e.Profile.keys(),
		key{name: "signature", keys: signatureKeys(&e.Signature), hidden: shownElsewhere},
		key{name: "paths", keys: []key{{name: "sign", value: choice(&e.Signature.Paths, wire.SignFull, wire.SignRoute), modes: "live", example: wire.SignRoute,
			what: "the signed path if base_url contains a path: the full path, or only the route of the interface"}}},
		key{name: "settle", keys: settleKeys(&e.Settle), hidden: shownElsewhere, after: e.Settle.noteWritten})
}

// profileFile reads a profile from a separate file, relative to the configuration's directory.
func (l *loader) profileFile(s *section, node *yaml.Node) *section {
	const name = "profile"
	empty := &section{document: s.document, path: s.path + name + ".", line: node.Line}
	var text []byte
	var err error
	file := path.Clean(node.Value)
	if path.IsAbs(file) {
		text, err = os.ReadFile(file)
	} else {
		text, err = fs.ReadFile(l.files, file)
		file = l.name(file)
	}
	if err != nil {
		s.wrong(node, "botd probe --trade --out FILE writes one", "%s%s: %s cannot be read: %s", s.path, name, notation.Shortened(node.Value), reason(err))
		return empty
	}
	l.config.Files = append(l.config.Files, file)
	d := &document{file: file, problems: &l.problems}
	block := d.parse(text)
	if block == nil {
		return empty
	}
	return newSection(d, empty.path, block)
}

// Unmeasured lists the assumptions about a live venue on the traded markets that no probe has measured.
func (c *Config) Unmeasured() (assumptions []string) {
	e := &c.Exchange
	for _, market := range c.Markets() {
		if e.Settle.Measured == "" && e.Settle.market(market).Measured == "" {
			assumptions = append(assumptions, "exchange.settle: how long requests, lists and reads take on "+market.String())
		}
		for i, list := range OrderLists {
			if strings.HasPrefix(list, market.String()+"_") && e.Profile.Lists[i] == "" {
				assumptions = append(assumptions, "exchange.profile.client_order_id."+list+": whether this list echoes client order ids")
			}
		}
	}
	return assumptions
}

// Values for lists of orders, which may or may not echo client order ids.
const (
	ListEchoed = "echoed"
	ListAbsent = "absent"
)

// OrderLists names the lists that show orders.
var OrderLists = [4]string{"futures_order", "futures_open", "spot_open", "spot_history"}

func (c *ProfileConfig) listKeys() key {
	var keys []key
	for i, list := range OrderLists {
		keys = append(keys, key{name: list, value: choice(&c.Lists[i], ListEchoed, ListAbsent), modes: profileModes, example: ListAbsent,
			what: "whether orders in this list carry the client order ids that they were sent with; botd matches by the exchange's order id first and " +
				"learns from its own orders which lists have no ids (exactly-once.md, case 42), so this only suppresses the warning at the start"})
	}
	return key{name: "client_order_id", keys: keys}
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
				what: "the status of the interface that the venue's status word WORD stands for", example: "FILLED"},
		}}
	}
	return []key{
		{name: "null_lists", value: choice(&c.NullLists, NullIsError, NullIsEmpty), modes: profileModes, example: NullIsEmpty,
			what: "how to read null instead of a list: as an unreadable list, or as an empty one"},
		{name: "number_noise", value: choice(&c.NumberNoise, NoiseOfFloats, NoiseHalfTick), modes: profileModes, example: NoiseHalfTick,
			what: "which digits beyond the tick count as noise in the account's quantities: those of binary floats (0.9970000000000002), " +
				"or all within half a tick"},
		{name: "status_words", keys: []key{words(exchange.Futures, &c.FuturesWords), words(exchange.Spot, &c.SpotWords)}},
		c.listKeys(),
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
			s.report(Error, e.key.Line, e.key.Column, "a word such as EXECUTED", fmt.Sprintf("%s%s is not a status word", s.path, notation.Shortened(word)))
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
