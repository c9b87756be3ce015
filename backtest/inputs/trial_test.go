package inputs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"botd/backtest"
	"botd/backtest/search"
	"botd/configs"
	"botd/exchange"
	"botd/internal/failure"
	"botd/strategy"
)

// TestATrialsJobFollowsFromEveryFile checks that the job depends on the content of every file that is read,
// and on no path.
func TestATrialsJobFollowsFromEveryFile(t *testing.T) {
	t.Parallel()
	one := func(t *testing.T, change func(b *Files, d string)) string {
		b := everything(t)
		d := filepath.Dir(b.StrategyFiles[1])
		b.StrategyFiles, b.Data, b.Trades = b.StrategyFiles[:1], []string{b.Data[0], b.Data[2]}, []string{put(t, d, "t.csv",
			fmt.Sprintf("id,price,qty,time_ms,side\n1,10,2,%d,buy\n", firstMS))}
		b.Signals = []string{put(t, d, "signals.csv", fmt.Sprintf("time_ms,strategy,target\n%d,across,long\n", firstMS))}
		change(b, d)
		made, err := trials(t, b, "p", 0, backtest.StopWhen{}, "size.equity=10%,20%")
		if err != nil {
			t.Fatal(err)
		}
		trial, refused, err := made.Trial(search.Choice{"size.equity": "10%"})
		if err != nil || refused != "" {
			t.Fatalf("have %s, %v", refused, err)
		}
		return trial.Job
	}
	first := one(t, func(*Files, string) {})
	if again := one(t, func(*Files, string) {}); again != first {
		t.Errorf("want %s from the same files elsewhere, have %s", first, again)
	}
	column := func(value string) func(b *Files, d string) {
		return func(b *Files, d string) {
			b.Columns = []string{put(t, d, "c.csv", fmt.Sprintf("time_ms,a\n%d,%s\n", firstMS+50*quarter, value))}
		}
	}
	seen := map[string]string{first: "the first"}
	for what, change := range map[string]func(b *Files, d string){
		"a script":          func(_ *Files, d string) { put(t, d, "lib/across.star", across+"\n") },
		"a library":         func(_ *Files, d string) { put(t, d, "lib/lib.star", "side = \"short\"\n") },
		"another's candles": func(b *Files, d string) { series(t, filepath.Join(d, "ETH.csv"), "ETH-USDT", exchange.Minute15, 95) },
		"finer candles":     func(b *Files, d string) { series(t, filepath.Join(d, "five.csv"), "BTC-USDT", exchange.Minute5, 287) },
		"no finer candles":  func(b *Files, _ string) { b.Detail = nil },
		"trades": func(b *Files, d string) {
			put(t, d, "t.csv", fmt.Sprintf("id,price,qty,time_ms,side\n1,10,2,%d,sell\n", firstMS))
		},
		"no trades": func(b *Files, _ string) { b.Trades = nil },
		"symbols": func(b *Files, _ string) {
			b.Symbols = put(t, t.TempDir(), "s.yaml", "- {symbol: BTC-USDT, priceTick: 0.01, quantityTick: 0.001}\n"+
				"- {symbol: ETH-USDT, priceTick: 0.01, quantityTick: 0.01}\n")
		},
		"no symbols":  func(b *Files, _ string) { b.Symbols = "" },
		"fewer rates": func(b *Files, _ string) { b.Funding = b.Funding[:1] },
		"other signals": func(_ *Files, d string) {
			put(t, d, "signals.csv", fmt.Sprintf("time_ms,strategy,target\n%d,across,short\n", firstMS))
		},
		"no signals":    func(b *Files, _ string) { b.Signals = nil },
		"columns":       column("1"),
		"other columns": column("2"),
		"another end":   func(b *Files, _ string) { b.To = "2024-01-01T22:00:00Z" },
		"limits": func(b *Files, _ string) {
			limits := configs.Config{}.Limits
			limits.MaxOpenOrders = 3
			b.Limits = &limits
		},
		"neither trades nor finer candles": func(b *Files, _ string) { b.Trades, b.Detail = nil, nil },
	} {
		job := one(t, change)
		if before, known := seen[job]; known {
			t.Errorf("%s has the job of %s", what, before)
		}
		seen[job] = what
	}
}

