package engine

import (
	"botd/exchange"
	"botd/reconcile/placement"
	"botd/risk"
	"botd/strategy"
)

// Config configures one account's engine.
type Config struct {
	Instance   string // part of every client_order_id
	Epoch      int64  // of this start, above every journalled one
	Checkpoint int64  // number of records between two checkpoints of the state; 0 for never
	Replayed   int64  // number of records after the newest checkpoint, at the beginning of this start
	Random     string // random part of this start's client order ids: placement.IsRandom
	Lane       string // random part of the ids for the kill switch's lane; empty for none
	Strategies []StrategyConfig
	Missing    []MissingStrategy
	Limits     risk.Limits
	Bounds     placement.Bounds
	Breaker    BreakerConfig
	Foreign    string // halt, adopt, ignore
	ConfigHash string
	Account    string // owner of the journal, for the record of the start

	BusyRoundMS  int64         // between rounds while anything is in flight; 0 in a backtest without latency
	IdleRoundMS  int64         // between rounds otherwise; 0 for none (backtest: only when something changed)
	CloseLagMS   int64         // a candle counts as closed this long after its close (2000 live)
	TimeToLiveMS int64         // ms from the journal's record to the first byte (5000)
	TakerFee     exchange.Rate // of spot: reserved when an entry is sized, and counted in results
	QuoteFees    bool          // purchases on spot also pay their fee in the quote asset

	Ledger bool                                             // book the account's money from the exchange's reports
	Feed   bool                                             // true: the driver feeds candles and prices (backtest); false: the engine requests them by calls
	Read   func(*exchange.Request) (exchange.Answer, error) // nil: a round's reads are calls; otherwise each is answered at once (backtest)
	Quiet  bool                                             // no notes of candles, ticks, rounds, fills and positions (backtest)

	Offload  bool // true: strategies are called through Effects.Asks; false: within Handle (backtest)
	Rehearse bool // read and settle, but decide and send nothing: for previews
}

// MissingStrategy is a configured strategy whose symbol the exchange no longer lists: it does not run,
// and its orders and position on the exchange stay unchanged (case 44).
type MissingStrategy struct {
	Name   string
	Symbol exchange.SymbolKey
}

// StrategyConfig is one strategy on one symbol of the account.
type StrategyConfig struct {
	Name       string
	Kind       string // its name in the registry, for display
	Strategy   strategy.Strategy
	Symbol     *exchange.Symbol
	Interval   exchange.Interval
	Schedule   Schedule         // nil is @candle: once per closed candle
	Others     []strategy.Other // other symbols that the strategy reads; with their candles if the driver feeds them (backtest)
	Leverage   int              // futures; 0 leaves it unchanged
	Size       strategy.Size
	Protection strategy.Protection // used if the plan sets none
	Limits     risk.Limits         // tighter than the account's
	DeadlineMS int64               // for an answer, with Offload; 0 is DefaultDeadlineMS
	Reentry    strategy.Reentry    // after a stop-loss or take-profit; if unset, the strategy's own policy applies
	Paused     bool                // start paused, unless the account has traded it before
	OnRemove   string              // flatten or leave, if it is removed while it has a position
	Removed    bool                // it was removed but still has a position: its code is not called
	Absent     bool                // it seems to have been removed: OnRemove does not take effect before a reload confirms that
}

// Schedule determines when a strategy is called.
type Schedule interface {
	// Next returns the first nominal time after the given one.
	Next(afterMS int64) int64
}

// BreakerConfig sets the conditions under which the account's openings pause (exactly-once.md,
// cases 4, 25 and 26). With zero Uncertain there is no breaker.
type BreakerConfig struct {
	Uncertain    int // this many lost answers ...
	WithinMS     int64
	PauseMS      int64
	EmptyEndings int // consecutive endings without a fill
	EmptyPauseMS int64
}

// Ways to stop (contract: shutdown), and the actions when a strategy with a position is removed
// from the configuration (on_remove).
const (
	ShutdownLeave   = "leave"
	ShutdownCancel  = "cancel_orders"
	ShutdownFlatten = "flatten"
	removeFlatten   = "flatten"
)
