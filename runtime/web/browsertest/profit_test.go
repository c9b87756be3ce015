package browsertest

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"testing"
)

// ledger returns the net result of each strategy as botd ledger reads it from the journal.
func (d *daemon) ledger() (net map[string]string) {
	d.t.Helper()
	binary, err := build()
	if err != nil {
		d.t.Fatal(err)
	}
	command := exec.Command(binary, "ledger", "-c", "configs", "-o", "json")
	command.Dir = d.directory
	text, err := command.Output()
	var all struct {
		Strategies []struct{ Strategy, Net string }
	}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		d.t.Fatalf("botd ledger: %v\n%s", err, text)
	}
	net = map[string]string{}
	for _, s := range all.Strategies {
		net[s.Strategy] = s.Net
	}
	return net
}

// shown finds figures in a page: a number as it is written, and a row of a table or a fact by its name.
const shown = `const number = (text) => Number((/[−-]?[\d,.]*\d/.exec(text ?? "") ?? ["x"])[0].replace("−", "-").replaceAll(",", "")),
	near = (have, want) => Math.abs(have - Number(want)) < 0.0051,
	column = (table, name) => [...table.querySelectorAll("thead th")].findIndex(e => e.textContent.trim() === name),
	cell = (label, strategy, name) => (table => table && [...table.querySelectorAll("tbody tr")].find(e => e.textContent.includes(strategy))
		?.children[column(table, name)])(document.querySelector("table[aria-label='" + label + "'], [aria-label='" + label + "'] table")),
	fact = (name) => [...document.querySelectorAll("dt")].find(e => e.textContent === name)?.nextElementSibling;`

// TestProfitIsEqualOnEveryPage closes a position, so that its strategy's profit is constant, and reads the profit on each page. It equals the
// ledger's net, to the last digit where the page has it, in the metrics and in the round trips, too.
func TestProfitIsEqualOnEveryPage(t *testing.T) {
	t.Parallel()
	d := startSettled(t)
	d.ask("POST", "/api/v1/positions/futures/BTC-USDT/close", `{"reason": "enough"}`, nil)
	net := ""
	d.until("one round trip of the ledger's net", func() bool { // the exit is booked
		var trips struct{ Items []struct{ PNL string } }
		d.ask("GET", "/api/v1/trades?strategy=accumulate", "", &trips)
		net = d.ledger()["accumulate"]
		return len(trips.Items) == 1 && trips.Items[0].PNL == net
	})
	v := d.enter(dark)
	shows := func(path, what, expression string) {
		t.Helper()
		v.visit(path)
		v.until(path+": "+what, fmt.Sprintf("(() => { %s const net = %q; return %s; })()", shown, net, expression))
	}
	shows("/", "net and profit", `cell("Profit by strategy", "accumulate", "Net")?.querySelector("[title]")?.title === net &&
		cell("Profit by strategy", "accumulate", "Profit")?.querySelector("[title]")?.title === net`)
	shows("/strategies", "net", `near(number(cell("Strategies", "accumulate", "Net")?.textContent), net)`)
	shows("/strategies/accumulate", "net", `near(number(fact("Net")?.textContent), net)`)
	shows("/strategies/accumulate?view=trades", "the sum of round trips",
		`near(number(/net (.*?)USDT/.exec(document.querySelector("[role=tabpanel] .note")?.textContent ?? "")?.[1]), net)`)
	v.visit("/")
	v.until("the metrics", fmt.Sprintf(`fetch("/metrics").then(r => r.text()).then(text => Math.abs(Number(
		/botd_strategy_realized_pnl_usdt\{strategy="accumulate"\} (\S+)/.exec(text)?.[1]) - Number(%q)) < 1e-9)`, net))
}