// TestATrialOfAProgramFollowsFromItsFiles changes files next to the strategy's file that its command names.
func TestATrialOfAProgramFollowsFromItsFiles(t *testing.T) {
	t.Parallel()
	d := t.TempDir()
	own, far := put(t, d, "my.py", "1"), put(t, t.TempDir(), "far.py", "2")
	c := &configs.StrategyConfig{File: filepath.Join(d, "s.yaml"), Command: []string{"python3", "my.py", far, ".", "--none"}}
	if diff := cmp.Diff([]string{shaOf(t, own), shaOf(t, far)}, program(c)); diff != "" {
		t.Error(diff)
	}
	if have := program(&configs.StrategyConfig{File: filepath.Join(d, "s.yaml")}); have != nil {
		t.Errorf("no command: have %v", have)
	}
}

// TestThePartsOfAHashAreApart checks that the hash depends on where one part ends and the next begins.
func TestThePartsOfAHashAreApart(t *testing.T) {
	t.Parallel()
	seen := map[string][]string{}
	for _, parts := range [][]string{nil, {""}, {"", ""}, {"ab"}, {"a", "b"}, {"b", "a"}, {"1:a", "b"}, {"1:a1:b"}} {
		hash := hashOf(parts...)
		if before, known := seen[hash]; known {
			t.Errorf("%q and %q have one hash", before, parts)
		}
		seen[hash] = parts
	}
}

// TestTheInputsOfATrialFollowItsInterval checks its candles, its detail, and the candles of other symbols.
func TestTheInputsOfATrialFollowItsInterval(t *testing.T) {
	t.Parallel()
	b := everything(t)
	b.StrategyFiles, b.Data, b.Trades, b.Signals = b.StrategyFiles[:1], []string{b.Data[0], b.Data[2]}, nil, nil
	b.Override = map[string]string{"name": "mine", "interval": "1d"}
	if _, err := trials(t, b, "p", 0, backtest.StopWhen{}, "interval=5m,15m,1h", "size.equity=10%,20%"); err == nil {
		t.Fatal("want candles of a quarter of an hour to refuse an axis of five minutes")
	}
	b = everything(t)
	b.StrategyFiles, b.Data, b.Trades, b.Signals = b.StrategyFiles[:1], []string{b.Data[0], b.Data[2]}, nil, nil
	b.Detail[0] = strings.Replace(b.Detail[0], "across=", "BTC-USDT=", 1)
	put(t, filepath.Dir(b.StrategyFiles[0]), "lib/across.star", strings.Replace(across, "15m", "4h", 1))
	b.From, b.To = "", ""
	b.Override = map[string]string{"name": "mine", "interval": "1d", "size.equity": "5%"}
	made, err := trials(t, b, "p", 0, backtest.StopWhen{}, "interval=1h,15m,4h")
	if err != nil {
		t.Fatal(err)
	}
	if made.Base.Interval != exchange.Minute15 || made.Base.Name != "mine" || b.Override["size.equity"] != "5%" {
		t.Errorf("want the shortest interval and the other overrides, have %v, %s", made.Base.Interval, made.Base.Name)
	}
	for interval, count := range map[string]int{"15m": 96, "1h": 24, "4h": 6} {
		trial, refused, err := made.Trial(search.Choice{"interval": interval})
		if err != nil || refused != "" {
			t.Fatalf("%s: %s, %v", interval, refused, err)
		}
		leg := &trial.Leg
		if leg.Tape.Candles.Len() != count || len(leg.Strategy.Others) != 1 || leg.Strategy.Others[0].Candles.Len() != count ||
			leg.Strategy.Others[0].Symbol.Name != "ETH-USDT" || leg.Detail == nil || leg.Strategy.Name != "mine" ||
			leg.Strategy.Size.Equity != exchange.RateOne/20 {
			t.Errorf("%s: have %+v", interval, leg)
		}
		if again, _, err := made.Trial(search.Choice{"interval": interval}); err != nil || again.Leg.Tape != leg.Tape {
			t.Errorf("%s: candles are made once, have %v", interval, err)
		}
		if made, err := leg.Make(leg.Tape); err != nil || len(strategy.OthersOf(made)) != 1 {
			t.Errorf("%s: have %v, %v", interval, made, err)
		}
		config, err := made.Backtest(map[string]string{"interval": interval})
		if err != nil || len(config.Legs) != 1 || config.Legs[0].Tape.Candles.Len() != count ||
			!strings.Contains(config.Inputs.Strategies[0].YAML, "interval: "+interval) {
			t.Errorf("%s: have %+v, %v", interval, config.Inputs, err)
		}
	}
}

