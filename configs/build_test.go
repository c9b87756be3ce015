package configs_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"botd/configs"
	"botd/exchange"
	"botd/strategy"
	"botd/strategy/overlay"
)

// A strategy is sized, entered, protected and exited by the rules in its file, and by no other.
func TestStrategyFollowsItsFile(t *testing.T) {
	t.Parallel()
	const percent, second = exchange.RateOne / 100, 1_000
	usual := overlay.Entry{PatienceMS: 30 * second, Tries: 3, Cross: true}
	whole := overlay.Sizing{Max: exchange.RateOne}
	stop := strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 2 * percent}}
	profit := strategy.Protection{Set: true, TakeProfit: strategy.Distance{Share: 4 * percent}}
	by := func(change func(*overlay.TradeSettings)) overlay.TradeSettings {
		rules := overlay.TradeSettings{Sizing: whole, Entry: usual, Exit: overlay.Exit{Reentry: strategy.ReentrySignal}}
		change(&rules)
		return rules
	}
	for _, c := range []struct {
		market, file string
		size         strategy.Size
		want         overlay.TradeSettings
	}{
		{"futures", "", strategy.Size{}, by(func(*overlay.TradeSettings) {})},
		{"futures", "size: {equity: 40%}\n", strategy.Size{Equity: 40 * percent}, by(func(*overlay.TradeSettings) {})},
		{"futures", "size: {quantity: 0.5}\n", strategy.Size{Quantity: 500}, by(func(*overlay.TradeSettings) {})},
		{"futures", "size: {quote: 50}\n", strategy.Size{Quote: exchange.AmountOf(50)}, by(func(*overlay.TradeSettings) {})},
		{"futures", "size: {risk: 1%}\nprotect: {stop_loss: 2%}\n", strategy.Size{Equity: exchange.RateOne}, by(func(r *overlay.TradeSettings) {
			r.Sizing.Risk, r.Sizing.Stop, r.Exit.Base = percent, stop.StopLoss, stop
		})},
		{"futures", "size: {volatility: 15%, max: 200%}\n", strategy.Size{Equity: exchange.RateOne}, by(func(r *overlay.TradeSettings) {
			r.Sizing.Volatility, r.Sizing.Max = 15*percent, 2*exchange.RateOne
		})},
		{"futures", "size: {kelly: 25%}\n", strategy.Size{Equity: exchange.RateOne}, by(func(r *overlay.TradeSettings) { r.Sizing.Kelly = 25 * percent })},
		{"futures", "protect: {take_profit: 4%}\n", strategy.Size{}, by(func(r *overlay.TradeSettings) {
			r.Exit.Base, r.Sizing.TakeProfit = profit, profit.TakeProfit
		})},
		{"spot", "protect: {take_profit: 4%}\n", strategy.Size{}, by(func(r *overlay.TradeSettings) {
			r.Exit.Base, r.Sizing.TakeProfit, r.Exit.SellsProfit = profit, profit.TakeProfit, true
		})},
		{"spot", "protect: {stop_loss: 2%}\n", strategy.Size{}, by(func(r *overlay.TradeSettings) { r.Exit.Base, r.Sizing.Stop = stop, stop.StopLoss })},
		{"futures", "protect: {trailing: {distance: 1%, offset: 3%}, time_limit: 3d, cooldown: 2h, returns: {1d: 1%, 4h: 3%}}\nreentry: never\n",
			strategy.Size{},
			by(func(r *overlay.TradeSettings) {
				r.Exit = overlay.Exit{Trailing: overlay.Trailing{Distance: percent, After: 3 * percent}, TimeLimitMS: 3 * 86_400 * second,
					CooldownMS: 2 * 3_600 * second, Reentry: strategy.ReentryNever,
					Returns: []overlay.Return{{AgeMS: 4 * 3_600 * second, Profit: 3 * percent}, {AgeMS: 86_400 * second, Profit: percent}}}
			})},
		{"futures", "entry: {order: limit}\nschedule: '@every 5s'\n", strategy.Size{}, by(func(r *overlay.TradeSettings) { r.Entry.Resting = true })},
		{"futures", "entry: {order: post_only, patience: 1m, tries: 5, then: give_up}\nschedule: '@every 5s'\n", strategy.Size{},
			by(func(r *overlay.TradeSettings) {
				r.Entry = overlay.Entry{Resting: true, PostOnly: true, PatienceMS: 60 * second, Tries: 5}
			})},
		{"futures", "on_insufficient: reduce\n", strategy.Size{}, by(func(r *overlay.TradeSettings) { r.Sizing.Reduce = true })},
		{"futures", "on_insufficient: refuse\n", strategy.Size{}, by(func(*overlay.TradeSettings) {})},
	} {
		config, problems := configs.Load(tree("botd.yaml", "mode: demo\n", "strategies/a.yaml", "name: a\nstrategy: sma_cross\nmarket: "+c.market+
			"\nsymbol: BTC-USDT\ninterval: 1h\n"+c.file), "", options(t))
		if config == nil {
			t.Fatalf("%s: %v", c.file, problems)
		}
		a := config.Strategy("a")
		symbol, _ := exchange.FindSymbol(symbols(t), a.Market, a.Symbol)
		setting, err := a.Setting(symbol)
		if err != nil || setting.Size != c.size || setting.Market != a.Market || setting.Interval != exchange.Hour1 {
			t.Errorf("%s on %s: want a size of %+v, have %+v, %v", c.file, c.market, c.size, setting, err)
		}
		definition, _ := a.Definition()
		inner, err := definition.New(setting, a.Params)
		if err != nil {
			t.Fatal(err)
		}
		built, err := a.Build(symbol)
		if want := overlay.Wrap(inner, c.want); err != nil || !reflect.DeepEqual(built, want) {
			t.Errorf("%s on %s: want %+v, have %+v, %v", c.file, c.market, want, built, err)
		}
	}
}

