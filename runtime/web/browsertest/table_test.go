package browsertest

import "testing"

// TestNoTableIsClipped expects every table within its panel, and each row on one line, on a laptop of 1280 px and on a screen of 1440
// px, with 200 orders, which are sorted and filtered. On a phone 200 orders take at most three screens until more are requested.
func TestNoTableIsClipped(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	d.backtests()
	d.settle()
	for _, l := range []viewport{{"laptop", "light", 1280, 800, false}, {"desktop", "dark", 1440, 900, false}} {
		v := openBrowser(t).open(d, l)
		v.inject(manyOrders)
		v.login(d.token("token"))
		for path := range everyPage(d) {
			v.visit(path)
			if over := eval[string](v, `[...document.querySelectorAll("main .scroll")].filter(e => e.scrollWidth > e.clientWidth).map(e =>
				e.ariaLabel + " by " + (e.scrollWidth - e.clientWidth)).join()`); over != "" {
				t.Errorf("%s %s: want no table clipped, have %s", l.name, path, over)
			}
			if tall := eval[string](v, `[...document.querySelectorAll("main .stack tbody tr")].filter(e => e.getBoundingClientRect().height > 46).map(e =>
				e.closest("table").caption.textContent + ": " + e.innerText.slice(0, 120)).slice(0, 2).join()`); tall != "" {
				t.Errorf("%s %s: want one line a row, have %s", l.name, path, tall)
			}
			v.quiet(l.name + " " + path)
		}
	}
	v := openBrowser(t).open(d, phone)
	v.inject(manyOrders)
	v.login(d.token("token"))
	v.visit("/orders")
	v.short("/orders", phone)
	v.until("a line sums them up", shows+`("200 orders: ")`)
	v.until("a row is two or three lines", `[...document.querySelectorAll("main tbody tr")].every(e => e.getBoundingClientRect().height <= 120)`)
	v.shoot("phone 200 orders")
	eval[bool](v, `([...document.querySelectorAll("tfoot button")].find(b => b.textContent === "Show all 200").click(), true)`)
	v.until("all are shown", `document.querySelectorAll("tbody tr").length === 200`)
	v.show(dark)
	const column = `[...document.querySelectorAll("tbody tr")].map(e => Number(e.querySelector("[data-label=Price]").textContent.replaceAll(",", "")) || 0)`
	for _, order := range []string{"a >= b", "a <= b"} {
		eval[bool](v, `([...document.querySelectorAll("th button")].find(b => b.textContent.startsWith("Price")).click(), true)`)
		v.until("sorted: "+order, `(all => all.length === 200 && all.slice(1).every((b, i) => (a => `+order+`)(all[i])))(`+column+`)`)
	}
	v.accessible("sorted orders")
	eval[bool](v, `(e => { e.value = "btc-usdt"; e.dispatchEvent(new Event("input", {bubbles: true})); return true; })(
		document.querySelector("[aria-label='Filter Orders']"))`)
	v.until("filtered",
		`(all => all.length > 0 && all.length < 200 && all.every(e => e.textContent.includes("BTC-USDT")))([...document.querySelectorAll("tbody tr")])`)
	v.shoot("filtered orders")
	v.quiet("200 orders")
}
