package endtoend

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"botd/exchange"
	"botd/exchange/rest"
	"botd/internal/failure"
)

// protected reports whether the resting stops sell the whole holding; a stop of the whole position sells all
// of it.
func (f *finding) protected() bool {
	f.t.Helper()
	var stops exchange.Amount
	orders := venueOrders(f.t, f.address)
	for _, o := range orders {
		if !o.rests() || !strings.HasPrefix(o.Type, "STOP") {
			continue
		}
		quantity, err := exchange.ParseAmount(o.Quantity)
		if err != nil {
			f.t.Fatal(err)
		}
		if quantity.IsZero() {
			return true
		}
		stops = stops.Add(quantity)
	}
	most := held(f.t, orders).MulRate(exchange.RateOne * 99 / 100) // except for the fees of a spot purchase
	return !stops.Less(most)
}

// TestOldPositionListDoesNotDelayStop has the list of positions lag by six seconds, twelve times L.
func TestOldPositionListDoesNotDelayStop(t *testing.T) {
	t.Parallel()
	f := begin(t, "futures", "{window: 5s, visibility: 1s, staleness: 500ms}", bought("0.5")+"protect: {stop_loss: 5%}\n")
	type list struct {
		at   time.Time
		body string
	}
	lists := []list{{time.Time{}, "[]"}}
	f.alter = func(path, body string) string {
		if !strings.HasSuffix(path, "/positions/open") {
			return body
		}
		lists = append(lists, list{time.Now(), body})
		for len(lists) > 1 && time.Since(lists[1].at) > 6*time.Second {
			lists = lists[1:]
		}
		return lists[0].body
	}
	f.trade()
	eventually(t, "bought", func() bool { return f.filledOf("BUY") == 1 })
	watch := startStopwatch(t)
	eventually(t, "the stop rests", func() bool { return f.resting() == 1 })
	watch.wantWithin(t, "from the fill to its stop", 5*time.Second)
	f.log.wait(t, `"position.changed"`)
	if all := venueOrders(t, f.address); len(all) != 2 || f.resting() != 1 {
		t.Errorf("want the entry and its stop, have %+v", all)
	}
}

// TestExchangeWhoseExecutionsDifferFromItsAnswers buys once. What was executed beyond the answer is found and gets its stop, a person is
// notified, and nothing more is bought.
func TestExchangeWhoseExecutionsDifferFromItsAnswers(t *testing.T) {
	t.Parallel()
	for _, market := range []string{"futures", "spot"} {
		for name, does := range map[string]deceit{"what it refuses": executed, "twice": twice} {
			t.Run(market+", "+name, func(t *testing.T) {
				t.Parallel()
				f := begin(t, market, "{window: 5s, visibility: 1s, staleness: 500ms}", bought("0.1")+"protect: {stop_loss: 5%}\n")
				left := 1
				f.deceive = func(path, body string) deceit {
					if left == 0 || !strings.HasSuffix(path, "/order") || !strings.Contains(body, "BUY") {
						return honest
					}
					left--
					return does
				}
				f.trade()
				f.log.wait(t, `"symbol.quarantined"`)
				eventually(t, "a stop over all that is held", f.protected)
				want := 1
				if does == twice {
					want = 2
				}
				if n := f.filledOf("BUY"); n != want {
					t.Errorf("want %d purchases executed, have %d: %+v", want, n, venueOrders(t, f.address))
				}
				if status := f.run(failure.OK, "status"); !strings.Contains(status, "QUARANTINED") {
					t.Errorf("status: want it quarantined, have %s", status)
				}
			})
		}
	}
}

// TestUnreadableRowBlindsOnlyItsSymbol puts an unreadable foreign row next to botd's own. Botd continues, and the kill switch
// closes its position and reports what it cannot see.
func TestUnreadableRowBlindsOnlyItsSymbol(t *testing.T) {
	t.Parallel()
	f := begin(t, "futures", "{window: 5s, visibility: 1s, staleness: 500ms}", bought("0.1")+"protect: {stop_loss: 5%}\n")
	f.alter = func(path, body string) string {
		if rows, found := strings.CutPrefix(strings.TrimSpace(body), "["); found && strings.HasSuffix(path, "/order/open") {
			row := `{"id": 990001, "symbol": "ETH-USDT", "side": "BUY", "type": "TRAILING_STOP_MARKET", "status": "EXECUTED", "quantity": "0.9970000000000002"}`
			if strings.TrimSpace(rows) != "]" {
				row += ","
			}
			return "[" + row + rows
		}
		return body
	}
	f.trade()
	eventually(t, "the stop rests", func() bool { return f.resting() == 1 })
	if status := f.run(failure.OK, "status"); strings.Contains(status, "BLIND") {
		t.Errorf("want nothing blind, have %s", status)
	}
	f.run(failure.OK, "halt", "--level", "flatten", "--reason", "a test", "--yes", "--wait", "30s")
	if n := f.filledOf("SELL"); n != 1 {
		t.Errorf("want it sold, have %+v", venueOrders(t, f.address))
	}
}

// TestTWAPSendsOneSliceAtATimeAfterPause stops the process for several slices.
func TestTWAPSendsOneSliceAtATimeAfterPause(t *testing.T) {
	t.Parallel()
	f := begin(t, "futures", "{window: 5s, visibility: 1s, staleness: 500ms}", "params: {side: buy, quantity: 0.4, slices: 40, every: 1s}\n")
	f.trade()
	eventually(t, "it buys", func() bool { return f.filledOf("BUY") > 0 })
	f.daemon.Process.Signal(syscall.SIGSTOP)
	<-time.After(6 * time.Second) // the pause itself, of a real process
	before := f.filledOf("BUY")
	f.daemon.Process.Signal(syscall.SIGCONT)
	eventually(t, "it buys again", func() bool { return f.filledOf("BUY") > before+1 })
	slice := exchange.MustAmount("0.01")
	for _, o := range venueOrders(t, f.address) {
		if filled := exchange.MustAmount(o.Filled); slice.Less(filled) {
			t.Errorf("want a slice of %s at once, have %+v", slice, o)
		}
	}
}

