package risk

import (
	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/reconcile"
)

// Account is what the use of all limits is told from.
type Account struct {
	NowMS      int64
	Book       *reconcile.Book
	Equity     exchange.Amount // of all markets traded
	Known      bool            // Equity is
	Markets    []MarketFacts   // traded
	Strategies []StrategyFacts
}

// MarketFacts is one market's equity.
type MarketFacts struct {
	Market exchange.Market
	Equity exchange.Amount
}

// StrategyFacts is one strategy with its own limits.
type StrategyFacts struct {
	Name   string
	Truth  *reconcile.SymbolTruth
	Limits Limits
	Own    exchange.Amount
}

// The states of a limit.
const (
	StateOK       = "ok"
	StateNear     = "near"     // four fifths are used
	StateFull     = "full"     // nothing more fits
	StateBreached = "breached" // entries are kept back
	StateUnknown  = "unknown"  // what it needs was not read yet: refused
)

// Use says how much of one limit is in use.
type Use struct {
	Scope    string             // account, account futures, account spot, symbol ..., strategy ...
	Strategy string             // of a strategy's own limit
	Symbol   exchange.SymbolKey // of a symbol's
	Rule     string
	Use      string
	Limit    string
	Headroom string
	Ratio    float64 // share of the limit in use; 1 is the limit
	State    string
	Why      string // of a breach
	WayOut   string // of one that is full or breached
	SinceMS  int64  // of a breach
	UntilMS  int64  // of a breach that ends by itself

	Set *reconcile.SetLimit // what a person set it to; nil where it is as configured
}

// uses collects them.
type uses struct {
	nowMS    int64
	all      []Use
	scope    string
	strategy string
	key      exchange.SymbolKey
}

func (u *uses) add(rule string, use, limit decimal.Decimal, unit string) *Use {
	row := Use{Scope: u.scope, Strategy: u.strategy, Symbol: u.key, Rule: rule, Use: text(use, unit), Limit: text(limit, unit), Headroom: text(decimal.Max(limit.Sub(use), decimal.Zero), unit), State: StateOK}
	if limit.Sign() > 0 {
		row.Ratio = use.Div(limit).InexactFloat64()
	} else if use.Sign() > 0 {
		row.Ratio = 1
	}
	switch {
	case row.Ratio >= 1:
		row.State = StateFull
	case row.Ratio >= 0.8:
		row.State = StateNear
	}
	u.all = append(u.all, row)
	return &u.all[len(u.all)-1]
}

func text(value decimal.Decimal, unit string) string {
	if unit == "USDT" {
		value = value.Round(2)
	}
	if unit == "" {
		return value.String()
	}
	return value.String() + " " + unit
}

func whole(n int) decimal.Decimal { return decimal.NewFromInt(int64(n)) }

func seconds(ms int64) decimal.Decimal { return decimal.New(ms, -3) }

// Uses says how much of every limit is in use: the account's, then each
// strategy's own.
func (g *Gate) Uses(facts *Account) []Use {
	u := &uses{nowMS: facts.NowMS, scope: "account"}
	limits, watch := &g.limits, facts.Book.Watch("")
	if limits.MaxLeverage != 0 {
		most := 0
		for _, s := range facts.Strategies {
			most = max(most, s.Truth.Leverage)
		}
		u.add(MaxLeverage, whole(most), whole(limits.MaxLeverage), "")
	}
	u.losses(watch, limits, facts.Equity, facts.Known)
	all, _ := open(facts.Book, "")
	sent, _ := facts.Book.SentWithin(facts.NowMS, "")
	u.counts(limits, all, sent)
	for _, market := range facts.Markets {
		u.gross(market, limits.MaxGrossExposure, facts.Book)
	}
	for _, s := range facts.Strategies {
		u.scope, u.key = "symbol "+s.Truth.Key.String(), s.Truth.Key
		u.symbol(limits.MaxSymbolExposure, MaxSymbolExposure, s.Truth, facts)
		u.age(limits, s.Truth)
		u.collar(limits)
	}
	for i := range facts.Strategies {
		u.own(&facts.Strategies[i], facts)
	}
	for i := range u.all {
		u.all[i].WayOut = u.all[i].wayOut()
	}
	return u.all
}

// wayOut says what ends a limit that keeps entries back.
func (u *Use) wayOut() string {
	switch {
	case u.State == StateUnknown:
		return "what it needs is read with the next round"
	case u.UntilMS != 0:
		return "ends by itself"
	case u.State == StateBreached && u.Strategy != "":
		return "botd rearm --strategy " + u.Strategy
	case u.State == StateBreached:
		return "botd rearm"
	case u.State != StateFull:
		return ""
	}
	switch u.Rule {
	case MaxOpenOrders, MaxOrdersPerMinute, MaxDataAge:
		return "ends by itself"
	case MaxLeverage:
		return "lower the leverage, or raise the limit"
	}
	return "less of it, or a higher limit"
}

