package view

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
	"botd/internal/enginetest"
	"botd/reconcile/placement"
	"botd/runtime/engine"
)

// TestPagesOfAList covers five numbered values, of which some are kept.
func TestPagesOfAList(t *testing.T) {
	t.Parallel()
	r := newRing[int](10)
	for n := range 5 {
		r.add(n + 1)
	}
	for _, c := range []struct {
		page Page
		odd  bool
		want string
		next string
	}{
		{Page{Limit: 9}, false, "[5 4 3 2 1]", ""},
		{Page{Limit: 5}, false, "[5 4 3 2 1]", ""},
		{Page{Limit: 2}, false, "[5 4]", "4"},
		{Page{Limit: 2, After: 4}, false, "[3 2]", "2"},
		{Page{Limit: 2, After: 2}, false, "[1]", ""},
		{Page{Limit: 2, After: 1}, false, "[]", ""},
		{Page{Limit: 2}, true, "[5 3]", "3"},
		{Page{Limit: 1, After: 3}, true, "[1]", ""},
	} {
		items, next := r.page(c.page, func(n *int) bool { return !c.odd || *n%2 == 1 })
		if fmt.Sprint(items) != c.want || next != c.next {
			t.Errorf("%+v: want %s and %q, have %v and %q", c.page, c.want, c.next, items, next)
		}
	}
}

// TestARingDropsItsOldestTenth uses a ring with room for twenty values.
func TestARingDropsItsOldestTenth(t *testing.T) {
	t.Parallel()
	r := newRing[int](20).reserved()
	if r.newest() != nil || cap(r.all) != 20 {
		t.Errorf("want an empty ring with its memory, have %v of %d", r.newest(), cap(r.all))
	}
	for n := range 21 {
		if id := r.nextID(); id != fmt.Sprint(n+1) {
			t.Errorf("want the id %d, have %s", n+1, id)
		}
		r.add(100 + n)
	}
	if r.get(2) != nil || r.get(22) != nil || *r.get(3) != 102 || *r.get(21) != 120 || len(r.all) != 19 || *r.newest() != 120 {
		t.Errorf("want 3 to 21 left, have %v", r.all)
	}
}

// TestListsOfABoardAreBounded adds one note more than each list holds.
func TestListsOfABoardAreBounded(t *testing.T) {
	t.Parallel()
	b := NewBoard("demo", "main")
	for range 2_001 {
		noted(b, 1, engine.NoteIntent{Intent: intent(placement.Entry, 30)}, engine.NoteRound{}, engine.NoteGap{Missing: 1})
		decides(b, "trend", "x", 1)
	}
	for name, have := range map[string][2]int{"intents": {len(b.intents.all), 1_801}, "decisions": {len(b.decisions.all), 1_801},
		"rounds": {len(b.rounds.all), 451}, "notices": {len(b.notices.all), 901}} {
		if have[0] != have[1] {
			t.Errorf("%s: want %d, have %d", name, have[1], have[0])
		}
	}
}

func TestNoDecisionsYet(t *testing.T) {
	t.Parallel()
	if items, next := NewBoard("demo", "main").Decisions("trend", Page{Limit: 9}); len(items) != 0 || next != "" {
		t.Errorf("want none, have %v, %s", items, next)
	}
}

// TestWhatTheReconcilerShows covers rounds, notices of differences and uncertain placements.
func TestWhatTheReconcilerShows(t *testing.T) {
	t.Parallel()
	status := trading(t)
	status.Failed = 2
	status.Live = append(status.Live, order("u", placement.Entry, placement.Uncertain, 5, nil), order("w", placement.Entry, placement.Working, 5, nil))
	b := showing(status)
	noted(b, 10, engine.NoteRound{Acted: 2, DurationMS: 30, Complete: true}, engine.NoteGap{Missing: 1}, engine.NoteQuarantine{Reason: "5 steps more"},
		engine.NoteForeign{Reason: "order 9"})
	shows(t, "reconcile", b.Reconcile(), `{"schema":1,"last_ms":1700000099000,"failed":2,"blind":false,"quarantines":[],
		"rounds":[{"id":"2","at_ms":10,"complete":true,"duration_ms":30,"acted":2},{"id":"1","at_ms":0}],
		"unknown":[{"client_order_id":"u","state":"uncertain","quantity":"0.03"}],
		"events":[{"kind":"foreign","severity":"warning"},{"kind":"quarantine","severity":"error","strategy":"trend","market":"futures","symbol":"BTC-USDT",
		"text":"5 steps more","ended":false}]}`)
	rounds, _ := b.Rounds(Page{Limit: 9}, func(r *Round) bool { return !r.Complete })
	if len(rounds) != 0 {
		t.Errorf("want no failed round, have %+v", rounds)
	}
	notices, _ := b.Notices(Page{Limit: 9}, func(n *Notice) bool { return n.Kind == "gap" })
	shows(t, "a gap", notices, `[{"id":"1","at_ms":11,"kind":"gap","severity":"warning","count":1}]`)
}

