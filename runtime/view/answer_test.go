package view

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
	"botd/internal/enginetest"
	"botd/internal/jsonalias"
	"botd/reconcile/account"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
	"botd/runtime/engine"
	"botd/runtime/ops"
	"botd/strategy"
)

// shows compares a document, as the API writes it, with the fields of want: other fields are of no interest, lists are whole.
func shows(t *testing.T, name string, document any, want string) {
	t.Helper()
	text, err := jsonalias.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	var wanted, have any
	if err := errors.Join(json.Unmarshal([]byte(want), &wanted), json.Unmarshal(text, &have)); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if at := differs("", wanted, have); at != "" {
		t.Errorf("%s: %s\nhave %s", name, at, text)
	}
}

func differs(at string, want, have any) string {
	switch want := want.(type) {
	case map[string]any:
		of, is := have.(map[string]any)
		if !is {
			return fmt.Sprintf("%s: want an object, have %v", at, have)
		}
		for field, value := range want {
			if found := differs(at+"."+field, value, of[field]); found != "" {
				return found
			}
		}
		return ""
	case []any:
		of, is := have.([]any)
		if !is || len(of) != len(want) {
			return fmt.Sprintf("%s: want a list of %d, have %v", at, len(want), have)
		}
		for i := range want {
			if found := differs(fmt.Sprint(at, ".", i), want[i], of[i]); found != "" {
				return found
			}
		}
		return ""
	}
	if want != have {
		return fmt.Sprintf("%s: want %v, have %v", at, want, have)
	}
	return ""
}

const (
	nowMS  = 1_700_000_100_000 // 2023-11-14 22:15:00 UTC
	future = exchange.Futures
)

// trading is a status of two strategies: trend is long 0.02 BTC at 50,000, of which the price is 50,100; hold has no position.
func trading(t *testing.T) engine.Status {
	t.Helper()
	amount := func(text string) exchange.Amount { return enginetest.Amount(t, text) }
	last := enginetest.Price(t, bitcoin, "50100")
	return engine.Status{
		NowMS: nowMS, SoundMS: nowMS - 1_000, Equity: amount("10001.5"), Total: amount("11001.5"), TotalKnown: true, AccountMS: nowMS - 500,
		Day: account.Day{StartMS: 1_699_920_000_000, Equity: amount("11101.5"), Peak: amount("12001.5")},
		Account: exchange.MarginAccount{WalletBalance: amount("9999.5"), UnrealizedPNL: amount("2"), AvailableBalance: amount("9000"),
			MarginUsed: amount("200.4"), MaintenanceMargin: amount("4")},
		Balances: []exchange.Balance{{Asset: "USDT", Free: amount("900"), Frozen: amount("100")}},
		Strategies: []engine.StrategyStatus{
			{Name: "trend", Kind: "ma_cross", Symbol: bitcoin, Interval: exchange.Minute1, State: "running", PlanReason: "crossed", Target: 30, Position: 20,
				EntryPrice: amount("50000"), LiqPrice: amount("45090"), Last: last, LastMS: nowMS - 500, CandleMS: nowMS - 60_000, TickMS: nowMS - 59_000,
				NextMS: nowMS + 2_000, Settled: true, Protected: true, Own: amount("5000")},
			{Name: "hold", Kind: "buy_and_hold", Symbol: ether, Interval: exchange.Minute1, State: "warming_up", StateReason: "3 of 5 candles",
				Last: enginetest.Price(t, ether, "3000"), LastMS: nowMS - 500},
		},
		Symbols: []engine.SymbolStatus{{Key: bitcoin.Key(), Rules: bitcoin, Owner: "trend", Position: 20, Known: 20, EntryPrice: amount("50000"),
			LiqPrice: amount("45090"), Leverage: 5, Last: last, Mark: enginetest.Price(t, bitcoin, "50090"), SinceMS: 5_000, Settled: true}},
		Ledger: []ledger.Balance{{Account: ledger.Realized, Strategy: "trend", Symbol: bitcoin.Key(), Asset: "USDT", Amount: amount("-7")},
			{Account: ledger.Fees, Strategy: "trend", Symbol: bitcoin.Key(), Asset: "USDT", Amount: amount("1.25")}},
		Live: []account.Placement{order("bx-1-1", placement.StopLoss, placement.Working, 5_000, func(o *exchange.NewOrder) {
			o.Side, o.Type, o.StopPrice, o.ClosePosition, o.Quantity = exchange.Sell, exchange.StopMarket, enginetest.Price(t, bitcoin, "49000"), true, 0
		})},
	}
}

