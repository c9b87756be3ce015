package report_test

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"botd/backtest"
	"botd/backtest/parity"
	"botd/backtest/report"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/runtime/engine"
	"botd/strategy"
	"botd/strategy/library"
)

// example is a run over two months of an invented market.
func example(t testing.TB, candles int) (*backtest.Result, []report.Source) {
	t.Helper()
	symbol, err := exchange.NewSymbol(
		exchange.SymbolSpec{
			Market:               exchange.Futures,
			Name:                 "BTC-USDT",
			Base:                 "BTC",
			Quote:                "USDT",
			PriceTick:            decimal.RequireFromString("0.1"),
			QuantityTick:         decimal.RequireFromString("0.001"),
			MinNotional:          decimal.NewFromInt(5),
			MaxNotional:          decimal.NewFromInt(1_000_000),
			Tradable:             true,
			Cancelable:           true,
			FundingIntervalHours: 8,
			Brackets:             []exchange.Bracket{{Max: exchange.AmountOf(1_000_000), MarginRatio: 400_000, MaxLeverage: 50}},
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	recorded := &tape.Tape{Symbol: symbol, Candles: tape.Generate(7, symbol, exchange.Minute15, 1_704_067_200_000, candles)}
	definition, found := strategy.NewRegistry(library.All()...).Find("sma_cross")
	if !found {
		t.Fatal("no sma_cross")
	}
	size := strategy.Size{Equity: exchange.RateOne}
	leg := backtest.Leg{
		Kind:     "sma_cross",
		Tape:     recorded,
		Strategy: engine.StrategyConfig{Name: "<b>trend</b> & co", Symbol: symbol, Interval: exchange.Minute15, Leverage: 3, Size: size},
		Make: func(over *tape.Tape) (strategy.Strategy, error) {
			return definition.New(strategy.Setting{Market: exchange.Futures, Symbol: over.Symbol, Interval: exchange.Minute15, Size: size},
				strategy.Values{"fast": "10", "slow": "40", "mode": "long_short"})
		},
	}
	leg.Strategy.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 25}}
	config := backtest.Config{Legs: []backtest.Leg{leg}, Cash: exchange.AmountOf(10_000), Version: "test",
		Costs: backtest.Costs{Futures: backtest.Fees{Maker: 20_000, Taker: 50_000}, Slippage: 10_000, Funding: 10_000}}
	result, err := backtest.RunColumns(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	if result.Study, err = backtest.RunStudy(context.Background(), config, result); err != nil {
		t.Fatal(err)
	}
	plots := library.PlotsOf("sma_cross", "", strategy.Values{"fast": "10", "slow": "40"})
	return result, []report.Source{{Symbol: symbol, Candles: recorded.Candles, Plots: plots}}
}

func written(t testing.TB, result *backtest.Result, sources []report.Source) string {
	t.Helper()
	var page bytes.Buffer
	if err := report.Write(&page, result, sources, nil); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

// TestTheReportsDirectoryHasThePage checks that the page is next to the tables, with the candles of each of
// the run's strategies.
func TestTheReportsDirectoryHasThePage(t *testing.T) {
	t.Parallel()
	result, sources := example(t, 3_000)
	config := backtest.Config{}
	for _, source := range sources {
		config.Legs = append(config.Legs, backtest.Leg{Tape: &tape.Tape{Symbol: source.Symbol, Candles: source.Candles}, Plots: source.Plots})
	}
	directory := filepath.Join(t.TempDir(), "report")
	if err := report.WriteDirectory(directory, config, result, nil); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(directory, "report.html"))
	if err != nil || string(page) != written(t, result, sources) {
		t.Errorf("want the run's page, have %d bytes, %v", len(page), err)
	}
}

func TestThePageHasEverySectionAndFigure(t *testing.T) {
	t.Parallel()
	result, sources := example(t, 6_000)
	page := written(t, result, sources)
	for _, id := range []string{"equity", "candles", "columns", "months", "trades", "orders", "trust", "figures", "made"} {
		if !strings.Contains(page, `<section id="`+id+`"`) {
			t.Errorf("no section %s", id)
		}
	}
	for _, part := range append([]string{"ideal", "realistic", "pessimistic", "one candle later", "fees twice", "Ulcer index", "Probabilistic Sharpe",
		"Lightweight Charts", "exit</th>", "weekday",
		"N = 62 days, P = 365", "Daily returns", "stop_loss", "random sequences", result.ResultSHA256, result.DataSHA256}, result.Assumptions...) {
		if !strings.Contains(page, part) && !strings.Contains(page, strings.ReplaceAll(part, "'", "&#39;")) {
			t.Errorf("the page does not say %q", part)
		}
	}
	if strings.Contains(page, "<b>trend</b>") || !strings.Contains(page, "&lt;b&gt;trend") {
		t.Error("a name is not escaped")
	}
}

// TestPageNeedsNoNetwork checks what the policy allows and what the page refers to.
func TestPageNeedsNoNetwork(t *testing.T) {
	t.Parallel()
	result, sources := example(t, 3_000)
	page := written(t, result, sources)
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)
	if policy == nil || !strings.HasPrefix(policy[1], "default-src 'none'; style-src 'sha256-") || strings.Contains(policy[1], "unsafe") ||
		strings.Contains(policy[1], "http") {
		t.Fatalf("want a policy that allows hashes alone, have %v", policy)
	}
	if _, scripts, _ := strings.Cut(policy[1], "script-src "); strings.Count(scripts[:strings.Index(scripts, ";")], "'sha256-") != 2 {
		t.Errorf("want the page's script and the library's alone to run, have %s", policy[1])
	}
	if refers := regexp.MustCompile(`(?i)(src|href|action|srcset)\s*=\s*["']?(https?:|//)`).FindString(page); refers != "" {
		t.Errorf("the page refers to another place: %s", refers)
	}
	if inline := regexp.MustCompile(`<[a-z]+[^>]*\s(style|on[a-z]+)=`).
		FindString(page[:strings.Index(page, `<script type="text/plain"`)]); inline != "" {
		t.Errorf("an attribute that the policy forbids: %s", inline)
	}
}

