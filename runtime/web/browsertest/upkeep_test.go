package browsertest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// inspect checks the current page against its bounds in each look.
func (v *tab) inspect(name string) {
	v.t.Helper()
	for _, l := range []viewport{light, phone, small, dark} {
		v.show(l)
		v.fits(l.name + " " + name)
		v.accessible(l.name + " " + name)
		v.shoot(l.name + " " + name)
	}
	v.quiet(name)
}

// TestRoundTripsAndPastPositions has a position closed while its page is open: the round trip appears, also
// among the closed positions.
func TestRoundTripsAndPastPositions(t *testing.T) {
	t.Parallel()
	d := startSettled(t)
	v := d.enter(dark)
	v.visit("/strategies/accumulate?view=trades")
	v.until("there is none yet", shows+`("No closed round trips")`)
	d.ask("POST", "/api/v1/positions/futures/BTC-USDT/close", `{"reason": "enough"}`, nil)
	v.until("the round trip is shown",
		`(() => { const row = document.querySelector("[role=tabpanel] tbody tr"); return !!row && ["LONG", "exit", "→"].every(text =>
			row.textContent.includes(text)); })()`)
	v.until("its cost is shown",
		`/^1 round trip: [01] won, [01] lost, net .*USDT after \d+\.\d\d fees/.test(document.querySelector("[role=tabpanel] .note").textContent)`)
	v.inspect("trades")
	_, weight := v.visit("/positions")
	if weight > maxBytes {
		t.Errorf("/positions: want at most %d bytes, have %d", maxBytes, weight)
	}
	v.until("the position is over",
		`[...document.querySelectorAll("[aria-labelledby=p-closed] tbody tr")].some(row => row.textContent.includes("BTC-USDT") &&
			row.textContent.includes("accumulate"))`)
	v.inspect("past positions")
	v.do(chromedp.Click(chromedp.CSS("[aria-labelledby=p-closed] tbody a[href*=view]")), ready)
	v.until("its strategy's round trips are a step away", `location.pathname === "/strategies/accumulate" && `+shows+`("1 round trip: ")`)
	v.visit("/reconcile")
	v.until("no difference is shown", shows+`("No differences")`)
	v.inspect("differences")
}

// TestRefusedIntentsAreListed uses a strategy whose entry a rule refuses.
func TestRefusedIntentsAreListed(t *testing.T) {
	t.Parallel()
	d := startDaemonWith(t,
		map[string]string{"strategies/large.yaml": "name: large\nstrategy: buy_and_hold\nmarket: futures\nsymbol: PEPE-USDT\ninterval: 1m\n" +
			"size: {quote: 500}\nrisk: {max_position: 100}\n"})
	v := d.enter(dark)
	v.visit("/risk")
	v.until("the intent is shown",
		`(() => { const row = document.querySelector("[aria-labelledby=p-refused] tbody tr"); return !!row && ["max position", "large", "PEPE-USDT",
			"entry"].every(text => row.textContent.includes(text)); })()`)
	v.inspect("refused intents")
	v.do(chromedp.Click(chromedp.CSS("[aria-labelledby=p-refused] tbody tr td:nth-child(2) a")), ready)
	v.until("the result of every rule is a step away", `location.pathname.startsWith("/intents/") && `+shows+`("Checks")`)
	v.visit("/risk?rule=margin")
	v.until("another rule refused none", shows+`("No refusal by this rule")`)
}

