package inputs

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"botd/backtest"
	"botd/configs"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
	"botd/internal/failure"
	"botd/risk"
	"botd/strategy"
	"botd/strategy/library"
	"botd/strategy/script"
)

const (
	across = `load("lib.star", "side")
other = candles("15m", symbol = "ETH-USDT")

def decide(view):
    return hold(side if known(other.close) else "flat", reason = "always")
`
	acrossYAML = "name: NAME\nstrategy: script\nfile: lib/across.star\nmarket: futures\nsymbol: BTC-USDT\ninterval: 15m\n" +
		"schedule: \"@every 5m\"\nsize: {equity: 50%}\n"
)

// scripted are options that know scripts and the columns that a strategy names.
func scripted() configs.Options {
	return configs.Options{
		Registry: strategy.NewRegistry(slices.Concat(library.All(), []strategy.Definition{script.Files()})...),
		Symbols:  sim.DefaultSymbols(),
		Script: func(source *strategy.Source) (strategy.Definition, error) {
			made, err := script.Compile(source.File, source.Text, source.Libraries...)
			if err != nil {
				return strategy.Definition{}, err
			}
			return made.Definition(), nil
		},
		LoadColumns: func(files []string) (strategy.Columns, error) { return tape.LoadColumns(files, false) },
	}
}

