package gateway

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"botd/configs"
	"botd/exchange"
	"botd/exchange/rest"
	"botd/exchange/sim"
	"botd/exchange/sim/server"
	"botd/exchange/wire"
	"botd/internal/enginetest"
	"botd/internal/failure"
	"botd/internal/startclock"
	"botd/reconcile/account"
	"botd/reconcile/journal"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime/engine"
	"botd/runtime/ops"
)

// refusing is a simulated exchange over HTTP that refuses chosen paths or keys.
type refusing struct {
	url string

	mu       sync.Mutex // guards all below
	come     sync.Cond  // a request has come
	refused  string     // a path, or a key, which is refused with 404
	requests []string   // path, query and key of each
}

// await returns once a request has come that contains a word.
func (r *refusing) await(t *testing.T, word string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	defer context.AfterFunc(ctx, r.come.Broadcast)()
	r.mu.Lock()
	defer r.mu.Unlock()
	for !slices.ContainsFunc(r.requests, func(sent string) bool { return strings.Contains(sent, word) }) {
		if ctx.Err() != nil {
			t.Fatalf("want a request of %s, have %v", word, r.requests)
		}
		r.come.Wait()
	}
}

// refuse has requests to a path, or with a key, refused from now on, and forgets the requests before.
func (r *refusing) refuse(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused, r.requests = what, nil
}

// sent returns the requests since the last refuse.
func (r *refusing) sent() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.requests...)
}

func newRefusing(t *testing.T) *refusing {
	t.Helper()
	x, err := sim.New(sim.Config{Symbols: sim.DefaultSymbols(), StartMS: startclock.MS()})
	if err != nil {
		t.Fatal(err)
	}
	made, err := server.New(server.Config{Exchange: x, Clock: server.Clock{StartMS: startclock.MS()}, Accounts: []server.Account{
		{Key: "old", Secret: "secret"}, {Key: "new", Secret: "secret"}}})
	if err != nil {
		t.Fatal(err)
	}
	r := &refusing{}
	r.come.L = &r.mu
	reached := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		key := request.Header.Get(wire.HeaderKey)
		r.mu.Lock()
		r.requests = append(r.requests, request.URL.Path+" "+request.URL.RawQuery+" "+key)
		r.come.Broadcast()
		refused := request.URL.Path == r.refused || key != "" && key == r.refused
		r.mu.Unlock()
		if refused {
			http.Error(w, `{"code":404,"error":"not found"}`, http.StatusNotFound)
			return
		}
		made.Handler().ServeHTTP(w, request)
	}))
	t.Cleanup(reached.Close)
	r.url = reached.URL
	return r
}

