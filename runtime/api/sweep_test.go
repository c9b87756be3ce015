package api

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"botd/runtime/view"
)

// sweeps is a directory with a saved sweep, and a file that is no sweep.
func sweeps(t *testing.T) string {
	t.Helper()
	directory := t.TempDir()
	for name, text := range map[string]string{
		"first.json": `{"schema":1,"strategy":"sma_cross","symbol":"BTC-USDT","interval":"1h","candles":2000,"split":"2024-01-01T00:00:00Z","sort":"sharpe",
			"sharpe_by_luck":0.9,"refused":2,"refused_why":"fast is not below slow",
			"trials":[{"params":{"fast":"5"},"seen":{"sharpe":1.5},"unseen":{"sharpe":-0.2}},{"params":{"fast":"9"},"seen":{"sharpe":1.1},"unseen":null}],
			"data_sha256":"00","elapsed_s":1}`,
		"second.json":  `{"strategy":"rsi","trials":[{"params":{},"seen":{"sharpe":null},"unseen":null}]}`,
		"stopped.json": `{"strategy":"rsi","verdict":"nothing","unranked":1,"trials":[{"params":{"fast":"5"},"seen":{"sharpe":9.8},"unseen":{"sharpe":1}}]}`,
		"torn.json":    `{"strategy":"rsi","tri`, "none.json": `{"strategy":"rsi","trials":[]}`, "other.txt": "x",
		".hidden.json": `{"strategy":"x","trials":[{"params":{}}]}`,
	} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range []string{"stopped.json", "second.json"} {
		if err := os.Chtimes(filepath.Join(directory, name), time.Time{}, time.Unix(int64(2-i), 0)); err != nil {
			t.Fatal(err)
		}
	}
	return directory
}

func TestSweepsThatWereSavedAreListedWithTheirBest(t *testing.T) {
	t.Parallel()
	d := newDeskWith(t, func(c *Config) { c.Sweeps = sweeps(t) })
	items := decoded[List[view.Sweep]](t, d.want(200, "/api/v1/sweeps")).Items
	if len(items) != 3 || items[0].Name != "first" || items[1].Name != "stopped" || items[2].Name != "second" {
		t.Fatalf("want first, stopped and second, the newest first, have %+v", items)
	}
	if none := items[1]; none.Verdict != "nothing" || len(none.Best) != 0 || none.Seen != nil || none.OutOfSampleSharpe != nil || none.Trials != 1 {
		t.Errorf("no trial has a rank: want no best one, have %+v", none)
	}
	one := items[0]
	if one.Strategy != "sma_cross" || one.Trials != 2 || one.Refused != 2 || one.Best["fast"] != "5" || one.Seen == nil || *one.Seen != 1.5 ||
		one.OutOfSampleSharpe == nil || *one.OutOfSampleSharpe != -0.2 || one.Split == nil || *one.ExpectedMaxSharpe != 0.9 {
		t.Errorf("want the best of two trials, have %+v", one)
	}
	if d := newDeskWith(t, func(c *Config) { c.Sweeps = "nowhere" }); len(decoded[List[view.Sweep]](t, d.want(200, "/api/v1/sweeps")).Items) != 0 {
		t.Error("without the directory: want none")
	}
}
