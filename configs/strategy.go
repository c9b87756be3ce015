package configs

import (
	"cmp"
	"fmt"
	"maps"
	"path"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/risk"
	"botd/strategy"
	"botd/strategy/overlay"
)

// StrategyConfig is one file of strategies/: a strategy on one symbol.
type StrategyConfig struct {
	File string
	Line int // of its first key

	Name       string
	Kind       string // the registry's name, the key `strategy`
	Market     exchange.Market
	Symbol     string
	Interval   exchange.Interval
	Schedule   Schedule
	Leverage   int // futures; 0 leaves the venue's setting
	Size       SizeConfig
	Params     strategy.Values
	Limits     risk.Limits // only those in the file
	Protect    ProtectConfig
	Exits      ExitsConfig // in the file, part of protect
	Entry      EntryConfig
	ScaleIn    []overlay.Step // partial entries, by distance; the first at once
	Targets    []overlay.Step // partial exits, by distance
	Reduce     bool           // on_insufficient: reduce
	Backtest   BacktestConfig
	CatchUp    int    // maximum slices of a backlog per tick (twap, dca); 0 is 1
	OnRemove   string // flatten, leave, or empty for leave
	Start      string // paused, running, or empty: paused for a new strategy in live mode, else running
	AcceptLoss bool   // the user accepts that its own parameters make it lose to fees
	Reentry    string // signal, immediate, never, or empty for the strategy's default

	Script     ScriptConfig // of a strategy: script
	Command    []string     // of a strategy: process
	DeadlineMS int64        // of a decision, live; 0 is the engine's
	MemoryMB   int64        // of the strategy's process; 0 is the default

	ColumnFiles []string // of external series, FILE or FILE=PREFIX
	ColumnPaths []string // their paths
	columns     strategy.Columns
	others      []exchange.SymbolKey // whose candles it reads in addition to its own
	watching    strategy.Watching

	definition *strategy.Definition // nil if the kind is unknown
	paramLines map[string]int
	weight     exchange.Rate // share of the account's equity that its own logic holds
	edge       string        // profit of its round trips after fees; empty if its parameters do not determine it
}

// ScriptConfig is the file of a strategy: script.
type ScriptConfig struct {
	File      string // as written, relative to the strategy's file
	Text      string
	Libraries []strategy.Library // the files in its folder that it loads
	SHA256    string             // of the texts, in hexadecimal; the file may pin it
}

// Paths returns the script and its libraries, relative to the strategy's file.
func (c *ScriptConfig) Paths() (paths []string) {
	if c.File == "" {
		return nil
	}
	paths = append(paths, c.File)
	for i := range c.Libraries {
		paths = append(paths, path.Join(path.Dir(c.File), c.Libraries[i].Name))
	}
	return paths
}

// SizeConfig is a strategy.Size before the symbol's scales are known, or a rule for sizing a position at its entry.
// At most one field besides Max is not zero.
type SizeConfig struct {
	Equity   exchange.Rate   // share of account equity
	Quantity decimal.Decimal // base currency
	Quote    exchange.Amount // USDT

	Risk       exchange.Rate // share of the equity that the stop loses
	Volatility exchange.Rate // annual volatility of the position, as a share of the equity
	Kelly      exchange.Rate // share of the growth-optimal position
	Max        exchange.Rate // maximum share of the equity, with one of the three; 0 is 100 %
}

// IsZero reports whether no size is set.
func (s SizeConfig) IsZero() bool {
	return s.Equity == 0 && s.Quantity.IsZero() && s.Quote.IsZero() && !s.atEntry()
}

// atEntry reports whether a position is sized at its entry.
func (s SizeConfig) atEntry() bool { return s.Risk != 0 || s.Volatility != 0 || s.Kelly != 0 }

// sizing returns the rule for sizing a position at its entry, with its protection.
func (c *StrategyConfig) sizing(protection *strategy.Protection) overlay.Sizing {
	s := &c.Size
	return overlay.Sizing{Steps: c.ScaleIn, Reduce: c.Reduce, Risk: s.Risk, Volatility: s.Volatility, Kelly: s.Kelly,
		Max: cmp.Or(s.Max, exchange.RateOne), Stop: protection.StopLoss, TakeProfit: protection.TakeProfit}
}

// ProtectConfig is the protection of the position by orders on the exchange.
type ProtectConfig struct {
	StopLoss   DistanceConfig
	TakeProfit DistanceConfig
}

// DistanceConfig is a price, or a share of the entry price away from it. At
// most one field is not zero.
type DistanceConfig struct {
	Share exchange.Rate
	Price decimal.Decimal
}

// IsZero reports whether no distance is set.
func (d DistanceConfig) IsZero() bool { return d.Share == 0 && d.Price.IsZero() }

