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

const says = "document.body.innerText.includes"

// TestKillSwitchByKeyboardAlone previews all three levels, flattens the demo, and
// arms it again, without a pointer.
func TestKillSwitchByKeyboardAlone(t *testing.T) {
	t.Parallel()
	findBrowser(t)
	d := startDaemon(t)
	d.settle()
	v := openBrowser(t).open(d, dark)
	v.login(d.token("token"))
	v.press("!")
	v.until("the first level has the focus", `document.activeElement.id === "halt-level-pause"`)
	v.until("a pause sends nothing", says+`("Nothing: no order has to be canceled")`)
	before := d.status()

	v.press(kb.ArrowDown)
	v.until("a cancel names the orders", `document.querySelectorAll("#halt-steps li").length >= 3 && [...document.querySelectorAll("#halt-steps li")].every(li => li.textContent.includes("cancel order"))`)
	v.press(kb.ArrowDown)
	v.until("a flatten names orders and positions", `!!document.querySelector("#halt-steps")?.textContent.includes("close by SELL MARKET 0.006 on futures BTC-USDT")`)
	if after := d.status(); after.Halted != "" || after.Open != before.Open || after.Positions != before.Positions {
		t.Fatalf("want a preview to change nothing: before %+v, after %+v", before, after)
	}
	if eval[bool](v, `!document.querySelector("#halt-engage").disabled`) {
		t.Error("want no halt without a reason")
	}
	v.shoot("kill switch preview")
	v.accessible("kill switch preview")

	v.press(kb.Tab + kb.Tab)
	v.until("the reason has the focus", `document.activeElement.id === "halt-reason"`)
	const reason = `<img src=x onerror="document.title='run'">`
	v.press(reason)
	v.until("the button is unlocked", `!document.querySelector("#halt-engage").disabled`)
	v.press(kb.Tab)
	v.until("the button has the focus", `document.activeElement.id === "halt-engage"`)
	v.press(kb.Enter)
	v.until("the page says that trading is halted", says+`("Trading is halted: flatten")`)
	d.until("everything is flat", func() bool {
		s := d.status()
		flat := s.Halted == "flatten" && s.Open == 0
		for _, one := range s.Strategies {
			flat = flat && strings.Trim(one.Position, "-0.") == ""
		}
		return flat
	})
	v.until("the reason is shown as text", says+`("onerror=")`)
	if eval[bool](v, `document.querySelector("img") !== null || document.title === "run"`) {
		t.Error("want a reason shown as text, it became markup")
	}
	v.shoot("halted")
	v.accessible("halted")

	v.do(chromedp.Focus(chromedp.CSS(`[aria-label="Re-arm the whole account"]`)))
	v.press(kb.Enter)
	v.until("a dialog asks", `!!document.querySelector("dialog[open]")?.textContent.includes("the halt of the account ends")`)
	v.accessible("re-arm")
	v.shoot("re-arm")
	v.press("enough" + kb.Enter)
	v.until("the banner is gone", "!"+says+`("Trading is halted")`)
	if s := d.status(); s.Halted != "" {
		t.Errorf("want trading armed again, have %+v", s)
	}
	v.visit("/audit")
	v.until("the audit names both", says+`("POST /api/v1/risk/halt") && `+says+`("POST /api/v1/risk/rearm")`)
	v.quiet("kill switch")
}

// TestStrategyIsPausedAndResumed uses the buttons of a strategy's own page.
func TestStrategyIsPausedAndResumed(t *testing.T) {
	t.Parallel()
	findBrowser(t)
	d := startDaemon(t)
	d.settle()
	v := openBrowser(t).open(d, light)
	v.login(d.token("token"))
	v.visit("/strategies/levels")
	click := func(name string) {
		t.Helper()
		v.until("there is "+name, `[...document.querySelectorAll("button")].some(b => b.textContent === `+quoted(name)+` && !b.disabled)`)
		eval[bool](v, `([...document.querySelectorAll("button")].find(b => b.textContent === `+quoted(name)+`).click(), true)`)
	}
	click("Pause entries…")
	v.until("the dialog asks for a reason", `!!document.querySelector("dialog[open] button[type=submit]")?.disabled`)
	v.press("too wild")
	click("Pause entries")
	v.until("it is halted", `[...document.querySelectorAll(".page-head .tag")].some(t => t.textContent.includes("halted"))`)
	click("Resume…")
	v.until("the dialog says what it does", `!!document.querySelector("dialog[open]")?.textContent.includes("the halt of the strategy levels ends")`)
	click("Resume")
	v.until("it runs again", `[...document.querySelectorAll(".page-head .tag")].some(t => t.textContent.includes("running"))`)
	click("Halt…")
	v.until("its own kill switch previews its own orders", `document.querySelectorAll("dialog[open] .preview").length === 1`)
	v.accessible("a strategy's kill switch")
	v.shoot("strategy halt")
	v.quiet("pause and resume")
}

func TestViewerSeesAndChangesNothing(t *testing.T) {
	t.Parallel()
	findBrowser(t)
	d := startDaemon(t)
	v := openBrowser(t).open(d, dark)
	v.login(d.token("token-viewer"))
	v.visit("/risk")
	v.until("the viewer is told", says+`("only an operator can halt")`)
	if eval[bool](v, `!document.querySelector("#halt-engage").disabled || !document.querySelector("#halt-reason").disabled`) {
		t.Error("want the switch locked for a viewer")
	}
	v.visit("/strategies/hold")
	if have := eval[int](v, `document.querySelectorAll(".page-head .button").length`); have != 0 {
		t.Errorf("want no buttons for a viewer, have %d", have)
	}
	v.forget()
}
