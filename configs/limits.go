package configs

import (
	"fmt"
	"strings"

	"github.com/shopspring/decimal"
	"gopkg.in/yaml.v3"

	"botd/exchange"
	"botd/risk"
)

// Limits are the user's own limits, of the account or, tighter, of a strategy.
// Zero is not set: in a strategy, the account's alone holds.
type Limits struct {
	MaxLeverage        int
	MaxGrossExposure   exchange.Rate // sum of all notionals as a share of equity
	MaxSymbolExposure  exchange.Rate // one symbol's notional as a share of equity
	MaxDailyLoss       risk.Loss     // from the equity at 00:00 UTC
	MaxDrawdown        risk.Loss     // from the highest equity
	MaxOpenOrders      int
	MaxOrdersPerMinute int
	PriceCollar        exchange.Rate // distance of an order's price from the last
	MaxDataAgeMS       int64
	MaxLosingStreak    int             // losing positions in a row
	CoolDownMS         int64           // how long entries wait after them
	MaxPosition        decimal.Decimal // base units; strategies only
}

// DefaultLimits are the account's limits where botd.yaml names none.
func DefaultLimits() Limits {
	percent := exchange.RateOne / 100
	return Limits{
		MaxLeverage: 20, MaxGrossExposure: 10 * exchange.RateOne, MaxDailyLoss: risk.Loss{Share: 5 * percent}, MaxDrawdown: risk.Loss{Share: 20 * percent},
		MaxOpenOrders: 200, MaxOrdersPerMinute: 300, PriceCollar: 5 * percent, MaxDataAgeMS: 2 * minute,
	}
}

// The largest values that make sense, so that a forgotten percent sign is seen.
const (
	maxLeverage = 1000
	maxOrders   = 100_000
	maxStreak   = 1_000
)

// usualCoolDownMS is how long entries wait after a losing streak where no
// cool_down says otherwise.
const usualCoolDownMS = hour

func readLimits(s *section, limits *Limits) {
	one := exchange.RateOne
	s.whole("max_leverage", &limits.MaxLeverage, 1, maxLeverage)
	s.rate("max_gross_exposure", &limits.MaxGrossExposure, 1, maxLeverage*one)
	s.rate("max_symbol_exposure", &limits.MaxSymbolExposure, 1, maxLeverage*one)
	s.loss("max_daily_loss", &limits.MaxDailyLoss)
	s.loss("max_drawdown", &limits.MaxDrawdown)
	s.whole("max_open_orders", &limits.MaxOpenOrders, 1, maxOrders)
	s.whole("max_orders_per_minute", &limits.MaxOrdersPerMinute, 1, maxOrders)
	s.rate("price_collar", &limits.PriceCollar, 1, one)
	s.duration("max_data_age", &limits.MaxDataAgeMS, second, 7*day)
	s.whole("max_losing_streak", &limits.MaxLosingStreak, 1, maxStreak)
	s.duration("cool_down", &limits.CoolDownMS, second, 366*day)
	if node := s.value("cool_down"); node != nil && limits.MaxLosingStreak == 0 {
		s.warn(node, "name max_losing_streak beside it", "%scool_down has no effect without max_losing_streak", s.path)
	}
	if limits.MaxLosingStreak != 0 && limits.CoolDownMS == 0 {
		limits.CoolDownMS = usualCoolDownMS
	}
}

