package view

import (
	"testing"

	"botd/exchange"
	"botd/internal/enginetest"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
	"botd/runtime/engine"
)

// TestWhatAPositionShows covers a position while trading, and each problem that a position may have.
func TestWhatAPositionShows(t *testing.T) {
	t.Parallel()
	stop := func(id, price string) account.Placement {
		return order(id, placement.StopLoss, placement.Working, 1, func(o *exchange.NewOrder) {
			o.Side, o.Type, o.StopPrice, o.ClosePosition, o.Quantity = exchange.Sell, exchange.StopMarket, enginetest.Price(t, bitcoin, price), true, 0
		})
	}
	reducing := func(id string, quantity exchange.Quantity) account.Placement {
		return order(id, placement.ExitOrder, placement.Working, 1, func(o *exchange.NewOrder) {
			o.Side, o.Type, o.Quantity, o.ReduceOnly = exchange.Sell, exchange.Limit, quantity, true
		})
	}
	elsewhere := order("e", placement.StopLoss, placement.Working, 1, func(o *exchange.NewOrder) { o.Symbol, o.StopPrice, o.ReduceOnly = "ETH-USDT", 1, true })
	for _, c := range []struct {
		name   string
		change func(s *engine.Status)
		want   string
	}{
		{"protected", func(*engine.Status) {}, `[{"strategy":"trend","market":"futures","symbol":"BTC-USDT","quantity":"0.02","journal":"0.02","difference":"0",
			"ignored":"0","settled":true,"quarantine":null,"entry_price":"50000","last_price":"50100","mark_price":"50090","liq_price":"45090",
			"liquidation_distance_ratio":0.1,"notional":"1002","unrealized":"2","leverage":5,"since_ms":5000,"protected":true,"unprotected_since_ms":null,
			"unprotected_ms":0,"protection":[{"purpose":"stop_loss","state":"working","stop_price":"49000","quantity":"","client_order_id":"bx-1-1"}],
			"stop_price":"49000","stop_distance_ratio":0.021956,"reducing":"0"}]`},
		{"unprotected", func(s *engine.Status) {
			s.Strategies[0].Protected, s.Strategies[0].UnprotectedSinceMS, s.Strategies[0].UnprotectedMS, s.Live = false, 3_000, 9_000, nil
		}, `[{"protected":false,"unprotected_since_ms":3000,"unprotected_ms":9000,"protection":[],"stop_price":null,"stop_distance_ratio":null}]`},
		{"of two stops the nearer one", func(s *engine.Status) {
			s.Live = []account.Placement{stop("a", "48000"), stop("b", "49599"), stop("c", "47000")}
		},
			`[{"protection":[{"client_order_id":"a"},{"client_order_id":"b"},{"client_order_id":"c"}],"stop_price":"49599","stop_distance_ratio":0.01}]`},
		{"a take-profit is no stop", func(s *engine.Status) {
			s.Live = []account.Placement{order("p", placement.TakeProfit, placement.Working, 1, func(o *exchange.NewOrder) {
				o.Side, o.StopPrice, o.Quantity = exchange.Sell, enginetest.Price(t, bitcoin, "52000"), 20
			})}
		}, `[{"protection":[{"purpose":"take_profit","stop_price":"52000","quantity":"0.02"}],"stop_price":null,"stop_distance_ratio":null}]`},
		{"a stop of another symbol", func(s *engine.Status) {
			s.Live = []account.Placement{elsewhere}
		},
			`[{"protection":[],"stop_distance_ratio":null,"reducing":"0"}]`},
		{"reducing orders", func(s *engine.Status) {
			s.Live = []account.Placement{reducing("a", 5), reducing("b", 7), order("c", placement.Entry, placement.Working, 1, nil)}
		},
			`[{"reducing":"0.012"}]`},
		{"no price", func(s *engine.Status) { s.Symbols[0].Last, s.Symbols[0].Mark = 0, 0 },
			`[{"mark_price":null,"liquidation_distance_ratio":null,"stop_price":null,"stop_distance_ratio":null}]`},
		{"no liquidation", func(s *engine.Status) { s.Symbols[0].LiqPrice = exchange.Amount{} }, `[{"liquidation_distance_ratio":null}]`},
		{"a part is left to its owner, a part unexplained", func(s *engine.Status) {
			s.Symbols[0].Position, s.Symbols[0].Ignored, s.Symbols[0].Residual, s.Symbols[0].Quarantine = 25, 10, 5, "5 steps more"
		}, `[{"quantity":"0.035","journal":"0.02","difference":"0.005","ignored":"0.01","notional":"1753.5","quarantine":"5 steps more"}]`},
		{"flat, but ignored", func(s *engine.Status) { s.Symbols[0].Position, s.Symbols[0].Ignored = 0, 10 }, `[{"quantity":"0.01",
		"liquidation_distance_ratio":null}]`},
		{"flat, but unexplained", func(s *engine.Status) { s.Symbols[0].Position, s.Symbols[0].Residual = 0, -10 }, `[{"quantity":"0","journal":"0.01",
		"difference":"-0.01"}]`},
		{"flat", func(s *engine.Status) { s.Symbols[0].Position = 0 }, `[]`},
		{"without rules and position", func(s *engine.Status) { s.Symbols[0].Rules, s.Symbols[0].Known = nil, 0 }, `[]`},
		{"held by the journal, and not listed", func(s *engine.Status) {
			s.Symbols[0].Rules, s.Symbols[0].Position, s.Symbols[0].Known, s.Symbols[0].Owner = nil, 0, 20, "trend"
			s.Degraded = []engine.Degraded{{State: "blind", Scope: account.Scope{Symbol: ether.Key()}},
				{State: "failed", Scope: account.Scope{Strategy: "trend", Symbol: bitcoin.Key()}, Cause: "not listed", SinceMS: 5_000}}
		}, `[{"strategy":"trend","market":"futures","symbol":"BTC-USDT","quantity":null,"journal":null,"last_price":"0","protected":true,"protection":[],
			"unread":{"state":"failed","cause":"not listed","since":"1970-01-01T00:00:05Z"}}]`},
		{"held by the journal, not listed, and without a stop", func(s *engine.Status) {
			s.Symbols[0].Rules, s.Symbols[0].Position, s.Symbols[0].Known, s.Live = nil, 0, -20, nil
		}, `[{"quantity":null,"protected":false,"unread":null}]`},
		{"held by the journal, and the exchange is not reached", func(s *engine.Status) {
			s.Symbols[0].Rules, s.Symbols[0].Known, s.Degraded = nil, 20, []engine.Degraded{{State: "waiting", Cause: "status 503"}}
		}, `[{"quantity":null,"unread":{"state":"waiting","cause":"status 503"}}]`},
		{"of nobody", func(s *engine.Status) { s.Symbols[0].Owner, s.Strategies = "", s.Strategies[1:] },
			`[{"strategy":"","protected":false,"unrealized":"0","unprotected_ms":0}]`},
	} {
		status := trading(t)
		c.change(&status)
		shows(t, c.name, showing(status).Positions(), c.want)
	}
}

