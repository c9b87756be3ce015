package browsertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestASweepIsStartedCanceledResumedAndItsTrialOpened uses only the page.
func TestASweepIsStartedCanceledResumedAndItsTrialOpened(t *testing.T) {
	t.Parallel()
	d := startDaemonWith(t, map[string]string{"strategies/cross.yaml": "name: cross\nstrategy: sma_cross\nmarket: futures\nsymbol: SOL-USDT\ninterval: 1h\n" +
		"leverage: 2\nsize: {equity: 10%}\nparams: {fast: 5, slow: 40}\n"})
	d.record("SOL-USDT", "1h")
	d.settle()
	v := d.enter(light)
	v.visit("/sweeps")
	v.until("there is none", shows+`("No sweeps yet")`)
	v.do(chromedp.Click(chromedp.CSS("#sweep-open")))
	fill := func(id, value string) {
		t.Helper()
		eval[bool](v, `(() => { const s = document.querySelector("#`+id+`"); s.value = `+quoted(value)+`; s.dispatchEvent(new Event(s.localName ===
			"select" ? "change" : "input", {bubbles: true})); return true; })()`)
	}
	previews := func(part string) {
		t.Helper()
		v.until("the preview shows "+part, `!!document.querySelector(".switch .preview")?.textContent.includes(`+quoted(part)+`)`)
	}
	v.until("there is a form", `!!document.querySelector("#sweep-strategy")`)
	fill("sweep-strategy", "cross")
	previews("Enter at least one parameter to vary.")
	fill("sweep-vary", "fst=1,2")
	previews(`takes no parameter "fst"`)
	fill("sweep-vary", "fast=2..60\nslow=61..200\nprotect.stop_loss=1%..9%")
	previews("a grid needs values or a step")
	fill("sweep-search", "tpe")
	fill("sweep-trials", "10000") // more than it makes before it is canceled
	fill("sweep-name", "../../out")
	previews("want letters, digits")
	fill("sweep-name", "first")
	previews("tpe search, ranked by sharpe, at most 10000 trials")
	v.forget() // the refused requests
	eval[bool](v, `(document.querySelector("details.params").open = true)`)
	for _, l := range []viewport{light, dark, phone, small} {
		v.show(l)
		v.fits("the form, " + l.name)
		v.accessible("the form, " + l.name)
		v.shoot(l.name + " sweep form")
	}
	v.show(light)
	v.do(chromedp.Focus(chromedp.CSS("#sweep-start")))
	v.typeKeys(kb.Enter)
	v.until("it is listed", `!!document.querySelector('a[href="/sweeps/first"]')`)
	v.visit("/sweeps/first")
	v.until("its progress grows", `Number(document.querySelector("[role=progressbar]")?.ariaValueNow) >= 2`)
	v.accessible("a sweep under way")
	v.shoot("light sweep under way")
	eval[bool](v, `(document.querySelector('[aria-label="Cancel the sweep first"]').click(), true)`)
	v.until("it is interrupted", `!!document.querySelector("#sweep-resume") && `+shows+`("canceled by a person")`)
	v.until("its page is shown", `!!document.querySelector("iframe")?.src.endsWith("/api/v1/sweeps/first/report")`)
	for _, l := range []viewport{light, phone, small} {
		v.show(l)
		v.fits("a sweep, " + l.name)
		v.shoot(l.name + " sweep")
	}
	v.show(light)
	v.accessible("an interrupted sweep")

	// The frame has no origin, so a link in it asks the dashboard by a message. Nonsense is ignored, and so is another
	// sender.
	row, err := os.ReadFile(filepath.Join(d.directory, "data", "sweeps", "first", "trials.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	_, job, _ := strings.Cut(string(row), `"job_sha256":"`)
	job = job[:64]
	v.until("its page has come", `!!document.querySelector("iframe").dataset.shown`)
	eval[bool](v, `(() => { for (const trial of ["../../x", 7, null, `+quoted(job[:63])+`]) dispatchEvent(new MessageEvent("message", {data: {trial}, source:
		document.querySelector("iframe").contentWindow})); dispatchEvent(new MessageEvent("message", {data: {trial: `+quoted(job)+`}, source: window}));
		document.querySelector("iframe").focus(); return true; })()`)
	const ready = `!!document.querySelector('a[href^="/api/v1/backtests/first-"]')`
	for pressed := 0; pressed < 60 && !eval[bool](v, ready+` || `+shows+`("Running the trial again")`); pressed++ { // past links, scrolled tables and buttons
		v.typeKeys(kb.Tab)
		v.typeKeys(kb.Enter)
	}
	v.until("the trial's report is ready", ready)
	v.forget() // from a second trial, while the first one ran
	eval[bool](v, `(document.querySelector("#sweep-resume").click(), true)`)
	v.until("it goes on", `!!document.querySelector('[aria-label="Cancel the sweep first"]')`)
	eval[bool](v, `(document.querySelector('[aria-label="Cancel the sweep first"]').click(), true)`)
	v.until("it is interrupted again", `!!document.querySelector("#sweep-resume")`)
	v.visit("/audit")
	v.until("the audit names what was done",
		shows+`("Start a sweep") && `+shows+`("Cancel a sweep") && `+shows+`("Report a trial") && `+shows+`("Resume a sweep")`)
	v.quiet("sweeps")
	if entries, err := os.ReadDir(filepath.Join(d.directory, "data", "backtests")); err != nil || len(entries) != 1 {
		t.Errorf("want one report and nothing half done, have %v, %v", entries, err)
	}

	viewer := openBrowser(t).open(d, dark)
	viewer.login(d.token("token-viewer"))
	viewer.visit("/sweeps/first")
	viewer.until("a viewer sees it", `!!document.querySelector("iframe")`)
	if eval[bool](viewer, `!!document.querySelector("#sweep-resume")`) {
		t.Error("want no way to resume it for a viewer")
	}
	viewer.visit("/sweeps?new=1")
	if eval[bool](viewer, `!!document.querySelector("#sweep-open, #sweep-start")`) {
		t.Error("want no way to start one for a viewer")
	}
}
