package risk

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/internal/notation"
)

// Loss is a limit on a loss: a share of the starting equity, or an amount in USDT.
type Loss struct {
	Share exchange.Rate
	USDT  exchange.Amount
}

// IsZero reports whether there is no limit.
func (l Loss) IsZero() bool { return l.Share == 0 && l.USDT.IsZero() }

// From returns the largest allowed loss from a starting equity.
func (l Loss) From(equity exchange.Amount) exchange.Amount {
	if l.Share != 0 {
		return equity.MulRate(l.Share)
	}
	return l.USDT
}

// String returns the loss in configuration syntax, such as 5% or 500 USDT, or an empty string for
// none.
func (l Loss) String() string {
	switch {
	case l.Share != 0:
		return notation.Percent(l.Share)
	case !l.USDT.IsZero():
		return l.USDT.String() + " USDT"
	}
	return ""
}

// Table returns the rows of all limits, in the order of the checks and the documents.
func Table() []Limit { return slices.Clone(limitTable) }

// LimitNamed returns the row of a limit, or nil.
func LimitNamed(name string) *Limit {
	for i := range limitTable {
		if limitTable[i].Name == name {
			return &limitTable[i]
		}
	}
	return nil
}

// DefaultLimits returns the account limits that apply if the configuration sets none.
func DefaultLimits() (limits Limits) {
	for i := range limitTable {
		if l := &limitTable[i]; l.Default != "" {
			if problem, _ := l.Parse(&limits, l.Default); problem != "" {
				panic("risk: default of " + l.Name + problem)
			}
		}
	}
	return limits
}

// Tightenable returns the names of the limits that a user can tighten while botd runs.
func Tightenable() (names []string) {
	for i := range limitTable {
		if limitTable[i].measure != nil {
			names = append(names, limitTable[i].Name)
		}
	}
	return names
}

// Tighten sets one limit of a strategy, or of the account if the strategy is empty, to a value in
// configuration syntax: 5%, 500 USDT, 10, 2m. A value that is not tighter than the current one is
// an error and changes nothing.
func (l *Limits) Tighten(strategy, name, value string) error {
	limit, tighter := LimitNamed(name), *l
	switch {
	case limit == nil || limit.measure == nil:
		return fmt.Errorf("%s %s: unknown limit (known: %s)", name, value, strings.Join(Tightenable(), ", "))
	case limit.Scope == OfStrategy && strategy == "":
		return fmt.Errorf("%s %s: this limit belongs to a strategy: name the strategy", name, value)
	}
	switch problem, hint := limit.Parse(&tighter, value); {
	case problem != "" && hint != "":
		return fmt.Errorf("%s%s; %s", name, problem, hint)
	case problem != "":
		return errors.New(name + problem)
	}
	if in := limit.Text(l); in != "" {
		switch order, comparable := limit.Compare(&tighter, l); {
		case !comparable:
			return fmt.Errorf("%s %s cannot be compared with %s: use the same unit", name, value, in)
		case order >= 0:
			return fmt.Errorf("%s %s is not tighter than %s", name, value, in)
		}
	}
	*l = tighter
	l.Complete()
	return nil
}

// Complete gives settings that the configuration leaves out their usual values, where their limit is set.
func (l *Limits) Complete() {
	for i := range limitTable {
		if setting := &limitTable[i]; setting.Usual != "" && !setting.isSet(l) && LimitNamed(setting.Of).isSet(l) {
			if problem, _ := setting.Parse(l, setting.Usual); problem != "" {
				panic("risk: usual value of " + setting.Name + problem)
			}
		}
	}
}

// Setting is one limit with its value in configuration syntax.
type Setting struct{ Name, Value string }

// List returns the limits that are set. It omits settings of limits that are not set.
func (l *Limits) List() (all []Setting) {
	for i := range limitTable {
		limit := &limitTable[i]
		if value := limit.Text(l); value != "" && (limit.Of == "" || l.Text(limit.Of) != "") {
			all = append(all, Setting{limit.Name, value})
		}
	}
	return all
}

// Text returns the named limit in configuration syntax, or an empty string for none.
func (l *Limits) Text(name string) string {
	if limit := LimitNamed(name); limit != nil {
		return limit.Text(l)
	}
	return ""
}

