package browsertest

import (
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func quoted(text string) string { return strconv.Quote(text) }
func itoa(n int) string         { return strconv.Itoa(n) }

const shows = "document.body.innerText.includes"

// TestKillSwitchByKeyboardAlone previews all three levels, flattens the demo, and rearms it, without a
// pointer.
func TestKillSwitchByKeyboardAlone(t *testing.T) {
	t.Parallel()
	d := startSettled(t)
	v := d.enter(dark)
	v.visit("/risk")
	v.do(chromedp.Focus(chromedp.CSS("#halt-level-pause")))
	v.until("the first level has the focus", `document.activeElement.id === "halt-level-pause"`)
	v.until("a pause sends nothing", shows+`("Nothing: the newest read shows")`)
	before := d.status()

	v.typeKeys(kb.ArrowDown)
	v.until("a cancel names the orders",
		`document.querySelectorAll("#halt-steps li").length >= 3 && [...document.querySelectorAll("#halt-steps li")].every(li =>
			li.textContent.includes("cancel order"))`)
	v.typeKeys(kb.ArrowDown)
	v.until("a flatten names orders and positions",
		`!!document.querySelector("#halt-steps")?.textContent.includes("close by SELL MARKET 0.006 on futures BTC-USDT")`)
	if after := d.status(); after.Halted != "" || after.Open != before.Open || after.Positions != before.Positions {
		t.Fatalf("want a preview to change nothing: before %+v, after %+v", before, after)
	}
	if eval[bool](v, `!document.querySelector("#halt-engage").disabled`) {
		t.Error("want no halt without a reason")
	}
	v.shoot("kill switch preview")
	v.accessible("kill switch preview")

	v.typeKeys(kb.Tab + kb.Tab)
	v.until("the reason has the focus", `document.activeElement.id === "halt-reason"`)
	const reason = `<img src=x onerror="document.title='run'">`
	v.typeKeys(reason)
	v.until("the button is unlocked", `!document.querySelector("#halt-engage").disabled`)
	v.typeKeys(kb.Tab)
	v.until("the button has the focus", `document.activeElement.id === "halt-engage"`)
	v.typeKeys(kb.Enter)
	v.until("the page shows that trading is halted", shows+`("Trading is halted: flatten")`)
	d.until("everything is flat", func() bool {
		s := d.status()
		flat := s.Halted == "flatten" && s.Open == 0
		for _, one := range s.Strategies {
			flat = flat && strings.Trim(one.Position, "-0.") == ""
		}
		return flat
	})
	v.until("the reason is shown as text", shows+`("onerror=")`)
	if eval[bool](v, `document.querySelector("img") !== null || document.title === "run"`) {
		t.Error("want a reason shown as text, it became markup")
	}
	v.shoot("halted")
	v.accessible("halted")

	v.do(chromedp.Focus(chromedp.CSS(`[aria-label="Rearm the whole account"]`)))
	v.typeKeys(kb.Enter)
	v.until("a dialog asks", `!!document.querySelector("dialog[open]")?.textContent.includes("the halt of the account ends")`)
	v.accessible("rearm")
	v.shoot("rearm")
	v.typeKeys("enough" + kb.Enter)
	v.until("the banner is gone", "!"+shows+`("Trading is halted")`)
	if s := d.status(); s.Halted != "" {
		t.Errorf("want trading armed again, have %+v", s)
	}
	v.visit("/audit")
	v.until("the audit names both", shows+`("POST /api/v1/risk/halt") && `+shows+`("POST /api/v1/risk/rearm")`)
	v.quiet("kill switch")
}

// TestStrategyIsPausedAndResumed uses the buttons of a strategy's own page.
func TestStrategyIsPausedAndResumed(t *testing.T) {
	t.Parallel()
	d := startSettled(t)
	v := d.enter(light)
	v.visit("/strategies/levels")
	click := func(name string) {
		t.Helper()
		v.until("there is "+name, `[...document.querySelectorAll("button")].some(b => b.textContent === `+quoted(name)+` && !b.disabled)`)
		eval[bool](v, `([...document.querySelectorAll("button")].find(b => b.textContent === `+quoted(name)+`).click(), true)`)
	}
	click("Pause entries…")
	v.until("the dialog asks for a reason", `!!document.querySelector("dialog[open] button[type=submit]")?.disabled`)
	v.typeKeys("too wild")
	click("Pause entries")
	v.until("it is halted", `[...document.querySelectorAll(".page-head .tag")].some(t => t.textContent.includes("halted"))`)
	click("Resume…")
	v.until("the dialog shows what it does", `!!document.querySelector("dialog[open]")?.textContent.includes("the halt of the strategy levels ends")`)
	click("Resume")
	v.until("it runs again", `[...document.querySelectorAll(".page-head .tag")].some(t => t.textContent.includes("running"))`)
	click("Halt…")
	v.until("its own kill switch previews its own orders", `document.querySelectorAll("dialog[open] .preview").length === 1`)
	v.accessible("a strategy's kill switch")
	v.shoot("strategy halt")
	v.quiet("pause and resume")
}

// TestManualCancelAndClose cancels one order of a grid and closes one position, each after its
// preview; neither returns.
func TestManualCancelAndClose(t *testing.T) {
	t.Parallel()
	d := startSettled(t)
	v := d.enter(light)
	click := func(within, name string) {
		t.Helper()
		v.until("there is "+name,
			`[...document.querySelectorAll(`+quoted(within+" button")+`)].some(b => (b.ariaLabel ?? b.textContent).startsWith(`+quoted(name)+`) &&
				!b.disabled)`)
		eval[bool](v, `([...document.querySelectorAll(`+quoted(within+" button")+`)].find(b =>
			(b.ariaLabel ?? b.textContent).startsWith(`+quoted(name)+`)).click(), true)`)
	}
	asks := func(parts ...string) {
		t.Helper()
		for _, part := range parts {
			v.until("the dialog shows "+part,
				`!!document.querySelector("dialog[open] .preview") && document.querySelector("dialog[open]").textContent.includes(`+quoted(part)+`)`)
		}
		if eval[bool](v, `!document.querySelector("dialog[open] button[type=submit]").disabled`) {
			t.Error("want a reason asked for")
		}
		v.fits("the dialog")
	}

	v.visit("/orders")
	before := d.status()
	click("main", "Cancel all…")
	v.until("a preview names every opening order",
		`document.querySelectorAll("dialog[open] #halt-steps li").length >= 3 &&
			[...document.querySelectorAll("dialog[open] #halt-steps li")].every(li => li.textContent.includes("cancel order"))`)
	v.accessible("cancel all orders")
	v.shoot("light cancel all")
	v.typeKeys(kb.Escape)
	v.until("nothing was done", `!document.querySelector("dialog")`)
	click("main", "Cancel order ")
	v.until("a dialog asks", `!!document.querySelector("#dialog-title")`)
	id := eval[string](v, `document.querySelector("#dialog-title").textContent.replace("Cancel ", "")`)
	asks("levels: cancel order ", "strategy levels is halted at level pause", "botd rearm --strategy levels")
	v.accessible("cancel an order")
	v.shoot("light cancel an order")
	v.show(phone)
	v.shoot("phone cancel an order")
	v.accessible("cancel an order on a phone")
	v.show(light)
	if after := d.status(); after.Open != before.Open {
		t.Fatalf("want a preview to change nothing: before %+v, after %+v", before, after)
	}
	v.typeKeys("too near")
	click("dialog[open]", "Cancel the order")
	v.until("the order is gone", `!document.querySelector("main").textContent.includes(`+quoted(id)+`)`)
	v.until("its result is shown", shows+`("Cancel the order: 1 step in progress.")`)
	v.shoot("light orders after a cancel")

	v.visit("/positions")
	click("main", "Close the position BTC-USDT futures")
	asks("accumulate: close by SELL MARKET 0.006 on futures BTC-USDT", "strategy accumulate is halted at level flatten",
		"its plan currently desires long 0.006")
	v.accessible("close a position")
	v.shoot("light close a position")
	v.show(dark)
	v.shoot("dark close a position")
	v.show(phone)
	v.shoot("phone close a position")
	v.accessible("close a position on a phone")
	v.show(light)
	v.typeKeys("had enough" + kb.Enter)
	d.until("the position is closed", func() bool {
		for _, one := range d.status().Strategies {
			if one.Name == "accumulate" {
				return strings.Trim(one.Position, "-0.") == ""
			}
		}
		return false
	})
	v.until("the position is gone", `![...document.querySelectorAll("main h2")].some(h => h.textContent === "BTC-USDT futures")`)
	v.visit("/audit")
	v.until("the audit names both", shows+`("/api/v1/orders/`+id+`/cancel") && `+shows+`("/api/v1/positions/futures/BTC-USDT/close") && `+shows+`("too near")`)
	v.visit("/intents/" + id)
	v.until("the order's life cycle names who ended it", shows+`("too near")`)
	v.shoot("light life of a canceled order")
	if s := d.status(); s.Open != before.Open-2 { // the order, and the stop of the position
		t.Errorf("want %d orders left, have %+v", before.Open-2, s)
	}
	v.quiet("manual orders")
}

func TestViewerIsReadOnly(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	v := openBrowser(t).open(d, dark)
	v.login(d.token("token-viewer"))
	v.visit("/risk")
	v.until("the viewer is informed", shows+`("only an operator can halt")`)
	if eval[bool](v, `!document.querySelector("#halt-engage").disabled || !document.querySelector("#halt-reason").disabled`) {
		t.Error("want the switch locked for a viewer")
	}
	d.settle()
	for _, path := range []string{"/orders", "/positions"} {
		v.visit(path)
		if have := eval[int](v, `document.querySelectorAll("main .button.small").length`); have != 0 {
			t.Errorf("%s: want no buttons for a viewer, have %d", path, have)
		}
	}
	v.visit("/strategies/hold")
	if have := eval[int](v, `document.querySelectorAll(".page-head .button").length`); have != 0 {
		t.Errorf("want no buttons for a viewer, have %d", have)
	}
	v.forget()
}
