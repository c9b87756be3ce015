package inputs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"botd/backtest"
	"botd/configs"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/internal/failure"
)

// stored writes candles of a symbol of futures into a store.
func stored(t *testing.T, directory, name string, interval exchange.Interval, count int) string {
	t.Helper()
	return series(t, tape.Store{Directory: directory}.Path(exchange.Futures, name, interval), name, interval, count)
}

// TestRecordedInputsAreFound finds candles, rates and signals, unless others are given.
func TestRecordedInputsAreFound(t *testing.T) {
	t.Parallel()
	d := t.TempDir()
	store := tape.Store{Directory: d}
	btc, eth := stored(t, d, "BTC-USDT", exchange.Minute15, 96), stored(t, d, "ETH-USDT", exchange.Minute15, 48)
	btcRates, ethRates := rates(t, store.FundingPath("BTC-USDT"), "BTC-USDT"), rates(t, store.FundingPath("ETH-USDT"), "ETH-USDT")
	signals := put(t, d, "signals.csv",
		fmt.Sprintf("time_ms,strategy,target\n%d,cross,short\n%d,gone,long\n%d,other,flat\n", firstMS, firstMS+1, firstMS+2))
	if signals != store.SignalsPath() {
		t.Fatalf("have %s", store.SignalsPath())
	}
	both := func(t *testing.T) *Files {
		b := given(t)
		b.StrategyFiles = append(b.StrategyFiles, crossing(t, t.TempDir(), "other", "ETH-USDT", ""))
		b.Data, b.Recorded = nil, d
		return b
	}
	ofSpot := func(b *Files) { b.Override = map[string]string{"market": "spot"} }
	given := rates(t, filepath.Join(t.TempDir(), "given.csv"), "BTC-USDT")
	for _, c := range []struct {
		what                   string
		change                 func(b *Files)
		data, funding, signals string
		rows                   int
	}{
		{"everything is recorded", func(*Files) {}, btc + " " + eth, btcRates + " " + ethRates, signals, 2},
		{"candles are given for one", func(b *Files) { b.Data = []string{"other=" + btc} }, btc + " " + btc, btcRates + " " + ethRates, signals, 2},
		{"rates are given", func(b *Files) { b.Funding, b.StrategyFiles = []string{given}, b.StrategyFiles[:1] }, btc, given, signals, 1},
		{"signals are given", func(b *Files) {
			b.Signals = []string{put(t, t.TempDir(), "given.csv", fmt.Sprintf("time_ms,strategy,target\n%d,other,long\n", firstMS))}
		}, btc + " " + eth, btcRates + " " + ethRates, "given.csv", 1},
		{"nothing is recorded", func(b *Files) { b.Recorded, b.Data = "", []string{btc, eth} }, btc + " " + eth, "", "", 0},
	} {
		b := both(t)
		c.change(b)
		config, err := b.Config()
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		var data, funding, signals []string
		for i, input := range config.Inputs.Strategies {
			data = append(data, input.Data.Path)
			if i == 0 {
				for _, f := range input.Funding {
					funding = append(funding, f.Path)
				}
			}
			if (len(config.Legs[i].Funding) > 0) != (c.funding != "") {
				t.Errorf("%s: leg %d has the rates %v", c.what, i, config.Legs[i].Funding)
			}
		}
		for _, f := range config.Inputs.Signals {
			signals = append(signals, f.Path)
		}
		if strings.Join(data, " ") != c.data || strings.Join(funding, " ") != c.funding || !strings.HasSuffix(strings.Join(signals, " "), c.signals) ||
			len(config.Signals) != c.rows || (len(signals) > 0) != (c.signals != "") {
			t.Errorf("%s: have %v, %v, %v, %v", c.what, data, funding, signals, config.Signals)
		}
	}
	b := both(t)
	ofSpot(b)
	b.Data = []string{btc, eth}
	if config, err := b.Config(); err != nil || len(b.Funding) != 0 ||
		len(config.Inputs.Strategies[0].Funding) != 0 || len(config.Legs[0].Funding) != 0 {
		t.Errorf("spot pays no funding: have %v, %v", b.Funding, err)
	}
	b = both(t)
	if err := os.Remove(btcRates); err != nil {
		t.Fatal(err)
	}
	if config, err := b.Config(); err != nil || len(config.Legs[0].Funding) != 0 || len(config.Legs[1].Funding) != 3 {
		t.Errorf("recorded rates may cover one symbol alone: have %v", err)
	}
}

