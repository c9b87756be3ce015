package configs

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
	"gopkg.in/yaml.v3"

	"botd/exchange"
	"botd/internal/spell"
	"botd/risk"
)

// section is one block of keys being read. Every reading method names a key the
// block may have; done then reports the keys that none of them named. A value
// that is wrong is reported and leaves its default in place.
type section struct {
	*document
	path    string // "exchange.settle.", empty at the top
	line    int
	entries []entry
	known   []string
}

type entry struct {
	key, value *yaml.Node
}

// newSection reads the keys of a mapping, refusing doubled ones. A nil node is
// an empty section.
func newSection(d *document, path string, node *yaml.Node) *section {
	s := &section{document: d, path: path}
	if node == nil {
		return s
	}
	s.line = node.Line
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Kind != yaml.ScalarNode || isNull(key) {
			s.fail(key.Line, "write `key: value`", "%s stands where a key is expected", kindOf(key))
			continue
		}
		if first := s.find(key.Value); first != nil {
			s.fail(key.Line, "keep one of them", "key %q is here a second time, after line %d", s.path+key.Value, first.key.Line)
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

// value returns the value of a key, or nil when the key is absent.
func (s *section) value(key string) *yaml.Node {
	if found := s.find(key); found != nil {
		return found.value
	}
	return nil
}

// lineOf returns the line of a key, or of the section when the key is absent.
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

// secretName matches keys under which people write secrets.
var secretName = regexp.MustCompile(`^(key|secret|token|password|passphrase|(api|access|private|secret)(key|secret|token)|(api|exchange)?(key|secret)value)$`)

func isSecretName(key string) bool {
	return secretName.MatchString(strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(key)))
}

// done reports every key that no reading method asked for. Values are not
// shown: an unknown key may hold a secret.
func (s *section) done() {
	for _, e := range s.entries {
		key := e.key.Value
		if slices.Contains(s.known, key) {
			continue
		}
		s.unknown(e.key, s.known)
	}
}

func (s *section) unknown(key *yaml.Node, known []string) {
	if isSecretName(key.Value) {
		s.report(Error, key.Line, key.Column, "write it to a file of mode 600 and name that in exchange.key_file or exchange.secret_file, or use systemd credentials BOTD_KEY and BOTD_SECRET; change it if others could read this file",
			fmt.Sprintf("key %q: secrets never stand in the configuration", s.path+key.Value))
		return
	}
	hint := ""
	if near := spell.Nearest(key.Value, known); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	} else if home, ok := homeOf(key.Value); ok && home != strings.TrimSuffix(s.path, ".") {
		hint = fmt.Sprintf("%q belongs under %s", key.Value, home)
	} else if word, ok := elsewhere[key.Value]; ok {
		hint = "here that is " + word
	} else if len(known) > 0 {
		hint = "known here: " + strings.Join(known, ", ")
	}
	s.report(Error, key.Line, key.Column, hint, fmt.Sprintf("unknown key %q", shortened(s.path+key.Value)))
}

// homes are the blocks in which keys stand that are often written elsewhere.
var homes = map[string]string{
	"base_url": "exchange", "key_file": "exchange", "secret_file": "exchange", "signature": "exchange", "settle": "exchange", "breaker": "exchange", "requests_per_second": "exchange",
	"window": "exchange.settle", "visibility": "exchange.settle", "staleness": "exchange.settle",
	"stop_loss": "protect", "take_profit": "protect", "trailing": "protect", "time_limit": "protect", "returns": "protect", "cooldown": "protect",
	"patience": "entry", "tries": "entry", "equity": "size", "quote": "size",
	"cash": "backtest", "fees": "backtest", "fill": "backtest", "slippage": "backtest", "latency": "backtest", "slippage_volume": "backtest", "volume_cap": "backtest", "maker": "backtest.fees", "taker": "backtest.fees",
	"certificate_file": "access", "behind_proxy": "access", "hosts": "access",
	"poll": "paper", "max_age": "paper",
	"payload": "exchange.signature", "encoding": "exchange.signature", "decisions": "retention", "recorded_mib": "retention",
}

// homeOf returns the block in which a key stands.
func homeOf(key string) (home string, known bool) {
	if limit := risk.LimitNamed(key); limit != nil {
		if limit.Reach == risk.OfStrategy {
			return "a strategy's risk", true
		}
		return "risk", true
	}
	home, known = homes[key]
	return home, known
}

