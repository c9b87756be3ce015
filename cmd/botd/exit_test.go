package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestExitCodesAreTheContracts(t *testing.T) {
	directory := t.TempDir()
	t.Chdir(directory)
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	good := "name: one\nstrategy: buy_and_hold\nmarket: futures\nsymbol: BTC-USDT\ninterval: 1m\n"
	write("good/botd.yaml", "mode: demo\ndata_dir: ./work\n")
	write("good/strategies/one.yaml", good)
	write("bad/botd.yaml", "mode: nowhere\n")
	write("file/botd.yaml", "mode: demo\ndata_dir: ./occupied\n")
	write("file/strategies/one.yaml", good)
	write("occupied", "")
	write("live/botd.yaml", "mode: live\nexchange: {base_url: http://127.0.0.1:1, key_file: ./key, secret_file: ./secret}\n")
	write("live/strategies/one.yaml", good)
	write("cut.csv", "open_time_ms,open,high,low,close,volume\n1,2\n")
	for _, c := range []struct {
		name      string
		arguments []string
		want      int
	}{
		{"no arguments", nil, exitOK},
		{"a good configuration", []string{"check", "-c", "good"}, exitOK},
		{"a bad configuration is a negative answer", []string{"check", "-c", "bad"}, exitNegative},
		{"an unknown command", []string{"rnu"}, exitUsage},
		{"an unknown flag", []string{"run", "--nonsense"}, exitUsage},
		{"bad data", []string{"backtest", "run", "-s", "good/strategies/one.yaml", "--data", "cut.csv"}, exitData},
		{"missing data", []string{"backtest", "run", "-s", "good/strategies/one.yaml", "--data", "none.csv"}, exitNoInput},
		{"a missing configuration", []string{"check", "-c", "nowhere"}, exitNoInput},
		{"no daemon", []string{"status", "-c", "good", "--listen", "127.0.0.1:1"}, exitUnavailable},
		{"a data directory that can not be made", []string{"run", "-c", "file"}, exitIO},
		{"no credentials", []string{"run", "-c", "live", "--mode", "live"}, exitCredentials},
		{"running a bad configuration", []string{"run", "-c", "bad"}, exitConfig},
		{"no journal yet", []string{"journal", "verify", "-c", "good"}, exitNoInput},
	} {
		var stdout, stderr bytes.Buffer
		if have := execute(c.arguments, &stdout, &stderr); have != c.want {
			t.Errorf("%s (%v): want exit code %d, have %d\n%s%s", c.name, c.arguments, c.want, have, stdout.String(), stderr.String())
		}
	}
}