// TestASpotPositionHasTheCostOfTheLedger uses a purchase for which the exchange reports no price.
func TestASpotPositionHasTheCostOfTheLedger(t *testing.T) {
	t.Parallel()
	status := trading(t)
	status.Symbols = []engine.SymbolStatus{{Key: ether.Key(), Rules: ether, Position: 500, Last: enginetest.Price(t, ether, "3000")}}
	status.Strategies[1].Position = 500
	shows(t, "worth 1,500, of which nothing is a profit", showing(status).Positions(), `[{"entry_price":"3000","notional":"1500","unrealized":"0"}]`)
}

func TestBothWallets(t *testing.T) {
	t.Parallel()
	shows(t, "the account", showing(trading(t)).Account(), `{"schema":1,"at_ms":1700000099500,"wallet":"9999.5","unrealized":"2","available":"9000",
		"margin_used":"200.4","maintenance_margin":"4","equity":"10001.5","total_equity":"11001.5","balances":[{"asset":"USDT","free":"900","frozen":"100"}]}`)
}

func TestAChangedPositionIsPublished(t *testing.T) {
	t.Parallel()
	b, have := showing(trading(t)), any(nil)
	b.Follow(func(topic string, content any) {
		if topic == "position" {
			have = content
		}
	}, NewHistory())
	b.Note(&engine.Note{AtMS: 5, Strategy: "trend", Symbol: bitcoin, Fact: engine.NotePosition{Quantity: -20, EntryPrice: enginetest.Amount(t, "50050"),
		Last: enginetest.Price(t, bitcoin, "50100")}})
	shows(t, "short", have, `{"at_ms":5,"strategy":"trend","market":"futures","symbol":"BTC-USDT","quantity":"-0.02","entry_price":"50050",
		"last_price":"50100"}`)
}

