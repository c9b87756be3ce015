package browsertest

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestLoginByLink follows a one-time link, and returns to the earlier page.
func TestLoginByLink(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	v := openBrowser(t).open(d, dark)
	v.do(chromedp.Navigate(d.url("/positions")), chromedp.WaitVisible(chromedp.CSS("#token")))
	if have := eval[string](v, "location.pathname"); have != "/login" {
		t.Errorf("want a new visitor at /login, have %s", have)
	}
	if eval[bool](v, shows+`("The session has expired")`) {
		t.Error("want no message of a session for a new visitor")
	}
	v.accessible("login")
	v.shoot("login")
	v.do(chromedp.SendKeys(chromedp.CSS("#token"), "botd_wrong"), chromedp.Click(chromedp.CSS("button[type=submit]")))
	v.until("a wrong token is rejected", shows+`("the token is wrong")`)
	v.forget() // the refused requests
	var link struct{ Path string }
	d.ask("POST", "/api/v1/session/link", "", &link)
	d.until("the delay after the wrong token is over", func() bool {
		v.do(chromedp.Navigate("about:blank"), chromedp.Navigate(d.url(link.Path)))
		v.until("the link was tried", `!document.querySelector("#say") || !`+shows+`("Logging in")`)
		return eval[string](v, "location.pathname") == "/positions"
	})
	v.do(ready)
	v.forget()
	if have := eval[string](v, "location.href + document.cookie"); have != d.url("/positions") {
		t.Errorf("want neither code nor cookie to be seen by the page, have %s", have)
	}
	v.do(chromedp.Navigate("about:blank"), chromedp.Navigate(d.url(link.Path)))
	v.until("a link is good once", shows+`("already used")`)
}

// TestConnectionLost kills botd under an open page, and starts it again.
func TestConnectionLost(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	v := d.enter(dark)
	v.until("the page is live", `document.querySelector(".link").textContent.includes("Live")`)
	d.stop(syscall.SIGKILL)
	v.until("the loss is shown",
		`document.querySelector("#banners").textContent.includes("Connection lost") && document.body.classList.contains("stale") &&
			document.querySelector(".link").textContent.includes("No connection")`)
	v.until("the overview claims nothing", shows+`("The connection is lost") && !`+shows+`("All systems normal")`)
	if title := eval[string](v, "document.title"); !strings.HasPrefix(title, "[no connection] ") {
		t.Errorf("want the loss in the tab's title, have %q", title)
	}
	v.shoot("connection lost")
	v.accessible("connection lost")
	d.start()
	v.until("it is live again without a login: a session outlives a restart",
		`location.pathname !== "/login" && document.querySelector(".link").textContent.includes("Live") && !document.body.classList.contains("stale")`)
	v.forget()
}

// TestTheLoginsOfAViewerEndNoSessionOfTheOperators logs in a viewer more often than there are sessions, and
// kills botd afterwards. The operator's page keeps its session.
func TestTheLoginsOfAViewerEndNoSessionOfTheOperators(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	v := d.enter(dark)
	v.until("the page is live", `document.querySelector(".link").textContent.includes("Live")`)
	viewer := `{"token": "` + d.token("token-viewer") + `"}`
	for range 101 {
		answer, err := http.Post(d.url("/api/v1/session"), "application/json", strings.NewReader(viewer))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("want the viewer logged in, have %d", answer.StatusCode)
		}
	}
	const operator = `(await (await fetch("/api/v1/session")).json()).role === "operator"`
	for _, when := range []string{"after the logins", "after a restart"} {
		v.do(chromedp.Navigate(d.url("/")), ready)
		if have := eval[string](v, "location.pathname"); have != "/" {
			t.Errorf("%s: want no login asked for, have %s", when, have)
		}
		v.until(when+" it is the operator's session", "(async () => "+operator+")()")
		d.stop(syscall.SIGKILL)
		d.start()
		v.forget()
	}
}

