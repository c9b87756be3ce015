package inputs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"botd/backtest"
	"botd/backtest/search"
	"botd/configs"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/internal/failure"
	"botd/strategy"
	"botd/strategy/library"
)

const (
	firstMS = int64(1_704_067_200_000) // 2024-01-01
	quarter = int64(exchange.Minute15)
	crossed = "name: NAME\nstrategy: sma_cross\nmarket: futures\nsymbol: SYMBOL\ninterval: 15m\nsize: {equity: 50%}\nparams: {fast: 2, slow: 8}\n"
)

// given returns the files of a strategy that crosses averages on 96 candles of a quarter of an hour.
func given(t *testing.T) *Files {
	t.Helper()
	directory := t.TempDir()
	return &Files{StrategyFiles: []string{crossing(t, directory, "cross", "BTC-USDT", "")}, Data: []string{candles(t, directory, "BTC-USDT", 96)},
		Options: func() configs.Options {
			return configs.Options{Registry: strategy.NewRegistry(library.All()...), Symbols: sim.DefaultSymbols()}
		},
		Load: func(path string, symbol *exchange.Symbol, interval exchange.Interval, _ bool) (*tape.Tape, error) {
			read, err := tape.LoadCandles(path, symbol, interval, tape.Options{})
			return read, tape.Failure(err)
		}}
}

func crossing(t *testing.T, directory, name, symbol, more string) string {
	t.Helper()
	path := filepath.Join(directory, name+".yaml")
	if err := os.WriteFile(path, []byte(strings.NewReplacer("NAME", name, "SYMBOL", symbol).Replace(crossed)+more), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func candles(t *testing.T, directory, name string, count int) string {
	t.Helper()
	symbol, _ := exchange.FindSymbol(sim.DefaultSymbols(), exchange.Futures, name)
	path := filepath.Join(directory, name+".csv")
	if err := tape.WriteFile(path, tape.Generate(3, symbol, exchange.Minute15, firstMS, count), symbol, nil); err != nil {
		t.Fatal(err)
	}
	return path
}

func refused(t *testing.T, what, want string, code int, err error) {
	t.Helper()
	var coded *failure.Error
	if !errors.As(err, &coded) || coded.Code != code || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: want %q with %d, have %v", what, want, code, err)
	}
}

// The ends are dates, and the part must not be empty.
func TestTimeRange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to, first, last string }{{"", "", "00:00", "24:00"}, {"2024-01-01T06:00:00Z", "", "06:00", "24:00"},
		{"", "2024-01-01T06:00:00Z", "00:00", "06:00"}, {"2024-01-01T06:00:00Z", "2024-01-01T06:15:00Z", "06:00", "06:15"}} {
		b := given(t)
		b.From, b.To = c.from, c.to
		config, err := b.Config()
		if err != nil {
			t.Fatal(err)
		}
		read := config.Legs[0].Tape.Candles
		at := func(ms int64) string {
			d := time.Duration(ms-firstMS) * time.Millisecond
			return fmt.Sprintf("%02d:%02d", int(d.Hours()), int(d.Minutes())%60)
		}
		if first, last := at(read.OpenMS[0]), at(read.CloseMS(read.Len()-1)); first != c.first || last != c.last {
			t.Errorf("%q to %q: want %s to %s, have %s to %s", c.from, c.to, c.first, c.last, first, last)
		}
		if bounded := config.Inputs.FromMS != 0; bounded != (c.from != "") || (config.Inputs.ToMS != 0) != (c.to != "") {
			t.Errorf("%q to %q: have %+v", c.from, c.to, config.Inputs)
		}
	}
	for want, change := range map[string]func(b *Files){
		"--to 2024-01-01 is not after --from 2024-01-01": func(b *Files) { b.From, b.To = "2024-01-01", "2024-01-01" },
		"--from":              func(b *Files) { b.From = "soon" },
		"--to":                func(b *Files) { b.To = "late" },
		"a backtest needs -s": func(b *Files) { b.StrategyFiles = nil },
		"a backtest needs -s STRATEGY.yaml and --data": func(b *Files) { b.Data = nil },
	} {
		b := given(t)
		change(b)
		_, err := b.Config()
		refused(t, "times", want, failure.Usage, err)
	}
}

