package browsertest

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Bounds of a page: what it weighs on the wire, and when it is ready.
const (
	maxBytes = 150 << 10
	maxReady = time.Second
)

// everyPage are the addresses, and something each must say.
func everyPage(d *daemon) map[string]string {
	var orders struct {
		Items []struct {
			ID string `json:"client_order_id"`
		}
	}
	d.ask("GET", "/api/v1/orders?state=all&strategy=accumulate&limit=1", "", &orders)
	return map[string]string{
		"/": "Nothing needs you", "/strategies": "levels", "/strategies/accumulate": "Decisions", "/strategies/levels?view=orders": "Working orders", "/orders": "Working", "/orders?view=fills": "Mean price", "/orders?view=ended": "filled",
		"/intents": "Outcome", "/intents/" + orders.Items[0].ID: "Checked, rule by rule", "/positions": "The journal explains", "/risk": "Kill switch", "/reconcile": "Exchange and journal agree",
		"/market": "Price tick", "/market/futures/BTC-USDT": "Order book", "/market/spot/SOL-USDT": "Trades", "/logs": "daemon.started", "/settings": "Configuration in force", "/audit": "start", "/nowhere": "There is no page",
	}
}

// TestEveryPage opens each page in each look: it says what it is for, complains
// about nothing, asks nobody else, is light and quick, does not scroll sideways,
// and axe finds nothing.
func TestEveryPage(t *testing.T) { // not in parallel: it measures
	findBrowser(t)
	d := startDaemon(t)
	d.settle()
	for _, l := range []look{dark, light, phone, small} {
		t.Run(l.name, func(t *testing.T) {
			v := openBrowser(t).open(d, l)
			v.login(d.token("token"))
			v.forget()
			for path, says := range everyPage(d) {
				took, weight := v.visit(path)
				for try := 0; took > maxReady && try < 3; try++ { // a machine may be busy with something else
					took, weight = v.visit(path)
				}
				t.Logf("%-5s %-34s %6d bytes  ready in %s", l.name, path, weight, took.Round(time.Millisecond))
				if weight > maxBytes {
					t.Errorf("%s: want at most %d bytes, have %d", path, maxBytes, weight)
				}
				if took > maxReady {
					t.Errorf("%s: want it ready within %s, have %s", path, maxReady, took)
				}
				v.until(path+" says "+says, `document.body.textContent.includes(`+quoted(says)+`)`)
				if over := eval[int](v, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
					t.Errorf("%s: %d px scroll sideways", path, over)
				}
				if l.mobile {
					if have := eval[bool](v, `(() => { const box = document.querySelector(".halt").getBoundingClientRect(); return box.top >= 0 && box.right <= innerWidth && box.height >= 40; })()`); !have {
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

// TestTwentyThousandCandles has a chart with all of them within a second.
func TestTwentyThousandCandles(t *testing.T) { // not in parallel: it measures
	findBrowser(t)
	d := startDaemon(t)
	v := openBrowser(t).open(d, dark)
	v.login(d.token("token"))
	best := time.Hour
	for range 4 { // the first fills what botd keeps of the exchange's answers
		took, weight := v.visit("/market/futures/BTC-USDT?candles=20000")
		t.Logf("20,000 candles: %d bytes, ready in %s", weight, took.Round(time.Millisecond))
		best = min(best, took)
		if have := eval[int](v, `Number(document.querySelector(".panel[aria-labelledby=p-candles] .note").textContent.replaceAll(",", "").match(/\d+/)[0])`); have < 20_000 {
			t.Errorf("want 20000 candles, have %d", have)
		}
	}
	if best > maxReady {
		t.Errorf("want 20000 candles within %s, have %s", maxReady, best)
	}
	if drawn := eval[bool](v, `[...document.querySelectorAll(".host canvas")].some(c => { const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data; const seen = new Set(); for (let i = 0; i < d.length; i += 400) seen.add(d[i] + "," + d[i+1] + "," + d[i+2]); return seen.size > 3; })`); !drawn {
		t.Error("want candles drawn, the canvas is empty")
	}
	v.quiet("candles")
	v.shoot("candles 20000")
}

// TestChartsReadBackWithoutEnd scrolls a chart beyond what was read first.
func TestChartsReadBackWithoutEnd(t *testing.T) {
	t.Parallel()
	findBrowser(t)
	d := startDaemon(t)
	v := openBrowser(t).open(d, dark)
	v.login(d.token("token"))
	v.visit("/market/futures/BTC-USDT")
	const count = `Number(document.querySelector(".panel[aria-labelledby=p-candles] .note").textContent.replaceAll(",", "").match(/\d+/)[0])`
	first := eval[int](v, count)
	for range 3 {
		before := eval[int](v, count)
		for range 20 { // drags the candles to the right
			v.do(chromedp.DragAndDropXY(400, 500, 1200, 500, 4))
			if eval[int](v, count) > before {
				break
			}
		}
		v.until("older candles are read", count+" > "+itoa(before))
	}
	if have := eval[int](v, count); have <= first {
		t.Errorf("want more than %d candles after scrolling back, have %d", first, have)
	}
	v.quiet("scrolling back")
}