// order is a placement of trend: a purchase of 0.03 BTC at market unless it is changed.
func order(id string, purpose placement.Purpose, state placement.State, sentMS int64, change func(*exchange.NewOrder)) account.Placement {
	o := exchange.NewOrder{ClientOrderID: id, Market: future, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 30}
	if change != nil {
		change(&o)
	}
	return enginetest.Placement(record.Record{AtMS: sentMS, Strategy: "trend", Symbol: bitcoin.Key(), ClientOrderID: id,
		Body: record.Sending{Purpose: purpose, Order: o}}, state, 11)
}

// showing is a board that has that status, after a complete round.
func showing(status engine.Status) *Board {
	b := NewBoard("demo", "main")
	b.Note(&engine.Note{Fact: engine.NoteRound{Complete: true}})
	b.Show(status)
	return b
}

// TestWhatStatusShows covers an account that trades well, and each state that botd declares or that makes it unready.
func TestWhatStatusShows(t *testing.T) {
	t.Parallel()
	degraded := func(all ...engine.Degraded) func(*engine.Status) { return func(s *engine.Status) { s.Degraded = all } }
	key := account.Scope{Symbol: bitcoin.Key()}
	unready := func(check, detail string) string {
		return fmt.Sprintf(`{"ready":false,"checks":[%s]}`, checksWith(check, detail))
	}
	for _, c := range []struct {
		name   string
		change func(s *engine.Status)
		want   string
	}{
		{"it trades", func(*engine.Status) {}, `{"schema":1,"mode":"demo","instance":"main","time":"2023-11-14T22:15:00Z","ready":true,"blind":false,
			"equity":"11001.5","futures_equity":"10001.5","wallet":"9999.5","available":"9000","unrealized":"2","margin_used":"200.4","degraded":[],
			"today":{"start":"2023-11-14T00:00:00Z","start_equity":"11101.5","change":"-100","change_ratio":-0.009008,"peak":"12001.5",
		"drawdown_ratio":0.083323},
			"open_orders":1,"unsettled":0,"positions":1,"nearest_liquidation":{"symbol":"BTC-USDT","price":"45090","distance_ratio":0.1},
			"reconcile":{"last_ms":1700000099000,"failed":0,"differences":0},"checks":[` + checksWith("", "") + `],
			"strategies":[{"name":"trend","kind":"ma_cross","market":"futures","symbol":"BTC-USDT","interval":"1m","state":"running","reason":"crossed",
			"target":"0.03","position":"0.02","entry_price":"50000","liq_price":"45090","last_price":"50100","last_price_ms":1700000099500,
			"candle_close_ms":1700000040000,"unrealized":"2","realized":"5.75","profit":"7.75","unrealized_ratio":0.002,"since_ms":5000,"equity":"5000",
			"settled":true,"protected":true,"last_tick_ms":1700000041000,"next_tick_ms":1700000102000},
			{"name":"hold","state":"warming_up","state_reason":"3 of 5 candles","position":"0","unrealized_ratio":0}]}`},
		{"halted by a person", func(s *engine.Status) {
			s.Halt = account.Halt{Level: record.LevelFlatten, Reason: "news"}
			s.Degraded = []engine.Degraded{{State: "halted", Cause: "news", SinceMS: 1_000, Remedy: "botd rearm", Remaining: "0.02 BTC-USDT to close",
				ExitsAccepted: true, Blind: []string{"spot"}}}
		}, `{"ready":true,"halted":"flatten","reason":"news","degraded":[{"state":"halted","scope":"account","cause":"news","since":"1970-01-01T00:00:01Z",
			"remedy":"botd rearm","doing":"0.02 BTC-USDT to close","under_way":true,"blind":["spot"]}]}`},
		{"halted, with nothing left to close", degraded(engine.Degraded{State: "halted", ExitsAccepted: true}), `{"degraded":[{"state":"halted",
		"under_way":null}]}`},
		{"a strategy's limit that clears automatically", degraded(engine.Degraded{State: "limit", Scope: account.Scope{Strategy: "trend"}, UntilMS: 60_000}),
			`{"ready":true,"degraded":[{"state":"limit","scope":"strategy","strategy":"trend","until":"1970-01-01T00:01:00Z"}]}`},
		{"unprotected", degraded(engine.Degraded{State: "unprotected", Scope: key, Cause: "-4012"}),
			`{"ready":true,"degraded":[{"state":"unprotected","scope":"symbol","market":"futures","symbol":"BTC-USDT","cause":"-4012","until":null}]}`},
		{"a market blind", degraded(engine.Degraded{State: "blind", Scope: account.Scope{Symbol: exchange.SymbolKey{Market: exchange.Spot}}, Cause: "timeout"}),
			unready("reconcile", "not all can be read; market spot: timeout")},
		{"blind", func(s *engine.Status) {
			s.Blind, s.Failed, s.SoundMS = true, 3, nowMS-45_000
			s.Degraded = []engine.Degraded{{State: "blind", Cause: "timeout"}}
		}, unready("reconcile", "the last complete round was 45 s ago, 3 failed in a row; account: timeout")},
		{"a complete round a minute ago", func(s *engine.Status) { s.SoundMS = nowMS - 60_000 }, `{"ready":true}`},
		{"and longer ago", func(s *engine.Status) { s.SoundMS = nowMS - 60_001 },
			unready("reconcile", "the last complete round was 60 s ago, 0 failed in a row")},
		{"candles that stand still", degraded(engine.Degraded{State: "stale", Scope: key, SinceMS: nowMS - 90_000, Cause: "1m"}),
			unready("market_data", "futures BTC-USDT: stale for 90 s: 1m")},
		{"a price of three minutes", func(s *engine.Status) {
			s.Strategies[0].LastMS, s.Strategies[0].CandleMS = nowMS-200_000, nowMS-180_000
		}, `{"ready":true}`},
		{"an older price", func(s *engine.Status) {
			s.Strategies[0].LastMS, s.Strategies[0].CandleMS = nowMS-180_001, nowMS-200_000
		},
			unready("market_data", "trend: the newest price of BTC-USDT is 180 s old")},
		{"no price yet", func(s *engine.Status) { s.Strategies[1].Last = 0 }, unready("market_data", "hold: no price of ETH-USDT yet")},
		{"a price of no time", func(s *engine.Status) { s.Strategies[1].LastMS = 0 }, unready("market_data", "hold: no price of ETH-USDT yet")},
		{"nothing yet", func(s *engine.Status) { *s = engine.Status{Strategies: s.Strategies} },
			`{"ready":false,"today":{"start":null,"change":null},"nearest_liquidation":{"symbol":"BTC-USDT"}}`},
		{"no strategies", func(s *engine.Status) { s.Strategies, s.SoundMS = nil, 0 }, `{"ready":true,"positions":0,"strategies":[],
		"nearest_liquidation":null}`},
		{"the journal fails", func(s *engine.Status) { s.JournalErr = errors.New("no space") }, unready("journal", "no space")},
		{"the disk is nearly full", func(s *engine.Status) { s.DiskLow = "31 MB free" }, unready("journal", "31 MB free")},
		{"both", func(s *engine.Status) { s.JournalErr, s.DiskLow = errors.New("no space"), "31 MB free" }, unready("journal", "no space; 31 MB free")},
		{"quarantined and contradicted", func(s *engine.Status) { s.Strategies[0].State, s.Strategies[1].State = "quarantined", "contradicted" },
			`{"ready":true,"reconcile":{"differences":2}}`},
		{"orders without an answer", func(s *engine.Status) {
			s.Live = append(s.Live, order("b", placement.Entry, placement.Uncertain, 9_000, nil), order("c", placement.Entry, placement.Sending, 7_000, nil),
				order("d", placement.Entry, placement.Acknowledged, 8_000, nil))
		}, `{"open_orders":4,"unsettled":3,"unsettled_since_ms":7000}`},
		{"a short position nearer to its liquidation", func(s *engine.Status) {
			s.Strategies[1].Position, s.Strategies[1].LiqPrice = -5, enginetest.Amount(t, "3150")
		}, `{"positions":2,"nearest_liquidation":{"symbol":"ETH-USDT","price":"3150","distance_ratio":0.05}}`},
		{"one further away", func(s *engine.Status) {
			s.Strategies[1].Position, s.Strategies[1].LiqPrice = -5, enginetest.Amount(t, "3600")
		}, `{"nearest_liquidation":{"symbol":"BTC-USDT"}}`},
		{"no price for a distance", func(s *engine.Status) { s.Strategies[0].Last = 0 }, `{"nearest_liquidation":null}`},
		{"a position without a liquidation", func(s *engine.Status) { s.Strategies[0].LiqPrice = exchange.Amount{} }, `{"nearest_liquidation":null}`},
	} {
		status := trading(t)
		c.change(&status)
		shows(t, c.name, showing(status).Status(), c.want)
	}
	shows(t, "before the first round", NewBoard("demo", "main").Status(), `{"ready":false,"today":{"start":null,"change":null},"strategies":[],"checks":[
		{"name":"loop","ok":false},{"name":"journal","ok":true},{"name":"reconcile","ok":false,"detail":"no complete round since the start, 0 failed in a row"},
		{"name":"market_data","ok":false,"detail":"the engine has not begun"},{"name":"configuration","ok":true,"detail":"loaded at start"}]}`)
}

