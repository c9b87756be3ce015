package probe

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"

	"botd/exchange"
)

// spotBitcoin has ticks of 0.1 and 0.001, and a smallest order of 5 USDT.
func spotBitcoin(t *testing.T) *exchange.Symbol {
	t.Helper()
	symbol, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Spot, Name: "BTC-USDT", Base: "BTC", Quote: "USDT",
		PriceTick: decimal.RequireFromString("0.1"), QuantityTick: decimal.RequireFromString("0.001"), MinNotional: decimal.NewFromInt(5),
		MaxNotional: decimal.NewFromInt(1_000_000), Tradable: true})
	if err != nil {
		t.Fatal(err)
	}
	return symbol
}

func candlesAt(openMS ...int64) *exchange.Candles {
	return &exchange.Candles{Interval: exchange.Minute1, OpenMS: openMS}
}

// TestAnswersAreDescribed covers an answer of each kind, and each irregularity just outside its bound.
func TestAnswersAreDescribed(t *testing.T) {
	t.Parallel()
	const at = 1_767_225_600_000 // 2026-01-01
	symbol := spotBitcoin(t)
	level := func(price exchange.Price) []exchange.Level { return []exchange.Level{{Price: price, Quantity: 1}} }
	priced, unpriced := exchange.Ticker{Symbol: "A-USDT", Last: 1}, exchange.Ticker{Symbol: "B-USDT"}
	for _, c := range []struct {
		operation exchange.Operation
		answer    exchange.Answer
		what, odd string
	}{
		{exchange.FuturesHealth, exchange.Answer{Status: "UP"}, "status UP", ""},
		{exchange.FuturesPing, exchange.Answer{Status: "OK"}, "status OK", ""},
		{exchange.FuturesTime, exchange.Answer{ServerTimeMS: at}, "2026-01-01T00:00:00Z", ""},
		{exchange.FuturesSymbols, exchange.Answer{Symbols: exchange.FetchedOf([]*exchange.Symbol{symbol, symbol})}, "2 symbols", ""},
		{exchange.SpotPairs, exchange.Answer{Symbols: exchange.FetchedOf([]*exchange.Symbol{symbol})}, "1 symbols", ""},
		{exchange.FuturesSymbols, exchange.Answer{Symbols: exchange.FetchedOf[*exchange.Symbol](nil)}, "0 symbols",
			"the market lists no symbols and cannot be traded"},
		{exchange.FuturesMarginLevels, exchange.Answer{Levels: exchange.FetchedOf(make([]exchange.SymbolBracket, 3))}, "3 levels", ""},
		{exchange.FuturesSymbolMarginLevels, exchange.Answer{Levels: exchange.FetchedOf[exchange.SymbolBracket](nil)}, "0 levels",
			"without margin levels botd assumes a maximum leverage of 1"},
		{exchange.FuturesTickers, exchange.Answer{Tickers: exchange.FetchedOf([]exchange.Ticker{priced, priced})}, "2 tickers", ""},
		{exchange.SpotTickers, exchange.Answer{Tickers: exchange.FetchedOf([]exchange.Ticker{priced, unpriced})}, "2 tickers", "B-USDT has no last price"},
		{exchange.FuturesTicker, exchange.Answer{Tickers: exchange.FetchedOf([]exchange.Ticker{priced})}, "BTC-USDT", ""},
		{exchange.SpotTicker, exchange.Answer{Tickers: exchange.FetchedOf([]exchange.Ticker{unpriced})}, "BTC-USDT", "B-USDT has no last price"},
		{exchange.FuturesDepth, exchange.Answer{Depth: exchange.Depth{Bids: level(99), Asks: level(100)}}, "BTC-USDT, 1 bids, 1 asks", ""},
		{exchange.SpotDepth, exchange.Answer{Depth: exchange.Depth{Bids: level(100), Asks: level(100)}}, "BTC-USDT, 1 bids, 1 asks",
			"the book is crossed: its best bid is not below its best ask"},
		{exchange.SpotDepth, exchange.Answer{Depth: exchange.Depth{Bids: level(100)}}, "BTC-USDT, 1 bids, 0 asks", "a side of the book is empty"},
		{exchange.FuturesDepth, exchange.Answer{Depth: exchange.Depth{Asks: level(100)}}, "BTC-USDT, 0 bids, 1 asks", "a side of the book is empty"},
		{exchange.FuturesTrades, exchange.Answer{Trades: exchange.FetchedOf(make([]exchange.Trade, 4))}, "BTC-USDT, 4 trades", ""},
		{exchange.SpotTrades, exchange.Answer{Trades: exchange.FetchedOf([]exchange.Trade{})}, "BTC-USDT, 0 trades", ""},
		{exchange.FuturesFundingRate, exchange.Answer{Funding: exchange.FundingRate{Rate: exchange.RateOne / 10_000, NextMS: at}},
			"BTC-USDT, 0.0001, next 2026-01-01T00:00:00Z", ""},
		{exchange.FuturesCandles, exchange.Answer{Candles: candlesAt(at, at+60_000, at+180_000)}, "BTC-USDT, 3 candles of 1m", ""},
		{exchange.SpotCandles, exchange.Answer{Candles: candlesAt()}, "BTC-USDT, 0 candles of 1m", "the last hour has no candle"},
		{exchange.SpotCandles, exchange.Answer{Candles: candlesAt(at, at)}, "BTC-USDT, 2 candles of 1m", "candles are not oldest first, each once"},
		{exchange.FuturesCandles, exchange.Answer{Candles: candlesAt(at, at-60_000)}, "BTC-USDT, 2 candles of 1m", "candles are not oldest first, each once"},
		{exchange.FuturesCandles, exchange.Answer{Candles: candlesAt(at, at+60_001)}, "BTC-USDT, 2 candles of 1m",
			"a candle opens at 1767225660001, which is not a multiple of 1m"},
	} {
		request := exchange.Request{Operation: c.operation, Symbol: "BTC-USDT", Interval: exchange.Minute1}
		if what, odd := describe(&request, &c.answer); what != c.what || odd != c.odd {
			t.Errorf("%s: want %q, %q, have %q, %q", c.operation, c.what, c.odd, what, odd)
		}
	}
}

