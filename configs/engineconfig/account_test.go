package engineconfig_test

import (
	"os"
	"path/filepath"
	"testing"

	"botd/configs"
	"botd/configs/engineconfig"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
	"botd/strategy/library"
)

// The rule applies once botd has run: at the first start the user has seen what starts.
func TestAStrategyOfRealMoneyArrivesPaused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		mode   configs.Mode
		start  string
		epoch  int64
		paused bool
	}{
		{"live, botd has run", configs.Live, "", 7, true},
		{"live, as in the file", configs.Live, "paused", 7, true},
		{"live, unlike the file", configs.Live, "running", 7, false},
		{"live, the first start", configs.Live, "", 0, false},
		{"paper", configs.Paper, "", 7, false},
		{"demo", configs.Demo, "paused", 7, false},
	} {
		one := "name: one\nstrategy: buy_and_hold\nmarket: futures\nsymbol: BTC-USDT\ninterval: 1h\nleverage: 1\nsize: {quantity: 0.01}\n"
		if c.start != "" {
			one += "start: " + c.start + "\n"
		}
		file := filepath.Join(t.TempDir(), "one.yaml")
		if err := os.WriteFile(file, []byte(one), 0o600); err != nil {
			t.Fatal(err)
		}
		given, problems := configs.LoadStrategy(file, configs.Options{Registry: strategy.NewRegistry(library.All()...), Symbols: sim.DefaultSymbols()})
		if err := problems.Err(); err != nil {
			t.Fatalf("%s: %s", c.name, problems.String())
		}
		config := &configs.Config{Mode: c.mode, Instance: "main", Strategies: []configs.StrategyConfig{*given}}
		tracker := reconcile.NewTracker(placement.Bounds{})
		if c.epoch > 0 {
			tracker.Apply(&record.Record{AtMS: 1, Body: record.Boot{Epoch: c.epoch}})
		}
		account, err := engineconfig.Account(config, tracker, func(key exchange.SymbolKey) (*exchange.Symbol, bool) {
			return exchange.FindSymbol(sim.DefaultSymbols(), key.Market, key.Name)
		})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if have := account.Strategies[0].Paused; have != c.paused {
			t.Errorf("%s: want it paused %t, have %t", c.name, c.paused, have)
		}
	}
}
