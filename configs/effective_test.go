package configs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"botd/configs"
)

func TestAnEffectiveStrategyReadsBackAsItself(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/strategy-*-good.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("want good files, have %d, %v", len(files), err)
	}
	for _, file := range append(files, "strategies/accumulate.yaml", "strategies/trend.yaml", "strategies/hold.yaml") {
		one, problems := configs.LoadStrategy(file, options(t))
		if one == nil {
			t.Fatal(problems)
		}
		again, problems := configs.LoadStrategy(write(t, filepath.Join(t.TempDir(), "again.yaml"), one.Effective(), 0o600), options(t))
		if again == nil {
			t.Fatalf("%s\n%s", problems, one.Effective())
		}
		if diff := cmp.Diff(one.Effective(), again.Effective()); diff != "" {
			t.Errorf("-want +have\n%s", diff)
		}
		if one.Hash() != again.Hash() {
			t.Errorf("%s: want the same hash, have %s and %s", file, one.Hash(), again.Hash())
		}
	}
}

func TestHashDependsOnValuesOnly(t *testing.T) {
	t.Parallel()
	hash := func(root, one string) string {
		config, problems := configs.Load(tree("botd.yaml", root, "strategies/a.yaml", one), "", options(t))
		if config == nil {
			t.Fatal(problems)
		}
		return config.Hash()
	}
	one := simple("a", "futures", "BTC-USDT")
	first := hash("mode: demo\nrisk: {max_daily_loss: 5%}\n", one)
	if same := hash("# a comment\nrisk:\n  max_daily_loss: 0.05\nmode: \"demo\"\n", one+"leverage: '10'\n"); same == first {
		t.Error("want another hash with a leverage, have the same")
	}
	if same := hash("# a comment\nrisk:\n  max_daily_loss: 0.05\nmode: \"demo\"\n", one); same != first {
		t.Error("want the same hash for the same configuration, have another")
	}
	if other := hash("mode: demo\nrisk: {max_daily_loss: 4%}\n", one); other == first {
		t.Error("want another hash for another limit, have the same")
	}
}

func TestTheExamplesAreGoodAndShowTheDefaults(t *testing.T) {
	t.Parallel()
	config, problems := configs.Load(configs.Examples(), "configs", options(t))
	if config == nil || len(problems) > 0 {
		t.Fatalf("want no problems, have %s", problems)
	}
	if want, have := 3, len(config.Strategies); want != have || config.Mode != configs.Demo {
		t.Errorf("want %d strategies in mode demo, have %d in %s", want, have, config.Mode)
	}
	bySymbol := map[string]bool{}
	for i := range config.Strategies {
		one := &config.Strategies[i]
		bySymbol[one.Symbol] = true
		for _, symbol := range symbols(t) {
			if symbol.Name == one.Symbol && symbol.Market == one.Market {
				if _, err := one.Build(symbol); err != nil {
					t.Error(err)
				}
			}
		}
	}
	if len(bySymbol) != 3 {
		t.Errorf("want three symbols, have %v", bySymbol)
	}
	disk, problems := configs.LoadDirectory(".", options(t))
	if disk == nil {
		t.Fatal(problems)
	}
	if disk.Hash() != config.Hash() {
		t.Error("want the embedded examples to be the ones in this directory")
	}
}

func TestEffectiveConfigurationDefaults(t *testing.T) {
	t.Parallel()
	config, problems := configs.Load(tree("botd.yaml", "mode: demo\n"), "", options(t))
	if config == nil {
		t.Fatal(problems)
	}
	want, err := os.ReadFile("testdata/defaults.effective")
	if err != nil {
		t.Fatalf("%v\n%s", err, config.Effective())
	}
	if diff := cmp.Diff(string(want), config.Effective()); diff != "" {
		t.Errorf("-want +have\n%s", diff)
	}
}

func TestAnEffectiveNotifyReadsBackAsItself(t *testing.T) {
	t.Parallel()
	good, err := os.ReadFile("testdata/botd-notify-good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	config, problems := configs.Load(tree("botd.yaml", string(good)+"    quiet: {url_file: /q, also: []}\n"), "", options(t))
	if config == nil {
		t.Fatal(problems)
	}
	again, problems := configs.Load(tree("botd.yaml", config.Effective()), "", options(t))
	if again == nil {
		t.Fatalf("%s\n%s", problems, config.Effective())
	}
	if diff := cmp.Diff(config.Notify, again.Notify); diff != "" || len(config.Notify.Channels) != 3 || config.Notify.Daily != 390 {
		t.Errorf("want three channels and 06:30, the same read back; -want +have\n%s", diff)
	}
}
