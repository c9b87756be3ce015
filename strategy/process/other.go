package process

import (
	"encoding/json"
	"fmt"
	"slices"

	"botd/exchange"
	"botd/strategy"
)

// otherRows are candles of another symbol that opened with candles of the message.
type otherRows struct {
	Market     exchange.Market `json:"market"`
	Symbol     string          `json:"symbol"`
	PriceScale int             `json:"price_scale"`
	Candles    json.RawMessage `json:"candles"`
}

// ReadsOthers returns the symbols that the strategy declared.
func (r *Remote) ReadsOthers() (keys []exchange.SymbolKey) {
	own := exchange.SymbolKey{Market: r.hello.Market, Name: r.symbol.Name}
	for _, name := range r.welcome.Others {
		key := exchange.SymbolKey{Market: name.Market, Name: name.Symbol}
		if key.Market == 0 {
			key.Market = own.Market
		}
		if key != own && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// addOthers adds the candles of other symbols that close with the newest candle of a view, and
// returns the number of unsent bytes.
func (r *Remote) addOthers(v *strategy.View) (unsent int) {
	if len(r.others) != len(v.Others) {
		r.others = make([][]byte, len(v.Others))
	}
	for i := range v.Others {
		if candle, known := v.Other(i); known {
			r.others[i] = r.welcome.append(r.others[i], v.Others[i].Symbol, &candle)
		}
		unsent += len(r.others[i])
	}
	return unsent
}

// takeOthers returns the unsent rows and clears them.
func (r *Remote) takeOthers(v *strategy.View) (all []otherRows) {
	for i, rows := range r.others {
		if len(rows) > 0 {
			s := v.Others[i].Symbol
			all = append(all, otherRows{s.Market, s.Name, s.PriceScale, r.welcome.member(rows)})
		}
	}
	r.others = nil
	return all
}

// receivedOthers holds the candles of other symbols on the strategy's end.
type receivedOthers struct {
	keys []pairName
	all  []strategy.Other
}

// newReceivedOthers returns a receivedOthers without candles.
func newReceivedOthers(keys []exchange.SymbolKey) *receivedOthers {
	o := &receivedOthers{all: make([]strategy.Other, len(keys))}
	for _, key := range keys {
		o.keys = append(o.keys, pairName{key.Market, key.Name})
	}
	return o
}

// store stores the rows of a message. It retains at least keep candles of each symbol.
func (o *receivedOthers) store(rows []otherRows, keep int) error {
	for i := range rows {
		at := slices.Index(o.keys, pairName{rows[i].Market, rows[i].Symbol})
		if at < 0 {
			return fmt.Errorf("candles of %s were not requested", rows[i].Symbol)
		}
		other := &o.all[at]
		if other.Candles == nil {
			other.Symbol = &exchange.Symbol{Market: rows[i].Market, Name: rows[i].Symbol, PriceScale: rows[i].PriceScale}
			other.Candles = &exchange.Candles{}
		}
		if err := readRows(rows[i].Candles, other.Symbol, func(c *exchange.Candle) { other.Candles.Append(*c) }); err != nil {
			return err
		}
		other.Candles = shortened(other.Candles, keep)
	}
	return nil
}

// shortened drops the older half of the candles once there are more than twice as many as required.
func shortened(old *exchange.Candles, keep int) *exchange.Candles {
	n := old.Len()
	if n < 2*keep {
		return old
	}
	fresh := &exchange.Candles{Interval: old.Interval}
	for i := n / 2; i < n; i++ {
		fresh.Append(old.At(i))
	}
	return fresh
}
