package risk

import (
	"cmp"
	"fmt"

	"botd/exchange"
)

// finding is the result of one rule for an intent: the figures it compared, and whether it refused.
// Check and Explain read the same findings. Numbers are formatted only for a rejection or a verdict, so
// a check that passes formats none.
type finding struct {
	rule    string
	scope   scope // the limit's scope
	refused bool
	value   figure
	limit   figure
	hint    string // of a rejection

	setting *Limit  // of a limit: its row
	limits  *Limits // of a limit: its value
}

// figure is a number with its unit, a text, or a number with a text before it.
type figure struct {
	text   string
	number exchange.Amount
	upTo   exchange.Amount // of a range
	unit   unit
	fine   bool // print all digits
}

// unit is the unit of a figure's number; an empty one means that there is no number.
type unit string

// Units. The name of an asset is a unit too.
const (
	plain   unit = "1"
	usdt    unit = "USDT"
	seconds unit = "s"
)

// String returns the figure. USDT are rounded to the cent unless all digits count, and seconds are
// truncated to whole ones.
func (f figure) String() string {
	switch {
	case f.unit == usdt && !f.fine:
		f.number = toCents(f.number)
	case f.unit == seconds:
		f.number = f.number.MulDiv(1, amountUnit).Mul(amountUnit)
	}
	return f.exact()
}

// amountUnit is the number of smallest amounts in one unit.
const amountUnit = 1_000_000_000_000_000_000

var halfCent = exchange.AmountOf(1).Div(200)

// toCents rounds to the nearest cent, and half a cent away from zero.
func toCents(a exchange.Amount) exchange.Amount {
	half := halfCent
	if a.Sign() < 0 {
		half = half.Neg()
	}
	return a.Add(half).MulDiv(1, amountUnit/100).Mul(amountUnit / 100)
}

// exact returns the figure with all its digits.
func (f figure) exact() string {
	if f.unit == "" {
		return f.text
	}
	text := f.number.String()
	if !f.upTo.IsZero() {
		text += " to " + f.upTo.String()
	}
	if f.unit != plain {
		text += " " + string(f.unit)
	}
	if f.text != "" {
		text = f.text + " " + text
	}
	return text
}

func word(text string) figure { return figure{text: text} }

func number(amount exchange.Amount, unit unit) figure { return figure{number: amount, unit: unit} }

// money returns an amount that the exchange compares digit by digit.
func money(amount exchange.Amount) figure {
	return figure{number: amount, unit: usdt, fine: true}
}

func priceOf(rules *exchange.Symbol, p exchange.Price) figure {
	return number(rules.PriceAmount(p), plain)
}

func sizeOf(rules *exchange.Symbol, q exchange.Quantity) figure {
	return number(rules.QuantityAmount(q), unit(cmp.Or(rules.Base, string(plain))))
}

func countOf(n int) figure { return number(exchange.AmountOf(int64(n)), plain) }

// prefixed puts a text before the number, as in "a multiple of 0.1".
func (f figure) prefixed(text string) figure {
	f.text = text
	return f
}

// compare sets the figures of a rule and reports whether they fit. If not, the rule refuses.
func (f *finding) compare(value, limit figure, fits bool, hint string) bool {
	f.value, f.limit, f.hint = value, limit, hint
	return fits
}

// refuse sets a rejection whose figures are texts.
func (f *finding) refuse(value, limit any, hint string) bool {
	return f.compare(word(fmt.Sprint(value)), word(fmt.Sprint(limit)), false, hint)
}

// texts returns both figures, with all their digits where rounding would make a refused
// value look like its limit.
func (f *finding) texts() (value, limit string) {
	if value, limit = f.value.String(), f.limit.String(); f.refused && value == limit {
		return f.value.exact(), f.limit.exact()
	}
	return value, limit
}

// advice returns the hint. The hint of a limit includes the configured value.
func (f *finding) advice() string {
	if f.setting == nil {
		return f.hint
	}
	whose := "risk."
	if f.scope.strategy != "" {
		whose = "the strategy's risk."
	}
	return f.hint + " (" + whose + f.setting.Name + ": " + f.setting.Text(f.limits) + ")"
}

func (f *finding) rejection() *Rejection {
	value, limit := f.texts()
	return &Rejection{Rule: f.rule, Scope: f.scope.String(), Value: value, Limit: limit, Hint: f.advice()}
}

func (f *finding) verdict() Verdict {
	value, limit := f.texts()
	v := Verdict{Rule: f.rule, Scope: f.scope.String(), Outcome: Passed, Value: value, Limit: limit}
	if f.refused {
		v.Outcome, v.Hint = Rejected, f.advice()
	}
	return v
}
