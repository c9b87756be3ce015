package configs_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"botd/configs"
	"botd/exchange"
	"botd/strategy"
	"botd/strategy/library"
)

// The report lists files, limits in force, the profit of a round of trades, and each problem.
func TestCheckReportContents(t *testing.T) {
	t.Parallel()
	check := options(t)
	check.Registry = strategy.NewRegistry(library.All()...)
	grid := "name: g\nstrategy: grid\nmarket: futures\nsymbol: ETH-USDT\ninterval: 1m\nparams: {lower: 1000, upper: 2000, lines: 3, quantity: 1}\n"
	files := tree("botd.yaml", "mode: demo\nrisk: {max_leverage: 7}\n", "strategies/a.yaml", simple("a", "futures", "BTC-USDT")+
		"risk: {max_leverage: 3}\nentry: {patience: 1m}\n", "strategies/g.yaml", grid)
	config, problems := configs.Load(files, "conf", check)
	have := configs.NewReport(config, problems)
	if !have.OK || have.Schema != 1 || have.Errors != 0 || have.Warnings != 1 || have.Mode != "demo" || have.Strategies != 2 || len(have.Requests) != 0 {
		t.Errorf("want a good report of two strategies with one warning, have %+v", have)
	}
	if diff := cmp.Diff([]string{"conf/botd.yaml", "conf/strategies/a.yaml", "conf/strategies/g.yaml"}, have.Files); diff != "" {
		t.Errorf("files: -want +have\n%s", diff)
	}
	if want := (configs.Problems{{File: "conf/strategies/a.yaml", Line: 7, Column: 19, Severity: configs.Warning,
		What: "entry sets how to wait, but enters at market", Hint: "write order: post_only or order: limit"}}); !cmp.Equal(want, have.Problems) {
		t.Errorf("problems: -want +have\n%s", cmp.Diff(want, have.Problems))
	}
	if len(have.Edges) != 1 || have.Edges[0].Strategy != "g" || !strings.Contains(have.Edges[0].Edge, "a pair of neighboring lines") {
		t.Errorf("want what a pair of the grid earns, have %+v", have.Edges)
	}
	limits := map[string]string{}
	for _, l := range have.Limits {
		if l.Rule == "max_leverage" {
			limits[l.Scope] += l.Limit
		}
	}
	if want := map[string]string{"account": "7", "strategy a": "3"}; !cmp.Equal(want, limits) {
		t.Errorf("limits: -want +have\n%s", cmp.Diff(want, limits))
	}
	if rows, is := have.Rows().(configs.Problems); !is || len(rows) != 1 {
		t.Errorf("want the problems as rows, have %v", have.Rows())
	}

	config, problems = configs.Load(tree("botd.yaml", "mode: dmo\n"), "conf", check)
	bad := configs.NewReport(config, problems)
	if bad.OK || bad.Errors != 1 || bad.Warnings != 0 || bad.Mode != "" || len(bad.Files) != 0 || len(bad.Problems) != 1 ||
		bad.Problems[0].Severity != configs.Error {
		t.Errorf("want a report of one error, have %+v", bad)
	}
	text, err := json.Marshal(bad)
	if err != nil || strings.Contains(string(text), "null") || !strings.Contains(string(text), `"severity":"error"`) {
		t.Errorf("want empty lists, and none that is null, have %s, %v", text, err)
	}
	check.CredentialsDirectory = "/run/credentials/botd"
	config, problems = configs.Load(tree("botd.yaml", "mode: live\nexchange: {base_url: https://venue.example}\n", "strategies/a.yaml",
		simple("a", "futures", "BTC-USDT")), "conf", check)
	if live := configs.NewReport(config, problems); len(live.Requests) != 1 || live.Requests[0].Market != "futures" {
		t.Errorf("want the requests of a live configuration, have %+v, %v", live.Requests, problems)
	}
	// Live needs the bounds of the markets that it trades.
	if have := config.UnsettledProblems(); len(have) != 1 || have[0].File != "conf/botd.yaml" || have[0].Severity != configs.Error ||
		!strings.Contains(have[0].What, "of the futures market") || !strings.Contains(have[0].Hint, "exchange.settle: {futures:") {
		t.Errorf("want the bounds of futures asked for, have %v", have)
	}
	config.Files = nil
	if have := config.UnsettledProblems(); len(have) != 1 || have[0].File != "botd.yaml" {
		t.Errorf("want botd.yaml named where no file was read, have %v", have)
	}
	config.Mode = configs.Demo
	if have := config.UnsettledProblems(); have != nil {
		t.Errorf("a demo: want none, have %v", have)
	}
}

