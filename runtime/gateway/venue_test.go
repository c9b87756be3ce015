package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"botd/configs"
	"botd/exchange"
	"botd/exchange/paper"
	"botd/exchange/sim"
	"botd/internal/enginetest"
	"botd/internal/failure"
	"botd/reconcile/account"
	"botd/reconcile/journal"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime/engine"
	"botd/runtime/ops"
)

// demoConfig is a demo whose account has another wallet than the default one.
func demoConfig() *configs.Config {
	return &configs.Config{Mode: configs.Demo, Instance: "main", Simulated: configs.SimulatedConfig{Futures: exchange.AmountOf(1_234),
		Spot: map[string]exchange.Amount{"USDT": exchange.AmountOf(77)}}}
}

// wallet returns a venue's wallet of the futures account.
func wallet(t *testing.T, do func(context.Context, exchange.Request) (exchange.Answer, error)) exchange.Amount {
	t.Helper()
	answer, err := do(t.Context(), exchange.Request{Operation: exchange.FuturesAccount})
	if err != nil {
		t.Fatal(err)
	}
	return answer.Account.WalletBalance
}

// closes are the last prices of the hour of minutes before a time.
func closes(t *testing.T, do func(context.Context, exchange.Request) (exchange.Answer, error), untilMS int64) []exchange.Price {
	t.Helper()
	untilMS -= untilMS % int64(exchange.Hour1)
	answer, err := do(t.Context(), exchange.Request{Operation: exchange.FuturesCandles, Symbol: "BTC-USDT", Interval: exchange.Minute1,
		StartMS: untilMS - int64(exchange.Hour1), EndMS: untilMS})
	if err != nil || answer.Candles.Len() < 10 {
		t.Fatalf("want candles, have %+v, %v", answer.Candles, err)
	}
	return answer.Candles.Close
}

