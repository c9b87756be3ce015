package journal_test

import (
	"botd/exchange"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

var bitcoin = exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}

// everyKind returns a record of each kind, with all fields set.
func everyKind() []record.Record {
	order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.StopMarket, StopPrice: 49_000e8,
		WorkingType: exchange.ContractPrice, ClosePosition: true, ClientOrderID: "bmain-1-1"}
	plan := strategy.Plan{Target: strategy.Target{Kind: strategy.ByEquity, Share: -exchange.RateOne}, Leverage: 3, OrdersSet: true, Reason: "why",
		Orders:     []strategy.DesiredOrder{{Key: "low", Side: exchange.Buy, Price: 1, Quantity: 2, PostOnly: true}},
		Protection: strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 2_000_000}}}
	return []record.Record{
		{AtMS: 1, Body: record.Boot{Epoch: 36, Account: binding.Text()}},
		{AtMS: 1, Body: record.Config{Hash: "abc"}},
		{AtMS: 2, Strategy: "one", Symbol: bitcoin, Body: record.Plan{Plan: &plan}},
		{AtMS: 2, Strategy: "one", Body: record.Memory{Entries: []strategy.MemoryVariable{{Key: "begin_ms", Value: 5}}}},
		{AtMS: 3, Strategy: "one", Symbol: bitcoin, Body: record.Priced{Target: plan.Target, Quantity: -7}},
		{AtMS: 4, Strategy: "one", Symbol: bitcoin, ClientOrderID: "bmain-1-1", Body: record.Sending{Order: order, Purpose: placement.StopLoss,
			Key: "bridge", DeadlineMS: 9, Before: -7, Reserved: exchange.MustAmount("12.000000000000000001")}},
		{AtMS: 5, ClientOrderID: "bmain-1-1", Body: record.Acknowledged{OrderID: 77}},
		{AtMS: 5, ClientOrderID: "bmain-1-1", Body: record.Uncertain{Reason: "timeout"}},
		{AtMS: 6, ClientOrderID: "bmain-1-1", Body: record.Fill{OrderID: 77, Filled: 3, Price: exchange.AmountOf(48_999)}},
		{AtMS: 7, ClientOrderID: "bmain-1-1", Body: record.Ended{OrderID: 77, State: placement.Filled, Filled: 7, Price: exchange.AmountOf(48_998),
			Evidence: "fetched FILLED"}},
		{AtMS: 7, ClientOrderID: "bmain-1-2", Body: record.Refused{Reason: "no", Code: 2003}},
		{AtMS: 8, Symbol: bitcoin, Body: record.Quarantined{Reason: "why"}},
		{AtMS: 8, Symbol: bitcoin, Body: record.Quarantined{Reason: "why", Cause: record.ExecutedBeyond}},
		{AtMS: 8, Symbol: bitcoin, Body: record.Adopted{Quantity: -2, Decided: 97, Evidence: "by hand"}},
		{AtMS: 8, Strategy: "one", Body: record.Latch{Side: -1}},
		{AtMS: 9, Body: record.Day{StartMS: 8, Equity: exchange.AmountOf(5), Peak: exchange.AmountOf(6), Markets: "futures", Spot: exchange.AmountOf(1)}},
		{AtMS: 9, Body: record.Halt{Level: record.LevelPause, Reason: "why"}},
		{AtMS: 9, Symbol: bitcoin, Body: record.Baseline{Quantity: 100}},
		{AtMS: 9, Symbol: bitcoin, Body: record.Fees{Quantity: 1, Evidence: "fees"}},
		{AtMS: 9, Body: record.Limit{Rule: "max_open_orders", Value: "5", By: "socket", Reason: "a quiet week"}},
		{AtMS: 9, Symbol: bitcoin, Body: record.Liquidated{PositionID: 7, Quantity: 10,
			ClosePrice: exchange.AmountOf(40_000), Realized: exchange.AmountOf(-9), Evidence: "positions/history shows it LIQUIDATED"}},
		{AtMS: 10, Strategy: "two", Symbol: bitcoin, Body: record.Assigned{OnRemove: "flatten"}},
		{AtMS: 10, Body: record.Breaker{UntilMS: 20, Reason: "why"}},
		{AtMS: 10, Symbol: bitcoin, ClientOrderID: "bmain-9-9", Body: record.Ignored{Quantity: -3, OrderID: 99, Evidence: "by hand"}},
		{AtMS: 10, Strategy: "two", Symbol: bitcoin, ClientOrderID: "bmain-9-8",
			Body: record.Found{OrderID: 98, Order: order, Purpose: placement.ExitOrder, Key: "found", Filled: 1,
				Duplicate: true, Evidence: "a second order"}},
		{AtMS: 10, Strategy: "two", Symbol: bitcoin, Body: record.Result{Base: exchange.AmountOf(9), Result: exchange.AmountOf(-1),
			Trip: exchange.AmountOf(2), Position: -4, Losses: 3}},
		{AtMS: 10, Body: record.Accounted{Wallet: exchange.AmountOf(8), Losses: 1}},
		{AtMS: 10, Strategy: "two", Body: record.Breach{Rule: "max_daily_loss", Reason: "why", UntilMS: 30}},
		entryOf(10_000),
		{AtMS: 10, Body: record.Transfer{Transfer: ledger.Transfer{Market: exchange.Futures, Asset: "USDT", Amount: exchange.AmountOf(-5), Note: "out"}}},
		{AtMS: 10, Strategy: "two", Symbol: bitcoin, Body: record.Declined{Purpose: placement.Order, Key: "low", Side: exchange.Buy, Quantity: 5,
			Rule: "balance", Reason: "too little"}},
		{AtMS: 10, Body: record.Audit{Actor: "socket", Role: "operator", From: "pid 1", Action: "POST /halt", Object: "account", Detail: "news",
			RequestID: "r1"}},
		{AtMS: 10, Strategy: "two", Symbol: bitcoin, ClientOrderID: "bmain-9-8", Body: record.Withdrawn{OrderID: 98, Reason: "why"}},
		{AtMS: 11, Body: record.Checkpoint{Layout: "of another botd", Epoch: 36, Account: binding.Text(), State: []byte{1, 2, 3}}},
	}
}

// Entry returns the ledger's first posting, which takes over a futures wallet.
func entryOf(usdt int64) record.Record {
	key, amount := exchange.SymbolKey{Market: exchange.Futures}, exchange.AmountOf(usdt)
	return record.Record{AtMS: 10, Body: record.Posting{Posting: ledger.Posting{
		Reading: ledger.Reading{AtMS: 10, Market: exchange.Futures, Wallet: []ledger.Asset{{Name: "USDT", Amount: amount}}},
		Lines: []ledger.Line{{Account: ledger.Wallet, Symbol: key, Asset: "USDT", Amount: amount},
			{Account: ledger.Transferred, Symbol: key, Asset: "USDT", Amount: amount.Neg()}}}}}
}

// sending returns the record of a placement.
func sending(n int) record.Record {
	id := placement.ClientOrderID("main", placement.Start{Epoch: 36}, int64(n))
	order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 1, ClientOrderID: id}
	return record.Record{AtMS: int64(n), Strategy: "one", Symbol: bitcoin, ClientOrderID: id, Body: record.Sending{Order: order, Purpose: placement.Entry}}
}

func boot(epoch int64) record.Record {
	return record.Record{Body: record.Boot{Epoch: epoch}}
}