// checksWith are the checks of readiness in JSON, one of which fails.
func checksWith(failing, detail string) (all string) {
	for _, name := range []string{"loop", "journal", "reconcile", "market_data", "configuration"} {
		if all != "" {
			all += ","
		}
		switch name {
		case failing:
			all += fmt.Sprintf(`{"name":%q,"ok":false,"detail":%q}`, name, detail)
		case "configuration":
			all += `{"name":"configuration","ok":true,"detail":"loaded at start"}`
		default:
			all += fmt.Sprintf(`{"name":%q,"ok":true,"detail":null}`, name)
		}
	}
	return all
}

func TestAReportReplacesTheOneOfItsName(t *testing.T) {
	t.Parallel()
	b := showing(trading(t))
	b.Report(ops.Check{Name: "clock", Detail: "3 s off"})
	b.Report(ops.Check{Name: "lease", OK: true})
	b.Unclean(true)
	shows(t, "two more", b.Status(), `{"ready":false,"unclean_start":true,"checks":[`+checksWith("", "")+`,{"name":"clock","ok":false,"detail":"3 s off"},
		{"name":"lease","ok":true}]}`)
	b.Report(ops.Check{Name: "clock", OK: true})
	b.Report(ops.Check{Name: "configuration", Detail: "line 3"})
	shows(t, "one replaced", b.Checks()[4:], `[{"name":"configuration","ok":false,"detail":"line 3"},{"name":"clock","ok":true,"detail":null},{"name":"lease",
		"ok":true}]`)
	if b.Mode() != "demo" || b.Instance() != "main" || b.NowMS() != nowMS {
		t.Errorf("want demo, main and the status's time, have %s, %s, %d", b.Mode(), b.Instance(), b.NowMS())
	}
}

