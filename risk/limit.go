package risk

import (
	"botd/exchange"
	"botd/internal/notation"
	"botd/reconcile/placement"
)

// Limits are the user's limits of the account or of a strategy. Zero means no limit.
type Limits struct {
	MaxLeverage        int
	MaxGrossExposure   exchange.Rate // multiple of equity
	MaxSymbolExposure  exchange.Rate // multiple of equity
	MaxDailyLoss       Loss
	MaxDrawdown        Loss
	MaxOpenOrders      int
	MaxOrdersPerMinute int
	PriceCollar        exchange.Rate // share of the last price
	MaxDataAgeMS       int64
	MaxLosingStreak    int
	CoolDownMS         int64
	MaxPosition        exchange.Amount `json:"max_position,omitzero"` // base units
}

// The names of the limits in configuration, reports and metrics.
const (
	MaxLeverage        = "max_leverage"
	MaxGrossExposure   = "max_gross_exposure"
	MaxSymbolExposure  = "max_symbol_exposure"
	MaxDailyLoss       = "max_daily_loss"
	MaxDrawdown        = "max_drawdown"
	MaxOpenOrders      = "max_open_orders"
	MaxOrdersPerMinute = "max_orders_per_minute"
	PriceCollar        = "price_collar"
	MaxDataAge         = "max_data_age"
	MaxLosingStreak    = "max_losing_streak"
	CoolDown           = "cool_down"
	MaxPosition        = "max_position"
)

// Limit describes one limit. Check, Explain, Utilization, breaches, metrics, alerts, the
// dashboard, the pages, the reader and the schema of the configuration, and the tables of docs/risk.md
// and docs/configuration.md derive from these rows. To add a limit, add its name, its field and its row to this file, and its cases to
// limit_test.go.
type Limit struct {
	Name string
	Of   string // if set, this is a setting of that limit and has no rule

	// Configuration.
	Scope     MeasuredOn        // on which the account's limit is measured; a strategy may set any limit
	Field     func(*Limits) any // its value: *int, *int64 (ms), *exchange.Rate, *exchange.Amount (base units) or *Loss
	Low, High int64             // bounds of the value, in the unit of the field
	Percent   bool              // write an exchange.Rate as a percentage
	Default   string            // of the account
	Unit      string            // unit of the value, unless its text names one
	Example   string
	What      string // a phrase
	Multiple  bool   // the value is a multiple of the equity
	Usual     string // of a setting: its value where the configuration sets the limit alone

	// Alerts, dashboard and page.
	Near  Near
	Title string // if set, the overview page shows the utilization under this title

	// Rule.
	measure    func(*subject) figures
	ofLeverage bool   // applies to a change of leverage too
	hint       string // in a rejection
	latch      *latch // set: once crossed, the limit blocks entries until the breach ends

	// docs/risk.md.
	Counts, Effect string
	Ends           string // how a full or breached limit clears; botd limits shows it for a full one
}

// Near is the meaning of a utilization near the limit.
type Near uint8

// The meanings of a utilization near the limit.
const (
	NearIsUsual Near = iota + 1 // part of the plan, or of each order: not among the tightest limits
	NearIsShown                 // among the tightest limits of the dashboard and of the overview page
	NearAlerts                  // also opens a ticket (BotdLimitNearlyReached)
)

// String returns the name in the API.
func (n Near) String() string { return [...]string{"", "usual", "shown", "alerts"}[n] }

// MeasuredOn is the scope on which an account limit is measured.
type MeasuredOn uint8

// The scopes of account limits. A strategy's limit is measured on the strategy.
const (
	OfAccount  MeasuredOn = iota + 1
	OfMarket              // each market
	OfSymbol              // each symbol
	OfStrategy            // the account has no such limit
)

// latch describes how a breach of a limit begins and ends.
type latch struct {
	trigger Trigger
	why     func(figures) string
	until   func(nowMS int64, limits *Limits) int64 // when the breach ends automatically; nil: never
	rearm   bool                                    // botd rearm ends the breach
}

