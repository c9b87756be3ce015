package endtoend

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"botd/internal/failure"
	"botd/internal/startclock"
)

// The tests of this file run the real daemon over signed HTTP against an exchange that answers wrongly, and
// judge it by the exchange's own list of orders. Each failure happened once.

// between is a proxy between botd and the exchange that alters answers and refuses placements.
type between struct {
	mu      sync.Mutex // guards all below
	refuse  func(path, body string) bool
	alter   func(path, body string) string
	refused []time.Time
	keyless bool                           // every call with a key is answered as with a wrong one
	deceive func(path, body string) deceit // the treatment of a request
}

// deceit is how the exchange's action differs from its answer.
type deceit int

const (
	honest   deceit = iota
	executed        // it answers 400, and executes the request
	twice           // it executes the request twice
)

func (b *between) set(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
}

// listen starts the proxy in front of the exchange at an address, and returns its own.
func (b *between) listen(t *testing.T, address string) string {
	t.Helper()
	target, err := url.Parse("http://" + address)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	proxy.ModifyResponse = func(r *http.Response) error {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		b.set(func() {
			if b.alter != nil && r.StatusCode < 300 {
				text = []byte(b.alter(r.Request.URL.Path, string(text)))
			}
		})
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		r.Header.Set("Content-Length", fmt.Sprint(len(text)))
		return nil
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		refused := false
		b.set(func() {
			if refused = b.refuse != nil && b.refuse(r.URL.Path, string(body)); refused {
				b.refused = append(b.refused, time.Now())
			}
		})
		keyless := false
		b.set(func() { keyless = b.keyless })
		if keyless && r.Header.Get("x-api-key") != "" {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"code":-2015,"error":"the key may not do this"}`)
			return
		}
		if refused {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"code":2999,"msg":"stop orders are off"}`)
			return
		}
		does := honest
		b.set(func() {
			if b.deceive != nil {
				does = b.deceive(r.URL.Path, string(body))
			}
		})
		if does != honest {
			proxy.ServeHTTP(httptest.NewRecorder(), r)
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		if does == executed {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"code":2998,"msg":"order is refused"}`)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// finding is an exchange, a daemon on it, and one strategy that buys once.
type finding struct {
	*place
	between
	address string
	daemon  *exec.Cmd
	log     *Trace
}

// begin starts them; settle is W, D and L, empty for short ones.
func begin(t *testing.T, market, settle, strategy string) *finding {
	t.Helper()
	f := &finding{place: newPlace(t)}
	f.address = f.free()
	f.venue(f.address, "finding", "--market", "still", "--start", startclock.Text())
	f.live("configs", "finding", f.listen(t, f.address), "data_dir: ./data\nlisten: off\nforeign: adopt")
	if settle != "" {
		f.file("configs/botd.yaml", fmt.Sprintf("mode: live\nexchange: {base_url: 'http://%s', key_file: %q, secret_file: %q, settle: %s}\n"+
			"data_dir: ./data\nlisten: off\n", f.listen(t, f.address), filepath.Join(f.directory, "key"), filepath.Join(f.directory, "secret"), settle), 0o600)
	}
	f.file("configs/strategies/one.yaml", "name: one\nstrategy: twap\nmarket: "+market+"\nsymbol: BTC-USDT\ninterval: 1m\nschedule: '@every 1s'\n"+
		strategy, 0o600)
	return f
}

func (f *finding) trade() {
	f.t.Helper()
	f.daemon, f.log = f.start("daemon", "run", "--mode", "live", "--log-format", "json")
}

// bought is the part of a strategy that buys a quantity once.
func bought(quantity string) string {
	return "params: {side: buy, quantity: " + quantity + ", slices: 1, every: 1s}\n"
}

// control calls the exchange's control interface.
func (f *finding) control(method, path, body string) {
	f.t.Helper()
	request, err := http.NewRequestWithContext(f.t.Context(), method, "http://"+f.address+"/control/v1/"+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		f.t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode >= 300 {
		f.t.Fatalf("%s %s %s: status %d", method, path, body, response.StatusCode)
	}
}

// resting counts the open protecting orders, and orders counts all orders.
func (f *finding) resting() (n int) {
	for _, o := range venueOrders(f.t, f.address) {
		if o.rests() && o.Type != "MARKET" {
			n++
		}
	}
	return n
}

func (f *finding) filledOf(side string) (n int) {
	for _, o := range venueOrders(f.t, f.address) {
		if o.Side == side && o.Filled != "0" && o.Filled != "" {
			n++
		}
	}
	return n
}

func TestEmptyPositionListCancelsNoStop(t *testing.T) {
	t.Parallel()
	f := begin(t, "futures", "", bought("0.5")+"protect: {stop_loss: 5%, take_profit: 5%}\n")
	f.trade()
	eventually(t, "stop and target rest", func() bool { return f.resting() == 2 })
	f.control("POST", "faults", `{"match": "POST /fhapi/v1/positions/open", "kind": "empty"}`)
	f.log.wait(t, `"symbol.contradicted"`)
	if have := f.resting(); have != 2 {
		t.Errorf("want stop and target resting, have %d: %s", have, f.log)
	}
	if status := f.run(failure.OK, "status"); !strings.Contains(status, "CONTRADICTED (BTC-USDT) since") {
		t.Errorf("status: want it contradicted, have %s", status)
	}
	f.control("DELETE", "faults", "")
	eventually(t, "not contradicted any more", func() bool { return !strings.Contains(f.run(failure.OK, "status"), "CONTRADICTED") })
	if all := venueOrders(t, f.address); len(all) != 3 || f.resting() != 2 {
		t.Errorf("want the entry and its two orders, nothing sent again, have %+v", all)
	}
}

func TestWrongSpotWalletCausesNoPurchase(t *testing.T) {
	t.Parallel()
	f := begin(t, "spot", "", bought("0.1")+"protect: {stop_loss: 5%}\n")
	f.trade()
	eventually(t, "a stop rests", func() bool { return f.resting() == 1 })
	list := regexp.MustCompile(`(?s)"wallets":\s*\[.*\]`)
	f.set(func() {
		f.alter = func(path, body string) string {
			if strings.HasSuffix(path, "/spot/wallet") {
				return list.ReplaceAllString(body, `"wallets":[]`)
			}
			return body
		}
	})
	f.log.wait(t, `"symbol.contradicted"`)
	f.set(func() { f.alter = nil })
	eventually(t, "not contradicted any more", func() bool { return !strings.Contains(f.run(failure.OK, "status"), "CONTRADICTED") })
	if n := f.filledOf("BUY"); n != 1 || f.resting() != 1 {
		t.Errorf("want it bought once, with its stop, have %d: %+v", n, venueOrders(t, f.address))
	}
}

// The bound L is ten minutes: anything that waits for it is too late for this test.
func TestSpotStopAndFlattenDoNotWaitForL(t *testing.T) {
	t.Parallel()
	f := begin(t, "spot", "{window: 60s, visibility: 45s, staleness: 10m}", bought("0.1")+"protect: {stop_loss: 5%}\n")
	f.trade()
	eventually(t, "a stop rests right after the fill", func() bool { return f.resting() == 1 })
	f.run(failure.OK, "halt", "--level", "flatten", "--reason", "a test", "--yes", "--wait", "60s")
	eventually(t, "sold", func() bool { return f.filledOf("SELL") == 1 && f.resting() == 0 })
}

func TestSpotOrderIsNotRepeatedWithoutIDsInHistory(t *testing.T) {
	t.Parallel()
	f := begin(t, "spot", "", bought("0.1")+"protect: {stop_loss: 5%}\n")
	id := regexp.MustCompile(`,?"(clientOrderId|client_order_id)":"[^"]*"`)
	f.alter = func(path, body string) string {
		if strings.HasSuffix(path, "/spot/order/history") {
			return id.ReplaceAllString(body, "")
		}
		return body
	}
	f.control("POST", "faults", `{"match": "POST /hapi/v1/spot/order", "kind": "drop_response", "count": 1}`)
	f.trade()
	f.log.wait(t, `"order.uncertain"`)
	eventually(t, "the purchase is decided, or a person is asked", func() bool {
		text := f.log.String()
		return strings.Contains(text, `"order.settled"`) || strings.Contains(text, `"symbol.quarantined"`)
	})
	if n := f.filledOf("BUY"); n != 1 {
		t.Errorf("want it bought once, have %d: %s", n, f.log)
	}
}

