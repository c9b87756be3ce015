package daemon

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"botd/configs"
	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/ledger"
	"botd/reconcile/record"
	"botd/runtime/backups"
	"botd/runtime/engine"
	"botd/runtime/ops"
)

// virtualFaults has a fault for each alert that takes minutes, with the times at which it must fire and end.
var virtualFaults = []struct {
	name      string
	lasts     time.Duration
	window    time.Duration // the exchange's window for times of requests; 0 for its default
	root      string
	more      map[string]string
	disk      bool
	fault     func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error)
	meanwhile func(w *watched, p *process)
	expected  []expectation
	also      []string
	every     time.Duration // between scrapes; 0 for deploy/compose's, and three times that in long runs
	down      []window      // periods in which the daemon does not run
	targets   func(at time.Duration) int
	outside   func(w *watched, r *http.Request) (status int, answer string)
	incidents string   // their kinds; each alert that pages has one
	perhaps   []string // kinds that may occur
}{
	{
		name: "orders without an answer", lasts: 14 * time.Minute,
		root: strings.Replace(liveRoot, "window: 5s, visibility: 1s, staleness: 1s", "window: 1m, visibility: 45s, staleness: 15s", 1),
		more: map[string]string{"strategies/slices.yaml": sliced("futures", "BTC-USDT", "0.004", 4, "3m")},
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if is(r, http.MethodPost, "/fhapi/v1/order") && strings.HasSuffix(r.URL.Path, "/order") && w.within(2*time.Minute, 5*time.Minute) {
				return nil, io.ErrUnexpectedEOF
			}
			return next()
		},
		expected:  []expectation{{"BotdOrderUnsettled", 3 * time.Minute, 5 * time.Minute, 70 * time.Second, 35 * time.Second}},
		incidents: "unsettled",
	},
	{
		name: "a stop that is refused", lasts: 8 * time.Minute, root: liveRoot,
		more: map[string]string{"strategies/slices.yaml": sliced("futures", "BTC-USDT", "0.002", 1, "1s") + "protect: {stop_loss: 5%}\n"},
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if is(r, http.MethodPost, "/fhapi/v1/order") && strings.Contains(bodyOf(w.t, r), "STOP_MARKET") && time.Since(w.began) < 3*time.Minute {
				return answer(r, http.StatusBadRequest, `{"code":2999,"msg":"stop orders are off"}`), nil
			}
			return next()
		}, // bought in second 1, filled in second 2
		expected:  []expectation{{"BotdUnprotectedPosition", 2 * time.Second, 3 * time.Minute, 20 * time.Second, 75 * time.Second}},
		incidents: "unprotected",
	},
	{
		name: "a clock that cannot be read", lasts: 34 * time.Minute, root: liveRoot,
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if is(r, http.MethodGet, "/fapi/v1/time") && w.within(2*time.Minute, 32*time.Minute) {
				return answer(r, http.StatusNotFound, "{}"), nil
			}
			return next()
		},
		expected:  []expectation{{"BotdClockSkew", 2 * time.Minute, 32 * time.Minute, 1470 * time.Second, 30 * time.Second}},
		also:      []string{"BotdReconcileStale", "BotdExchangeErrors"}, // after a quarter of an hour nothing can be signed
		incidents: "blind clock",
	},
	{
		name: "money that nothing explains", lasts: 13 * time.Minute, root: liveRoot,
		more: map[string]string{"strategies/slices.yaml": sliced("futures", "BTC-USDT", "0.030", 30, "10s")},
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if is(r, http.MethodGet, "/fhapi/v1/margin/account") && time.Since(w.began) > 2*time.Minute {
				return rewrite(next, func(text string) string { return gained(w.t, text, "5") })
			}
			return next()
		},
		meanwhile: func(w *watched, p *process) {
			time.Sleep(10 * time.Minute)
			transfer := &engine.EventTransfer{Strategy: "slices", Transfer: ledger.Transfer{Market: exchange.Futures, Asset: "USDT"}}
			var err error
			if transfer.Transfer.Amount, err = exchange.AmountFromDecimal(decimal.NewFromInt(5)); err == nil {
				err = p.driver.Send(context.Background(), transfer)
			}
			if err != nil {
				w.t.Error(err)
			}
		},
		expected:  []expectation{{"BotdLedgerDifference", 2 * time.Minute, 10 * time.Minute, 10 * time.Second, 40 * time.Second}},
		incidents: "ledger",
	},
	{
		name: "errors of many requests", lasts: 40 * time.Minute, root: liveRoot,
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if r.Method == http.MethodGet && w.within(2*time.Minute, 20*time.Minute) && w.some(1, 4) {
				return answer(r, http.StatusInternalServerError, ""), nil
			}
			return next()
		},
		expected: []expectation{{"BotdExchangeErrors", 2 * time.Minute, 20 * time.Minute, 750 * time.Second, 3 * time.Minute}},
	},
	{
		name: "rounds that fail now and then", lasts: 110 * time.Minute, root: liveRoot,
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if is(r, http.MethodPost, "/order/open") && time.Since(w.began) < 40*time.Minute && w.some(1, 11) {
				return answer(r, http.StatusOK, "{"), nil
			}
			return next()
		},
		expected: []expectation{{"BotdObjectiveMissed", 0, 40 * time.Minute, 930 * time.Second, 29 * time.Minute}},
	},
	{
		name: "an old backup, candles that are left out, fills far from what was decided", lasts: 82 * time.Minute, root: liveRoot,
		more: map[string]string{"strategies/slices.yaml": sliced("spot", "BTC-USDT", "0.010", 10, "30s"),
			"strategies/once.yaml": strings.Replace(sliced("futures", "BTC-USDT", "0.001", 1, "10s"), "slices", "once", 1)},
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if is(r, http.MethodPost, "/hapi/v1/spot/order") { // the price jumps before it arrives
				w.dearer("BTC-USDT")
			}
			if is(r, http.MethodGet, "/fapi/v1/candle") && w.within(2*time.Minute, 16*time.Minute) {
				return rewrite(next, func(text string) string {
					return without(w.t, text, func(openMS int64) bool { return openMS/60_000%2 == 1 })
				})
			}
			return next()
		},
		meanwhile: func(w *watched, p *process) {
			old := &backups.Made{Schema: 1, At: time.Now().Add(-72 * time.Hour)}
			if err := backups.Mark(p.directory, old); err != nil {
				w.t.Error(err)
			}
			time.Sleep(68 * time.Minute)
			if err := backups.Mark(p.directory, &backups.Made{Schema: 1, At: time.Now()}); err != nil {
				w.t.Error(err)
			}
		},
		expected: []expectation{
			{"BotdBackupOld", 0, 68 * time.Minute, time.Hour, 15 * time.Second},
			{"BotdCandlesMissing", 2 * time.Minute, 16 * time.Minute, 330 * time.Second, 3330 * time.Second},
			{"BotdSlippageHigh", 0, 5 * time.Minute, 90 * time.Second, 59 * time.Minute},
		},
	},
	{
		name: "candles that do not come", lasts: 16 * time.Minute, root: liveRoot,
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if is(r, http.MethodGet, "/fapi/v1/candle") && w.within(4*time.Minute, 10*time.Minute) {
				return answer(r, http.StatusInternalServerError, ""), nil
			}
			return next()
		},
		expected:  []expectation{{"BotdMarketDataStale", 4 * time.Minute, 10 * time.Minute, 165 * time.Second, 10 * time.Second}},
		incidents: "stale",
	},
	{
		name: "a candle that comes late", lasts: 32 * time.Minute, root: liveRoot,
		more: map[string]string{"strategies/slow.yaml": "name: slow\nstrategy: sma_cross\nmarket: futures\nsymbol: BTC-USDT\ninterval: 15m\n" +
			"start: running\nsize: {quantity: 0.001}\nparams: {fast: 2, slow: 5}\nprotect: {stop_loss: 2%}\n"},
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if is(r, http.MethodGet, "/fapi/v1/candle") && strings.Contains(r.URL.RawQuery, "15m") && time.Since(w.began) < 27*time.Minute {
				return rewrite(next, func(text string) string {
					return without(w.t, text, func(openMS int64) bool { return openMS >= w.began.UnixMilli() })
				})
			}
			return next()
		},
		expected: []expectation{{"BotdStrategyStalled", 15 * time.Minute, 27 * time.Minute, 450 * time.Second, 30 * time.Second}},
	},
	{
		name: "a full disk", lasts: 22 * time.Minute, root: liveRoot, disk: true,
		more: map[string]string{"strategies/slices.yaml": sliced("futures", "BTC-USDT", "0.060", 60, "20s")},
		meanwhile: func(w *watched, p *process) {
			time.Sleep(3 * time.Minute)
			resize(w.t, p.config.DataDir, 0)
			time.Sleep(10 * time.Second)
			resize(w.t, p.config.DataDir, 0) // what the reserve released
			time.Sleep(10 * time.Minute)
			resize(w.t, p.config.DataDir, roomy)
		},
		expected:  []expectation{{"BotdDiskLow", 3 * time.Minute, 13*time.Minute + 10*time.Second, 70 * time.Second, 15 * time.Second}},
		incidents: "disk", // and no other: blocked openings and failing records have that cause
	},
	{
		name: "a clock that is off, ticks that pass", lasts: 34 * time.Minute, window: 30 * time.Second, root: liveRoot,
		more: map[string]string{"strategies/drowsy.yaml": "name: drowsy\nstrategy: drowsy\nmarket: spot\nsymbol: BTC-USDT\ninterval: 1m\n" +
			"schedule: '@every 1s'\nstart: running\nsize: {quote: 100}\n"},
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if is(r, http.MethodGet, "/fapi/v1/time") && time.Since(w.began) < 13*time.Minute {
				return answer(r, http.StatusOK, fmt.Sprintf(`{"serverTime":%d}`, time.Now().Add(10*time.Second).UnixMilli())), nil
			}
			return next()
		},
		expected: []expectation{
			{"BotdClockSkew", 0, 13 * time.Minute, 10 * time.Minute, 30 * time.Second},
			{"BotdTicksMissed", 5 * time.Minute, 10 * time.Minute, 30 * time.Second, 15 * time.Minute},
		},
	},
	{
		name: "a key that is refused", lasts: 14 * time.Minute, root: liveRoot,
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if r.Header.Get("X-Api-Key") != "" && w.within(2*time.Minute, 6*time.Minute) {
				return answer(r, http.StatusUnauthorized, `{"code":-2015,"msg":"invalid key, address, or permissions"}`), nil
			}
			return next()
		},
		expected:  []expectation{{"BotdAuthFailing", 2 * time.Minute, 6 * time.Minute, 10 * time.Second, 5 * time.Minute}},
		incidents: "blind",
	},
	{
		name: "too many requests", lasts: 26 * time.Minute, root: liveRoot,
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if w.within(2*time.Minute, 17*time.Minute) && w.some(1, 2) {
				return answer(r, http.StatusTooManyRequests, `{"code":-1003,"msg":"too many requests"}`), nil
			}
			return next()
		},
		expected:  []expectation{{"BotdRateLimited", 2 * time.Minute, 17 * time.Minute, 210 * time.Second, 5 * time.Minute}},
		incidents: "rate_limited",
		// They occur if three consecutive rounds, all reads of an order for a minute or two, or each stop for 15 s
		// meet the fault.
		perhaps: []string{"blind", "unsettled", "halted", "unprotected"},
		also:    []string{"BotdOrderUnsettled", "BotdPartHalted", "BotdUnprotectedPosition"},
	},
	{
		name: "a halt of one strategy", lasts: 16 * time.Minute, root: liveRoot,
		meanwhile: func(w *watched, p *process) {
			w.halts(p, account.Scope{Strategy: "hold"}, record.LevelPause, 2*time.Minute, 14*time.Minute)
		},
		expected:  []expectation{{"BotdPartHalted", 2 * time.Minute, 14 * time.Minute, 610 * time.Second, 10 * time.Second}},
		incidents: "halted",
	},
	{
		name: "an exit that is refused", lasts: 10 * time.Minute, root: liveRoot,
		more: map[string]string{"strategies/slices.yaml": sliced("futures", "BTC-USDT", "0.002", 1, "1s")},
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if is(r, http.MethodPost, "/fhapi/v1/order") && strings.Contains(bodyOf(w.t, r), "SELL") && w.within(time.Minute, 6*time.Minute) {
				return answer(r, http.StatusBadRequest, `{"code":2999,"msg":"reductions are off"}`), nil
			}
			return next()
		},
		meanwhile: func(w *watched, p *process) {
			w.halts(p, account.Scope{Strategy: "slices"}, record.LevelFlatten, 2*time.Minute, 9*time.Minute)
		},
		expected:  []expectation{{"BotdIntentRefused", 2 * time.Minute, 6 * time.Minute, 75 * time.Second, 10 * time.Second}},
		incidents: "halted refused",
	},
	{
		name: "a strategy that does not answer", lasts: 12 * time.Minute, root: liveRoot,
		more: map[string]string{"strategies/stuck.yaml": "name: stuck\nstrategy: stuck\nmarket: spot\nsymbol: BTC-USDT\ninterval: 1m\n" +
			"schedule: '@every 1s'\nstart: running\ndeadline: 1s\nsize: {quote: 100}\n"},
		expected:  []expectation{{"BotdStrategyHung", 5 * time.Minute, 8 * time.Minute, 10 * time.Second, 10 * time.Second}},
		incidents: "hung",
	},
	{
		name: "an exchange that does not answer", lasts: 16 * time.Minute, root: liveRoot,
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if w.within(2*time.Minute, 12*time.Minute+time.Second) { // ends after a scrape, before the current round
				return nil, io.ErrUnexpectedEOF
			}
			return next()
		},
		expected:  []expectation{{"BotdReconcileStale", 2 * time.Minute, 12 * time.Minute, 80 * time.Second, 15 * time.Second}},
		incidents: "blind",
	},
	{
		name: "an exchange that is gone for an hour", lasts: 70 * time.Minute, root: liveRoot,
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if w.within(2*time.Minute, 62*time.Minute+time.Second) { // ends after a scrape, before the current round
				return nil, io.ErrUnexpectedEOF
			}
			return next()
		},
		expected:  []expectation{{"BotdReconcileStale", 2 * time.Minute, 62 * time.Minute, 80 * time.Second, 30 * time.Second}},
		incidents: "blind",
	},
	{
		name: "targets that come and go", lasts: 36 * time.Minute, root: liveRoot, every: scrapeEvery,
		down: []window{{2 * time.Minute, 4 * time.Minute}, {5 * time.Minute, 5*time.Minute + time.Second},
			{6 * time.Minute, 6*time.Minute + time.Second}},
		targets: func(at time.Duration) int {
			switch {
			case at >= 10*time.Minute && at < 17*time.Minute:
				return 0
			case at >= 20*time.Minute && at < 23*time.Minute:
				return 2
			}
			return 1
		},
		expected: []expectation{
			{"BotdDown", 2 * time.Minute, 4 * time.Minute, 70 * time.Second, 10 * time.Second},
			{"BotdRestartLoop", 6 * time.Minute, 2 * time.Minute, 10 * time.Second, 30 * time.Minute}, // after the first end
			{"BotdAbsent", 10 * time.Minute, 17 * time.Minute, 310 * time.Second, 10 * time.Second},
			{"BotdTwoLeaders", 20 * time.Minute, 23 * time.Minute, 70 * time.Second, 10 * time.Second},
		},
	},
	{
		name: "a price that falls", lasts: 26 * time.Minute, every: scrapeEvery,
		root: strings.Replace(liveRoot, "max_drawdown: 50%%", "max_drawdown: 30%%", 1),
		more: map[string]string{"strategies/trend.yaml": strings.Replace(sliced("futures", "BTC-USDT", "1.9", 1, "1s"), "slices", "trend", 1) +
			"leverage: 20\n"},
		meanwhile: func(w *watched, p *process) {
			w.until(16 * time.Minute)
			price := struct{ LastPrice decimal.Decimal }{}
			w.control("GET /api/v1/spot/public/ticker/BTC-USDT", "", &price)
			fallen := price.LastPrice.Mul(decimal.RequireFromString("0.945")).Round(1)
			w.control("POST /control/v1/price", fmt.Sprintf(`{"market":"futures","symbol":"BTC-USDT","price":"%s"}`, fallen), nil)
			w.halts(p, account.Scope{Strategy: "trend"}, record.LevelFlatten, 23*time.Minute, 24*time.Minute)
			w.send(p, &engine.EventHalt{Level: record.LevelNone, Reason: "reviewed"})
		},
		expected: []expectation{
			{"BotdPositionWithoutStop", 2 * time.Second, 23 * time.Minute, 15*time.Minute + 10*time.Second, 10 * time.Second},
			{"BotdNearLiquidation", 16 * time.Minute, 23 * time.Minute, 10 * time.Second, 10 * time.Second},
			{"BotdLimitNearlyReached", 16 * time.Minute, 24 * time.Minute, 5*time.Minute + 10*time.Second, 10 * time.Second},
		},
		incidents: "halted liquidation",
	},
	{
		name: "what people and their services do", lasts: 32 * time.Minute, every: scrapeEvery,
		root: liveRoot + "signals: {listen: '127.0.0.1:8431', token_file: KEYS/token}\n" +
			"telegram: {token_file: KEYS/telegram, operators: [11]}\nnotify: {every: 1s, channels: {desk: {url_file: DESK}}}\n",
		more: map[string]string{"strategies/follow.yaml": follows, "strategies/panics.yaml": panicking("100")},
		outside: func(w *watched, r *http.Request) (int, string) { // Telegram
			if w.within(time.Minute, 8*time.Minute) {
				return http.StatusBadGateway, "no"
			}
			return http.StatusOK, `{"ok":true,"result":[]}`
		},
		meanwhile: func(w *watched, p *process) {
			w.until(2 * time.Minute)
			w.away.Store(true)
			for range 4 {
				w.signal()
			}
			w.write("strategies/follow.yaml", "name: follow\nnonsense: 1\n")
			w.until(4 * time.Minute)
			w.away.Store(false)
			w.write("strategies/follow.yaml", follows)
			w.until(12 * time.Minute)
			w.write("strategies/panics.yaml", panicking("101"))
			w.until(14 * time.Minute)
			w.tradeManually("SOL-USDT", "2")
			w.until(18 * time.Minute)
			w.send(p, &engine.EventResolve{Symbol: exchange.SymbolKey{Market: exchange.Futures, Name: "SOL-USDT"}, Adopt: true, Reason: "bought manually"})
			w.halts(p, account.Scope{}, record.LevelPause, 22*time.Minute, 26*time.Minute)
		},
		expected: []expectation{
			{"BotdTelegramFailing", time.Minute, 8 * time.Minute, 5*time.Minute + 20*time.Second, 11*time.Minute + 10*time.Second},
			{"BotdSignalsFailing", 2 * time.Minute, 2 * time.Minute, 10 * time.Second, 15 * time.Minute},
			{"BotdConfigReloadFailed", 2 * time.Minute, 4 * time.Minute, 10 * time.Second, 10 * time.Second},
			{"BotdNotificationsFailing", 2 * time.Minute, 4 * time.Minute, 55 * time.Second, 13*time.Minute + 50*time.Second},
			{"BotdStrategyFailed", 5 * time.Minute, 12 * time.Minute, 10 * time.Second, 10 * time.Second},
			{"BotdDiscrepancyUnresolved", 14 * time.Minute, 18 * time.Minute, 2*time.Minute + 15*time.Second, 10 * time.Second},
			{"BotdTradingHalted", 22 * time.Minute, 26 * time.Minute, 70 * time.Second, 10 * time.Second},
		},
		incidents: "failed halted quarantined",
	},
	{
		name: "a halt whose exit gets no answer", lasts: 12 * time.Minute, root: liveRoot, every: scrapeEvery,
		more: map[string]string{"strategies/slices.yaml": sliced("futures", "BTC-USDT", "0.002", 1, "1s")},
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if is(r, http.MethodPost, "/fhapi/v1/order") && strings.HasSuffix(r.URL.Path, "/order") && w.within(time.Minute, 7*time.Minute) {
				return answer(r, http.StatusServiceUnavailable, ""), nil
			}
			return next()
		},
		meanwhile: func(w *watched, p *process) {
			w.halts(p, account.Scope{Strategy: "slices"}, record.LevelFlatten, 2*time.Minute, 9*time.Minute)
		},
		expected:  []expectation{{"BotdHaltUnfinished", 2 * time.Minute, 7 * time.Minute, 130 * time.Second, 20 * time.Second}},
		incidents: "breaker halted",
	},
	{
		name: "a halt that cannot cancel", lasts: 12 * time.Minute, root: liveRoot,
		more: map[string]string{"strategies/quotes.yaml": "name: quotes\nstrategy: market_making\nmarket: futures\nsymbol: BTC-USDT\ninterval: 1m\n" +
			"schedule: '@every 1s'\nstart: running\nparams: {quantity: 0.002, max_position: 0.02, spread: 3%, refresh: 1h, tolerance: 2%}\n"},
		fault: func(w *watched, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
			if is(r, http.MethodPost, "/fhapi/v1/order/cancel") && w.within(time.Minute, 6*time.Minute) {
				return answer(r, http.StatusServiceUnavailable, ""), nil
			}
			return next()
		},
		meanwhile: func(w *watched, p *process) {
			w.halts(p, account.Scope{Strategy: "quotes"}, record.LevelCancel, 2*time.Minute, 10*time.Minute)
		},
		expected:  []expectation{{"BotdHaltUnfinished", 2 * time.Minute, 6 * time.Minute, 130 * time.Second, 15 * time.Second}},
		incidents: "halted unfinished",
	},
}

