package engineconfig

import (
	"crypto/rand"
	"encoding/binary"
	"slices"
	"time"

	"botd/configs"
	"botd/exchange"
	"botd/internal/failure"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/runtime/engine"
)

// Pace of the live engine, in milliseconds (DESIGN, The idea).
const (
	busyRoundMS = 1_000
	idleRoundMS = 15_000
	closeLagMS  = 2_000
	timeToLive  = 5_000
)

// Supported refuses settings that are understood but not acted on yet: money
// must not hang on a setting that is silently ignored.
func Supported(config *configs.Config) error {
	for _, s := range []struct {
		given         bool
		setting, mend string
	}{
		{config.Journal != "", "journal: postgres", "only SQLite in data_dir is there"},
	} {
		if s.given {
			return failure.New(failure.Config, s.mend, "%s is not in this version", s.setting)
		}
	}
	return nil
}

// Waits reports whether a strategy that the account has never traded waits for a person, as it does with real money.
func Waits(config *configs.Config, c *configs.StrategyConfig) bool {
	return config.Mode == configs.Live && c.Start != "running"
}

// SymbolOf finds the rules of a symbol as the venue reports them.
type SymbolOf func(exchange.SymbolKey) (*exchange.Symbol, bool)

func Account(config *configs.Config, book *reconcile.Book, symbolOf SymbolOf) (engine.Config, error) {
	account := engine.Config{
		Instance: config.Instance, Epoch: max(book.Epoch()+1, time.Now().Unix()), Random: random(), Lane: random(), Limits: config.Limits,
		Settle: Settle(config), Breaker: engine.BreakerConfig(config.Exchange.Breaker), Foreign: config.Foreign, ConfigHash: config.Hash(),
		BusyRoundMS: busyRoundMS, IdleRoundMS: idleRoundMS, CloseLagMS: closeLagMS, TimeToLive: timeToLive, TakerFee: spotTakerFee, Ledger: true,
	}
	for i := range config.Strategies {
		c := &config.Strategies[i]
		symbol, found := symbolOf(exchange.SymbolKey{Market: c.Market, Name: c.Symbol})
		key := exchange.SymbolKey{Market: c.Market, Name: c.Symbol}
		if !found && book.Strategy(c.Name).Symbol() == key { // it was traded: it is gone since, and fails alone
			account.Missing = append(account.Missing, engine.MissingStrategy{Name: c.Name, Symbol: key})
			continue
		}
		if !found {
			return account, failure.New(failure.Config, "botd check lists the symbols of the demo; a venue's own are read at start",
				"%s:%d: the exchange has no %s symbol %s", c.File, c.Line, c.Market, c.Symbol)
		}
		made, err := Live(c, symbol, symbolOf)
		if err != nil {
			return account, err
		}
		made.Paused = Waits(config, c) && book.Epoch() > 0 // whoever starts the first time has seen what starts
		account.Strategies = append(account.Strategies, made)
	}
	account.Strategies = append(account.Strategies, removed(config, book, symbolOf)...)
	return account, nil
}

// random draws the part of client order ids that distinguishes two starts of one second.
func random() string {
	var entropy [8]byte
	rand.Read(entropy[:]) // it never fails
	return placement.RandomFrom(binary.LittleEndian.Uint64(entropy[:]))
}

// removed are the strategies that hold something and are not configured any more
// (on_remove), as the journal knows them.
func removed(config *configs.Config, book *reconcile.Book, symbolOf SymbolOf) (all []engine.StrategyConfig) {
	named := func(name string) bool {
		return slices.ContainsFunc(config.Strategies, func(c configs.StrategyConfig) bool { return c.Name == name })
	}
	traded := func(_ string, key exchange.SymbolKey) bool {
		return slices.ContainsFunc(config.Strategies, func(c configs.StrategyConfig) bool {
			return c.Market == key.Market && c.Symbol == key.Name
		})
	}
	for _, orphan := range book.Orphans(traded) {
		symbol, found := symbolOf(orphan.Symbol)
		if !found {
			continue // the venue has no such symbol any more: there is nothing to ask it for
		}
		name, absent := orphan.Strategy, true
		if named(name) { // it trades another symbol now
			name, absent = name+" on "+orphan.Symbol.Name, false
		}
		all = append(all, engine.StrategyConfig{Name: name, Symbol: symbol, Interval: exchange.Minute1, Removed: true, Absent: absent})
	}
	return all
}

// spotTakerFee is reserved when a spot entry is sized (decisions.md, fees).
const spotTakerFee exchange.Rate = 100_000 // 0.1 %