// The warnings use the limits of the configuration that it belongs to, otherwise the defaults.
func TestStrategyFileWarnings(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, filepath.Join(folder, "botd.yaml"), "mode: demo\nrisk: {max_symbol_exposure: 30%}\n", 0o600)
	text := simple("a", "futures", "BTC-USDT") + "size: {equity: 40%}\nentry: {patience: 1m}\n"
	for _, c := range []struct{ file, text, want string }{
		{"strategies/a.yaml", text, "6: size.equity 40% is above risk.max_symbol_exposure 0.3: every entry will be refused; " +
			"7: entry sets how to wait, but enters at market"},
		{"other/a.yaml", text, "7: entry sets how to wait, but enters at market"},
		{"other/b.yaml", text + "leverage: 2000\n", "7: entry sets how to wait, but enters at market"},
		{"other/c.yaml", "- a\n", ""},
	} {
		file := write(t, filepath.Join(folder, c.file), c.text, 0o600)
		var have []string
		for _, p := range configs.StrategyWarnings(file, options(t)) {
			if p.File != filepath.ToSlash(file) || p.Severity != configs.Warning {
				t.Errorf("%s: want warnings of it alone, have %v", c.file, p)
			}
			have = append(have, strings.TrimPrefix(strings.SplitN(p.String(), "\n", 2)[0], filepath.ToSlash(file)+":"))
		}
		if text := strings.ReplaceAll(strings.Join(have, "; "), " warning:", ""); text != c.want {
			t.Errorf("%s: want %q, have %q", c.file, c.want, text)
		}
	}
	for file, want := range map[string]string{filepath.Join(folder, "none.yaml"): ": there is no such file",
		folder: "is a directory, not a strategy's file"} {
		if c, problems := configs.LoadStrategy(file, options(t)); c != nil || !strings.Contains(problems.String(), want) {
			t.Errorf("%s: want %q, have %v", file, want, problems)
		}
	}
}

// A configuration returns a strategy by its name, its files, and copies with other parameters.
func TestConfigurationLookups(t *testing.T) {
	t.Parallel()
	config, problems := configs.Load(tree("botd.yaml", "mode: demo\n", "strategies/a.yaml", simple("a", "futures", "BTC-USDT")+"reentry: never\n",
		"strategies/b.yaml", simple("b", "spot", "BTC-USDT")+"size: {quantity: 0.5}\n"), "", options(t))
	if config == nil {
		t.Fatal(problems)
	}
	if b := config.Strategy("b"); b == nil || b.Name != "b" || b.Market != exchange.Spot {
		t.Errorf("want b, have %+v", b)
	}
	if c := config.Strategy("c"); c != nil {
		t.Errorf("want none, have %+v", c)
	}
	a := config.Strategy("a")
	if policy := a.ReentryPolicy(); policy != strategy.ReentryNever || config.Strategy("b").ReentryPolicy() != strategy.ReentryUnset {
		t.Errorf("want never and unset, have %v, %v", policy, config.Strategy("b").ReentryPolicy())
	}
	if err := config.Confirm(configs.Paper); err == nil || !strings.Contains(err.Error(), "--mode paper, but the configuration was loaded as demo") {
		t.Errorf("want another mode than it was loaded in refused, have %v", err)
	}
	a.Params = nil
	one := a.With(map[string]string{"fast": "5"})
	two := one.With(map[string]string{"fast": "6", "slow": "7"})
	if a.Params != nil || !cmp.Equal(one.Params, strategy.Values{"fast": "5"}) || !cmp.Equal(two.Params, strategy.Values{"fast": "6", "slow": "7"}) ||
		two.Name != "a" || two.Market != exchange.Futures {
		t.Errorf("want copies with their own parameters, have %v, %v, %v", a.Params, one.Params, two)
	}
	for _, c := range []struct {
		size configs.SizeConfig
		zero bool
	}{
		{configs.SizeConfig{}, true}, {configs.SizeConfig{Max: 1}, true}, {configs.SizeConfig{Equity: 1}, false},
		{configs.SizeConfig{Quantity: decimal.NewFromInt(1)}, false}, {configs.SizeConfig{Quote: exchange.AmountOf(1)}, false},
		{configs.SizeConfig{Risk: 1}, false}, {configs.SizeConfig{Volatility: 1}, false}, {configs.SizeConfig{Kelly: 1}, false},
	} {
		if have := c.size.IsZero(); have != c.zero {
			t.Errorf("%+v: want zero %t, have %t", c.size, c.zero, have)
		}
	}
	for want, paths := range map[string][]string{"": (&configs.ScriptConfig{}).Paths(), "a.star": (&configs.ScriptConfig{File: "a.star"}).Paths(),
		"x/a.star x/b.star x/c.star": (&configs.ScriptConfig{File: "x/a.star", Libraries: []strategy.Library{{Name: "b.star"}, {Name: "c.star"}}}).Paths()} {
		if have := strings.Join(paths, " "); have != want {
			t.Errorf("want %q, have %q", want, have)
		}
	}
	if text := configs.Error.String() + " " + configs.Warning.String(); text != "error warning" {
		t.Errorf("want error and warning, have %s", text)
	}
}

// The test runs without the folder from which it is embedded.
func TestEachStrategyOfTheGalleryIsAFileOfItsOwn(t *testing.T) {
	t.Parallel()
	if err := fstest.TestFS(configs.Gallery(), "turtle-55.yaml", "golden-cross.yaml"); err != nil {
		t.Error(err)
	}
}