// defaultCoolDown is the time without entries after a losing streak, where no other is set.
const defaultCoolDown = "1h"

// Texts that several limits share.
const (
	isRefused = "the opening is refused"
	isLatched = "latches: no entries, resting openings are canceled"
	isReduced = "reduce the position, or raise the limit"

	// ClearsAutomatically is the remedy of states that end at a known time.
	ClearsAutomatically = "clears automatically; exits and stops continue"
)

// limitTable holds all limits, in the order of checks and documents.
var limitTable = []Limit{
	{Name: MaxLeverage, Scope: OfAccount, Field: func(l *Limits) any { return &l.MaxLeverage }, Low: 1, High: maxMultiple, Default: "20",
		Unit: "times", Example: "20", What: "maximum leverage set on the exchange",
		Near: NearIsUsual, measure: leverageSet, ofLeverage: true, hint: "lower the leverage",
		Counts: "the leverage set on the exchange for the symbol, and a leverage about to be set",
		Effect: "openings and the change of leverage are refused", Ends: "lower the leverage, or raise the limit"},
	{Name: MaxGrossExposure, Scope: OfMarket, Field: func(l *Limits) any { return &l.MaxGrossExposure }, Low: 1, High: maxMultiple * one, Default: "10",
		Example: "3.0", What: "the value of all positions and openings of a market, as a multiple of that market's equity",
		Multiple: true, Near: NearIsShown, Title: "Gross exposure",
		measure: grossExposure, hint: "the value if everything in flight fills; reduce the order",
		Counts: "the values of all symbols of the market at the last price, as if every resting, in-flight and uncertain opening filled, as a multiple of " +
			"that market's equity; of a strategy: its symbol's value",
		Effect: isRefused, Ends: isReduced},
	{Name: MaxSymbolExposure, Scope: OfSymbol, Field: func(l *Limits) any { return &l.MaxSymbolExposure }, Low: 1, High: maxMultiple * one,
		Example: "100%", What: "value of one symbol's position and openings, as a multiple of its market's equity",
		Multiple: true, Near: NearIsShown, measure: symbolExposure, hint: "the value if everything in flight fills; reduce the order",
		Counts: "the value of one symbol, counted like max_gross_exposure", Effect: isRefused, Ends: isReduced},
	{Name: MaxDailyLoss, Scope: OfAccount, Field: func(l *Limits) any { return &l.MaxDailyLoss }, High: one, Default: "5%",
		Example: "5%", What: "maximum loss since 00:00 UTC; beyond it no entries until the next day",
		Near: NearAlerts, measure: dailyLoss, hint: "no entries until the next UTC day; exits and stops continue",
		latch: &latch{trigger: ByEquity, why: lostTooMuch,
			until: func(nowMS int64, _ *Limits) int64 { return exchange.Day1.OpenOf(nowMS) + int64(exchange.Day1) }},
		Counts: "the loss of equity since 00:00 UTC, excluding deposits and withdrawals; a share of the day's first equity, or USDT",
		Effect: isLatched, Ends: "at 00:00 UTC; `botd rearm` does not end it"},
	{Name: MaxDrawdown, Scope: OfAccount, Field: func(l *Limits) any { return &l.MaxDrawdown }, High: one, Default: "20%",
		Example: "500 USDT", What: "maximum loss from the highest equity; beyond it no entries until `botd rearm`",
		Near: NearAlerts, measure: drawdown, hint: "no entries until botd rearm; exits and stops continue",
		latch:  &latch{trigger: ByEquity, why: lostTooMuch, rearm: true},
		Counts: "the loss from the highest equity since tracking began, or since the last `botd rearm`; a share of that equity, or USDT",
		Effect: isLatched, Ends: "`botd rearm` (`--strategy NAME`); the highest equity is then measured again"},
	{Name: MaxOpenOrders, Scope: OfAccount, Field: func(l *Limits) any { return &l.MaxOpenOrders }, Low: 1, High: maxOrders, Default: "200",
		Unit: "orders", Example: "200", What: "maximum number of orders in the book, in flight or uncertain",
		Near: NearAlerts, measure: openOrders, hint: "cancel orders",
		Counts: "orders in the book, in flight and uncertain", Effect: isRefused, Ends: "when an order ends"},
	{Name: MaxOrdersPerMinute, Scope: OfAccount, Field: func(l *Limits) any { return &l.MaxOrdersPerMinute }, Low: 1, High: maxOrders, Default: "300",
		Unit: "orders", Example: "300", What: "maximum number of orders placed in the last 60 s, whatever their outcome",
		Near: NearAlerts, measure: ordersPerMinute, hint: "wait up to a minute",
		Counts: "placements in the last 60 s, whatever their outcome", Effect: isRefused, Ends: "within a minute"},
	{Name: PriceCollar, Scope: OfSymbol, Field: func(l *Limits) any { return &l.PriceCollar }, Low: 1, High: one, Percent: true,
		Default: notation.Percent(defaultCollar),
		Example: "5%", What: "maximum distance of an opening limit order, and on spot of an exit, beyond the last price, on the costly side",
		Near: NearIsUsual, measure: throughPrice, hint: "a price this far beyond the last price is most likely a mistake",
		Counts: "how far the price of an opening LIMIT is beyond the last price, on the costly side; on spot also that of an exit",
		Effect: isRefused, Ends: "with a price within the collar"},
	{Name: MaxDataAge, Scope: OfSymbol, Field: func(l *Limits) any { return &l.MaxDataAgeMS }, Low: 1000, High: 7 * dayMS, Default: "2m",
		Example: "2m", What: "maximum age of the last price for an opening",
		Near: NearIsUsual, measure: dataAge, hint: "the last price is too old to open on",
		Counts: "the age of the last price", Effect: isRefused, Ends: "with the next price"},
	{Name: MaxLosingStreak, Scope: OfAccount, Field: func(l *Limits) any { return &l.MaxLosingStreak }, Low: 1, High: 1000,
		Unit: "positions", Example: "4", What: "number of consecutive losing positions after which entries stop for `cool_down`",
		Near: NearAlerts, measure: losingStreak, hint: "no entries until the cool-down is over; exits and stops continue",
		latch:  &latch{trigger: ByResults, why: lostInARow, until: func(nowMS int64, limits *Limits) int64 { return nowMS + limits.CoolDownMS }, rearm: true},
		Counts: "consecutive positions that ended with a loss, fees and funding included",
		Effect: "reaching the limit latches for `cool_down`: no entries, resting openings are canceled",
		Ends:   "after `cool_down`, or `botd rearm`; the count starts over"},
	{Name: CoolDown, Of: MaxLosingStreak, Scope: OfAccount, Field: func(l *Limits) any { return &l.CoolDownMS }, Low: 1000, High: 366 * dayMS,
		Example: "risk: {max_losing_streak: 4, cool_down: 2h}", Usual: defaultCoolDown,
		What:   "how long entries stop after a losing streak; default " + defaultCoolDown + " if `max_losing_streak` is set",
		Counts: "how long entries stop after such a streak; default " + defaultCoolDown, Effect: "-", Ends: "-"},
	{Name: MaxPosition, Scope: OfStrategy, Field: func(l *Limits) any { return &l.MaxPosition },
		Unit: "base units", Example: "0.02", What: "maximum position of the strategy, including its openings",
		Near: NearIsUsual, measure: ownPosition, hint: "the position if everything in flight fills; reduce the order",
		Counts: "its position, or the quantity that its own fills opened and have not reduced if that is larger, " +
			"plus all its openings on the same side, in base units", Effect: isRefused, Ends: isReduced},
}