// A strategy with a position of a tenth moves a tenth, and its benchmark is scaled accordingly.
func TestBuyAndHoldIsDrawnAtEquityVolatility(t *testing.T) {
	t.Parallel()
	have := report.Evened([]float64{100, 110, 99}, []float64{100, 101, 99.99}) // +10 %, -10 % against +1 %, -1 %
	for i, want := range []float64{100, 101, 99.99} {
		if diff := have[i] - want; diff > 0.02 || diff < -0.02 {
			t.Errorf("point %d: want %v, have %v", i, want, have[i])
		}
	}
	flat := []float64{100, 100, 100}
	if have := report.Evened([]float64{100, 110, 99}, flat); have[1] != 110 {
		t.Errorf("beside a flat line it stays: have %v", have)
	}
}

// The first candle's change is scaled as all others are.
func TestBuyAndHoldStartsWithSameEquity(t *testing.T) {
	t.Parallel()
	result, sources := example(t, 1_500)
	var data struct{ Equity struct{ E, H []float64 } }
	if err := json.Unmarshal([]byte(unpacked(t, written(t, result, sources))), &data); err != nil {
		t.Fatal(err)
	}
	held, equity, candles := []float64{10_000}, append([]float64{10_000}, data.Equity.E...), sources[0].Candles
	for _, price := range candles.Close {
		held = append(held, 10_000*float64(price)/float64(candles.Open[0]))
	}
	if len(held) != len(equity) || len(data.Equity.H) != len(data.Equity.E) {
		t.Fatalf("want a point a candle, have %d and %d", len(data.Equity.E), candles.Len())
	}
	want := report.Evened(held, equity)[1]
	if have := data.Equity.H[0]; have < want-0.02 || have > want+0.02 || have == held[1] {
		t.Errorf("the first point: want %v, have %v (%v without scaling)", want, have, held[1])
	}
}

