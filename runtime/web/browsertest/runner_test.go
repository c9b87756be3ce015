package browsertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// record puts candles into the daemon's data directory.
func (d *daemon) record(symbol, interval string) {
	d.t.Helper()
	binary, err := build()
	if err != nil {
		d.t.Fatal(err)
	}
	command := exec.Command(binary, "data", "generate", "--symbol", symbol, "--interval", interval, "--candles", "6000", "--seed", "3", "--out",
		filepath.Join("data", "candles", "futures", symbol, interval+".csv"))
	command.Dir = d.directory
	if output, err := command.CombinedOutput(); err != nil {
		d.t.Fatalf("data generate: %v\n%s", err, output)
	}
}

// TestBacktestIsStartedFollowedCanceledAndCompared uses only the page.
func TestBacktestIsStartedFollowedCanceledAndCompared(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	d.backtests()
	d.record("ETH-USDT", "1m")
	d.settle()
	v := d.enter(light)
	v.visit("/backtests")
	v.do(chromedp.Click(chromedp.CSS("#backtest-open")))
	choose := func(id, value string) {
		t.Helper()
		v.until("there is "+value, `[...document.querySelectorAll("#`+id+` option")].some(o => o.value === `+quoted(value)+`)`)
		eval[bool](v, `(() => { const s = document.querySelector("#`+id+`"); s.value = `+quoted(value)+`; s.dispatchEvent(new Event("change",
			{bubbles: true})); return true; })()`)
	}
	fill := func(id, value string) {
		t.Helper()
		eval[bool](v, `(() => { const s = document.querySelector("#`+id+`"); s.value = `+quoted(value)+`; s.dispatchEvent(new Event("input",
			{bubbles: true})); return true; })()`)
	}
	previews := func(part string) {
		t.Helper()
		v.until("the preview shows "+part, `!!document.querySelector(".switch .preview")?.textContent.includes(`+quoted(part)+`)`)
	}

	// A long backtest over an invented market is canceled while it runs.
	choose("backtest-strategy", "levels")
	fill("backtest-candles", "2000000")
	previews("candles 2000000: from 1 to 1000000")
	fill("backtest-candles", "1000000")
	fill("backtest-name", "../../out")
	previews("want letters, digits")
	fill("backtest-name", "long")
	previews("runs levels (grid) on futures ETH-USDT, 1m candles, over 1000000 candles of a made-up market (seed 1)")
	v.forget() // the refused requests
	eval[bool](v, `(document.querySelector("details.params").open = true)`)
	for _, l := range []viewport{light, dark, phone, small} {
		v.show(l)
		v.fits("the form, " + l.name)
		v.accessible("the form, " + l.name)
		v.shoot(l.name + " backtest form")
	}
	v.show(light)
	v.do(chromedp.Focus(chromedp.CSS("#backtest-start")))
	v.typeKeys(kb.Enter)
	v.until("it runs, and its progress grows", `Number(document.querySelector("[role=progressbar]")?.ariaValueNow) >= 2`)
	v.accessible("a backtest under way")
	v.shoot("light backtest under way")
	v.show(phone)
	v.shoot("phone backtest under way")
	v.show(light)
	if eval[bool](v, `!document.querySelector("#backtest-start").disabled`) {
		t.Error("want no second one while one runs")
	}
	eval[bool](v, `(document.querySelector('[aria-label="Cancel the backtest long"]').click(), true)`)
	v.until("it is canceled", `!document.querySelector("[role=progressbar]") && `+shows+`("canceled by a person")`)

	// A backtest over recorded candles has another parameter, and its report is compared.
	choose("backtest-file", "candles/futures/ETH-USDT/1m.csv")
	fill("backtest-from", "2024-01-02")
	fill("backtest-param-lines", "12")
	fill("backtest-name", "mine")
	previews("over candles/futures/ETH-USDT/1m.csv from 2024-01-02 00:00")
	previews("with lines = 12")
	v.do(chromedp.Focus(chromedp.CSS("#backtest-start")))
	v.typeKeys(kb.Enter)
	v.until("its report is among the others", `!!document.querySelector('[aria-label="Compare mine"]')?.checked`)
	v.accessible("a backtest done")
	v.shoot("light backtest done")
	eval[bool](v, `(document.querySelector('[aria-label="Compare quick"]').click(), true)`)
	v.until("two are chosen", `[...document.querySelectorAll("button")].some(b => b.textContent === "Compare 2" && !b.disabled)`)
	eval[bool](v, `([...document.querySelectorAll("button")].find(b => b.textContent === "Compare 2").click(), true)`)
	v.until("both are compared", `document.body.dataset.ready === "compare" && `+shows+`("Differences") && `+shows+`("params.lines")`)
	v.accessible("compared")
	v.shoot("light backtests compared")
	v.visit("/audit")
	v.until("the audit names who ran and canceled", shows+`("POST /api/v1/backtests") && `+shows+`("/api/v1/backtests/runs/long/cancel")`)
	v.quiet("backtests")
	if entries, err := os.ReadDir(filepath.Join(d.directory, "data", "backtests")); err != nil || len(entries) != 3 {
		t.Errorf("want three reports and nothing half done, have %v, %v", entries, err)
	}

	viewer := openBrowser(t).open(d, dark)
	viewer.login(d.token("token-viewer"))
	viewer.visit("/backtests?new=1")
	if eval[bool](viewer, `!!document.querySelector("#backtest-open, #backtest-start")`) {
		t.Error("want no way to start one for a viewer")
	}
	if text := eval[string](viewer, `document.body.innerText`); !strings.Contains(text, "mine") {
		t.Errorf("want the viewer see the reports, have %.500s", text)
	}
}
