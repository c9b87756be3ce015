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
	"botd/internal/notation"
	"botd/internal/spell"
	"botd/risk"
	"botd/strategy"
)

// LoadStrategy reads and checks one strategy file, as botd backtest run -s does. Without a botd.yaml in its
// configuration, no account limits are known.
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
	_, name := filepath.Split(file)
	return loaderOf(file, options).oneStrategy(name)
}

// StrategyWarnings returns the warnings of botd check about a strategy's file. It uses the limits of the
// configuration's botd.yaml, or else the default ones.
func StrategyWarnings(file string, options Options) (warnings Problems) {
	directory, name := filepath.Split(filepath.Clean(file))
	limits := defaults().Limits
	if root := filepath.Join(directory, ".."); filepath.Base(filepath.Clean(directory)) == StrategyFolder {
		if config, _ := LoadDirectory(root, options); config != nil {
			limits = config.Limits
		}
	}
	l := loaderOf(file, options)
	l.config.Limits = limits
	c, _ := l.strategy(name)
	if c == nil {
		return nil
	}
	l.problems.sort()
	for _, p := range l.problems {
		if p.Severity == Warning {
			warnings = append(warnings, p)
		}
	}
	return warnings
}

// strategies reads all strategy files and compares them with each other.
func (l *loader) strategies(files []string) {
	if len(files) > MaxStrategies {
		l.document(StrategyFolder).
			fail(0, "run a second botd with its own configuration", "%d strategies exceed the maximum of %d", len(files), MaxStrategies)
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
			s.fail(s.lineOf("name"), "give each strategy a unique name", "name %q is already used by %s", c.Name, first)
		} else {
			names[c.Name] = at
		}
		key := exchange.SymbolKey{Market: c.Market, Name: c.Symbol}
		at = fmt.Sprintf("%s:%d", c.File, s.lineOf("symbol"))
		if first, doubled := instruments[key]; doubled && c.Market != 0 && c.Symbol != "" {
			s.fail(s.lineOf("symbol"), "a position has one owner; trade another symbol, or run a second account", "%s is already traded by %s", key,
				first)
		} else {
			instruments[key] = at
		}
		l.config.Strategies = append(l.config.Strategies, *c)
	}
	l.checkShares()
	if len(files) == 0 && len(l.problems) == 0 {
		l.document(StrategyFolder).report(Warning, 0, 0, "put a file into "+l.name(StrategyFolder)+"/",
			"there is no strategy; botd will only watch")
	}
}

// checkShares warns about strategies that together claim more than the whole account: those whose own logic
// holds a share of it, and on spot those sized by a share.
func (l *loader) checkShares() {
	for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
		var sum exchange.Rate
		var names []string
		var last *StrategyConfig
		for i := range l.config.Strategies {
			c := &l.config.Strategies[i]
			part := c.weight
			if c.Market == exchange.Spot {
				part += c.Size.Equity
			}
			if c.Market == market && part > 0 {
				sum, last = sum+part, c
				names = append(names, c.Name+" "+notation.Percent(part))
			}
		}
		if sum > exchange.RateOne && len(names) > 1 {
			l.problems = append(l.problems, Problem{Severity: Warning, File: last.File, Line: last.Line,
				What: fmt.Sprintf("the shares of the account on %s add up to %s: %s", market, notation.Percent(sum), strings.Join(names, ", ")),
				Hint: "the last to enter is refused; let them add up to at most 100%"})
		}
	}
}

// strategy reads one file. The result is nil if the file is unreadable; otherwise it contains everything that could
// be read, despite problems.
func (l *loader) strategy(file string) (*StrategyConfig, *section) {
	d, node := l.read(file)
	if node == nil {
		return nil, nil
	}
	d.strategy = true
	if len(node.Content) == 0 {
		d.fail(0, "a strategy needs name, strategy, market, symbol and interval", "is empty")
		return nil, nil
	}
	r := l.reader(newStrategyConfig(d.file, node.Line), newSection(d, "", node))
	r.file = file
	for _, k := range r.keys() {
		k.read(r.section)
	}
	r.reportUnknown()
	if l.options.Columns != nil {
		r.into.columns = l.options.Columns
	}
	r.checkStop()
	r.checkSteps()
	r.cautionReentry()
	r.cautionExits()
	r.build()
	return r.into, r.section
}