// TestWhatACandleAndANoticePublish covers the topics of the stream.
func TestWhatACandleAndANoticePublish(t *testing.T) {
	t.Parallel()
	b := NewBoard("demo", "main")
	var topics []string
	var last any
	b.Follow(func(topic string, content any) { topics, last = append(topics, topic), content }, NewHistory())
	price := enginetest.Price(t, bitcoin, "50000")
	noted(b, 1, engine.NoteCandle{Candle: exchange.Candle{OpenMS: 5, Open: price, High: price + 2, Low: price - 2, Close: price, Volume: 1.5}})
	shows(t, "a candle", last, `{"market":"futures","symbol":"BTC-USDT","strategy":"trend","open_ms":5,"open":"50000","close":"50000","volume":1.5}`)
	noted(b, 1, engine.NoteHalt{Reason: "news"}, engine.NoteGap{Missing: 1}, engine.NoteTick{})
	decides(b, "trend", "crossed", 7)
	shows(t, "a decision", last, `{"id":"1","strategy":"trend","reason":"crossed"}`)
	if want := "[candle notice risk notice decision]"; fmt.Sprint(topics) != want {
		t.Errorf("want %s, have %v", want, topics)
	}
}

// venue answers requests for market data, and counts them.
type venue struct {
	asked []exchange.Request
	fails error
}

func (v *venue) Do(_ context.Context, r exchange.Request) (exchange.Answer, error) {
	v.asked = append(v.asked, r)
	a := exchange.Answer{Operation: r.Operation, Candles: &exchange.Candles{Interval: r.Interval},
		Tickers: exchange.FetchedOf([]exchange.Ticker{{Last: 501, Open: 500, High: 510, Low: 490, Volume: 7, ChangePercent: 0.2}}),
		Depth:   exchange.Depth{Bids: []exchange.Level{{Price: 500, Quantity: 3}}, Asks: []exchange.Level{{Price: 502, Quantity: 4}}},
		Trades:  exchange.FetchedOf([]exchange.Trade{{TimeMS: 1, Price: 500, Quantity: 1}, {TimeMS: 2, Price: 501, Quantity: 2, BuyerIsMaker: true}}),
		Funding: exchange.FundingRate{Rate: 10_000, NextMS: 99}}
	for at := r.StartMS; at <= r.EndMS && r.Interval > 0; at += int64(r.Interval) {
		if at != 3*int64(exchange.Minute1) { // one is missing
			a.Candles.Append(exchange.Candle{OpenMS: at, Open: 500, High: 520, Low: 490, Close: 510, Volume: 2})
		}
	}
	return a, v.fails
}

// coarse is a symbol whose prices and quantities are whole.
var coarse = &exchange.Symbol{Market: exchange.Futures, Name: "X-USDT", PriceTick: 1, QuantityTick: 1, Tradable: true,
	Brackets: []exchange.Bracket{{Max: exchange.AmountOf(1_000), MarginRatio: exchange.RateOne / 100, MaxLeverage: 20}, {MaxLeverage: 5}}}

