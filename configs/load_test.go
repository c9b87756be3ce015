package configs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"botd/configs"
	"botd/exchange"
	"botd/risk"
	"botd/strategy"
)

func tree(pairs ...string) fstest.MapFS {
	files := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		files[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return files
}

func simple(name, market, symbol string) string {
	return fmt.Sprintf("name: %s\nstrategy: buy_and_hold\nmarket: %s\nsymbol: %s\ninterval: 1m\n", name, market, symbol)
}

func expect(t *testing.T, want string, have configs.Problems) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(strings.TrimSpace(want), "\n"), strings.Split(have.String(), "\n")); diff != "" {
		t.Errorf("-want +have\n%s", diff)
	}
}

func TestFullExampleIsRead(t *testing.T) {
	t.Parallel()
	root, err := os.ReadFile("testdata/botd-full-good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	accumulate, err := os.ReadFile("testdata/strategy-full-good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	have, problems := configs.Load(tree("botd.yaml", string(root), "strategies/accumulate.yaml", string(accumulate)), "configs", options(t))
	if have == nil {
		t.Fatal(problems)
	}
	percent := exchange.RateOne / 100
	wantLimits := risk.Limits{
		MaxLeverage: 20, MaxGrossExposure: 3 * exchange.RateOne, MaxDailyLoss: risk.Loss{Share: 5 * percent}, MaxDrawdown: risk.Loss{Share: 20 * percent},
		MaxOpenOrders: 200, MaxOrdersPerMinute: 300, PriceCollar: 5 * percent, MaxDataAgeMS: 120_000,
	}
	wantExchange := configs.ExchangeConfig{
		BaseURL: "http://127.0.0.1:8421", KeyFile: "/path/key", SecretFile: "/path/secret",
		Signature:         configs.SignatureConfig{Payload: "{timestamp}{method}{path}{body}", Encoding: "hex"},
		Profile:           configs.ProfileConfig{NullLists: "error", NumberNoise: "float"},
		Settle:            configs.SettleConfig{WindowMS: 5000, VisibilityMS: 1000, StalenessMS: 1000, Written: true},
		Breaker:           configs.BreakerConfig{Uncertain: 3, WithinMS: 600_000, PauseMS: 600_000, EmptyEndings: 3, EmptyPauseMS: 45_000},
		RequestsPerSecond: 50, // the default
	}
	if diff := cmp.Diff(wantLimits, have.Limits,
		cmp.Comparer(func(a, b risk.Loss) bool { return a == b }), cmp.Comparer(func(a, b exchange.Amount) bool { return a == b })); diff != "" {
		t.Errorf("limits -want +have\n%s", diff)
	}
	if diff := cmp.Diff(wantExchange, have.Exchange); diff != "" {
		t.Errorf("exchange -want +have\n%s", diff)
	}
	if have.Mode != configs.Live || have.Instance != "main" || have.Listen != "127.0.0.1:8420" || have.Retention.DecisionsMS != 30*24*3_600_000 {
		t.Errorf("want live, main, 127.0.0.1:8420, 30d; have %s, %s, %s, %d", have.Mode, have.Instance, have.Listen, have.Retention.DecisionsMS)
	}
	one := have.Strategies[0]
	if one.Name != "accumulate" || one.Kind != "twap" || one.Market != exchange.Futures || one.Interval != exchange.Minute1 ||
		!one.Schedule.Candle() || one.Leverage != 10 || one.OnRemove != "flatten" {
		t.Errorf("want accumulate as written, have %+v", one)
	}
	wantParams := strategy.Values{"side": "buy", "quantity": "1.0", "slices": "10", "every": "1s"}
	if diff := cmp.Diff(wantParams, one.Params); diff != "" {
		t.Errorf("params -want +have\n%s", diff)
	}
	if one.Limits.MaxPosition != exchange.AmountOf(1) || one.Limits.MaxLeverage != 0 {
		t.Errorf("want only max_position 1, have %+v", one.Limits)
	}
	if have := one.Protect; have.StopLoss.Share != 2*percent || have.TakeProfit.Share != 4*percent {
		t.Errorf("want 2%% and 4%%, have %+v", have)
	}
	if b := one.Backtest; b.Cash != exchange.AmountOf(10_000) || b.Maker != 20_000 || b.Taker != 50_000 || b.Fill != "next_open" || b.LatencyMS != 0 {
		t.Errorf("want the backtest as written, have %+v", b)
	}
}

func TestALiveConfigurationMustBeConfirmedByTheFlag(t *testing.T) {
	t.Parallel()
	live := "mode: live\nexchange: {base_url: https://venue.example, key_file: k, secret_file: s}\n"
	for _, row := range []struct {
		file string
		flag configs.Mode
		want string // a part of the refusal; empty for none
	}{
		{live, configs.Live, ""},
		{live, "", "add --mode live"},
		{live, configs.Demo, ""},
		{"mode: demo\n", configs.Live, "write mode: live in botd.yaml too"},
		{"mode: demo\n", "", ""},
		{"mode: demo\n", configs.Demo, ""},
	} {
		check := options(t)
		check.Mode, check.CredentialsDirectory = row.flag, "/run/credentials/botd"
		if !strings.Contains(row.file, "base_url") {
			row.file += "exchange: {base_url: https://venue.example}\n"
		}
		config, problems := configs.Load(tree("botd.yaml", row.file), "", check)
		if config == nil {
			t.Fatal(problems)
		}
		err := config.Confirm(row.flag)
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%.10q with flag %q: want %q, have %v", row.file, row.flag, row.want, err)
		}
	}
}

