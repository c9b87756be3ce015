package library

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/strategy"
)

func wrongParameter(parameter, format string, arguments ...any) error {
	return &strategy.ValueError{Parameter: parameter, Err: fmt.Errorf(format, arguments...)}
}

// bounds reads the stop and target prices at which everything is closed. They lie outside the grid,
// one on each side.
func (m *mesh) bounds(p *gridParams) error {
	for _, bound := range []struct {
		name  string
		given decimal.Decimal
		into  *exchange.Price
		below bool
	}{{"stop", p.Stop, &m.stop, m.sign == exchange.Buy}, {"target", p.Target, &m.target, m.sign == exchange.Sell}} {
		price, err := m.symbol.Price(bound.given)
		switch {
		case err != nil:
			return &strategy.ValueError{Parameter: bound.name, Err: err}
		case price == 0:
		case bound.below && price >= m.prices[0]:
			return wrongParameter(bound.name, "%s is not below the lowest line %s", bound.given, p.Lower)
		case !bound.below && price <= m.prices[m.cells]:
			return wrongParameter(bound.name, "%s is not above the highest line %s", bound.given, p.Upper)
		}
		*bound.into = price
	}
	return nil
}

// sizes reads the order size: a quantity, or an amount of money at each line.
func (m *mesh) sizes(setting *strategy.Setting, p *gridParams) error {
	s := m.symbol
	var err error
	if m.quantity, err = s.Quantity(p.Quantity); err != nil || m.quantity < 0 || !s.OnQuantityTick(m.quantity) {
		return wrongParameter("quantity", "%s is not a multiple above zero of quantityTick %s (%s)", p.Quantity, s.QuantityDecimal(s.QuantityTick), s.Name)
	}
	if m.quote, err = exchange.AmountFromDecimal(p.Quote); err != nil {
		return &strategy.ValueError{Parameter: "quote", Err: err}
	}
	if m.reinvest, err = exchange.RateFromDecimal(p.Reinvest); err != nil {
		return &strategy.ValueError{Parameter: "reinvest", Err: err}
	}
	switch {
	case m.quantity == 0 && m.quote.IsZero():
		return wrongParameter("quantity", "is required, or quote")
	case m.quantity != 0 && !m.quote.IsZero():
		return wrongParameter("quote", "and quantity both set the size of an order: use only one of them")
	case m.reinvest != 0 && m.quote.IsZero():
		return wrongParameter("reinvest", "needs quote: a fixed quantity cannot grow")
	}
	if setting.Market == exchange.Spot {
		fee, err := exchange.RateFromDecimal(p.Fee)
		if err != nil {
			return &strategy.ValueError{Parameter: "fee", Err: err}
		}
		m.afterFee -= fee
	}
	m.entry, m.exit = make([]exchange.Quantity, m.cells), make([]exchange.Quantity, m.cells)
	m.size()
	name := "quantity"
	if m.quantity == 0 {
		name = "quote"
	}
	for i := range m.cells {
		switch {
		case m.exit[i] <= 0 && m.entry[i] > 0:
			return wrongParameter("fee", "%s leaves nothing of %s to sell", p.Fee, s.QuantityDecimal(m.entry[i]))
		case !m.trades(i):
			return wrongParameter(name, "%s at %s is worth less than minNotional %s (%s)", s.QuantityDecimal(m.entry[i]), s.PriceDecimal(m.prices[i]),
				s.MinNotional, s.Name)
		}
	}
	return nil
}

// trades reports whether the exchange accepts the orders of a cell. After a trailing grid has
// moved, its amount of money may be too small.
func (m *mesh) trades(cell int) bool {
	return m.exit[cell] > 0 && !m.symbol.BelowMinimum(m.prices[cell], m.exit[cell])
}

// size computes the quantities of all cells.
func (m *mesh) size() {
	m.resized = true
	for i := range m.cells {
		m.entry[i] = m.sizeOf(i, 0)
		m.exit[i] = m.sellable(m.entry[i])
	}
}

// sizeOf returns the quantity of a cell's entry after a profit, in hundred-millionths of a USDT.
func (m *mesh) sizeOf(cell int, profit int64) exchange.Quantity {
	if m.quantity != 0 {
		return m.quantity
	}
	each := m.quote.Add(hundredMillionth.Mul(max(0, profit)).MulRate(m.reinvest).Div(int64(m.cells)))
	return m.symbol.FloorQuantity(m.symbol.QuantityFor(each, m.enterAt(cell)))
}

// grow applies the new quantities of cells whose pairs have closed.
func (m *mesh) grow(view *strategy.View, plan *strategy.Plan) {
	if m.reinvest == 0 {
		return
	}
	m.size()
	for _, memory := range [...]strategy.Memory{view.Memory, plan.Remembered()} {
		for e := range memory.All() {
			if text, is := strings.CutPrefix(e.Key, gridSize); is {
				if i, err := strconv.Atoi(text); err == nil && i < m.cells {
					m.entry[i] = exchange.Quantity(e.Value)
					m.exit[i] = m.sellable(m.entry[i])
				}
			}
		}
	}
}

// sellable returns the rest of a bought quantity after the fee on spot.
func (m *mesh) sellable(bought exchange.Quantity) exchange.Quantity {
	if m.afterFee == exchange.RateOne {
		return bought
	}
	return m.symbol.FloorQuantity(m.symbol.QuantityOf(m.symbol.QuantityAmount(bought).MulRate(m.afterFee)))
}

// enterAt and leaveAt return the lines at which a cell enters and exits.
func (m *mesh) enterAt(cell int) exchange.Price {
	if m.sign == exchange.Sell {
		return m.prices[cell+1]
	}
	return m.prices[cell]
}

func (m *mesh) leaveAt(cell int) exchange.Price {
	if m.sign == exchange.Sell {
		return m.prices[cell]
	}
	return m.prices[cell+1]
}