func TestCandlesOfATime(t *testing.T) {
	t.Parallel()
	minute := int64(exchange.Minute1)
	now := 502 * minute
	v := &venue{}
	m := NewMarketReader(v, func() int64 { return now })
	read := func(from, to int64) Candles {
		t.Helper()
		c, err := m.Candles(t.Context(), coarse, exchange.Minute1, from, to)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	shows(t, "from a candle to before another", read(2*minute, 5*minute), `{"schema":1,"market":"futures","symbol":"X-USDT","interval":"1m",
		"open_ms":[120000,240000],
		"open":["500","500"],"high":["520","520"],"low":["490","490"],"close":["510","510"],"volume":[2,2],"gaps":1}`)
	if want := (exchange.Request{Operation: exchange.FuturesCandles, Symbol: "X-USDT", Interval: exchange.Minute1, EndMS: 500*minute - 1,
		Limit: 500}); len(v.asked) != 1 || v.asked[0] != want {
		t.Errorf("want one request for 500 candles, have %+v", v.asked)
	}
	now = 1_000 * minute
	v.asked = nil
	if c := read(499*minute, 501*minute); len(c.OpenMS) != 2 || c.Gaps != 0 || len(v.asked) != 1 || v.asked[0].StartMS != 500*minute {
		t.Errorf("over the end of a part: want the second one read, and the first held for a moment; have %d candles and %+v", len(c.OpenMS), v.asked)
	}
	if c := read(5*minute, 5*minute); len(c.OpenMS) != 0 {
		t.Errorf("of no time: want none, have %d", len(c.OpenMS))
	}
	v.fails = errors.New("timeout")
	spot := *coarse
	spot.Market = exchange.Spot
	if _, err := m.Candles(t.Context(), &spot, exchange.Minute1, 0, minute); !errors.Is(err, v.fails) {
		t.Errorf("want the venue's error, have %v", err)
	}
	if last := v.asked[len(v.asked)-1]; last.Operation != exchange.SpotCandles {
		t.Errorf("want the spot market asked, have %v", last.Operation)
	}
}

// TestFinalCandlesAreHeldForGood covers a part a minute after its last candle closed, and a millisecond later.
func TestFinalCandlesAreHeldForGood(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		minute := int64(exchange.Minute1)
		for nowMS, want := range map[int64]int{502 * minute: 2, 502*minute + 1: 1} {
			v := &venue{}
			m := NewMarketReader(v, func() int64 { return nowMS })
			for range 2 {
				if _, err := m.Candles(t.Context(), coarse, exchange.Minute1, 0, minute); err != nil {
					t.Fatal(err)
				}
				time.Sleep(sharedLife)
			}
			if len(v.asked) != want {
				t.Errorf("at %d: want %d reads, have %d", nowMS, want, len(v.asked))
			}
		}
	})
}

func TestTheOldestPartsOfCandlesAreDropped(t *testing.T) {
	t.Parallel()
	var c candleCache
	for n := range int64(401) {
		c.put(chunk{startMS: n}, nil)
		c.put(chunk{startMS: n}, nil) // no second one
	}
	_, first := c.get(chunk{startMS: 0})
	_, second := c.get(chunk{startMS: 1})
	if first || !second || len(c.known) != 400 || len(c.order) != 400 {
		t.Errorf("want 400 parts without the first, have %d and %d", len(c.known), len(c.order))
	}
}

func TestWhatAMarketShows(t *testing.T) {
	t.Parallel()
	v := &venue{}
	m := NewMarketReader(v, func() int64 { return 77 })
	futures, err := m.Symbol(t.Context(), coarse)
	if err != nil {
		t.Fatal(err)
	}
	shows(t, "futures", futures, `{"schema":1,"market":"futures","symbol":"X-USDT","price_tick":"1","quantity_tick":"1","tradable":true,"max_leverage":20,
		"strategy":"",
		"time_ms":77,"last_price":"501","open_24h":"500","high_24h":"510","low_24h":"490","volume_24h":7,"change_percent_24h":0.2,"bids":[["500","3"]],
		"asks":[["502","4"]],"trades":[{"time_ms":2,"side":"SELL","price":"501","quantity":"2"},{"time_ms":1,"side":"BUY"}],
		"funding":{"rate":"0.0001","next_ms":99},"brackets":[{"max_notional":"1000","margin_ratio":"0.01","max_leverage":20},{"max_leverage":5}]}`)
	spot := *coarse
	spot.Market, spot.Brackets = exchange.Spot, nil
	other, err := m.Symbol(t.Context(), &spot)
	if err != nil {
		t.Fatal(err)
	}
	shows(t, "spot", other, `{"market":"spot","max_leverage":0,"last_price":"501","funding":null,"brackets":[],"bids":[["500","3"]]}`)
	var asked []string
	for _, r := range v.asked {
		asked = append(asked, fmt.Sprint(r.Operation, " ", r.Symbol, " ", r.Limit))
	}
	if want := "futures_ticker X-USDT 0, futures_depth X-USDT 50, futures_trades X-USDT 100, futures_funding_rate X-USDT 0, " +
		"spot_ticker X-USDT 0, spot_depth X-USDT 50, spot_trades X-USDT 100"; strings.Join(asked, ", ") != want {
		t.Errorf("want %s, have %v", want, asked)
	}
	shows(t, "with its owner", ListedSymbolOf(coarse, "trend"), `{"strategy":"trend"}`)
}