// Bounds of values, chosen to reveal a forgotten percent sign.
const (
	one         = int64(exchange.RateOne)
	maxMultiple = 1000
	maxOrders   = 100_000
	dayMS       = 24 * 3_600_000
)

func leverageSet(s *subject) figures {
	if s.intent != nil && s.intent.Purpose == placement.Leverage {
		return counts(s.intent.Leverage, s.limits.MaxLeverage)
	}
	if s.state != nil {
		f := counts(s.state.Leverage(), s.limits.MaxLeverage)
		f.idle = s.state.Key().Market == exchange.Spot
		return f
	}
	highest := 0
	for _, state := range s.traded {
		highest = max(highest, state.Leverage())
	}
	return counts(highest, s.limits.MaxLeverage)
}

// grossExposure measures the market. For a strategy, it measures the strategy's one symbol.
func grossExposure(s *subject) figures {
	if s.strategy != "" {
		return s.exposure(s.limits.MaxGrossExposure)
	}
	f := figures{unit: usdt}
	for state := range s.tracker.Symbols() {
		if !s.expose(&f, state) {
			return f
		}
	}
	return s.exposed(f, s.limits.MaxGrossExposure)
}

func symbolExposure(s *subject) figures {
	return s.exposure(s.limits.MaxSymbolExposure)
}