func TestACertificateThatEndsWithinTwoWeeksIsAWarning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // virtual time begins on 2000-01-01
		const twoWeeks = 14 * 24 * time.Hour
		for ends, want := range map[time.Duration]Outcome{twoWeeks - time.Second: Warn, twoWeeks: OK} {
			state := tls.ConnectionState{Version: tls.VersionTLS13, PeerCertificates: []*x509.Certificate{{NotAfter: time.Now().Add(ends)}}}
			step := reached("venue:443", &state, 1500*time.Microsecond)
			what := "venue:443, TLS 1.3, certificate until 2000-01-1" + map[Outcome]string{Warn: "4", OK: "5"}[want]
			if step.Outcome != want || step.LatencyMS != 1.5 || step.What != what || (step.Hint != "") != (want == Warn) {
				t.Errorf("%s: want %s, %q, have %+v", ends, want, what, step)
			}
		}
		if step := reached("venue:443", &tls.ConnectionState{Version: tls.VersionTLS12}, 0); step.Outcome != OK || step.What != "venue:443, TLS 1.2" {
			t.Errorf("no certificate: have %+v", step)
		}
	})
}

// TestSettingsFollowFromMeasurements checks the bounds: the window is what was measured and its error, in whole tenths of a second;
// D and L are four times what was seen, and a second at least.
func TestSettingsFollowFromMeasurements(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		window *Window
		delays *Delays
		want   Settings
	}{
		{nil, nil, Settings{WindowMS: 60_000, VisibilityMS: 45_000, StalenessMS: 15_000, Measured: []string{}}},
		{&Window{PastMS: 4_950, ErrorMS: 50}, nil, Settings{WindowMS: 5_000, VisibilityMS: 45_000, StalenessMS: 15_000, Measured: []string{"window"}}},
		{&Window{PastMS: 4_951, ErrorMS: 50}, nil, Settings{WindowMS: 5_100, VisibilityMS: 45_000, StalenessMS: 15_000, Measured: []string{"window"}}},
		{&Window{PastMS: 3_000, ErrorMS: 50, Unbounded: true}, nil,
			Settings{WindowMS: 60_000, VisibilityMS: 45_000, StalenessMS: 15_000, Measured: []string{"window"}}},
		{&Window{PastMS: 600_000, ErrorMS: 51, Unbounded: true}, nil,
			Settings{WindowMS: 600_100, VisibilityMS: 45_000, StalenessMS: 15_000, Measured: []string{"window"}}},
		{nil, &Delays{VisibilityMS: 250, StalenessMS: 251}, Settings{WindowMS: 60_000, VisibilityMS: 1_000, StalenessMS: 1_100,
			Measured: []string{"visibility", "staleness"}}},
		{nil, &Delays{VisibilityMS: 275, StalenessMS: 0}, Settings{WindowMS: 60_000, VisibilityMS: 1_100, StalenessMS: 1_000,
			Measured: []string{"visibility", "staleness"}}},
	} {
		r := Report{Window: c.window, Delays: c.delays}
		r.deriveSettings()
		if have := r.Settings; have.WindowMS != c.want.WindowMS || have.VisibilityMS != c.want.VisibilityMS || have.StalenessMS != c.want.StalenessMS ||
			!slices.Equal(have.Measured, c.want.Measured) {
			t.Errorf("want %+v, have %+v", c.want, have)
		}
	}
}

