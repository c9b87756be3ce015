package server

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/wire"
)

func noFiles() Loaders {
	missing := errors.New("no such file")
	return Loaders{
		Tape:    func(string, *exchange.Symbol) (*exchange.Candles, error) { return nil, missing },
		Funding: func(string) (map[string][]sim.FundingPoint, error) { return nil, missing },
		Symbols: func(string) ([]*exchange.Symbol, error) { return nil, missing },
	}
}

func TestInvalidOptionsAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		options Options
		hint    string
	}{
		{Options{Accounts: []string{"KEY"}}, "account 1"},
		{Options{Accounts: []string{"KEY:S", "KEY2:TOPSECRET:write"}}, "account 2"},
		{Options{Accounts: []string{":SECRET"}}, "account 1"},
		{Options{Accounts: []string{"KEY:A", "KEY:B"}}, "twice"},
		{Options{Accounts: []string{"KEY:"}}, "account 1"},
		{Options{Accounts: []string{"KEY:SECRET:"}}, "account 1"},
		{Options{Accounts: []string{"KEY:SECRET:read:all"}}, "account 1"},
		{Options{Custom: []CustomAccount{{Account: Account{Key: "KEY"}}}}, "no key or no secret"},
		{Options{Custom: []CustomAccount{{Account: Account{Secret: "S"}}}}, "no key or no secret"},
		{Options{Custom: []CustomAccount{{Account{"KEY", "S", false}, sim.AccountConfig{FuturesUSDT: exchange.AmountOf(-1)}}}}, "below 0"},
		{Options{Delay: 9 * 24 * time.Hour}, "order delay"},
		{Options{DelaySpread: -time.Second}, "delay spread"},
		{Options{Opposite: "hedge"}, "hedge"},
		{Options{Variants: []string{"nonsense"}}, "nonsense"},
		{Options{Window: -time.Second}, "window"},
		{Options{Start: "1970-01-01T00:00:00Z"}, "after 1970"},
		{Options{Start: "1969-12-31T23:59:59Z"}, "after 1970"},
		{Options{Signer: wire.Signer{Template: "{nonsense}"}}, "nonsense"},
		{Options{Clock: "sundial"}, "sundial"},
		{Options{Start: "yesterday"}, "yesterday"},
		{Options{Speed: -1}, "speed"},
		{Options{Budget: -1}, "budget"},
		{Options{Market: "nowhere.csv"}, "no such file"},
		{Options{Funding: "nowhere.csv"}, "no such file"},
		{Options{Symbols: "nowhere.yaml"}, "no such file"},
		{Options{Control: true, Listen: "0.0.0.0:0"}, "control"},
		{Options{Listen: "nowhere"}, "nowhere"},
	} {
		if c.options.Listen == "" {
			c.options.Listen = "127.0.0.1:0"
		}
		c.options.Market = cmp.Or(c.options.Market, "still")
		_, listener, err := Open(c.options, noFiles())
		if err == nil {
			listener.Close()
			t.Errorf("%+v: want an error, have none", c.options)
			continue
		}
		if !strings.Contains(err.Error(), c.hint) || strings.Contains(err.Error(), "TOPSECRET") {
			t.Errorf("want an error about %q without a secret, have %v", c.hint, err)
		}
	}
}

func TestAFileOfCandlesIsPlayedOnBitcoinWhereItHasSome(t *testing.T) {
	t.Parallel()
	load := noFiles()
	load.Tape = func(string, *exchange.Symbol) (*exchange.Candles, error) {
		return &exchange.Candles{Interval: exchange.Minute1}, nil
	}
	options := Options{Listen: "127.0.0.1:0", Market: "empty.csv"}
	if _, _, err := Open(options, load); err == nil || !strings.Contains(err.Error(), "empty.csv has no candles") {
		t.Errorf("without candles: have %v", err)
	}
	load.Symbols = func(string) ([]*exchange.Symbol, error) { return sim.DefaultSymbols()[1:2], nil } // ETH-USDT only
	options.Symbols = "symbols.yaml"
	if _, _, err := Open(options, load); err == nil || !strings.Contains(err.Error(), "BTC-USDT, which the symbols lack") {
		t.Errorf("without the symbol: have %v", err)
	}
	load.Symbols = func(string) ([]*exchange.Symbol, error) { return nil, nil }
	options.Market = "still"
	if _, _, err := Open(options, load); err == nil || !strings.Contains(err.Error(), "needs symbols") {
		t.Errorf("without symbols: have %v", err)
	}
}

