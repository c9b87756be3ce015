package engine

import (
	"errors"
	"slices"
	"strings"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
)

// base is the shared state of the engine's parts: the configuration with the limits in force, the tracker, the
// strategies, the agenda, the shutdown, and the outbox of the current event.
type base struct {
	*outbox
	dueTimes
	config        Config     // Limits are the limits in force
	gate          *risk.Gate // applies the limits in force; set by limitsInForce
	limitsVersion int        // the number of the last change of the account's limits
	legs          []*leg     // sorted by name
	legBySymbol   map[exchange.SymbolKey]*leg
	legsPerMarket [exchange.Spot + 1]int
	unapplied     unapplied
	measure       func(what Measured, strategy string) (done func()) // nil: nothing is measured

	started bool
	startMS int64
	closing record.HaltLevel // level of the shutdown, set by halts; LevelNone while trading
	stopped bool             // nothing more is sent; set by halts
}

// dueTimes holds the due times; never if nothing is due.
type dueTimes struct {
	roundMS     int64 // the next round
	replaceMS   int64 // time of the next replacement of canceled stops
	emergencyMS int64 // time at which a halt acts without waiting for a round that hangs
	rulesMS     int64 // the next read of the symbols' rules
	forbiddenMS int64 // time of the last refusal of a reducing or protecting order by the rules; 0 for never
}

// bounds returns the exchange's bounds W, D and L of exactly-once.md.
func (b *base) bounds() *placement.Bounds { bounds := b.tracker.Bounds(); return &bounds }

// markets are both markets, in the order in which they are read.
var markets = [...]exchange.Market{exchange.Futures, exchange.Spot}

// requestRoundSoon requests a round while something is in flight.
func (b *base) requestRoundSoon() { b.roundMS = min(b.roundMS, b.nowMS+b.config.BusyRoundMS) }

func (b *base) trades(market exchange.Market) bool { return b.legsPerMarket[market] > 0 }

// addLeg adds a leg, and deleteLeg removes one.
func (b *base) addLeg(added *leg) {
	i, _ := slices.BinarySearchFunc(b.legs, added.config.Name, func(leg *leg, name string) int { return strings.Compare(leg.config.Name, name) })
	b.legs = slices.Insert(b.legs, i, added)
	key := added.symbol.Key()
	b.legBySymbol[key] = added
	b.legsPerMarket[key.Market]++
}

func (b *base) deleteLeg(ended *leg) {
	b.legs = slices.DeleteFunc(b.legs, func(other *leg) bool { return other == ended })
	key := ended.symbol.Key()
	delete(b.legBySymbol, key)
	b.legsPerMarket[key.Market]--
}

func (b *base) legNamed(name string) *leg {
	i, found := slices.BinarySearchFunc(b.legs, name, func(l *leg, name string) int { return strings.Compare(l.config.Name, name) })
	if !found {
		return nil
	}
	return b.legs[i]
}

// configured returns the leg of a configured strategy.
func (b *base) configured(name string) *leg {
	if leg := b.legNamed(name); leg != nil && !leg.config.Removed {
		return leg
	}
	return nil
}

// noStrategy returns the error for a name that no configured strategy has.
func (b *base) noStrategy(name string) error {
	var names []string
	for _, leg := range b.legs {
		if !leg.config.Removed {
			names = append(names, leg.config.Name)
		}
	}
	return account.NoStrategy(name, names)
}

// legOn returns the strategy that trades a symbol.
func (b *base) legOn(key exchange.SymbolKey) *leg { return b.legBySymbol[key] }

// errorText returns an error's text for a note: short, and without secrets.
func errorText(err error) string {
	var refusal *exchange.Refusal
	if errors.As(err, &refusal) {
		return refusal.Message
	}
	return err.Error()
}