// TestProfileListsWhatIsKnownAndWhatIsNot covers two profiles, one of a probe that determined everything.
func TestProfileListsWhatIsKnownAndWhatIsNot(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 22, 23, 0, 0, 0, time.UTC)
	known := Report{BaseURL: "https://venue.example", Signature: &Signature{Payload: `{timestamp}\n{body}`, Encoding: "base64", Paths: "route"},
		NullLists: true, Beyond: true, Partial: true, History: true, Filled: true,
		Words:  map[string]string{"spot EXECUTED": "FILLED", "futures DONE": "FILLED", "spot CANCELLED": "CANCELED"},
		Lists:  []List{{"futures_order", true, 3}, {"futures_open", false, 12}, {"spot_open", true, 0}, {"spot_history", true, 7}},
		Habits: []string{habitTwice, habitRefuses}, Markets: map[string]Delays{"futures": {VisibilityMS: 300, StalenessMS: 10}, "spot": {VisibilityMS: 1}},
		Settings: Settings{WindowMS: 5_100, Measured: []string{"window"}}}
	const always = `# not determined: whether a list is now and then empty, or older, where the probe did not see it (it watched for seconds)
# not determined: how late a fee or a funding payment appears, and how a liquidation is written
# not determined: how a triggered order is written (the stop was canceled)
`
	want := `# measured by botd probe on 2026-11-22, of https://venue.example
signature: {payload: "{timestamp}\\n{body}", encoding: base64}
paths: {sign: route}
null_lists: empty
number_noise: half_tick
status_words:
  futures: {DONE: FILLED}
  spot: {CANCELLED: CANCELED, EXECUTED: FILLED}
client_order_id:
  futures_order: echoed # shown after 3 ms
  futures_open: absent # shown after 12 ms
  spot_open: echoed # shown after 0 ms
  spot_history: echoed # shown after 7 ms
settle:
  futures: {window: 5100ms, visibility: 1200ms, staleness: 1000ms, measured: 2026-11-22}
  spot: {window: 5100ms, visibility: 1000ms, staleness: 1000ms, measured: 2026-11-22}
# seen: duplicate-delivery
# seen: refuse-but-execute
` + always
	if have := known.Profile(day); have != want {
		t.Errorf("want\n%s\nhave\n%s", want, have)
	}
	unknown := Report{BaseURL: "https://venue.example", Words: map[string]string{"spot EXECUTED": "FILLED"}, UnknownWords: []string{"spot PARKED"},
		Markets: map[string]Delays{"spot": {}}, Settings: Settings{WindowMS: 60_000}}
	want = `# measured by botd probe on 2026-11-22, of https://venue.example
# signature: not determined
status_words:
  spot: {EXECUTED: FILLED}
# settle: not measured in full; run with --trade
` + always + `# not determined: how soon orders are shown on futures (none was followed there)
# not determined: how a filled order is written (nothing was filled)
# not determined: how a partly filled order is written (none was)
# not determined: how late a positions/history row appears
# not determined: whether the exchange can execute an order that it answered as refused (it did with none)
# not determined: whether the exchange can execute an order twice (it did with none)
# not determined: whether an empty list is ever written as null (none was seen)
# not determined: what the status word spot PARKED means
# not determined: whether futures_order echoes client order ids
# not determined: whether futures_open echoes client order ids
# not determined: whether spot_open echoes client order ids
# not determined: whether spot_history echoes client order ids
`
	if have := unknown.Profile(day); have != want {
		t.Errorf("want\n%s\nhave\n%s", want, have)
	}
	unknown.Settings.Measured = []string{"window"}
	if have := unknown.Profile(day); !strings.Contains(have, "settle:\n  # futures: not measured\n  spot: {window: 60000ms, ") {
		t.Errorf("want the measured market alone, have\n%s", have)
	}
	unknown.Markets = nil
	if have := unknown.Profile(day); !strings.Contains(have, "# settle: not measured in full") {
		t.Errorf("without a market: have\n%s", have)
	}
}

