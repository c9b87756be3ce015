package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"botd/exchange"
	"botd/internal/spell"
	"botd/risk"
	"botd/strategy"
)

// LoadStrategy reads and checks one strategy file, as botd backtest run -s does.
// Without a botd.yaml beside it no account limits are known.
func LoadStrategy(file string, options Options) (*StrategyConfig, Problems) {
	shown := filepath.ToSlash(file)
	found, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, Problems{{File: shown, What: "there is no such file"}}
	case err != nil:
		return nil, Problems{{File: shown, What: "cannot be read: " + reason(err)}}
	case found.IsDir():
		return nil, Problems{{File: shown, What: "is a directory, not a strategy's file"}}
	}
	directory, name := filepath.Split(file)
	if directory == "" {
		directory = "."
	}
	l := &loader{files: os.DirFS(directory), directory: filepath.ToSlash(directory), options: options, config: defaults(), shown: shown}
	l.config.Limits = risk.Limits{}
	if options.Mode != "" {
		l.config.Mode = options.Mode
	}
	c, _ := l.strategy(name)
	l.problems.sort()
	if l.problems.Errors() > 0 {
		return nil, l.problems
	}
	return c, l.problems
}

// strategies reads all strategy files and compares them with each other.
func (l *loader) strategies(files []string) {
	if len(files) > MaxStrategies {
		l.document(StrategyFolder).fail(0, "run a second botd with a configuration of its own", "%d strategies are more than %d", len(files), MaxStrategies)
		return
	}
	names, instruments := map[string]string{}, map[exchange.SymbolKey]string{}
	for _, file := range files {
		c, s := l.strategy(file)
		if c == nil {
			continue
		}
		at := fmt.Sprintf("%s:%d", c.File, s.lineOf("name"))
		if first, doubled := names[c.Name]; doubled && c.Name != "" {
			s.fail(s.lineOf("name"), "give each strategy a name of its own", "name %q is taken by %s", c.Name, first)
		} else {
			names[c.Name] = at
		}
		key := exchange.SymbolKey{Market: c.Market, Name: c.Symbol}
		at = fmt.Sprintf("%s:%d", c.File, s.lineOf("symbol"))
		if first, doubled := instruments[key]; doubled && c.Market != 0 && c.Symbol != "" {
			s.fail(s.lineOf("symbol"), "a position has one owner; trade another symbol, or run a second account", "%s is traded by %s already", key, first)
		} else {
			instruments[key] = at
		}
		l.config.Strategies = append(l.config.Strategies, *c)
	}
	if len(files) == 0 && len(l.problems) == 0 {
		l.document(StrategyFolder).report(Warning, 0, 0, "put a file into "+l.name(StrategyFolder)+"/", "there is no strategy; botd will watch and trade nothing")
	}
}

// strategy reads one file. The result is nil when it could not be read at all;
// otherwise it is whatever could be read, problems or not.
func (l *loader) strategy(file string) (*StrategyConfig, *section) {
	d, node := l.read(file)
	if node == nil {
		return nil, nil
	}
	if len(node.Content) == 0 {
		d.fail(0, "a strategy needs name, strategy, market, symbol and interval", "is empty")
		return nil, nil
	}
	c := &StrategyConfig{File: d.file, Line: node.Line, Params: strategy.Values{}, paramLines: map[string]int{}}
	s := newSection(d, "", node)
	r := &strategyReader{section: s, loader: l, into: c, file: file}
	r.read()
	r.build()
	return c, s
}

// read reads every key a strategy may have.
func (r *strategyReader) read() {
	s, c := r.section, r.into
	r.identity()
	r.instrument()
	r.schedule()
	r.size(s.section("size"))
	r.params()
	r.protect()
	r.entry()
	r.risk()
	r.backtest()
	s.choice("on_remove", &c.OnRemove, "flatten", "leave")
	r.unknownKeys()
}

// strategyReader reads one strategy's file.
type strategyReader struct {
	*section
	loader *loader
	into   *StrategyConfig
	file   string           // its name among the loader's files
	symbol *exchange.Symbol // nil when not known
	equity *yaml.Node       // of the size, when it is one
	broken bool             // a parameter is wrong: the strategy can not be built
}

// required reports a key that must be there.
func (r *strategyReader) required(key, hint string) bool {
	if r.find(key) == nil {
		r.fail(r.line, hint, "%s is missing", key)
		return false
	}
	return true
}

var strategyName = regexp.MustCompile(`^[a-z0-9_-]{1,32}$`)

