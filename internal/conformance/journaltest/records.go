package journaltest

import (
	"strings"

	"botd/exchange"
	"botd/reconcile"
	"botd/strategy"
)

var bitcoin = exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}

// EveryKind is a record of each kind: the first of them with all their fields
// set, kinds that came later with a few.
func EveryKind() []reconcile.Record {
	records := firstKinds()
	for kind := reconcile.RecordFees + 1; !strings.HasPrefix(kind.String(), "record("); kind++ {
		record := reconcile.Record{Kind: kind, AtMS: 10, Strategy: "two", Symbol: bitcoin, Why: "why"}
		switch kind {
		case reconcile.RecordFound:
			record.Order = &exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.Limit, Price: 1, Quantity: 2}
		case reconcile.RecordEntry:
			record = Entry(10_000)
		}
		records = append(records, record)
	}
	return records
}

// Entry is a first entry of the ledger, which takes over a futures wallet.
func Entry(usdt int64) reconcile.Record {
	key, amount := exchange.SymbolKey{Market: exchange.Futures}, exchange.AmountOf(usdt)
	return reconcile.Record{Kind: reconcile.RecordEntry, AtMS: 10, Entry: &reconcile.Posting{
		Reading: reconcile.Reading{AtMS: 10, Market: exchange.Futures, Wallet: []reconcile.Asset{{Name: "USDT", Amount: amount}}},
		Lines: []reconcile.Line{{Account: reconcile.Wallet, Symbol: key, Asset: "USDT", Amount: amount},
			{Account: reconcile.Transferred, Symbol: key, Asset: "USDT", Amount: amount.Neg()}}}}
}

func firstKinds() []reconcile.Record {
	order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.StopMarket, StopPrice: 49_000e8,
		WorkingType: exchange.ContractPrice, ClosePosition: true, ClientOrderID: "bmain-1-1"}
	plan := strategy.Plan{Target: strategy.Target{Kind: strategy.ByEquity, Share: -exchange.RateOne}, Leverage: 3, OrdersSet: true, Reason: "why",
		Orders:     []strategy.DesiredOrder{{Key: "low", Side: exchange.Buy, Price: 1, Quantity: 2, PostOnly: true}},
		Protection: strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 2_000_000}}}
	return []reconcile.Record{
		{Kind: reconcile.RecordBoot, AtMS: 1, Epoch: 36},
		{Kind: reconcile.RecordConfig, AtMS: 1, Hash: "abc"},
		{Kind: reconcile.RecordPlan, AtMS: 2, Strategy: "one", Symbol: bitcoin, Plan: &plan},
		{Kind: reconcile.RecordMemory, AtMS: 2, Strategy: "one", Memory: []strategy.MemoryEntry{{Key: "begin_ms", Value: 5}}},
		{Kind: reconcile.RecordResolved, AtMS: 3, Strategy: "one", Symbol: bitcoin, Target: plan.Target, Resolved: -7},
		{Kind: reconcile.RecordSending, AtMS: 4, Strategy: "one", Symbol: bitcoin, ClientOrderID: "bmain-1-1", Order: &order, Purpose: reconcile.StopLoss,
			DeadlineMS: 9, Before: -7, Reserved: exchange.MustAmount("12.000000000000000001")},
		{Kind: reconcile.RecordAcknowledged, AtMS: 5, ClientOrderID: "bmain-1-1", OrderID: 77},
		{Kind: reconcile.RecordUnknown, AtMS: 5, ClientOrderID: "bmain-1-1", Why: "timeout"},
		{Kind: reconcile.RecordFill, AtMS: 6, ClientOrderID: "bmain-1-1", Filled: 3, Price: exchange.AmountOf(48_999)},
		{Kind: reconcile.RecordEnded, AtMS: 7, ClientOrderID: "bmain-1-1", State: reconcile.Filled, Filled: 7, Evidence: "fetched FILLED"},
		{Kind: reconcile.RecordRefused, AtMS: 7, ClientOrderID: "bmain-1-2", Why: "no", Code: 2003},
		{Kind: reconcile.RecordQuarantined, AtMS: 8, Symbol: bitcoin, Why: "why"},
		{Kind: reconcile.RecordAdopted, AtMS: 8, Symbol: bitcoin, Filled: -2, Evidence: "by hand"},
		{Kind: reconcile.RecordLatch, AtMS: 8, Strategy: "one", Latch: -1},
		{Kind: reconcile.RecordDay, AtMS: 9, DayMS: 8, Equity: exchange.AmountOf(5), Peak: exchange.AmountOf(6)},
		{Kind: reconcile.RecordHalt, AtMS: 9, Level: reconcile.LevelPause, Why: "why"},
		{Kind: reconcile.RecordBaseline, AtMS: 9, Symbol: bitcoin, Filled: 100},
		{Kind: reconcile.RecordFees, AtMS: 9, Symbol: bitcoin, Filled: 1},
		{Kind: reconcile.RecordLimit, AtMS: 9, Rule: "max_open_orders", Limit: "5", By: "socket", Why: "a quiet week"},
	}
}

// sending is the record of a placement.
func sending(n int) reconcile.Record {
	id := reconcile.ClientOrderID("main", 36, int64(n))
	order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 1, ClientOrderID: id}
	return reconcile.Record{Kind: reconcile.RecordSending, AtMS: int64(n), Strategy: "one", Symbol: bitcoin, ClientOrderID: id, Order: &order, Purpose: reconcile.Entry}
}

func boot(epoch int64) reconcile.Record {
	return reconcile.Record{Kind: reconcile.RecordBoot, Epoch: epoch}
}
