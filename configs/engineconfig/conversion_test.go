package engineconfig_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"botd/configs"
	"botd/configs/engineconfig"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/internal/failure"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
	"botd/strategy/library"
)

// load reads a configuration of a demo.
func load(t *testing.T, root string, strategies ...string) *configs.Config {
	t.Helper()
	directory := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(directory, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write("botd.yaml", "mode: demo\ninstance: main\ndata_dir: "+directory+"\n"+root)
	for n, text := range strategies {
		write(fmt.Sprintf("strategies/%d.yaml", n), text)
	}
	config, problems := configs.LoadDirectory(directory, configs.Options{Registry: strategy.NewRegistry(library.All()...), Symbols: sim.DefaultSymbols()})
	if err := problems.Err(); err != nil {
		t.Fatal(problems.String())
	}
	return config
}

// listed is a venue with the symbols of the demo, except those named.
func listed(without ...string) engineconfig.SymbolOf {
	return func(key exchange.SymbolKey) (*exchange.Symbol, bool) {
		for _, name := range without {
			if name == key.Name {
				return nil, false
			}
		}
		return exchange.FindSymbol(sim.DefaultSymbols(), key.Market, key.Name)
	}
}

const one = "name: one\nstrategy: buy_and_hold\nmarket: futures\nsymbol: BTC-USDT\ninterval: 1h\nleverage: 3\nsize: {quantity: 0.01}\n"

// bought is a tracker in which a strategy has a position in a symbol.
func bought(owner, symbol string) *reconcile.Tracker {
	tracker := reconcile.NewTracker(placement.Bounds{})
	key := exchange.SymbolKey{Market: exchange.Futures, Name: symbol}
	order := exchange.NewOrder{ClientOrderID: "a", Market: key.Market, Symbol: symbol, Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 10}
	for _, r := range []record.Record{{AtMS: 1, Body: record.Boot{Epoch: 7}}, {AtMS: 2, Strategy: owner, Symbol: key, Body: record.Assigned{}},
		{AtMS: 3, Strategy: owner, Symbol: key, ClientOrderID: "a", Body: record.Sending{Purpose: placement.Entry, Order: order}},
		{AtMS: 4, Strategy: owner, Symbol: key, ClientOrderID: "a", Body: record.Ended{OrderID: 1, State: placement.Filled, Filled: 10}}} {
		tracker.Apply(&r)
	}
	return tracker
}

// TestWhatTheEngineIsGiven expects the pace of docs/exactly-once.md, the fee of docs/exchange.md, and the settings of the files.
func TestWhatTheEngineIsGiven(t *testing.T) {
	t.Parallel()
	config := load(t, "risk: {max_open_orders: 4}\nforeign: ignore\n", one+"schedule: \"*/5 * * * *\"\n")
	tracker := reconcile.NewTracker(placement.Bounds{})
	before := time.Now().Unix()
	a, err := engineconfig.Account(config, tracker, listed())
	if err != nil {
		t.Fatal(err)
	}
	if a.BusyRoundMS != 1_000 || a.IdleRoundMS != 15_000 || a.CloseLagMS != 2_000 || a.TimeToLiveMS != 5_000 ||
		a.TakerFee != exchange.RateOne/1_000 || !a.Ledger {
		t.Errorf("want rounds of 1 and 15 s, closes 2 s later, 5 s to live and 0.1 %%, have %+v", a)
	}
	if a.Instance != "main" || a.Foreign != config.Foreign || a.ConfigHash != config.Hash() || a.Limits.MaxOpenOrders != config.Limits.MaxOpenOrders ||
		a.Bounds != engineconfig.Bounds(config) || a.Bounds == (placement.Bounds{}) {
		t.Errorf("want the settings of the file, have %+v", a)
	}
	if a.Epoch < before || a.Epoch > before+60 || !placement.IsRandom(a.Random) || !placement.IsRandom(a.Lane) || a.Random == a.Lane {
		t.Errorf("want the time as the start, and two random parts, have %d, %s, %s", a.Epoch, a.Random, a.Lane)
	}
	s := a.Strategies[0]
	if s.Name != "one" || s.Kind != "buy_and_hold" || s.Symbol.Name != "BTC-USDT" || s.Interval != exchange.Hour1 || s.Leverage != 3 || s.Strategy == nil ||
		s.Size.Quantity == 0 || s.Paused || s.Removed || s.Schedule == nil {
		t.Errorf("want the strategy of the file, have %+v", s)
	}
	again, err := engineconfig.Account(config, tracker, listed())
	if err != nil || again.Random == a.Random || again.Lane == a.Lane {
		t.Errorf("another start: want other random parts, have %s and %s, %v", a.Random, again.Random, err)
	}
	later := time.Now().Unix() + 1_000_000
	tracker.Apply(&record.Record{AtMS: 1, Body: record.Boot{Epoch: later}})
	if a, err = engineconfig.Account(config, tracker, listed()); err != nil || a.Epoch != later+1 {
		t.Errorf("a clock that went back: want the start after the last one, %d, have %d, %v", later+1, a.Epoch, err)
	}
	plain, err := engineconfig.Account(load(t, "", one), tracker, listed())
	if err != nil || plain.Strategies[0].Schedule != nil {
		t.Errorf("each candle: want no schedule, have %v, %v", plain.Strategies, err)
	}
}

// TestASymbolThatTheVenueDoesNotHave covers a symbol that was traded before, which fails alone, and a new one, which ends the start.
func TestASymbolThatTheVenueDoesNotHave(t *testing.T) {
	t.Parallel()
	config := load(t, "", one, "name: two\nstrategy: buy_and_hold\nmarket: spot\nsymbol: ETH-USDT\ninterval: 1h\nsize: {quote: 100}\n")
	a, err := engineconfig.Account(config, bought("one", "BTC-USDT"), listed("BTC-USDT"))
	if err != nil || len(a.Missing) != 1 || a.Missing[0].Name != "one" || a.Missing[0].Symbol.Name != "BTC-USDT" ||
		len(a.Strategies) != 1 || a.Strategies[0].Name != "two" {
		t.Errorf("traded before: want it missing alone, have %+v, %+v, %v", a.Missing, a.Strategies, err)
	}
	for name, tracker := range map[string]*reconcile.Tracker{"new": reconcile.NewTracker(placement.Bounds{}), "traded another": bought("one", "SOL-USDT")} {
		_, err := engineconfig.Account(config, tracker, listed("BTC-USDT"))
		if failure.CodeOf(err) != failure.Config || !strings.Contains(err.Error(), "0.yaml:1: the exchange has no futures symbol BTC-USDT") {
			t.Errorf("%s: want the start refused with the file, have %v", name, err)
		}
	}
}

// TestAPositionOfARemovedStrategyIsManaged covers a strategy without a file, one that trades another symbol now, a symbol that another one
// trades, and one that the venue does not have.
func TestAPositionOfARemovedStrategyIsManaged(t *testing.T) {
	t.Parallel()
	config := load(t, "", one)
	for _, c := range []struct {
		name     string
		tracker  *reconcile.Tracker
		unlisted string
		want     string // name, symbol and whether it is absent of what is added
	}{
		{"configured", bought("one", "BTC-USDT"), "", ""},
		{"without a file", bought("old", "SOL-USDT"), "", "old SOL-USDT true"},
		{"another symbol now", bought("one", "SOL-USDT"), "", "one on SOL-USDT SOL-USDT false"},
		{"its symbol is another's", bought("old", "BTC-USDT"), "", ""},
		{"a symbol that is no more", bought("old", "SOL-USDT"), "SOL-USDT", ""},
	} {
		a, err := engineconfig.Account(config, c.tracker, listed(c.unlisted))
		if err != nil {
			t.Fatal(err)
		}
		have := ""
		for _, s := range a.Strategies[1:] {
			have += fmt.Sprint(s.Name, " ", s.Symbol.Name, " ", s.Absent)
			if !s.Removed || s.Interval != exchange.Minute1 {
				t.Errorf("%s: want it removed, have %+v", c.name, s)
			}
		}
		if have != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
	}
}

func TestWhatIsNotInThisVersionIsRefused(t *testing.T) {
	t.Parallel()
	if err := engineconfig.Supported(&configs.Config{}); err != nil {
		t.Errorf("want a journal in a file, have %v", err)
	}
	err := engineconfig.Supported(&configs.Config{Journal: "postgres://127.0.0.1/botd"})
	if failure.CodeOf(err) != failure.Config || !strings.Contains(err.Error(), "journal: postgres is not supported in this version") {
		t.Errorf("want a database refused, have %v", err)
	}
}

// TestAFileThatCannotBeConvertedIsNamed covers a strategy whose size, protection or parameters do not fit the venue's symbol, and one that
// reads candles of a symbol that is not listed.
func TestAFileThatCannotBeConvertedIsNamed(t *testing.T) {
	t.Parallel()
	good := load(t, "", one).Strategies[0]
	symbol, _ := listed()(exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"})
	if s, err := engineconfig.Live(&good, symbol, listed()); err != nil || s.Name != "one" || len(s.Others) != 0 {
		t.Fatalf("want it converted, have %+v, %v", s, err)
	}
	wrong := good
	wrong.Params = strategy.Values{"unheard": "of"}
	if s, err := engineconfig.Live(&wrong, symbol, listed()); failure.CodeOf(err) != failure.Config || !strings.Contains(err.Error(),
		"0.yaml: params: ") || s.Strategy != nil {
		t.Errorf("wrong parameters: want the file and what is wrong, have %v", err)
	}
	if _, err := engineconfig.Account(&configs.Config{Mode: configs.Demo, Strategies: []configs.StrategyConfig{wrong}},
		reconcile.NewTracker(placement.Bounds{}),
		listed()); failure.CodeOf(err) != failure.Config {
		t.Errorf("wrong parameters of one strategy: want the start refused, have %v", err)
	}
}
