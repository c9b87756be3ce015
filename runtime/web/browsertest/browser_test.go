package browsertest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// findBrowser skips the test if there is no browser, unless one is required.
func findBrowser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("BOTD_BROWSER"), "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	const why = "no browser: install Debian's chromium-headless-shell, or name one in BOTD_BROWSER"
	if slices.Contains(strings.Split(os.Getenv("BOTD_REQUIRE"), ","), "browser") {
		t.Fatal(why)
	}
	t.Skip(why)
	return ""
}

// viewport is a screen size and theme.
type viewport struct {
	name          string
	theme         string
	width, height int64
	mobile        bool
}

var (
	dark   = viewport{"dark", "dark", 1400, 900, false}
	light  = viewport{"light", "light", 1400, 900, false}
	tablet = viewport{"tablet", "dark", 1024, 768, false}
	phone  = viewport{"phone", "dark", 390, 844, true}
	small  = viewport{"small", "light", 320, 640, true}
)

// browser is a separate browser, with its cookies and its worker.
type browser struct {
	t   *testing.T
	ctx context.Context
}

func openBrowser(t *testing.T) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.ExecPath(findBrowser(t)))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	return &browser{t, ctx}
}

// tab is one page with its reported errors.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base string

	mu         sync.Mutex // guards all below
	complaints []string
	bytes      int
	foreign    []string
}

// open opens a tab of a new browser, or another tab of the same browser.
func (b *browser) open(d *daemon, l viewport) *tab {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	b.t.Cleanup(cancel)
	v := &tab{t: b.t, ctx: ctx, base: d.url("")}
	if err := chromedp.Do(ctx); err != nil {
		b.t.Fatalf("open the browser: %v", err)
	}
	b.ctx = ctx // the next tab belongs to this browser
	if err := chromedp.Listen(ctx, v.hear); err != nil {
		b.t.Fatal(err)
	}
	call(v, log.Enable, cdp.Empty{})
	call(v, runtime.Enable, cdp.Empty{})
	call(v, network.Enable, network.EnableParams{})
	call(v, network.SetCacheDisabled, network.SetCacheDisabledParams{CacheDisabled: true})
	v.show(l)
	return v
}

// enter opens a browser and logs in an operator.
func (d *daemon) enter(l viewport) *tab {
	d.t.Helper()
	v := openBrowser(d.t).open(d, l)
	v.login(d.token("token"))
	return v
}

func call[P, R any](v *tab, command cdp.Command[P, R], params P) R {
	v.t.Helper()
	answer, err := chromedp.Call(v.ctx, command, params)
	if err != nil {
		v.t.Fatal(err)
	}
	return answer
}

func (v *tab) show(l viewport) {
	v.t.Helper()
	call(v, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme",
		Value: l.theme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
	call(v, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: l.width, Height: l.height, DeviceScaleFactor: 1,
		Mobile: l.mobile})
	call(v, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "UTC"})
}

// hear notes errors that a page reports.
func (v *tab) hear(event any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		v.complaints = append(v.complaints, "exception: "+text)
	case *runtime.EventConsoleAPICalled:
		v.complaints = append(v.complaints, fmt.Sprintf("console %s: %v", e.Type, e.Args))
	case *log.EventEntryAdded:
		v.complaints = append(v.complaints, fmt.Sprintf("log %s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
	case *network.EventLoadingFinished:
		v.bytes += int(e.EncodedDataLength)
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err == nil && u.Scheme != "data" && u.Scheme != "blob" && !strings.HasPrefix(e.Request.URL, v.base) {
			v.foreign = append(v.foreign, e.Request.URL)
		}
	}
}

// quiet expects no errors since its last call.
func (v *tab) quiet(where string) {
	v.t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, complaint := range v.complaints {
		v.t.Errorf("%s: %s", where, complaint)
	}
	for _, address := range v.foreign {
		v.t.Errorf("%s: asked another host: %s", where, address)
	}
	v.complaints, v.foreign = nil, nil
}

// forget drops errors that a test provoked.
func (v *tab) forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.complaints, v.foreign = nil, nil
}

func (v *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		v.t.Fatalf("%v\nat %s: %.600s", err, eval[string](v, "location.href"), eval[string](v, "document.body.innerText"))
	}
}

func eval[T any](v *tab, expression string) T {
	v.t.Helper()
	for end := time.Now().Add(patience); ; <-time.After(50 * time.Millisecond) {
		value, err := try[T](v, expression)
		switch {
		case err == nil:
			return value
		case !strings.Contains(err.Error(), "navigated") || time.Now().After(end): // during a navigation the evaluation is retried
			v.t.Fatalf("%s: %v", expression, err)
		}
	}
}