// TestABoardThatReceivesNothing covers the bounds of a loop and of rounds, in virtual time.
func TestABoardThatReceivesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		idle := NewBoard("demo", "main")
		if idle.Alive() {
			t.Error("want no life before the first beat")
		}
		if idle.Beat(); !idle.Alive() {
			t.Error("want life after a beat")
		}
		b := showing(trading(t))
		b.Note(&engine.Note{Fact: engine.NoteRound{}}) // a failed round
		for _, c := range []struct {
			after                time.Duration
			alive, end, complete bool
		}{
			{0, true, true, true}, {30*time.Second - 1, true, true, true}, {1, false, true, true},
			{30*time.Second - 1, false, true, true}, {1, false, true, false}, {time.Minute - 1, false, true, false}, {1, false, false, false},
		} {
			time.Sleep(c.after)
			if b.Alive() != c.alive || b.RoundsEnd() != c.end || b.RoundsComplete(time.Minute) != c.complete {
				t.Errorf("%s later: want %+v, have %t, %t, %t", c.after, c, b.Alive(), b.RoundsEnd(), b.RoundsComplete(time.Minute))
			}
		}
		if !idle.RoundsEnd() || !idle.RoundsComplete(time.Second) {
			t.Error("want no rounds demanded without strategies")
		}
		b.Note(&engine.Note{Fact: engine.NoteRound{}})
		if !b.RoundsEnd() || b.RoundsComplete(time.Minute) {
			t.Error("after a failed round: want it ended, and not complete")
		}
	})
}