// TestTheDetailOfATrialIsFinerThanItsCandles also checks that it divides their interval.
func TestTheDetailOfATrialIsFinerThanItsCandles(t *testing.T) {
	t.Parallel()
	b := given(t)
	d := t.TempDir()
	b.Data = []string{series(t, filepath.Join(d, "five.csv"), "BTC-USDT", exchange.Minute5, 288)}
	b.Detail = []string{series(t, filepath.Join(d, "fifteen.csv"), "BTC-USDT", exchange.Minute15, 96)}
	made, err := trials(t, b, "p", 0, backtest.StopWhen{}, "interval=5m,15m,30m,1h")
	if err != nil {
		t.Fatal(err)
	}
	for interval, want := range map[string]bool{"5m": false, "15m": false, "30m": true, "1h": true} {
		trial, refused, err := made.Trial(search.Choice{"interval": interval})
		if err != nil || refused != "" || (trial.Leg.Detail != nil) != want {
			t.Errorf("%s: want detail %t, have %+v, %s, %v", interval, want, trial.Leg.Detail, refused, err)
		}
	}
	if _, refused, err := made.Trial(search.Choice{"interval": "1m"}); err != nil || !strings.HasPrefix(refused, "interval=1m: ") {
		t.Errorf("candles that cannot be made: have %q, %v", refused, err)
	}
	if _, err := made.Backtest(map[string]string{"interval": "1m"}); failure.CodeOf(err) != failure.Config {
		t.Errorf("have %v", err)
	}
}

// TestUnjoinableOtherCandlesAreRefused uses hourly candles of another symbol, from which no quarter-hourly
// ones can be built.
func TestUnjoinableOtherCandlesAreRefused(t *testing.T) {
	t.Parallel()
	hours := &exchange.Candles{Interval: exchange.Hour1}
	all, err := resampled([]strategy.Other{{Candles: hours}}, exchange.Minute15)
	if all != nil || err == nil || !strings.Contains(err.Error(), "cannot be built") {
		t.Errorf("have %v, %v", all, err)
	}
	if all, err = resampled([]strategy.Other{{Candles: hours}}, exchange.Hour1); err != nil || len(all) != 1 || all[0].Candles != hours {
		t.Errorf("of the same interval: have %v, %v", all, err)
	}
}

// TestATrialWithAnotherAccountHasItsOwnConfiguration checks that costs and cash are those of the trial's
// backtest block.
func TestATrialWithAnotherAccountHasItsOwnConfiguration(t *testing.T) {
	t.Parallel()
	made, err := trials(t, given(t), "p", 0, backtest.StopWhen{Loss: 7}, "backtest.cash=100,200", "fast=2,3")
	if err != nil {
		t.Fatal(err)
	}
	if made.Config.StopWhen != (backtest.StopWhen{Loss: 7}) {
		t.Errorf("have %+v", made.Config.StopWhen)
	}
	trial, refused, err := made.Trial(search.Choice{"backtest.cash": "200", "fast": "3"})
	if err != nil || refused != "" || trial.Config == nil || trial.Config.Cash != exchange.AmountOf(200) || made.Config.Cash == trial.Config.Cash {
		t.Errorf("have %+v, %s, %v", trial.Config, refused, err)
	}
	if trial, _, err = made.Trial(search.Choice{"fast": "3"}); err != nil || trial.Config != nil {
		t.Errorf("the common account: have %+v, %v", trial.Config, err)
	}
	config, err := made.Backtest(map[string]string{"backtest.cash": "200", "fast": "3"})
	if err != nil || config.Cash != exchange.AmountOf(200) || !strings.Contains(config.Inputs.Strategies[0].YAML, "fast: 3") ||
		strings.Contains(made.Config.Inputs.Strategies[0].YAML, "fast: 3") {
		t.Errorf("have %+v, %v", config.Inputs, err)
	}
	if _, err := made.Backtest(map[string]string{"fast": "8"}); failure.CodeOf(err) != failure.Config || !strings.Contains(err.Error(), "fast") {
		t.Errorf("want the strategy's reason, have %v", err)
	}
}

