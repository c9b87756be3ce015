package engineconfig

import (
	"crypto/rand"
	"encoding/binary"
	"slices"
	"time"

	"botd/configs"
	"botd/exchange"
	"botd/exchange/polling"
	"botd/internal/failure"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/runtime/engine"
)

// Pace of the live engine.
const (
	busyRoundMS  = 1_000
	timeToLiveMS = 5_000
)

// Supported refuses settings that botd knows but does not implement yet: money must not depend on a silently ignored
// setting.
func Supported(config *configs.Config) error {
	for _, s := range []struct {
		given         bool
		setting, hint string
	}{
		{config.Journal != "", "journal: postgres", "this version supports only SQLite in data_dir"},
	} {
		if s.given {
			return failure.New(failure.Config, s.hint, "%s is not supported in this version", s.setting)
		}
	}
	return nil
}

// Waits reports whether a new strategy of the account waits for a user's start, as it does with real money.
func Waits(config *configs.Config, c *configs.StrategyConfig) bool {
	return config.Mode == configs.Live && c.Start != "running"
}

// SymbolOf returns the rules of a symbol as the venue reports them.
type SymbolOf func(exchange.SymbolKey) (*exchange.Symbol, bool)

func Account(config *configs.Config, tracker *reconcile.Tracker, symbolOf SymbolOf) (engine.Config, error) {
	account := engine.Config{
		Instance: config.Instance, Epoch: max(tracker.Epoch()+1, time.Now().Unix()), Random: random(), Lane: random(), Limits: config.Limits,
		Bounds: Bounds(config), Breaker: engine.BreakerConfig(config.Exchange.Breaker), Foreign: config.Foreign, ConfigHash: config.Hash(),
		BusyRoundMS: busyRoundMS, IdleRoundMS: polling.IdleRoundMS, CloseLagMS: polling.CloseLagMS, TimeToLiveMS: timeToLiveMS,
		TakerFee: spotTakerFee, Ledger: true,
	}
	for i := range config.Strategies {
		c := &config.Strategies[i]
		symbol, found := symbolOf(exchange.SymbolKey{Market: c.Market, Name: c.Symbol})
		key := exchange.SymbolKey{Market: c.Market, Name: c.Symbol}
		if !found && tracker.Strategy(c.Name).Symbol() == key { // it was traded before: the venue has removed it, and only this strategy fails
			account.Missing = append(account.Missing, engine.MissingStrategy{Name: c.Name, Symbol: key})
			continue
		}
		if !found {
			return account, failure.New(failure.Config, "botd check lists the symbols of the demo; a venue's symbols are read at start",
				"%s:%d: the exchange has no %s symbol %s", c.File, c.Line, c.Market, c.Symbol)
		}
		made, err := Live(c, symbol, symbolOf)
		if err != nil {
			return account, err
		}
		made.Paused = Waits(config, c) && tracker.Epoch() > 0 // at the first start of an account, the user has just reviewed the strategies
		account.Strategies = append(account.Strategies, made)
	}
	account.Strategies = append(account.Strategies, removed(config, tracker, symbolOf)...)
	return account, nil
}

// random returns the part of client order ids that distinguishes two starts within one second.
func random() string {
	var entropy [8]byte
	rand.Read(entropy[:]) // it never returns an error
	return placement.RandomFrom(binary.LittleEndian.Uint64(entropy[:]))
}

// removed returns the strategies that have a position but are no longer configured (on_remove), from the journal.
func removed(config *configs.Config, tracker *reconcile.Tracker, symbolOf SymbolOf) (all []engine.StrategyConfig) {
	named := func(name string) bool {
		return slices.ContainsFunc(config.Strategies, func(c configs.StrategyConfig) bool { return c.Name == name })
	}
	traded := func(_ string, key exchange.SymbolKey) bool {
		return slices.ContainsFunc(config.Strategies, func(c configs.StrategyConfig) bool {
			return c.Market == key.Market && c.Symbol == key.Name
		})
	}
	for _, orphan := range tracker.Orphans(traded) {
		symbol, found := symbolOf(orphan.Symbol)
		if !found {
			continue // the venue no longer has the symbol, so no request about it can succeed
		}
		name, absent := orphan.Strategy, true
		if named(name) { // the strategy trades another symbol now
			name, absent = name+" on "+orphan.Symbol.Name, false
		}
		all = append(all, engine.StrategyConfig{Name: name, Symbol: symbol, Interval: exchange.Minute1, Removed: true, Absent: absent})
	}
	return all
}

// spotTakerFee is reserved when a spot entry is sized (docs/exchange.md, fees).
const spotTakerFee exchange.Rate = 100_000 // 0.1 %