// isSet reports whether the limit has a value.
func (l *Limit) isSet(limits *Limits) bool {
	switch field := l.Field(limits).(type) {
	case *int:
		return *field != 0
	case *int64:
		return *field != 0
	case *exchange.Rate:
		return *field != 0
	case *exchange.Amount:
		return !field.IsZero()
	case *Loss:
		return !field.IsZero()
	}
	return false
}

// Text returns the limit's value in configuration syntax, or an empty string for none.
func (l *Limit) Text(limits *Limits) string {
	if !l.isSet(limits) {
		return ""
	}
	switch field := l.Field(limits).(type) {
	case *int:
		return strconv.Itoa(*field)
	case *int64:
		return notation.DurationText(*field)
	case *exchange.Rate:
		if l.Percent {
			return notation.Percent(*field)
		}
		return field.String()
	case *exchange.Amount:
		return field.String()
	case *Loss:
		return field.String()
	}
	return ""
}

// Compare orders two values of the limit, the smaller, which is the tighter one, first, and reports whether
// they are comparable. A share and an amount of money are not.
func (l *Limit) Compare(a, b *Limits) (order int, comparable bool) {
	switch a := l.Field(a).(type) {
	case *int:
		return cmp.Compare(*a, *l.Field(b).(*int)), true
	case *int64:
		return cmp.Compare(*a, *l.Field(b).(*int64)), true
	case *exchange.Rate:
		return cmp.Compare(*a, *l.Field(b).(*exchange.Rate)), true
	case *exchange.Amount:
		return a.Cmp(*l.Field(b).(*exchange.Amount)), true
	case *Loss:
		b := l.Field(b).(*Loss)
		return cmp.Or(cmp.Compare(a.Share, b.Share), a.USDT.Cmp(b.USDT)), (a.Share != 0) == (b.Share != 0)
	}
	return 0, false
}

// Parse reads a value of the limit as configuration files write it. A value that it refuses, such as one outside the
// limit's bounds, has a problem and possibly a hint (internal/notation), and changes nothing.
func (l *Limit) Parse(limits *Limits, text string) (problem, hint string) {
	switch field := l.Field(limits).(type) {
	case *int:
		n, problem, hint := notation.Whole(text, int(l.Low), int(l.High))
		return notation.Store(field, n, problem, hint)
	case *int64:
		ms, problem, hint := notation.DurationWithin(text, l.Low, l.High)
		return notation.Store(field, ms, problem, hint)
	case *exchange.Rate:
		rate, problem, hint := notation.Share(text, exchange.Rate(l.Low), exchange.Rate(l.High))
		return notation.Store(field, rate, problem, hint)
	case *exchange.Amount:
		units, problem, hint := notation.Units(text)
		return notation.Store(field, units, problem, hint)
	case *Loss:
		loss, problem, hint := parseLoss(text)
		return notation.Store(field, loss, problem, hint)
	default:
		panic(fmt.Sprintf("risk: limit %s has a field of type %T", l.Name, field))
	}
}

// parseLoss reads a limit on a loss: a share, 5%, or an amount, 500 USDT.
func parseLoss(text string) (loss Loss, problem, hint string) {
	money, absolute := strings.CutSuffix(strings.TrimSpace(text), "USDT")
	d, hint, err := notation.Decimal(money)
	if !absolute {
		if err == nil && d.GreaterThan(decimal.NewFromInt(100)) {
			return loss, fmt.Sprintf(" %s is above 100%%", text), fmt.Sprintf("did you mean %s USDT?", text)
		}
		share, problem, hint := notation.Share(text, 1, exchange.RateOne)
		return Loss{Share: share}, problem, hint
	}
	amount, inexact := exchange.AmountFromDecimal(d)
	switch {
	case err != nil:
		return loss, ": " + err.Error(), "write a share, 5%, or money, 500 USDT"
	case inexact != nil:
		return loss, fmt.Sprintf(" %s has more than %d decimal places or is too large", text, exchange.AmountScale), hint
	case amount.Sign() <= 0:
		return loss, fmt.Sprintf(" %s is not above zero", text), notation.NoLimitHint
	}
	return Loss{USDT: amount}, "", ""
}