// follows waits for signals.
const follows = "name: follow\nstrategy: signal\nmarket: futures\nsymbol: SOL-USDT\ninterval: 1m\nschedule: '@every 1s'\nstart: running\n" +
	"leverage: 5\nsize: {quote: 100}\n"

// panicking is a strategy that panics, with its file.
func panicking(quote string) string {
	return "name: panics\nstrategy: panics\nmarket: spot\nsymbol: BTC-USDT\ninterval: 1m\nschedule: '@every 1s'\nstart: running\n" +
		"size: {quote: " + quote + "}\n"
}

// unmeasured lists the alerts without a figure measured in virtual time, with the reason.
var unmeasured = map[string]string{
	"BotdWatchdog":  "it always fires, in each drill",
	"BotdStoreSlow": "SQLite waits for a lock by the machine's clock; a real disk and recorded series have its figures",
}

// TestEachAlertHasAFaultOrAReason fails on a rule that no drill fires.
func TestEachAlertHasAFaultOrAReason(t *testing.T) {
	t.Parallel()
	fired := map[string]bool{}
	for _, c := range virtualFaults {
		for _, e := range c.expected {
			fired[e.alert] = true
		}
	}
	for _, a := range ops.Alerts() {
		if reason := unmeasured[a.Name]; fired[a.Name] == (reason != "") {
			t.Errorf("%s: fired by a fault %t, left out for %q: want one of the two", a.Name, fired[a.Name], reason)
		}
	}
	if have := len(fired) + len(unmeasured); have != len(ops.Alerts()) {
		t.Errorf("want each of %d alerts once, have %d", len(ops.Alerts()), have)
	}
}