// loss reads the bound of a loss: a share, 5%, or money, 500 USDT.
func (s *section) loss(key string, into *risk.Loss) {
	s.learn(key, Key{Kind: KindLoss, High: "100%"})
	node := s.value(key)
	if node == nil || node.Kind != yaml.ScalarNode {
		s.rate(key, &into.Share, 1, exchange.RateOne)
		return
	}
	money, absolute := strings.CutSuffix(strings.TrimSpace(node.Value), "USDT")
	if !absolute {
		if d, _, err := parseDecimal(node.Value); err == nil && d.GreaterThan(decimal.NewFromInt(100)) {
			s.known = append(s.known, key)
			s.wrong(node, fmt.Sprintf("did you mean %s USDT?", node.Value), "%s%s %s is above 100%%", s.path, key, node.Value)
			return
		}
		share := into.Share
		s.rate(key, &share, 1, exchange.RateOne)
		*into = risk.Loss{Share: share}
		return
	}
	s.known = append(s.known, key)
	d, hint, err := parseDecimal(strings.TrimSpace(money))
	amount, inexact := exchange.AmountFromDecimal(d)
	switch {
	case err != nil:
		s.wrong(node, "write a share, 5%, or money, 500 USDT", "%s%s: %v", s.path, key, err)
	case inexact != nil:
		s.wrong(node, hint, "%s%s %s has more than %d decimal places or is too large", s.path, key, node.Value, exchange.AmountScale)
	case amount.Sign() <= 0:
		s.wrong(node, "take the line out for no limit of its own", "%s%s %s is not above zero", s.path, key, node.Value)
	default:
		*into = risk.Loss{USDT: amount}
	}
}

func lossText(loss risk.Loss) string {
	if !loss.USDT.IsZero() {
		return loss.USDT.String() + " USDT"
	}
	return percent(loss.Share)
}

// refuseLooser tells of limits in a strategy that are looser than the account's:
// whoever wrote them believes in something that does not hold.
func refuseLooser(s *section, own, account Limits) {
	for _, pair := range []struct {
		key          string
		own, account int64
		limit        string
	}{
		{"max_leverage", int64(own.MaxLeverage), int64(account.MaxLeverage), fmt.Sprint(account.MaxLeverage)},
		{"max_gross_exposure", int64(own.MaxGrossExposure), int64(account.MaxGrossExposure), account.MaxGrossExposure.String()},
		{"max_symbol_exposure", int64(own.MaxSymbolExposure), int64(account.MaxSymbolExposure), account.MaxSymbolExposure.String()},
		{"max_daily_loss", int64(own.MaxDailyLoss.Share), int64(account.MaxDailyLoss.Share), lossText(account.MaxDailyLoss)},
		{"max_daily_loss", looser(own.MaxDailyLoss.USDT, account.MaxDailyLoss.USDT), 1, lossText(account.MaxDailyLoss)},
		{"max_drawdown", int64(own.MaxDrawdown.Share), int64(account.MaxDrawdown.Share), lossText(account.MaxDrawdown)},
		{"max_drawdown", looser(own.MaxDrawdown.USDT, account.MaxDrawdown.USDT), 1, lossText(account.MaxDrawdown)},
		{"max_open_orders", int64(own.MaxOpenOrders), int64(account.MaxOpenOrders), fmt.Sprint(account.MaxOpenOrders)},
		{"max_orders_per_minute", int64(own.MaxOrdersPerMinute), int64(account.MaxOrdersPerMinute), fmt.Sprint(account.MaxOrdersPerMinute)},
		{"price_collar", int64(own.PriceCollar), int64(account.PriceCollar), percent(account.PriceCollar)},
		{"max_data_age", own.MaxDataAgeMS, account.MaxDataAgeMS, durationText(account.MaxDataAgeMS)},
		{"max_losing_streak", int64(own.MaxLosingStreak), int64(account.MaxLosingStreak), fmt.Sprint(account.MaxLosingStreak)},
	} {
		if value := s.value(pair.key); value != nil && pair.account != 0 && pair.own > pair.account {
			s.wrong(value, "write a tighter limit, take the line out, or raise risk."+pair.key+" in botd.yaml",
				"%s%s %s is looser than the account's %s", s.path, pair.key, value.Value, pair.limit)
		}
	}
}

// looser is 2 when an amount of money is above another that is given.
func looser(own, account exchange.Amount) int64 {
	if !account.IsZero() && account.Less(own) {
		return 2
	}
	return 0
}
