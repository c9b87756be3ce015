package browsertest

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// compared answers a comparison, which needs candles that closed after trading: with an equal order, and one on each side only.
const compared = `(() => {
	const real = window.fetch.bind(window);
	window.fetch = async (input, init) => {
		if (!new URL(input, location.href).pathname.endsWith("/accumulate/parity")) return real(input, init);
		const at = Date.now() - 600_000, live = {at_ms: at + 3000, order: "bmain-a-1", buy: true, quantity: 0.001, price: 50010, purpose: "entry"};
		const backtest = {at_ms: at, buy: true, quantity: 0.001, price: 50000, purpose: "entry"};
		const pair = (live, backtest) => ({live, backtest, later_ms: live && backtest ? 3000 : 0, slippage_pct: live && backtest ? 0.02 : 0,
			slippage_usdt: live && backtest ? 0.01 : 0, slippage_is_known: !!(live && backtest)});
		const curve = (last) => ({time_ms: [at, at + 60_000, at + 120_000], profit: [0, 1, last]});
		return new Response(JSON.stringify({schema: 1, strategy: "accumulate", from_ms: at, to_ms: at + 120_000, later: 2, matched: 1, live_only: 1,
			backtest_only: 1, slippage_pct: 0.02, slippage_usdt: 0.01, sentence: "1 of 3 orders match between live trading and the backtest",
			pairs: [pair(live, backtest), pair({...live, order: "bmain-a-2"}, null), pair(null, backtest)], live_pnl: -1.5, backtest_pnl: 2, live_fees: 1,
			backtest_fees: 1, cash: 10000, live_curve: curve(-1.5), backtest_curve: curve(2)}), {status: 200, headers: {"Content-Type": "application/json"}});
	};
})();`

// TestLiveIsComparedWithBacktest opens a strategy's page: both profits are drawn, each order is listed with its slippage, and the fills
// of the backtest are in the candle chart. Stops far away become visible on request. The documents are pages of the same look.
func TestLiveIsComparedWithBacktest(t *testing.T) {
	t.Parallel()
	d := startSettled(t)
	v := openBrowser(t).open(d, dark)
	v.inject(compared)
	v.login(d.token("token"))
	for _, l := range []viewport{dark, {"laptop", "light", 1280, 800, false}, phone} {
		v.show(l)
		v.visit("/strategies/accumulate?view=parity")
		v.until("the sentence", `document.querySelector("main").innerText.includes("1 of 3 orders match between live trading and the backtest.")`)
		v.until("both profits", `document.querySelectorAll("[aria-label^='Profit of accumulate'] canvas").length > 0 &&
			/live.*−1\.50 USDT.*backtest.*\+2\.00 USDT/s.test(document.querySelector("[aria-label^='Profit of accumulate'] .legend").innerText)`)
		v.until("its orders", `(rows => rows.length === 3 && rows[0].innerText.includes("none") && rows.some(e => e.innerText.includes("−0.01")))(
			[...document.querySelectorAll("[aria-label='Orders live and in the backtest'] tbody tr")])`)
		v.accessible(l.name + " parity")
		v.fits(l.name + " parity")
		v.quiet(l.name + " parity")
	}
	v.shoot("parity")
	v.show(light)
	eval[bool](v, `([...document.querySelectorAll("button")].find(b => b.textContent === "Levels in view").click(), true)`)
	v.until("the levels are in view", `document.querySelector("[data-framed=true]") && [...document.querySelectorAll("button")].some(b =>
		b.textContent === "Candles alone" && b.ariaPressed === "true")`)
	for _, l := range []viewport{light, phone} {
		v.show(l)
		v.do(chromedp.Navigate(v.base + "/docs/backtest"))
		v.until("a document", `document.querySelector("article h1")?.textContent === "Backtests" && document.querySelectorAll("pre").length > 3`)
		v.accessible(l.name + " document")
		v.fits(l.name + " document")
		v.do(chromedp.SetValue(chromedp.CSS(".search input"), "stop loss"), chromedp.SendKeys(chromedp.CSS(".search input"), kb.Enter))
		v.until("passages are found", `document.querySelectorAll(".found a").length > 3`)
		v.accessible(l.name + " search")
		v.fits(l.name + " search")
		v.quiet(l.name + " document")
	}
}
