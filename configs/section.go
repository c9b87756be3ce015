package configs

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"botd/internal/notation"
	"botd/internal/spell"
	"botd/risk"
)

// blocks contains examples of blocks that users often replace by a single value.
var blocks = map[string]string{
	"size":    "{equity: 50%}, {quote: 1000} or {quantity: 0.01}",
	"protect": "{stop_loss: 2%, take_profit: 4%}",
	"fees":    "{maker: 0.0002, taker: 0.0005}",
	"risk":    "{max_daily_loss: 5%}",
	"params":  "{fast: 12, slow: 26}, by the names that botd strategy show NAME lists",
}

// section is one block of keys being read. It reports a wrong value and leaves its default in place.
type section struct {
	*document
	path    string // "exchange.settle.", empty at the top
	line    int
	entries []entry
	known   []string // the permitted keys of the block
}

type entry struct {
	key, value *yaml.Node
}

// newSection returns the keys of a mapping, the first of duplicate ones. A nil node is an empty section.
func newSection(d *document, path string, node *yaml.Node) *section {
	s := &section{document: d, path: path}
	if node == nil {
		return s
	}
	s.line = node.Line
	for i := 0; i < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Kind != yaml.ScalarNode || isNull(key) {
			s.fail(key.Line, "write `key: value`", "there is %s where a key is expected", kindOf(key))
			continue
		}
		if first := s.find(key.Value); first != nil {
			s.fail(key.Line, "keep one of them", "duplicate key %q, first on line %d", s.path+key.Value, first.key.Line)
			continue
		}
		s.entries = append(s.entries, entry{key, value})
	}
	return s
}

func (s *section) find(key string) *entry {
	for i := range s.entries {
		if s.entries[i].key.Value == key {
			return &s.entries[i]
		}
	}
	return nil
}

// value returns the value of a key, or nil if the key is missing.
func (s *section) value(key string) *yaml.Node {
	if found := s.find(key); found != nil {
		return found.value
	}
	return nil
}

// lineOf returns the line of a key, or of the section if the key is missing.
func (s *section) lineOf(key string) int {
	if found := s.find(key); found != nil {
		return found.key.Line
	}
	return s.line
}

// wrong reports an error at a value.
func (s *section) wrong(node *yaml.Node, hint, format string, values ...any) {
	s.report(Error, node.Line, node.Column, hint, fmt.Sprintf(format, values...))
}

// warn reports a warning at a value.
func (s *section) warn(node *yaml.Node, hint, format string, values ...any) {
	s.report(Warning, node.Line, node.Column, hint, fmt.Sprintf(format, values...))
}

// secretName matches common keys of secrets.
var secretName = regexp.MustCompile(`^(key|secret|token|password|passphrase|(api|access|private|secret)(key|secret|token)|(api|exchange)?(key|secret)value)$`)

func isSecretName(key string) bool {
	return secretName.MatchString(strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(key)))
}

// reportUnknown reports every unknown key. It does not show values, since an unknown key may hold a secret.
func (s *section) reportUnknown() {
	for _, e := range s.entries {
		if !slices.Contains(s.known, e.key.Value) {
			s.unknown(e.key, s.known)
		}
	}
}

func (s *section) unknown(key *yaml.Node, known []string) {
	if isSecretName(key.Value) {
		s.report(Error, key.Line, key.Column, "write it to a file of mode 600 and name that in exchange.key_file or exchange.secret_file, "+
			"or use systemd credentials BOTD_KEY and BOTD_SECRET; change it if others could read this file",
			fmt.Sprintf("key %q: secrets do not belong in the configuration", s.path+key.Value))
		return
	}
	hint := ""
	if near := spell.Nearest(key.Value, known); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	} else if home, ok := s.homeOf(key.Value); ok && home != strings.TrimSuffix(s.path, ".") {
		hint = fmt.Sprintf("%q belongs under %s", key.Value, home)
	} else if word, ok := elsewhere[key.Value]; ok {
		hint = "here that is " + word
	} else if len(known) > 0 {
		hint = "known here: " + strings.Join(known, ", ")
	}
	s.report(Error, key.Line, key.Column, hint, fmt.Sprintf("unknown key %q", notation.Shortened(s.path+key.Value)))
}