func TestALiveConfigurationNeedsNoDemoSymbolsAndSettlesCautiously(t *testing.T) {
	t.Parallel()
	check := options(t)
	check.CredentialsDirectory = "/run/credentials/botd"
	config, problems := configs.Load(tree("botd.yaml", "mode: live\nexchange: {base_url: https://venue.example/}\n",
		"strategies/a.yaml", simple("a", "futures", "DOGE-USDT")), "c", check)
	expect(t, `
c/strategies/a.yaml:4: warning: symbol DOGE-USDT is not among the built-in ones of futures; the venue decides at start
  hint: futures has BTC-USDT, ETH-USDT, SOL-USDT, PEPE-USDT`, problems)
	if config == nil {
		t.Fatal("want a configuration beside a warning, have none")
	}
	if want, have := (configs.SettleConfig{WindowMS: 60_000, VisibilityMS: 45_000, StalenessMS: 15_000}), config.Exchange.Settle; want != have {
		t.Errorf("want the settle times of an unmeasured venue %+v, have %+v", want, have)
	}
	if want, have := "https://venue.example", config.Exchange.BaseURL; want != have {
		t.Errorf("want %s, have %s", want, have)
	}
}

func TestStrategiesDoNotShareNamesOrInstruments(t *testing.T) {
	t.Parallel()
	_, problems := configs.Load(tree("botd.yaml", "mode: demo\n",
		"strategies/a.yaml", simple("one", "futures", "BTC-USDT"),
		"strategies/b.yaml", simple("one", "spot", "BTC-USDT"),
		"strategies/c.yaml", simple("two", "futures", "BTC-USDT"),
		"strategies/d.yaml", simple("three", "futures", "DOGE-USDT"),
	), "c", options(t))
	expect(t, `
c/strategies/b.yaml:1: name "one" is already used by c/strategies/a.yaml:1
  hint: give each strategy a unique name
c/strategies/c.yaml:4: futures BTC-USDT is already traded by c/strategies/a.yaml:4
  hint: a position has one owner; trade another symbol, or run a second account
c/strategies/d.yaml:4: symbol DOGE-USDT is not known on futures
  hint: futures has BTC-USDT, ETH-USDT, SOL-USDT, PEPE-USDT`, problems)
}

func TestProblemsOfAllFilesComeAtOnce(t *testing.T) {
	t.Parallel()
	_, problems := configs.Load(tree("botd.yaml", "mode: dmo\n",
		"strategies/a.yaml", "name: x\n  y: z\n", "strategies/b.yaml", simple("B", "spot", "BTC-USDT")), "c", options(t))
	expect(t, `
c/botd.yaml:1: mode "dmo" is not known
  hint: did you mean "demo"?
c/strategies/a.yaml:2: there is a colon where no key can be
  hint: put quotes around a text with `+"`: `"+` in it, and check the indentation
c/strategies/b.yaml:1: name "B" is not 1 to 32 of a-z, 0-9, _ and -
  hint: a short name of your own, such as btc-trend`, problems)
}