// TestTokenIsCreatedShownOnceAndRevoked creates a viewer's token, whose user is locked out once it is revoked.
func TestTokenIsCreatedShownOnceAndRevoked(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	b := openBrowser(t)
	v := b.open(d, dark)
	v.login(d.token("token"))
	v.visit("/settings")
	v.until("who logged in by a token makes none", shows+`("token sessions cannot create tokens")`)
	var link struct{ Path string }
	d.ask("POST", "/api/v1/session/link", "", &link)
	v.do(chromedp.Navigate("about:blank"), chromedp.Navigate(d.url(link.Path)))
	v.until("the link has logged in", `location.pathname === "/"`)
	v.do(ready)
	v.visit("/settings")
	const make = `[...document.querySelectorAll("button")].find(b => b.textContent === "Create a token…")`
	v.until("a token can be made", `!!`+make)
	eval[bool](v, make+`.click() ?? true`)
	v.inspect("create a token")
	v.typeKeys("phone")
	v.typeKeys("\r")
	v.until("it is shown", `/^botd_[A-Z2-7]{26}$/.test(document.querySelector("#token-secret")?.value ?? "")`)
	secret := eval[string](v, `document.querySelector("#token-secret").value`)
	v.inspect("the token")
	v.do(chromedp.Click(chromedp.CSS("dialog .button.primary")))
	v.until("it is listed, and not shown again",
		`!document.querySelector("dialog") && /phone.*viewer/.test(document.querySelector("[aria-labelledby=p-tokens]").textContent) &&
			!document.documentElement.innerHTML.includes(`+quoted(secret)+`)`)
	v.inspect("tokens")

	other := openBrowser(t).open(d, dark)
	other.login(secret)
	other.visit("/settings")
	other.until("its holder looks only", shows+`("viewer, by session") && !`+shows+`("Back up now")`)
	v.do(chromedp.Click(chromedp.CSS("[aria-labelledby=p-tokens] tbody button")), chromedp.Click(chromedp.CSS("dialog .button.final")))
	v.until("it is gone", shows+`("No named tokens")`)
	other.do(chromedp.Navigate(d.url("/settings")))
	other.until("its holder is shut out", `location.pathname === "/login"`)
}

// TestBackupAndTestMessages uses the settings page.
func TestBackupAndTestMessages(t *testing.T) {
	t.Parallel()
	heard := make(chan string, 10)
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		heard <- string(text)
	}))
	defer service.Close()
	directory := t.TempDir()
	for name, address := range map[string]string{"phone": strings.TrimPrefix(service.URL, "http://"), "desk": "127.0.0.1:1"} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte("generic://"+address+"/canaryhook?disabletls=yes&template=json"),
			0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := startDaemonWith(t,
		map[string]string{"botd.yaml": configuration["botd.yaml"] + "notify:\n  channels:\n" +
			"    phone: {url_file: " + directory + "/phone, never: [\"*.*\"], also: []}\n    desk: {url_file: " + directory +
			"/desk, never: [\"*.*\"], also: []}\n"})
	v := d.enter(dark)
	v.visit("/settings")
	click := func(text string) {
		t.Helper()
		v.until(text+" is there",
			`(() => { const b = [...document.querySelectorAll("button")].find(b => b.textContent === `+quoted(text)+`); b?.click(); return !!b; })()`)
	}
	click("Back up now…")
	v.until("its effect is shown", `!!document.querySelector("dialog")?.textContent.includes("data/demo/backups")`)
	v.inspect("back up")
	click("Back up")
	v.until("it is done", shows+`("The journal is copied into")`)
	if found, err := filepath.Glob(filepath.Join(d.directory, "data/demo/backups/demo-main-*.db")); err != nil || len(found) != 1 {
		t.Errorf("want one backup, have %v, %v", found, err)
	}
	click("Test notifications…")
	v.until("the channels are named", `/phone, desk|desk, phone/.test(document.querySelector("dialog")?.textContent ?? "")`)
	click("Send")
	if text := <-heard; !strings.Contains(text, "test message") {
		t.Errorf("want a test message, have %s", text)
	}
	v.until("the results are shown",
		`/phone.*sent/.test(document.querySelector("dialog")?.textContent ?? "") &&
			/desk.*failed/.test(document.querySelector("dialog").textContent) && !document.body.textContent.includes("canaryhook")`)
	v.inspect("test messages")
}
