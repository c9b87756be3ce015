package endtoend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"botd/exchange"
	"botd/internal/chaos"
	"botd/internal/failure"
	"botd/internal/overlay"
	"botd/internal/startclock"
	"botd/reconcile/record"
	"botd/runtime/view"
)

// hangs are edits with which a file in the daemon's directory stops a part of it, which no test can do from outside. A named pipe
// blocks its opener until the test releases it. The edits are in the daemon's own package, on which few others depend.
func hangs() []overlay.Edit {
	const table = "cmd/botd/endtoend/lane_linux_test.go"
	return []overlay.Edit{
		{Name: "a turn that hangs", Table: table, In: "runtime/daemon.process.drive", Import: "os", Code: "Beat: «p.redraw»", // a turn's end
			Replace: func(code string) string {
				return `func(nowMS int64) { _, _ = os.ReadFile("stuck"); ` + code + `(nowMS) }`
			}},
		{Name: "a disk that hangs", Table: table, In: "runtime/daemon.timedJournal.Append", Import: "os", Code: "began := time.Now()",
			Replace: func(code string) string { return `_, _ = os.ReadFile("slow"); ` + code }},
		{Name: "a disk that is full", Table: table, In: "runtime/daemon.timedJournal.Append", Import: "os", Code: "err := «j.Journal.Append(ctx, records)»",
			Replace: func(code string) string {
				return `fmt.Errorf("injected: %w", journal.ErrFull); if _, full := os.Stat("full"); full != nil { err = ` + code + ` }`
			}},
	}
}

// inject creates the file whose edit makes the daemon hang.
func (p *place) inject(cause string) {
	p.t.Helper()
	if cause == "full" {
		p.file(cause, "", 0o600)
	} else if err := syscall.Mkfifo(filepath.Join(p.directory, cause), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// release removes the file, and releases its readers: opened for both it has a writer, and its readers reach
// its end when that writer closes.
func (p *place) release(cause string) {
	p.t.Helper()
	name := filepath.Join(p.directory, cause)
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err == nil {
		err = errors.Join(os.Remove(name), file.Close())
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// hanging is botd built with these edits, once.
var hanging = sync.OnceValues(func() (string, error) {
	directory := filepath.Join(builds, "hangs")
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return "", err
	}
	root, err := filepath.Abs(above)
	if err != nil {
		return "", err
	}
	path, err := overlay.Write(root, directory, hangs(), nil)
	if err != nil {
		return "", err
	}
	return chaos.Build(context.Background(), directory, "-overlay", path)
})

const (
	gridOfEther = "name: grid\nstrategy: grid\nmarket: futures\nsymbol: ETH-USDT\ninterval: 1m\nschedule: '@every 1s'\nleverage: 3\n" +
		"params: {lower: 1900, upper: 2480, lines: 5, quantity: 0.2}\n"
	holdsBoth = "name: %[1]s\nstrategy: buy_and_hold\nmarket: %[1]s\nsymbol: BTC-USDT\ninterval: 1m\nschedule: '@every 1s'\n" +
		"size: {quantity: 0.02}\nprotect: {stop_loss: 5%%}\n"
	flattenWithin = 5 * time.Second
)

// hungDaemon starts the exchange and a daemon that can be made to hang. The daemon has a position on each
// market, each with its stop, and resting orders.
func hungDaemon(t *testing.T, p *place) (address, own string, daemon *exec.Cmd, log *Trace) {
	t.Helper()
	binary, err := hanging()
	if err != nil {
		t.Fatal(err)
	}
	address, own = p.free(), p.free()
	p.live("configs", "lane", address, "data_dir: ./data\nlisten: "+own)
	p.file("configs/strategies/grid.yaml", gridOfEther, 0o600)
	for _, market := range []string{"futures", "spot"} {
		p.file("configs/strategies/"+market+".yaml", fmt.Sprintf(holdsBoth, market), 0o600)
	}
	p.venue(address, "lane", "--market", "still", "--start", startclock.Time().Truncate(time.Minute).Add(57*time.Second).Format(time.RFC3339))
	daemon, log = p.startAs(binary, "daemon", "run", "--mode", "live", "--log-format", "json")
	var orders []venueOrder
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%+v\n%s", orders, log)
		}
	})
	eventually(t, "positions with stops, and a grid", func() bool {
		orders = venueOrders(t, address)
		net, sold := heldOn(t, orders, "spot")
		futures, _ := heldOn(t, orders, "futures")
		return !net.IsZero() && sold.IsZero() && !futures.IsZero() && stopsOpen(orders) == 2 && working(orders) >= 2
	})
	return address, own, daemon, log
}

