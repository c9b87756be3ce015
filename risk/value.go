package risk

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"botd/exchange"
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
		return percent(l.Share)
	case !l.USDT.IsZero():
		return l.USDT.String() + " USDT"
	}
	return ""
}

func percent(rate exchange.Rate) string { return rate.Decimal().Shift(2).String() + "%" }

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
			if err := l.parse(&limits, l.Default); err != nil {
				panic("risk: default of " + l.Name + ": " + err.Error())
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
	case limit.Reach == OfStrategy && strategy == "":
		return fmt.Errorf("%s %s: this limit belongs to a strategy: name the strategy", name, value)
	}
	if err := limit.parse(&tighter, value); err != nil {
		return fmt.Errorf("%s %s: %w", name, value, err)
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

// Complete fills in the settings that a limit needs and the configuration leaves out.
func (l *Limits) Complete() {
	for i := range limitTable {
		if setting := &limitTable[i]; setting.Usual != "" && !setting.isSet(l) && LimitNamed(setting.Of).isSet(l) {
			if err := setting.parse(l, setting.Usual); err != nil {
				panic("risk: usual value of " + setting.Name + ": " + err.Error())
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
		return durationText(*field)
	case *exchange.Rate:
		if l.Percent {
			return percent(*field)
		}
		return field.String()
	case *exchange.Amount:
		return field.String()
	case *Loss:
		return field.String()
	}
	return ""
}

// Compare orders two values of the limit, the tighter first, and reports whether they are
// comparable. A share and an amount of money are not.
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

// parse reads a value of the limit.
func (l *Limit) parse(limits *Limits, value string) (err error) {
	switch field := l.Field(limits).(type) {
	case *int:
		if *field, err = strconv.Atoi(value); err != nil || *field < 1 {
			return errors.New("want a whole number of at least 1")
		}
	case *int64:
		if *field, err = parseDuration(value); err != nil || *field < l.Low {
			return errors.New("want a duration of at least a second, such as 30s or 2m")
		}
	case *exchange.Rate:
		if *field, err = parseRate(value); err != nil || *field < 1 {
			return errors.New("want a number above zero, such as 0.5 or 5%")
		}
	case *exchange.Amount:
		if *field, err = exchange.ParseAmount(value); err != nil || field.Sign() <= 0 {
			return errors.New("want a number above zero, in base units")
		}
	case *Loss:
		return field.parse(value)
	}
	return nil
}

// parse reads a loss: a share, 5%, or money, 500 USDT.
func (l *Loss) parse(value string) (err error) {
	*l = Loss{}
	money, absolute := strings.CutSuffix(value, "USDT")
	if !absolute {
		if l.Share, err = parseRate(value); err != nil || l.Share < 1 || l.Share > exchange.RateOne {
			return errors.New("want a share of at most 100%, or an amount such as 500 USDT")
		}
		return nil
	}
	d, err := decimal.NewFromString(strings.TrimSpace(money))
	if err == nil {
		l.USDT, err = exchange.AmountFromDecimal(d)
	}
	if err != nil || l.USDT.Sign() <= 0 {
		return errors.New("want an amount above zero, such as 500 USDT")
	}
	return nil
}

func parseRate(text string) (exchange.Rate, error) {
	return exchange.ParseRate(strings.ReplaceAll(text, " ", ""))
}

// parseDuration reads 30s, 2m, 1h30m or whole days, 3d, as milliseconds.
func parseDuration(text string) (int64, error) {
	if days, whole := strings.CutSuffix(text, "d"); whole {
		n, err := strconv.ParseInt(days, 10, 16)
		return n * dayMS, err
	}
	d, err := time.ParseDuration(text)
	return d.Milliseconds(), err
}

// durationText returns a duration in the largest unit that divides it.
func durationText(ms int64) string {
	for _, u := range [...]struct {
		name   string
		length int64
	}{{"d", dayMS}, {"h", 3_600_000}, {"m", 60_000}, {"s", 1000}} {
		if ms%u.length == 0 {
			return strconv.FormatInt(ms/u.length, 10) + u.name
		}
	}
	return strconv.FormatInt(ms, 10) + "ms"
}