// TestASweepThatCannotBegin checks the error and its exit code.
func TestASweepThatCannotBegin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what, axis, want string
		code             int
		change           func(b *Files)
	}{
		{"symbols", "fast=2,3", "none.yaml", failure.NoInput, func(b *Files) { b.Symbols = "none.yaml" }},
		{"columns", "fast=2,3", "none.csv", failure.NoInput, func(b *Files) { b.Columns = []string{"none.csv"} }},
		{"a strategy", "fast=2,3", "none.yaml", failure.NoInput, func(b *Files) { b.StrategyFiles[0] = "none.yaml" }},
		{"candles", "fast=2,3", "none.csv", failure.NoInput, func(b *Files) { b.Data[0] = "none.csv" }},
		{"an interval", "interval=15m,1y", "--vary interval: ", failure.Usage, func(*Files) {}},
		{"a name", "name=a,b", "--vary name: a sweep takes one strategy on one symbol; run one sweep for each", failure.Usage, func(*Files) {}},
		{"a market", "market=spot", "--vary market: a sweep takes one strategy", failure.Usage, func(*Files) {}},
		{"a kind", "strategy=rsi", "--vary strategy: a sweep takes one strategy", failure.Usage, func(*Files) {}},
		{"columns of a file", "columns=a", "--vary columns: a sweep takes one strategy", failure.Usage, func(*Files) {}},
		{"a switch", "enabled=true", "--vary enabled: a sweep takes one strategy", failure.Usage, func(*Files) {}},
		{"an unknown name", "zzzzzzzz=1", "--vary zzzzzzzz: sma_cross takes no parameter \"zzzzzzzz\", and there is no such key\n" +
			"hint: there are fast, slow, mode, and the keys of the file, as protect.stop_loss", failure.Usage, func(*Files) {}},
		{"a near name", "protetc.stop_loss=1%,2%", "hint: did you mean protect?", failure.Usage, func(*Files) {}},
	} {
		b := given(t)
		c.change(b)
		_, err := trials(t, b, "p", 0, backtest.StopWhen{}, c.axis)
		refused(t, c.what, c.want, c.code, err)
	}
}

// TestTheFilesOfAStrategyMoveWithIt covers its script, its libraries and its columns; files elsewhere are
// refused.
func TestTheFilesOfAStrategyMoveWithIt(t *testing.T) {
	t.Parallel()
	d := t.TempDir()
	far := put(t, t.TempDir(), "far.csv", fmt.Sprintf("time_ms,c\n%d,1\n", firstMS))
	put(t, d, "s/lib/across.star", across)
	put(t, d, "s/lib/lib.star", "side = \"long\"\n")
	one, two := put(t, d, "s/one.csv", fmt.Sprintf("time_ms,a\n%d,1\n", firstMS)), put(t, d, "s/data/two.csv", fmt.Sprintf("time_ms,a\n%d,3\n", firstMS))
	put(t, d, "beside.csv", fmt.Sprintf("time_ms,b\n%d,4\n", firstMS))
	load := func(columns string) *configs.StrategyConfig {
		path := put(t, d, "s/across.yaml", strings.ReplaceAll(acrossYAML, "NAME", "across")+"columns: ["+columns+"]\n")
		c, problems := configs.LoadStrategyWith(path, nil, scripted())
		if err := problems.Err(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	text := func(path string) []byte {
		read, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return read
	}
	files, err := PortableFiles(load("one.csv, data/two.csv=p_, " + far))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]byte{"lib/across.star": []byte(across), "lib/lib.star": []byte("side = \"long\"\n"), "one.csv": text(one),
		"data/two.csv": text(two)}, files); diff != "" {
		t.Error(diff)
	}
	if files, err := PortableFiles(load("../beside.csv")); files != nil || err == nil ||
		err.Error() != "columns: ../beside.csv is not next to the strategy's file, and would not be found from a copy of that" {
		t.Errorf("have %v, %v", files, err)
	}
	c := load("one.csv, data/two.csv=p_")
	if err := os.Remove(two); err != nil {
		t.Fatal(err)
	}
	if files, err := PortableFiles(c); files != nil || failure.CodeOf(err) != failure.NoInput {
		t.Errorf("a file that has gone: have %v, %v", files, err)
	}
	c.ColumnPaths = nil // columns of the command line stand for them
	if files, err := PortableFiles(c); err != nil || len(files) != 2 {
		t.Errorf("columns that are not read: have %v, %v", files, err)
	}
}