func TestMissingFilesAreReported(t *testing.T) {
	t.Parallel()
	empty := t.TempDir()
	file := write(t, filepath.Join(t.TempDir(), "botd.yaml"), "mode: demo\n", 0o600)
	for _, row := range []struct{ name, directory, want string }{
		{"no directory", filepath.Join(empty, "none"), "there is no such directory"},
		{"a file", file, "is a file, not a directory"},
		{"empty", empty, "the directory contains neither botd.yaml nor strategies/*.yaml"},
	} {
		config, problems := configs.LoadDirectory(row.directory, options(t))
		if config != nil || problems.Errors() != 1 || !strings.Contains(problems.String(), row.want) {
			t.Errorf("%s: want %q, have %v", row.name, row.want, problems)
		}
	}
	for _, row := range []struct {
		files fstest.MapFS
		want  string
	}{
		{tree("botd.yaml", ""), "\nbotd.yaml: warning: is empty; the defaults apply, in mode demo\n"},
		{tree("botd.yml", "mode: demo"), "botd.yml: is not read under this name\n  hint: rename it to botd.yaml"},
		{tree("strategies/a.yaml", simple("a", "spot", "BTC-USDT")), "botd.yaml: warning: there is no such file"},
		{tree("botd.yaml", "mode: demo\n", "strategies/a.yml", ""), "strategies/a.yml: warning: is not read under this name"},
		{tree("botd.yaml", "mode: demo\n"), "strategies: warning: there is no strategy"},
		{tree("botd.yaml", "mode: demo\n", "strategies/a.yaml", "name: \xff\n"), "strategies/a.yaml:1: contains bytes that are not valid UTF-8"},
		{tree("botd.yaml", "listen: 0.0.0.0:80\n"), "botd.yaml:1: listen 0.0.0.0:80 can be reached from other machines, and there is no TLS"},
		{tree("botd.yaml", "listen: 0.0.0.0:80\naccess: {behind_proxy: true}\n"), "botd.yaml:1: warning: listen 0.0.0.0:80 can be reached from other machines"},
		{tree("botd.yaml", "access: {certificate_file: cert.pem}\n"), "botd.yaml:1: access has only one of certificate_file and key_file"},
		{tree("botd.yaml", "access: {hosts: \"https://botd.example\"}\n"), "botd.yaml:1: access.hosts: \"https://botd.example\" is not a host name"},
		{tree("botd.yaml", "behind_proxy: true\n"), "\"behind_proxy\" belongs under access"},
	} {
		_, problems := configs.Load(row.files, "", options(t))
		if !strings.Contains("\n"+problems.String()+"\n", row.want) {
			t.Errorf("want %q, have:\n%s", row.want, problems)
		}
	}
}

