package backtest

import (
	"encoding/json"
	"fmt"
)

// Warning is a reason to doubt the figures. Its code is stable; its text is for people.
type Warning struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// Codes of warnings.
const (
	BoundsNotOrdered    = "bounds_not_ordered"          // never expected
	IdealRepriced       = "ideal_repriced"              // the ideal figure comes from re-priced executions
	PessimisticRepriced = "pessimistic_repriced"        // the pessimistic figure comes from re-priced executions
	FineSchedule        = "schedule_finer_than_candles" // decisions inside candles whose path is a guess
	LimitEnded          = "limit_ended_trading"
	LimitHeldBack       = "limit_held_back" // a limit temporarily held entries back
	DataMismatch        = "data_symbol_mismatch"
	Configured          = "configuration" // a warning of botd check
	NoFunding           = "no_funding"
	FundingIncomplete   = "funding_incomplete"
	ColumnsElsewhere    = "columns_elsewhere" // a file of columns covers another time than the candles
	DataHoles           = "data_holes"
	DataRepaired        = "data_repaired"
	DetailIncomplete    = "detail_incomplete"
	DetailMismatch      = "detail_mismatch"
	OthersIncomplete    = "others_incomplete" // another symbol that a strategy reads lacks candles at some of its own times
	NoOrderBook         = "no_order_book"     // a strategy quotes around the mid price of an order book that is not recorded
	DetailFound         = "detail_found"      // the run uses finer candles of the store
	CandlesJoined       = "candles_joined"    // the strategy's candles are built from a file of finer ones
	NoSignals           = "no_signals"        // a strategy that waits for signals has none
	TradesIncomplete    = "trades_incomplete" // candles without any of the recorded trades
	StrategyFailed      = "strategy_failed"
	Quarantined         = "quarantined"
	Halted              = "halted"
	Liquidated          = "liquidated"
	IntentsRefused      = "intents_refused"
	OrdersRejected      = "orders_rejected"
	TradesNotExecuted   = "not_traded"          // desired trades that could not happen
	Latched             = "latched"             // a strategy has been waiting since a stop-loss or take-profit
	OrdersSpent         = "orders_spent"        // all orders of a plan are filled, and there is no position
	OutsideRange        = "price_outside_range" // the initial price lies outside the strategy's range
	NoTrade             = "no_trade"
	FewTrades           = "few_trades"
	OneTrade            = "one_trade" // it accounts for the whole profit
)

// aboutOtherRuns reports whether a warning concerns other runs, or names files. The same run elsewhere may have
// different ones.
func (w Warning) aboutOtherRuns() bool {
	switch w.Code {
	case BoundsNotOrdered, IdealRepriced, PessimisticRepriced, Configured, ColumnsElsewhere, DataMismatch, DetailFound:
		return true
	}
	return false
}

func (w Warning) String() string { return w.Text }

// UnmarshalJSON also reads a plain text, as in reports of earlier versions.
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
