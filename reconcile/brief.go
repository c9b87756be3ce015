package reconcile

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"botd/strategy"
)

// Brief says in a line what a record says, without its time, kind, strategy and
// symbol. Quantities and prices are in units of the symbol's scales, which a
// record does not carry.
func (r *Record) Brief() string {
	var parts []string
	add := func(format string, arguments ...any) { parts = append(parts, fmt.Sprintf(format, arguments...)) }
	if r.ClientOrderID != "" {
		add("%s", r.ClientOrderID)
	}
	if r.OrderID != 0 {
		add("order %d", r.OrderID)
	}
	if r.Purpose != 0 {
		add("%s", r.Purpose)
	}
	if o := r.Order; o != nil {
		add("%s %s", o.Side, o.Type)
		if o.StopPrice != 0 {
			add("stop %d", o.StopPrice)
		}
		if o.Price != 0 {
			add("price %d", o.Price)
		}
		if !o.QuoteAmount.IsZero() {
			add("for %s", o.QuoteAmount)
		} else if o.Quantity != 0 {
			add("quantity %d", o.Quantity)
		}
	}
	if r.State != 0 {
		add("%s", r.State)
	}
	if r.Filled != 0 {
		add("filled %d", r.Filled)
	}
	r.briefly(add)
	for _, text := range []string{r.Rule, r.Level.String(), r.Why, r.Evidence} {
		if text != "" {
			add("%s", text)
		}
	}
	return strings.Join(parts, " ")
}

// briefly says what single kinds have.
func (r *Record) briefly(add func(string, ...any)) {
	switch r.Kind {
	case RecordBoot:
		add("epoch %d", r.Epoch)
	case RecordConfig:
		if r.Hash != "" {
			add("hash %.12s", r.Hash)
		}
	case RecordRefused:
		add("code %d", r.Code)
	case RecordPlan:
		if r.Plan != nil {
			add("%s", briefPlan(r.Plan))
		}
	case RecordMemory:
		for _, m := range r.Memory {
			add("%s=%d", m.Key, m.Value)
		}
	case RecordResolved:
		add("quantity %d", r.Resolved)
	case RecordLatch:
		add("side %d", r.Latch)
	case RecordDay:
		add("equity %s peak %s", r.Equity, r.Peak)
	case RecordHalt:
		if r.Level == LevelNone {
			add("armed again")
		}
	case RecordLimit:
		add("%s", cmp.Or(r.Limit, "as configured"))
	case RecordBreaker, RecordBreach:
		if r.UntilMS != 0 {
			add("until %s", time.UnixMilli(r.UntilMS).UTC().Format(time.RFC3339))
		}
	case RecordResult:
		add("result %s", r.Result)
	case RecordEntry:
		if r.Entry != nil {
			add("%s", r.Entry.brief())
		}
	}
}

func briefPlan(p *strategy.Plan) string {
	text := "no target"
	switch p.Target.Kind {
	case strategy.ByQuantity:
		text = fmt.Sprintf("target quantity %d", p.Target.Quantity)
	case strategy.ByEquity:
		text = fmt.Sprintf("target %s of equity", p.Target.Share)
	case strategy.ByQuote:
		text = fmt.Sprintf("target %s USDT", p.Target.Quote)
	}
	if p.OrdersSet {
		text += fmt.Sprintf(", %d orders", len(p.Orders))
	}
	if p.Reason != "" {
		text += ": " + p.Reason
	}
	return text
}

// brief names the lines that are not the wallet's.
func (p *Posting) brief() string {
	text := p.Reading.Market.String()
	for i := range p.Lines {
		if l := &p.Lines[i]; l.Account != Wallet {
			text += fmt.Sprintf(" %s %s %s", l.Account, l.Amount, l.Asset)
		}
	}
	return text
}