// TestAnswersJudgeTheSignature covers each answer from which a verdict follows (interface, Errors).
func TestAnswersJudgeTheSignature(t *testing.T) {
	t.Parallel()
	refused := func(status, code int) reply {
		return reply{status: status, err: &exchange.Refusal{Status: status, Code: code}}
	}
	for name, c := range map[string]struct {
		reply reply
		want  verdict
	}{
		"an answer":               {reply{status: 200}, accepted},
		"a page":                  {reply{status: 401, err: fmt.Errorf("get: %w", &page{"<html>"})}, guarded},
		"an old timestamp":        {refused(401, -1021), outside},
		"an old timestamp by 400": {refused(400, -1021), outside},
		"an unknown key":          {refused(401, -2008), keyRefused},
		"a key without the right": {refused(401, -2015), keyRefused},
		"403":                     {refused(403, 7), keyRefused},
		"a wrong signature":       {refused(401, -1022), otherwise},
		"a wrong signature, 418":  {refused(418, -1022), otherwise},
		"401":                     {reply{status: 401, err: errors.New("no")}, otherwise},
		"400":                     {refused(400, 7), otherwise},
		"404":                     {refused(404, 7), unavailable},
		"500":                     {reply{status: 500, err: errors.New("no")}, unavailable},
		"nothing":                 {reply{err: errors.New("no")}, unavailable},
	} {
		if have := judge(&c.reply); have != c.want {
			t.Errorf("%s: want %d, have %d", name, c.want, have)
		}
	}
}

