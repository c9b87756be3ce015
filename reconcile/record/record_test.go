package record

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/strategy"
)

var (
	bitcoin = exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
	solana  = exchange.SymbolKey{Market: exchange.Spot, Name: "SOL-USDT"}
)

func amount(text string) exchange.Amount { return exchange.MustAmount(text) }

// everyKind returns at least one record of each kind that version 2 had, with every field of that
// version set: the records that version 2 wrote to testdata/version2.jsonl, line by line.
func everyKind() []Record {
	stop := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.StopMarket, StopPrice: 49_000e8,
		WorkingType: exchange.ContractPrice, ClosePosition: true, ClientOrderID: "bmain-1-1"}
	plan := &strategy.Plan{
		Target:     strategy.Target{Kind: strategy.ByEquity, Share: -exchange.RateOne},
		Leverage:   3,
		OrdersSet:  true,
		ExitsSet:   true,
		Reason:     "why",
		Orders:     []strategy.DesiredOrder{{Key: "low", Side: exchange.Buy, Price: 1, Quantity: 2, PostOnly: true}},
		Exits:      []strategy.DesiredOrder{{Key: "high", Side: exchange.Sell, Price: 9, StopPrice: 8, Quantity: 2}},
		Protection: strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 2_000_000}, TakeProfit: strategy.Distance{Price: 7}},
	}
	posting := Posting{ledger.Posting{
		Reading: ledger.Reading{
			AtMS:   10,
			Market: exchange.Futures,
			Wallet: []ledger.Asset{{Name: "USDT", Amount: amount("10000")}},
			Open: []ledger.Position{
				{
					ID:         5,
					Symbol:     "BTC-USDT",
					Short:      true,
					Opened:     amount("0.01"),
					Remaining:  amount("0.005"),
					EntryPrice: amount("50000"),
					Realized:   amount("1"),
					FromMS:     1,
				},
			},
			Closed: []ledger.Position{
				{
					ID:         4,
					Symbol:     "BTC-USDT",
					Opened:     amount("0.01"),
					EntryPrice: amount("50000"),
					Close:      amount("49000"),
					Realized:   amount("-10"),
					Liquidated: true,
					FromMS:     1,
					UntilMS:    2,
				},
			},
			Trades: []ledger.Trade{{ID: 1, OrderID: 2, Price: amount("98"), Quantity: amount("1"), Fee: amount("0.001"), FeeAsset: "SOL"}},
			Instruments: []ledger.Instrument{
				{Symbol: bitcoin, Base: "BTC", Quote: "USDT", Unit: amount("0.001"), Grid: amount("0.0001"), Step: amount("0.001"),
					FundingCap: 750_000, FundingHours: 8},
			},
			Unstable: true,
			Partial:  true,
		},
		Lines: []ledger.Line{{Account: ledger.Wallet, Symbol: exchange.SymbolKey{Market: exchange.Futures}, Asset: "USDT", Amount: amount("10000")},
			{Account: ledger.Fees, Strategy: "one", Symbol: bitcoin, Asset: "USDT", Amount: amount("-10000"), Derived: true}}}}
	order := func(atMS int64, id string, body Body) Record { return Record{atMS, "one", bitcoin, id, body} }
	return []Record{
		{AtMS: 1, Body: Boot{Epoch: 36, Account: "demo"}},
		{AtMS: 1, Body: Config{Hash: "abc"}},
		{AtMS: 1, Strategy: "one", Symbol: bitcoin, Body: Assigned{OnRemove: "flatten"}},
		{AtMS: 2, Strategy: "one", Symbol: bitcoin, Body: Plan{plan}},
		{AtMS: 2, Strategy: "one", Body: Memory{Entries: []strategy.MemoryVariable{{Key: "begin_ms", Value: 5}}}},
		{AtMS: 3, Strategy: "one", Symbol: bitcoin, Body: Priced{Target: plan.Target, Quantity: -7}},
		order(
			4,
			"bmain-1-1",
			Sending{Order: stop, Purpose: placement.StopLoss, Key: "bridge", DeadlineMS: 9, Before: -7, Reserved: amount("12.000000000000000001")},
		),
		order(5, "bmain-1-1", Acknowledged{OrderID: 77}),
		order(5, "bmain-1-1", Uncertain{Reason: "timeout"}),
		order(6, "bmain-1-1", Fill{OrderID: 77, Filled: 3, Price: amount("48999")}),
		order(7, "bmain-1-1", Ended{OrderID: 77, State: placement.Filled, Filled: 7, Price: amount("48998"), Evidence: "fetched FILLED"}),
		order(7, "bmain-1-2", Refused{Code: 2003, Reason: "no"}),
		{AtMS: 8, Symbol: bitcoin, Body: Quarantined{Reason: "why"}},
		{AtMS: 8, Symbol: solana, ClientOrderID: "bmain-0-9", Body: Adopted{Quantity: -2, Evidence: "by hand"}},
		{AtMS: 8, Strategy: "one", Body: Latch{Side: -1}},
		{AtMS: 9, Body: Day{StartMS: 8, Equity: amount("5"), Peak: amount("6"), Markets: "futures, spot", Spot: amount("1")}},
		{AtMS: 9, Strategy: "one", Body: Halt{Level: LevelPause, Reason: "why"}},
		{AtMS: 9, Strategy: "one", Body: Halt{Reason: "over"}},
		{AtMS: 9, Symbol: solana, Body: Baseline{Quantity: 100}},
		{AtMS: 9, Symbol: solana, Body: Fees{Quantity: 1, Evidence: "fees"}},
		{AtMS: 10, Body: Breaker{UntilMS: 20, Reason: "why"}},
		{AtMS: 10, Symbol: bitcoin, ClientOrderID: "bmain-9-9", Body: Ignored{Quantity: -3, OrderID: 99, Evidence: "by hand"}},
		order(
			10,
			"bmain-9-8",
			Found{OrderID: 98, Order: stop, Purpose: placement.ExitOrder, Key: "found", Filled: 1, Duplicate: true, Evidence: "a second order"},
		),
		{
			AtMS:     10,
			Strategy: "one",
			Symbol:   bitcoin,
			Body:     Result{Base: amount("9"), Result: amount("-1"), Trip: amount("2"), Position: -4, Losses: 3},
		},
		{AtMS: 10, Body: Accounted{Wallet: amount("8"), Losses: 1}},
		{AtMS: 10, Strategy: "one", Body: Breach{Rule: "max_daily_loss", Reason: "why", UntilMS: 30}},
		{AtMS: 10, Body: posting},
		{
			AtMS: 10,
			Body: Audit{Actor: "socket", Role: "operator", From: "pid 1", Action: "POST /halt", Object: "account", Detail: "news", RequestID: "r1"},
		},
		order(10, "bmain-9-8", Withdrawn{OrderID: 98, Reason: "why"}),
		{AtMS: 11, Body: Limit{Rule: "max_open_orders", Value: "5", By: "socket", Reason: "a quiet week"}},
	}
}