// The file is found by order, by its symbol, or by its name.
func TestEachStrategyHasItsFile(t *testing.T) {
	t.Parallel()
	two := []*configs.StrategyConfig{{}, {}}
	two[0].Name, two[0].Symbol, two[1].Name, two[1].Symbol = "one", "BTC-USDT", "two", "ETH-USDT"
	for _, c := range []struct {
		words string
		all   bool
		own   string
		left  int
		err   string
	}{
		{"a b", true, "a b", 0, ""},
		{"ETH-USDT=e BTC-USDT=b", true, "b e", 0, ""},
		{"two=e b", true, "b e", 0, ""},
		{"b", false, "b ", 0, ""},
		{"b", true, "", 0, "--data: strategy two (ETH-USDT) has no candles; give --data two=FILE"},
		{"a b c", true, "", 0, "--data c: there are more files than strategies (2)"},
		{"a b SOL-USDT=s", true, "a b", 1, ""},
	} {
		own, left, err := assign("--data", strings.Fields(c.words), two, c.all)
		if c.err != "" {
			refused(t, c.words, c.err, failure.Usage, err)
		} else if err != nil || strings.Join(own, " ") != c.own || len(left) != c.left {
			t.Errorf("%s: want %q and %d left, have %q, %v, %v", c.words, c.own, c.left, own, left, err)
		}
	}
	if err := unclaimed("--detail", nil); err != nil {
		t.Errorf("have %v", err)
	}
	refused(t, "nobody's", "--detail x=y: no strategy is named x", failure.Usage, unclaimed("--detail", []namedFile{{"x=y", "x", "y"}}))
}

// The test expects a warning if the file's name has a symbol.
func TestAFileThatIsNamedForAnotherSymbol(t *testing.T) {
	t.Parallel()
	symbol, _ := exchange.FindSymbol(sim.DefaultSymbols(), exchange.Futures, "BTC-USDT")
	for path, want := range map[string]string{"data/BTCUSDT-1h.csv": "", "btc_usd.csv": "", "BTC.csv": "", "candles.csv": "", "x/ETHUSDT-1h.csv": "ETH-USDT",
		"eth-usdt.csv": "ETH-USDT",
		"ETH.csv":      "ETH-USDT", "DOGEUSDT.csv": "DOGE-USDT", "doge_usdt.csv": "DOGE-USDT", "usdt.csv": "", "usdt-1h.csv": "", "BTCETH.csv": "",
		"binance_dogeusdt.csv": "DOGE-USDT", "BTCUSD-ETHUSDT.csv": "",
		"AVAXUSDT.csv": "AVAX-USDT", "zrxusdt.csv": "ZRX-USDT", "0x9usdt.csv": "0X9-USDT", "doge@usdt.csv": "DOGE-USDT",
		"doge[usdt.csv": "DOGE-USDT", "doge:usdt.csv": "DOGE-USDT"} {
		w, found := mismatch(path, symbol, sim.DefaultSymbols())
		text := ""
		if want != "" {
			text = path + " has the name of " + want + ", but BTC-USDT trades on it"
		}
		if found != (want != "") || w.Text != text || found && w.Code != backtest.DataMismatch {
			t.Errorf("%s: want %q, have %+v", path, text, w)
		}
	}
}