// The random market would otherwise use its own rates.
func TestFundingWithoutRowInFileIsZero(t *testing.T) {
	t.Parallel()
	rate := func(c *trader, symbol string) string {
		var answer struct{ FundingRate string }
		c.send("GET", "/fapi/v1/funding-rate/"+symbol, "", nil).read(t, &answer)
		return answer.FundingRate
	}
	load := noFiles()
	load.Funding = func(string) (map[string][]sim.FundingPoint, error) {
		return map[string][]sim.FundingPoint{"BTC-USDT": {{TimeMS: manualStartMS + 8*3_600_000, Rate: 100}}}, nil
	}
	_, with := open(t, Options{Clock: "manual", Funding: "rates.csv"}, load)
	_, without := open(t, Options{Clock: "manual"}, load)
	if have := rate(with, "BTC-USDT"); have != "0.000001" {
		t.Errorf("want the rate of the row, have %s", have)
	}
	if have := rate(with, "ETH-USDT"); have != "0" {
		t.Errorf("without a row: want 0, have %s", have)
	}
	if have := rate(without, "ETH-USDT"); have == "0" {
		t.Error("without a file: want the market's own rate, have 0")
	}
	load.Symbols = func(string) ([]*exchange.Symbol, error) { // a futures exchange: no symbol of spot has the name
		only, _ := exchange.FindSymbol(sim.DefaultSymbols(), exchange.Futures, "BTC-USDT")
		return []*exchange.Symbol{only}, nil
	}
	_, futures := open(t, Options{Clock: "manual", Funding: "rates.csv", Symbols: "symbols.yaml"}, load)
	if have := rate(futures, "BTC-USDT"); have != "0.000001" {
		t.Errorf("without spot: want the rate of the row, have %s", have)
	}
}

func TestAnAccountOfAFileHasItsOwnDepositsAndFees(t *testing.T) {
	t.Parallel()
	options := Options{FuturesFees: Fees{Taker: 70_000}, Custom: []CustomAccount{{Account{"RICH", "S", false},
		sim.AccountConfig{Name: "another", FuturesUSDT: exchange.AmountOf(7), SpotMaker: 1}}}}
	if have := options.account("RICH"); have.Name != "RICH" || have.FuturesUSDT != exchange.AmountOf(7) || have.SpotMaker != 1 || have.FuturesTaker != 0 {
		t.Errorf("want the file's values, have %+v", have)
	}
	have, want := options.account("KEY"), sim.DefaultAccount("KEY")
	if want.FuturesTaker = 70_000; have.FuturesTaker != want.FuturesTaker || have.FuturesMaker != want.FuturesMaker || have.FuturesUSDT != want.FuturesUSDT {
		t.Errorf("want the default with the fee that is set, have %+v", have)
	}
}

// open serves options over a socket until the test ends.
func open(t *testing.T, options Options, load Loaders) (*Server, *trader) {
	t.Helper()
	options.Listen, options.Control, options.Log = "127.0.0.1:0", true, t.Logf
	options.Accounts = []string{testKey + ":" + testSecret, readKey + ":" + readSecret + ":read"}
	s, listener, err := Open(options, load)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, listener) }()
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve: want nil, have %v", err)
		}
	})
	return s, &trader{t, client, "http://" + listener.Addr().String(), testKey, testSecret, s.clock.nowMS}
}

func TestAStillMarketHasItsPricesOnAManualClock(t *testing.T) {
	t.Parallel()
	_, c := open(t, Options{Market: "still", Clock: "manual"}, noFiles())
	for symbol, want := range map[string]string{"BTC-USDT": "50000", "ETH-USDT": "2500", "SOL-USDT": "100", "PEPE-USDT": "0.00001"} {
		var ticker struct{ LastPrice string }
		c.send("GET", "/fapi/v1/ticker/"+symbol, "", nil).read(t, &ticker)
		if ticker.LastPrice != want {
			t.Errorf("%s: want %s, have %s", symbol, want, ticker.LastPrice)
		}
	}
	if want := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli(); c.nowMS() != want {
		t.Errorf("want the clock at %d, have %d", want, c.nowMS())
	}
	c.key, c.secret = readKey, readSecret
	c.call("POST", "/fhapi/v1/order", buyMarket).wantRefusal(t, 403, exchange.CodeNotPermitted)
}

func TestTheSameSeedGivesTheSameCandles(t *testing.T) {
	t.Parallel()
	candles := func(seed uint64) string {
		_, c := open(t, Options{Market: "random", Seed: seed, Clock: "manual", Start: "2026-03-01T00:00:00Z"}, noFiles())
		c.advance(10 * 60_000)
		a := c.send("GET", "/fapi/v1/candle?symbol=BTC-USDT&interval=1m&limit=20", "", nil)
		a.want(t, 200)
		return a.body
	}
	first := candles(7)
	if again := candles(7); again != first {
		t.Errorf("want the same candles, have\n%s\n%s", first, again)
	}
	if other := candles(8); other == first {
		t.Error("seed 8: want other candles, have those of seed 7")
	}
}

