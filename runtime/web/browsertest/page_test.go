package browsertest

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// These are the bounds of a page's weight on the wire, and of the time until it is ready.
const (
	maxBytes = 150 << 10
	maxReady = time.Second
)

// everyPage lists the addresses, each with a text that it must show.
func everyPage(d *daemon) map[string]string {
	var orders struct {
		Items []struct {
			ID string `json:"client_order_id"`
		}
	}
	d.ask("GET", "/api/v1/orders?state=all&strategy=accumulate&limit=1", "", &orders)
	return map[string]string{
		"/": "All systems normal", "/?range=7d": "not counting 1 BTC", "/strategies": "levels", "/strategies/accumulate": "Decisions",
		"/strategies/levels?view=orders": "Working orders", "/strategies/hold?view=trades": "No closed round trips", "/orders": "Working",
		"/orders?view=fills": "Mean price", "/orders?view=ended": "filled",
		"/intents": "Outcome", "/intents/" + orders.Items[0].ID: "Checks", "/positions": "Journal", "/risk": "Kill switch",
		"/reconcile": "Exchange and journal agree",
		"/market":    "Price tick", "/market/futures/BTC-USDT": "Order book", "/market/spot/SOL-USDT": "Trades", "/logs": "daemon.started",
		"/backtests": "Maximum drawdown", "/backtests/compare?ids=quick,slow": "Differences", "/settings": "Back up now", "/audit": "start",
		"/sweeps": "No sweeps yet", "/sweeps/none": "There is no such sweep",
		"/nowhere": "There is no page",
	}
}

// TestEveryPage opens each page in each look. It shows its text, reports no errors, calls no other host, is
// light and fast, does not scroll sideways, and axe finds nothing.
func TestEveryPage(t *testing.T) { // not parallel: it measures
	d := startDaemon(t)
	d.backtests()
	d.settle()
	for _, l := range []viewport{dark, light, phone, small} {
		t.Run(l.name, func(t *testing.T) {
			v := openBrowser(t).open(d, l)
			v.login(d.token("token"))
			v.forget()
			for path, shows := range everyPage(d) {
				took, weight := v.visit(path)
				for try := 0; took > maxReady && try < 6; try++ { // the machine may be busy otherwise
					took, weight = v.visit(path)
				}
				t.Logf("%-5s %-34s %6d bytes  ready in %s", l.name, path, weight, took.Round(time.Millisecond))
				if weight > maxBytes {
					t.Errorf("%s: want at most %d bytes, have %d", path, maxBytes, weight)
				}
				if took > maxReady && took > readyWithin(v.pace()) {
					t.Errorf("%s: want it ready within %s, have %s", path, readyWithin(v.pace()), took)
				}
				v.until(path+" shows "+shows, `document.body.textContent.includes(`+quoted(shows)+`)`)
				v.fits(l.name + " " + path)
				if l.name == phone.name {
					v.short(path, l)
				}
				if l.mobile {
					if have := eval[bool](v,
						`(() => { const box = document.querySelector(".bottom .halt").getBoundingClientRect(); return box.top >= innerHeight / 2 &&
							box.bottom <= innerHeight && box.right <= innerWidth && box.height >= 40; })()`); !have {
						t.Errorf("%s: the kill switch is not in reach on a phone", path)
					}
				}
				v.accessible(l.name + " " + path)
				v.quiet(l.name + " " + path)
				v.shoot(l.name + " " + path)
			}
		})
	}
}

// maxPatience bounds the allowance for a slow machine.
const maxPatience = 6

// quietPace is the duration of pace's work on two quiet cores of 2026.
const quietPace = 50 * time.Millisecond

// pace returns how many times as long as quietPace a fixed piece of work takes now: numbers written as JSON,
// read, sorted and summed, as a chart does with candles. A slower or busier machine does not make a page
// slower.
func (v *tab) pace() float64 {
	const work = `(() => {
		const began = performance.now();
		let kept = 0;
		for (let round = 0; round < 4; round++) {
			const all = Array.from({ length: 50_000 }, (_, i) => (i * 7919) % 50_021 + 0.5);
			const read = JSON.parse(JSON.stringify(all));
			read.sort((a, b) => a - b);
			kept += read.reduce((sum, x) => sum + x, 0);
		}
		return kept > 0 ? performance.now() - began : 0;
	})()`
	return eval[float64](v, work) / float64(quietPace.Milliseconds())
}