// Only the fees of each market may differ.
func TestAccountHasOneBacktestBlock(t *testing.T) {
	t.Parallel()
	load := func(market, block string) *configs.StrategyConfig {
		path := crossing(t, t.TempDir(), "cross", "BTC-USDT", "backtest: {"+block+"}\n")
		c, problems := configs.LoadStrategyWith(path, map[string]string{"market": market}, given(t).Options())
		if err := problems.Err(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	const common = "cash: 500, slippage: 0.1%, latency: 250ms, risk_free_annual: 2%, "
	futures := load("futures", common+"fees: {maker: 0.0001, taker: 0.0002}")
	spot := load("spot", common+"fees: {maker: 0.0003, taker: 0.0004}")
	var config backtest.Config
	if err := ShareAccount(&config, []*configs.StrategyConfig{futures, spot}); err != nil {
		t.Fatal(err)
	}
	c := &config.Costs
	if config.Cash != exchange.AmountOf(500) || config.RiskFree != exchange.RateOne/50 || c.Slippage != exchange.RateOne/1_000 || c.LatencyMS != 250 ||
		c.Futures != (backtest.Fees{Maker: exchange.RateOne / 10_000, Taker: exchange.RateOne / 5_000}) ||
		c.Spot != (backtest.Fees{Maker: 3 * exchange.RateOne / 10_000, Taker: exchange.RateOne / 2_500}) {
		t.Errorf("have %+v", config)
	}
	both := config.ConfigSHA256
	if err := ShareAccount(&config, []*configs.StrategyConfig{futures}); err != nil || config.ConfigSHA256 != futures.Hash() || both == futures.Hash() {
		t.Errorf("one: want its own hash, have %s, %v", config.ConfigSHA256, err)
	}
	other := load("futures", common+"fees: {maker: 0.0001, taker: 0.0002}")
	other.Params = map[string]string{"fast": "3", "slow": "8"}
	if err := ShareAccount(&config, []*configs.StrategyConfig{futures, other}); err != nil || config.ConfigSHA256 == both {
		t.Errorf("the hash is of each strategy: have %v", err)
	}
	config.Limits.MaxOpenOrders = 3
	if err := ShareAccount(&config, []*configs.StrategyConfig{futures}); err != nil || config.ConfigSHA256 == futures.Hash() {
		t.Errorf("limits of the account are in the hash: have %v", err)
	}
	for _, other = range []*configs.StrategyConfig{load("spot", "cash: 501"), load("futures", common+"fees: {maker: 0.0001, taker: 0.0003}")} {
		refused(t, "another block", "its backtest block differs from", failure.Config, ShareAccount(&config, []*configs.StrategyConfig{futures, other}))
	}
}

// trials returns the trials of a sweep over these axes.
func trials(t *testing.T, b *Files, binary string, split exchange.Rate, stop backtest.StopWhen, axes ...string) (*Trials, error) {
	t.Helper()
	var all []search.Axis
	for _, text := range axes {
		axis, err := search.ParseAxis(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, axis)
	}
	return b.NewTrials(all, binary, split, stop)
}

// The job contains all inputs, and the location of the files does not matter.
func TestATrialsJobIsOfAllThatItFollowsFrom(t *testing.T) {
	t.Parallel()
	choice := search.Choice{"fast": "3"}
	job := func(choice search.Choice, binary string, split exchange.Rate, stop backtest.StopWhen, change func(b *Files)) string {
		b := given(t)
		change(b)
		made, err := trials(t, b, binary, split, stop, "fast=2,3")
		if err != nil {
			t.Fatal(err)
		}
		trial, refused, err := made.Trial(choice)
		if err != nil || refused != "" || trial.Params["fast"] != choice["fast"] || trial.Leg.Kind != "sma_cross" {
			t.Fatalf("have %+v, %s, %v", trial, refused, err)
		}
		return trial.Job
	}
	same := func(*Files) {}
	first := job(choice, "p", 0, backtest.StopWhen{}, same)
	if again := job(choice, "p", 0, backtest.StopWhen{}, same); again != first || len(first) != 64 {
		t.Errorf("want %s in another folder too, have %s", first, again)
	}
	seen := map[string]string{first: "the first"}
	for what, other := range map[string]string{
		"another choice":  job(search.Choice{"fast": "2"}, "p", 0, backtest.StopWhen{}, same),
		"another program": job(choice, "q", 0, backtest.StopWhen{}, same),
		"a split":         job(choice, "p", 1, backtest.StopWhen{}, same),
		"an end":          job(choice, "p", 0, backtest.StopWhen{Loss: 1}, same),
		"a beginning":     job(choice, "p", 0, backtest.StopWhen{}, func(b *Files) { b.From = "2024-01-01T01:00:00Z" }),
		"repairs":         job(choice, "p", 0, backtest.StopWhen{}, func(b *Files) { b.Repair = true }),
		"other candles": job(choice, "p", 0, backtest.StopWhen{}, func(b *Files) {
			b.Data = []string{candles(t, t.TempDir(), "BTC-USDT", 95)}
		}),
		"another file": job(choice, "p", 0, backtest.StopWhen{}, func(b *Files) {
			b.StrategyFiles = []string{crossing(t, t.TempDir(), "cross", "BTC-USDT", "leverage: 3\n")}
		}),
		"funding": job(choice, "p", 0, backtest.StopWhen{}, func(b *Files) {
			b.Funding = []string{filepath.Join(t.TempDir(), "funding.csv")}
			if err := tape.WriteFundingFile(b.Funding[0], tape.GenerateFunding(1, "BTC-USDT", 8, firstMS, 3)); err != nil {
				t.Fatal(err)
			}
		}),
	} {
		if before, known := seen[other]; known {
			t.Errorf("%s has the job of %s", what, before)
		}
		seen[other] = what
	}
}

// Axes are parameters, and keys of the file that do not change the strategy's identity.
func TestTheAxesOfASweep(t *testing.T) {
	t.Parallel()
	made, err := trials(t, given(t), "p", 0, backtest.StopWhen{}, "interval=1h,15m,4h", "size.equity=10%,20%")
	if err != nil {
		t.Fatal(err)
	}
	for interval, want := range map[string]int{"15m": 96, "1h": 24, "4h": 6} {
		trial, refused, err := made.Trial(search.Choice{"interval": interval, "size.equity": "10%"})
		if err != nil || refused != "" || trial.Leg.Tape.Candles.Len() != want || trial.Leg.Strategy.Size.Equity != exchange.RateOne/10 ||
			(trial.Config != nil) != (interval != "15m") {
			t.Errorf("%s: want %d candles, have %+v, %s, %v", interval, want, trial, refused, err)
		}
	}
	for want, choice := range map[string]search.Choice{"fast=3 slow=3: ": {"fast": "3", "slow": "3"},
		"interval=15m size.equity=x: ": {"interval": "15m", "size.equity": "x"}} {
		if _, refused, err := made.Trial(choice); err != nil || !strings.HasPrefix(refused, want) {
			t.Errorf("%v: want it refused, have %q, %v", choice, refused, err)
		}
		if _, err := made.Backtest(choice); err == nil {
			t.Errorf("%v: want no backtest of it", choice)
		}
	}
	config, err := made.Backtest(search.Choice{"interval": "1h", "size.equity": "20%"})
	if err != nil || config.Legs[0].Tape.Candles.Len() != 24 || !strings.Contains(config.Inputs.Strategies[0].YAML, "1h") ||
		strings.Contains(made.Config.Inputs.Strategies[0].YAML, "1h") || config.ConfigSHA256 == made.Config.ConfigSHA256 {
		t.Errorf("the backtest of a trial: have %+v, %v", config.Inputs, err)
	}
	for want, axes := range map[string][]string{"--vary symbol": {"symbol=BTC-USDT"}, "did you mean fast?": {"fats=1,2"}, "--vary interval: ": {"interval=2h"},
		"want a list": {"interval=1..9"}, "takes no parameter": {"zzzzzzzz=1"}} {
		_, err := trials(t, given(t), "p", 0, backtest.StopWhen{}, axes...)
		refused(t, want, want, failure.Usage, err)
	}
	two := given(t)
	two.StrategyFiles = append(two.StrategyFiles, crossing(t, t.TempDir(), "other", "ETH-USDT", ""))
	_, err = trials(t, two, "p", 0, backtest.StopWhen{}, "fast=1,2")
	refused(t, "two strategies", "a sweep takes one strategy, not 2", failure.Usage, err)
}

// Read back, it is the same configuration.
func TestReportRestoresItsConfiguration(t *testing.T) {
	t.Parallel()
	b := given(t)
	directory := filepath.Dir(b.Data[0])
	b.StrategyFiles = append(b.StrategyFiles, crossing(t, directory, "other", "ETH-USDT", ""))
	b.Data = append(b.Data, candles(t, directory, "ETH-USDT", 96))
	b.Funding, b.From = []string{filepath.Join(directory, "funding.csv")}, "2024-01-01T02:00:00Z"
	rates := slices.Concat(tape.GenerateFunding(1, "BTC-USDT", 8, firstMS, 3), tape.GenerateFunding(1, "ETH-USDT", 8, firstMS, 3))
	slices.SortStableFunc(rates, func(x, y tape.FundingRow) int { return int(x.TimeMS - y.TimeMS) })
	if err := tape.WriteFundingFile(b.Funding[0], rates); err != nil {
		t.Fatal(err)
	}
	config, err := b.Config()
	if err != nil {
		t.Fatal(err)
	}
	result, err := backtest.Run(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	if err := result.WriteDir(directory); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{directory, filepath.Join(directory, backtest.ReportFile)} {
		again := given(t)
		again.StrategyFiles, again.Data = nil, nil
		stored, repeated, err := again.Reread(path)
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := backtest.Run(t.Context(), repeated)
		if err != nil || fresh.ResultSHA256 != result.ResultSHA256 || stored.ResultSHA256 != result.ResultSHA256 || len(repeated.Legs) != 2 ||
			len(repeated.Legs[1].Funding) == 0 {
			t.Errorf("want %s again, have %+v, %v", result.ResultSHA256, fresh, err)
		}
		if diff := cmp.Diff(config.Inputs.Strategies, repeated.Inputs.Strategies); diff != "" {
			t.Error(diff)
		}
	}
	empty := filepath.Join(t.TempDir(), "report.json")
	for text, want := range map[string]string{"{": "report.json of botd backtest run", "{}": "does not contain its inputs"} {
		if err := os.WriteFile(empty, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := given(t).Reread(empty)
		refused(t, text, want, failure.Data, err)
	}
	if _, _, err := given(t).Reread(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("no report: want an error")
	}
}