// elsewhere are keys of other bots, and what says the same here.
var elsewhere = map[string]string{
	"timeframe": "interval", "candle_interval": "interval",
	"pair": "symbol", "trading_pair": "symbol", "pairs": "symbol, one in each file of strategies/", "pair_whitelist": "symbol, one in each file of strategies/",
	"trading_mode": "market: futures, or spot", "can_short": "params: {mode: long_short}, where the strategy has it",
	"stoploss": "protect: {stop_loss: 2%}", "stoploss_on_exchange": "protect: {stop_loss: 2%}, which always stands on the exchange", "minimal_roi": "protect: {returns: {4h: 3%}}",
	"trailing_stop": "protect: {trailing: {distance: 1%}}", "trailing_delta": "protect: {trailing: {distance: 1%}}", "order_types": "entry: {order: post_only}", "unfilledtimeout": "entry: {patience: 30s}",
	"stake_amount": "size: {quote: 100}, or size: {equity: 50%}", "total_amount_quote": "size: {quote: 100}", "order_amount": "size: {quantity: 0.01}",
	"dry_run": "mode: demo, or mode: paper, in botd.yaml", "dry_run_wallet": "simulated: {futures: 10000}", "api_server": "listen: 127.0.0.1:8420",
	"kill_switch_rate": "risk: {max_drawdown: 20%}", "process_throttle_secs": "a strategy's schedule: \"@every 5s\"",
}

// unlessZero is a default as it is written; zero is none.
func unlessZero[N int | int64](value N, text string) string {
	if value == 0 {
		return ""
	}
	return text
}

// section returns the block under a key, empty when absent. The caller must
// call done on it.
func (s *section) section(key string) *section {
	s.learn(key, Key{Kind: KindBlock})
	s.known = append(s.known, key)
	node := s.value(key)
	path := s.path + key + "."
	switch {
	case node == nil || isNull(node): // a block whose lines are all commented out
		return &section{document: s.document, path: path, line: s.lineOf(key)}
	case node.Kind != yaml.MappingNode:
		s.wrong(node, fmt.Sprintf("write %s: {...}", key), "%s%s is %s, not a block of keys", s.path, key, kindOf(node))
		return &section{document: s.document, path: path, line: s.lineOf(key)}
	}
	block := newSection(s.document, path, node)
	block.line = s.lineOf(key)
	return block
}

// scalar returns the text of a single value, and whether there is one.
func (s *section) scalar(key string) (*yaml.Node, bool) {
	s.known = append(s.known, key)
	node := s.value(key)
	switch {
	case node == nil:
		return nil, false
	case isNull(node) || node.Kind == yaml.ScalarNode && strings.TrimSpace(node.Value) == "":
		s.report(Error, s.lineOf(key), 0, "give it a value, or take the line out", fmt.Sprintf("%s%s has no value", s.path, key))
		return nil, false
	case node.Kind != yaml.ScalarNode:
		s.wrong(node, "", "%s%s is %s, not a single value", s.path, key, kindOf(node))
		return nil, false
	}
	return node, true
}

// text reads any single value as it is written.
func (s *section) text(key string, into *string) *yaml.Node {
	s.learn(key, Key{Kind: KindText})
	node, ok := s.scalar(key)
	if ok {
		*into = node.Value
	}
	return node
}

// maxWords bounds a list of words.
const maxWords = 50

// words reads a list of words, each of which must match.
func (s *section) words(key string, into *[]string, each *regexp.Regexp, hint string) {
	s.learn(key, Key{Kind: KindWords, Default: strings.Join(*into, ", ")})
	s.known = append(s.known, key)
	node := s.value(key)
	switch {
	case node == nil:
		return
	case node.Kind != yaml.SequenceNode || len(node.Content) > maxWords:
		s.wrong(node, fmt.Sprintf("write %s: [one, another]", key), "%s%s is %s, not a list of at most %d words", s.path, key, kindOf(node), maxWords)
		return
	}
	list := []string{}
	for _, member := range node.Content {
		if member.Kind != yaml.ScalarNode || !each.MatchString(member.Value) {
			s.wrong(member, hint, "%s%s: %q is no such word", s.path, key, shortened(member.Value))
			return
		}
		list = append(list, member.Value)
	}
	*into = list
}

// choice reads one of a few words.
func (s *section) choice(key string, into *string, words ...string) {
	s.learn(key, Key{Kind: KindChoice, Words: words, Default: *into})
	node, ok := s.scalar(key)
	if !ok {
		return
	}
	if !slices.Contains(words, node.Value) {
		hint := "one of " + strings.Join(words, ", ")
		if near := spell.Nearest(strings.ToLower(node.Value), words); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		s.wrong(node, hint, "%s%s %q is not known", s.path, key, shortened(node.Value))
		return
	}
	*into = node.Value
}