// readyWithin returns the time within which a page must be ready on a machine of that pace.
func readyWithin(pace float64) time.Duration {
	return max(maxReady, min(time.Duration(float64(maxReady)*pace), maxPatience*maxReady))
}

// TestTwentyThousandCandles uses a chart with all of them within a second, or longer by the factor by which
// the machine is slower than a quiet one.
func TestTwentyThousandCandles(t *testing.T) { // not parallel: it measures
	d := startDaemon(t)
	v := d.enter(dark)
	best, pace := time.Hour, v.pace()
	for range 4 { // the first one fills botd's cache of the exchange's answers
		took, weight := v.visit("/market/futures/BTC-USDT?candles=20000")
		best, pace = min(best, took), min(pace, v.pace())
		t.Logf("20,000 candles: %d bytes, ready in %s", weight, took.Round(time.Millisecond))
		if have := eval[int](
			v,
			`Number(document.querySelector(".panel[aria-labelledby=p-candles] .note").textContent.replaceAll(",", "").match(/\d+/)[0])`,
		); have < 20_000 {
			t.Errorf("want 20000 candles, have %d", have)
		}
	}
	within := readyWithin(pace)
	t.Logf("the machine is %.2f times as slow as a quiet one: best %s, want %s", pace, best.Round(time.Millisecond), within.Round(time.Millisecond))
	if best > within {
		t.Errorf("want 20000 candles within %s, have %s", within, best)
	}
	if drawn := eval[bool](v,
		`[...document.querySelectorAll(".host canvas")].some(c => { const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
			const seen = new Set(); for (let i = 0; i < d.length; i += 400) seen.add(d[i] + "," + d[i+1] + "," + d[i+2]); return seen.size > 3; })`); !drawn {
		t.Error("want candles drawn, the canvas is empty")
	}
	v.quiet("candles")
	v.shoot("candles 20000")
}

// TestChartsReadBackWithoutEnd scrolls a chart beyond its first read.
func TestChartsReadBackWithoutEnd(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	v := d.enter(dark)
	v.visit("/market/futures/BTC-USDT")
	const count = `Number(document.querySelector(".panel[aria-labelledby=p-candles] .note").textContent.replaceAll(",", "").match(/\d+/)[0])`
	first := eval[int](v, count)
	for range 3 {
		before := eval[int](v, count)
		for end := time.Now().Add(2 * patience); eval[int](v, count) == before; { // drags the candles to the right
			if time.Now().After(end) {
				t.Fatalf("want candles older than the %d read, there are none after a minute of dragging", before)
			}
			v.do(chromedp.DragAndDropXY(400, 500, 1200, 500, 4))
		}
	}
	if have := eval[int](v, count); have <= first {
		t.Errorf("want more than %d candles after scrolling back, have %d", first, have)
	}
	v.quiet("scrolling back")
}

// TestChartShowsIndicatorsAndDecisions covers a strategy with two averages, one with an oscillator, and
// one whose entry a rule refuses.
func TestChartShowsIndicatorsAndDecisions(t *testing.T) { // not parallel: it measures
	d := startDaemonWith(t, map[string]string{
		"strategies/cross.yaml": "name: cross\nstrategy: sma_cross\nmarket: futures\nsymbol: SOL-USDT\ninterval: 1m\n" +
			"size: {quote: 50}\nparams: {fast: 5, slow: 20}\n",
		"strategies/swings.yaml": "name: swings\nstrategy: rsi\nmarket: spot\nsymbol: ETH-USDT\ninterval: 1m\nsize: {quote: 50}\n",
		"strategies/ruled.yaml": "name: ruled\nstrategy: rules\nmarket: spot\nsymbol: BTC-USDT\ninterval: 1m\nsize: {quote: 50}\n" +
			"params: {entry_long: 'cross_above(ema(close, 12), ema(close, 26)) and rsi(close, 14) < 70', exit_long: 'rsi(close, 14) > 80'}\n",
		"strategies/large.yaml": "name: large\nstrategy: buy_and_hold\nmarket: futures\nsymbol: PEPE-USDT\ninterval: 1m\n" +
			"size: {quote: 500}\nrisk: {max_position: 100}\n",
	})
	d.settle()
	v := d.enter(light)
	for _, c := range []struct{ name, plots, shows string }{{"cross", "2", "sma 20: dotted"}, {"swings", "1", "rsi 14: solid"},
		{"ruled", "3", "ema 26: dotted"}, {"large", "0", "1 refusal"},
		{"accumulate", "0", "the target would"}} {
		path := "/strategies/" + c.name
		took, weight := v.visit(path)
		t.Logf("%-24s %6d bytes  ready in %s", path, weight, took.Round(time.Millisecond))
		if weight > maxBytes {
			t.Errorf("%s: want at most %d bytes, have %d", path, maxBytes, weight)
		}
		v.until(path+" has its plots", `(document.querySelector(".host").dataset.plots ?? "0") === `+quoted(c.plots))
		if c.name == "large" || c.name == "accumulate" {
			v.until(path+" has marks", `Number(document.querySelector(".host").dataset.marks) > 0`)
		}
		v.until(
			path+" shows "+c.shows,
			`[document.body.textContent, ...[...document.querySelectorAll("figure")].map(e => e.ariaLabel)].join().toLowerCase().includes(`+quoted(c.shows)+`)`,
		)
		v.until(path+" shows why", `["Conditions", "Next tick"].every(text => document.querySelector("[role=tabpanel]").textContent.includes(text))`)
		if c.name == "large" {
			v.until(path+" shows what blocks it", `document.querySelector("[role=tabpanel]").textContent.includes("max position: ")`)
		}
		for _, l := range []viewport{light, dark, phone} {
			v.show(l)
			v.fits(l.name + " " + path)
			v.accessible(l.name + " " + path)
			v.shoot(l.name + " plots " + c.name)
		}
		v.show(light)
	}
	v.quiet("plots")
}