// heldOn returns the position or holding of an account's BTC fills on a market, and the quantity sold.
func heldOn(t *testing.T, orders []venueOrder, market string) (net, sold exchange.Amount) {
	t.Helper()
	for _, o := range orders {
		if o.Market != market || o.Symbol != "BTC-USDT" {
			continue
		}
		filled, err := exchange.ParseAmount(o.Filled)
		if err != nil {
			t.Fatal(err)
		}
		if o.Side == "SELL" {
			sold, filled = sold.Add(filled), filled.Neg()
		}
		net = net.Add(filled)
	}
	return net, sold
}

func stopsOpen(orders []venueOrder) (n int) {
	for _, o := range orders {
		if strings.HasPrefix(o.Type, "STOP") && o.Status == "NEW" {
			n++
		}
	}
	return n
}

// working counts the resting orders that open.
func working(orders []venueOrder) (n int) {
	for _, o := range orders {
		if o.Symbol == "ETH-USDT" && o.Side == "BUY" && (o.Status == "OPEN" || o.Status == "NEW" || o.Status == "CREATED") {
			n++
		}
	}
	return n
}

// isFlat reports whether everything is closed, canceled, or on spot too little to sell.
func isFlat(t *testing.T, orders []venueOrder) bool {
	t.Helper()
	net, _ := heldOn(t, orders, "spot")
	futures, _ := heldOn(t, orders, "futures")
	dust, err := exchange.ParseAmount("0.0001")
	if err != nil {
		t.Fatal(err)
	}
	return futures.IsZero() && net.Less(dust) && working(orders) == 0
}

// wantUse expects the status to show when, by whom, and how long the kill switch acted without the engine.
func wantUse(t *testing.T, p *place) {
	t.Helper()
	var status view.Status
	if err := json.Unmarshal([]byte(p.run(0, "status", "-o", "json", "-c", "configs")), &status); err != nil {
		t.Fatal(err)
	}
	use := status.LaneUse
	if use == nil || use.Active || use.RequestedBy == "" || use.Level != record.LevelFlatten || use.Orders == 0 ||
		use.DoneAfterMS <= 0 || use.TookMS < use.DoneAfterMS {
		t.Errorf("want who, how many orders and how long, have %+v", use)
	}
	if text := p.run(0, "status", "-c", "configs"); !strings.Contains(text, "the kill switch acted without the engine at ") {
		t.Errorf("want a line for people, have\n%s", text)
	}
}

