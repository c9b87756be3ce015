package risk

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// Tightenable are the limits that a person may set tighter while botd runs.
var Tightenable = []string{MaxLeverage, MaxGrossExposure, MaxSymbolExposure, MaxPosition, MaxDailyLoss, MaxDrawdown, MaxOpenOrders, MaxOrdersPerMinute,
	PriceCollar, MaxDataAge, MaxLosingStreak}

// usualCoolDownMS is how long entries wait after a losing streak where nothing else
// says so.
const usualCoolDownMS = 3_600_000

// Tighten sets one limit to a value as the configuration has them, 5%, 500 USDT, 10,
// 2m: one that is tighter than what it is now. Else it is left, and the error says why.
// Of the account symbol is nil.
func (l *Limits) Tighten(rule, value string, symbol *exchange.Symbol) error {
	wanted := Limits{CoolDownMS: l.CoolDownMS}
	if err := wanted.set(rule, value, symbol); err != nil {
		return fmt.Errorf("%s %s: %w", rule, value, err)
	}
	if have := l.Text(rule, symbol); have != "" {
		switch tighter, same := below(wanted.field(rule), l.field(rule)); {
		case !same:
			return fmt.Errorf("%s %s can not be compared with %s: write it in the same way", rule, value, have)
		case !tighter:
			return fmt.Errorf("%s %s is not tighter than %s", rule, value, have)
		}
	}
	if rule == MaxLosingStreak && l.CoolDownMS == 0 {
		l.CoolDownMS = usualCoolDownMS
	}
	return l.set(rule, value, symbol)
}

// field is where a limit is kept; nil for a rule that is none.
func (l *Limits) field(rule string) any {
	switch rule {
	case MaxLeverage:
		return &l.MaxLeverage
	case MaxGrossExposure:
		return &l.MaxGrossExposure
	case MaxSymbolExposure:
		return &l.MaxSymbolExposure
	case MaxPosition:
		return &l.MaxPosition
	case MaxDailyLoss:
		return &l.MaxDailyLoss
	case MaxDrawdown:
		return &l.MaxDrawdown
	case MaxOpenOrders:
		return &l.MaxOpenOrders
	case MaxOrdersPerMinute:
		return &l.MaxOrdersPerMinute
	case PriceCollar:
		return &l.PriceCollar
	case MaxDataAge:
		return &l.MaxDataAgeMS
	case MaxLosingStreak:
		return &l.MaxLosingStreak
	}
	return nil
}

// set reads one limit.
func (l *Limits) set(rule, value string, symbol *exchange.Symbol) (err error) {
	switch field := l.field(rule).(type) {
	case nil:
		return fmt.Errorf("there is no such limit (there are: %s)", strings.Join(Tightenable, ", "))
	case *int:
		if *field, err = strconv.Atoi(value); err != nil || *field < 1 {
			return fmt.Errorf("want a whole number from 1 on")
		}
	case *exchange.Rate:
		if *field, err = share(value); err != nil || *field < 1 {
			return fmt.Errorf("want a number above zero, 0.5 or 5%%")
		}
	case *Loss:
		return field.set(value)
	case *int64:
		age, err := time.ParseDuration(value)
		if *field = age.Milliseconds(); err != nil || age < time.Second {
			return fmt.Errorf("want a time of a second or more, 30s or 2m")
		}
	case *exchange.Quantity:
		if symbol == nil {
			return fmt.Errorf("it is a strategy's: say which")
		}
		d, err := decimal.NewFromString(value)
		if err == nil {
			*field, err = symbol.Quantity(d)
		}
		if err != nil || *field < 1 {
			return fmt.Errorf("want a quantity of %s above zero", symbol.Base)
		}
	}
	return nil
}

// set reads a loss: a share, 5%, or money, 500 USDT.
func (l *Loss) set(value string) error {
	*l = Loss{}
	text, absolute := strings.CutSuffix(value, "USDT")
	if !absolute {
		rate, err := share(value)
		if l.Share = rate; err != nil || rate < 1 || rate > exchange.RateOne {
			return fmt.Errorf("want a share up to 100%%, or money, 500 USDT")
		}
		return nil
	}
	d, err := decimal.NewFromString(strings.TrimSpace(text))
	if err == nil {
		l.USDT, err = exchange.AmountFromDecimal(d)
	}
	if err != nil || l.USDT.Sign() <= 0 {
		return fmt.Errorf("want an amount above zero, 500 USDT")
	}
	return nil
}

func share(value string) (exchange.Rate, error) {
	text, percent := strings.CutSuffix(value, "%")
	d, err := decimal.NewFromString(strings.TrimSpace(text))
	if err != nil {
		return 0, err
	}
	if percent {
		d = d.Shift(-2)
	}
	return exchange.RateFromDecimal(d)
}

// below reports whether a limit is below another one, and whether they can be compared.
func below(a, b any) (below, same bool) {
	switch a := a.(type) {
	case *int:
		return *a < *b.(*int), true
	case *exchange.Rate:
		return *a < *b.(*exchange.Rate), true
	case *int64:
		return *a < *b.(*int64), true
	case *exchange.Quantity:
		return *a < *b.(*exchange.Quantity), true
	case *Loss:
		b := b.(*Loss)
		if (a.Share != 0) != (b.Share != 0) {
			return false, false
		}
		return a.Share < b.Share || a.USDT.Less(b.USDT), true
	}
	return false, false
}

// Text is a limit as Tighten reads it; empty for none.
func (l *Limits) Text(rule string, symbol *exchange.Symbol) string {
	percent := func(r exchange.Rate) string { return r.Decimal().Shift(2).String() + "%" }
	switch field := l.field(rule).(type) {
	case *int:
		if *field != 0 {
			return strconv.Itoa(*field)
		}
	case *exchange.Rate:
		switch {
		case *field == 0:
		case rule == PriceCollar:
			return percent(*field)
		default:
			return field.String()
		}
	case *Loss:
		switch {
		case field.Share != 0:
			return percent(field.Share)
		case !field.USDT.IsZero():
			return field.USDT.String() + " USDT"
		}
	case *int64:
		if *field != 0 {
			return (time.Duration(*field) * time.Millisecond).String()
		}
	case *exchange.Quantity:
		if *field != 0 && symbol != nil {
			return symbol.QuantityDecimal(*field).String()
		}
	}
	return ""
}