// TestRecordedRatesMayBeEmpty reads the file of a daemon that has seen no payment: it has only a header, and
// the report lists no rates.
func TestRecordedRatesMayBeEmpty(t *testing.T) {
	t.Parallel()
	b, d := given(t), t.TempDir()
	stored(t, d, "BTC-USDT", exchange.Minute15, 8)
	stored(t, d, "ETH-USDT", exchange.Minute15, 8)
	if err := tape.WriteFundingFile(tape.Store{Directory: d}.FundingPath("BTC-USDT"), nil); err != nil {
		t.Fatal(err)
	}
	b.StrategyFiles = append(b.StrategyFiles, crossing(t, t.TempDir(), "other", "ETH-USDT", ""))
	b.Data, b.Recorded = nil, d
	config, err := b.Config()
	if err != nil || len(config.Inputs.Strategies[0].Funding) != 0 || len(config.Legs[0].Funding) != 0 {
		t.Errorf("have %+v, %v", config.Inputs, err)
	}
}

// TestCandlesAreJoinedToTheStrategysInterval reads a file of finer candles.
func TestCandlesAreJoinedToTheStrategysInterval(t *testing.T) {
	t.Parallel()
	b := given(t)
	b.Data = []string{series(t, filepath.Join(t.TempDir(), "five.csv"), "BTC-USDT", exchange.Minute5, 288)}
	config, err := b.Config()
	if err != nil {
		t.Fatal(err)
	}
	made := config.Legs[0].Tape
	fine, err := b.Load(b.Data[0], made.Symbol, exchange.Minute5, false)
	if err != nil {
		t.Fatal(err)
	}
	if made.Finer != exchange.Minute5 || made.Candles.Interval != exchange.Minute15 || made.Candles.Len() != 96 || made.SHA256 != fine.SHA256 ||
		made.Candles.Open[1] != fine.Candles.Open[3] || made.Candles.Close[1] != fine.Candles.Close[5] {
		t.Errorf("have %+v", made)
	}
	load := b.Load
	b.Load = func(path string, symbol *exchange.Symbol, interval exchange.Interval, repair bool) (*tape.Tape, error) {
		if interval == exchange.Minute5 {
			return nil, failure.New(failure.IO, "", "the disk has gone")
		}
		return load(path, symbol, interval, repair)
	}
	_, err = b.Config()
	refused(t, "the finer ones", "the disk has gone", failure.IO, err)
	b = given(t)
	b.Funding = []string{put(t, t.TempDir(), "rates.csv", fmt.Sprintf("calc_time,funding_interval_hours,last_funding_rate\n%d,8,0.0001\n", firstMS))}
	if config, err := b.Config(); err != nil || len(config.Legs[0].Funding) != 1 {
		t.Errorf("rates that do not say whose, of the only symbol: have %v", err)
	}
	b = given(t)
	b.Data = []string{put(t, t.TempDir(), "wrong.csv", "a,b\n")}
	_, err = b.Config()
	refused(t, "no candles", "wrong.csv:1: column open_time_ms is missing", failure.Data, err)
}

