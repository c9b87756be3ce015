package configs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"botd/configs"
	"botd/strategy"
	"botd/strategy/library"
	"botd/strategy/script"
)

func compiled(t *testing.T, keys []configs.Key) *jsonschema.Schema {
	t.Helper()
	text, err := json.Marshal(configs.Schema(keys, strategy.NewRegistry(append(library.All(), script.Rules(), script.Files())...)))
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatalf("compile: %v\n%s", err, text)
	}
	return schema
}

// asJSON reads YAML as an editor's validator does.
func asJSON(t *testing.T, text []byte) any {
	t.Helper()
	var value any
	if err := yaml.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	value, err = jsonschema.UnmarshalJSON(strings.NewReader(string(encoded)))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestTheSchemaAcceptsEveryGoodFile(t *testing.T) {
	t.Parallel()
	root, file := configs.Keys()
	schemas := map[string]*jsonschema.Schema{"botd": compiled(t, root), "strategy": compiled(t, file)}
	for pattern, kind := range map[string]string{
		"botd.yaml": "botd", "testdata/botd-*-good.yaml": "botd", "testdata/strategy-*-good.yaml": "strategy",
		"strategies/*.yaml": "strategy", "library/*.yaml": "strategy",
	} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Errorf("%s: want some files, have %v, %v", pattern, paths, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if strings.TrimSpace(string(text)) == "" {
				continue
			}
			if err := schemas[kind].Validate(asJSON(t, text)); err != nil {
				t.Errorf("%s: want it accepted, have %v", path, err)
			}
		}
	}
}

func TestSchemaAndReaderRefuseTheSame(t *testing.T) {
	t.Parallel()
	root, file := configs.Keys()
	botd, one := compiled(t, root), compiled(t, file)
	strategyOf := func(more string) string {
		return "name: a\nstrategy: sma_cross\nmarket: futures\nsymbol: BTC-USDT\ninterval: 1m\n" + more
	}
	for _, c := range []struct {
		schema *jsonschema.Schema
		text   string
		good   bool
	}{
		{botd, "mode: demo", true},
		{botd, "mode: real", false},
		{botd, "listn: 127.0.0.1:1", false},
		{botd, "risk: {max_daily_loss: 5%, max_drawdown: 500 USDT, cool_down: 1h30m}", true},
		{botd, "risk: {max_daily_loss: much}", false},
		{botd, "risk: {cool_down: soon}", false},
		{botd, "exchange: {settle: {window: 5s, widow: 1s}}", false},
		{botd, "simulated: {spot: {USDT: 10, DOGE: 1.5}}", true},
		{one, strategyOf("params: {fast: 5, slow: 20}"), true},
		{one, strategyOf("params: {fasst: 5}"), false},
		{one, strings.Replace(strategyOf("params: {quantity: 1, side: sell}"), "sma_cross", "twap", 1), true},
		{one, strings.Replace(strategyOf("params: {quantity: 1, side: up}"), "sma_cross", "twap", 1), false},
		{one, strategyOf("leverage: high"), false},
		{one, strategyOf("protect: {stop_loss: 2%, returns: {4h: 2%}}"), true},
		{one, "name: a\nstrategy: sma_cross\nmarket: futures\nsymbol: BTC-USDT", false},
		{one, strings.Replace(strategyOf(""), "sma_cross", "smacross", 1), false},
	} {
		if err := c.schema.Validate(asJSON(t, []byte(c.text))); (err == nil) != c.good {
			t.Errorf("%q: want accepted %v, have %v", c.text, c.good, err)
		}
	}
}

func TestEveryKeyIsListedWithItsKindAndDefault(t *testing.T) {
	t.Parallel()
	root, file := configs.Keys()
	find := func(keys []configs.Key, path string) configs.Key {
		for _, k := range keys {
			if k.Path == path {
				return k
			}
		}
		t.Errorf("want a key %s, have none", path)
		return configs.Key{}
	}
	for _, c := range []struct {
		keys                      []configs.Key
		path, kind, low, standard string
	}{
		{root, "exchange.settle.window", configs.KindDuration, "1ms", "5s"},
		{root, "risk.max_daily_loss", configs.KindLoss, "", "5%"},
		{root, "mode", configs.KindChoice, "", "demo"},
		{root, "simulated.fees.spot.taker", configs.KindShare, "-10%", "0.1%"},
		{file, "backtest.fees.taker", configs.KindShare, "0%", "0.0005"},
		{file, "protect.stop_loss", configs.KindDistance, "", ""},
		{file, "risk.max_position", configs.KindNumber, "", ""},
		{file, "size.equity", configs.KindShare, "0.000001%", ""},
	} {
		if k := find(c.keys, c.path); k.Kind != c.kind || k.Low != c.low || k.Default != c.standard {
			t.Errorf("%s: want %s from %q, default %q; have %+v", c.path, c.kind, c.low, c.standard, k)
		}
	}
}
