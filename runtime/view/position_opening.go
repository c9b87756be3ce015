package view

import "botd/exchange"

// opening is a saved result of Opened, valid for the same newest fill of the strategy and the same position.
type opening struct {
	fill     int64
	position exchange.Quantity
	atMS     int64
}

// Opened returns when a position began: at the fill before which the strategy was flat, or on the other side. It is 0 if no fill in memory
// shows that, as for an adopted position.
func (h *History) Opened(strategy string, key exchange.SymbolKey, position exchange.Quantity) int64 {
	if position == 0 || strategy == "" {
		return 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	of := strategy + " " + key.String()
	if known, found := h.opened[of]; found && known.fill == h.newest[strategy] && known.position == position {
		return known.atMS
	}
	one := opening{h.newest[strategy], position, 0}
	for i, left := len(h.fills.all)-1, position; i >= 0; i-- {
		f := &h.fills.all[i].value
		if f.Strategy != strategy || f.key != key {
			continue
		}
		left -= exchange.Quantity(f.side.Sign()) * f.grown
		if left == 0 || (left > 0) != (position > 0) { // on spot the position is smaller than the purchase, if the fee is paid in its asset
			one.atMS = f.AtMS
			break
		}
	}
	h.opened[of] = one
	return one.atMS
}

// DateStrategy sets when a strategy's position began, if fills show it.
func (h *History) DateStrategy(s *Strategy) {
	if at := h.Opened(s.Name, s.key, s.ownPosition); at != 0 {
		s.SinceMS = at
	}
}

// DatePosition sets when a position began, if fills show it.
func (h *History) DatePosition(p *Position) {
	if at := h.Opened(p.Strategy, p.key, p.ownPosition); at != 0 {
		p.SinceMS = at
	}
}
