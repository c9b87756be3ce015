package configs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"botd/configs"
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
		"interval": "is not known", "size.equity": "size.equity", "protect.stop_los": "stop_los", "interval.x": "interval has no keys of its own",
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
