// Package exchange defines the vocabulary of the market: Symbol, candle columns, Order, Position,
// Request and Answer, tick arithmetic, errors.
//
// Everything here is a value. Prices and quantities are whole numbers of a symbol's smallest unit
// (Price, Quantity), amounts of money are exact decimals with 18 places (Amount), times are Unix
// milliseconds (names end in MS). Nothing in the package reads a clock, does I/O or starts a
// goroutine.
package exchange

import "fmt"

// Market names one of the two markets of the trading service.
type Market uint8

// The two markets. The zero value is no market, and every function refuses it.
const (
	Futures Market = iota + 1 // perpetual futures: margin, leverage, positions
	Spot                      // assets in a wallet
)

var marketNames = names[Market]{"market", []string{"", "futures", "spot"}}

// String returns the market's name as written in configurations.
func (m Market) String() string { return marketNames.text(m) }

// MarshalText writes the name.
func (m Market) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads the name.
func (m *Market) UnmarshalText(text []byte) (err error) {
	*m, err = ParseMarket(string(text))
	return err
}

// ParseMarket reads "futures" or "spot".
func ParseMarket(text string) (Market, error) { return marketNames.parse(text) }

// Side is the direction of an order.
type Side uint8

// The two sides of an order (interface, Futures order).
const (
	Buy Side = iota + 1
	Sell
)

var sideNames = names[Side]{"side", []string{"", "BUY", "SELL"}}

// String returns BUY or SELL.
func (s Side) String() string { return sideNames.text(s) }

// MarshalText writes the name.
func (s Side) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the name.
func (s *Side) UnmarshalText(text []byte) (err error) {
	*s, err = ParseSide(string(text))
	return err
}

// ParseSide reads BUY or SELL.
func ParseSide(text string) (Side, error) { return sideNames.parse(text) }

// Sign returns +1 for Buy and -1 for Sell: the sign that the side gives a position.
func (s Side) Sign() int64 {
	switch s {
	case Buy:
		return 1
	case Sell:
		return -1
	}
	panic(fmt.Sprintf("exchange: sign of side %d", s))
}

// Opposite returns the other side.
func (s Side) Opposite() Side {
	if s == Buy {
		return Sell
	}
	return Buy
}

// SideOf returns the side that moves a position by the signed quantity, which must not be zero.
func SideOf(delta Quantity) Side {
	switch {
	case delta > 0:
		return Buy
	case delta < 0:
		return Sell
	}
	panic("exchange: a quantity of zero has no side")
}

// OrderType is the type of an order (interface, POST /fhapi/v1/order).
type OrderType uint8

// The six order types of both markets.
const (
	Limit OrderType = iota + 1
	MarketOrder
	StopLimit
	StopMarket
	TakeProfitLimit
	TakeProfitMarket
)

var orderTypeNames = names[OrderType]{"type", []string{"", "LIMIT", "MARKET", "STOP_LIMIT", "STOP_MARKET", "TAKE_PROFIT_LIMIT", "TAKE_PROFIT_MARKET"}}

// String returns the type as the interface writes it.
func (t OrderType) String() string { return orderTypeNames.text(t) }

// MarshalText writes the name.
func (t OrderType) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads the name.
func (t *OrderType) UnmarshalText(text []byte) (err error) {
	*t, err = ParseOrderType(string(text))
	return err
}

// ParseOrderType reads a type as the interface writes it.
func ParseOrderType(text string) (OrderType, error) { return orderTypeNames.parse(text) }

// Conditional reports whether the order waits for a stop price.
func (t OrderType) Conditional() bool { return t >= StopLimit }

// Priced reports whether the order carries a limit price.
func (t OrderType) Priced() bool { return t == Limit || t == StopLimit || t == TakeProfitLimit }

// StopLoss reports whether the order is a stop-loss kind.
func (t OrderType) StopLoss() bool { return t == StopLimit || t == StopMarket }

// WorkingType is the price that activates a conditional order.
type WorkingType uint8

// The working types. The zero value belongs to orders that are not conditional.
const (
	NoWorkingType WorkingType = iota
	ContractPrice             // the last trade's price
	MarkPrice
)

var workingTypeNames = names[WorkingType]{"workingType", []string{"", "CONTRACT_PRICE", "MARK_PRICE"}}

// String returns the name as the interface writes it, empty for none.
func (w WorkingType) String() string { return workingTypeNames.text(w) }

// MarshalText writes the name.
func (w WorkingType) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText reads the name; an empty text means none.
func (w *WorkingType) UnmarshalText(text []byte) (err error) {
	*w, err = ParseWorkingType(string(text))
	return err
}

// ParseWorkingType reads CONTRACT_PRICE or MARK_PRICE; an empty text means none.
func ParseWorkingType(text string) (WorkingType, error) {
	if text == "" {
		return NoWorkingType, nil
	}
	return workingTypeNames.parse(text)
}

// names maps the values of an enumeration to their names; index 0 is the zero value.
type names[T ~uint8] struct {
	what  string
	words []string
}

func (n names[T]) text(value T) string {
	if int(value) >= len(n.words) {
		return fmt.Sprintf("%s(%d)", n.what, value)
	}
	return n.words[value]
}

func (n names[T]) parse(text string) (T, error) {
	for i, word := range n.words {
		if i > 0 && word == text {
			return T(i), nil
		}
	}
	return 0, fmt.Errorf("unknown %s %q (known: %v)", n.what, text, n.words[1:])
}