// TestWhatTheRiskPageShows covers halts of every scope, a limit that a person set, and refusals.
func TestWhatTheRiskPageShows(t *testing.T) {
	t.Parallel()
	status := trading(t)
	status.Halts = []account.Halt{{Level: record.LevelPause, Reason: "news", AtMS: 1_000},
		{Level: record.LevelCancel, Scope: account.Scope{Strategy: "trend"}}, {Level: record.LevelFlatten, Scope: account.Scope{Symbol: bitcoin.Key()}},
		{Level: record.LevelPause, Scope: account.Scope{Symbol: exchange.SymbolKey{Market: exchange.Spot}}}}
	status.Limits = []risk.Utilization{{Scope: "account", Rule: "max_drawdown", Value: "3 %", Limit: "2 %", Headroom: "0", Ratio: 1.5, State: "breached",
		Reason: "fell",
		Remedy: "botd rearm", SinceMS: 1_000, UntilMS: 2_000, Set: &account.SetLimit{Value: "2%", By: "phone", AtMS: 3_000, Reason: "careful"}}}
	b := showing(status)
	for _, value := range []string{"4", "5"} {
		b.Note(&engine.Note{AtMS: 7, Strategy: "trend", Symbol: bitcoin, Fact: engine.NoteIntent{Intent: intent(placement.Entry, 30)}})
		b.Note(&engine.Note{AtMS: 8, Strategy: "trend", Symbol: bitcoin, Fact: engine.NoteRejection{Intent: intent(placement.Entry, 30),
			Rejection: &risk.Rejection{Rule: "max_open_orders", Value: value, Limit: "3", Hint: "raise it"}}})
	}
	b.Note(&engine.Note{AtMS: 9, Fact: engine.NoteHalt{Reason: "news"}})
	b.Note(&engine.Note{AtMS: 10, Fact: engine.NoteHalt{Reason: "armed", Ended: true}})
	b.Note(&engine.Note{AtMS: 11, Symbol: bitcoin, Fact: engine.NoteGap{Missing: 2}})
	page := b.Risk()
	shows(t, "risk", page, `{"schema":1,"halts":[{"scope":"account","level":"pause","reason":"news","since":"1970-01-01T00:00:01Z"},
		{"scope":"strategy","strategy":"trend","level":"cancel"},{"scope":"symbol","market":"futures","symbol":"BTC-USDT","level":"flatten"},
		{"scope":"market","market":"spot","symbol":null}],
		"levels":[{"level":"pause","effect":"nothing opens; exits and stops continue"},{"level":"cancel","effect":"and resting opening orders are canceled"},
		{"level":"flatten","effect":"and positions are closed at market"}],
		"limits":[{"scope":"account","rule":"max_drawdown","value":"3 %","limit":"2 %","ratio":1.5,"state":"breached","reason":"fell","remedy":"botd rearm",
		"since":"1970-01-01T00:00:01Z","until":"1970-01-01T00:00:02Z","set":{"value":"2%","by":"phone","at":"1970-01-01T00:00:03Z","reason":"careful"}}],
		"history":[{"id":"2","at_ms":10,"kind":"halt","severity":"info","ended":true,"text":"armed"},
		{"id":"1","at_ms":9,"kind":"halt","severity":"error","ended":false,"text":"news"}]}`)
	refused := 0
	for _, rule := range page.Rejections {
		if rule.Count > 0 {
			refused++
			shows(t, "the rule that refused", rule, `{"rule":"max_open_orders","count":2,"last_ms":8,"strategy":"trend","symbol":"BTC-USDT","value":"5",
		"limit":"3","hint":"raise it"}`)
		}
	}
	if refused != 1 || len(page.Rejections) != len(risk.Rules()) {
		t.Errorf("want a row for each of %d rules, one with refusals; have %d, %d", len(risk.Rules()), len(page.Rejections), refused)
	}
	listed, _ := b.Refusals(Page{Limit: 9}, func(r *Refusal) bool { return r.Value == "4" })
	shows(t, "a refusal", listed, `[{"id":"1","at_ms":8,"rule":"max_open_orders","value":"4","limit":"3","hint":"raise it","strategy":"trend",
		"market":"futures",
		"symbol":"BTC-USDT","purpose":"entry","side":"BUY","type":"MARKET","quantity":"0.03","intent":"1"}]`)
	shows(t, "limits alone", b.Limits(), `[{"rule":"max_drawdown"}]`)
}
