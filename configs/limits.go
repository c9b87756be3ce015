package configs

import (
	"github.com/shopspring/decimal"

	"botd/exchange"
)

// Limits are the user's own limits, of the account or, tighter, of a strategy.
// Zero is not set: in a strategy, the account's alone holds.
type Limits struct {
	MaxLeverage        int
	MaxGrossExposure   exchange.Rate // sum of all notionals as a share of equity
	MaxDailyLoss       exchange.Rate // share of the equity at 00:00 UTC
	MaxDrawdown        exchange.Rate // share of the highest equity
	MaxOpenOrders      int
	MaxOrdersPerMinute int
	PriceCollar        exchange.Rate // distance of an order's price from the last
	MaxDataAgeMS       int64
	MaxPosition        decimal.Decimal // base units; strategies only
}

// DefaultLimits are the account's limits where botd.yaml names none.
func DefaultLimits() Limits {
	percent := exchange.RateOne / 100
	return Limits{
		MaxLeverage: 20, MaxGrossExposure: 10 * exchange.RateOne, MaxDailyLoss: 5 * percent, MaxDrawdown: 20 * percent,
		MaxOpenOrders: 200, MaxOrdersPerMinute: 300, PriceCollar: 5 * percent, MaxDataAgeMS: 2 * minute,
	}
}

// The largest values that make sense, so that a forgotten percent sign is seen.
const (
	maxLeverage = 1000
	maxOrders   = 100_000
)

func readLimits(s *section, limits *Limits) {
	one := exchange.RateOne
	s.whole("max_leverage", &limits.MaxLeverage, 1, maxLeverage)
	s.rate("max_gross_exposure", &limits.MaxGrossExposure, 1, maxLeverage*one)
	s.rate("max_daily_loss", &limits.MaxDailyLoss, 1, one)
	s.rate("max_drawdown", &limits.MaxDrawdown, 1, one)
	s.whole("max_open_orders", &limits.MaxOpenOrders, 1, maxOrders)
	s.whole("max_orders_per_minute", &limits.MaxOrdersPerMinute, 1, maxOrders)
	s.rate("price_collar", &limits.PriceCollar, 1, one)
	s.duration("max_data_age", &limits.MaxDataAgeMS, second, 7*day)
}

// warnLooser tells of limits in a strategy that the account's make idle.
func warnLooser(s *section, own, account Limits) {
	pairs := []struct {
		key          string
		own, account int64
	}{
		{"max_leverage", int64(own.MaxLeverage), int64(account.MaxLeverage)},
		{"max_gross_exposure", int64(own.MaxGrossExposure), int64(account.MaxGrossExposure)},
		{"max_daily_loss", int64(own.MaxDailyLoss), int64(account.MaxDailyLoss)},
		{"max_drawdown", int64(own.MaxDrawdown), int64(account.MaxDrawdown)},
		{"max_open_orders", int64(own.MaxOpenOrders), int64(account.MaxOpenOrders)},
		{"max_orders_per_minute", int64(own.MaxOrdersPerMinute), int64(account.MaxOrdersPerMinute)},
		{"price_collar", int64(own.PriceCollar), int64(account.PriceCollar)},
		{"max_data_age", own.MaxDataAgeMS, account.MaxDataAgeMS},
	}
	for _, pair := range pairs {
		if value := s.value(pair.key); value != nil && pair.own > pair.account {
			s.warn(value, "the account's limit is tighter; only values tighter than botd.yaml's have an effect",
				"%s%s %s has no effect", s.path, pair.key, value.Value)
		}
	}
}