func try[T any](v *tab, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(v.ctx, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// until waits until an expression of the page is true. An error counts as not yet: a loading page cannot
// evaluate it.
func (v *tab) until(what, expression string) {
	v.t.Helper()
	for end := time.Now().Add(patience); ; {
		holds, err := try[bool](v, expression)
		if err == nil && holds {
			return
		}
		if time.Now().After(end) {
			text, _ := try[string](v, "document.body.innerText")
			v.t.Fatalf("%s: not within %s (%v); the page shows:\n%.1500s", what, patience, err, text)
		}
		<-time.After(50 * time.Millisecond)
	}
}

var ready = chromedp.WaitReady(chromedp.CSS("body[data-ready]"))

// visit opens a page and returns its time and weight.
func (v *tab) visit(path string) (took time.Duration, weight int) {
	v.t.Helper()
	v.mu.Lock()
	v.bytes = 0
	v.mu.Unlock()
	began := time.Now()
	v.do(chromedp.Navigate(v.base+path), ready)
	took = time.Since(began)
	v.mu.Lock()
	defer v.mu.Unlock()
	return took, v.bytes
}

// login enters a token.
func (v *tab) login(token string) {
	v.t.Helper()
	v.do(chromedp.Navigate(v.base+"/login"), chromedp.WaitVisible(chromedp.CSS("#token")), chromedp.SendKeys(chromedp.CSS("#token"), token),
		chromedp.Click(chromedp.CSS("button[type=submit]")), ready)
}

// typeKeys types keys into the focused element.
func (v *tab) typeKeys(keys string) { v.t.Helper(); v.do(chromedp.KeyEvent(keys)) }

// inject runs a script before those of every page from now on.
func (v *tab) inject(source string) {
	call(v, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: source})
}

// shots is the directory of screenshots: BOTD_SCREENSHOTS, or a directory that is named in the log.
var shots = sync.OnceValues(func() (string, error) {
	if directory := os.Getenv("BOTD_SCREENSHOTS"); directory != "" {
		return directory, os.MkdirAll(directory, 0o755)
	}
	return os.MkdirTemp("", "botd-screenshots")
})

// shoot takes a screenshot of the whole page.
func (v *tab) shoot(name string) {
	v.t.Helper()
	directory, err := shots()
	if err != nil {
		v.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(v.ctx, patience)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(directory, strings.NewReplacer("/", "_", " ", "-").Replace(name)+".png"), picture, 0o644)
	}
	if err != nil {
		v.t.Errorf("picture %s: %v", name, err)
	}
}

// fits expects nothing wider than the screen, which a phone would zoom out to show.
func (v *tab) fits(where string) {
	v.t.Helper()
	if over := eval[int](v, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
		v.t.Errorf("%s: %d px wider than the screen: %s", where, over, eval[string](v,
			`[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth &&
				!e.closest(".scroll")?.parentElement.closest("body") ).slice(0, 4).map(e => e.outerHTML.slice(0,
					120)).join("; ") + " | " + [...document.querySelectorAll(".scroll *")].filter(e => getComputedStyle(e).position === "absolute" &&
						e.getBoundingClientRect().right > document.documentElement.clientWidth).slice(0, 3).map(e => e.outerHTML.slice(0, 120)).join("; ")`))
	}
}

// short expects at most three screens of a phone, until more is requested.
func (v *tab) short(where string, l viewport) {
	v.t.Helper()
	if have := eval[int](v, "document.documentElement.scrollHeight"); have > 3*int(l.height) {
		v.t.Errorf("%s: want at most three screens on a phone, have %d px of %d", where, have, l.height)
	}
}

// violation is one finding of axe.
type violation struct {
	ID, Help string
	Nodes    []struct {
		Target []any
		HTML   string
	}
}

// accessible runs axe over the page.
func (v *tab) accessible(where string) {
	v.t.Helper()
	source, err := os.ReadFile(filepath.Join("testdata", "axe.min.js"))
	if err != nil {
		v.t.Fatal(err)
	}
	eval[bool](v, string(source)+";true")
	found := eval[[]violation](
		v,
		`axe.run(document, {iframes: false, resultTypes: ["violations"]}).then(r => r.violations.map(v => ({id: v.id, help: v.help, nodes: v.nodes
			.slice(0, 3).map(n => ({target: n.target, html: n.html.slice(0, 200)}))})))`,
	)
	for _, one := range found {
		v.t.Errorf("%s: axe %s: %s: %v", where, one.ID, one.Help, one.Nodes)
	}
}