func dailyLoss(s *subject) figures {
	return s.loss(s.watch.Day().Equity, s.limits.MaxDailyLoss)
}

func drawdown(s *subject) figures {
	return s.loss(s.watch.Day().Peak, s.limits.MaxDrawdown)
}

// losingStreak counts consecutive losing positions. By itself it refuses no intent: the result of a position
// crosses the limit, and the breach refuses.
func losingStreak(s *subject) figures {
	f := counts(s.watch.Losses(), s.limits.MaxLosingStreak)
	f.byResult = true
	return f
}

// openOrders counts the orders in the order book, in flight and uncertain.
func openOrders(s *subject) figures {
	n := s.added()
	for p := range s.tracker.Live() {
		if s.strategy == "" || p.Strategy() == s.strategy {
			n++
		}
	}
	return counts(n, s.limits.MaxOpenOrders)
}

func ordersPerMinute(s *subject) figures {
	all, own := s.tracker.SentWithin(s.nowMS, s.strategy)
	if s.strategy == "" {
		own = all
	}
	return counts(own+s.added(), s.limits.MaxOrdersPerMinute)
}

// throughPrice measures how far a LIMIT order's price is beyond the last price, on the costly side. There is
// nothing to measure without such an order.
func throughPrice(s *subject) figures {
	if s.state.Rules() == nil || s.state.Last() <= 0 {
		return figures{unknown: s.state.Key().String() + " has no price", hint: nextRound}
	}
	rules, last := s.state.Rules(), s.state.Last()
	f := figures{limit: rules.PriceAmount(last).MulRate(s.limits.PriceCollar), unit: usdt, idle: true}
	if s.intent != nil && s.intent.Order.Type == exchange.Limit {
		f.value, f.idle = rules.PriceAmount(exchange.Price(max(0, int64(s.intent.Order.Price-last)*s.intent.Order.Side.Sign()))), false
	}
	return f
}

func dataAge(s *subject) figures {
	if s.state.LastMS() == 0 {
		return figures{unknown: "no price of " + s.state.Key().String() + " was read", hint: nextRound}
	}
	return figures{value: milliseconds(max(0, s.nowMS-s.state.LastMS())), limit: milliseconds(s.limits.MaxDataAgeMS), unit: seconds}
}

// ownPosition counts the strategy's part of the position, and its openings as filled.
func ownPosition(s *subject) figures {
	rules := s.state.Rules()
	if rules == nil {
		return figures{unknown: "the rules of " + s.state.Key().String() + " were not read", hint: nextRound}
	}
	size := max(worstCaseOwnSize(s.state, exchange.Buy), worstCaseOwnSize(s.state, exchange.Sell))
	if s.intent != nil {
		size = addSaturating(worstCaseOwnSize(s.state, s.intent.Order.Side), orderedQuantity(&s.intent.Order, s.state))
	}
	return figures{value: rules.QuantityAmount(size), limit: s.limits.MaxPosition, unit: sizeOf(rules, 0).unit}
}