func newStrategyConfig(file string, line int) *StrategyConfig {
	return &StrategyConfig{File: file, Line: line, Params: strategy.Values{}, paramLines: map[string]int{},
		Entry: defaultEntry(), Backtest: defaultBacktest(exchange.Futures)}
}

// strategyReader reads one strategy's file.
type strategyReader struct {
	*section
	loader           *loader
	into             *StrategyConfig
	file             string           // its name among the loader's files
	source           *strategy.Source // of the strategy's script
	symbol           *exchange.Symbol // nil if unknown
	equity           *yaml.Node       // of the size, if it is a share of equity
	risk             *yaml.Node       // of the size, if it is by risk
	size             *yaml.Node       // of the size, in any unit
	scaleIn, targets *yaml.Node
	broken           bool // a wrong parameter prevents building the strategy
}

func (l *loader) reader(into *StrategyConfig, s *section) *strategyReader {
	return &strategyReader{section: s, loader: l, into: into}
}

const nameHint = "a short name of your own, such as btc-trend"

// keys returns the keys of a strategy's file. Each key follows the ones that it depends on.
func (r *strategyReader) keys() []key {
	c, stepKeys := r.into, r.stepKeys()
	return slices.Concat([]key{
		{name: "name", value: text(&c.Name), required: always(nameHint), check: checkName,
			what: "a unique name, 1 to 32 of a-z, 0-9, _ and -, which identifies the strategy in the journal", example: "btc-trend"},
		{name: "strategy", value: text(&c.Kind), required: func() string { return "one of " + strings.Join(r.kinds(), ", ") }, check: r.findKind,
			what: "the kind of strategy: a name in `botd strategy list`", example: "sma_cross"},
	}, r.scriptKeys(), r.processKeys(), []key{
		{name: "market", value: choice(new(string), "futures", "spot").showing(func() string { return c.Market.String() }), check: r.readMarket,
			required: always("futures or spot"), what: "the market it trades on", example: "futures"},
		{name: "symbol", value: text(&c.Symbol), required: always("such as BTC-USDT"), check: r.findSymbol,
			what: "the symbol it trades; each symbol of a market belongs to one strategy", example: "BTC-USDT"},
		{name: "interval", value: custom(func() string { return c.Interval.String() }), check: r.readInterval,
			required: func() string { return "the candles it decides on: " + strings.Join(intervalNames(c.Market), ", ") },
			what:     "the candles it decides on: 1m, 5m, 15m, 30m (futures), 1h, 4h, 1d, 1w (futures)", example: "1h"},
		{name: "schedule", value: custom(func() string { return c.Schedule.String() }), check: r.readSchedule, after: r.defaultSchedule,
			what: "when it decides: `@candle` (at every closed candle), `@every 10s`, `@hourly`, or cron fields in UTC", example: `"@every 10s"`},
		{name: "leverage", value: whole(&c.Leverage, 1, maxLeverage), check: r.checkLeverage,
			what: "leverage, set and confirmed on the exchange before the first opening; futures only. Without this key the exchange's " +
				"setting stays", unit: "times", example: "3"},
		{name: "size", keys: r.sizeKeys(), after: r.checkSize},
		{name: "params", members: &members{read: r.readParams, show: c.showParams},
			what: "the strategy's own parameters, below", example: "{fast: 10, slow: 30}"},
		{name: "risk", keys: limitKeys(&c.Limits, true), after: r.checkLimits},
		{name: "protect", keys: r.protectKeys()},
		stepKeys[0], stepKeys[1], stepKeys[2],
		{name: "entry", keys: c.Entry.keys(), after: r.checkEntry, hidden: func() bool { return !c.Entry.rests() }},
		{name: "backtest", keys: c.Backtest.keys()},
		{name: "columns", value: words(&c.ColumnFiles, columnFile, "FILE or FILE=PREFIX"), check: r.openColumns,
			what:    "files of external series (CSV or Parquet: time_ms and numbers) for column(name) in scripts and rules; FILE=PREFIX prefixes their names",
			example: "[onchain.csv]"},
		{name: "catch_up", value: whole(&c.CatchUp, 1, maxCatchUp), check: r.checkCatchUp,
			what: "twap and dca: maximum slices of a backlog that one tick catches up after a pause, a halt or downtime; default 1",
			unit: "slices", example: "2"},
		{name: "accept_loss", value: flag(&c.AcceptLoss),
			what: "trade even if the parameters make every round trip lose to fees (a grid's pair of lines, a spread, a take-profit); " +
				"otherwise `botd check` refuses them",
			example: "true"},
		{name: "reentry", value: choice(&c.Reentry, "signal", "immediate", "never"),
			what: "when it may re-enter a side after a stop-loss or take-profit there: on a new `signal` (the default), " +
				"`immediate`, at the next decision that still targets it, or `never`, until its target has been flat or on the other side",
			example: "signal"},
		{name: "start", value: choice(&c.Start, "paused", "running"),
			what: "how it starts in mode live if the account has never traded it and botd has run before: `paused` until " +
				"`botd strategy resume` (the default), or `running` at once; in demo and paper it runs at once",
			example: "running"},
		{name: "on_remove", value: choice(&c.OnRemove, "flatten", "leave"),
			what: "what happens to its position when its file has been absent for 30 s, at a start or a reload: `flatten` closes it, " +
				"`leave` keeps it and its stop and halts its symbol until `botd rearm`; without this key a start keeps it, and a reload is refused",
			example: "flatten"},
	})
}