// TestARecordThatCannotBeReadIsRefused checks the exit code of each error.
func TestARecordThatCannotBeReadIsRefused(t *testing.T) {
	t.Parallel()
	recorded := func(t *testing.T) (*Files, tape.Store) {
		b, d := given(t), t.TempDir()
		stored(t, d, "BTC-USDT", exchange.Minute15, 8)
		b.Data, b.Recorded = nil, d
		return b, tape.Store{Directory: d}
	}
	loop := func(t *testing.T, path string) {
		if err := os.Symlink(filepath.Base(path), path); err != nil {
			t.Fatal(err)
		}
	}
	b, _ := recorded(t)
	b.StrategyFiles[0] = crossing(t, t.TempDir(), "eth", "ETH-USDT", "")
	_, err := b.Config()
	refused(t, "none", "eth.yaml: no daemon has recorded futures ETH-USDT 15m into "+b.Recorded+"\nhint: a daemon records what it polls into recorded, "+
		"in the directory of its mode in data_dir; give --data ETH-USDT=FILE for what it did not", failure.NoInput, err)
	b, store := recorded(t)
	loop(t, store.FundingPath("BTC-USDT"))
	_, err = b.Config()
	refused(t, "rates", "too many levels", failure.IO, err)
	b, store = recorded(t)
	loop(t, store.SignalsPath())
	_, err = b.Config()
	refused(t, "signals", "too many levels", failure.IO, err)
	b, store = recorded(t)
	if err := os.WriteFile(store.SignalsPath(), []byte("time_ms,strategy,target\n1,cross,up\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = b.Config()
	refused(t, "a signal", "signals.csv:2: \"up\" is not a target", failure.Data, err)
	b, _ = recorded(t)
	b.Data = []string{"a", "b"}
	_, err = b.Config()
	refused(t, "too many", "--data b: there are more files than strategies (1)", failure.Usage, err)
}

// TestFinerCandlesOfTheStoreAreTheDetail uses a strategy that decides between closes: its detail is the
// shortest stored series that divides its interval.
func TestFinerCandlesOfTheStoreAreTheDetail(t *testing.T) {
	t.Parallel()
	d := t.TempDir()
	stored(t, d, "BTC-USDT", exchange.Minute15, 96)
	for _, name := range []string{"BTC-USDT", "ETH-USDT"} {
		if name == "ETH-USDT" {
			stored(t, d, name, exchange.Minute1, 60)
		}
		stored(t, d, name, exchange.Minute30, 48)
		stored(t, d, name, exchange.Minute5, 288)
	}
	const often = "schedule: \"@every 5m\"\n"
	for _, c := range []struct {
		what, more string
		change     func(b *Files)
		want       string
	}{
		{"each candle", "", func(b *Files) { b.Recorded = d }, ""},
		{"between closes", often, func(b *Files) { b.Recorded = d }, "BTC-USDT/5m.csv"},
		{"from the store", often, func(b *Files) { b.Store = func() string { return d } }, "BTC-USDT/5m.csv"},
		{"the record before the store", often, func(b *Files) { b.Recorded, b.Store = d, func() string { return t.TempDir() } }, "BTC-USDT/5m.csv"},
		{"an empty store", often, func(b *Files) { b.Store = t.TempDir }, ""},
		{"no store", often, func(*Files) {}, ""},
		{"a store without a place", often, func(b *Files) { b.Store = func() string { return "" } }, ""},
	} {
		b := given(t)
		b.StrategyFiles[0] = crossing(t, t.TempDir(), "cross", "BTC-USDT", c.more)
		c.change(b)
		config, err := b.Config()
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		detail := config.Inputs.Strategies[0].Detail
		if (detail != nil) != (c.want != "") || len(config.Warnings) != min(1, len(c.want)) {
			t.Errorf("%s: want %q, have %+v, %v", c.what, c.want, detail, config.Warnings)
			continue
		}
		if path := filepath.Join(d, "futures", filepath.FromSlash(c.want)); c.want != "" && (detail.Path != path || detail.SHA256 != shaOf(t, path) ||
			config.Warnings[0] != (backtest.Warning{Code: backtest.DetailFound,
				Text: "cross decides between closes: the candles of 5m in " + path + " are its detail"})) {
			t.Errorf("%s: have %+v, %v", c.what, detail, config.Warnings)
		}
	}
	b := given(t)
	b.StrategyFiles[0] = crossing(t, t.TempDir(), "cross", "BTC-USDT", often)
	given := series(t, filepath.Join(t.TempDir(), "given.csv"), "BTC-USDT", exchange.Minute5, 288)
	b.Recorded, b.Detail = d, []string{given}
	if config, err := b.Config(); err != nil || config.Inputs.Strategies[0].Detail.Path != given || len(config.Warnings) != 0 {
		t.Errorf("a given file: have %+v, %v, %v", config.Inputs, config.Warnings, err)
	}
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "futures"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.Recorded, b.Detail, b.Store = "", nil, func() string { return broken }
	_, err := b.Config()
	refused(t, "a store that is no folder", "not a directory", failure.IO, err)
}

// TestDetailWithMoreDecimalPlaces checks that the strategy's candles are read with as many places.
func TestDetailWithMoreDecimalPlaces(t *testing.T) {
	t.Parallel()
	b := given(t)
	symbol, _ := exchange.FindSymbol(sim.DefaultSymbols(), exchange.Futures, "BTC-USDT")
	five := tape.Generate(3, symbol, exchange.Minute5, firstMS, 6)
	plain := filepath.Join(t.TempDir(), "plain.csv")
	if err := tape.WriteFile(plain, five, symbol, nil); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	fields := strings.Split(lines[1], ",")
	whole, _, _ := strings.Cut(fields[2], ".")
	fields[2] = whole + "9.123456" // a high far above the others
	lines[1] = strings.Join(fields, ",")
	b.Detail = []string{put(t, t.TempDir(), "fine.csv", strings.Join(lines, "\n"))}
	config, err := b.Config()
	if err != nil {
		t.Fatal(err)
	}
	leg := config.Legs[0]
	if leg.Tape.Symbol.PriceScale != leg.Detail.Symbol.PriceScale || leg.Tape.Symbol.PriceScale < 6 ||
		leg.Strategy.Symbol.PriceScale != leg.Tape.Symbol.PriceScale {
		t.Errorf("want the same scale of both, have %d and %d", leg.Tape.Symbol.PriceScale, leg.Detail.Symbol.PriceScale)
	}
	b.Detail = []string{plain}
	if config, err = b.Config(); err != nil || config.Legs[0].Tape.Symbol.PriceScale != symbol.PriceScale {
		t.Errorf("no more places than needed: have %+v, %v", config.Legs[0].Tape.Symbol, err)
	}
}

// TestCandlesOfAnotherSymbolAreFound finds them in a given file, in that of another strategy, or in the
// store.
func TestCandlesOfAnotherSymbolAreFound(t *testing.T) {
	t.Parallel()
	d := t.TempDir()
	inStore := stored(t, d, "ETH-USDT", exchange.Minute15, 96)
	own := series(t, filepath.Join(t.TempDir(), "own.csv"), "ETH-USDT", exchange.Minute15, 90)
	for _, c := range []struct {
		what   string
		change func(b *Files)
		want   string
	}{
		{"by its name", func(b *Files) { b.Data = append(b.Data, "ETH-USDT="+own) }, own},
		{"by its market and name", func(b *Files) { b.Data = append(b.Data, "futures ETH-USDT="+own) }, own},
		{"in the store", func(b *Files) { b.Store = func() string { return d } }, inStore},
		{"in the record", func(b *Files) { b.Recorded, b.Store = d, t.TempDir }, inStore},
		{"a strategy's", func(b *Files) {
			b.StrategyFiles, b.Data = append(b.StrategyFiles, crossing(t, t.TempDir(), "eth", "ETH-USDT", "")), append(b.Data, own)
			b.Recorded = d
		}, own},
		{"a strategy's of another interval", func(b *Files) {
			path := put(t, t.TempDir(), "eth.yaml", strings.NewReplacer("NAME", "eth", "SYMBOL", "ETH-USDT", "15m", "1h").Replace(crossed))
			b.StrategyFiles, b.Data, b.Recorded = append(b.StrategyFiles, path), append(b.Data, own), d
			b.Data[1] = series(t, filepath.Join(t.TempDir(), "hours.csv"), "ETH-USDT", exchange.Hour1, 24)
		}, inStore},
		{"a strategy's of another symbol", func(b *Files) {
			path := crossing(t, t.TempDir(), "sol", "SOL-USDT", "")
			b.StrategyFiles, b.Recorded = append(b.StrategyFiles, path), d
			b.Data = append(b.Data, series(t, filepath.Join(t.TempDir(), "SOL.csv"), "SOL-USDT", exchange.Minute15, 96))
		}, inStore},
		{"nowhere", func(*Files) {}, ""},
		{"not in the store", func(b *Files) { b.Store = t.TempDir }, ""},
	} {
		b, at := given(t), t.TempDir()
		b.Options = scripted
		put(t, at, "lib/across.star", across)
		put(t, at, "lib/lib.star", "side = \"long\"\n")
		b.StrategyFiles = []string{put(t, at, "across.yaml", strings.ReplaceAll(acrossYAML, "NAME", "across"))}
		c.change(b)
		config, err := b.Config()
		if c.want == "" {
			refused(t, c.what, "it reads candles of futures ETH-USDT, but there are none", failure.NoInput, err)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		if diff := cmp.Diff([]backtest.OtherFile{{Symbol: "futures ETH-USDT", File: backtest.File{Path: c.want, SHA256: shaOf(t, c.want)}}},
			config.Inputs.Strategies[0].Others); diff != "" {
			t.Errorf("%s: %s", c.what, diff)
		}
	}
}

// TestAFolderGivesItsStrategiesAndItsLimits also adds strategies that are loaded already, and those of files.
func TestAFolderGivesItsStrategiesAndItsLimits(t *testing.T) {
	t.Parallel()
	b, d := given(t), t.TempDir()
	put(t, d, "botd.yaml", "mode: demo\nrisk:\n  max_open_orders: 7\n")
	put(t, d, "strategies/eth.yaml", strings.NewReplacer("NAME", "eth", "SYMBOL", "ETH-USDT").Replace(crossed))
	put(t, d, "strategies/sol.yaml", strings.NewReplacer("NAME", "sol", "SYMBOL", "SOL-USDT").Replace(crossed))
	limits := configs.Config{}.Limits
	limits.MaxOpenOrders = 3
	loaded, problems := configs.LoadStrategyWith(crossing(t, t.TempDir(), "first", "PEPE-USDT", ""), nil, b.Options())
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	names := func(b *Files) string {
		all, limits, err := b.Strategies(b.Options().Symbols)
		if err != nil {
			return err.Error()
		}
		text := fmt.Sprint(limits.MaxOpenOrders)
		for _, c := range all {
			text += " " + c.Name
		}
		return text
	}
	for _, c := range []struct {
		change func(b *Files)
		want   string
	}{
		{func(*Files) {}, "0 cross"},
		{func(b *Files) { b.Limits = &limits }, "3 cross"},
		{func(b *Files) { b.Directory = d }, "7 eth sol cross"},
		{func(b *Files) { b.Directory, b.Limits, b.StrategyFiles = d, &limits, nil }, "7 eth sol"},
		{func(b *Files) { b.Loaded, b.Directory = []*configs.StrategyConfig{loaded}, d }, "7 first eth sol cross"},
		{func(b *Files) { b.Loaded, b.StrategyFiles = []*configs.StrategyConfig{loaded}, nil }, "0 first"},
	} {
		b := given(t)
		c.change(b)
		if have := names(b); have != c.want {
			t.Errorf("want %q, have %q", c.want, have)
		}
	}
	b.Loaded, b.StrategyFiles, b.Limits = []*configs.StrategyConfig{loaded}, nil, &limits
	config, err := b.Config()
	if err != nil || len(config.Legs) != 1 || config.Limits != limits || config.Inputs.Limits != limits {
		t.Errorf("a loaded strategy suffices: have %+v, %v", config.Limits, err)
	}
	b = given(t)
	b.StrategyFiles, b.Directory = nil, d
	b.Data = []string{candles(t, t.TempDir(), "ETH-USDT", 96), candles(t, t.TempDir(), "SOL-USDT", 96)}
	if config, err = b.Config(); err != nil || len(config.Legs) != 2 || config.Limits.MaxOpenOrders != 7 {
		t.Errorf("a folder suffices: have %+v, %v", config.Limits, err)
	}
	b = given(t)
	b.Options = func() configs.Options { return configs.Options{Registry: given(t).Options().Registry} }
	_, err = b.Config()
	refused(t, "no symbols", "cross.yaml: no futures symbol BTC-USDT is known\nhint: --symbols FILE gives its ticks", failure.Config, err)
}

// TestWarningsOfTheInputs covers warnings about a strategy's file, a file's name, and columns outside the
// candles' time.
func TestWarningsOfTheInputs(t *testing.T) {
	t.Parallel()
	lastMS := firstMS + 96*quarter
	column := func(firstMS, lastMS int64) func(b *Files) {
		return func(b *Files) {
			b.Columns = []string{put(t, t.TempDir(), "c.csv", fmt.Sprintf("time_ms,a\n%d,1\n%d,2\n", firstMS, lastMS))}
		}
	}
	for _, c := range []struct {
		what   string
		change func(b *Files)
		want   string
	}{
		{"none", func(*Files) {}, ""},
		{"another symbol's candles", func(b *Files) {
			b.Data[0] = series(t, filepath.Join(t.TempDir(), "ETHUSDT.csv"), "BTC-USDT", exchange.Minute15, 96)
		},
			string(backtest.DataMismatch) + " ETHUSDT.csv has the name of ETH-USDT, but BTC-USDT trades on it"},
		{"a key without effect", func(b *Files) {
			b.StrategyFiles[0] = crossing(t, t.TempDir(), "w", "BTC-USDT", "protect: {stop_loss: 2}\n")
		},
			string(backtest.Configured) + " did you mean 2%, a share of the entry price?"},
		{"columns from the end", column(lastMS, lastMS+1), ""},
		{"columns after the end", column(lastMS+1, lastMS+60_001),
			string(backtest.ColumnsElsewhere) + " begins at 2024-01-02 00:00, after the candles' end at 2024-01-02 00:00: no value of it is seen"},
		{"columns until the beginning", column(firstMS-1, firstMS), ""},
		{"columns before the beginning", column(firstMS-60_000, firstMS-1),
			string(backtest.ColumnsElsewhere) + " ends at 2023-12-31 23:59, before the candles begin at 2024-01-01 00:00: " +
				"each of its columns has one value throughout"},
		{"columns after one candle", func(b *Files) {
			b.To = "2024-01-01T00:15:00Z"
			column(firstMS+quarter+1, lastMS)(b)
		}, string(backtest.ColumnsElsewhere) + " begins at 2024-01-01 00:15, after the candles' end at 2024-01-01 00:15: no value of it is seen"},
		{"columns within", column(firstMS+1, firstMS+2), ""},
	} {
		b := given(t)
		c.change(b)
		config, err := b.Config()
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		code, text, warned := strings.Cut(c.want, " ")
		if !warned && len(config.Warnings) == 0 {
			continue
		}
		if len(config.Warnings) != 1 || string(config.Warnings[0].Code) != code || !strings.Contains(config.Warnings[0].Text, text) {
			t.Errorf("%s: want %q, have %v", c.what, c.want, config.Warnings)
		}
	}
}