// A demo has the configured account, and a signed client reaches it at an address that is written while it runs. Its copy, and its public
// data, are readable meanwhile and afterwards.
func TestADemoIsAnExchangeOfItsOwn(t *testing.T) {
	t.Parallel()
	config, data := demoConfig(), t.TempDir()
	config.DataDir = data
	directory := filepath.Join(data, "demo")
	if err := os.Mkdir(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	v, err := Open(t.Context(), config, directory, DemoMarket{Seed: 3}, Network{})
	if err == nil {
		err = errors.Join(v.Reach(t.Context()), v.Reach(t.Context()))
	}
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("demo"))
	want := journal.Binding{Mode: "demo", URL: "embedded", KeyFingerprint: hex.EncodeToString(sum[:])[:12], Instance: "main"}
	if v.Binding != want || v.Trading != v.Client {
		t.Errorf("want %+v, have %+v", want, v.Binding)
	}
	if have := wallet(t, v.Trading.Do); have != exchange.AmountOf(1_234) {
		t.Errorf("want the configured wallet, have %s", have)
	}
	address, err := os.ReadFile(filepath.Join(directory, "exchange.address"))
	if err != nil || !strings.HasPrefix(string(address), "http://127.0.0.1:") {
		t.Errorf("want its address, have %s, %v", address, err)
	}
	public, running, err := OpenPublic(t.Context(), config)
	if err != nil || !running || public.Where != strings.TrimSpace(string(address)) || len(public.Symbols) != len(sim.DefaultSymbols()) {
		t.Errorf("want what is public of the running one, have %+v, %t, %v", public, running, err)
	}
	if err := v.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(directory, "exchange.address")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("stopped: want no address, have %v", err)
	}
	state, err := os.ReadFile(filepath.Join(directory, journal.AccountFile))
	if err != nil {
		t.Fatal(err)
	}
	config.Simulated.Futures = exchange.AmountOf(5) // for a new demo
	rehearsal, err := OpenCopy(t.Context(), config, directory)
	if err != nil {
		t.Fatal(err)
	}
	defer rehearsal.Stop()
	if have := wallet(t, rehearsal.Trading.Do); have != exchange.AmountOf(1_234) {
		t.Errorf("want the account as the run left it, have %s", have)
	}
	order := exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 10}
	if now := rehearsal.Clock.ServerNowMS(); time.Since(time.UnixMilli(now)).Abs() > time.Hour || len(rehearsal.Known) != len(sim.DefaultSymbols()) {
		t.Errorf("want the time now and every symbol, have %d, %d", now, len(rehearsal.Known))
	}
	if _, err := (ReadOnly{rehearsal.Trading}).Do(t.Context(), exchange.Request{Operation: exchange.FuturesPlace, Order: order}); err == nil ||
		!strings.Contains(err.Error(), "a rehearsal sends nothing") {
		t.Errorf("an order: want nothing sent, have %v", err)
	}
	if have := wallet(t, (ReadOnly{rehearsal.Trading}).Do); have == (exchange.Amount{}) {
		t.Error("a read: want it answered")
	}
	if after, err := os.ReadFile(filepath.Join(directory, journal.AccountFile)); err != nil || string(after) != string(state) {
		t.Errorf("want the file left as it is, have it changed, %v", err)
	}
	public, running, err = OpenPublic(t.Context(), config)
	if err != nil || running || public.Where != "the demo's market" || time.Since(time.UnixMilli(public.NowMS())).Abs() > time.Hour {
		t.Errorf("of one that does not run: want its market as a new one begins, have %+v, %t, %v", public, running, err)
	}
	if answer, err := public.Ask(t.Context(), exchange.Request{Operation: exchange.FuturesTicker, Symbol: "BTC-USDT"}); err != nil ||
		len(answer.Tickers.Items()) == 0 {
		t.Errorf("want a price, have %+v, %v", answer.Tickers, err)
	}
	if of, other := closes(t, public.Do, public.NowMS()), closes(t, public.Do, public.NowMS()-int64(exchange.Hour1)); slices.Equal(of, other) {
		t.Errorf("want a market that moves, have %v", of)
	}
	for seed, same := range map[uint64]bool{1: true, 2: false} {
		x, err := newDemo(nil, DemoMarket{Seed: seed}, sim.DefaultAccount(DemoAccount))
		if err != nil {
			t.Fatal(err)
		}
		do := func(_ context.Context, request exchange.Request) (exchange.Answer, error) { return x.Do("", &request) }
		if of := closes(t, do, public.NowMS()); slices.Equal(of, closes(t, public.Do, public.NowMS())) != same {
			t.Errorf("seed %d: want the market of a new demo %t, have %v", seed, same, of)
		}
	}
	fresh, err := DemoCopy(config, t.TempDir())
	if err != nil || wallet(t, fresh.Trading.Do) != exchange.AmountOf(5) {
		t.Errorf("a demo that never ran: want the configured account, have %v", err)
	}
}