// TestWhatIsPublished covers a status that repeats, and one that changes.
func TestWhatIsPublished(t *testing.T) {
	t.Parallel()
	b := showing(trading(t))
	var topics []string
	b.Follow(func(topic string, content any) {
		text, err := json.Marshal(content)
		if err != nil {
			t.Error(err)
		}
		var of struct{ Name, State string }
		if err := json.Unmarshal(text, &of); err != nil {
			t.Error(err)
		}
		topics = append(topics, fmt.Sprintf("%s %s%s", topic, of.Name, of.State))
	}, NewHistory())
	for _, c := range []struct {
		name   string
		change func(s *engine.Status)
		want   string
	}{
		{"the first", func(*engine.Status) {}, "[strategy trendrunning strategy holdwarming_up status ]"},
		{"the same, later", func(s *engine.Status) { s.NowMS += 1_000; s.SoundMS += 1_000 }, "[]"},
		{"another state of a strategy", func(s *engine.Status) { s.Strategies[1].State = "running" }, "[strategy holdrunning]"},
		{"another halt", func(s *engine.Status) { s.Strategies[1].State, s.Halt.Level = "running", record.LevelPause }, "[status ]"},
	} {
		topics = nil
		status := trading(t)
		c.change(&status)
		if b.Show(status); fmt.Sprint(topics) != c.want {
			t.Errorf("%s: want %s published, have %v", c.name, c.want, topics)
		}
	}
}