// TestTwentyTabsShareOneStream opens them in one browser; all are notified of a change. It uses a page that changes little: without a
// screen none of them counts as hidden, and twenty that draw each second's change take more than two processors.
func TestTwentyTabsShareOneStream(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	b := openBrowser(t)
	first := b.open(d, dark)
	first.login(d.token("token"))
	tabs := []*tab{first}
	for len(tabs) < 20 {
		v := b.open(d, dark)
		v.visit("/settings")
		tabs = append(tabs, v)
	}
	for i, v := range tabs {
		v.until("tab "+itoa(i)+" is live", `document.querySelector(".link").textContent.includes("Live")`)
	}
	if have := eval[float64](first, `fetch("/metrics").then(r => r.text()).then(t => Number(t.match(/^botd_sse_clients (\S+)/m)[1]))`); have != 1 {
		t.Errorf("want one stream for 20 tabs, have %v", have)
	}
	d.ask("POST", "/api/v1/risk/halt", `{"level": "pause", "reason": "all tabs hear this"}`, nil)
	for i, v := range tabs {
		v.until("tab "+itoa(i)+" shows the halt", shows+`("Trading is halted: pause")`)
		v.quiet("tab " + itoa(i))
	}
}

// TestShortcuts navigates by keys, and turns them off.
func TestShortcuts(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	v := d.enter(dark)
	for keys, path := range map[string]string{"gp": "/positions", "gr": "/orders", "gi": "/intents", "gs": "/strategies", "gc": "/reconcile",
		"gm": "/market", "gl": "/logs", "ga": "/audit", "ge": "/settings", "gk": "/risk", "go": "/"} {
		v.typeKeys(keys)
		v.until(keys+" goes to "+path, `location.pathname === `+quoted(path))
		v.do(ready)
	}
	v.typeKeys("?")
	v.until("the list of shortcuts is open", `document.querySelector("dialog[open] h2")?.textContent === "Keyboard"`)
	v.accessible("shortcuts")
	v.shoot("shortcuts")
	v.typeKeys(kb.Escape)
	v.until("it is closed", `!document.querySelector("dialog")`)
	v.visit("/positions")
	v.typeKeys("/")
	v.until("without a search on the page, the key opens the search", `document.activeElement.id === "find" && document.activeElement.value === ""`)
	v.typeKeys("lev")
	v.until("the strategy is the first", `document.querySelector("#find-list a").textContent.startsWith("levels")`)
	v.accessible("go to")
	v.shoot("go to")
	v.show(small)
	v.fits("go to")
	v.show(dark)
	v.typeKeys(kb.Enter)
	v.until("it goes there", `location.pathname === "/strategies/levels" && !document.querySelector("dialog")`)
	v.do(ready)
	v.typeKeys("t")
	v.until("the theme is light", `document.documentElement.dataset.theme === "light"`)
	v.visit("/market")
	v.typeKeys("/")
	v.until("the search has the focus", `document.activeElement.matches("[data-search]")`)
	if have := eval[string](v, "document.activeElement.value"); have != "" {
		t.Errorf("want the key itself not typed, have %q", have)
	}
	v.typeKeys("sol")
	v.until("symbols are filtered",
		`document.querySelectorAll("tbody tr").length > 0 && [...document.querySelectorAll("tbody tr")].every(r => r.textContent.includes("SOL"))`)
	v.visit("/settings")
	v.do(chromedp.SetValue(chromedp.CSS(".filters label:nth-of-type(4) select"), "off"))
	eval[bool](v, `(document.querySelector(".filters label:nth-of-type(4) select").dispatchEvent(new Event("change")), document.activeElement.blur(), true)`)
	v.typeKeys("gp")
	if have := eval[string](v, "location.pathname"); have != "/settings" {
		t.Errorf("want single keys off, but g p went to %s", have)
	}
	v.quiet("shortcuts")
}