// unpacked returns the data of a page's charts.
func unpacked(t *testing.T, page string) string {
	t.Helper()
	text := regexp.MustCompile(`(?s)id="data" data-size="\d+">(.*?)</script>`).FindStringSubmatch(page)
	small, err := base64.StdEncoding.DecodeString(text[1])
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(flate.NewReader(bytes.NewReader(small)))
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}

func TestTheChartsDataAreTheRuns(t *testing.T) {
	t.Parallel()
	result, sources := example(t, 6_000)
	page := written(t, result, sources)
	var data struct {
		Equity struct {
			E, H, D, L []float64
			T          []int64
		}
		Series []struct {
			T, O, H, L, C []int64
			Places        int
			Fills         struct{ T []int64 }
			Levels        struct {
				A, B []int64
				P    []float64
				S    []int
			}
		}
		Trips struct{ G []float64 }
	}
	if err := json.Unmarshal([]byte(unpacked(t, page)), &data); err != nil {
		t.Fatal(err)
	}
	if n := len(data.Equity.E); n < 1_000 || n > 3_001 || len(data.Equity.H) != n || len(data.Equity.D) != n || len(data.Equity.L) != n {
		t.Fatalf("equity: have %d points", n)
	}
	if last, want := data.Equity.E[len(data.Equity.E)-1], exchange.MustAmount(result.FinalEquity).Float(); last < want-0.01 || last > want+0.01 {
		t.Errorf("the last point: want %v, have %v", want, last)
	}
	worst := 0.0
	for _, d := range data.Equity.D {
		worst = min(worst, d)
	}
	if diff := -worst - result.MaxDrawdown; diff > 0.001 || diff < -0.001 {
		t.Errorf("the deepest fall drawn: want %v, have %v", result.MaxDrawdown, -worst)
	}
	s, candles := data.Series[0], sources[0].Candles
	if len(s.T) != candles.Len() || len(s.Fills.T) != result.Fills || len(data.Trips.G) != result.RoundTrips ||
		len(s.Levels.A) < result.RoundTrips/2 {
		t.Errorf("want %d candles, %d fills, %d trips and their stops; have %d, %d, %d, %d", candles.Len(), result.Fills, result.RoundTrips, len(s.T),
			len(s.Fills.T), len(data.Trips.G), len(s.Levels.A))
	}
	stops := 0
	for i, l := range result.Levels() {
		stop := map[bool]int{true: 1}[l.Stop]
		if stops += stop; s.Levels.S[i] != stop || s.Levels.P[i] != float64(l.Price)*sources[0].Symbol.PriceFloat(1) {
			t.Fatalf("level %d: want %+v, have %d at %v", i, l, s.Levels.S[i], s.Levels.P[i])
		}
	}
	if stops < 3 {
		t.Errorf("want its stops, have %d", stops)
	}
	last, at := int64(0), int64(0)
	for i := range s.T {
		if at += s.T[i]; at != candles.OpenMS[i]/1000 {
			t.Fatalf("candle %d: want it at %d, have %d", i, candles.OpenMS[i]/1000, at)
		}
		open := last + s.O[i]
		last = open + s.C[i]
		if open != int64(candles.Open[i]) || last != int64(candles.Close[i]) || open+s.H[i] != int64(candles.High[i]) ||
			open-s.L[i] != int64(candles.Low[i]) {
			t.Fatalf("candle %d is not what was recorded", i)
		}
	}
}

