package browsertest

import (
	"fmt"
	"testing"
	"time"
)

// TestSinceOneLastLooked comes back after an hour: the overview says what came
// since, until it is told that it was seen.
func TestSinceOneLastLooked(t *testing.T) {
	t.Parallel()
	d := startSettled(t)
	v := openBrowser(t).open(d, dark)
	v.login(d.token("token"))
	start, err := time.Parse(time.RFC3339, marketStart)
	if err != nil {
		t.Fatal(err)
	}
	v.until("this look is remembered, at the exchange's time", fmt.Sprintf(`(at => at > %d && at < %d)(JSON.parse(localStorage.getItem("botd.seen.main.demo"))?.at)`, start.UnixMilli(), start.Add(time.Hour).UnixMilli()))
	if eval[bool](v, says+`("Since you last looked")`) {
		t.Error("want nothing compared at the first look")
	}
	v.visit("/")
	if eval[bool](v, says+`("Since you last looked")`) {
		t.Error("want nothing compared a moment later")
	}
	v.inject(fmt.Sprintf(`if (!sessionStorage.getItem("back")) { sessionStorage.setItem("back", "1"); localStorage.setItem("botd.seen.main.demo", JSON.stringify({at: %d, equity: "15000"})); }`, start.Add(-time.Hour).UnixMilli()))
	v.visit("/")
	v.until("it is told", says+`("Since you last looked") && /Fills\s*\d+: /.test(document.querySelector(".since").innerText) && /\+\d,\d\d\d\.\d\d/.test(document.querySelector(".since").innerText)`)
	for _, l := range []look{dark, light, phone, small} {
		v.show(l)
		v.fits("since, " + l.name)
		v.accessible("since, " + l.name)
		v.shoot(l.name + " since")
	}
	eval[bool](v, `([...document.querySelectorAll("main button")].find(b => b.textContent === "Seen").click(), true)`)
	v.until("it is gone", `!`+says+`("Since you last looked")`)
	v.quiet("since")
}

// TestNothingConfigured has a botd without a strategy: it says how to begin.
func TestNothingConfigured(t *testing.T) {
	t.Parallel()
	d := startDaemonWith(t, map[string]string{"strategies/accumulate.yaml": "", "strategies/levels.yaml": "", "strategies/hold.yaml": ""})
	v := openBrowser(t).open(d, dark)
	v.login(d.token("token"))
	for path, text := range map[string]string{"/": "botd init", "/strategies": "No strategy is configured", "/positions": "No position is open", "/risk": "Kill switch", "/backtests?new=1": "No strategy is configured", "/orders": "No order is working"} {
		v.visit(path)
		v.until(path+" says "+text, says+`(`+quoted(text)+`)`)
		for _, l := range []look{dark, light, phone} {
			v.show(l)
			v.fits("nothing " + l.name + " " + path)
			v.accessible("nothing " + l.name + " " + path)
			v.shoot("nothing " + l.name + " " + path)
		}
	}
	v.quiet("nothing configured")
}

// TestHowTheExchangeAnswers opens the list under Health.
func TestHowTheExchangeAnswers(t *testing.T) {
	t.Parallel()
	d := startSettled(t)
	v := openBrowser(t).open(d, dark)
	v.login(d.token("token"))
	eval[bool](v, `([...document.querySelectorAll("summary")].find(s => s.textContent.startsWith("How the exchange answers")).click(), true)`)
	v.until("each kind of request is listed", `[...document.querySelectorAll("[aria-label='How the exchange answers'] tbody tr")].some(r => /^tickerfutures.*all well\d+none/.test(r.textContent))`)
	for _, l := range []look{light, phone} {
		v.show(l)
		v.fits("answers, " + l.name)
		v.accessible("answers, " + l.name)
	}
	v.quiet("answers")
}