func TestWithdrawalDoesNotLatchLossLimit(t *testing.T) {
	t.Parallel()
	f := begin(t, "futures", "", bought("0.01"))
	f.append("configs/botd.yaml", "risk: {max_daily_loss: 5%, max_drawdown: 20%}\n")
	f.trade()
	f.log.wait(t, `"position.changed"`)
	eventually(t, "the purchase is booked", func() bool {
		command := exec.Command(self(t), "ledger")
		command.Dir = f.directory
		output, err := command.Output() // the journal may have just been created
		return err == nil && strings.Contains(string(output), "futures booked up to") && strings.Contains(string(output), "fees")
	})
	money := regexp.MustCompile(`("(?:totalWalletBalance|totalMarginBalance|availableBalance|maxWithdrawAmount)":"?)(\d+)`)
	f.set(func() {
		f.alter = func(path, body string) string {
			if !strings.HasSuffix(path, "/margin/account") {
				return body
			}
			return money.ReplaceAllStringFunc(body, func(found string) string {
				parts := money.FindStringSubmatch(found)
				var whole int
				fmt.Sscan(parts[2], &whole)
				return parts[1] + fmt.Sprint(whole-3_000)
			})
		}
	})
	f.log.wait(t, `"ledger.transfer"`)
	if text := f.log.String(); strings.Contains(text, `"limit.breached"`) || strings.Contains(f.run(failure.OK, "status"), "LIMIT") {
		t.Errorf("want no limit latched by a withdrawal, have %s", text)
	}
}

