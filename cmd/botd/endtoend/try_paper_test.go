package endtoend

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// A script is tried on a file of candles, and then trades on paper at the prices of a venue, which is another process. The same
// command continues with the same account.
func TestTryContinuesWithLiveData(t *testing.T) {
	t.Parallel()
	directory, binary := t.TempDir(), build(t)
	address := startVenue(t, binary)
	write(t, filepath.Join(directory, "mine.star"), "load(\"level.star\", \"level\")\n\ndef decide(view):\n    return plan(target = quantity(level))\n")
	write(t, filepath.Join(directory, "level.star"), "level = 0.01\n")
	write(t, filepath.Join(directory, "mine.yaml"), "name: mine\nstrategy: script\nfile: mine.star\nmarket: futures\nsymbol: ETH-USDT\ninterval: 1h\n"+
		"schedule: \"@every 1s\"\nleverage: 2\nprotect: {stop_loss: 20%}\n")
	candles := "time,open,high,low,close,volume\n"
	for hour := range 6 { // a decision every second
		candles += fmt.Sprintf("2024-01-01T%02d:00:00Z,50000.1,50100,49900,50000.2,10\n", hour)
	}
	write(t, filepath.Join(directory, "BTCUSDT_1h.csv"), candles)
	command := []string{"try", "mine.yaml", "--data", "BTCUSDT_1h.csv", "--paper", "--base-url", address, "--listen", "127.0.0.1:0"}
	first := startAs(t, binary, directory, command)
	first.until(t, "position.changed")
	if err := first.process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	first.until(t, "daemon.stopped")
	if err := first.wait(); err != nil {
		t.Errorf("a clean stop: want exit code 0, have %v", err)
	}
	for _, name := range []string{"try.html", "paper/botd.yaml", "paper/strategies/mine.yaml", "paper/strategies/mine.star", "paper/strategies/level.star"} {
		if _, err := os.Stat(filepath.Join(directory, "try", "mine", filepath.FromSlash(name))); err != nil {
			t.Errorf("want %s: %v", name, err)
		}
	}
	account := filepath.Join(directory, "try", "mine", "paper")
	before := paperAccount(t, account)
	second := startAs(t, binary, directory, command)
	second.until(t, "position.changed") // found again
	if err := second.process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	second.until(t, "daemon.stopped")
	if err := second.wait(); err != nil {
		t.Errorf("a clean stop of the second: want exit code 0, have %v", err)
	}
	if after := paperAccount(t, account); after != before || after.Positions != 1 {
		t.Errorf("want the same position and fees, have %+v and then %+v", before, after)
	}
}