// TestTheIndicatorsAreThoseOfTheCandles computes the mean of ten closes itself, in a page of all candles and in one with merged
// candles. There the value is that of the last candle inside.
func TestTheIndicatorsAreThoseOfTheCandles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ candles, each int }{{3_000, 1}, {24_000, 4}} {
		result, sources := example(t, c.candles)
		var data struct {
			Series []struct {
				T     []int64
				Lines []struct {
					Name string
					Own  bool
					U    float64
					From int
					V    []int64
				}
			}
		}
		if err := json.Unmarshal([]byte(unpacked(t, written(t, result, sources))), &data); err != nil {
			t.Fatal(err)
		}
		s := data.Series[0]
		if len(s.Lines) != 2 || s.Lines[0].Name != "sma 10" || s.Lines[1].Name != "sma 40" || s.Lines[0].Own {
			t.Fatalf("want the lines sma 10 and sma 40 over the price, have %+v", s.Lines)
		}
		fast, candles, value := s.Lines[0], sources[0].Candles, int64(0)
		if want := (9 + c.each - 1) / c.each; fast.From > want || len(fast.V)+fast.From != len(s.T) {
			t.Errorf("want a value from candle %d to %d, have %d from %d", want, len(s.T), len(fast.V), fast.From)
		}
		for k, distance := range fast.V {
			value += distance
			last := min((fast.From+k)*c.each+c.each-1, candles.Len()-1)
			sum := 0.0
			for _, price := range candles.Close[last-9 : last+1] {
				sum += sources[0].Symbol.PriceFloat(price)
			}
			if off := float64(value)*fast.U - sum/10; off > 1 || off < -1 {
				t.Fatalf("%d candles, value %d: want %.2f, have %.2f", c.candles, k, sum/10, float64(value)*fast.U)
			}
		}
	}
}

// TestALongRunIsPutTogether keeps a page small however long the run is.
func TestALongRunIsPutTogether(t *testing.T) {
	t.Parallel()
	result, sources := example(t, 24_000)
	page := written(t, result, sources)
	t.Logf("24000 candles, %d fills: %d bytes", result.Fills, len(page))
	if size := len(page); size > 400<<10 {
		t.Errorf("24000 candles, %d fills: want at most 400 KB, have %d bytes", result.Fills, size)
	}
	if !strings.Contains(unpacked(t, page), `"interval":"1h"`) {
		t.Error("want candles of an hour in the chart")
	}
}

func TestARunWithoutATradeHasAPage(t *testing.T) {
	t.Parallel()
	result, sources := example(t, 20)
	page := written(t, result, sources)
	if result.RoundTrips != 0 || !strings.Contains(page, "No round trip was completed") || !strings.Contains(page, "no trade was executed") {
		t.Errorf("%d round trips: want a page that shows it", result.RoundTrips)
	}
}

// browser is Chromium's headless shell; tests of it are skipped without one, or fail when BOTD_REQUIRE names browser. A whole
// Chromium does not do: it makes requests of its own, which cannot be distinguished from those of the page.
func browser(t *testing.T) string {
	t.Helper()
	if limits, err := os.ReadFile("/proc/self/limits"); err == nil && !regexp.MustCompile(`Max address space +unlimited`).Match(limits) {
		t.Skip("Chromium does not start where the address space is limited (ulimit -v), as it is in a mutation run")
	}
	if path, err := exec.LookPath("chromium-headless-shell"); err == nil {
		return path
	}
	if strings.Contains(os.Getenv("BOTD_REQUIRE"), "browser") {
		t.Fatal("chromium-headless-shell is not installed, and BOTD_REQUIRE wants it: apt-get install chromium-headless-shell")
	}
	t.Skip("chromium-headless-shell is not installed: apt-get install chromium-headless-shell")
	return ""
}

// followed is live trading that did the same as the run, five seconds later.
func followed(result *backtest.Result) *report.Live {
	live := &report.Live{}
	var fills []parity.Execution
	for i := range result.Executions {
		e := &result.Executions[i]
		price, quantity := exchange.MustAmount(e.Price).Float(), exchange.MustAmount(e.Quantity).Float()
		fills = append(fills, parity.Execution{AtMS: e.TimeMS, Buy: e.Side == exchange.Buy.String(), Quantity: quantity, Price: price, Purpose: e.Purpose})
		live.Fills = append(live.Fills, fills[i])
		live.Fills[i].AtMS += 5_000
		live.Fills[i].Order = strconv.Itoa(i)
	}
	live.Answer = &parity.Parity{Cash: 10_000, Comparison: *parity.Compare(live.Fills, fills, 60_000)}
	live.Answer.Sentence = live.Answer.Comparison.Sentence()
	for _, p := range result.Curve() {
		c := &live.Answer.LiveCurve
		c.TimeMS, c.Profit = append(c.TimeMS, p.AtMS), append(c.Profit, p.Equity.Float()*1.01-10_000)
	}
	return live
}

