package backtest

import (
	"encoding/json"
	"fmt"
)

// Warning is a reason to doubt the figures. Its code is stable; its text is for
// people.
type Warning struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// Codes of warnings.
const (
	BoundsNotOrdered    = "bounds_not_ordered"          // no run may have it
	IdealRepriced       = "ideal_repriced"              // the ideal figure is not its own run's
	PessimisticRepriced = "pessimistic_repriced"        // the pessimistic figure is not its own run's
	FineSchedule        = "schedule_finer_than_candles" // decisions inside candles whose path is a guess
	LimitEnded          = "limit_ended_trading"
	LimitHeldBack       = "limit_held_back" // a limit held entries back for a time
	DataMismatch        = "data_symbol_mismatch"
	Configured          = "configuration" // what botd check warns of
	NoFunding           = "no_funding"
	FundingIncomplete   = "funding_incomplete"
	ColumnsElsewhere    = "columns_elsewhere" // a file of columns is of another time than the candles
	DataHoles           = "data_holes"
	DataRepaired        = "data_repaired"
	DetailIncomplete    = "detail_incomplete"
	DetailMismatch      = "detail_mismatch"
	OthersIncomplete    = "others_incomplete" // another symbol that a strategy reads has no candle beside each of its own
	NoOrderBook         = "no_order_book"     // a strategy quotes around the middle of a book that is not recorded
	DetailFound         = "detail_found"      // finer candles of the store are used
	CandlesJoined       = "candles_joined"    // a file's candles are finer than the strategy's, and build them
	NoSignals           = "no_signals"        // of a strategy that waits for them
	TradesIncomplete    = "trades_incomplete" // candles without any of the recorded trades
	StrategyFailed      = "strategy_failed"
	Quarantined         = "quarantined"
	Halted              = "halted"
	Liquidated          = "liquidated"
	IntentsRefused      = "intents_refused"
	OrdersRejected      = "orders_rejected"
	NotTradedCode       = "not_traded"   // what was wanted and could not be traded
	Latched             = "latched"      // a strategy waits since a stop-loss or take-profit
	OrdersSpent         = "orders_spent" // all orders that a plan keeps are filled, and nothing is held
	OutsideRange        = "beside_range" // the price begins outside of what the strategy trades between
	NoTrade             = "no_trade"
	FewTrades           = "few_trades"
	OneTrade            = "one_trade" // it made the whole profit
)

// aboutOtherRuns reports whether a warning is about other runs, or names files: the same run elsewhere
// may have another one.
func (w Warning) aboutOtherRuns() bool {
	switch w.Code {
	case BoundsNotOrdered, IdealRepriced, PessimisticRepriced, Configured, ColumnsElsewhere, DataMismatch, DetailFound:
		return true
	}
	return false
}

func (w Warning) String() string { return w.Text }

// UnmarshalJSON reads the text alone too, as reports of earlier versions have it.
func (w *Warning) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		*w = Warning{}
		return json.Unmarshal(text, &w.Text)
	}
	type plain Warning
	return json.Unmarshal(text, (*plain)(w))
}

func (r *Result) warn(code, format string, arguments ...any) {
	r.Warnings = append(r.Warnings, Warning{code, fmt.Sprintf(format, arguments...)})
}