// maxCatchUp is the maximum number of backlog slices per tick.
const maxCatchUp = 100_000

var columnFile = regexp.MustCompile(`^[^=]+(=[A-Za-z0-9_.-]+)?$`)

// openColumns opens the files of external series, relative to the strategy's file.
func (r *strategyReader) openColumns(s *section, node *yaml.Node) {
	load := r.loader.options.LoadColumns
	if load == nil || r.loader.options.Columns != nil {
		return
	}
	var files []string
	for _, file := range r.into.ColumnFiles {
		if !filepath.IsAbs(file) {
			file = filepath.Join(r.loader.directory, filepath.Dir(r.file), file)
		}
		files = append(files, file)
	}
	columns, err := load(files)
	if err != nil {
		s.wrong(node, "", "columns: %v", err)
		return
	}
	r.into.columns, r.into.ColumnPaths = columns, files
}

// checkCatchUp accepts the key only for a strategy that trades in slices.
func (r *strategyReader) checkCatchUp(s *section, node *yaml.Node) {
	if kind := r.into.Kind; kind != "" && kind != "twap" && kind != "dca" {
		s.fail(node.Line, "", "catch_up is for twap and dca: %s does not trade in slices", kind)
	}
}

var strategyName = regexp.MustCompile(`^[a-z0-9_-]{1,32}$`)

func checkName(s *section, node *yaml.Node) {
	if !strategyName.MatchString(node.Value) {
		s.wrong(node, nameHint, "name %q is not 1 to 32 of a-z, 0-9, _ and -", notation.Shortened(node.Value))
	}
}

// kinds returns the names of the known strategies.
func (r *strategyReader) kinds() (names []string) {
	if registry := r.loader.options.Registry; registry != nil {
		for _, definition := range registry.All() {
			names = append(names, definition.Name)
		}
	}
	return names
}

func (r *strategyReader) findKind(s *section, node *yaml.Node) {
	if r.loader.options.Registry == nil {
		return
	}
	if definition, found := r.loader.options.Registry.Find(node.Value); found {
		r.into.definition = &definition
		return
	}
	known := r.kinds()
	list := "one of " + strings.Join(known, ", ")
	if near := spell.Nearest(strings.ToLower(strings.ReplaceAll(node.Value, "-", "_")), known); near != "" {
		list = fmt.Sprintf("did you mean %q? there are %s", near, strings.Join(known, ", "))
	}
	s.wrong(node, list, "unknown strategy %q", notation.Shortened(node.Value))
}

func (r *strategyReader) readMarket(_ *section, node *yaml.Node) {
	r.into.Market, _ = exchange.ParseMarket(node.Value) // already validated
	r.into.Backtest = defaultBacktest(r.into.Market)
}

// namesOf returns the names of a market's symbols.
func (r *strategyReader) namesOf(market exchange.Market) (names []string) {
	for _, symbol := range r.loader.options.Symbols {
		if symbol.Market == market {
			names = append(names, symbol.Name)
		}
	}
	return names
}

// hintOf lists a market's symbols and suggests the probable one.
func hintOf(market exchange.Market, written string, known []string) string {
	if len(known) == 0 {
		return ""
	}
	hint := fmt.Sprintf("%s has %s", market, strings.Join(known, ", "))
	// One letter only: SOL is not a misspelling of DOGE.
	written = strings.ToUpper(strings.NewReplacer("/", "-", "_", "-").Replace(written))
	if near := spell.Nearest(written, known); near != "" && spell.Distance(written, near) <= 1 {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	}
	return hint
}