func (r *strategyReader) identity() {
	c := r.into
	if node := r.text("name", &c.Name); node != nil && !strategyName.MatchString(c.Name) {
		r.wrong(node, "a short name of your own, such as btc-trend", "name %q is not 1 to 32 of a-z, 0-9, _ and -", shortened(c.Name))
	}
	r.required("name", "a short name of your own, such as btc-trend")
	var known []string
	if registry := r.loader.options.Registry; registry != nil {
		for _, definition := range registry.All() {
			known = append(known, definition.Name)
		}
	}
	list := "one of " + strings.Join(known, ", ")
	if !r.required("strategy", list) {
		r.text("strategy", &c.Kind)
		return
	}
	node := r.text("strategy", &c.Kind)
	if node == nil || r.loader.options.Registry == nil {
		return
	}
	if definition, found := r.loader.options.Registry.Find(c.Kind); found {
		r.into.definition = &definition
		r.script()
		return
	}
	if near := spell.Nearest(strings.ToLower(strings.ReplaceAll(c.Kind, "-", "_")), known); near != "" {
		list = fmt.Sprintf("did you mean %q? there are %s", near, strings.Join(known, ", "))
	}
	r.wrong(node, list, "unknown strategy %q", shortened(c.Kind))
}

func (r *strategyReader) instrument() {
	c := r.into
	var market, interval string
	r.choice("market", &market, "futures", "spot")
	if r.required("market", "futures or spot") && market != "" {
		c.Market, _ = exchange.ParseMarket(market) // one of the two by now
	}
	if node := r.text("symbol", &c.Symbol); node != nil {
		r.findSymbol(node)
	}
	r.required("symbol", "such as BTC-USDT")
	if node := r.text("interval", &interval); node != nil {
		r.interval(node)
	}
	r.required("interval", "the candles it decides on: "+strings.Join(intervalNames(c.Market), ", "))
	r.leverage()
}

var symbolName = regexp.MustCompile(`^[A-Z0-9]{1,20}-[A-Z0-9]{1,20}$`)

func (r *strategyReader) findSymbol(node *yaml.Node) {
	c := r.into
	var known []string
	for _, symbol := range r.loader.options.Symbols {
		if symbol.Market != c.Market {
			continue
		}
		known = append(known, symbol.Name)
		if symbol.Name == c.Symbol {
			r.symbol = symbol
			return
		}
	}
	hint := ""
	if len(known) > 0 {
		hint = fmt.Sprintf("%s has %s", c.Market, strings.Join(known, ", "))
		// One letter only: SOL is not what DOGE was meant to be.
		written := strings.ToUpper(strings.NewReplacer("/", "-", "_", "-").Replace(c.Symbol))
		if near := spell.Nearest(written, known); near != "" && spell.Distance(written, near) <= 1 {
			hint = fmt.Sprintf("did you mean %q? %s", near, hint)
		}
	}
	switch {
	case !symbolName.MatchString(c.Symbol):
		if hint == "" {
			hint = "symbols are written BASE-QUOTE, such as BTC-USDT"
		}
		r.wrong(node, hint, "symbol %q is not BASE-QUOTE in capitals", shortened(c.Symbol))
	case len(known) == 0:
	case r.loader.config.Mode == Demo:
		r.wrong(node, hint, "symbol %s is not known on %s", c.Symbol, c.Market)
	default:
		r.warn(node, hint, "symbol %s is not among the built-in ones of %s; the venue decides at start", c.Symbol, c.Market)
	}
}

// intervalNames are the intervals a market serves (interface, Futures public
// and Spot public).
func intervalNames(market exchange.Market) []string {
	var names []string
	for _, interval := range exchange.Intervals() {
		if market != exchange.Spot || interval != exchange.Minute30 && interval != exchange.Week1 {
			names = append(names, interval.String())
		}
	}
	return names
}

func (r *strategyReader) interval(node *yaml.Node) {
	served := intervalNames(r.into.Market)
	interval, err := exchange.ParseInterval(node.Value)
	switch {
	case err != nil:
		r.wrong(node, "one of "+strings.Join(served, ", "), "interval %q is not known", shortened(node.Value))
	case !slices.Contains(served, interval.String()):
		r.wrong(node, "one of "+strings.Join(served, ", "), "interval %s is not served by %s", interval, r.into.Market)
	default:
		r.into.Interval = interval
	}
}

func (r *strategyReader) leverage() {
	c := r.into
	var wanted int
	r.whole("leverage", &wanted, 1, maxLeverage)
	node := r.value("leverage")
	if node == nil || wanted == 0 {
		return
	}
	most := r.loader.config.Limits.MaxLeverage
	switch {
	case c.Market == exchange.Spot:
		r.wrong(node, "take the line out", "leverage is for futures, not for spot")
	case r.symbol != nil && len(r.symbol.Brackets) > 0 && wanted > r.symbol.Brackets[0].MaxLeverage:
		r.wrong(node, "lower leverage", "leverage %d exceeds %d (%s, bracket 1)", wanted, r.symbol.Brackets[0].MaxLeverage, c.Symbol)
	case most > 0 && wanted > most:
		r.wrong(node, "lower leverage, or raise risk.max_leverage in botd.yaml", "leverage %d exceeds %d (risk.max_leverage)", wanted, most)
	default:
		c.Leverage = wanted
	}
}

func (r *strategyReader) schedule() {
	var spec string
	node := r.text("schedule", &spec)
	schedule, hint, err := parseSchedule(spec, r.into.Interval)
	if err != nil {
		r.wrong(node, hint, "%v", err)
		return
	}
	r.into.Schedule = schedule
}