func TestALiquidationIsAnErrorAndHaltsItsStrategy(t *testing.T) {
	t.Parallel()
	f := begin(t, "futures", "", "leverage: 20\n"+bought("1.9"))
	f.trade()
	f.log.wait(t, `"position.changed"`)
	_, ticker := asked(t, f.address, "/fapi/v1/ticker/BTC-USDT")
	price := regexp.MustCompile(`"lastPrice":"?(\d+)`).FindStringSubmatch(ticker)
	if price == nil {
		t.Fatalf("no price in %s", ticker)
	}
	var last int
	fmt.Sscan(price[1], &last)
	f.control("POST", "price", fmt.Sprintf(`{"market": "futures", "symbol": "BTC-USDT", "price": "%d"}`, last*90/100))
	f.log.wait(t, `"position.liquidated"`)
	if line := regexp.MustCompile(`\{"level":"error"[^\n]*"position.liquidated"`); !line.MatchString(f.log.String()) {
		t.Errorf("want it at level error, have %s", f.log)
	}
	eventually(t, "its strategy is halted", func() bool { return strings.Contains(f.run(failure.OK, "status"), "liquidated") })
	if n := f.filledOf("BUY"); n != 1 {
		t.Errorf("want nothing bought again, have %d", n)
	}
}

func TestRefusedStopIsSentLessOftenAndDeclared(t *testing.T) {
	t.Parallel()
	f := begin(t, "futures", "", bought("0.5")+"protect: {stop_loss: 5%}\n")
	f.refuse = func(path, body string) bool {
		return strings.HasSuffix(path, "/v1/order") && strings.Contains(body, "STOP_MARKET")
	}
	f.trade()
	const tries = 5
	times := func() (all []time.Time) { f.set(func() { all = slices.Clone(f.refused) }); return all }
	eventually(t, "refused five times", func() bool { return len(times()) >= tries })
	all := times()
	if took := all[tries-1].Sub(all[0]); took < 8*time.Second { // without waiting in between: five rounds, 5 s at most
		t.Errorf("want five tries to take 8 s at least, have %s: %v", took, all)
	}
	if status := f.run(failure.OK, "status"); !strings.Contains(status, "UNPROTECTED") && !strings.Contains(status, "REFUSED") {
		t.Errorf("status: want it declared, have %s", status)
	}
	f.set(func() { f.refuse = nil })
	eventually(t, "the stop rests", func() bool { return f.resting() == 1 })
}