// TestManualSpotSalesAreNotBoughtBack manually sells what botd bought, under each policy that keeps trading.
func TestManualSpotSalesAreNotBoughtBack(t *testing.T) {
	t.Parallel()
	f := begin(t, "spot", "", bought("0.1"))
	f.trade()
	f.log.wait(t, `"position.changed"`)
	f.tradeAsPerson(exchange.Sell, "0.05")
	f.log.wait(t, `"position.adopted"`)
	f.log.wait(t, `"strategy.latch"`)
	eventually(t, "some rounds pass", func() bool { return strings.Count(f.log.String(), `"market.candle"`) > 0 || f.filledOf("SELL") == 1 })
	if n := f.filledOf("BUY"); n != 1 {
		t.Errorf("want it bought once, have %+v", venueOrders(t, f.address))
	}
}

// tradeAsPerson places a person's order on the account, at a price that fills immediately.
func (f *finding) tradeAsPerson(side exchange.Side, quantity string) {
	f.t.Helper()
	secret, err := os.ReadFile(filepath.Join(f.directory, "secret"))
	if err != nil {
		f.t.Fatal(err)
	}
	person, err := rest.New(rest.Config{BaseURL: "http://" + f.address, Key: "finding", Secret: secret})
	if err != nil {
		f.t.Fatal(err)
	}
	if err := person.RefreshSymbols(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	rules, _ := person.Symbols().Symbol(exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"})
	order := exchange.NewOrder{Market: exchange.Spot, Symbol: "BTC-USDT", Side: side, Type: exchange.Limit,
		Quantity: rules.QuantityOf(exchange.MustAmount(quantity)), Price: rules.FloorPrice(rules.PriceOf(exchange.AmountOf(45_000)))}
	if _, err := person.Do(f.t.Context(), exchange.Request{Operation: exchange.SpotPlace, Symbol: order.Symbol, Order: order}); err != nil {
		f.t.Fatal(err)
	}
}

// TestRefusedFlattenBacksOffAndReportsReason has the exchange refuse each exit.
func TestRefusedFlattenBacksOffAndReportsReason(t *testing.T) {
	t.Parallel()
	f := begin(t, "futures", "{window: 5s, visibility: 1s, staleness: 500ms}", bought("0.1")+"protect: {stop_loss: 5%}\n")
	f.trade()
	eventually(t, "the stop rests", func() bool { return f.resting() == 1 })
	f.set(func() {
		f.refuse = func(path, body string) bool {
			return strings.HasSuffix(path, "/v1/order") && strings.Contains(body, "SELL") && strings.Contains(body, `"MARKET"`)
		}
	})
	if text := f.run(failure.OK, "explain", "one"); strings.Contains(text, "2999") {
		t.Errorf("explain: want no refusal yet, have %s", text)
	}
	answer := f.run(failure.Temporary, "halt", "--level", "flatten", "--reason", "a test", "--yes", "--wait", "10s")
	if !strings.Contains(answer, "2999") {
		t.Errorf("want the exchange's refusal in the answer, have %s", answer)
	}
	tries := 0
	f.set(func() { tries = len(f.refused) })
	if tries < 2 || tries > 5 { // at 0, 1, 3, 7 s
		t.Errorf("want two to five tries in ten seconds, have %d", tries)
	}
	if f.resting() != 1 {
		t.Errorf("want the stop standing, have %+v", venueOrders(t, f.address))
	}
	f.set(func() { f.refuse = nil })
	eventually(t, "sold", func() bool { return f.filledOf("SELL") == 1 })
	eventually(t, "the refusal is over", func() bool { return !strings.Contains(f.run(failure.OK, "explain", "one"), "2999") })
}

// TestWrongOrderIDInAnAnswerCancelsNoStop has the answer to a stop give the order id of nobody, or of its entry, at the settle times of an
// unmeasured venue.
func TestWrongOrderIDInAnAnswerCancelsNoStop(t *testing.T) {
	t.Parallel()
	for _, market := range []string{"futures", "spot"} {
		for _, wrong := range []string{"777", "1"} {
			t.Run(market+" "+wrong, func(t *testing.T) {
				t.Parallel()
				f := begin(t, market, "{window: 60s, visibility: 45s, staleness: 15s}", bought("0.1")+"protect: {stop_loss: 5%}\n")
				id, answered := regexp.MustCompile(`"id":\d+`), false
				f.alter = func(path, body string) string {
					if answered || !strings.HasSuffix(path, "/order") || !strings.Contains(body, `"STOP_`) {
						return body
					}
					answered = true
					return id.ReplaceAllString(body, `"id":`+wrong)
				}
				f.trade()
				eventually(t, "the stop rests", func() bool { return f.resting() == 1 })
				<-time.After(6 * time.Second) // several rounds of a real process
				if all := venueOrders(t, f.address); len(all) != 2 || f.resting() != 1 || f.filledOf("BUY") != 1 {
					t.Errorf("want the entry and its stop, have %+v", all)
				}
				f.run(failure.OK, "halt", "--level", "flatten", "--reason", "a test", "--yes", "--wait", "30s")
			})
		}
	}
}