// newerKinds returns records of kinds that version 2 did not have.
func newerKinds() []Record {
	return []Record{{AtMS: 12, Strategy: "one", Symbol: bitcoin, Body: Declined{placement.Order, "low", exchange.Buy, 5, "balance", "too little"}},
		{AtMS: 12, Body: Transfer{ledger.Transfer{Market: exchange.Spot, Asset: "USDT", Amount: exchange.MustAmount("-5"), Note: "out"}}},
		{AtMS: 11, Symbol: exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}, Body: Liquidated{
			PositionID: 7, Quantity: -4, ClosePrice: exchange.MustAmount("43500"), Realized: exchange.MustAmount("-9"), Evidence: "shown LIQUIDATED"}}}
}

func TestRecordsOfOlderJournalsAreRead(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/version2.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines, want := slices.Collect(strings.Lines(string(text))), everyKind()
	if len(lines) != len(want) {
		t.Fatalf("want %d records, have %d", len(want), len(lines))
	}
	for i, line := range lines {
		var have Record
		if err := json.Unmarshal([]byte(line), &have); err != nil || !reflect.DeepEqual(want[i], have) {
			t.Errorf("line %d: %v\nwant %+v\nhave %+v", i+1, err, want[i], have)
		}
	}
}

func TestEveryKindComesBackAsItWas(t *testing.T) {
	t.Parallel()
	seen := map[Kind]bool{}
	checkpoint := Record{AtMS: 12, Body: Checkpoint{"1-ab", 7, "demo", []byte{0, 1, 2}}}
	for _, want := range append(append(everyKind(), newerKinds()...), checkpoint) {
		seen[want.Kind()] = true
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var have Record
		if err := json.Unmarshal(text, &have); err != nil || !reflect.DeepEqual(want, have) {
			t.Errorf("%s: %v\nwant %+v\nhave %+v", text, err, want, have)
		}
	}
	for _, kind := range Kinds() {
		if name, err := ParseKind(kind.String()); !seen[kind] || name != kind || err != nil {
			t.Errorf("%s: want a record of it, and its name read, have %t, %s, %v", kind, seen[kind], name, err)
		}
	}
}