// TestAnswersShowHabits covers an answer with and without each habit.
func TestAnswersShowHabits(t *testing.T) {
	t.Parallel()
	table := oneSymbol{spotBitcoin(t)}
	for _, c := range []struct {
		operation exchange.Operation
		status    int
		body      string
		want      string // habits, sorted
		rows      int
	}{
		{exchange.FuturesTime, 200, `{"serverTime":1}`, "", 1},
		{exchange.FuturesTime, 200, "\ufeff" + `{"serverTime":1}`, habitMark, 1},
		{exchange.FuturesTime, 200, `{"serverTime":"1"}`, habitStrings, 1},
		{exchange.FuturesSymbols, 200, `[{"priceTick":0.1},{"priceTick":"0.1"}]`, habitStrings, 2},
		{exchange.FuturesSymbols, 200, `[{"quantityTick":"0.1"}]`, habitStrings, 1},
		{exchange.FuturesTime, 200, `{"serverTime":1,"servertime":1}`, habitExtra, 1},
		{exchange.FuturesTime, 200, `{`, "", 0},
		{exchange.FuturesTime, 399, `{"code":1,"msg":"no"}`, "", 1},
		{exchange.FuturesTime, 400, `{"code":1,"msg":"no"}`, habitErrorWords, 0},
		{exchange.FuturesTime, 400, `{"code":1,"message":"no"}`, habitErrorWords, 0},
		{exchange.FuturesTime, 400, `{"code":1,"error":"no"}`, "", 0},
		{exchange.FuturesTime, 400, `{"code":1,"error":"no","msg":"no"}`, "", 0},
		{exchange.FuturesTime, 400, `{"code":1}`, "", 0},
		{exchange.SpotWallet, 200, `[]`, habitNoEnvelopes, 0},
		{exchange.SpotTickers, 200, `[{}]`, habitNoEnvelopes, 1},
		{exchange.SpotTickers, 200, `{"tickers":[{},{}]}`, "", 3},
		{exchange.SpotOpenOrders, 200, `[]`, "", 0},
		{exchange.SpotCandles, 200, `{"data":[]}`, habitEnvelopes, 1},
		{exchange.SpotOrderHistory, 200, `{"data":[]}`, habitEnvelopes, 1},
		{exchange.SpotOrderHistory, 200, `[]`, "", 0},
		{exchange.SpotOpenOrders, 200, `null`, habitNull, 0},
		{exchange.FuturesCancelAll, 200, `null`, "", 0},
		// The smallest quantity is 0.001: what is finer is noise. A market purchase on spot is in USDT.
		{exchange.SpotOpenOrders, 200, `[{"symbol":"BTC-USDT","quantity":"0.0010"}]`, "", 1},
		{exchange.SpotOpenOrders, 200, `[{"symbol":"BTC-USDT","quantity":0.0010000001}]`, habitNoise, 1},
		{exchange.SpotOpenOrders, 200, `[{"symbol":"BTC-USDT","filled":0.0010000001}]`, habitNoise, 1},
		{exchange.SpotOpenOrders, 200, `[{"symbol":"BTC-USDT","remainingQty":0.0010000001}]`, habitNoise, 1},
		{exchange.SpotOpenOrders, 200, `[{"symbol":"BTC-USDT","quantity":0.0000}]`, "", 1},
		{exchange.SpotOpenOrders, 200, `[{"symbol":"BTC-USDT","type":"MARKET","quantity":0.0010000001}]`, "", 1},
		{exchange.FuturesOpenOrders, 200, `[{"symbol":"BTC-USDT","type":"MARKET","quantity":0.0010000001}]`, habitNoise, 1},
		{exchange.SpotTickers, 200, `{"tickers":[{"symbol":"BTC-USDT","quantity":0.0010000001}]}`, "", 2}, // not the account's
	} {
		h := newHabits()
		rows := h.observe(&exchange.Request{Operation: c.operation}, c.status, []byte(c.body), table)
		if have := strings.Join(h.names(), ","); have != c.want || len(rows) != c.rows {
			t.Errorf("%s %d %s: want %q and %d rows, have %q and %d", c.operation, c.status, c.body, c.want, c.rows, have, len(rows))
		}
	}
}

// TestNoiseBeyondFloatsIsReported covers the noise that a sum of binary fractions leaves, and more.
func TestNoiseBeyondFloatsIsReported(t *testing.T) {
	t.Parallel()
	for text, beyond := range map[string]bool{"0.30000000000000004": false, "0.3000000001": true, "0.3004": true, "1000.0010000000001": false,
		"1000.0010000009": false, "1000.001000009": true} {
		h := newHabits()
		h.quantities(exchange.Spot, map[string]any{"symbol": "BTC-USDT", "filled": json.Number(text)}, oneSymbol{spotBitcoin(t)})
		if h.beyond != beyond || !h.seen[habitNoise] {
			t.Errorf("%s: want noise, beyond floats %v, have %v, %v", text, beyond, h.seen[habitNoise], h.beyond)
		}
	}
}