// TestReportOfABacktestIsShutIn opens a report's page: its own scripts run and draw, and have no access to
// botd.
func TestReportOfABacktestIsShutIn(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	d.backtests()
	v := d.enter(dark)
	v.visit("/backtests")
	v.quiet("the list")
	v.do(chromedp.Navigate(d.url("/api/v1/backtests/quick/report")))
	v.until("its charts are drawn", `document.querySelectorAll("canvas").length > 3`)
	if have := eval[string](v, `fetch("/api/v1/status").then(r => "reached " + r.status, e => "blocked")`); have != "blocked" {
		t.Errorf("want a report to reach nothing, have %s", have)
	}
	if have := eval[string](v, `(() => { try { return "cookies: " + document.cookie; } catch (e) { return "blocked"; } })()`); have != "blocked" {
		t.Errorf("want no cookie in reach, have %s", have)
	}
	v.forget() // the refused requests
	v.shoot("report")
}

// odd has answers with states that a demo does not reach by itself.
const odd = `(() => {
	const real = window.fetch.bind(window);
	const far = Date.now() - 90000;
	const order = {client_order_id: "bmain-1-77", order_id: 0, strategy: "levels", purpose: "entry", market: "futures", symbol: "ETH-USDT",
		side: "BUY", type: "MARKET", state: "uncertain", live: true, price: "0", stop_price: "0", quantity: "0.05", reduce_only: false,
			close_position: false, post_only: false, filled: "0", mean_price: "0", sent_ms: far, reason: "the answer was lost"};
	const change = {
		"reconcile": (a) => ({...a, failed: 2, unknown: [order], quarantines: [{market: "futures", symbol: "ETH-USDT", strategy: "levels",
			cause: "<b>the exchange reports 1.5, the journal explains 0.05</b>", since: new Date(far).toISOString(), position: "1.5",
				explained: "0.05", ignored: "0", difference: "1.45", unknown: [order], orders: [{order_id: 9, client_order_id: "by-hand",
					side: "SELL", type: "LIMIT", quantity: "1", filled: "0", price: "3000", stop_price: "0"}], adopt: ["1.45 becomes the strategy's"],
						ignore: ["1.45 is left alone"]}]}),
		"positions": (a) => ({...a, items: [{...a.items[0], quantity: "-1.5", difference: "1.45", quarantine: "differs", settled: false,
			liq_price: "51000", liquidation_distance_ratio: 0.021, protected: false, unprotected_ms: 61000, protection: []}, ...a.items.slice(1)]}),
		"status": (a) => ({...a, ready: false, unclean_start: true, unsettled: 2, unsettled_since_ms: far, blind: true, checks: [...a.checks,
			{name: "clock", ok: false, detail: "off by 3 s"}], nearest_liquidation: {symbol: "BTC-USDT", price: "51000", distance_ratio: 0.021},
			degraded: [{state: "limit", scope: "account", cause: "max_daily_loss: 5.2 % of 5 %", since: new Date(far).toISOString(),
				remedy: "ends at 00:00 UTC, or botd rearm"}, {state: "quarantined", scope: "symbol", market: "futures", symbol: "ETH-USDT",
					cause: "differs", since: new Date(far).toISOString(), remedy: "botd resolve"},
				{state: "blind", scope: "account", cause: "no answer for 30 s", since: new Date(far).toISOString(),
					remedy: "ends with the first complete round"}, {state: "stale", scope: "symbol", market: "spot", symbol: "SOL-USDT",
						cause: "the venue's data are older than paper.max_age", since: new Date(far).toISOString(),
							remedy: "ends when data come again; meanwhile nothing is accepted, fills or is triggered there"}],
			strategies: [...a.strategies, ...Array.from({length: 97}, (_, i) => ({...a.strategies[0], name: "strategy-" + i, state: ["running",
				"halted", "failed", "latched", "quarantined", "warming_up"][i % 6], state_reason: i % 6 === 2 ? "panic: index out of range" : ""}))]}),
		"risk": (a) => ({...a, halts: [{scope: "strategy", strategy: "levels", level: "flatten", reason: "a reason",
			since: new Date(far).toISOString()}], degraded: [{state: "halted", scope: "strategy", strategy: "levels", cause: "c",
				since: new Date(far).toISOString(), remedy: "botd rearm", doing: "to close: futures ETH-USDT 0.05; orders to end: 1"},
					{state: "breaker", scope: "account", cause: "3 lost answers within 10 min", since: new Date(far).toISOString(),
						until: new Date(far + 600000).toISOString(), remedy: "wait"}],
			limits: a.limits.map((l, i) => ({...l, ratio: [0.85, 1, 1.04, 0.2][i % 4], state: ["near", "full", "breached", "ok"][i % 4], reason: "why",
				remedy: "the remedy"})), rejections: a.rejections.map((r, i) => i < 4 ? {...r, count: 12345 * (i + 1), last_ms: far,
					strategy: "levels", symbol: "ETH-USDT", value: "3200 USDT", limit: "at most 3000 USDT", hint: "less"} : r), history: [{id: "1",
						at_ms: far, kind: "breaker", severity: "error", ended: false, text: "3 lost answers within 10 min"}]}),
	};
	const { set } = Object.getOwnPropertyDescriptor(MessagePort.prototype, "onmessage"); // a status of the stream is the true one
	Object.defineProperty(MessagePort.prototype, "onmessage", {set(take) {
		set.call(this, (event) => { if (event.data?.topic !== "status") take.call(this, event); }); }});
	window.fetch = async (input, init) => {
		const path = new URL(input, location.href).pathname.replace("/api/v1/", ""), answer = await real(input, init);
		if (!change[path] || (init?.method ?? "GET") !== "GET") return answer;
		return new Response(JSON.stringify(change[path](await answer.json())), {status: 200, headers: {"Content-Type": "application/json"}});
	};
})();`

