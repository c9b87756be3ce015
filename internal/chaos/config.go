package chaos

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// writeConfig writes the configuration of a live account on the trial's exchange, with a
// strategy for each target.
func writeConfig(directory, address string, habits *Habits, targets []Target) error {
	strategies := map[string]string{}
	for i := range targets {
		w := &targets[i]
		var text strings.Builder
		fmt.Fprintf(&text, "name: %s\nstrategy: twap\nmarket: %s\nsymbol: %s\ninterval: 1m\nschedule: \"@every 1s\"\n", w.Name, w.Market, w.Symbol)
		if w.Market == "futures" {
			fmt.Fprintf(&text, "leverage: %d\n", cmp.Or(w.Leverage, 5))
		}
		if w.Stop {
			text.WriteString("protect: {stop_loss: 5%}\n")
		}
		fmt.Fprintf(&text, "params: {side: %s, quantity: %s, slices: %d, every: %dms}\n", w.Side, w.Quantity, w.Slices, w.EveryMS)
		strategies[w.Name+".yaml"] = text.String()
	}
	return writeLive(directory, address, habits, strategies)
}

// writeLive writes the configuration of a live account with these strategy files. It practically disables the
// breaker, which would pause trading because of the injected faults.
func writeLive(directory, address string, habits *Habits, strategies map[string]string) error {
	files := map[string]string{
		"key":    accountKey,
		"secret": accountSecret,
		"configs/botd.yaml": fmt.Sprintf(`mode: live
instance: chaos
exchange:
  base_url: %s
  key_file: %s
  secret_file: %s
  settle: {window: 5s, visibility: 1s, staleness: %s}
  profile: {%s}
  breaker: {unknowns: 1000, within: 1s, pause: 1s, empty_endings: 1000, empty_pause: 1s}
data_dir: data
risk:
  max_leverage: 20
  max_gross_exposure: 20
  max_daily_loss: 50%%
  max_drawdown: 50%%
  max_open_orders: 100
  max_orders_per_minute: 1000
  price_collar: 5%%
  max_data_age: 2m
`, address, filepath.Join(directory, "key"), filepath.Join(directory, "secret"), habits.staleness(), habits.Profile),
	}
	for name, text := range strategies {
		files["configs/strategies/"+name] = text
	}
	for name, text := range files {
		path := filepath.Join(directory, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}
