package record

import (
	"cmp"
	"fmt"
	"time"

	"botd/exchange"
	"botd/reconcile/ledger"
	"botd/strategy"
)

// summary collects a short description of a payload.
type summary struct{ parts []string }

func (s *summary) add(format string, values ...any) {
	s.parts = append(s.parts, fmt.Sprintf(format, values...))
}

// texts adds the texts that are not empty.
func (s *summary) texts(texts ...string) {
	for _, text := range texts {
		if text != "" {
			s.parts = append(s.parts, text)
		}
	}
}

func (s *summary) orderID(id int64) {
	if id != 0 {
		s.add("order %d", id)
	}
}

func (s *summary) quantity(name string, q exchange.Quantity) {
	if q != 0 {
		s.add("%s %d", name, q)
	}
}

func (s *summary) until(ms int64) {
	if ms != 0 {
		s.add("until %s", time.UnixMilli(ms).UTC().Format(time.RFC3339))
	}
}

func (s *summary) order(o *exchange.NewOrder) {
	s.add("%s %s", o.Side, o.Type)
	if o.StopPrice != 0 {
		s.add("stop %d", o.StopPrice)
	}
	if o.Price != 0 {
		s.add("price %d", o.Price)
	}
	if !o.QuoteAmount.IsZero() {
		s.add("for %s", o.QuoteAmount)
	} else {
		s.quantity("quantity", o.Quantity)
	}
}

func (b Boot) summarize(s *summary) { s.add("epoch %d", b.Epoch) }

func (b Sending) summarize(s *summary) {
	s.add("%s", b.Purpose)
	s.order(&b.Order)
}

func (b Acknowledged) summarize(s *summary) { s.orderID(b.OrderID) }

func (b Refused) summarize(s *summary) {
	s.add("code %d", b.Code)
	s.texts(b.Reason)
}

func (b Uncertain) summarize(s *summary) { s.texts(b.Reason) }

func (b Fill) summarize(s *summary) {
	s.orderID(b.OrderID)
	s.quantity("filled", b.Filled)
}

func (b Ended) summarize(s *summary) {
	s.orderID(b.OrderID)
	s.add("%s", b.State)
	s.quantity("filled", b.Filled)
	s.texts(b.Evidence)
}

func (b Quarantined) summarize(s *summary) { s.texts(b.Reason) }

func (b Adopted) summarize(s *summary) {
	s.quantity("quantity", b.Quantity)
	s.texts(b.Evidence)
}

func (b Plan) summarize(s *summary) {
	if b.Plan != nil {
		s.add("%s", planSummary(b.Plan))
	}
}

func (b Memory) summarize(s *summary) {
	for _, m := range b.Entries {
		s.add("%s=%d", m.Key, m.Value)
	}
}

func (b Declined) summarize(s *summary) {
	s.add("%s", b.Purpose)
	s.texts(b.Key, b.Rule, b.Reason)
}

func (b Latch) summarize(s *summary) { s.add("side %d", b.Side) }

func (b Priced) summarize(s *summary) { s.add("quantity %d", b.Quantity) }

func (b Config) summarize(s *summary) { s.add("hash %.12s", b.Hash) }

func (b Assigned) summarize(s *summary) {
	if b.OnRemove != "" {
		s.add("on_remove %s", b.OnRemove)
	}
}

func (b Day) summarize(s *summary) { s.add("equity %s peak %s", b.Equity, b.Peak) }

func (b Halt) summarize(s *summary) { s.texts(cmp.Or(b.Level.String(), "rearmed"), b.Reason) }

func (b Baseline) summarize(s *summary) {
	s.add("quantity %d", b.Quantity)
	s.quantity("beside", b.Unattributed)
}

func (b Fees) summarize(s *summary) {
	s.add("quantity %d", b.Quantity)
	s.texts(b.Evidence)
}

func (b Breaker) summarize(s *summary) {
	s.until(b.UntilMS)
	s.texts(b.Reason)
}

func (b Ignored) summarize(s *summary) {
	s.orderID(b.OrderID)
	s.quantity("quantity", b.Quantity)
	s.texts(b.Evidence)
}

func (b Found) summarize(s *summary) {
	s.orderID(b.OrderID)
	s.add("%s", b.Purpose)
	s.order(&b.Order)
	s.quantity("filled", b.Filled)
	s.texts(b.Evidence)
}

func (b Result) summarize(s *summary) {
	s.quantity("position", b.Position)
	s.add("result %s", b.Result)
}

func (b Accounted) summarize(s *summary) { s.add("wallet %s", b.Wallet) }

func (b Breach) summarize(s *summary) {
	s.until(b.UntilMS)
	s.texts(b.Rule, b.Reason)
}

// summarize names the lines of accounts other than the wallet.
func (b Posting) summarize(s *summary) {
	s.add("%s", b.Reading.Market)
	for i := range b.Lines {
		if l := &b.Lines[i]; l.Account != ledger.Wallet {
			s.add("%s %s %s", l.Account, l.Amount, l.Asset)
		}
	}
}

func (b Transfer) summarize(s *summary) {
	s.add("%s", b.Market)
	s.add("%s %s", b.Amount, b.Asset)
	s.texts(b.Note)
}

func (b Audit) summarize(s *summary) { s.texts(b.Actor, b.Action, b.Object, b.Detail) }

func (b Withdrawn) summarize(s *summary) {
	s.orderID(b.OrderID)
	s.texts(b.Reason)
}

func (b Limit) summarize(s *summary) { s.texts(b.Rule, cmp.Or(b.Value, "as configured"), b.Reason) }

func (b Liquidated) summarize(s *summary) {
	s.add("position %d", b.PositionID)
	s.quantity("quantity", b.Quantity)
	s.texts(b.Evidence)
}

func (b Checkpoint) summarize(s *summary) {
	s.add("%d bytes of state, layout %s", len(b.State), b.Layout)
}

func planSummary(p *strategy.Plan) string {
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