// TestTheKillSwitchNeedsNoTurnOfTheEngine halts a daemon whose engine hangs, or whose journal's disk hangs or
// is full. Everything is flat within five seconds. Once the cause has ended the engine knows each order, and
// agrees with the exchange; if the daemon is killed instead, the next start does.
func TestTheKillSwitchNeedsNoTurnOfTheEngine(t *testing.T) {
	for _, cause := range []string{"stuck", "slow", "full"} {
		for _, killed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, killed %t", cause, killed), func(t *testing.T) {
				p := newPlace(t) // not parallel: it measures
				address, _, daemon, log := hungDaemon(t, p)
				p.inject(cause)
				before := buys(venueOrders(t, address))
				watch := startStopwatch(t)
				halt, answer := p.start("halt", "halt", "--level", "flatten", "--reason", "a test", "--yes")
				t.Cleanup(func() {
					if t.Failed() {
						t.Logf("botd halt: %s", answer)
					}
				})
				eventually(t, "flat", func() bool { return isFlat(t, venueOrders(t, address)) })
				watch.wantWithin(t, "from the command to flat", flattenWithin)
				_ = halt.Wait()
				if now := buys(venueOrders(t, address)); now > before {
					t.Errorf("openings under the halt: want none, have %d", now-before)
				}
				if !strings.Contains(log.String(), `"lane.engaged"`) {
					t.Fatalf("want the lane to act, have %s", log)
				}
				if killed {
					if err := daemon.Process.Kill(); err != nil {
						t.Fatal(err)
					}
					_ = daemon.Wait()
				}
				p.release(cause)
				if killed {
					_, log = p.start("daemon again", "run", "--mode", "live", "--log-format", "json")
					log.wait(t, `"daemon.reconciled"`)
				} else {
					log.wait(t, `"lane.released"`)
					wantUse(t, p)
				}
				wantKnown(t, p, address)
			})
		}
	}
}

// TestKillSwitchUnderCombinedLoad halts a daemon whose engine hangs while a client without a token
// keeps thousands of half-sent requests open and a viewer hammers: everything is flat within five seconds.
func TestKillSwitchUnderCombinedLoad(t *testing.T) {
	p := newPlace(t) // not parallel: it measures, and needs the machine's file descriptors
	address, own, daemon, log := hungDaemon(t, p)
	connections := flood(t, own)
	defer func() {
		for _, c := range connections {
			c.Close()
		}
	}()
	token, err := os.ReadFile(filepath.Join(p.directory, "data/live/token-viewer"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	answers, done := hammer(ctx, t, own, strings.TrimSpace(string(token)))
	eventually(t, "the viewer at work", func() bool { return answers.Load() > viewers })
	p.inject("stuck")
	watch := startStopwatch(t)
	halt, _ := p.start("halt", "halt", "--level", "flatten", "--reason", "a test", "--yes")
	eventually(t, "flat", func() bool { return isFlat(t, venueOrders(t, address)) })
	watch.wantWithin(t, "from the command to flat", flattenWithin)
	memory := residentMB(t, daemon)
	stop()
	done()
	t.Logf("%d MB resident, %d answers to the viewer", memory, answers.Load())
	if memory > maxFloodedMB {
		t.Errorf("want at most %d MB, have %d MB", maxFloodedMB, memory)
	}
	_ = halt.Wait()
	p.release("stuck")
	log.wait(t, `"lane.released"`)
	wantKnown(t, p, address)
}

// wantKnown expects the engine to agree with the exchange, with nothing unexplained.
func wantKnown(t *testing.T, p *place, address string) {
	t.Helper()
	eventually(t, "the halt done, as the engine sees it", func() bool {
		status := p.run(failure.OK, "status", "-o", "json")
		return strings.Contains(status, `"state": "halted"`) && !strings.Contains(status, `"doing"`) && !strings.Contains(status, `"state": "lane"`)
	})
	status := p.run(failure.OK, "status", "-o", "json")
	for _, bad := range []string{"quarantined", "contradicted", "standing_down", "foreign"} {
		if strings.Contains(status, `"state": "`+bad+`"`) {
			t.Errorf("want nothing %s, have %s", bad, status)
		}
	}
	for _, o := range venueOrders(t, address) {
		if journalled := p.run(failure.OK, "journal", "export", "--kind", "sending"); !strings.Contains(journalled, o.ClientOrderID) {
			t.Errorf("order %s: want it in the journal", o.ClientOrderID)
		}
	}
	if answer := p.run(failure.OK, "journal", "export", "--kind", "halt"); !strings.Contains(answer, `"level":"flatten"`) {
		t.Errorf("want the halt in the journal, have %s", answer)
	}
	if _, sold := heldOn(t, venueOrders(t, address), "spot"); sold.IsZero() {
		t.Error("want the units sold")
	}
	p.run(failure.OK, "journal", "verify")
}