func TestLiveTradingIsDrawnOverTheRun(t *testing.T) {
	t.Parallel()
	result, sources := example(t, 6_000)
	live := followed(result)
	var page bytes.Buffer
	if err := report.Write(&page, result, sources, live); err != nil {
		t.Fatal(err)
	}
	var data struct {
		Live struct{ T, E, F, P []float64 }
	}
	if err := json.Unmarshal([]byte(unpacked(t, page.String())), &data); err != nil {
		t.Fatal(err)
	}
	if n := len(data.Live.T); n < 1_000 || n != len(data.Live.E) || len(data.Live.F) != len(live.Fills) || data.Live.P[0] != live.Fills[0].Price {
		t.Errorf("want the equity and %d fills, have %d points and %d fills", len(live.Fills), n, len(data.Live.F))
	}
	for i, step := range data.Live.T[1:] {
		if step <= 0 {
			t.Fatalf("point %d: want times that rise, have a step of %v s", i+1, step)
		}
	}
	if want := "orders match between live trading and the backtest"; !strings.Contains(page.String(), want) {
		t.Errorf("want the sentence %q", want)
	}
	if strings.Contains(written(t, result, sources), "Live vs.") {
		t.Error("a page without live trading: want no such section")
	}
}

// TestThePageInABrowser opens the page in light and dark, on a wide screen and on a phone: everything is
// drawn, without errors or requests.
func TestThePageInABrowser(t *testing.T) {
	t.Parallel()
	chromium := browser(t)
	result, sources := example(t, 6_000)
	directory := t.TempDir()
	path := filepath.Join(directory, "report.html")
	var text bytes.Buffer
	if err := report.Write(&text, result, sources, followed(result)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, size, scheme string }{{"light", "1280,900", "1"}, {"dark", "1280,900", "0"}, {"phone", "390,844", "1"}} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			requests := filepath.Join(directory, c.name+".net.json")
			command := exec.CommandContext(ctx, chromium, "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--window-size="+c.size,
				"--virtual-time-budget=5000", "--blink-settings=preferredColorScheme="+c.scheme, "--user-data-dir="+filepath.Join(directory, c.name),
				"--log-net-log="+requests, "--dump-dom", "file://"+path)
			var messages bytes.Buffer
			command.Stderr = &messages
			page, err := command.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, messages.String())
			}
			dom := string(page)
			if !strings.Contains(dom, `data-ready="yes"`) {
				t.Errorf("the page's script did not end; %s", messages.String())
			}
			if lines := regexp.MustCompile(`CONSOLE[^\n]*`).FindAllString(messages.String(), -1); len(lines) > 0 {
				t.Errorf("the console shows %v", lines)
			}
			if rows := strings.Count(dom[strings.Index(dom, `id="trip-rows"`):], `class="why"`); rows != 25 {
				t.Errorf("want 25 trades on the first page, have %d", rows)
			}
			if drawn := strings.Count(dom, "<canvas"); drawn < 6 {
				t.Errorf("want three charts, have %d canvases", drawn)
			}
			if !strings.Contains(dom, `id="live-key">`) {
				t.Error("want the key of the live equity shown")
			}
			if _, after, _ := strings.Cut(dom, `id="candles-hover"`); !strings.Contains(after[:min(len(after), 900)], "sma 40 ") {
				t.Error("want the values of the indicators above the candles")
			}
			if strings.Contains(dom, `data-theme="dark"`) != (c.name == "dark") {
				t.Error("the page does not follow the reader's scheme")
			}
			asked, err := os.ReadFile(requests)
			if err != nil {
				t.Fatal(err)
			}
			if other := regexp.MustCompile(`"url":"(https?|wss?)://[^"]*`).FindString(string(asked)); other != "" {
				t.Errorf("the page asked for %s", other)
			}
		})
	}
}