// TestProblemsAreShown has the pages show quarantines, breached limits, failures and a hundred strategies:
// still accessible, still within the screen.
func TestProblemsAreShown(t *testing.T) {
	t.Parallel()
	d := startSettled(t)
	for _, l := range []viewport{dark, light, tablet, phone} {
		v := openBrowser(t).open(d, l)
		v.inject(odd)
		v.login(d.token("token"))
		for path, shows := range map[string]string{"/": "Needs attention", "/strategies": "strategy-96", "/positions": "no stop on the exchange",
			"/risk": "Remedy", "/reconcile": "<b>the exchange reports"} {
			v.visit(path)
			if l.mobile { // the first rows of a long list, until more are requested
				eval[bool](v,
					`([...document.querySelectorAll("tfoot button")].filter(b => b.textContent.startsWith("Show all")).forEach(b => b.click()), true)`)
			}
			v.until(path+" shows "+shows, `document.body.textContent.includes(`+quoted(shows)+`)`)
			v.until(path+" shows when the data stopped",
				`/cannot read the exchange since .*No new data of SOL-USDT since .* nothing is accepted/.test(document.getElementById("banners").textContent)`)
			v.fits(l.name + " " + path)
			v.accessible("trouble " + l.name + " " + path)
			v.quiet("trouble " + path)
			v.shoot("trouble " + l.name + " " + path)
		}
	}
}
