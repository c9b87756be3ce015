//go:build unix

package endtoend

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"botd/internal/failure"
)

// A symbol is delisted while botd has a position in it (exactly-once.md, case 44). It is blind, the other
// symbol is still traded, and a restart starts without it.
func TestDelistedSymbolBlindsOnlyItselfAndRestartSkipsIt(t *testing.T) {
	t.Parallel()
	for _, market := range []string{"futures", "spot"} {
		t.Run(market, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			address := p.free()
			p.live("configs", "delists", address, "data_dir: ./data\nlisten: off")
			for name, symbol := range map[string]string{"one": "BTC-USDT", "two": "ETH-USDT"} {
				p.file("configs/strategies/"+name+".yaml", "name: "+name+"\nstrategy: twap\nmarket: "+market+"\nsymbol: "+symbol+
					"\ninterval: 1m\nschedule: '@every 1s'\nparams: {side: buy, quantity: 0.1, slices: 1, every: 1s}\nprotect: {stop_loss: 5%}\n", 0o600)
			}
			p.venue(address, "delists", "--market", "still")
			arguments := []string{"run", "--mode", "live", "--log-format", "json"}
			daemon, log := p.start("daemon", arguments...)
			log.wait(t, `"daemon.reconciled"`)
			protected := func() bool {
				status := p.run(failure.OK, "positions", "-o", "json")
				return strings.Contains(status, "BTC-USDT") && strings.Contains(status, "ETH-USDT")
			}
			eventually(t, "both held", protected)
			list := func(delisted bool) {
				response, err := http.Post("http://"+address+"/control/v1/symbol", "application/json",
					strings.NewReader(`{"market":"`+market+`","symbol":"ETH-USDT","delisted":`+strconv.FormatBool(delisted)+`}`))
				if err != nil {
					t.Fatal(err)
				}
				response.Body.Close()
			}
			list(true)
			log.wait(t, `"exchange.blind"`)
			status := p.run(failure.OK, "status")
			others := strings.Contains(status, "BLIND (BTC-USDT)") || strings.Contains(status, "BLIND (account)")
			if !strings.Contains(status, "BLIND (ETH-USDT) since") || others {
				t.Errorf("want ETH-USDT blind alone, have %s", status)
			}
			if err := daemon.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := daemon.Wait(); err != nil {
				t.Errorf("want a clean end, have %v: %s", err, log)
			}
			_, log = p.start("daemon again", arguments...)
			log.wait(t, `"daemon.reconciled"`)
			eventually(t, "the strategy failed alone", func() bool {
				status := p.run(failure.OK, "status")
				return strings.Contains(status, "FAILED (two") && strings.Contains(status, "no longer lists "+market+" ETH-USDT")
			})
			p.run(failure.OK, "halt", "--level", "flatten", "--reason", "the other symbol's exit", "--strategy", "one", "--yes", "--wait", "30s")
			_, body := asked(t, address, "/control/v1/orders")
			var answer struct {
				Orders []struct{ Symbol, Side, Status string }
			}
			if err := json.Unmarshal([]byte(body), &answer); err != nil {
				t.Fatal(err)
			}
			sold := false
			for _, order := range answer.Orders {
				sold = sold || order.Symbol == "BTC-USDT" && order.Side == "SELL" && order.Status == "FILLED"
			}
			if !sold {
				t.Errorf("want BTC-USDT sold: %s", log)
			}
			left := p.run(failure.Temporary, "halt", "--level", "flatten", "--reason", "of everything", "--yes", "--wait", "3s")
			if !strings.Contains(left, market+" ETH-USDT: ") || strings.Contains(left, "nothing left to do") {
				t.Errorf("want the position on ETH-USDT reported as left, have %s", left)
			}
			list(false)
			eventually(t, "the strategy runs again", func() bool { return !strings.Contains(p.run(failure.OK, "status"), "FAILED (two") })
			p.run(failure.OK, "halt", "--level", "flatten", "--reason", "of the symbol that is listed again", "--yes", "--wait", "30s")
			if left := p.run(failure.OK, "positions", "-o", "json"); strings.Contains(left, "ETH-USDT") {
				t.Errorf("want the position on ETH-USDT closed, have %s", left)
			}
		})
	}
}
