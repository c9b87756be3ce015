package engine

import (
	"botd/exchange"
	"botd/reconcile/placement"
	"botd/risk"
	"botd/strategy"
)

// Config is one account's engine. All maxima are per account.
type Config struct {
	Instance   string // part of every client_order_id
	Epoch      int64  // of this start, above every journalled one
	Checkpoint int64  // the state is journalled whenever so many records follow it; 0 for never
	Replayed   int64  // records that followed the newest checkpoint when this start began
	Random     string // of this start's client order ids: placement.IsRandom
	Lane       string // the random part of the ids that the kill switch's lane may use; empty for none
	Strategies []StrategyConfig
	Missing    []MissingStrategy
	Limits     risk.Limits
	Settle     placement.Settle
	Breaker    BreakerConfig
	Foreign    string // halt, adopt, ignore
	ConfigHash string
	Account    string // what the journal belongs to, for the record of the start

	BusyRoundMS int64         // between rounds while anything is in flight; 0 in a backtest without latency
	IdleRoundMS int64         // between rounds otherwise; 0 for none (backtest: only when something changed)
	CloseLagMS  int64         // a candle counts as closed this long after its close (2000 live)
	TimeToLive  int64         // ms from the journal's record to the first byte (5000)
	TakerFee    exchange.Rate // of spot: reserved when an entry is sized, and counted in results
	QuoteFees   bool          // purchases on spot pay their fee in the quote asset too

	Ledger bool                                             // the account's money is booked, as the exchange reports it
	Feed   bool                                             // true: the driver feeds candles and prices (backtest); false: the engine asks for them by calls
	Read   func(*exchange.Request) (exchange.Answer, error) // nil: a round's reads are calls; else each is answered at once (backtest)
	Quiet  bool                                             // true: no notes of candles, ticks, rounds, fills and positions (backtest)

	Offload  bool // true: strategies are asked by Effects.Asks; false: within Handle (backtest)
	Rehearse bool // true: reads and settles, but decides and sends nothing: for previews
}

// MissingStrategy is a configured strategy whose symbol the exchange no longer has: it does not
// run, and what it left on the exchange stays (case 44).
type MissingStrategy struct {
	Name   string
	Symbol exchange.SymbolKey
}

// StrategyConfig is one strategy on one symbol of the account.
type StrategyConfig struct {
	Name       string
	Kind       string // its name in the registry, for people
	Strategy   strategy.Strategy
	Symbol     *exchange.Symbol
	Interval   exchange.Interval
	Schedule   Schedule         // nil is @candle: once per closed candle
	Others     []strategy.Other // those that the strategy reads; with their candles where the driver feeds them (backtest)
	Leverage   int              // futures; 0 leaves it
	Size       strategy.Size
	Protection strategy.Protection // used where the plan sets none
	Limits     risk.Limits         // tighter than the account's
	DeadlineMS int64               // of an answer, where Offload; 0 is DefaultDeadlineMS
	Reentry    strategy.Reentry    // after a stop-loss or take-profit; unset is the strategy's own
	Paused     bool                // it begins paused, unless the account has traded it before
	OnRemove   string              // flatten or leave, should it be removed while it holds something
	Removed    bool                // it was removed, and holds something still: Strategy is not asked
	Absent     bool                // so it seems: what OnRemove says does not act before a reload confirms it
}

// Schedule says when a strategy is asked.
type Schedule interface {
	// Next returns the first nominal moment after the given one.
	Next(afterMS int64) int64
}

// BreakerConfig is when the account's openings pause by themselves
// (exactly-once.md, cases 4, 25 and 26). Zero Unknowns is no breaker.
type BreakerConfig struct {
	Unknowns     int // lost answers ...
	WithinMS     int64
	PauseMS      int64
	EmptyEndings int // endings without a fill, in a row
	EmptyPauseMS int64
}

// Ways to stop (contract: shutdown), and what becomes of a strategy that was
// removed from the configuration while it holds something (on_remove).
const (
	ShutdownLeave   = "leave"
	ShutdownCancel  = "cancel_orders"
	ShutdownFlatten = "flatten"
	removeFlatten   = "flatten"
)
