package endtoend

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"botd/internal/failure"
	"botd/internal/startclock"
)

// TestUnjournalledOrdersUnderPrefixBlockEntries covers cases 15, 35 and 39 with real processes: orders with this instance's
// prefix that are not in its journal. First a backup is restored after botd has continued. If an order rests
// that the backup does not know, the account halts; if all of them have filled, only the position is visible,
// and its symbol is quarantined. Then a second botd, with a new data directory, uses the account: the symbol
// is quarantined. Nothing is canceled, and nothing opens.
func TestUnjournalledOrdersUnderPrefixBlockEntries(t *testing.T) {
	t.Parallel()
	const grid = "name: grid\nstrategy: grid\nmarket: futures\nsymbol: ETH-USDT\ninterval: 1m\nschedule: '@every 1s'\nleverage: 3\nparams: " +
		"{lower: 1900, upper: 3100, lines: 5, quantity: 0.2}\n"
	const hold = "name: hold\nstrategy: buy_and_hold\nmarket: futures\nsymbol: ETH-USDT\ninterval: 1m\nschedule: '@every 1s'\nleverage: " +
		"3\nsize: {quantity: %s}\n"
	for _, c := range []struct {
		name          string
		before, after string // the strategy until the backup, and afterwards
		resting       bool   // whether an order rests that the backup does not know
		event, why    string
	}{
		{"an order rests", grid, grid, true, "trading.halted", "prefix but is not in the journal: a second botd is running, or an old backup was restored"},
		{"all have filled", fmt.Sprintf(hold, "0.2"), fmt.Sprintf(hold, "0.5"), false, "symbol.quarantined",
			"the position differs from the fills by 0.3, which nothing explains"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			w := &peers{place: p, address: p.free()}
			for _, name := range []string{"one", "two"} {
				p.live(name, "peer", w.address, fmt.Sprintf("data_dir: %q", filepath.Join(p.directory, "data-"+name)))
				p.file(name+"/strategies/strategy.yaml", c.before, 0o600)
			}
			p.venue(
				w.address,
				"peer",
				"--market",
				"still",
				"--start",
				startclock.Time().Truncate(time.Minute).Add(57*time.Second).Format(time.RFC3339),
			) // the first candle comes soon
			w.price("2550")
			w.runUntil("a first order", func() bool { return w.live() > 0 || w.filled() > 0 })
			p.run(failure.OK, "backup", "early.db", "-c", "one", "--mode", "live")
			backed := p.run(failure.OK, "journal", "export", "--file", "early.db", "--kind", "sending")

			p.file("one/strategies/strategy.yaml", c.after, 0o600)
			w.price("2250")
			w.runUntil("an order the backup does not know", func() bool {
				for _, o := range venueOrders(t, w.address) {
					if known := strings.Contains(backed, `"`+o.ClientOrderID+`"`); !known && o.rests() == c.resting {
						return true
					}
				}
				return false
			})
			p.run(failure.OK, "restore", "early.db", "-c", "one", "--mode", "live")
			w.stops("one", c.event, c.why)
			w.stops("two", "symbol.quarantined", "the journal is new and does not contain the open orders or position")
		})
	}
}

// peers are botds on one account.
type peers struct {
	*place
	address string
}

func (o *venueOrder) rests() bool { return o.Status == "OPEN" || o.Status == "NEW" }

// live and filled count the account's orders.
func (w *peers) live() (n int) {
	for _, o := range venueOrders(w.t, w.address) {
		if o.rests() {
			n++
		}
	}
	return n
}

func (w *peers) filled() (n int) {
	for _, o := range venueOrders(w.t, w.address) {
		if o.Status == "FILLED" {
			n++
		}
	}
	return n
}

// price moves the market.
func (w *peers) price(to string) {
	w.t.Helper()
	moved, err := http.Post("http://"+w.address+"/control/v1/price", "application/json",
		strings.NewReader(`{"market": "futures", "symbol": "ETH-USDT", "price": "`+to+`"}`))
	if err != nil || moved.StatusCode != http.StatusOK {
		w.t.Fatalf("move the price: %v, %v", moved, err)
	}
	moved.Body.Close()
}

// daemon runs botd with a configuration.
func (w *peers) daemon(config string) (*exec.Cmd, *Trace) {
	return w.start(config, "run", "-c", config, "--mode", "live", "--listen", "off", "--log-format", "json")
}

// runUntil runs the first botd until a condition holds on the exchange and is settled in its journal, and
// stops it.
func (w *peers) runUntil(what string, so func() bool) {
	w.t.Helper()
	command, log := w.daemon("one")
	log.wait(w.t, `"daemon.reconciled"`)
	eventually(w.t, what, so)
	if err := errors.Join(command.Process.Signal(os.Interrupt), command.Wait()); err != nil {
		w.t.Fatal(err)
	}
}

// stops runs a botd until it reports why nothing opens, and expects no purchase, and no order to be canceled. It may reduce its own position: its strategy
// may have decided before it stops.
func (w *peers) stops(config, event, why string) {
	w.t.Helper()
	before := venueOrders(w.t, w.address)
	command, log := w.daemon(config)
	log.wait(w.t, event)
	log.wait(w.t, why)
	log.wait(w.t, `"daemon.reconciled"`)
	if err := errors.Join(command.Process.Signal(os.Interrupt), command.Wait()); err != nil {
		w.t.Errorf("%s: want a clean stop, have %v", config, err)
	}
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, `"order.placed"`) && !strings.Contains(line, "reduceOnly") {
			w.t.Errorf("%s placed an order that may open: %s", config, log.String())
		}
	}
	if after := venueOrders(w.t, w.address); buys(after) != buys(before) || canceled(after) != canceled(before) {
		w.t.Errorf("%s: want no order placed that opens, and none canceled, after\n%+v\nhave\n%+v", config, before, after)
	}
}

func canceled(orders []venueOrder) (n int) {
	for _, o := range orders {
		if strings.HasSuffix(o.Status, "CANCELED") {
			n++
		}
	}
	return n
}
