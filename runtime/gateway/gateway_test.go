package gateway

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"botd/configs"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/sim/server"
	"botd/internal/failure"
	"botd/internal/startclock"
)

// TestRequestBudgetIsApplied opens a live and a paper venue with few requests a second.
// Opening takes more than the bucket contains, so it must wait.
func TestRequestBudgetIsApplied(t *testing.T) {
	t.Parallel()
	x, err := sim.New(sim.Config{Symbols: sim.DefaultSymbols(), StartMS: startclock.MS()})
	if err != nil {
		t.Fatal(err)
	}
	made, err := server.New(
		server.Config{Exchange: x, Clock: server.Clock{StartMS: startclock.MS()}, Accounts: []server.Account{{Key: "key", Secret: "secret"}}},
	)
	if err != nil {
		t.Fatal(err)
	}
	reached := httptest.NewServer(made.Handler())
	t.Cleanup(reached.Close)
	directory := t.TempDir()
	for name, text := range map[string]string{"key": "key", "secret": "secret"} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, mode := range []configs.Mode{configs.Live, configs.Paper} {
		config := &configs.Config{Mode: mode, Exchange: configs.ExchangeConfig{BaseURL: reached.URL, KeyFile: filepath.Join(directory, "key"),
			SecretFile: filepath.Join(directory, "secret"), RequestsPerSecond: 2,
			Settle: configs.SettleConfig{Written: true}}, Paper: configs.PaperConfig{PollMS: 1_000, MaxAgeMS: 10_000}}
		began := time.Now()
		v, err := Open(t.Context(), config, directory, DemoMarket{Seed: 1}, Network{})
		if err == nil {
			err = v.Reach(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		// Opening takes the clock three times, symbols and margin levels: five requests, two of which are
		// free.
		if took := time.Since(began); took < 1_400*time.Millisecond {
			t.Errorf("%s: want 1.5 s at least for 5 requests at 2 a second, have %s", mode, took)
		}
		if err := v.Stop(); err != nil {
			t.Error(err)
		}
	}
}

// TestLiveNeedsMeasuredOrConfiguredBounds opens a live venue with the cautious defaults only.
func TestLiveNeedsMeasuredOrConfiguredBounds(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	for name, text := range map[string]string{"key": "key", "secret": "secret"} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	both := []configs.StrategyConfig{{Market: exchange.Futures}, {Market: exchange.Spot}}
	futures := configs.SettleConfig{Futures: configs.MarketSettle{Measured: "2026-11-22", Written: true}}
	for _, c := range []struct {
		settle  configs.SettleConfig
		trading []configs.StrategyConfig
		code    int
		want    string
	}{
		{configs.SettleConfig{}, nil, failure.Config, "futures market"},
		{configs.SettleConfig{Written: true}, both, 0, ""},
		{configs.SettleConfig{Measured: "2026-11-22", Written: true}, both, 0, ""},
		{configs.SettleConfig{Measured: "2026-11-22"}, both, failure.Config, "futures market"}, // a date measures nothing
		{futures, both[:1], 0, ""},
		{futures, both, failure.Config, "spot market"},
		{futures, both[1:], failure.Config, "spot market"},
		{futures, nil, failure.Config, "spot market"},
		{configs.SettleConfig{Spot: configs.MarketSettle{Written: true}}, both[1:], 0, ""},
	} {
		config := &configs.Config{Mode: configs.Live, Strategies: c.trading, Exchange: configs.ExchangeConfig{
			BaseURL: "https://venue.example", Settle: c.settle,
			KeyFile: filepath.Join(directory, "key"), SecretFile: filepath.Join(directory, "secret")}}
		_, err := Open(t.Context(), config, directory, DemoMarket{Seed: 1}, Network{})
		if err == nil && c.code != 0 || err != nil && failure.CodeOf(err) != c.code {
			t.Errorf("%+v: want exit code %d, have %v", c.settle, c.code, err)
		}
		if err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: want the %s named, have %v", c.settle, c.want, err)
		}
	}
}
