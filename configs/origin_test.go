package configs_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"botd/configs"
)

func TestEveryValueHasItsOrigin(t *testing.T) {
	t.Parallel()
	files := tree("botd.yaml", "mode: demo\nrisk:\n  max_leverage: 7\naccess: {behind_proxy: true, hosts: \"a.example, 10.0.0.5\"}\n",
		"strategies/a.yaml", simple("a", "futures", "BTC-USDT")+"risk:\n  max_leverage: 3\n")
	config, problems := configs.Load(files, "conf", options(t))
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	config.Listen = "127.0.0.1:1"
	config.Override("listen")
	settings, err := config.Settings()
	if err != nil {
		t.Fatal(err)
	}
	have := map[string][2]string{}
	for _, s := range settings {
		have[s.Path] = [2]string{s.Value, s.Origin}
	}
	for path, want := range map[string][2]string{
		"mode":                           {"demo", "conf/botd.yaml:1"},
		"risk.max_leverage":              {"7", "conf/botd.yaml:3"},
		"risk.max_open_orders":           {"200", configs.OriginDefault},
		"access.hosts":                   {"a.example, 10.0.0.5", "conf/botd.yaml:4"},
		"listen":                         {"127.0.0.1:1", configs.OriginCommand},
		"foreign":                        {"halt", configs.OriginDefault},
		"strategies.a.symbol":            {"BTC-USDT", "conf/strategies/a.yaml:4"},
		"strategies.a.risk.max_leverage": {"3", "conf/strategies/a.yaml:7"},
	} {
		if diff := cmp.Diff(want, have[path]); diff != "" {
			t.Errorf("%s: want - have +\n%s", path, diff)
		}
	}
	if len(config.Access.Hosts) != 2 || !config.Access.Secure() {
		t.Errorf("access: have %+v", config.Access)
	}
}

// Only the mode has that origin. A step of a list has the list's line.
func TestTheModeOfTheCommandLineIsItsOrigin(t *testing.T) {
	t.Parallel()
	check := options(t)
	check.Mode = configs.Demo
	config, problems := configs.Load(tree("botd.yaml", "mode: paper\nforeign: adopt\nexchange: {base_url: https://v.example}\n", "strategies/a.yaml",
		simple("a", "futures", "BTC-USDT")+"size: {equity: 50%}\nscale_in: [{open: 50%}, {at: -2%, open: 50%}]\n"), "", check)
	if config == nil {
		t.Fatal(problems)
	}
	settings, err := config.Settings()
	if err != nil {
		t.Fatal(err)
	}
	origins := map[string]string{}
	for _, s := range settings {
		origins[s.Path] = s.Origin
	}
	for path, want := range map[string]string{"mode": configs.OriginCommand, "foreign": "botd.yaml:2", "shutdown": configs.OriginDefault,
		"strategies.a.scale_in.2.at": "strategies/a.yaml:7", "strategies.a.size.equity": "strategies/a.yaml:6"} {
		if origins[path] != want {
			t.Errorf("%s: want %s, have %s", path, want, origins[path])
		}
	}
}