func TestRecordedCandlesRunFromTheFirstOpenTimeAtTheirSpeed(t *testing.T) {
	t.Parallel()
	const openMS = 1_700_000_040_000
	var asked []string
	load := noFiles()
	load.Tape = func(path string, symbol *exchange.Symbol) (*exchange.Candles, error) {
		asked = append(asked, path+" "+symbol.Key().String())
		candles := &exchange.Candles{Interval: exchange.Minute1}
		for i := range int64(3) {
			price := symbol.PriceTick * exchange.Price(300_000+i*10)
			candles.Append(exchange.Candle{OpenMS: openMS + i*60_000, Open: price, High: price, Low: price, Close: price, Volume: 1})
		}
		return candles, nil
	}
	load.Funding = func(string) (map[string][]sim.FundingPoint, error) {
		return map[string][]sim.FundingPoint{"BTC-USDT": {{TimeMS: 1_700_006_400_000, Rate: 12_345}}}, nil
	}
	s, c := open(t, Options{Market: "tape.csv", Funding: "rates.csv", Clock: "manual"}, load)
	if want := "tape.csv futures BTC-USDT, tape.csv spot BTC-USDT"; strings.Join(asked, ", ") != want {
		t.Errorf("want %q loaded, have %q", want, strings.Join(asked, ", "))
	}
	if s.clock.nowMS() != openMS {
		t.Errorf("want the clock at %d, have %d", int64(openMS), s.clock.nowMS())
	}
	c.advance(60_000)
	for _, target := range []string{"/fapi/v1/ticker/BTC-USDT", "/api/v1/spot/public/ticker/BTC-USDT"} {
		var ticker struct{ LastPrice string }
		c.send("GET", target, "", nil).read(t, &ticker)
		if ticker.LastPrice != "30001" {
			t.Errorf("%s: want 30001 after a minute, have %q", target, ticker.LastPrice)
		}
	}
	var rate struct{ FundingRate string }
	c.send("GET", "/fapi/v1/funding-rate/BTC-USDT", "", nil).read(t, &rate)
	if rate.FundingRate != "0.00012345" {
		t.Errorf("want the recorded rate 0.00012345, have %q", rate.FundingRate)
	}
	fast, c := open(t, Options{Market: "tape.csv", Speed: 600}, load)
	if now := fast.clock.nowMS(); now < openMS || now > openMS+600_000 {
		t.Errorf("want a fast clock a little after %d, have %d", int64(openMS), now)
	}
	header := c.sign("GET", "/fhapi/v1/leverage", "", c.nowMS()-600*4_000)
	c.send("GET", "/fhapi/v1/leverage", "", header).want(t, 200) // 4 s late, times 600
}

func TestAnExchangeWithStateContinuesWhereItStopped(t *testing.T) {
	t.Parallel()
	options := Options{Market: "random", Seed: 3, Clock: "manual", State: filepath.Join(t.TempDir(), "state")}
	first, c := open(t, options, noFiles())
	c.place(buyMarket)
	c.advance(60_000)
	want := c.call("POST", "/fhapi/v1/positions/open", "{}")
	if err := first.state.close(); err != nil {
		t.Fatal(err)
	}
	restarted, again := open(t, options, noFiles())
	if restarted.clock.nowMS() != manualStartMS+60_000 {
		t.Errorf("want the clock at %d, have %d", int64(manualStartMS+60_000), restarted.clock.nowMS())
	}
	if have := again.call("POST", "/fhapi/v1/positions/open", "{}"); want.body != have.body || !strings.Contains(have.body, "BTC-USDT") {
		t.Errorf("want the position %s, have %s", want.body, have.body)
	}
}

func TestVenueSettings(t *testing.T) {
	t.Parallel()
	o := Options{Listen: "127.0.0.1:0", Market: "still", Clock: "manual", Accounts: []string{"KEY:SECRET"}, Window: time.Second, Delay: -1,
		FuturesFees: Fees{Maker: -1, Taker: 1_000_000}, SpotFees: Fees{Taker: 300_000}}
	config, err := o.config(noFiles())
	if err != nil {
		t.Fatal(err)
	}
	account := config.NewAccount("KEY")
	if want, have := [4]exchange.Rate{0, 1_000_000, 100_000, 300_000},
		[4]exchange.Rate{account.FuturesMaker, account.FuturesTaker, account.SpotMaker, account.SpotTaker}; want != have {
		t.Errorf("fees: want %v, have %v", want, have)
	}
	if want, have := int64(1000), startClock(t, config.Clock, 0).windowMS(); want != have {
		t.Errorf("window: want %d ms, have %d ms", want, have)
	}
	for _, c := range []struct {
		delay time.Duration
		want  int64
	}{{0, sim.DefaultOrderDelayMS}, {-1, 0}, {20 * time.Millisecond, 20}} {
		o.Delay = c.delay
		if have, _, err := o.delays(); err != nil || have != c.want {
			t.Errorf("delay %s: want %d ms, have %d ms and %v", c.delay, c.want, have, err)
		}
	}
}