// write writes key and secret into their files.
func write(t *testing.T, directory, key, secret string) {
	t.Helper()
	for name, text := range map[string]string{"key": key, "secret": secret} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// liveConfig is a live exchange whose key and secret are in the directory.
func liveConfig(url, directory string) *configs.Config {
	return &configs.Config{Mode: configs.Live, Exchange: configs.ExchangeConfig{BaseURL: url, KeyFile: filepath.Join(directory, "key"),
		SecretFile: filepath.Join(directory, "secret"), RequestsPerSecond: 1_000, Settle: configs.SettleConfig{Written: true}}}
}

// Each call of a start is refused in turn. The exit code shows whether another try makes sense.
func TestFailedStartCallIsReported(t *testing.T) {
	t.Parallel()
	venue, directory := newRefusing(t), t.TempDir()
	write(t, directory, "old", "secret")
	config := liveConfig(venue.url, directory)
	v, err := Open(t.Context(), config, directory, DemoMarket{}, Network{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, begins string
		code         int
	}{
		{"/fapi/v1/time", "reach " + venue.url + ": ", failure.Unavailable},
		{"/fhapi/v1/margin/account", "read the account: ", failure.Unavailable},
		{"/fapi/v1/symbols", "read symbols of " + venue.url + ": ", failure.Unavailable},
		{"/api/v1/spot/public/pairs", "read symbols of " + venue.url + ": ", failure.Unavailable},
	} {
		venue.refuse(c.path)
		err := v.Reach(t.Context())
		if failure.CodeOf(err) != c.code || !strings.HasPrefix(err.Error(), c.begins) {
			t.Errorf("without %s: want exit code %d and %q, have %d, %v", c.path, c.code, c.begins, failure.CodeOf(err), err)
		}
		if hinted := strings.Contains(err.Error(), "hint: is the address right, and the exchange up?"); hinted != strings.HasPrefix(c.begins, "reach") {
			t.Errorf("without %s: have the hint %t", c.path, hinted)
		}
		copied, err := OpenCopy(t.Context(), config, directory)
		if failure.CodeOf(err) != c.code || copied != nil {
			t.Errorf("a copy without %s: want exit code %d, have %v", c.path, c.code, err)
		}
	}
	venue.refuse("")
	if err := v.Reach(t.Context()); err != nil {
		t.Errorf("when all is answered: want it reached, have %v", err)
	}
	if venue.refuse("/fapi/v1/time"); v.Reach(t.Context()) != nil || len(venue.sent()) != 0 {
		t.Errorf("reached: want no further request, have %v", venue.sent())
	}
	venue.refuse("")
	copied, err := OpenCopy(t.Context(), config, directory)
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Stop()
	bitcoin := exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
	if symbol, found := copied.Symbol(bitcoin); !found || symbol.Key() != bitcoin || copied.Where != venue.url || copied.Clock.ServerNowMS() == 0 {
		t.Errorf("a copy: want the venue's symbol, address and time, have %+v, %s", symbol, copied.Where)
	}
	if have := wallet(t, copied.Trading.Do); have != wallet(t, v.Trading.Do) {
		t.Errorf("a copy: want the wallet of the account, have %s", have)
	}
}

// No mode retries an invalid address.
func TestInvalidAddressIsAConfigurationError(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	write(t, directory, "old", "secret")
	paper := &configs.Config{Mode: configs.Paper, Exchange: configs.ExchangeConfig{BaseURL: "no address"}}
	for name, open := range map[string]func() (bool, error){
		"live": func() (bool, error) {
			v, err := Open(t.Context(), liveConfig("no address", directory), directory, DemoMarket{}, Network{})
			return v != nil, err
		},
		"paper": func() (bool, error) {
			v, err := Open(t.Context(), paper, directory, DemoMarket{}, Network{})
			return v != nil, err
		},
		"a copy of paper": func() (bool, error) {
			v, err := OpenCopy(t.Context(), paper, directory)
			return v != nil, err
		},
		"a copy of live": func() (bool, error) {
			v, err := OpenCopy(t.Context(), liveConfig("no address", directory), directory)
			return v != nil, err
		},
		"public": func() (bool, error) {
			v, err := PublicAt(t.Context(), "no address")
			return v != nil, err
		},
		"a client": func() (bool, error) {
			v, err := Client(t.Context(), rest.Config{BaseURL: "no address"})
			return v != nil, err
		},
	} {
		if opened, err := open(); opened || failure.CodeOf(err) != failure.Config || !strings.Contains(err.Error(), "no address") {
			t.Errorf("%s: want exit code %d with the address, have %t, %v", name, failure.Config, opened, err)
		}
	}
	if _, err := OpenCopy(t.Context(), liveConfig("http://127.0.0.1:1", t.TempDir()), directory); failure.CodeOf(err) != failure.Credentials {
		t.Errorf("a copy without a key: want exit code %d, have %v", failure.Credentials, err)
	}
}

// Each request counts with its kind and its result.
func TestRequestsAreMeasured(t *testing.T) {
	t.Parallel()
	venue, directory := newRefusing(t), t.TempDir()
	write(t, directory, "old", "secret")
	v, err := Open(t.Context(), liveConfig(venue.url, directory), directory, DemoMarket{}, Network{})
	if err == nil {
		err = v.Reach(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	metrics := ops.NewMetrics("live", ops.Build{})
	v.Measure(metrics)
	for _, refused := range []string{"", "/fhapi/v1/margin/account", "/fhapi/v1/margin/account"} {
		venue.refuse(refused)
		if _, err := v.Trading.Do(t.Context(), exchange.Request{Operation: exchange.FuturesAccount}); (err != nil) != (refused != "") {
			t.Errorf("refused %q: have %v", refused, err)
		}
	}
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.Metric {
			words := family.GetName()
			for _, label := range metric.Label {
				words += " " + label.GetValue()
			}
			if family.GetName() == "botd_exchange_requests_total" && metric.Counter.GetValue() != 0 {
				have[strings.TrimPrefix(words, family.GetName()+" ")] = metric.Counter.GetValue()
			}
		}
	}
	for words, count := range map[string]float64{"ok": 1, "refusal": 2} {
		want := exchange.FuturesAccount.String() + " futures " + words
		if have[want] != count || len(have) != 2 {
			t.Errorf("want %q %v times, have %v", want, count, have)
		}
	}
}

// The old key continues to sign. The new one is accepted when all its reads are answered.
func TestNewKeyIsRefusedIfAReadFails(t *testing.T) {
	t.Parallel()
	venue, directory := newRefusing(t), t.TempDir()
	write(t, directory, "old", "secret")
	config := liveConfig(venue.url, directory)
	v, err := Open(t.Context(), config, directory, DemoMarket{}, Network{})
	if err == nil {
		err = v.Reach(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	wallet := exchange.Request{Operation: exchange.FuturesAccount}
	read, err := v.Client.Do(t.Context(), wallet)
	if err != nil {
		t.Fatal(err)
	}
	seen := &engine.Status{Account: read.Account, Live: []account.Placement{working(99)}}
	shown := func() (*engine.Status, error) { return seen, nil }
	write(t, directory, "new", "secret") // the same secret: the key alone differs
	if changed, err := v.Rotate(t.Context(), config, directory, shown); changed || err != nil {
		t.Errorf("files that were written a moment ago: want them read once more, have %t, %v", changed, err)
	}
	for _, c := range []struct{ path, want string }{
		{"/fapi/v1/time", "reach " + venue.url},
		{"/fhapi/v1/margin/account", "read the account"},
		{"/fapi/v1/symbols", "read symbols of " + venue.url},
		{"/hapi/v1/spot/wallet", "read the wallet with the new key: "},
		{"/fhapi/v1/order/open", "read the orders with the new key: "},
		{"/hapi/v1/spot/order/open", "read the orders with the new key: "},
		{"", "nothing shows that the new key is of the same account: it shows none of the orders that are open"},
	} {
		venue.refuse(c.path)
		changed, err := v.Rotate(t.Context(), config, directory, shown)
		if !changed || err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("without %s: want %q, have %t, %v", c.path, c.want, changed, err)
		}
		if _, err := os.Stat(filepath.Join(directory, successionFile)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("without %s: want no key accepted, have %v", c.path, err)
		}
		venue.refuse("new")
		if _, err := v.Trading.Do(t.Context(), wallet); err != nil {
			t.Errorf("without %s: want the old key to sign on, have %v", c.path, err)
		}
	}
	order := exchange.NewOrder{Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Price: 1_000_000_000_000, Quantity: 100_000}
	venue.refuse("")
	theirs := *v.credentials
	theirs.Key = "new"
	client, err := Client(t.Context(), theirs)
	if err != nil {
		t.Fatal(err)
	}
	placed, err := client.Do(t.Context(), exchange.Request{Operation: exchange.SpotPlace, Order: order})
	if err != nil {
		t.Fatal(err)
	}
	seen.Live = []account.Placement{working(99), working(placed.Order.ID)}
	if err := os.Mkdir(filepath.Join(directory, successionFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if changed, err := v.Rotate(t.Context(), config, directory, shown); !changed || err == nil || v.credentials.Key != "old" {
		t.Errorf("where the key cannot be recorded: want the old one to sign on, have %t, %v", changed, err)
	}
	if err := os.Remove(filepath.Join(directory, successionFile)); err != nil {
		t.Fatal(err)
	}
	if changed, err := v.Rotate(t.Context(), config, directory, shown); !changed || err != nil {
		t.Errorf("a spot order of botd's is open: want the new key taken, have %t, %v", changed, err)
	}
	venue.refuse("old")
	if _, err := v.Trading.Do(t.Context(), wallet); err != nil {
		t.Errorf("want the new key to sign, have %v", err)
	}
	if changed, err := v.Rotate(t.Context(), config, directory, shown); changed || err != nil || len(venue.sent()) != 1 {
		t.Errorf("the key in use: want nothing done, have %t, %v, %v", changed, err, venue.sent())
	}
	text, err := os.ReadFile(filepath.Join(directory, successionFile))
	want := "{\n  \"first\": \"" + Fingerprint("old") + "\",\n  \"accepted\": [\n    \"" + Fingerprint("new") + "\"\n  ]\n}\n"
	if err != nil || string(text) != want {
		t.Errorf("want the key accepted on disk:\n%shave\n%s, %v", want, text, err)
	}
}

// working is an order that botd knows as open.
func working(id int64) account.Placement {
	key := exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"}
	return enginetest.Placement(record.Record{Symbol: key, ClientOrderID: "b-1", Body: record.Sending{Purpose: placement.Entry}}, placement.Working, id)
}

// No key is accepted while the stored ones cannot be read.
func TestUnreadableAcceptedKeysStopTheStart(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	write(t, directory, "old", "secret")
	path := filepath.Join(directory, successionFile)
	for _, text := range []string{"{", `{"first": 1}`, strings.Repeat(" ", maxSuccession+1)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		v, err := Open(t.Context(), liveConfig("http://127.0.0.1:1", directory), directory, DemoMarket{}, Network{})
		if v != nil || failure.CodeOf(err) != failure.Config {
			t.Errorf("%.20q: want exit code %d, have %v", text, failure.Config, err)
		}
		for _, key := range []string{"a", "b"} { // also where it is the first
			if err := AcceptKey(directory, "a", key); failure.CodeOf(err) != failure.Config {
				t.Errorf("%.20q: want nothing accepted, have %v", text, err)
			}
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != text {
			t.Errorf("%.20q: want the file left as it is, have %.20q, %v", text, after, err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := AcceptKey(directory, "a", "a"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the first key: want nothing to accept, have %v", err)
	}
	for _, accept := range [][2]string{{"a", "b"}, {"x", "b"}, {"x", "c"}} { // the second journal began with another key
		if err := AcceptKey(directory, accept[0], accept[1]); err != nil {
			t.Fatal(err)
		}
	}
	s, err := readSuccession(directory)
	if err != nil || s.First != "x" || strings.Join(s.Accepted, "") != "bc" || s.bound("b") != "x" || s.bound("a") != "a" {
		t.Errorf("want b and c of the account of x alone, have %+v, %v", s, err)
	}
}

// The error names both intervals, or the symbol, and the file is free for the next attempt.
func TestPaperAccountOpenErrors(t *testing.T) {
	t.Parallel()
	venue, directory, config := newRefusing(t), t.TempDir(), demoConfig()
	config.Mode, config.Exchange.BaseURL, config.Exchange.RequestsPerSecond = configs.Paper, venue.url, 1_000
	sound := configs.PaperConfig{PollMS: 1_000, MaxAgeMS: 60_000}
	listed := []configs.StrategyConfig{{Market: exchange.Futures, Symbol: "BTC-USDT"}}
	for _, c := range []struct {
		paper   configs.PaperConfig
		trading []configs.StrategyConfig
		want    string
	}{
		{configs.PaperConfig{PollMS: 2_000, MaxAgeMS: 1_500}, listed, "max_age 1.5s is below the poll of every 2s"},
		{sound, []configs.StrategyConfig{{Market: exchange.Spot, Symbol: "NO-USDT"}}, "the venue lists no spot symbol NO-USDT"},
	} {
		config.Paper, config.Strategies = c.paper, c.trading
		for range 2 { // the file is not locked by the attempt before
			v, err := Open(t.Context(), config, directory, DemoMarket{}, Network{})
			if err != nil {
				t.Fatal(err)
			}
			if err := v.Reach(t.Context()); failure.CodeOf(err) != failure.Data || !strings.HasPrefix(err.Error(), "open the paper account: "+c.want) ||
				!strings.Contains(err.Error(), "move "+filepath.Join(directory, journal.AccountFile)+" and the journal next to it away") {
				t.Errorf("want exit code %d and %q, have %v", failure.Data, c.want, err)
			}
			if v.Trading != v.Client {
				t.Error("want no account to trade on")
			}
			if err := v.Stop(); err != nil {
				t.Error(err)
			}
		}
		copied, err := OpenCopy(t.Context(), config, directory)
		if failure.CodeOf(err) != failure.Data || copied != nil || !strings.HasPrefix(err.Error(), "open a copy of the paper account: "+c.want) {
			t.Errorf("a copy: want exit code %d and %q, have %v", failure.Data, c.want, err)
		}
	}
	config.Paper, config.Strategies = configs.PaperConfig{PollMS: 20, MaxAgeMS: 60_000}, listed
	v, err := Open(t.Context(), config, directory, DemoMarket{}, Network{})
	if err != nil {
		t.Fatal(err)
	}
	venue.refuse("/fapi/v1/symbols")
	if err := v.Reach(t.Context()); failure.CodeOf(err) != failure.Unavailable {
		t.Errorf("without symbols: want exit code %d, have %v", failure.Unavailable, err)
	}
	venue.refuse("")
	if err := v.Reach(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := v.Stop(); err != nil {
			t.Error(err)
		}
	}()
	venue.refuse("")
	venue.await(t, "BTC-USDT") // it is polled on
	v.Watch(exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"})
	venue.await(t, "ETH-USDT")
	copied, err := OpenCopy(t.Context(), config, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 1}
	if _, err := copied.Trading.Do(t.Context(), exchange.Request{Operation: exchange.FuturesPlace, Order: order}); err != nil {
		t.Errorf("a copy: want the data of now, have %v", err)
	}
	other, err := Open(t.Context(), config, directory, DemoMarket{}, Network{})
	if err == nil {
		err = other.Reach(t.Context())
	}
	if failure.CodeOf(err) != failure.Data || !strings.Contains(err.Error(), "hint: move "+directory+" away") {
		t.Errorf("an account that is open elsewhere: want exit code %d, have %v", failure.Data, err)
	}
}

// It arrives neither earlier nor later, in a new demo and in a restored one.
func TestDemoOrderArrivesAfterDefaultDelay(t *testing.T) {
	t.Parallel()
	begun := simulatedAccount(DemoAccount, &demoConfig().Simulated)
	x, err := newDemo(nil, DemoMarket{Seed: 5, StartMS: startclock.MS()}, begun)
	if err != nil {
		t.Fatal(err)
	}
	if x.NowMS() != startclock.MS() {
		t.Errorf("want it to begin at the given time, have %d", x.NowMS())
	}
	order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 1}
	for _, going := range []string{"a new demo", "one that goes on"} {
		placed, err := x.Do(DemoAccount, &exchange.Request{Operation: exchange.FuturesPlace, Order: order})
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			afterMS int64
			want    exchange.OrderStatus
		}{{sim.DefaultOrderDelayMS - 1, 0}, {1, exchange.StatusFilled}} { // an order that has not arrived is unknown
			x.Advance(x.NowMS() + step.afterMS)
			read, err := x.Do(DemoAccount, &exchange.Request{Operation: exchange.FuturesOrder, Symbol: "BTC-USDT", OrderID: placed.Order.ID})
			if (err != nil) != (step.want == 0) || read.Order.Status != step.want {
				t.Errorf("%s: want it %s after %d ms more, have %s, %v", going, step.want, step.afterMS, read.Order.Status, err)
			}
		}
		held, err := x.Do(DemoAccount, &exchange.Request{Operation: exchange.FuturesOpenPositions})
		if err != nil || len(held.Positions.Items()) != 1 || held.Positions.Items()[0].Leverage != sim.DefaultLeverage {
			t.Errorf("%s: want a position with a leverage of %d, have %+v, %v", going, sim.DefaultLeverage, held.Positions.Items(), err)
		}
		state, err := x.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		dear := begun
		if dear.FuturesTaker = exchange.RateOne; going == "a new demo" {
			if _, err := newDemo(state, DemoMarket{Seed: 5}, dear); err == nil || !strings.Contains(err.Error(), "fee 1 is outside") {
				t.Errorf("a configured fee of all: want it refused by a demo that goes on, have %v", err)
			}
		}
		if x, err = newDemo(state, DemoMarket{Seed: 5}, begun); err != nil {
			t.Fatal(err)
		}
	}
	for want, spoil := range map[string]func(*sim.AccountConfig){
		"futures wallet -1 is below 0": func(a *sim.AccountConfig) { a.FuturesUSDT = exchange.AmountOf(-1) },
		"":                             func(*sim.AccountConfig) {},
	} {
		spoiled := begun
		spoil(&spoiled)
		made, err := newDemo(nil, DemoMarket{Seed: 5}, spoiled)
		if (err == nil) != (want == "") || (made == nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, have %v", want, err)
		}
	}
	config := demoConfig()
	config.Simulated.Futures = exchange.AmountOf(-1)
	copied, err := OpenCopy(context.Background(), config, t.TempDir())
	if failure.CodeOf(err) != failure.Data || copied != nil || !strings.HasPrefix(err.Error(), "open a copy of the demo's exchange: ") {
		t.Errorf("a copy: want exit code %d, have %v", failure.Data, err)
	}
}
