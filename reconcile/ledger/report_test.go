package ledger

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
)

// Two strategies trade, a person opens a position, both wallets show unexplained changes, and of a declared
// transfer only a part has arrived.
func reported(t *testing.T) *accounts {
	a := newAccounts(t)
	ether := position(2, false, "3", "3", "100", "0")
	ether.Symbol = "ETH-USDT"
	a.trades(exchange.Buy, 10)
	a.futures("999.8", []Position{position(1, false, "0.01", "0.01", "50000", "0")}, nil) // 0.04 % of 500
	a.now += 8 * 3_600_000
	a.trades(exchange.Sell, 5)
	half := position(1, false, "0.01", "0.005", "50000", "10")
	a.futures("1009.396", []Position{half}, nil)        // 10 earned, 0.104 of fees and 0.3 of funding paid
	a.futures("1009.246", []Position{half, ether}, nil) // 0.15 of fees of the person's position
	a.l.fill(&Order{ClientOrderID: "e1", Strategy: "two", Symbol: exchange.SymbolKey{Market: exchange.Futures, Name: "SOL-USDT"}, Side: exchange.Buy}, 3)
	a.book(&Reading{AtMS: 32_700_000, Market: exchange.Futures, Wallet: []Asset{{"USDT", amount("1014.246")}},
		Open: []Position{half, ether}, Partial: true})
	a.l.declare(&Transfer{Market: exchange.Futures, Asset: "USDT", Amount: amount("7")}, 1)

	key := spotInstrument.Symbol
	a.book(&Reading{AtMS: 1, Market: exchange.Spot, Wallet: []Asset{{"BTC", amount("1")}, {"USDT", amount("10000")}},
		Instruments: []Instrument{spotInstrument}})
	a.l.fill(&Order{ClientOrderID: "s1", OrderID: 5, Strategy: "two", Symbol: key, Side: exchange.Buy}, 10_000)
	a.l.fill(&Order{ClientOrderID: "s2", OrderID: 6, Strategy: "two", Symbol: key, Side: exchange.Sell, Purpose: placement.Exit}, 5_000)
	a.book(&Reading{AtMS: 60_000_000, Market: exchange.Spot, Wallet: []Asset{{"BTC", amount("1.0499")}, {"USDT", amount("7990")}},
		Trades: []Trade{trade(1, 5, "50000", "0.1", "0.0001", "BTC"), trade(2, 6, "60000", "0.05", "10", "USDT")}})
	a.book(&Reading{AtMS: 70_000_000, Market: exchange.Spot, Wallet: []Asset{{"BTC", amount("1.0499")}, {"USDT", amount("7987")}}, Partial: true})
	return a
}

func TestTheReportShowsTheMoneyOfEachStrategy(t *testing.T) {
	t.Parallel()
	r := reported(t).l.Report()
	want := []Row{
		{Market: exchange.Futures, Symbol: "ETH-USDT", Asset: "USDT", Fees: amount("0.15"), Net: amount("-0.15"), Derived: true},
		{
			Strategy: "one", Market: exchange.Futures, Symbol: "BTC-USDT", Bought: amount("0.01"), Sold: amount("0.005"), Asset: "USDT",
			Realized: amount("10"), Fees: amount("0.304"), Funding: amount("0.3"), Net: amount("9.396"), Derived: true,
		},
		{
			// 0.0999 at 4995, 0.05 of it sold for 3000; fees of 5, in bitcoin, and of 10.
			Strategy: "two", Market: exchange.Spot, Symbol: "BTC-USDT", Bought: amount("0.1"), Sold: amount("0.05"), Asset: "USDT",
			Realized: amount("500"), Fees: amount("15"), Net: amount("485"),
		},
	}
	if !reflect.DeepEqual(want, r.Strategies) {
		t.Errorf("\nwant %+v\nhave %+v", want, r.Strategies)
	}
	if r.FuturesMS != 32_700_000 || r.SpotMS != 70_000_000 {
		t.Errorf("want the times of the last readings, have %d and %d", r.FuturesMS, r.SpotMS)
	}
}

func TestTheReportShowsEachAccountAndWhatIsOpen(t *testing.T) {
	t.Parallel()
	r := reported(t).l.Report()
	text := func(rows []AccountRow) string {
		var lines []string
		for _, w := range rows {
			lines = append(lines, strings.TrimSpace(fmt.Sprintln(w.Strategy, w.Market, w.Symbol, w.Account, w.Asset, w.Amount, w.Derived)))
		}
		return strings.Join(lines, "\n")
	}
	for _, c := range []struct{ name, have, want string }{
		{"accounts", text(r.Accounts), `futures  wallet USDT 1014.246 false
futures  transferred USDT -1007 false
futures  unexplained USDT 2 false
futures ETH-USDT fees USDT 0.15 true
spot  wallet BTC 1.0499 false
spot  wallet USDT 7987 false
spot  transferred BTC -1 false
spot  transferred USDT -10000 false
spot  unexplained USDT 3 false
one futures BTC-USDT realised USDT -10 true
one futures BTC-USDT fees USDT 0.304 true
one futures BTC-USDT funding USDT 0.3 true
two spot BTC-USDT holding USDT 2495 false
two spot BTC-USDT exchanged BTC -0.0499 false
two spot BTC-USDT realised USDT -500 false
two spot BTC-USDT fees USDT 15 false`},
		{"unexplained", text(r.Unexplained), `spot  unexplained USDT -3 false`},
		{"declared", text(r.Declared), `futures  transferred USDT 2 false`},
	} {
		if c.have != c.want {
			t.Errorf("%s:\nwant\n%s\nhave\n%s", c.name, c.want, c.have)
		}
	}
}

func TestAnEmptyReportHasListsAndNoMoney(t *testing.T) {
	t.Parallel()
	if r := newLedger().Report(); r.Strategies == nil || r.Accounts == nil || r.Unexplained == nil || len(r.Accounts) > 0 || r.FuturesMS != 0 || r.SpotMS != 0 {
		t.Errorf("want empty lists, have %+v", r)
	}
}

// Amounts that the exchange reports are not derived, however many there are.
func TestAReportedFeeIsNotDerived(t *testing.T) {
	t.Parallel()
	a, p := spot(t)
	a.l.fill(p, 10_000)
	a.wallet("1.0999", "5000", false, trade(1, 5, "50000", "0.1", "0.0001", "BTC"))
	want := Row{Strategy: "one", Market: exchange.Spot, Symbol: "BTC-USDT", Bought: amount("0.1"), Asset: "USDT", Fees: amount("5"), Net: amount("-5")}
	if r := a.l.Report(); len(r.Strategies) != 1 || r.Strategies[0] != want {
		t.Errorf("want %+v, have %+v", want, r.Strategies)
	}
}