func TestMoreThan500StrategiesAreRefused(t *testing.T) {
	t.Parallel()
	files := tree("botd.yaml", "mode: demo\n")
	for i := range 501 {
		files[fmt.Sprintf("strategies/s%d.yaml", i)] = &fstest.MapFile{Data: []byte(simple(fmt.Sprint("s", i), "spot", "BTC-USDT"))}
	}
	_, problems := configs.Load(files, "", options(t))
	if want, have := "strategies: 501 strategies exceed the maximum of 500", problems.String(); !strings.HasPrefix(have, want) {
		t.Errorf("want %q, have %s", want, have)
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	t.Parallel()
	const hidden = "S3cretS3cretS3cretS3cretS3cret"
	for _, text := range []string{
		"secret: %s", "exchange: {api_key: %s}", "exchange: {key_file: %s}", "exchange: {apiSecret: \"%s\"}",
		"exchange: {base_url: \"https://u:%s@venue.example\"}", "api-key: &x %s\n", "key: *%s", "secret: %s\n  a: b", "password: [%s]", "token: '%s",
		"journal: postgres://u:%s@h/d", "journal: postgres://u@h/d?password=%s",
	} {
		config, problems := configs.Load(tree("botd.yaml", fmt.Sprintf(text, hidden)), "", options(t))
		if len(problems) == 0 || strings.Contains(problems.String(), hidden) {
			t.Errorf("%s: want problems without the secret, have %v", text, problems)
		}
		if config != nil && strings.Contains(config.Effective(), hidden) {
			t.Errorf("%s: the effective configuration shows the secret:\n%s", text, config.Effective())
		}
	}
}

func TestSingleStrategyIsLoaded(t *testing.T) {
	t.Parallel()
	one, problems := configs.LoadStrategy("testdata/strategy-size-in-params-good.yaml", options(t))
	if one == nil {
		t.Fatal(problems)
	}
	if want, have := exchange.RateOne, one.Size.Equity; want != have {
		t.Errorf("want the size among the parameters to be the strategy's: %s, have %s", want, have)
	}
	symbol := symbols(t)[1]
	if _, err := one.Build(symbol); err != nil {
		t.Error(err)
	}
	setting, err := one.Setting(symbol)
	if err != nil || setting.Size.Equity != exchange.RateOne || setting.Symbol != symbol {
		t.Errorf("want the setting of ETH-USDT, have %+v, %v", setting, err)
	}
	_, problems = configs.LoadStrategy("testdata/strategy-tabs-bad.yaml", options(t))
	expect(t, "testdata/strategy-tabs-bad.yaml:3: the line is indented with a tab\n  hint: indent with spaces; YAML forbids tabs there", problems)
	_, problems = configs.LoadStrategy("testdata/none.yaml", options(t))
	expect(t, "testdata/none.yaml: there is no such file", problems)
}

func TestSizesAndDistancesBecomeTheSymbolsUnits(t *testing.T) {
	t.Parallel()
	text := simple("a", "futures", "BTC-USDT") + "size: {quantity: 0.010}\nprotect: {stop_loss: 49000.5, take_profit: 4%}\n"
	config, problems := configs.Load(tree("botd.yaml", "mode: demo\n", "strategies/a.yaml", text), "", options(t))
	if config == nil {
		t.Fatal(problems)
	}
	symbol := symbols(t)[0]
	setting, err := config.Strategies[0].Setting(symbol)
	if want, have := "0.01", symbol.QuantityDecimal(setting.Size.Quantity).String(); err != nil || want != have {
		t.Errorf("want %s, have %s, %v", want, have, err)
	}
	protection, err := config.Strategies[0].Protection(symbol)
	if want, have := "49000.5", symbol.PriceDecimal(protection.StopLoss.Price).String(); err != nil || want != have || !protection.Set {
		t.Errorf("want %s, have %s, %v", want, have, err)
	}
	if want, have := exchange.RateOne/25, protection.TakeProfit.Share; want != have {
		t.Errorf("want %s, have %s", want, have)
	}
}

func TestAProfileMayStandInAFileOfItsOwn(t *testing.T) {
	t.Parallel()
	const profile = "signature: {payload: '{timestamp}\\n{path}[\\n{body_base64}]', encoding: base64}\npaths: {sign: route}\n" +
		"client_order_id: {spot_history: absent}\nsettle: {window: 60s, visibility: 45s, staleness: 15s, measured: 2026-11-22}\n"
	load := func(root, profile string) (*configs.Config, configs.Problems) {
		return configs.Load(tree("botd.yaml", root, "venue.yaml", profile), "configs", configs.Options{Registry: strategy.NewRegistry()})
	}
	for _, root := range []string{"exchange: {profile: venue.yaml}\n", "profile: venue.yaml\n"} {
		config, problems := load("mode: demo\n"+root, profile)
		if config == nil {
			t.Fatal(problems)
		}
		e := config.Exchange
		if e.Signature != (configs.SignatureConfig{Payload: `{timestamp}\n{path}[\n{body_base64}]`, Encoding: "base64", Paths: "route"}) ||
			e.Settle.WindowMS != 60_000 || e.Settle.Measured != "2026-11-22" || e.Profile.Lists[3] != configs.ListAbsent {
			t.Errorf("%s: want the file's values, have %+v", root, e)
		}
		shown := config.Effective()
		again, problems := load(string(shown), "")
		if again == nil || again.Exchange.Signature != e.Signature || again.Exchange.Settle != e.Settle || again.Exchange.Profile.Lists != e.Profile.Lists {
			t.Errorf("%s: want the effective configuration to be read as the same, have %v\n%s", root, problems, shown)
		}
		if config, _ = load("mode: demo\nexchange: {profile: venue.yaml, settle: {window: 7s}}\n", profile); config.Exchange.Settle.WindowMS != 7_000 {
			t.Errorf("want the values of botd.yaml to count, have %+v", config.Exchange.Settle)
		}
	}
	for bad, want := range map[string]string{
		"signature: {payload: '{path}[{body}'}": "configs/venue.yaml:1:", "paths: {sign: prefix}": `"prefix" is not known`,
		"null_list: empty": `did you mean "null_lists"?`, "settle: {measured: yesterday}": "such as 2026-11-22",
		"client_order_id: {spot_orders: absent}": "spot_open",
	} {
		if _, problems := load("mode: demo\nexchange: {profile: venue.yaml}\n", bad); problems.Errors() != 1 || !strings.Contains(problems.String(), want) {
			t.Errorf("%s: want one error with %s, have %v", bad, want, problems)
		}
	}
	if _, problems := load("mode: demo\nexchange: {profile: nowhere.yaml}\n", profile); !strings.Contains(problems.String(), "botd.yaml:2") {
		t.Errorf("want the place where the file is named, have %v", problems)
	}
}

func TestSettleBoundsAreOfTheMarketsThatAreTraded(t *testing.T) {
	t.Parallel()
	const bounds = "exchange:\n  base_url: https://venue.example\n  key_file: k\n  secret_file: s\n  settle:\n" +
		"    window: 9s\n    futures: {window: 5s, visibility: 1s, staleness: 2s, measured: 2026-11-22}\n    spot: {visibility: 8s}\n"
	strategy := func(market string) string {
		return "name: " + market + "\nstrategy: buy_and_hold\nmarket: " + market + "\nsymbol: BTC-USDT\ninterval: 1m\n"
	}
	for _, c := range []struct {
		markets          []string
		window, d, l     int64
		unsettled, warns int
	}{
		{[]string{"futures"}, 5_000, 1_000, 2_000, 0, 2},
		{[]string{"spot"}, 9_000, 8_000, 15_000, 1, 3},
		{[]string{"futures", "spot"}, 9_000, 8_000, 15_000, 1, 5},
		{nil, 9_000, 8_000, 15_000, 1, 5},
	} {
		files := fstest.MapFS{"botd.yaml": {Data: []byte("mode: live\n" + bounds)}}
		for _, market := range c.markets {
			files["strategies/"+market+".yaml"] = &fstest.MapFile{Data: []byte(strategy(market))}
		}
		config, problems := configs.Load(files, "", configs.Options{Registry: registry(), Mode: configs.Live})
		if problems.Errors() > 0 {
			t.Fatal(problems)
		}
		window, d, l := config.SettleBounds()
		if window != c.window || d != c.d || l != c.l || len(config.Unsettled()) != c.unsettled || len(config.Unmeasured()) != c.warns {
			t.Errorf("%v: want %+v, have %d %d %d, %v, %q", c.markets, c, window, d, l, config.Unsettled(), config.Unmeasured())
		}
	}
}

func TestTheVenuesProfileIsReadAndChecked(t *testing.T) {
	t.Parallel()
	const root = "mode: demo\nexchange:\n  profile: {null_lists: empty, number_noise: half_tick, status_words: {spot: {EXECUTED: FILLED}}}\n"
	config, problems := configs.Load(fstest.MapFS{"botd.yaml": {Data: []byte(root)}}, "", configs.Options{Registry: strategy.NewRegistry()})
	p := config.Exchange.Profile
	if problems.Errors() > 0 || p.NullLists != configs.NullIsEmpty || p.NumberNoise != configs.NoiseHalfTick || p.SpotWords["EXECUTED"] != "FILLED" {
		t.Errorf("want the profile as written, have %+v, %v", p, problems)
	}
	for _, bad := range []string{"null_lists: none", "number_noise: 3", "status_words: {spot: {EXECUTED: DONE}}", "status_words: {margin: {A: FILLED}}"} {
		root := "mode: demo\nexchange:\n  profile: {" + bad + "}\n"
		files := fstest.MapFS{"botd.yaml": {Data: []byte(root)}}
		if _, problems := configs.Load(files, "", configs.Options{Registry: strategy.NewRegistry()}); problems.Errors() != 1 {
			t.Errorf("%s: want one error, have %v", bad, problems)
		}
	}
}