// The secret may also come from systemd's credential of its name. An error does not contain it.
func TestEachSecretIsReadFromItsFileAlone(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := write(t, filepath.Join(folder, "secret"), " abcdefghijklmnopqrstuvwx \n", 0o600)
	open := write(t, filepath.Join(folder, "open"), "abcdefghijklmnopqrstuvwx", 0o601)
	for setting, read := range map[string]func(file, credentials string) (string, error){
		"exchange.key_file BOTD_KEY": func(name, credentials string) (string, error) {
			key, _, err := configs.ReadSecrets(configs.ExchangeConfig{KeyFile: name, SecretFile: file, CredentialsDirectory: credentials})
			return key, err
		},
		"exchange.secret_file BOTD_SECRET": func(name, credentials string) (string, error) {
			_, secret, err := configs.ReadSecrets(configs.ExchangeConfig{KeyFile: file, SecretFile: name, CredentialsDirectory: credentials})
			return string(secret), err
		},
		"metrics.token_file BOTD_METRICS_TOKEN": func(name, credentials string) (string, error) {
			return configs.ReadMetricsToken(&configs.MetricsConfig{TokenFile: name}, credentials)
		},
		"signals.token_file BOTD_SIGNAL_TOKEN": func(name, credentials string) (string, error) {
			return configs.ReadSignalToken(&configs.SignalsConfig{TokenFile: name}, credentials)
		},
		"telegram.token_file BOTD_TELEGRAM_TOKEN": func(name, credentials string) (string, error) {
			return configs.ReadTelegramToken(&configs.TelegramConfig{TokenFile: name}, credentials)
		},
	} {
		setting, credential, _ := strings.Cut(setting, " ")
		credentials := t.TempDir()
		write(t, filepath.Join(credentials, credential), "0123456789abcdefghijklmn", 0o640) // systemd's mode does not matter
		for _, c := range []struct{ name, credentials, want, wrong string }{
			{file, "", "abcdefghijklmnopqrstuvwx", ""},
			{file, credentials, "abcdefghijklmnopqrstuvwx", ""},
			{"", credentials, "0123456789abcdefghijklmn", ""},
			{"", t.TempDir(), "", "credential " + credential + ": "},
			{"", "", "",
				setting + " is not set and there are no systemd credentials\n  hint: name a file of mode 600, or use systemd's LoadCredential=" + credential},
			{open, "", "", setting + ": " + open + " has mode 601 and can be read by others\n  hint: chmod 600 " + open},
			{filepath.Join(folder, "none"), "", "", setting + ": " + filepath.Join(folder, "none") +
				": no such file or directory\n  hint: check the path; a relative one starts at the directory in which botd was started"},
			{filepath.Join(file, "x"), "", "", "  hint: check the path and who owns the file"},
			{strings.Repeat("0123456789abcdef", 4), "", "", setting + ": names no readable file, and looks like the secret itself"},
		} {
			have, err := read(c.name, c.credentials)
			if have != c.want || (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s of %q: want %q, %q, have %q, %v", setting, c.name, c.want, c.wrong, have, err)
			}
		}
	}
	if have, err := configs.ReadToken("access.tokens.a", file); have != "abcdefghijklmnopqrstuvwx" || err != nil {
		t.Errorf("want the token of a file, have %q, %v", have, err)
	}
	if have, err := configs.ReadAddress(&configs.ChannelConfig{Name: "phone", AddressFile: file}, ""); have != "abcdefghijklmnopqrstuvwx" || err != nil {
		t.Errorf("want the address of a channel, have %q, %v", have, err)
	}
}

// Mistakes are listed in the order of the lines.
func TestAFileOfAccountsNamesItsMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"a: {secret: s}\nb: {secret: t, permission: read}\n", ""},
		{"", "accounts.yaml: contains no account"},
		{"a: secret\n", "accounts.yaml:1: a is a single value, not a block of keys"},
		{"a: secret\nb: {secret: t, nonsense: 1}\nc: 3\n", `accounts.yaml:1: a is a single value, not a block of keys; ` +
			`accounts.yaml:2: unknown key "b.nonsense"; accounts.yaml:3: c is a single value, not a block of keys`},
	} {
		folder := t.TempDir()
		accounts, problems := configs.LoadAccounts(write(t, filepath.Join(folder, "accounts.yaml"), c.text, 0o600))
		var have []string
		for _, p := range problems {
			line, _, _ := strings.Cut(p.String(), "\n")
			have = append(have, strings.TrimPrefix(line, folder+string(os.PathSeparator)))
		}
		if strings.Join(have, "; ") != c.want || (c.want == "") != (len(accounts) == 2) {
			t.Errorf("%q: want %s, have %v and %d accounts", c.text, c.want, have, len(accounts))
		}
	}
	if _, problems := configs.LoadAccounts(filepath.Join(t.TempDir(), "none")); !strings.Contains(problems.String(),
		"cannot be read: no such file or directory") {
		t.Errorf("want a file that is not there named, have %v", problems)
	}
}