// TestStatusWordsAreLearnedFromOwnOrders covers each way to learn the meaning of an unknown status word.
func TestStatusWordsAreLearnedFromOwnOrders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		row, word string
		meaning   exchange.OrderStatus // none if it stays unknown
		unknown   bool
	}{
		{`{"id":1,"side":"BUY","status":"DONE","filled":0.002,"quantity":0.002}`, "DONE", exchange.StatusFilled, false},
		{`{"id":1,"side":"BUY","status":"DONE","filled":0.0020000000000001,"quantity":0.002}`, "DONE", exchange.StatusFilled, false},
		{`{"id":7,"side":"BUY","status":"ENDED","filled":0,"quantity":0.002}`, "ENDED", exchange.StatusCanceled, false},
		{`{"id":7,"side":"BUY","status":"ENDED","filled":0,"quantity":0}`, "ENDED", exchange.StatusCanceled, false},
		{`{"id":1,"side":"BUY","status":"PARKED","filled":0.001,"quantity":0.002}`, "PARKED", 0, true},
		{`{"id":1,"side":"BUY","status":"FILLED","filled":0.002,"quantity":0.002}`, "FILLED", 0, false},
		{`{"id":1,"status":"DONE","filled":0.002,"quantity":0.002}`, "DONE", 0, false}, // not an order
		{`{"id":1,"side":"BUY","status":"DONE","quantity":0.002}`, "DONE", 0, false},
		{`{"id":0,"side":"BUY","status":"DONE","filled":0.002,"quantity":0.002}`, "DONE", 0, false},
		{`{"id":1,"side":"BUY","status":"","filled":0.002,"quantity":0.002}`, "", 0, false},
	} {
		h := newHabits()
		h.canceled[7] = true
		h.observe(&exchange.Request{Operation: exchange.SpotOpenOrders}, 200, []byte("["+c.row+"]"), oneSymbol{spotBitcoin(t)})
		meaning, learned := h.words[exchange.Spot][c.word]
		if learned != (c.meaning != 0) || meaning != c.meaning || h.unknownWords["spot "+c.word] != c.unknown ||
			h.seen[habitWords] != (learned || c.unknown) || len(h.words[exchange.Futures]) != 0 {
			t.Errorf("%s: want %v, unknown %v, have %v, %v, %v", c.row, c.meaning, c.unknown, meaning, h.unknownWords, h.names())
		}
	}
	h := newHabits()
	h.words[exchange.Spot]["DONE"], h.unknownWords["spot DONE"], h.unknownWords["spot B"], h.unknownWords["futures A"] = exchange.StatusFilled, true, true, true
	r := Report{Lists: []List{{"spot_history", false, 1}, {"futures_order", true, 1}}}
	if r.addHabits(h); !slices.Equal(r.UnknownWords, []string{"futures A", "spot B"}) || r.Words["spot DONE"] != "FILLED" || len(r.Words) != 1 ||
		!slices.Equal(r.Habits, []string{habitHistoryIDs}) {
		t.Errorf("want a word that was learned later to be known, have %+v", r)
	}
	r = Report{Lists: []List{{"spot_open", false, 1}}}
	if r.addHabits(newHabits()); !slices.Equal(r.Habits, []string{habitOpenIDs}) || len(r.UnknownWords) != 0 {
		t.Errorf("want an open list without ids, have %+v", r)
	}
}

func TestBodiesThatBeginWithATagAreWebPages(t *testing.T) {
	t.Parallel()
	if !looksLikePage([]byte(" \n<html>")) || looksLikePage([]byte(`{"a":"<"}`)) {
		t.Error("want a page known by its first character")
	}
	for text, want := range map[string]string{"a \n\t b": "a b", strings.Repeat("ä", 80): strings.Repeat("ä", 80),
		strings.Repeat("x", 81): strings.Repeat("x", 80) + "...", "a\xffb": "a?b"} {
		if have := start([]byte(text)); have != want {
			t.Errorf("want %q, have %q", want, have)
		}
	}
	if have := (&page{"<a>"}).Error(); have != `received a web page instead of JSON: "<a>"` {
		t.Errorf("have %s", have)
	}
	if have := ms(12_345*time.Microsecond + 4*time.Microsecond); have != 12.35 {
		t.Errorf("want hundredths of a millisecond, have %v", have)
	}
}

// TestAListEchoesIfEachOfItsRowsDoes covers lists that omit the client order id at first, later, and never.
func TestAListEchoesIfEachOfItsRowsDoes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		echoes []bool
		want   bool
	}{{[]bool{true, true}, true}, {[]bool{true, false, true}, false}, {[]bool{false, true}, false}} {
		p := &prober{report: &Report{}}
		for i, echoes := range c.echoes {
			p.noteList(exchange.SpotOpenOrders, echoes, time.Duration(i+7)*time.Millisecond)
		}
		if have := p.report.Lists; len(have) != 1 || have[0] != (List{"spot_open", c.want, 7}) {
			t.Errorf("%v: want it to echo %t, first seen after 7 ms, have %+v", c.echoes, c.want, have)
		}
	}
}