// homeOf returns the block of a key: of several the first, with this file's blocks before the other file's.
func (d *document) homeOf(key string) (home string, known bool) {
	if limit := risk.LimitNamed(key); limit != nil && limit.Scope == risk.OfStrategy {
		return "a strategy's risk", true
	}
	if d.homes == nil {
		d.homes = map[string]string{}
		own, other := Keys()
		if d.strategy {
			own, other = other, own
		}
		for _, k := range append(own, other...) {
			dot := strings.LastIndexByte(k.Path, '.')
			if name := k.Path[dot+1:]; dot > 0 && !k.Any && d.homes[name] == "" {
				d.homes[name] = k.Path[:dot]
			}
		}
	}
	home, known = d.homes[key]
	return home, known
}

// elsewhere maps keys of other bots to the equivalent ones.
var elsewhere = map[string]string{
	"timeframe":             "interval",
	"candle_interval":       "interval",
	"pair":                  "symbol",
	"trading_pair":          "symbol",
	"pairs":                 "symbol, one in each file of strategies/",
	"pair_whitelist":        "symbol, one in each file of strategies/",
	"trading_mode":          "market: futures, or spot",
	"can_short":             "params: {mode: long_short}, where the strategy has it",
	"stoploss":              "protect: {stop_loss: 2%}",
	"stoploss_on_exchange":  "protect: {stop_loss: 2%}, which always rests on the exchange",
	"minimal_roi":           "protect: {returns: {4h: 3%}}",
	"trailing_stop":         "protect: {trailing: {distance: 1%}}",
	"trailing_delta":        "protect: {trailing: {distance: 1%}}",
	"order_types":           "entry: {order: post_only}",
	"unfilledtimeout":       "entry: {patience: 30s}",
	"stake_amount":          "size: {quote: 100}, or size: {equity: 50%}",
	"total_amount_quote":    "size: {quote: 100}",
	"order_amount":          "size: {quantity: 0.01}",
	"dry_run":               "mode: demo, or mode: paper, in botd.yaml",
	"dry_run_wallet":        "simulated: {futures: 10000}",
	"api_server":            "listen: 127.0.0.1:8420",
	"kill_switch_rate":      "risk: {max_drawdown: 20%}",
	"process_throttle_secs": "a strategy's schedule: \"@every 5s\"",
}

// section returns the block under a key. A missing block is empty.
func (s *section) section(key string) *section {
	s.known = append(s.known, key)
	node := s.value(key)
	path := s.path + key + "."
	switch {
	case node == nil || isNull(node): // all lines of the block are commented out
		return &section{document: s.document, path: path, line: s.lineOf(key)}
	case node.Kind != yaml.MappingNode:
		s.wrong(node, fmt.Sprintf("write %s: %s", key, cmp.Or(blocks[key], "{...}")), "%s%s is %s, not a block of keys", s.path, key, kindOf(node))
		return &section{document: s.document, path: path, line: s.lineOf(key)}
	}
	block := newSection(s.document, path, node)
	block.line = s.lineOf(key)
	return block
}

// keyOf returns the key of a value.
func (s *section) keyOf(value *yaml.Node) string {
	for i := range s.entries {
		if s.entries[i].value == value {
			return s.entries[i].key.Value
		}
	}
	return ""
}

// single returns the node of a key that has a single value, or nil.
func (s *section) single(key string) *yaml.Node {
	node := s.value(key)
	if node == nil || node.Kind != yaml.ScalarNode || isNull(node) || strings.TrimSpace(node.Value) == "" {
		return nil
	}
	return node
}

// scalar returns single, and reports a value of another kind.
func (s *section) scalar(key string) (*yaml.Node, bool) {
	node := s.value(key)
	switch {
	case node == nil:
		return nil, false
	case isNull(node) || node.Kind == yaml.ScalarNode && strings.TrimSpace(node.Value) == "":
		s.report(Error, s.lineOf(key), 0, "give it a value, or remove the line", fmt.Sprintf("%s%s has no value", s.path, key))
		return nil, false
	case node.Kind != yaml.ScalarNode:
		s.wrong(node, "", "%s%s is %s, not a single value", s.path, key, kindOf(node))
		return nil, false
	}
	return node, true
}
