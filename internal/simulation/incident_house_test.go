package simulation

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"botd/configs"
	"botd/exchange"
	"botd/exchange/rest"
	"botd/reconcile/record"
	"botd/risk"
	"botd/runtime/api"
	"botd/runtime/engine"
	"botd/strategy"
)

// incidentsOfTheHouse concern the clock, limits, data, storage, resources, the kill switch and secrets.
var incidentsOfTheHouse = []incident{
	{56, "hummingbot/hummingbot#1075", "-1021 killed the bot", staging(func(s *stage) {
		s.pass(5)
		s.w.daemon.clockError = -7_000 // a laptop resumes with its time outside the window
		s.pass(30)
		want(s, "starts", 1, s.w.daemon.life)
		s.plan = hold(20)
		s.pass(20)
		s.wantHeld(20)
		s.wantSound()
	}, hold(10))},
	{57, "hummingbot/hummingbot#1388", "out of step: cancels failed, two bids live instead of one", staging(func(s *stage) {
		s.pass(5)
		s.plan = bids(48_500)
		s.forge = func(f *flight) {
			if f.call.Request.Operation == exchange.FuturesCancel {
				f.err = &exchange.Refusal{Operation: exchange.FuturesCancel, Status: 401, Code: exchange.CodeInvalidTimestamp,
					Message: "timestamp outside the window"}
			}
		}
		for range 20 {
			s.pass(1)
			want(s, "never two bids", true, len(s.orders()) <= 1)
		}
		s.heal()
		s.pass(20)
		want(s, "bids on the exchange", 1, len(s.orders()))
	}, bids(49_000))},
	{58, "freqtrade/freqtrade#7187", "banned by the exchange for too many requests", staging(func(s *stage) {
		s.inject(RateLimited, 100_000, anything)
		before := s.w.stats.Requests
		s.pass(120)
		want(s, "requests in two minutes are few", true, s.w.stats.Requests-before < 120)
		s.wantState("blind")
	}, hold(10))},
	{59, "Drakkar-Software/OctoBot#2108", "banned with the default settings", staging(func(s *stage) {
		before := s.w.stats.Requests
		s.pass(600)
		want(s, "requests in ten quiet minutes are few", true, s.w.stats.Requests-before < 300)
	}, hold(10), protected)},
	{60, "taniman/profit-trailer#444", "418 and -1003: the ban was answered by more requests", func(t *testing.T) {
		requests := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/time") {
				fmt.Fprintf(w, `{"serverTime":%d}`, time.Now().UnixMilli())
				return
			}
			requests++
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusTooManyRequests)
		}))
		defer server.Close()
		client, err := rest.New(rest.Config{BaseURL: server.URL, Key: "k", Secret: []byte("s")})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		for range 20 {
			_, _ = client.Do(ctx, exchange.Request{Operation: exchange.FuturesOpenPositions})
		}
		if requests > 1 {
			t.Errorf("want the pause the exchange asks for, have %d requests", requests)
		}
	}},
	{61, "freqtrade/freqtrade#994", "an old candle was shown to strategies", staging(func(s *stage) {
		var old exchange.Answer
		s.forge = func(f *flight) {
			if f.call.Request.Operation != exchange.FuturesCandles {
				return
			}
			if old.Candles == nil {
				old = f.answer
			}
			f.answer = old // the same old candles forever
		}
		s.pass(300) // the spy fails on a repeated or misplaced candle
	}, hold(10))},
	{62, "freqtrade/freqtrade#11725", "data 5,148 minutes old until it was reloaded", staging(func(s *stage) {
		s.pass(5)
		s.inject(LostRequest, 100_000, asking(exchange.FuturesTicker, exchange.FuturesTickers, exchange.FuturesCandles))
		s.pass(120)
		s.plan = hold(20)
		s.pass(60)
		s.wantHeld(10) // nothing opens at a price that is minutes old
		s.heal()
		s.pass(40)
		s.wantHeld(20)
	}, hold(10), within(risk.Limits{MaxDataAgeMS: 60_000}))},
	{63, "djienne/passivbot_lighter#3", "a dead connection: no entries for eight hours, and nothing in the log", staging(func(s *stage) {
		s.pass(5)
		s.w.outageMS = s.w.nowMS + 3_600_000
		s.plan = hold(20)
		s.pass(45)
		s.wantState("blind")
		want(s, "it is in the log", true, strings.Contains(s.trace.String(), "BLIND"))
		s.w.outageMS = 0
		s.pass(30)
		s.wantSound()
		s.wantHeld(20)
	}, hold(10))},
	{65, "freqtrade/freqtrade#7184", "\"database is locked\": filled on the exchange, the row never written, the trade lost", staging(func(s *stage) {
		s.until("an order taken", func() bool { return s.sent(opening) == 1 })
		s.w.disk.fullMS = s.w.nowMS + 20_000
		s.pass(10)
		want(s, "on the exchange", 10, s.held())
		s.wantState("journal")
		s.pass(20)
		s.wantHeld(10)
		s.wantSound()
		s.restart()
		s.pass(10)
		s.wantHeld(10) // the queued records are on disk
		want(s, "openings sent", 1, s.sent(opening))
	}, hold(10))},
	{66, "freqtrade/freqtrade#4038", "a disk error killed the process", staging(func(s *stage) {
		s.pass(10)
		s.w.disk.fullMS = s.w.nowMS + 60_000
		s.plan = hold(20)
		s.pass(50)
		want(s, "starts", 1, s.w.daemon.life)
		want(s, "no new risk", 10, s.held())
		want(s, "stops", 1, s.stops())
		s.pass(30)
		s.wantHeld(20)
	}, hold(10), protected)},
	{67, "freqtrade/freqtrade#12386", "a restart loop after a failed flush", staging(func(s *stage) {
		s.w.weather[SlowDisk] = 1
		s.until("a placement's record being written", func() bool {
			return s.w.disk.writing && slices.ContainsFunc(s.w.disk.pending, func(r record.Record) bool { return r.Kind() == record.KindSending })
		})
		s.w.weather[SlowDisk] = 0
		s.crash() // the outcome of the commit is uncertain
		s.pass(60)
		want(s, "starts", 2, s.w.daemon.life)
		s.wantHeld(10)
		want(s, "openings sent", 1, s.sent(opening))
	}, hold(10))},
	{68, "hummingbot/hummingbot#6479", "dies every three days of what it keeps", staging(func(s *stage) {
		s.plan = func(view *strategy.View, plan *strategy.Plan) {
			plan.Hold(strategy.Target{Kind: strategy.ByQuantity, Quantity: exchange.Quantity(10 + view.NowMS/5_000%2*10)}, "to and fro")
		}
		s.pass(3_600)
		want(s, "many were sent", true, s.sent(every) > 500)
		want(s, "few are kept", true, s.tracker().LiveCount() < 5)
	}, hold(10))},
	{71, "hummingbot/hummingbot#2534", "the kill switch raised inside itself, orders went on", staging(func(s *stage) {
		s.pass(10)
		s.w.outageMS = s.w.nowMS + 20_000 // the exchange fails
		s.person(&engine.EventHalt{Level: record.LevelFlatten, Reason: "a person"})
		opened := s.sent(opening)
		s.plan = hold(20)
		s.pass(60)
		s.wantHeld(0)
		s.wantState("halted")
		want(s, "openings sent since", opened, s.sent(opening))
		s.restart()
		s.pass(20)
		s.wantState("halted") // a restart does not arm it
		want(s, "openings sent since", opened, s.sent(opening))
	}, hold(10), protected)},
	{72, "hummingbot/hummingbot#3341", "fifteen times opened and closed within a minute", staging(func(s *stage) {
		s.pass(10)
		for range 6 {
			s.price("49000")
			s.pass(5)
			s.price("50000")
			s.pass(5)
		}
		s.wantHeld(0)
		want(s, "openings sent", 1, s.sent(opening)) // the stop's fill is latched
	}, hold(10), protected)},
	{73, "c9s/bbgo#1764", "stuck after a stop-loss", staging(func(s *stage) {
		s.pass(10)
		s.price("49000")
		s.pass(20)
		s.wantHeld(0)
		s.plan = hold(0)
		s.pass(5)
		s.plan = hold(10)
		s.pass(10)
		s.wantHeld(10) // a target of zero ended the latch
		want(s, "stops", 1, s.stops())
	}, hold(10), protected)},
	{75, "hummingbot/gateway#652", "an exposed gateway, and a real loss", func(t *testing.T) {
		listener, err := api.Listen("0.0.0.0:0", api.Access{})
		if err == nil {
			_ = listener.Close()
			t.Error("want an address that is not loopback refused without TLS")
		}
	}},
	{76, "vz-risk/VCDB#19288", "API keys leaked", func(t *testing.T) {
		const secret = "hunter2hunter2hunter2hunter2hunter2"
		_, problems := configs.Load(fstest.MapFS{"botd.yaml": {Data: []byte("mode: live\nexchange: {base_url: https://x.invalid, secret_file: " +
			secret + "}\n")}}, ".", configs.Options{})
		if problems.Err() == nil {
			t.Error("want a secret in the configuration refused")
		}
		if strings.Contains(fmt.Sprint(problems), secret) {
			t.Errorf("want it never repeated, have %v", problems)
		}
	}},
	{78, "freqtrade/freqtrade#6016", "secrets in the log", func(t *testing.T) {
		const key, secret = "key-hunter2-key", "secret-hunter2-secret"
		client, err := rest.New(rest.Config{BaseURL: "http://127.0.0.1:1", Key: key, Secret: []byte(secret)})
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Do(t.Context(), exchange.Request{Operation: exchange.FuturesPlace,
			Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT"}})
		for _, text := range []string{fmt.Sprint(err), fmt.Sprintf("%+v", client), fmt.Sprintf("%#v", client)} {
			if err == nil || strings.Contains(text, key) || strings.Contains(text, secret) {
				t.Errorf("want an error without key and secret, have %s", text)
			}
		}
	}},
}
