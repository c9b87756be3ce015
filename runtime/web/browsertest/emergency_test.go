package browsertest

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// manyOrders has a flatten cancel 200 orders and close 3 positions, and lists the 200 orders.
const manyOrders = `(() => {
	const real = window.fetch.bind(window);
	window.fetch = async (input, init) => {
		const path = new URL(input, location.href).pathname, answer = await real(input, init);
		const as = (content) => new Response(JSON.stringify(content), {status: 200, headers: {"Content-Type": "application/json"}});
		if (path === "/api/v1/risk/halt" && init.body.includes("dry_run")) {
			const all = await answer.json(), step = (action) => (_, i) => ({strategy: "levels", action, text: action + " number " + i + " of many"});
			return as({...all, steps: [...Array.from({length: 200}, step("cancel")), ...Array.from({length: 3}, step("exit"))]});
		}
		if (path !== "/api/v1/orders") return answer;
		const all = await answer.json();
		const widest = [{purpose: "take_profit", type: "TAKE_PROFIT_MARKET", reduce_only: true, quantity: "700000000", stop_price: "0.00000996", price: "0"},
			{purpose: "exit_order", type: "LIMIT", post_only: true, reduce_only: true, quantity: "1234567.89", price: "50123.4"}];
		return as({...all, items: Array.from({length: 200}, (_, i) => ({...all.items[i % all.items.length], client_order_id: "many-" + i,
			...widest[i % 20]}))});
	};
})();`

// TestTheEmergencyControlIsInReachWith200Orders measures its place at every size and on several pages, scrolled to their ends. It is
// on the screen, on a phone in the lower half, and stays in place with each step shown; it shows its effect in one line.
func TestTheEmergencyControlIsInReachWith200Orders(t *testing.T) {
	t.Parallel()
	d := startSettled(t)
	inside := func(selector string) string {
		return `(e => { if (!e) return false; const b = e.getBoundingClientRect();
			return b.width >= 40 && b.top >= 0 && b.left >= 0 && b.bottom <= innerHeight && b.right <= innerWidth;
			})(document.querySelector("` + selector + `"))`
	}
	for _, l := range []viewport{dark, {"laptop", "light", 1280, 720, false}, tablet, phone, small} {
		v := openBrowser(t).open(d, l)
		v.inject(manyOrders)
		v.login(d.token("token"))
		control := ".head .halt"
		if l.mobile {
			control = ".bottom .halt"
		}
		for _, path := range []string{"/", "/orders", "/risk"} {
			v.visit(path)
			v.until(l.name+path+": the control is in the screen", inside(control))
			eval[bool](v, `(scrollTo(0, document.body.scrollHeight), true)`)
			v.until(l.name+path+": the control stays in the screen", inside(control))
		}
		eval[bool](v, `(document.querySelector("`+control+`").click(), true)`)
		v.until(l.name+": it shows what it does",
			`document.querySelector("#emergency-what")?.textContent.startsWith("Flatten closes 3 positions and cancels 200 orders.")`)
		v.until(l.name+": one more action flattens", inside("#emergency-go")+` && document.activeElement.id === "emergency-go"`)
		v.shoot(l.name + " emergency")
		v.accessible(l.name + " emergency")
		eval[bool](v, `(document.querySelector("dialog.emergency details").open = true, true)`)
		v.until(l.name+": each step is shown", `document.querySelectorAll("#emergency-steps li").length === 203`)
		v.until(l.name+": the button is in the screen with each step shown", inside("#emergency-go"))
		at := eval[string](v, `(b => Math.round(b.top) + " to " + Math.round(b.bottom) + " of " + innerHeight)(
			document.querySelector("#emergency-go").getBoundingClientRect())`)
		t.Logf("%s: with 203 steps shown the button is at %s", l.name, at)
		if l.mobile && !eval[bool](v, `document.querySelector("#emergency-go").getBoundingClientRect().top > innerHeight / 2`) {
			t.Errorf("%s: want the button in the lower half of the screen, it is at %s", l.name, at)
		}
		v.fits(l.name + " emergency")
		v.quiet(l.name + " emergency")
	}
}

// TestTwoKeysFlatten presses ! and Enter.
func TestTwoKeysFlatten(t *testing.T) {
	t.Parallel()
	d := startSettled(t)
	v := d.enter(light)
	v.typeKeys("!")
	v.until("the button has the focus", `document.activeElement.id === "emergency-go"`)
	v.typeKeys(kb.Enter)
	d.until("everything is flat", func() bool {
		s := d.status()
		flat := s.Halted == "flatten" && s.Open == 0
		for _, one := range s.Strategies {
			flat = flat && strings.Trim(one.Position, "-0.") == ""
		}
		return flat
	})
	v.until("the page shows the halt", shows+`("Trading is halted: flatten")`)
	v.until("with the reason", shows+`("(emergency)")`)
	v.quiet("two keys")
}