// own are the limits a strategy's file names.
func (u *uses) own(s *StrategyFacts, facts *Account) {
	u.scope, u.strategy, u.key = "strategy "+s.Name, s.Name, exchange.SymbolKey{}
	limits := &s.Limits
	if limits.MaxLeverage != 0 {
		u.add(MaxLeverage, whole(s.Truth.Leverage), whole(limits.MaxLeverage), "")
	}
	if limits.MaxPosition != 0 && s.Truth.Rules != nil {
		size := max(own(s.Truth, facts.Book, exchange.Buy), own(s.Truth, facts.Book, exchange.Sell))
		u.add(MaxPosition, s.Truth.Rules.QuantityDecimal(size), s.Truth.Rules.QuantityDecimal(limits.MaxPosition), s.Truth.Rules.Base)
	}
	u.symbol(limits.MaxGrossExposure, MaxGrossExposure, s.Truth, facts)
	u.symbol(limits.MaxSymbolExposure, MaxSymbolExposure, s.Truth, facts)
	u.losses(facts.Book.Watch(s.Name), limits, s.Own, facts.Known)
	_, open := open(facts.Book, s.Name)
	_, sent := facts.Book.SentWithin(u.nowMS, s.Name)
	u.counts(limits, open, sent)
	u.age(limits, s.Truth)
	u.collar(limits)
}

// losses are the limits that latch.
func (u *uses) losses(watch *reconcile.Watch, limits *Limits, equity exchange.Amount, known bool) {
	for _, l := range []struct {
		rule  string
		from  exchange.Amount
		limit Loss
	}{{MaxDailyLoss, watch.Day.Equity, limits.MaxDailyLoss}, {MaxDrawdown, watch.Day.Peak, limits.MaxDrawdown}} {
		if l.limit.IsZero() {
			continue
		}
		loss := l.from.Sub(equity).Max(exchange.Amount{})
		row := u.add(l.rule, loss.Decimal(), l.limit.From(l.from).Decimal(), "USDT")
		if !known || watch.Day.StartMS == 0 {
			row.State = StateUnknown
		}
		u.latched(row, watch)
	}
	if limits.MaxLosingStreak != 0 {
		u.latched(u.add(MaxLosingStreak, whole(watch.Losses), whole(limits.MaxLosingStreak), ""), watch)
	}
}

func (u *uses) latched(row *Use, watch *reconcile.Watch) {
	if b := watch.Breach(row.Rule); b != nil && !b.Over(u.nowMS) {
		row.State, row.Why, row.SinceMS, row.UntilMS = StateBreached, b.Why, b.SinceMS, b.UntilMS
		row.Ratio = max(row.Ratio, 1)
	}
}

func (u *uses) counts(limits *Limits, open, sent int) {
	if limits.MaxOpenOrders != 0 {
		u.add(MaxOpenOrders, whole(open), whole(limits.MaxOpenOrders), "")
	}
	if limits.MaxOrdersPerMinute != 0 {
		u.add(MaxOrdersPerMinute, whole(sent), whole(limits.MaxOrdersPerMinute), "")
	}
}

// gross is the values of all symbols of a market together.
func (u *uses) gross(market MarketFacts, limit exchange.Rate, book *reconcile.Book) {
	if limit == 0 {
		return
	}
	u.scope = "account " + market.Market.String()
	var gross exchange.Amount
	all := true
	for _, truth := range book.Symbols() {
		if truth.Key.Market == market.Market {
			one, known := exposure(truth, book)
			gross, all = gross.Add(one), all && known
		}
	}
	row := u.add(MaxGrossExposure, gross.Decimal(), market.Equity.MulRate(limit).Decimal(), "USDT")
	if !all || market.Equity.Sign() <= 0 {
		row.State = StateUnknown
	}
}

// symbol is one symbol's value.
func (u *uses) symbol(limit exchange.Rate, rule string, truth *reconcile.SymbolTruth, facts *Account) {
	if limit == 0 {
		return
	}
	var equity exchange.Amount
	for _, market := range facts.Markets {
		if market.Market == truth.Key.Market {
			equity = market.Equity
		}
	}
	value, known := exposure(truth, facts.Book)
	row := u.add(rule, value.Decimal(), equity.MulRate(limit).Decimal(), "USDT")
	if !known || equity.Sign() <= 0 {
		row.State = StateUnknown
	}
}

func (u *uses) age(limits *Limits, truth *reconcile.SymbolTruth) {
	if limits.MaxDataAgeMS == 0 {
		return
	}
	if truth.LastMS == 0 {
		u.add(MaxDataAge, decimal.Zero, seconds(limits.MaxDataAgeMS), "s").State = StateUnknown
		return
	}
	u.add(MaxDataAge, seconds(max(0, u.nowMS-truth.LastMS)), seconds(limits.MaxDataAgeMS), "s")
}

// collar is a bound of each order's price: nothing of it is ever in use.
func (u *uses) collar(limits *Limits) {
	if limits.PriceCollar != 0 {
		percent := limits.PriceCollar.Decimal().Shift(2).String() + " %"
		u.all = append(u.all, Use{Scope: u.scope, Strategy: u.strategy, Symbol: u.key, Rule: PriceCollar, Use: "-", Limit: percent, Headroom: percent, State: StateOK})
	}
}