// TestWhatAStrategyShows covers its plan, its own limits and the states that apply to it.
func TestWhatAStrategyShows(t *testing.T) {
	t.Parallel()
	spot := exchange.SymbolKey{Market: exchange.Spot}
	status := trading(t)
	trend := &status.Strategies[0]
	trend.Latch = -1
	trend.Memory = strategy.MemoryOf(strategy.MemoryVariable{Key: "bars", Value: 7})
	trend.Plan = strategy.Plan{Target: strategy.Target{Kind: strategy.ByEquity, Share: exchange.RateOne / 2}, Leverage: 5, Reason: "crossed",
		Orders: []strategy.DesiredOrder{{Key: "a", Side: exchange.Buy, Price: enginetest.Price(t, bitcoin, "49000"), Quantity: 5, PostOnly: true}},
		Exits: []strategy.DesiredOrder{{Key: "b", Side: exchange.Sell, Price: enginetest.Price(t, bitcoin, "52000"),
			StopPrice: enginetest.Price(t, bitcoin, "52100"), Quantity: 6}},
		Protection: strategy.Protection{StopLoss: strategy.Distance{Share: exchange.RateOne / 50},
			TakeProfit: strategy.Distance{Price: enginetest.Price(t, bitcoin, "60000")}}}
	status.Limits = []risk.Utilization{{Scope: "account", Rule: "max_drawdown", Ratio: 0.1}, {Scope: "strategy trend", Strategy: "trend", Rule: "max_position",
		Value: "0.02", Limit: "0.03", Headroom: "0.01", Ratio: 0.66666666, State: "ok"}}
	status.Degraded = []engine.Degraded{{State: "halted"}, {State: "blind", Scope: account.Scope{Symbol: spot}},
		{State: "blind", Scope: account.Scope{Symbol: exchange.SymbolKey{Market: future}}}, {State: "unprotected", Scope: account.Scope{Symbol: bitcoin.Key()}},
		{State: "foreign", Scope: account.Scope{Symbol: ether.Key()}}, {State: "hung", Scope: account.Scope{Strategy: "trend"}},
		{State: "failed", Scope: account.Scope{Strategy: "hold"}}, {State: "foreign", Scope: account.Scope{Symbol: exchange.SymbolKey{Market: exchange.Spot,
			Name: "BTC-USDT"}}}}
	b := showing(status)
	b.Note(&engine.Note{AtMS: 5, Strategy: "trend", Symbol: bitcoin, Fact: engine.NoteDecision{Plan: &strategy.Plan{Target: strategy.Flat()}, Reason: "crossed",
		Last: trend.Last, Position: 20}})
	one, known := b.Strategy("trend")
	shows(t, "trend", one, `{"schema":1,"name":"trend","latch":"short","plan":{"target":"50 % of equity in BTC-USDT","leverage":5,"reason":"crossed",
		"orders":[{"key":"a","side":"BUY","price":"49000","quantity":"0.005","post_only":true,"stop_price":null}],
		"exits":[{"key":"b","side":"SELL","price":"52000","quantity":"0.006","post_only":false,"stop_price":"52100"}],
		"stop_loss":"2 %","take_profit":"60000","memory":[{"key":"bars","value":7}]},
		"limits":[{"scope":"strategy trend","strategy":"trend","rule":"max_position","value":"0.02","use":"0.02","limit":"0.03","headroom":"0.01",
		"ratio":0.666667,
		"state":"ok","since":null,"until":null,"set":null}],
		"degraded":[{"state":"halted"},{"state":"blind","scope":"market","market":"futures"},{"state":"unprotected"},{"state":"hung"}],
		"decisions":[{"id":"1","at_ms":5,"strategy":"trend","market":"futures","symbol":"BTC-USDT","target":"0 BTC-USDT","wish":"0 BTC-USDT","side":"flat",
		"reason":"crossed","last_price":"50100","position":"0.02"}]}`)
	hold, _ := b.Strategy("hold")
	shows(t, "hold", hold, `{"latch":null,"limits":[],"decisions":[],"plan":{"target":null,"orders":[],"exits":[],"stop_loss":null,"memory":[]},
		"degraded":[{"state":"halted"},{"state":"blind","market":"spot"},{"state":"foreign","symbol":"ETH-USDT"},{"state":"failed"}]}`)
	if _, found := b.Strategy("nobody"); found || !known {
		t.Error("want trend known alone")
	}
	if symbol, interval, found := b.Traded("hold"); symbol != ether || interval != exchange.Minute1 || !found {
		t.Errorf("want ETH-USDT by the minute, have %v, %v", symbol, interval)
	}
	if _, _, found := b.Traded("nobody"); found {
		t.Error("want nobody to trade nothing")
	}
	if owners := b.Owners(); len(owners) != 2 || owners[bitcoin.Key()] != "trend" || owners[ether.Key()] != "hold" {
		t.Errorf("want both owners, have %v", owners)
	}
}

func TestATargetInWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		plan strategy.Plan
		want string
	}{
		{strategy.Plan{}, "nothing yet"},
		{strategy.Plan{Target: strategy.Flat()}, "no position"},
		{strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: -20}}, "-0.02 BTC-USDT"},
		{strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuote, Quote: enginetest.Amount(t, "250")}}, "250 USDT of BTC-USDT"},
		{strategy.Plan{Orders: make([]strategy.DesiredOrder, 2), Exits: make([]strategy.DesiredOrder, 1)}, "2 orders, 1 exit"},
		{strategy.Plan{Orders: make([]strategy.DesiredOrder, 1)}, "1 order"},
		{strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: 5}, Exits: make([]strategy.DesiredOrder, 2)}, "0.005 BTC-USDT, 2 exits"},
	} {
		plan := planOf(&c.plan, bitcoin, strategy.Memory{})
		if have := PlanText(&plan); have != c.want {
			t.Errorf("%+v: want %q, have %q", c.plan.Target, c.want, have)
		}
	}
	if Because("") != "" || Because("crossed") != " (crossed)" {
		t.Errorf("want a reason in brackets, or none")
	}
}
