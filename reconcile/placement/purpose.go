// Package placement defines the purpose, state and id of an order, and the venue's bounds.
package placement

import "fmt"

// Purpose is the purpose of an intent.
type Purpose uint8

// The purposes. Entry and Order open risk; all others reduce or protect.
const (
	Entry      Purpose = iota + 1 // toward a target, opening
	Exit                          // toward a target, reducing
	Order                         // a plan's opening order under its key
	ExitOrder                     // a plan's exit order under its key
	StopLoss                      // protection
	TakeProfit                    // protection
	Cancel                        // cancel an order
	Leverage                      // set a symbol's leverage
	purposeEnd
)

var purposeNames = [purposeEnd]string{"", "entry", "exit", "order", "exit_order", "stop_loss", "take_profit", "cancel", "leverage"}

// String returns the purpose's name.
func (p Purpose) String() string {
	if p < purposeEnd {
		return purposeNames[p]
	}
	return fmt.Sprintf("purpose(%d)", p)
}

// MarshalText writes the name.
func (p Purpose) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads the name.
func (p *Purpose) UnmarshalText(text []byte) error {
	for i, name := range purposeNames {
		if i > 0 && name == string(text) {
			*p = Purpose(i)
			return nil
		}
	}
	return fmt.Errorf("unknown purpose %q", text)
}

// Opens reports whether the intent can make a position larger (class N).
func (p Purpose) Opens() bool { return p == Entry || p == Order }

// Protects reports whether the intent is a stop-loss or take-profit.
func (p Purpose) Protects() bool { return p == StopLoss || p == TakeProfit }