// The error has its exit code, and nothing is left running.
func TestDemoStartErrors(t *testing.T) {
	t.Parallel()
	busy := Network{Listen: func() (net.Listener, error) { return nil, net.ErrClosed }}
	for name, c := range map[string]struct {
		spoil   func(directory string) error
		network Network
		code    int
	}{
		"a state that cannot be read": {func(d string) error {
			return os.WriteFile(filepath.Join(d, journal.AccountFile), []byte("none"), 0o600)
		}, Network{},
			failure.Data},
		"no port":                 {func(string) error { return nil }, busy, failure.Unavailable},
		"no room for its address": {func(d string) error { return os.MkdirAll(filepath.Join(d, AddressFile, "occupied"), 0o700) }, Network{}, failure.IO},
	} {
		directory := filepath.Join(t.TempDir(), "demo")
		if err := errors.Join(os.Mkdir(directory, 0o700), c.spoil(directory)); err != nil {
			t.Fatal(err)
		}
		v, err := Open(t.Context(), demoConfig(), directory, DemoMarket{Seed: 3}, c.network)
		if failure.CodeOf(err) != c.code || v != nil {
			t.Errorf("%s: want exit code %d, have %v", name, c.code, err)
		}
	}
	directory := t.TempDir()
	if err := os.WriteFile(filepath.Join(directory, journal.AccountFile), []byte("none"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := DemoCopy(demoConfig(), directory); failure.CodeOf(err) != failure.Data {
		t.Errorf("a copy of what cannot be read: want exit code %d, have %v", failure.Data, err)
	}
	if err := errors.Join(os.Remove(filepath.Join(directory, journal.AccountFile)), os.Mkdir(filepath.Join(directory, journal.AccountFile),
		0o700)); err != nil {
		t.Fatal(err)
	}
	if _, err := DemoCopy(demoConfig(), directory); failure.CodeOf(err) != failure.IO {
		t.Errorf("a copy of a directory: want exit code %d, have %v", failure.IO, err)
	}
	file := filepath.Join(directory, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := DemoCopy(demoConfig(), file); failure.CodeOf(err) != failure.IO {
		t.Errorf("a copy of a file below a file: want exit code %d, have %v", failure.IO, err)
	}
}

// A symbol is found by its market and its name; a name with the same beginning is suggested.
func TestASymbolIsFoundOrSuggested(t *testing.T) {
	t.Parallel()
	v := &Public{Where: "the venue", Symbols: sim.DefaultSymbols()}
	futures, spot := *v.Symbols[0], *v.Symbols[0]
	futures.Market, spot.Market = exchange.Futures, exchange.Spot
	for _, name := range []string{"QUUX-USDT", "QUUX2-USDT"} { // the first of them is suggested, in its market alone
		one, other := futures, spot
		one.Name, other.Name = name, "SPOT"+name
		v.Symbols = append(v.Symbols, &one, &other)
	}
	for _, c := range []struct{ market, name, want string }{
		{"futures", "BTC-USDT", ""}, {"spot", "BTC-USDT", ""}, {"margin", "BTC-USDT", "--market: unknown market"},
		{"futures", "btcusd", "the venue has no futures symbol btcusd\nhint: did you mean BTC-USDT?"},
		{"futures", "BTC_USDT", "hint: did you mean BTC-USDT?"}, {"spot", "eth/", "the venue has no spot symbol eth/\nhint: did you mean ETH-USDT?"},
		{"futures", "quux", "hint: did you mean QUUX-USDT?"}, {"spot", "quux", "hint: botd markets lists the symbols"},
		{"spot", "spotquux", "hint: did you mean SPOTQUUX-USDT?"}, {"futures", "spotquux", "hint: botd markets lists the symbols"},
		{"futures", "ZZZ-USDT", "hint: botd markets lists the symbols"}, {"futures", "---", "hint: botd markets lists the symbols"},
	} {
		symbol, err := v.Find(c.market, c.name)
		if c.want == "" {
			if err != nil || symbol.Name != c.name || symbol.Market.String() != c.market {
				t.Errorf("%s %s: have %+v, %v", c.market, c.name, symbol, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.want) || failure.CodeOf(err) != failure.Usage {
			t.Errorf("%s %s: want %q, have %v", c.market, c.name, c.want, err)
		}
	}
	for in, want := range map[rune]rune{'A': 'A', 'Z': 'Z', '0': '0', '9': '9', '@': -1, '[': -1, '/': -1, ':': -1, 'a': -1} {
		if have := letters(in); have != want {
			t.Errorf("%q: want %q, have %q", in, want, have)
		}
	}
	for kind, code := range map[error]int{&exchange.Refusal{Message: "no"}: failure.Negative, context.DeadlineExceeded: failure.Unavailable} {
		v.Do = func(context.Context, exchange.Request) (exchange.Answer, error) { return exchange.Answer{}, kind }
		if _, err := v.Ask(t.Context(), exchange.Request{}); failure.CodeOf(err) != code || !strings.HasPrefix(err.Error(), "the venue: ") {
			t.Errorf("%v: want exit code %d, have %v", kind, code, err)
		}
	}
}

// The clock is read first, then the key, then the symbols.
func TestUnreachableVenueErrors(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	for name, text := range map[string]string{"key": "key", "secret": "secret"} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open := func(address string) error {
		config := &configs.Config{Mode: configs.Live, Exchange: configs.ExchangeConfig{BaseURL: address, KeyFile: filepath.Join(directory, "key"),
			SecretFile: filepath.Join(directory, "secret"), RequestsPerSecond: 100, Settle: configs.SettleConfig{Written: true}}}
		v, err := Open(t.Context(), config, directory, DemoMarket{}, Network{})
		if err != nil {
			t.Fatal(err)
		}
		return v.Reach(t.Context())
	}
	if err := open(lacking(t, "/none")); failure.CodeOf(err) != failure.Credentials || !strings.Contains(err.Error(), "hint: check key_file, secret_file") {
		t.Errorf("a key that the venue does not know: have %v", err)
	}
	down := httptest.NewServer(http.NotFoundHandler())
	down.Close()
	if err := open(down.URL); failure.CodeOf(err) != failure.Unavailable || !strings.HasPrefix(err.Error(), "reach "+down.URL+": ") {
		t.Errorf("a venue that is down: have %v", err)
	}
}

// An omitted item counts as zero, and only orders known to be open count.
func TestSameAccountIsRecognizedByContents(t *testing.T) {
	t.Parallel()
	of := func(asset string, free, frozen int64) exchange.Balance {
		return exchange.Balance{Asset: asset, Free: exchange.AmountOf(free), Frozen: exchange.AmountOf(frozen)}
	}
	all := func(b ...exchange.Balance) []exchange.Balance { return b }
	for _, c := range []struct {
		a, b []exchange.Balance
		want bool
	}{
		{nil, nil, true}, {all(of("USDT", 5, 0)), all(of("USDT", 5, 0)), true}, {all(of("USDT", 5, 0)), all(of("USDT", 3, 2)), true},
		{all(of("USDT", 5, 0), of("BTC", 0, 0)), all(of("USDT", 5, 0)), true}, {all(of("USDT", 5, 0)), nil, false}, {nil, all(of("USDT", 0, 1)), false},
		{all(of("USDT", 5, 0)), all(of("BTC", 5, 0)), false}, {all(of("USDT", 5, 1)), all(of("USDT", 5, 0)), false},
	} {
		if have := sameBalances(c.a, c.b); have != c.want {
			t.Errorf("%v and %v: want the same %t, have %t", c.a, c.b, c.want, have)
		}
	}
	key := exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
	order := func(state placement.State, id int64) account.Placement {
		return enginetest.Placement(record.Record{Strategy: "one", Symbol: key, ClientOrderID: "b", Body: record.Sending{Purpose: placement.Entry,
			Order: exchange.NewOrder{Market: key.Market, Symbol: key.Name, Side: exchange.Buy, Type: exchange.MarketOrder}}}, state, id)
	}
	seen := &engine.Status{Live: []account.Placement{order(placement.Working, 7), order(placement.Working, 0), order(placement.Uncertain, 8),
		order(placement.Working, 1)}}
	if have := workingOf(seen); len(have) != 2 || have[0] != 7 || have[1] != 1 {
		t.Errorf("want the orders 7 and 1, have %v", have)
	}
}

// Each symbol is declared once, since the time of its data, until new data come.
func TestFeedsThatAreTooOldAreDeclared(t *testing.T) {
	t.Parallel()
	v := &Exchange{}
	bitcoin, ether := exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}, exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"}
	states := func() string {
		var all []string
		for _, d := range v.Degraded() {
			since := "now"
			if time.Since(time.UnixMilli(d.SinceMS)) > time.Hour {
				since = strconv.FormatInt(d.SinceMS, 10)
			}
			all = append(all, d.State+" "+d.Scope.Symbol.Name+" since "+since+", "+d.Cause)
		}
		return strings.Join(all, "; ")
	}
	for _, step := range []struct {
		seen paper.Staleness
		want string
	}{
		{paper.Staleness{Key: bitcoin}, ""},
		{paper.Staleness{Key: bitcoin, Stale: true, SinceMS: 7}, "stale BTC-USDT since 7, the venue's data are older than paper.max_age"},
		{paper.Staleness{Key: bitcoin, Stale: true, SinceMS: 9, Reason: "503"}, "stale BTC-USDT since 7, the venue's data are older than paper.max_age: 503"},
		{paper.Staleness{Key: ether, Stale: true}, "stale BTC-USDT since 7, the venue's data are older than paper.max_age: 503; " +
			"stale ETH-USDT since now, the venue has sent no data yet"},
		{paper.Staleness{Key: bitcoin}, "stale ETH-USDT since now, the venue has sent no data yet"},
		{paper.Staleness{Key: bitcoin}, "stale ETH-USDT since now, the venue has sent no data yet"},
		{paper.Staleness{Key: ether}, ""},
	} {
		if v.stale.record(step.seen); states() != step.want {
			t.Errorf("after %+v: want %q, have %q", step.seen, step.want, states())
		}
	}
}

// The messages are logged in their order, and once.
func TestEarlyVenueMessagesAreLoggedLater(t *testing.T) {
	t.Parallel()
	v, logs := &Exchange{}, ops.NewLogs()
	v.messages.log("paper.state", "first")
	v.messages.log("paper.state", "second")
	v.LogTo(ops.NewConsole(io.Discard, ops.Format{JSON: true}, ops.NewMetrics("paper", ops.Build{}), logs))
	v.messages.log("paper.state", "third")
	again := ops.NewLogs()
	v.LogTo(ops.NewConsole(io.Discard, ops.Format{JSON: true}, ops.NewMetrics("paper", ops.Build{}), again)) // which has no older ones
	v.messages.log("paper.state", "fourth")
	for from, want := range map[*ops.Logs]string{logs: "paper.state paper     first paper.state paper     second paper.state paper     third",
		again: "paper.state paper     fourth"} {
		var have []string
		from.Lines(func(lines []ops.LogLine) {
			for _, line := range lines {
				have = append(have, line.Event, line.Message)
			}
		})
		if strings.Join(have, " ") != want {
			t.Errorf("want %q, have %q", want, have)
		}
	}
}

// Each market has its own words; a word that is no status is ignored.
func TestProfileConversion(t *testing.T) {
	t.Parallel()
	p := Profile(&configs.ProfileConfig{NullLists: configs.NullIsEmpty, NumberNoise: configs.NoiseHalfTick, FuturesWords: map[string]string{"DONE": "FILLED",
		"ODD": "NO STATUS"}, SpotWords: map[string]string{"DONE": "CANCELED"}})
	if !p.NullLists || !p.HalfTick || len(p.StatusWords[exchange.Futures]) != 1 || p.StatusWords[exchange.Futures]["DONE"] != exchange.StatusFilled ||
		p.StatusWords[exchange.Spot]["DONE"] != exchange.StatusCanceled {
		t.Errorf("have %+v", p)
	}
	if p := Profile(&configs.ProfileConfig{NullLists: configs.NullIsError, NumberNoise: configs.NoiseOfFloats}); p.NullLists || p.HalfTick {
		t.Errorf("have %+v", p)
	}
	traded := Traded(&configs.Config{Strategies: []configs.StrategyConfig{{Market: exchange.Futures, Symbol: "A"}, {Market: exchange.Spot, Symbol: "B"}}})
	if len(traded) != 2 || traded[0] != (exchange.SymbolKey{Market: exchange.Futures, Name: "A"}) || traded[1] != (exchange.SymbolKey{Market: exchange.Spot,
		Name: "B"}) {
		t.Errorf("have %v", traded)
	}
}

// A paper account has the configured wallet, and another venue's prices. It is stored when it stops, and a copy of it
// is readable.
func TestPaperAccountTradesAtVenuePrices(t *testing.T) {
	t.Parallel()
	directory, config := t.TempDir(), demoConfig()
	config.Mode, config.Paper = configs.Paper, configs.PaperConfig{PollMS: 1_000, MaxAgeMS: 60_000}
	config.Exchange.BaseURL, config.Exchange.RequestsPerSecond = lacking(t, "/none"), 1_000
	config.Strategies = []configs.StrategyConfig{{Market: exchange.Futures, Symbol: "BTC-USDT"}}
	open := func() *Exchange {
		t.Helper()
		v, err := Open(t.Context(), config, directory, DemoMarket{}, Network{})
		if err != nil {
			t.Fatal(err)
		}
		v.Measure(ops.NewMetrics("paper", ops.Build{}))
		if err := errors.Join(v.Reach(t.Context()), v.Reach(t.Context())); err != nil { // the second time there is nothing to do
			t.Fatal(err)
		}
		return v
	}
	v := open()
	if v.Binding.Mode != "paper" || v.Binding.URL != config.Exchange.BaseURL || v.Binding.Instance != "main" || v.Binding.KeyFingerprint == "" {
		t.Errorf("have %+v", v.Binding)
	}
	if have := wallet(t, v.Trading.Do); have != exchange.AmountOf(1_234) {
		t.Errorf("want the configured wallet, have %s", have)
	}
	price, err := v.Trading.Do(t.Context(), exchange.Request{Operation: exchange.FuturesTicker, Symbol: "BTC-USDT"})
	if err != nil || len(price.Tickers.Items()) != 1 || price.Tickers.Items()[0].Last == 0 {
		t.Errorf("want the venue's price, have %+v, %v", price.Tickers, err)
	}
	v.Watch(exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"})
	if err := v.Stop(); err != nil {
		t.Error(err)
	}
	config.Simulated.Futures = exchange.AmountOf(5) // for a new account
	again := open()
	if have := wallet(t, again.Trading.Do); have != exchange.AmountOf(1_234) {
		t.Errorf("the next run: want the account as it was left, have %s", have)
	}
	if err := again.Stop(); err != nil {
		t.Error(err)
	}
	for where, want := range map[string]exchange.Amount{directory: exchange.AmountOf(1_234), t.TempDir(): exchange.AmountOf(5)} {
		rehearsal, err := OpenCopy(t.Context(), config, where)
		if err != nil {
			t.Fatal(err)
		}
		if have := wallet(t, rehearsal.Trading.Do); have != want || rehearsal.Where != "the public data of "+config.Exchange.BaseURL {
			t.Errorf("a copy: want %s, have %s at %s", want, have, rehearsal.Where)
		}
		rehearsal.Stop()
	}
	public, running, err := OpenPublic(t.Context(), config)
	if err != nil || !running || public.Where != config.Exchange.BaseURL {
		t.Errorf("want what is public of the venue, have %+v, %t, %v", public, running, err)
	}
	path := filepath.Join(directory, journal.AccountFile)
	if err := os.WriteFile(path, []byte("none"), 0o600); err != nil {
		t.Fatal(err)
	}
	spoiled, err := Open(t.Context(), config, directory, DemoMarket{}, Network{})
	if err == nil {
		err = spoiled.Reach(t.Context())
	}
	if failure.CodeOf(err) != failure.Data {
		t.Errorf("an account that cannot be read: want exit code %d, have %v", failure.Data, err)
	}
	if _, err := OpenCopy(t.Context(), config, directory); failure.CodeOf(err) != failure.Data {
		t.Errorf("a copy of it: want exit code %d, have %v", failure.Data, err)
	}
	for _, address := range []string{"no address", "http://127.0.0.1:1"} {
		config.Exchange.BaseURL = address
		if _, _, err := OpenPublic(t.Context(), config); err == nil {
			t.Errorf("%s: want what is public of nothing refused", address)
		}
		if _, err := OpenCopy(t.Context(), config, directory); err == nil {
			t.Errorf("%s: want a copy beside nothing refused", address)
		}
	}
	config.Mode, config.Exchange.KeyFile = configs.Live, filepath.Join(directory, "missing")
	if _, err := Open(t.Context(), config, directory, DemoMarket{}, Network{}); failure.CodeOf(err) != failure.Credentials {
		t.Errorf("live without a key: want exit code %d, have %v", failure.Credentials, err)
	}
}