// TestARecordIsOneFlatObject checks the JSON form that people and programs outside botd read.
func TestARecordIsOneFlatObject(t *testing.T) {
	t.Parallel()
	const symbol = `"symbol":{"Market":"futures","Name":"BTC-USDT"}`
	for want, r := range map[string]Record{
		`{"v":3,"kind":"halt","at_ms":9,"level":"pause","why":"news"}`: {AtMS: 9,
			Body: Halt{Level: LevelPause, Reason: "news"}},
		`{"v":3,"kind":"halt","at_ms":9,"strategy":"one"}`: {AtMS: 9, Strategy: "one",
			Body: Halt{}},
		`{"v":3,"kind":"assigned","at_ms":1,"strategy":"one",` + symbol +
			`,"on_remove":"leave"}`: {AtMS: 1, Strategy: "one", Symbol: bitcoin, Body: Assigned{OnRemove: "leave"}},
		`{"v":3,"kind":"fill","at_ms":6,` + symbol + `,"client_order_id":"b1","order_id":7,"filled":3,"price":"48999"}`: {AtMS: 6, Symbol: bitcoin,
			ClientOrderID: "b1", Body: Fill{OrderID: 7, Filled: 3, Price: amount("48999")}},
	} {
		if have, err := json.Marshal(&r); string(have) != want || err != nil {
			t.Errorf("want %s, have %s, %v", want, have, err)
		}
	}
}

// An export writes the record's sequence and its hash in the chain before the record's own keys, in the same
// object.
func TestNoPayloadRepeatsAKeyOfItsEnvelope(t *testing.T) {
	t.Parallel()
	taken := []string{"sequence", "hash", "v", "kind", "at_ms", "strategy", "symbol", "client_order_id"}
	for _, r := range append(everyKind(), newerKinds()...) {
		text, err := json.Marshal(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for _, key := range taken {
			if _, found := fields[key]; found {
				t.Errorf("the payload of a %s record has the key %q, which its envelope has too", r.Kind(), key)
			}
		}
	}
}

func TestInvalidRecordIsRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"v":4,"kind":"halt","at_ms":9}`:               "version 4",
		`{"v":3,"kind":"entry2","at_ms":9}`:             "unknown journal record",
		`{"v":3,"at_ms":9}`:                             "without a kind",
		`{"kind":"assigned","at_ms":9}`:                 "unknown journal record", // not a kind of version 2
		`{"v":3,"kind":"halt","at_ms":9,"level":"all"}`: "unknown halt level",
		`{"v":3,"kind":"ended","at_ms":9,"state":"?"}`:  "unknown placement state",
	} {
		if err := json.Unmarshal([]byte(text), new(Record)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want an error with %q, have %v", text, want, err)
		}
	}
}

func TestAKindIsAlsoReadByItsFormerName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Kind{"entry": KindPosting, "resolved": KindPriced} {
		if have, err := ParseKind(name); have != want || err != nil {
			t.Errorf("%s: want %s, have %s, %v", name, want, have, err)
		}
	}
}

func TestRecordSummaries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		record Record
		want   string
	}{
		{Record{Body: Boot{Epoch: 7}}, "epoch 7"},
		{Record{Body: Plan{&strategy.Plan{Target: strategy.Target{Kind: strategy.ByEquity, Share: exchange.RateOne}, Reason: "up"}}}, "target 1 of equity: up"},
		{Record{Body: Plan{&strategy.Plan{OrdersSet: true, Orders: make([]strategy.DesiredOrder, 3)}}}, "no target, 3 orders"},
		{Record{ClientOrderID: "b1", Body: Sending{Purpose: placement.StopLoss,
			Order: exchange.NewOrder{Side: exchange.Sell, Type: exchange.StopMarket, StopPrice: 5}}},
			"b1 stop_loss SELL STOP_MARKET stop 5"},
		{Record{ClientOrderID: "b1", Body: Refused{Code: 2003, Reason: "too small"}}, "b1 code 2003 too small"},
		{Record{ClientOrderID: "b1", Body: Ended{OrderID: 7, State: placement.Canceled, Filled: 3, Evidence: "fetched CANCELED"}},
			"b1 order 7 canceled filled 3 fetched CANCELED"},
		{Record{Body: Halt{}}, "rearmed"},
		{Record{Body: Halt{Level: LevelFlatten, Reason: "news"}}, "flatten news"},
		{Record{Body: Breach{Rule: "max_daily_loss", UntilMS: 1_800_000_000_000, Reason: "5 %"}}, "until 2027-01-15T08:00:00Z max_daily_loss 5 %"},
		{Record{Body: Posting{ledger.Posting{Reading: ledger.Reading{Market: exchange.Futures},
			Lines: []ledger.Line{{Account: ledger.Fees, Asset: "USDT", Amount: amount("0.5")},
				{Account: ledger.Wallet, Asset: "USDT", Amount: amount("-0.5")}}}}}, "futures fees 0.5 USDT"},
	} {
		if have := c.record.Summary(); have != c.want {
			t.Errorf("want %q, have %q", c.want, have)
		}
	}
}
