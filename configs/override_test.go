package configs_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"botd/configs"
	"botd/strategy"
)

const overridden = `# a comment
name: trend
strategy: sma_cross
market: futures
symbol: BTC-USDT
interval: 1h
size: {equity: 50%}
params: {fast: 5, slow: 30} # interval
`

func TestAStrategyWithOtherValues(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "trend.yaml")
	if err := os.WriteFile(file, []byte(overridden), 0o600); err != nil {
		t.Fatal(err)
	}
	c, problems := configs.LoadStrategyWith(file, map[string]string{"interval": "4h", "size.equity": "20%", "params.fast": "7", "protect.stop_loss": "2%"},
		options(t))
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	effective := c.Effective()
	for _, want := range []string{"interval: 4h", "equity: 20%", "fast: 7", "slow: 30", "stop_loss: 2%"} {
		if !strings.Contains(effective, want) {
			t.Errorf("want %q in\n%s", want, effective)
		}
	}
	for path, want := range map[string]string{
		"interval": "unknown interval", "size.equity": "size.equity", "protect.stop_los": "stop_los", "interval.x": "interval has no keys of its own",
	} {
		_, problems := configs.LoadStrategyWith(file, map[string]string{path: "7x"}, options(t))
		if problems.Err() == nil || !strings.Contains(problems.String(), want) {
			t.Errorf("%s: want %q, have %v", path, want, problems)
		}
	}
	if _, problems := configs.LoadStrategyWith(file+"x", map[string]string{"interval": "4h"}, options(t)); problems.Err() == nil {
		t.Error("a file that is not there is read")
	}
	text, err := os.ReadFile(file)
	if err != nil || string(text) != overridden {
		t.Errorf("the file is changed: %v", err)
	}
}

// The error gives the reason. Without overrides the file is read as it is, in its own mode.
func TestOverrideErrors(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for i, c := range []struct {
		text, path, value, want string
	}{
		{overridden, "size.equity", "a: [", `size.equity: "a: [" is not a value`},
		{overridden, "size.equity", "", `size.equity: "" is not a value`},
		{"# nothing\n", "interval", "4h", "is empty"},
		{"a: [\n", "interval", "4h", "did not find expected node content"},
		{"leverage: 0\nname: B\n", "market", "spt", ":3: market \"spt\" is not known"},
	} {
		file := write(t, filepath.Join(folder, string(rune('a'+i))+".yaml"), c.text, 0o600)
		if one, problems := configs.LoadStrategyWith(file, map[string]string{c.path: c.value}, options(t)); one != nil || !strings.Contains(problems.String(),
			c.want) {
			t.Errorf("%s: want %q, have %v", c.path, c.want, problems)
		} else if c.want == ":3: market \"spt\" is not known" && !slices.IsSortedFunc(problems, func(a, b configs.Problem) int { return a.Line - b.Line }) {
			t.Errorf("want problems in the order of their lines, have %v", problems)
		}
	}
	file := write(t, filepath.Join(folder, "live.yaml"), simple("a", "futures", "DOGE-USDT"), 0o600)
	for _, values := range []map[string]string{nil, {"interval": "4h"}} {
		check := options(t)
		if one, problems := configs.LoadStrategyWith(file, values, check); one != nil || problems.Errors() != 1 {
			t.Errorf("%v in a demo: want the symbol refused, have %v", values, problems)
		}
		check.Mode = configs.Live
		if one, problems := configs.LoadStrategyWith(file, values, check); one == nil || problems.Warnings() != 1 || problems.Errors() != 0 {
			t.Errorf("%v live: want it left to the venue, have %v", values, problems)
		}
	}
}

// Relative paths start from its folder.
func TestColumnPathsAreRelativeToStrategy(t *testing.T) {
	t.Parallel()
	files := tree("botd.yaml", "mode: demo\n", "strategies/a.yaml", simple("a", "futures", "BTC-USDT")+"columns: [a.csv, ../b.csv=x, /c.csv]\n")
	var opened []string
	check := options(t)
	check.LoadColumns = func(files []string) (strategy.Columns, error) {
		opened = files
		return nil, nil
	}
	config, problems := configs.Load(files, "conf", check)
	want := []string{"conf/strategies/a.csv", "conf/b.csv=x", "/c.csv"}
	if config == nil || !slices.Equal(opened, want) || !slices.Equal(config.Strategies[0].ColumnPaths, want) {
		t.Errorf("want %v opened, have %v, %v", want, opened, problems)
	}
	check.LoadColumns = func([]string) (strategy.Columns, error) { return nil, errors.New("no such column") }
	if config, problems := configs.Load(files, "conf", check); config != nil || !strings.Contains(problems.String(),
		"conf/strategies/a.yaml:6: columns: no such column") {
		t.Errorf("want the reason at its line, have %v", problems)
	}
}

func TestACandleClosesAtTheIntervalWithoutASchedule(t *testing.T) {
	t.Parallel()
	config, problems := configs.Load(tree("botd.yaml", "mode: demo\n", "strategies/a.yaml", simple("a", "futures", "BTC-USDT")), "", options(t))
	if config == nil || config.Strategies[0].Schedule.Next(1) != 60_000 {
		t.Errorf("want the close of a minute, have %v, %v", config, problems)
	}
}