// TestReportScriptsStayInTheirFolder checks that no path in a report leads out of its folder, and that only
// the owner can read the copy.
func TestReportScriptsStayInTheirFolder(t *testing.T) {
	t.Parallel()
	d := t.TempDir()
	for _, name := range []string{"../x.star", "/x.star", "a/../../x.star"} {
		if err := writeScript(d, map[string]string{"a.star": "1", name: "2"}); err == nil ||
			err.Error() != fmt.Sprintf("the report's script %q is not next to its strategy", name) {
			t.Errorf("%s: have %v", name, err)
		}
	}
	if err := writeScript(d, map[string]string{"b.star": "1", "lib/c.star": "2"}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{"b.star": 0o600, "lib": 0o700 | os.ModeDir, "lib/c.star": 0o600} {
		if stat, err := os.Stat(filepath.Join(d, name)); err != nil || stat.Mode() != want {
			t.Errorf("%s: want mode %v, have %v, %v", name, want, stat.Mode(), err)
		}
	}
	if err := writeScript(d, map[string]string{"b.star/c.star": "3"}); err == nil {
		t.Error("a file where a folder is needed: want an error")
	}
	report := func(text string) string { return put(t, t.TempDir(), "report.json", text) }
	_, _, err := given(t).Reread(report(`{"inputs": {"strategies": [{"name": "a", "script": {"path": "../a.star", "text": "1"}}]}}`))
	refused(t, "a script", "the report's script \"../a.star\" is not next to its strategy", failure.IO, err)
	for _, c := range []struct {
		what, want string
		code       int
		change     func(b *Files)
	}{
		{"a strategy", "strategy.yaml", failure.Config, func(*Files) {}},
		{"symbols", "none.yaml", failure.NoInput, func(b *Files) { b.Symbols = "none.yaml" }},
		{"columns", "none.csv", failure.NoInput, func(b *Files) { b.Columns = []string{"none.csv"} }},
	} {
		b := given(t)
		c.change(b)
		_, _, err := b.Reread(report(`{"inputs": {"strategies": [{"name": "a", "yaml": "nome: x\n"}]}}`))
		refused(t, c.what, c.want, c.code, err)
	}
}

// TestCopyOfReportFilesIsDeleted covers files that can be read and files that cannot.
func TestCopyOfReportFilesIsDeleted(t *testing.T) {
	d := t.TempDir()
	t.Setenv("TMPDIR", d)
	const bad, good = "nome: x\n", "name: a\nstrategy: buy_and_hold\nmarket: futures\nsymbol: BTC-USDT\ninterval: 15m\nsize: {equity: 50%}\n"
	read := func(text string) ([]*configs.StrategyConfig, error) {
		return given(t).written(&backtest.Inputs{Strategies: []backtest.Input{{YAML: text}}}, given(t).Options().Symbols)
	}
	if all, err := read(good); err != nil || len(all) != 1 || all[0].Name != "a" {
		t.Errorf("have %v, %v", all, err)
	}
	_, err := read(bad)
	refused(t, "a wrong one", "/1/strategy.yaml:1", failure.Config, err)
	if left, err := os.ReadDir(d); err != nil || len(left) > 0 {
		t.Fatalf("want nothing left, have %v, %v", left, err)
	}
	t.Setenv("TMPDIR", filepath.Join(d, "none"))
	_, err = read(good)
	refused(t, "no room for a copy", "none", failure.IO, err)
}