var symbolName = regexp.MustCompile(`^[A-Z0-9]{1,20}-[A-Z0-9]{1,20}$`)

func (r *strategyReader) findSymbol(s *section, node *yaml.Node) {
	c := r.into
	if symbol, found := exchange.FindSymbol(r.loader.options.Symbols, c.Market, c.Symbol); found {
		r.symbol = symbol
		return
	}
	known := r.namesOf(c.Market)
	hint := hintOf(c.Market, c.Symbol, known)
	switch {
	case !symbolName.MatchString(c.Symbol):
		if hint == "" {
			hint = "symbols are written BASE-QUOTE, such as BTC-USDT"
		}
		s.wrong(node, hint, "symbol %q is not BASE-QUOTE in capitals", notation.Shortened(c.Symbol))
	case len(known) == 0:
	case r.loader.config.Mode == Demo:
		s.wrong(node, hint, "symbol %s is not known on %s", c.Symbol, c.Market)
	default:
		s.warn(node, hint, "symbol %s is not among the built-in ones of %s; the venue decides at start", c.Symbol, c.Market)
	}
}

// intervalNames returns the intervals that a market serves (interface, Futures public and Spot public).
func intervalNames(market exchange.Market) []string {
	var names []string
	for _, interval := range exchange.Intervals() {
		if market != exchange.Spot || interval != exchange.Minute30 && interval != exchange.Week1 {
			names = append(names, interval.String())
		}
	}
	return names
}

func (r *strategyReader) readInterval(s *section, node *yaml.Node) {
	served := intervalNames(r.into.Market)
	interval, err := exchange.ParseInterval(node.Value)
	switch {
	case err != nil:
		s.wrong(node, "one of "+strings.Join(served, ", "), "unknown interval %q", notation.Shortened(node.Value))
	case !slices.Contains(served, interval.String()):
		s.wrong(node, "one of "+strings.Join(served, ", "), "interval %s is not served by %s", interval, r.into.Market)
	default:
		r.into.Interval = interval
	}
}

func (r *strategyReader) readSchedule(s *section, node *yaml.Node) {
	schedule, hint, err := parseSchedule(node.Value, r.into.Interval)
	if err != nil {
		s.wrong(node, hint, "%v", err)
		return
	}
	r.into.Schedule = schedule
}

// defaultSchedule sets the schedule to the candle's close.
func (r *strategyReader) defaultSchedule(s *section) {
	if s.single("schedule") == nil {
		r.into.Schedule, _, _ = parseSchedule("", r.into.Interval) // always valid
	}
}

func (r *strategyReader) checkLeverage(s *section, node *yaml.Node) {
	c, desired := r.into, r.into.Leverage
	most := r.loader.config.Limits.MaxLeverage
	c.Leverage = 0
	switch {
	case c.Market == exchange.Spot:
		s.wrong(node, "remove the line", "leverage is for futures, not for spot")
	case r.symbol != nil && len(r.symbol.Brackets) > 0 && desired > r.symbol.Brackets[0].MaxLeverage:
		s.wrong(node, "lower leverage", "leverage %d exceeds %d (%s, bracket 1)", desired, r.symbol.Brackets[0].MaxLeverage, c.Symbol)
	case most > 0 && desired > most:
		s.wrong(node, "lower leverage, or raise risk.max_leverage in botd.yaml", "leverage %d exceeds %d (risk.max_leverage)", desired, most)
	default:
		c.Leverage = desired
	}
}

// checkLimits compares the strategy's limits with its size, its leverage and the
// account's limits.
func (r *strategyReader) checkLimits(s *section) {
	c := r.into
	c.Limits.Complete()
	if s.value("max_leverage") != nil && c.Limits.MaxLeverage > 0 && c.Leverage > c.Limits.MaxLeverage {
		r.wrong(r.value("leverage"), "lower leverage, or raise risk.max_leverage",
			"leverage %d exceeds %d (risk.max_leverage)", c.Leverage, c.Limits.MaxLeverage)
	}
	account := r.loader.config.Limits
	if account != (risk.Limits{}) {
		refuseLooser(s, &c.Limits, &account)
	}
	r.checkExposure(account)
}
