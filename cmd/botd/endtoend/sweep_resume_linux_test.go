package endtoend

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// write writes a file of the folder.
func (c *sweepCluster) write(name, text string) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.folder, name), []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// candles returns the rows of the folder's candles.
func (c *sweepCluster) candles() [][]string {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.folder, "candles.csv"))
	if err != nil {
		c.t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		c.t.Fatal(err)
	}
	return rows[1:]
}

// resumed returns the result of a resumed sweep, and the number of trials that it did not run again.
func (c *sweepCluster) resumed(name string) (sweepResult, int) {
	c.t.Helper()
	text := c.must("sweep", "resume", name, "-o", "json")
	var counted struct{ Reused int }
	if err := json.Unmarshal([]byte(text), &counted); err != nil {
		c.t.Fatal(err)
	}
	return c.result(text), counted.Reused
}

// interrupt leaves two and a half rows of a sweep, as a kill would.
func (c *sweepCluster) interrupt(name string) {
	c.t.Helper()
	folder := filepath.Join(c.folder, "data", "sweeps", name)
	text, err := os.ReadFile(filepath.Join(folder, "trials.jsonl"))
	if err == nil {
		lines := strings.SplitAfter(string(text), "\n")
		err = os.WriteFile(filepath.Join(folder, "trials.jsonl"), []byte(lines[0]+lines[1]+lines[2][:len(lines[2])/2]), 0o600)
	}
	if err == nil {
		err = os.Remove(folder + ".json")
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

const resumable = `name: own
strategy: rules
market: futures
symbol: ETH-USDT
interval: 1h
leverage: 5
size: {equity: 50%}
`

// TestAResumedSweepIsTheOneThatWasCut uses columns in the strategy's folder, recorded trades, and a program. Existing trials are not run
// again, and after a change of any input all are.
func TestAResumedSweepIsTheOneThatWasCut(t *testing.T) {
	t.Parallel()
	python(t)
	source, err := os.ReadFile("../../../strategy/process/testdata/cross.py")
	if err != nil {
		t.Fatal(err)
	}
	vary := []string{"--vary", "protect.stop_loss=1%,2%,4%"}
	for _, k := range []struct {
		name    string
		flags   []string
		prepare func(c *sweepCluster)
		remove  string // inputs that the resumed sweep has a copy of
		change  func(c *sweepCluster)
	}{
		{"columns", []string{"--split", "70%"}, func(c *sweepCluster) {
			column := "time_ms,mood\n"
			for i, row := range c.candles() {
				column += fmt.Sprintf("%s,%d\n", row[0], (i/7)%3-1)
			}
			c.write("mood.csv", column)
			c.write("own.yaml", resumable+"columns: [mood.csv]\nparams: {entry_long: 'column(\"mood\") > 0', exit_long: 'column(\"mood\") < 0'}\n")
		}, "mood.csv", func(c *sweepCluster) {
			c.write("data/sweeps/cut/mood.csv", "time_ms,mood\n"+c.candles()[100][0]+",1\n")
		}},
		{"trades", []string{"--split", "70%", "--trades", "trades.csv"}, func(c *sweepCluster) {
			tape, id := "id,price,qty,time_ms,side\n", 0
			for _, row := range c.candles() {
				opened, err := strconv.ParseInt(row[0], 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				for k, price := range row[1:5] {
					id++
					tape += fmt.Sprintf("%d,%s,1,%d,BUY\n", id, price, opened+int64(k)*900_000)
				}
			}
			c.write("trades.csv", tape)
			c.write("own.yaml", resumable+"params: {entry_long: 'rsi(close, 7) < 30', exit_long: 'rsi(close, 7) > 70'}\n")
		}, "own.yaml", func(c *sweepCluster) {
			text, err := os.ReadFile(filepath.Join(c.folder, "trades.csv"))
			if err != nil {
				t.Fatal(err)
			}
			c.write("trades.csv", string(bytes.Replace(text, []byte(",1,"), []byte(",2,"), 1)))
		}},
		{"a program", []string{"--to", "2024-01-08"}, func(c *sweepCluster) {
			c.write("cross.py", string(source))
			c.write("own.yaml", strings.Replace(resumable, "rules", "process", 1)+"command: [python3, cross.py]\nparams: {fast: 5, slow: 20}\n"+pythonStarts)
		}, "", func(c *sweepCluster) { c.write("cross.py", string(source)+"\n# changed\n") }},
	} {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			c := newSweepCluster(t)
			k.prepare(c)
			arguments := append(append([]string{"sweep", "run", "-s", "own.yaml", "--data", "candles.csv", "-o", "json"}, vary...), k.flags...)
			whole := c.result(c.must(arguments...))
			if cut := c.result(c.must(append(arguments, "--name", "cut")...)); cut.SHA256 != whole.SHA256 || len(cut.Trials) != 3 {
				t.Fatalf("want %s, have %s with %d trials", whole.SHA256, cut.SHA256, len(cut.Trials))
			}
			c.interrupt("cut")
			if k.remove != "" {
				if err := os.Remove(filepath.Join(c.folder, k.remove)); err != nil {
					t.Fatal(err)
				}
			}
			if again, reused := c.resumed("cut"); again.SHA256 != whole.SHA256 || reused != 2 {
				t.Errorf("want %s with 2 trials of before, have %s with %d", whole.SHA256, again.SHA256, reused)
			}
			c.interrupt("cut")
			k.change(c)
			if changed, reused := c.resumed("cut"); changed.SHA256 == whole.SHA256 || reused != 0 {
				t.Errorf("after a change: want all run again, have %s with %d of before", changed.SHA256, reused)
			}
		})
	}
}

// TestWorkersGetTheCandlesOfOtherSymbols has a rule read another symbol on a worker, which has no files of its
// own.
func TestWorkersGetTheCandlesOfOtherSymbols(t *testing.T) {
	t.Parallel()
	c := newSweepCluster(t)
	c.must("data", "generate", "--symbol", "BTC-USDT", "--interval", "1h", "--candles", "2000", "--seed", "5", "--out", "btc.csv")
	c.must("data", "generate", "--symbol", "BTC-USDT", "--interval", "1h", "--candles", "2000", "--seed", "6", "--out", "another.csv")
	const btc = `rsi(candles("1h", symbol = "BTC-USDT").close, 7)`
	c.write("own.yaml", resumable+"params: {entry_long: '"+btc+" < 40', exit_long: '"+btc+" > 60'}\n")
	over := func(file string, more ...string) []string {
		return append([]string{"sweep", "run", "-s", "own.yaml", "--data", "candles.csv", "--data", "BTC-USDT=" + file, "--split", "70%",
			"--vary", "protect.stop_loss=1%,2%,3%,4%,5%", "-o", "json"}, more...)
	}
	local := c.result(c.must(over("btc.csv")...))
	if other := c.result(c.must(over("another.csv")...)); other.SHA256 == local.SHA256 {
		t.Error("want the other symbol's candles to count")
	}
	far := c.start("botd", over("btc.csv", "--name", "far", "--serve", c.address)...)
	c.until("a server", func() bool { conn, err := net.Dial("tcp", c.address); return err == nil && conn.Close() == nil })
	c.worker(1)
	c.ends(far, "the sweep")
	c.sameRows(far, "far", local)
}
