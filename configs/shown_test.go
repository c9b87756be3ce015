package configs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"botd/configs"
)

// shownRoots are configurations in which each value is written as it is shown, and none is a default.
var shownRoots = []string{`mode: paper
instance: other
exchange:
  base_url: https://venue.example
  requests_per_second: 20
  signature: {payload: '{timestamp}{method}{path}', encoding: base64}
  settle: {window: 6s, visibility: 0s, staleness: 0s, measured: "2026-11-20", futures: {window: 7s, visibility: 2s, staleness: 3s, measured: "2026-11-21"}}
  breaker: {unknowns: 4, within: 11m, pause: 12m, empty_endings: 5, empty_pause: 46s}
  profile:
    null_lists: empty
    number_noise: half_tick
    status_words: {futures: {DONE: FILLED, OPEN: NEW}, spot: {EXECUTED: FILLED}}
simulated: {futures: 0, spot: {BTC: 0, ETH: 3}, fees: {futures: {maker: 0%, taker: -0.01%}, spot: {maker: 0%, taker: 0%}}}
paper: {poll: 2s, max_age: 20s}
data_dir: /var/lib/botd
foreign: adopt
shutdown: flatten
retention: {decisions: 2d, journal_mib: 0, logs_mib: 0, recorded_mib: 0}
listen: "off"
metrics: {listen: 127.0.0.1:8421, token_file: /etc/botd/metrics}
heartbeat: {url_file: /etc/botd/heartbeat}
notify:
  every: 2m
  daily: "06:07"
  channels:
    phone: {url_file: /etc/botd/phone, least: warning}
    mail: {url_file: /etc/botd/mail, least: info, also: [order.fill], never: [exchange.*], quiet: 22:15-07:05}
signals: {listen: 127.0.0.1:8430, token_file: /etc/botd/signals}
telegram: {token_file: /etc/botd/telegram, operators: [12, 1234567890123456], viewers: [34], server: "http://127.0.0.1:9"}
risk: {max_leverage: 19, max_gross_exposure: 9, max_symbol_exposure: 2, max_daily_loss: 400 USDT, max_drawdown: 19%, max_open_orders: 199,
  max_orders_per_minute: 299, price_collar: 4%, max_data_age: 3m, max_losing_streak: 5, cool_down: 2h}
`, `mode: live
exchange: {base_url: https://venue.example, key_file: /etc/botd/key, secret_file: /etc/botd/secret}
journal: postgres://botd@db.example/botd
notify: {daily: "off", channels: {phone: {url_file: /etc/botd/phone}}}
`}

// shownFiles are strategy files, without their names.
var shownFiles = []string{`strategy: twap
market: futures
symbol: BTC-USDT
interval: 1h
schedule: '@every 10s'
leverage: 3
params: {every: 1500ms, quantity: "1", side: sell, slices: "5"}
risk: {max_position: 2, max_leverage: 5, max_daily_loss: 3%}
protect: {stop_loss: 60000.5, take_profit: 4%, trailing: {distance: 1.5%, offset: 0%}, time_limit: 3d, returns: {4h: 3%, 1d: -1%}, cooldown: 2h}
entry: {order: post_only, patience: 1m, tries: 5, then: give_up}
backtest: {cash: 5000, fees: {maker: 0.0001, taker: 0.0004}, slippage: 0.0002, fill: next_open, path: best, latency: 20ms}
columns: [a.csv, b.csv=x]
catch_up: 2
deadline: 3s
memory_limit: 300MB
accept_loss: true
reentry: never
start: running
on_insufficient: reduce
on_remove: leave
`, "strategy: buy_and_hold\nmarket: spot\nsymbol: BTC-USDT\ninterval: 1m\nsize: {equity: 50%}\n",
	"strategy: buy_and_hold\nmarket: futures\nsymbol: ETH-USDT\ninterval: 1w\nschedule: 0 0 * * 1\nsize: {volatility: 15%, max: 200%}\n",
	"strategy: buy_and_hold\nmarket: spot\nsymbol: ETH-USDT\ninterval: 1d\nsize: {quote: 12.5}\nscale_in: [{open: 50%}, {at: -2%, open: 50%}]\n" +
		"targets: [{at: 3%, close: 33%}, {at: 5%, close: 50%}]\n",
	"strategy: buy_and_hold\nmarket: futures\nsymbol: SOL-USDT\ninterval: 30m\nsize: {risk: 1%}\nprotect: {stop_loss: 2%}\n",
	"strategy: buy_and_hold\nmarket: spot\nsymbol: SOL-USDT\ninterval: 4h\nsize: {kelly: 25%}\n",
	"strategy: buy_and_hold\nmarket: spot\nsymbol: PEPE-USDT\ninterval: 5m\nsize: {quantity: 5}\n"}

// Each value of a configuration is shown as it was written, and is read back unchanged.
func TestWrittenValuesRoundTrip(t *testing.T) {
	t.Parallel()
	for i, root := range shownRoots {
		files := tree("botd.yaml", root)
		written, list := root, "strategies:\n"
		for n, file := range shownFiles {
			file = fmt.Sprintf("name: s%d\n%s", n, file)
			files[fmt.Sprintf("strategies/%d.yaml", n)] = tree("x", file)["x"]
			list += "  - " + strings.ReplaceAll(strings.TrimSuffix(file, "\n"), "\n", "\n    ") + "\n"
		}
		if i == 0 {
			written += list
		}
		config, problems := configs.Load(files, "", options(t))
		if config == nil {
			t.Fatal(problems)
		}
		if channels := config.Notify.Channels; len(channels) == 2 && channels[0].Name != "mail" {
			t.Errorf("want channels by their names, have %+v", channels)
		}
		differences, err := configs.Differences(written, config.Effective())
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range differences {
			if d.Was != "" {
				t.Errorf("%s: want %q as it was written, have %q", d.Path, d.Was, d.Is)
			}
		}
		for n := range config.Strategies {
			one := &config.Strategies[n]
			again, problems := configs.Load(tree("botd.yaml", root, "strategies/again.yaml", one.Effective()), "", options(t))
			if again == nil {
				t.Errorf("%s\n%v", one.Effective(), problems)
			} else if diff := cmp.Diff(one.Effective(), again.Strategies[0].Effective()); diff != "" || one.Hash() != again.Strategies[0].Hash() ||
				one.Hash() == "" {
				t.Errorf("%s read back: -want +have\n%s", one.Name, diff)
			}
		}
	}
	config, problems := configs.Load(tree("botd.yaml", "mode: demo\njournal: 'postgres://botd:secret@db.example/botd'\n"), "", options(t))
	if config == nil || strings.Contains(config.Effective(), "secret") || !strings.Contains(config.Effective(), "journal: postgres://botd@db.example/botd\n") {
		t.Errorf("want the journal shown without its password, have %v, %v", config, problems)
	}
}
