package oracle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// LogDecimals is the number of decimal places of quantities read from a log.
const LogDecimals = 9

// Read judges the orders and fills of an account from the list of a simulated exchange's control interface: exposure, flips, and overselling. The list
// omits the time at which an order ended or was canceled: an order counts as open until its last fill, and protection is not judged. Own reports whether a
// client order id is botd's.
func Read(body []byte, account string, own func(clientOrderID string) bool, limits map[Symbol]Limits) (*Oracle, error) {
	var log struct {
		Orders []loggedOrder
		Fills  []loggedFill
	}
	if err := json.Unmarshal(body, &log); err != nil {
		return nil, fmt.Errorf("read the exchange's orders: %w", err)
	}
	o := New(1 << 60)
	for symbol, l := range limits {
		o.Judge(symbol, l)
	}
	var events []event
	last := map[int64]int64{} // the last fill of each order
	for i := range log.Fills {
		if f := &log.Fills[i]; f.Account == account {
			fill, err := f.fill()
			if err != nil {
				return nil, err
			}
			last[f.OrderID] = f.TimeMS
			events = append(events, event{f.TimeMS, 1, f.ID, func() { o.Filled(f.TimeMS, fill) }})
		}
	}
	for i := range log.Orders {
		l := &log.Orders[i]
		if l.Account != account {
			continue
		}
		order, err := l.order(own)
		if err != nil {
			return nil, err
		}
		atMS := l.createdMS()
		events = append(events, event{atMS, 0, order.ID, func() { o.Accepted(atMS, order) }})
		if l.ended() {
			endMS := max(atMS, last[order.ID])
			events = append(events, event{endMS, 2, order.ID, func() { o.Ended(endMS, order.ID) }})
		}
	}
	slices.SortFunc(events, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.atMS, b.atMS), cmp.Compare(a.kind, b.kind), cmp.Compare(a.id, b.id))
	})
	for _, e := range events {
		e.take()
	}
	return o, nil
}

// event is one log entry: an acceptance, a fill or an end, in this order within a millisecond.
type event struct {
	atMS int64
	kind int
	id   int64
	take func()
}

type loggedOrder struct {
	ID              int64
	Account         string
	Market          string
	Symbol          string
	Side            string
	Type            string
	Status          string
	Quantity        number
	FuturesClientID string `json:"client_order_id"`
	SpotClientID    string `json:"clientOrderId"`
	ClosePosition   bool   `json:"closePosition"`
	ClosePositionID int64  `json:"closePositionId"`
	Created         int64  `json:"createdAt"` // seconds on futures
}

func (l *loggedOrder) createdMS() int64 {
	if l.Market == "futures" {
		return l.Created * 1_000
	}
	return l.Created
}

func (l *loggedOrder) ended() bool {
	return slices.Contains([]string{"FILLED", "CANCELED", "REJECTED"}, l.Status)
}

func (l *loggedOrder) order(own func(string) bool) (Order, error) {
	quantity, err := l.Quantity.units()
	if l.Market == "spot" && l.Type == "MARKET" {
		quantity = 0 // an amount of the quote asset, filled at once
	}
	return Order{ID: l.ID, Own: own(cmp.Or(l.FuturesClientID, l.SpotClientID)), Symbol: Symbol{l.Market == "spot", l.Symbol}, Buy: l.Side == "BUY",
		Quantity: quantity, Stop: strings.HasPrefix(l.Type, "STOP"), ReduceOnly: !l.ClosePosition && l.ClosePositionID != 0,
		ClosePosition: l.ClosePosition}, err
}

type loggedFill struct {
	ID       int64
	Account  string
	Market   string
	Symbol   string
	OrderID  int64 `json:"order_id"`
	Side     string
	Quantity number `json:"qty"`
	TimeMS   int64  `json:"time"`
}

func (f *loggedFill) fill() (Fill, error) {
	quantity, err := f.Quantity.units()
	return Fill{f.OrderID, Symbol{f.Market == "spot", f.Symbol}, strings.EqualFold(f.Side, "BUY"), quantity}, err
}

// number is a decimal number, quoted or not.
type number string

// UnmarshalJSON accepts a number or a string.
func (n *number) UnmarshalJSON(text []byte) error {
	*n = number(strings.Trim(string(text), `"`))
	return nil
}

// units returns the number in units of 10^-LogDecimals.
func (n number) units() (int64, error) {
	whole, fraction, _ := strings.Cut(string(n), ".")
	if len(fraction) > LogDecimals {
		return 0, fmt.Errorf("quantity %s has more than %d decimal places", n, LogDecimals)
	}
	units, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", LogDecimals-len(fraction)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("quantity %q: %w", n, err)
	}
	return units, nil
}