// whole reads a whole number between two bounds, both included.
func (s *section) whole(key string, into *int, low, high int) {
	s.learn(key, Key{Kind: KindWhole, Low: fmt.Sprint(low), High: fmt.Sprint(high), Default: unlessZero(*into, fmt.Sprint(*into))})
	node, ok := s.scalar(key)
	if !ok {
		return
	}
	d, hint, err := parseDecimal(node.Value)
	if err == nil && !d.IsInteger() {
		err, hint = fmt.Errorf("%q is not a whole number", node.Value), ""
	}
	if err != nil {
		s.wrong(node, cmp.Or(hint, fmt.Sprintf("write a whole number from %d to %d", low, high)), "%s%s: %v", s.path, key, err)
		return
	}
	if d.LessThan(decimal.NewFromInt(int64(low))) || d.GreaterThan(decimal.NewFromInt(int64(high))) {
		s.wrong(node, "", "%s%s %s is not between %d and %d", s.path, key, node.Value, low, high)
		return
	}
	*into = int(d.IntPart())
}

// decimal reads a number, or a text that is one, and returns its node when it is good.
func (s *section) decimal(key string, into *decimal.Decimal) *yaml.Node {
	s.learn(key, Key{Kind: KindNumber})
	node, ok := s.scalar(key)
	if !ok {
		return nil
	}
	d, hint, err := parseDecimal(node.Value)
	if err != nil {
		s.wrong(node, cmp.Or(hint, "write a plain number, such as 0.5"), "%s%s: %v", s.path, key, err)
		return nil
	}
	*into = d
	return node
}

// mostAmount is more than any account has; what is derived from it must not overflow.
var mostAmount = exchange.AmountOf(1_000_000_000_000_000)

// amount reads money, at least low.
func (s *section) amount(key string, into *exchange.Amount, low exchange.Amount) {
	s.learn(key, Key{Kind: KindNumber, Low: low.String(), High: mostAmount.String()})
	var d decimal.Decimal
	node := s.decimal(key, &d)
	if node == nil {
		return
	}
	amount, err := exchange.AmountFromDecimal(d)
	switch {
	case err != nil:
		s.wrong(node, "", "%s%s %s has more than %d decimal places or is too large", s.path, key, node.Value, exchange.AmountScale)
	case amount.Less(low):
		s.wrong(node, "", "%s%s %s is below %s", s.path, key, node.Value, low)
	case mostAmount.Less(amount):
		s.wrong(node, "", "%s%s %s is above %s", s.path, key, node.Value, mostAmount)
	default:
		*into = amount
	}
}

// rate reads a number or a percentage between two bounds, both included.
func (s *section) rate(key string, into *exchange.Rate, low, high exchange.Rate) {
	s.learn(key, Key{Kind: KindShare, Low: percent(low), High: percent(high)})
	node, ok := s.scalar(key)
	if !ok {
		return
	}
	rate, hint, err := parseRate(node.Value)
	if err != nil {
		s.wrong(node, cmp.Or(hint, "write a share, such as 5% or 0.05"), "%s%s: %v", s.path, key, err)
		return
	}
	if rate < low || rate > high {
		hint := ""
		if rate >= 1*exchange.RateOne && rate/100 >= low && rate/100 <= high && !strings.HasSuffix(node.Value, "%") {
			hint = fmt.Sprintf("did you mean %s%%?", node.Value)
		}
		bound := fmt.Sprintf("above %s", percent(high))
		if rate < low {
			bound = fmt.Sprintf("below %s", percent(low))
			if low == 1 {
				bound = "not above zero"
			}
		}
		s.wrong(node, hint, "%s%s %s is %s", s.path, key, node.Value, bound)
		return
	}
	*into = rate
}

// duration reads 500ms, 90s, 10m, 4h, 30d and sums of them into milliseconds,
// between two bounds, both included.
func (s *section) duration(key string, into *int64, low, high int64) {
	s.learn(key, Key{Kind: KindDuration, Low: durationText(low), High: durationText(high), Default: unlessZero(*into, durationText(*into))})
	node, ok := s.scalar(key)
	if !ok {
		return
	}
	ms, err := parseDuration(node.Value)
	if err != nil {
		s.wrong(node, durationHint(node.Value), "%s%s: %v", s.path, key, err)
		return
	}
	if ms < low || ms > high {
		s.wrong(node, "", "%s%s %s is not between %s and %s", s.path, key, node.Value, durationText(low), durationText(high))
		return
	}
	*into = ms
}
