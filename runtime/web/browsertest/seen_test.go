package browsertest

import (
	"fmt"
	"testing"
	"time"
)

// TestSinceTheLastVisit returns after an hour: the overview lists what happened since, until it is marked as
// seen.
func TestSinceTheLastVisit(t *testing.T) {
	t.Parallel()
	d := startSettled(t)
	v := openBrowser(t).open(d, dark)
	v.login(d.token("token"))
	start, err := time.Parse(time.RFC3339, marketStart)
	if err != nil {
		t.Fatal(err)
	}
	v.until("this visit is recorded, at the exchange's time",
		fmt.Sprintf(`(at => at > %d && at < %d)(JSON.parse(localStorage.getItem("botd.seen.main.demo"))?.at)`, start.UnixMilli(),
			start.Add(time.Hour).UnixMilli()))
	if eval[bool](v, shows+`("Since your last visit")`) {
		t.Error("want nothing compared at the first visit")
	}
	v.visit("/")
	if eval[bool](v, shows+`("Since your last visit")`) {
		t.Error("want nothing compared a moment later")
	}
	v.inject(fmt.Sprintf(`if (!sessionStorage.getItem("back")) { sessionStorage.setItem("back", "1"); localStorage.setItem("botd.seen.main.demo",
		JSON.stringify({at: %d, equity: "15000"})); }`, start.Add(-time.Hour).UnixMilli()))
	v.visit("/")
	v.until("it is shown",
		shows+`("Since your last visit") && /Fills\s*\d+: /.test(document.querySelector(".since").innerText) &&
			/\+\d,\d\d\d\.\d\d/.test(document.querySelector(".since").innerText)`)
	for _, l := range []viewport{dark, light, phone, small} {
		v.show(l)
		v.fits("since, " + l.name)
		v.accessible("since, " + l.name)
		v.shoot(l.name + " since")
	}
	eval[bool](v, `([...document.querySelectorAll("main button")].find(b => b.textContent === "Dismiss").click(), true)`)
	v.until("it is gone", `!`+shows+`("Since your last visit")`)
	v.quiet("since")
}

// TestNothingConfigured uses a botd without a strategy: it shows how to start.
func TestNothingConfigured(t *testing.T) {
	t.Parallel()
	d := startDaemonWith(t, map[string]string{"strategies/accumulate.yaml": "", "strategies/levels.yaml": "", "strategies/hold.yaml": ""})
	v := openBrowser(t).open(d, dark)
	v.login(d.token("token"))
	for path, text := range map[string]string{"/": "botd init", "/strategies": "No strategy is configured", "/positions": "No position is open",
		"/risk": "Kill switch", "/backtests?new=1": "No strategy is configured", "/orders": "No order is working"} {
		v.visit(path)
		v.until(path+" shows "+text, shows+`(`+quoted(text)+`)`)
		for _, l := range []viewport{dark, light, phone} {
			v.show(l)
			v.fits("nothing " + l.name + " " + path)
			v.accessible("nothing " + l.name + " " + path)
			v.shoot("nothing " + l.name + " " + path)
		}
	}
	v.quiet("nothing configured")
}

// TestExchangeResponses opens the list under Health.
func TestExchangeResponses(t *testing.T) {
	t.Parallel()
	d := startSettled(t)
	v := openBrowser(t).open(d, dark)
	v.login(d.token("token"))
	eval[bool](v, `([...document.querySelectorAll("summary")].find(s => s.textContent.startsWith("Exchange responses")).click(), true)`)
	v.until("each kind of request is listed",
		`[...document.querySelectorAll("[aria-label='Exchange responses'] tbody tr")].some(r => /^tickerfutures.*no failures\d+none/.test(r.textContent))`)
	for _, l := range []viewport{light, phone} {
		v.show(l)
		v.fits("answers, " + l.name)
		v.accessible("answers, " + l.name)
	}
	v.quiet("answers")
}