// TestFaultsOfMinutesFireTheirAlerts runs each of them in virtual time.
func TestFaultsOfMinutesFireTheirAlerts(t *testing.T) {
	t.Parallel()
	for i, c := range virtualFaults {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if !drilled(t, i) && c.name != "a stop that is refused" {
				t.Skip("BOTD_DRILL=1 has it fire its alert: seconds of processor time, most of them promtool's")
			}
			w := newWatched(t, scrapeEvery)
			w.window, w.disk, w.down = c.window, c.disk, c.down
			if c.every != 0 {
				w.every = c.every
			} else if c.lasts > 16*time.Minute {
				w.every *= 3
			}
			if c.targets != nil {
				w.targets = c.targets
			}
			if c.outside != nil {
				w.outside = func(r *http.Request) (int, string) { return c.outside(w, r) }
			}
			if c.fault != nil {
				w.set(func(r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
					return c.fault(w, r, next)
				})
			}
			w.run(live(t, strings.ReplaceAll(c.root, "DESK", w.desk()), c.more), configs.Live, c.lasts, func(p *process) {
				if c.meanwhile != nil {
					c.meanwhile(w, p)
				}
			})
			for _, kind := range c.perhaps {
				delete(w.kinds, kind)
			}
			if have := strings.Join(slices.Sorted(maps.Keys(w.kinds)), " "); have != c.incidents {
				t.Errorf("want incidents %q, have %q", c.incidents, have)
			}
			w.judge(c.expected, c.also...)
			documented(t, c.expected)
		})
	}
}

