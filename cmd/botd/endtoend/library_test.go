package endtoend

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"botd/internal/failure"
	"botd/strategy/library"
)

// TestEveryBuiltInStrategyHasAnExampleThatTrades runs each example of configs/library over generated candles,
// as a user would.
func TestEveryBuiltInStrategyHasAnExampleThatTrades(t *testing.T) {
	t.Parallel()
	candles := filepath.Join(t.TempDir(), "candles.csv")
	var stdout, stderr bytes.Buffer
	if code := execute([]string{"data", "generate", "--symbol", "ETH-USDT", "--interval", "1h", "--candles", "1000", "--seed", "5", "--out", candles},
		&stdout, &stderr); code != failure.OK {
		t.Fatalf("exit %d: %s", code, stderr.String())
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "configs", "library", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		names = append(names, name)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			if code := execute(append([]string{"backtest", "run", "-o", "json"}, legs(file, candles)...), &stdout, &stderr); code != failure.OK {
				t.Fatalf("exit %d: %s", code, stderr.String())
			}
			var result struct {
				Strategy string `json:"strategy"`
				Fills    int    `json:"fills"`
			}
			if err := json.Unmarshal(stdout.Bytes(), &result); err != nil {
				t.Fatal(err)
			}
			if name == "signal" { // a backtest receives no signals
				if result.Fills != 0 {
					t.Errorf("want no fill without a signal, have %d", result.Fills)
				}
				return
			}
			if result.Fills == 0 {
				t.Errorf("%s never traded in 1000 candles", name)
			}
		})
	}
	for _, definition := range library.All() {
		if !slices.Contains(names, definition.Name) {
			t.Errorf("%s has no example in configs/library", definition.Name)
		}
	}
}

// legs returns the strategy files of an example, and the candles of each: some strategies need another one on
// the other market.
func legs(file, candles string) []string {
	name := strings.TrimSuffix(filepath.Base(file), ".yaml")
	other := filepath.Join(filepath.Dir(file), "legs", name+"_spot.yaml")
	if _, err := os.Stat(other); err != nil {
		return []string{"-s", file, "--data", candles}
	}
	return []string{"-s", file, "-s", other, "--data", "carry-futures=" + candles, "--data", "carry-spot=" + candles}
}
