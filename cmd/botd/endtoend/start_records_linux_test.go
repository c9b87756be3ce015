package endtoend

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"botd/exchange"
	"botd/reconcile"
	"botd/reconcile/journal"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime/gateway"
)

// TestAStartIsReadyWithinASecondHoweverLongTheJournal adds BOTD_RECORDS records (100,000) to a live daemon's journal,
// starts it BOTD_STARTS times (3), and measures from exec to a /readyz that answers 200. The fastest start counts: a slower one may have waited for a disk.
func TestAStartIsReadyWithinASecondHoweverLongTheJournal(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: a hundred thousand records take minutes under the race detector")
	}
	count, starts := fromEnvironment(t, "BOTD_RECORDS", 100_000), fromEnvironment(t, "BOTD_STARTS", 3)
	p := newPlace(t) // not parallel: it measures
	address, own := p.free(), p.free()
	p.live("configs", "long", address, "data_dir: ./data\nlisten: "+own)
	p.file("configs/strategies/one.yaml", "name: one\nstrategy: twap\nmarket: futures\nsymbol: BTC-USDT\ninterval: 1m\nschedule: '@every 1s'\n"+
		bought("0.1")+"protect: {stop_loss: 5%}\n", 0o600)
	p.venue(address, "long", "--market", "still")
	daemon, log := p.start("daemon", "run", "--mode", "live", "--log-format", "json")
	log.wait(t, `"position.changed"`)
	stopInOrder(t, daemon, log)
	lengthen(t, filepath.Join(p.directory, "data", "live", journal.FileName), journal.Binding{Mode: "live", URL: "http://" + address,
		KeyFingerprint: gateway.Fingerprint("long"), Instance: "main"}, count)
	within := 0
	for range starts {
		watch := startStopwatch(t)
		daemon, log := p.start("daemon", "run", "--mode", "live", "--log-format", "json")
		for again := time.Tick(5 * time.Millisecond); !ready(own); <-again {
			if strings.Contains(log.String(), `"daemon.stopped"`) {
				t.Fatalf("it ended: %s", log)
			}
		}
		if watch.within(t, "from exec to ready", time.Second) {
			within++
		}
		t.Logf("%d records: %s of processor time until then", count, processorTime(t, daemon))
		stopInOrder(t, daemon, log)
		t.Logf("%s in all", daemon.ProcessState.UserTime()+daemon.ProcessState.SystemTime())
	}
	if within == 0 {
		t.Errorf("want a start ready within a second, times what else runs here, have none of %d", starts)
	}
}

// ready reports whether /readyz answers 200.
func ready(address string) bool {
	response, err := http.Get("http://" + address + "/readyz")
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// processorTime returns the time that a process has used so far.
func processorTime(t *testing.T, command *exec.Cmd) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", command.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), ") ")
	return ticks(t, strings.Fields(after)[11:13]...)
}

// stopInOrder ends a daemon as a person does.
func stopInOrder(t *testing.T, daemon *exec.Cmd, log *Trace) {
	t.Helper()
	if err := errors.Join(daemon.Process.Signal(os.Interrupt), daemon.Wait()); err != nil {
		t.Fatalf("want a clean stop, have %v: %s", err, log)
	}
}

// lengthen adds complete lives of orders to a journal, on a symbol that its strategies do not trade, and the checkpoints
// that the daemon would have written.
func lengthen(t *testing.T, path string, binding journal.Binding, count int) {
	t.Helper()
	j, err := journal.Open(t.Context(), path, binding, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tracker := reconcile.NewTracker(placement.Bounds{})
	if err := j.Replay(t.Context(), func(r *record.Record) error { tracker.Apply(r); return nil }); err != nil {
		t.Fatal(err)
	}
	nowMS, n := time.Now().Add(-time.Hour).UnixMilli(), int64(0)
	add := func(records ...record.Record) {
		for i := range records {
			records[i].AtMS = nowMS
			tracker.Apply(&records[i])
		}
		if err := j.Append(t.Context(), records); err != nil {
			t.Fatal(err)
		}
	}
	const batch = 4_000
	for written := 0; written < count; written += batch {
		var records []record.Record
		for len(records) < batch {
			records = append(records, lifeOfOrder(tracker.Start(), n)...)
			n++
		}
		add(records...)
		if written%journal.CheckpointEvery == 0 {
			add(record.Record{Body: tracker.Checkpoint(binding.Text())})
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// lifeOfOrder returns the records of the order with a number: alternately a purchase and an equal sale.
func lifeOfOrder(start placement.Start, n int64) (records []record.Record) {
	const firstID = 1_000_000_000 // above those of the orders that the daemon placed
	side, orderID := []exchange.Side{exchange.Buy, exchange.Sell}[n%2], firstID+n
	id := placement.ClientOrderID("main", start, orderID)
	key := exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"}
	order := exchange.NewOrder{Market: key.Market, Symbol: key.Name, Side: side, Type: exchange.MarketOrder, Quantity: 3, ClientOrderID: id}
	price := exchange.AmountOf(2_500)
	for _, body := range []record.Body{
		record.Sending{Order: order, Purpose: placement.Entry}, record.Acknowledged{OrderID: orderID},
		record.Fill{OrderID: orderID, Filled: 3, Price: price},
		record.Ended{OrderID: orderID, State: placement.Filled, Filled: 3, Price: price, Evidence: "fetched FILLED"},
	} {
		records = append(records, record.Record{Strategy: "one", Symbol: key, ClientOrderID: id, Body: body})
	}
	return records
}

// fromEnvironment returns the number in a variable, or a default.
func fromEnvironment(t *testing.T, variable string, standard int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return standard
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}