// drilled reports whether BOTD_DRILL selects a fault: 1 selects all, 2/3 every third from the second.
func drilled(t *testing.T, i int) bool {
	t.Helper()
	switch drill := os.Getenv("BOTD_DRILL"); drill {
	case "":
		return false
	case "1":
		return true
	default:
		var which, of int
		if _, err := fmt.Sscanf(drill, "%d/%d", &which, &of); err != nil || which < 1 || which > of {
			t.Fatalf("BOTD_DRILL: want 1, or a part such as 2/3, have %q", drill)
		}
		return i%of == which-1
	}
}

// TestANightInQuietHours has candles stop from two minutes past midnight, and a person halt, while a channel has quiet hours until half
// past one. At night the channel receives critical incidents, with their reminders and ends; the others when the hours are over, and by day
// immediately.
func TestANightInQuietHours(t *testing.T) {
	t.Parallel()
	if os.Getenv("BOTD_DRILL") == "" {
		t.Skip("BOTD_DRILL=1 has a night of an hour and a half: five seconds of processor time")
	}
	w := newWatched(t, time.Minute)
	w.set(func(r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
		if is(r, http.MethodGet, "/fapi/v1/candle") && strings.Contains(r.URL.RequestURI(), "ETH-USDT") && w.within(2*time.Minute, 80*time.Minute) {
			return answer(r, http.StatusInternalServerError, ""), nil
		}
		return next()
	})
	root := liveRoot + "notify: {every: 1s, channels: {desk: {url_file: " + w.desk() + ", quiet: '23:00-01:30'}}}\n"
	w.run(live(t, root, nil), configs.Live, 95*time.Minute, func(p *process) {
		w.halts(p, account.Scope{Strategy: "hold"}, record.LevelPause, 10*time.Minute, 93*time.Minute)
	})
	const stale = "STALE (symbol futures ETH-USDT)"
	runbook := ": candles of 1m cannot be read: futures_candles unavailable: status 500. Runbook: BotdMarketDataStale. Remedy: "
	for i, want := range [][]string{
		{"01:03:", "ERROR incident 1 has become critical after 1h0m", stale + runbook},
		{"01:18:", "ERROR incident 1 continues after 1h15m", "critical: " + stale + runbook},
		{"01:20:", "incident 1 is over: " + stale},
		{"00:00:", "hold opened: long", "00:03:", "WARNING incident 1, warning: " + stale + runbook,
			"00:10:", "WARNING incident 2, warning: HALTED (strategy hold)"},
		{"01:30:", "trend opened: long"},
		{"01:33:", "ARMED     trading continues: a drill"},
		{"01:33:", "incident 2 is over: HALTED (strategy hold)"},
	} {
		rest := ""
		if i < len(w.messages) {
			rest = w.messages[i]
		}
		for _, part := range want {
			found := false
			if _, rest, found = strings.Cut(rest, part); !found {
				t.Errorf("message %d: want %q in its order, have %q", i, want, w.messages[min(i, len(w.messages)-1)])
				break
			}
		}
	}
}