// put writes a file and returns its path.
func put(t *testing.T, directory, name, text string) string {
	t.Helper()
	path := filepath.Join(directory, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// series writes candles of a symbol of futures to a path.
func series(t *testing.T, path, name string, interval exchange.Interval, count int) string {
	t.Helper()
	symbol, _ := exchange.FindSymbol(sim.DefaultSymbols(), exchange.Futures, name)
	if err := tape.WriteFile(path, tape.Generate(3, symbol, interval, firstMS, count), symbol, nil); err != nil {
		t.Fatal(err)
	}
	return path
}

func rates(t *testing.T, path, name string) string {
	t.Helper()
	if err := tape.WriteFundingFile(path, tape.GenerateFunding(1, name, 8, firstMS, 3)); err != nil {
		t.Fatal(err)
	}
	return path
}

// everything are files of every kind: a script with a library that reads another symbol, and a strategy that names columns.
func everything(t *testing.T) *Files {
	t.Helper()
	d := t.TempDir()
	b := given(t)
	b.Options = scripted
	put(t, d, "lib/across.star", across)
	put(t, d, "lib/lib.star", "side = \"long\"\n")
	put(t, d, "named.csv", fmt.Sprintf("time_ms,greed\n%d,1\n%d,2\n", firstMS, firstMS+50*quarter))
	b.StrategyFiles = []string{put(t, d, "across.yaml", strings.ReplaceAll(acrossYAML, "NAME", "across")),
		crossing(t, d, "sol", "SOL-USDT", "columns: [named.csv=n_]\n")}
	b.Data = []string{series(t, filepath.Join(d, "BTC.csv"), "BTC-USDT", exchange.Minute15, 96),
		series(t, filepath.Join(d, "SOL.csv"), "SOL-USDT", exchange.Minute15, 96),
		"ETH-USDT=" + series(t, filepath.Join(d, "ETH.csv"), "ETH-USDT", exchange.Minute15, 96)}
	b.Detail = []string{"across=" + series(t, filepath.Join(d, "five.csv"), "BTC-USDT", exchange.Minute5, 288)}
	b.Trades = []string{"SOL-USDT=" + put(t, d, "trades.csv", fmt.Sprintf("id,price,qty,time_ms,side\n1,10,2,%d,buy\n2,11,3,%d,sell\n", firstMS, firstMS+1))}
	b.Funding = []string{rates(t, filepath.Join(d, "btc_rates.csv"), "BTC-USDT"), rates(t, filepath.Join(d, "sol_rates.csv"), "SOL-USDT")}
	b.Signals = []string{put(t, d, "signals.csv", fmt.Sprintf("time_ms,strategy,target\n%d,sol,long\n%d,across,-0.25\n", firstMS, firstMS+9)),
		put(t, d, "more.csv", fmt.Sprintf("time_ms,strategy,target\n%d,sol,flat\n", firstMS+5))}
	b.Symbols = put(t, d, "symbols.yaml", `- {symbol: BTC-USDT, priceTick: 0.1, quantityTick: 0.001, base: BTC}
- {symbol: ETH-USDT, priceTick: 0.01, quantityTick: 0.01, base: ETH}
- {symbol: SOL-USDT, priceTick: 0.01, quantityTick: 0.1, base: SOL}
`)
	b.From, b.To = "2024-01-01T01:00:00Z", "2024-01-01T23:00:00Z"
	return b
}

// shaOf hashes a file, as the report does.
func shaOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// TestEveryInputIsInTheConfiguration also checks the list of inputs in the report, from which a run is
// repeated, and its hashes.
func TestEveryInputIsInTheConfiguration(t *testing.T) {
	t.Parallel()
	b := everything(t)
	b.Repair = true
	d := filepath.Dir(b.Symbols)
	config, err := b.Config()
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string) backtest.File {
		return backtest.File{Path: filepath.Join(d, name), SHA256: shaOf(t, filepath.Join(d, name))}
	}
	pointer := func(f backtest.File) *backtest.File { return &f }
	funding := []backtest.File{file("btc_rates.csv"), file("sol_rates.csv")}
	have := *config.Inputs
	for i, want := range []string{"strategy: script", "strategy: sma_cross"} {
		if !strings.Contains(have.Strategies[i].YAML, want) {
			t.Errorf("want the effective text of the strategy, have %s", have.Strategies[i].YAML)
		}
		have.Strategies[i].YAML = ""
	}
	if diff := cmp.Diff(backtest.Inputs{
		Strategies: []backtest.Input{
			{Name: "across", File: filepath.Join(d, "across.yaml"), Data: file("BTC.csv"), Funding: funding, Detail: pointer(file("five.csv")),
				Script: &backtest.Text{Path: "lib/across.star", Text: across, Libraries: []backtest.Text{{Path: "lib.star", Text: "side = \"long\"\n"}}},
				Others: []backtest.OtherFile{{Symbol: "futures ETH-USDT", File: file("ETH.csv")}}},
			{Name: "sol", File: filepath.Join(d, "sol.yaml"), Data: file("SOL.csv"), Funding: funding, Trades: pointer(file("trades.csv"))},
		},
		Symbols: pointer(file("symbols.yaml")),
		Signals: []backtest.File{file("signals.csv"), file("more.csv")},
		Columns: []backtest.File{{Path: filepath.Join(d, "named.csv=n_"), SHA256: shaOf(t, filepath.Join(d, "named.csv"))}},
		Repair:  true, FromMS: firstMS + 4*quarter, ToMS: firstMS + 92*quarter,
	}, have, cmpopts.EquateComparable(risk.Limits{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]backtest.Signal{{TimeMS: firstMS, Strategy: "sol", Side: 1, Share: exchange.RateOne},
		{TimeMS: firstMS + 5, Strategy: "sol", Share: exchange.RateOne},
		{TimeMS: firstMS + 9, Strategy: "across", Side: -1, Share: exchange.RateOne / 4}}, config.Signals); diff != "" {
		t.Errorf("signals of several files are in order of time: %s", diff)
	}
	one, two := config.Legs[0], config.Legs[1]
	if one.Kind != "script" || two.Kind != "sma_cross" || one.Detail.Candles.Interval != exchange.Minute5 || two.Detail != nil || one.Trades != nil ||
		two.Trades.Len() != 2 || len(one.Funding) != 3 || len(two.Funding) != 3 || one.Funding[0].Symbol != "BTC-USDT" || two.Funding[0].Symbol != "SOL-USDT" {
		t.Errorf("have %+v\n%+v", one, two)
	}
	if others := one.Strategy.Others; len(others) != 1 || others[0].Symbol.Name != "ETH-USDT" || len(two.Strategy.Others) != 0 {
		t.Errorf("have the others %+v", others)
	}
	for i, tick := range []string{"0.001", "0.1"} {
		if s := config.Legs[i].Tape.Symbol; s.QuantityDecimal(s.QuantityTick).String() != tick || len(s.Brackets) == 0 {
			t.Errorf("want the symbols of the file with the usual brackets, have %+v", s)
		}
	}
	if made, err := one.Make(one.Tape); err != nil || len(strategy.OthersOf(made)) != 1 {
		t.Errorf("a leg makes its strategy again: have %v, %v", made, err)
	}
	if len(two.Plots) == 0 || config.Version == "" || len(config.Warnings) != 0 {
		t.Errorf("have plots %v, version %q, %v", two.Plots, config.Version, config.Warnings)
	}
}

// TestAReportOfEveryInputIsReadAgain reads the inputs from the paths in the report, or from paths given
// instead.
func TestAReportOfEveryInputIsReadAgain(t *testing.T) {
	t.Parallel()
	b := everything(t)
	b.Repair = true
	b.Columns = []string{put(t, filepath.Dir(b.Symbols), "all.csv", fmt.Sprintf("time_ms,fear\n%d,2\n", firstMS+50*quarter))}
	config, err := b.Config()
	if err != nil {
		t.Fatal(err)
	}
	result, err := backtest.Run(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	if err := result.WriteDir(directory); err != nil {
		t.Fatal(err)
	}
	again := given(t)
	again.StrategyFiles, again.Data, again.Options = nil, nil, scripted
	stored, repeated, err := again.Reread(directory)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(config.Inputs, repeated.Inputs, cmpopts.EquateComparable(risk.Limits{})); diff != "" {
		t.Error(diff)
	}
	if stored.ResultSHA256 != result.ResultSHA256 || repeated.Legs[0].Tape.Candles.Len() != 88 {
		t.Errorf("have %s, %d candles", stored.ResultSHA256, repeated.Legs[0].Tape.Candles.Len())
	}
	elsewhere := everything(t)
	elsewhere.StrategyFiles, elsewhere.Columns, elsewhere.Signals, elsewhere.From, elsewhere.To = nil, nil, nil, "", ""
	_, moved, err := elsewhere.Reread(directory)
	if err != nil {
		t.Fatal(err)
	}
	in, old := moved.Inputs, filepath.Dir(b.Symbols)
	for i, path := range []string{in.Symbols.Path, in.Strategies[0].Data.Path, in.Strategies[1].Data.Path, in.Strategies[0].Detail.Path,
		in.Strategies[1].Trades.Path, in.Strategies[0].Others[0].Path, in.Strategies[0].Funding[0].Path} {
		if !strings.HasPrefix(path, filepath.Dir(elsewhere.Symbols)) {
			t.Errorf("file %d: want the one given instead, have %s", i, path)
		}
	}
	if len(in.Strategies[0].Funding) != 2 || len(in.Signals) != 2 || in.Signals[0].Path != filepath.Join(old, "signals.csv") || len(in.Columns) != 1 ||
		in.Strategies[0].File != filepath.Join(old, "across.yaml") {
		t.Errorf("want the other files from the report, have %+v", in)
	}
}

// TestAnInputThatCannotBeRead checks that the error has the position, and the exit code of its kind.
func TestAnInputThatCannotBeRead(t *testing.T) {
	t.Parallel()
	type edit = func(b *Files, d string)
	wrong := func(name, text string) string { return put(t, t.TempDir(), name, text) }
	for _, c := range []struct {
		what, want string
		code       int
		change     edit
	}{
		{"a strategy that is not there", "none.yaml", failure.NoInput,
			func(b *Files, d string) { b.StrategyFiles[0] = filepath.Join(d, "none.yaml") }},
		{"a strategy that is wrong", "bad.yaml:1", failure.Config, func(b *Files, _ string) { b.StrategyFiles[0] = wrong("bad.yaml", "nome: x\n") }},
		{"a folder without a configuration", "botd.yaml", failure.Config, func(b *Files, d string) { b.Directory = d }},
		{"symbols that are not there", "none.yaml", failure.NoInput, func(b *Files, d string) { b.Symbols = filepath.Join(d, "none.yaml") }},
		{"symbols that are wrong", "s.yaml:1: not a list", failure.Data, func(b *Files, _ string) { b.Symbols = wrong("s.yaml", "a: 1\n") }},
		{"symbols without the traded one", "sol.yaml:4: symbol SOL-USDT is not known on futures\n  hint: futures has BTC-USDT, ETH-USDT", failure.Config,
			func(b *Files, _ string) {
				b.Symbols = wrong("s.yaml", "- {symbol: BTC-USDT, priceTick: 0.1, quantityTick: 0.001}\n"+
					"- {symbol: ETH-USDT, priceTick: 0.1, quantityTick: 0.001}")
			}},
		{"symbols without the one that is read", "across.yaml:2: it reads candles of futures ETH-USDT, and there is no such symbol",
			failure.Config, func(b *Files, _ string) {
				b.Symbols = wrong("s.yaml", "- {symbol: BTC-USDT, priceTick: 0.1, quantityTick: 0.001}\n"+
					"- {symbol: SOL-USDT, priceTick: 0.1, quantityTick: 0.001}")
			}},
		{"candles of the other symbol that are missing", "it reads candles of futures ETH-USDT, but there are none\n" +
			"hint: give --data ETH-USDT=FILE with its candles of 15m; candles of the store (botd data download) are found there", failure.NoInput,
			func(b *Files, _ string) { b.Data = b.Data[:2] }},
		{"candles of nobody", "--data XRP-USDT=x: no strategy is named XRP-USDT, trades it, or reads its candles", failure.Usage,
			func(b *Files, _ string) { b.Data = append(b.Data, "XRP-USDT=x") }},
		{"candles of the other symbol that are wrong", "eth.csv:1", failure.Data,
			func(b *Files, _ string) { b.Data[2] = "ETH-USDT=" + wrong("eth.csv", "a,b\n") }},
		{"finer candles of nobody", "--detail XRP-USDT=x: no strategy is named XRP-USDT", failure.Usage,
			func(b *Files, _ string) { b.Detail = append(b.Detail, "XRP-USDT=x") }},
		{"too many finer candles", "--detail c: there are more files than strategies (2)", failure.Usage,
			func(b *Files, _ string) { b.Detail = []string{"a", "b", "c"} }},
		{"finer candles that are wrong", "five.csv:1", failure.Data, func(b *Files, _ string) { b.Detail[0] = "across=" + wrong("five.csv", "a,b\n") }},
		{"trades of nobody", "--trades XRP-USDT=x: no strategy is named XRP-USDT", failure.Usage,
			func(b *Files, _ string) { b.Trades = append(b.Trades, "XRP-USDT=x") }},
		{"trades that are wrong", "trades.csv:1: the columns are a,b", failure.Data,
			func(b *Files, _ string) { b.Trades[0] = "sol=" + wrong("trades.csv", "a,b\n1,2\n") }},
		{"trades that are not there", "none.csv", failure.NoInput, func(b *Files, d string) { b.Trades[0] = "sol=" + filepath.Join(d, "none.csv") }},
		{"rates that are wrong", "rates.csv:1: header is \"a,b\"", failure.Data, func(b *Files, _ string) { b.Funding[1] = wrong("rates.csv", "a,b\n") }},
		{"rates that do not say whose", "rates.csv does not name its symbol, and several symbols are traded\n" +
			"hint: botd data funding import ", failure.Data,
			func(b *Files, _ string) {
				b.Funding = []string{wrong("rates.csv", fmt.Sprintf("calc_time,funding_interval_hours,last_funding_rate\n%d,8,0.0001\n", firstMS))}
			}},
		{"rates of another symbol", "btc_rates.csv holds no funding rates of SOL-USDT\nhint: is it the right file?", failure.Data,
			func(b *Files, _ string) { b.Funding = b.Funding[:1] }},
		{"signals that are wrong", "signals.csv:2: \"up\" is not a target", failure.Data,
			func(b *Files, _ string) { b.Signals[1] = wrong("signals.csv", "time_ms,strategy,target\n1,sol,up\n") }},
		{"signals of nobody", "more.csv: no strategy is named \"none\"\nhint: the column strategy has the name in the strategy's file", failure.Data,
			func(b *Files, _ string) { b.Signals[1] = wrong("more.csv", "time_ms,strategy,target\n1,none,long\n") }},
		{"columns that are wrong", "columns.csv:2: \"x\" is not a number", failure.Data,
			func(b *Files, _ string) {
				b.Columns = []string{wrong("columns.csv", fmt.Sprintf("time_ms,a\n%d,x\n", firstMS))}
			}},
		{"a time without candles", "no candle of BTC-USDT lies there", failure.Data, func(b *Files, _ string) { b.From, b.To = "2025-01-01", "2025-01-02" }},
		{"one symbol twice", "across.yaml and", failure.Config, func(b *Files, d string) {
			b.StrategyFiles[1] = crossing(t, t.TempDir(), "second", "BTC-USDT", "")
			b.Data, b.Trades = append(b.Data, "second="+filepath.Join(d, "BTC.csv")), nil
		}},
		{"two accounts", "sol.yaml: its backtest block differs from", failure.Config,
			func(b *Files, _ string) {
				b.StrategyFiles[1] = crossing(t, t.TempDir(), "sol", "SOL-USDT", "backtest: {cash: 501}\n")
			}},
	} {
		b := everything(t)
		c.change(b, filepath.Dir(b.StrategyFiles[1]))
		config, err := b.Config()
		refused(t, c.what, c.want, c.code, err)
		if c.what == "one symbol twice" && !strings.HasSuffix(err.Error(), "second.yaml both trade futures BTC-USDT\n"+
			"hint: as live, one strategy trades a symbol of a market; run them one by one") {
			t.Errorf("%s: have %v", c.what, err)
		}
		if len(config.Legs) == 2 && len(config.Inputs.Columns) > 0 && err == nil {
			t.Errorf("%s: want no configuration, have %+v", c.what, config)
		}
	}
}