// Setting returns the strategy's environment, with sizes in the symbol's scales.
func (c *StrategyConfig) Setting(symbol *exchange.Symbol) (strategy.Setting, error) {
	setting := strategy.Setting{Market: c.Market, Symbol: symbol, Interval: c.Interval, TickMS: c.Schedule.regularMS(),
		CatchUp: c.CatchUp, MemoryMB: c.MemoryMB, Columns: c.columns,
		Fees: strategy.Fees{Maker: c.Backtest.Maker, Taker: c.Backtest.Taker}}
	setting.Size = strategy.Size{Equity: c.Size.Equity, Quote: c.Size.Quote}
	if c.Size.atEntry() { // the strategy returns all of it, or a part
		setting.Size.Equity = exchange.RateOne
	}
	quantity, err := symbol.Quantity(c.Size.Quantity)
	if err != nil {
		return setting, fmt.Errorf("%s:%d: size.quantity %s: %w", c.File, c.Line, c.Size.Quantity, err)
	}
	setting.Size.Quantity = quantity
	return setting, nil
}

// Protection returns the protection in the symbol's scales. It is not set if the file has none.
func (c *StrategyConfig) Protection(symbol *exchange.Symbol) (strategy.Protection, error) {
	var protection strategy.Protection
	for _, side := range []struct {
		key  string
		from DistanceConfig
		to   *strategy.Distance
	}{{"stop_loss", c.Protect.StopLoss, &protection.StopLoss}, {"take_profit", c.Protect.TakeProfit, &protection.TakeProfit}} {
		price, err := symbol.Price(side.from.Price)
		if err != nil {
			return protection, fmt.Errorf("%s:%d: protect.%s %s: %w", c.File, c.Line, side.key, side.from.Price, err)
		}
		*side.to = strategy.Distance{Price: price, Share: side.from.Share}
		protection.Set = protection.Set || !side.to.IsZero()
	}
	return protection, nil
}

// Definition returns the definition found when the file was read: its script's, else the registry's.
func (c *StrategyConfig) Definition() (strategy.Definition, bool) {
	if c.definition == nil {
		return strategy.Definition{}, false
	}
	return *c.definition, true
}

// With returns the strategy with other values for some of its parameters.
func (c *StrategyConfig) With(params map[string]string) *StrategyConfig {
	changed := *c
	changed.Params = maps.Clone(c.Params)
	if changed.Params == nil {
		changed.Params = strategy.Values{}
	}
	maps.Copy(changed.Params, params)
	return &changed
}

// ReentryPolicy returns the policy of `reentry`, unset if the file does not have it.
func (c *StrategyConfig) ReentryPolicy() strategy.Reentry {
	policy, err := strategy.ParseReentry(c.Reentry)
	if err != nil {
		return strategy.ReentryUnset
	}
	return policy
}

// reentry returns the policy of re-entry: the file's, else the strategy's own.
func (c *StrategyConfig) reentry(made strategy.Strategy) strategy.Reentry {
	if policy := c.ReentryPolicy(); policy != strategy.ReentryUnset {
		return policy
	}
	return strategy.ReentryOf(made)
}

// checkProtection refuses a stop for a strategy whose resting orders sell the position: on spot both would need the
// asset, and the exchange accepts only one.
func (c *StrategyConfig) checkProtection(made strategy.Strategy) error {
	stops := !c.Protect.StopLoss.IsZero() || !c.Protect.TakeProfit.IsZero() || c.Exits.TrailingDistance != 0
	if c.Market != exchange.Spot || !stops || !strategy.RestsExits(made) {
		return nil
	}
	return fmt.Errorf("protect: %s keeps orders in the book that sell its position, and on spot they and a stop cannot both reserve the asset", c.Kind)
}

// Build makes the strategy for a symbol.
func (c *StrategyConfig) Build(symbol *exchange.Symbol) (strategy.Strategy, error) {
	definition, known := c.Definition()
	if !known {
		return nil, fmt.Errorf("%s:%d: unknown strategy %q", c.File, c.Line, c.Kind)
	}
	setting, err := c.Setting(symbol)
	if err != nil {
		return nil, err
	}
	built, err := definition.New(setting, c.Params)
	if err != nil {
		return nil, fmt.Errorf("%s:%d: build strategy %s: %w", c.File, c.Line, c.Kind, err)
	}
	if err := c.checkProtection(built); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", c.File, c.Line, err)
	}
	protection, err := c.Protection(symbol)
	if err != nil {
		return nil, err
	}
	return overlay.Wrap(built, overlay.TradeSettings{
		Sizing: c.sizing(&protection),
		Exit: overlay.Exit{Base: protection, Trailing: overlay.Trailing{Distance: c.Exits.TrailingDistance, After: c.Exits.TrailingAfter},
			TimeLimitMS: c.Exits.TimeLimitMS, Returns: c.Exits.Returns, CooldownMS: c.Exits.CooldownMS,
			ProfitTargets: c.Targets, Reentry: c.reentry(built),
			SellsProfit: symbol.Market == exchange.Spot && (!protection.TakeProfit.IsZero() || strategy.TakesProfit(built))},
		Entry: overlay.Entry{Resting: c.Entry.Order == "limit" || c.Entry.Order == "post_only", PostOnly: c.Entry.Order == "post_only",
			PatienceMS: c.Entry.PatienceMS, Tries: c.Entry.Tries, Cross: c.Entry.Then == "market"},
	}), nil
}
