package cli

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"botd/internal/failure"
)

// TestWhatNoLockSeesStopsEntries is case 15 with real processes: orders that carry
// this instance's prefix and are not in its journal. First a backup is put back
// after botd has gone on: the account halts. Then a second botd, with a new data
// directory, comes to the account: its symbol is quarantined. Nothing is canceled
// and nothing placed.
func TestWhatNoLockSeesStopsEntries(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	address := p.free()
	for _, name := range []string{"one", "two"} {
		p.live(name, "twin", address, fmt.Sprintf("data_dir: %q", filepath.Join(p.directory, "data-"+name)))
		p.file(name+"/strategies/grid.yaml", "name: grid\nstrategy: grid\nmarket: futures\nsymbol: ETH-USDT\ninterval: 1m\nschedule: '@every 1s'\nleverage: 3\nparams: {lower: 1900, upper: 3100, lines: 5, quantity: 0.2}\n", 0o600)
	}
	p.venue(address, "twin", "--market", "random", "--seed", "7")
	first, _ := p.start("first", "run", "-c", "one", "--mode", "live", "--listen", "off", "--log-format", "json")
	eventually(t, "a first order", func() bool { return len(venueOrders(t, address)) > 0 })
	p.run(failure.OK, "backup", "early.db", "-c", "one", "--mode", "live")
	backed := p.run(failure.OK, "journal", "export", "--file", "early.db", "--kind", "sending")
	moved, err := http.Post("http://"+address+"/control/v1/price", "application/json", strings.NewReader(`{"market": "futures", "symbol": "ETH-USDT", "price": "2150"}`))
	if err != nil || moved.StatusCode != http.StatusOK {
		t.Fatalf("move the price: %v, %v", moved, err)
	}
	moved.Body.Close()
	eventually(t, "an order the backup does not know", func() bool {
		for _, o := range venueOrders(t, address) {
			if !strings.Contains(backed, `"`+o.ClientOrderID+`"`) {
				return true
			}
		}
		return false
	})
	if err := errors.Join(first.Process.Signal(os.Interrupt), first.Wait()); err != nil {
		t.Fatal(err)
	}
	before := venueOrders(t, address)

	p.run(failure.OK, "restore", "early.db", "-c", "one", "--mode", "live")
	for _, c := range []struct{ what, config, event, why string }{
		{"an old backup", "one", "trading.halted", "carries this instance's prefix but is not in the journal: a second botd, or an old backup"}, // case 15
		{"a second botd", "two", "symbol.quarantined", "the journal is new and knows nothing of what is open here"},                             // case 35
	} {
		command, log := p.start(c.what, "run", "-c", c.config, "--mode", "live", "--listen", "off", "--log-format", "json")
		log.wait(t, c.event)
		log.wait(t, c.why)
		log.wait(t, `"daemon.reconciled"`)
		if err := command.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := command.Wait(); err != nil {
			t.Errorf("%s: want a clean stop, have %v", c.what, err)
		}
		if strings.Contains(log.String(), `"order.placed"`) {
			t.Errorf("%s placed an order: %s", c.what, log.String())
		}
		if after := venueOrders(t, address); len(after) != len(before) || canceled(after) != canceled(before) {
			t.Errorf("%s: want no order placed or canceled after\n%+v\nhave\n%+v", c.what, before, after)
		}
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