// desk returns a file with the address of a channel, whose service answers outside the bubble's time, unless it is
// away.
func (w *watched) desk() (file string) {
	service := httptest.NewUnstartedServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if w.away.Load() || err != nil {
			answer.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.messages = append(w.messages, string(text))
	}))
	service.Config.SetKeepAlivesEnabled(false)
	service.Start()
	w.t.Cleanup(service.Close)
	file = filepath.Join(w.t.TempDir(), "desk")
	if err := os.WriteFile(file, []byte("generic://"+service.Listener.Addr().String()+"/desk?disabletls=yes"), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return file
}

// documented compares the figures of alerts with the table of docs/operations.md.
func documented(t *testing.T, expected []expectation) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	short := func(d time.Duration) string {
		return strings.ReplaceAll(strings.ReplaceAll(d.String(), "m0s", "m"), "h0m", "h")
	}
	for _, e := range expected {
		_, row, _ := strings.Cut(string(text), "\n| "+e.alert+" | ")
		row, _, _ = strings.Cut(row, "\n")
		for _, figure := range []string{short(e.fires), short(e.clears)} {
			if !strings.Contains(row, "**"+figure+"**") {
				t.Errorf("docs/operations.md, %s: want %s in its row, have %q", e.alert, figure, row)
			}
		}
	}
}
