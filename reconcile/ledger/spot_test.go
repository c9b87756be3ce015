package ledger

import (
	"slices"
	"testing"

	"botd/exchange"
)

// Two symbols have one quote asset. After fees the holdings are 0.0999 at a cost of 4995 and 2 at 6000; partial sales take their share of the cost.
func TestEachSymbolsHoldingHasItsOwnCost(t *testing.T) {
	t.Parallel()
	l, writer := New()
	a := &accounts{t: t, l: l}
	ether := spotInstrument
	ether.Symbol.Name, ether.Base = "ETH-USDT", "ETH"
	wallet := func(bitcoin, ether, dollars string) []Asset {
		return []Asset{{"BTC", amount(bitcoin)}, {"ETH", amount(ether)}, {"USDT", amount(dollars)}}
	}
	order := func(id int64, symbol exchange.SymbolKey, side exchange.Side, quantity exchange.Quantity) {
		o := &Order{ClientOrderID: string(rune('a' + id)), OrderID: id, Strategy: "one", Symbol: symbol, Side: side, Filled: quantity}
		writer.Fill(o, quantity)
		writer.End(o.ClientOrderID, id)
	}
	held := func(bitcoin, of string) {
		t.Helper()
		if have := l.Held(spotInstrument.Symbol); have != amount(bitcoin) {
			t.Errorf("want %s BTC held, have %s", bitcoin, have)
		}
		if have := l.Held(ether.Symbol); have != amount(of) {
			t.Errorf("want %s ETH held, have %s", of, have)
		}
	}
	a.book(&Reading{AtMS: 1, Market: exchange.Spot, Wallet: wallet("1", "1", "20000"), Instruments: []Instrument{ether, spotInstrument}})
	held("0", "0")
	order(6, ether.Symbol, exchange.Buy, 200_000)
	order(5, spotInstrument.Symbol, exchange.Buy, 10_000)
	have := a.book(&Reading{AtMS: 2, Market: exchange.Spot, Wallet: wallet("1.0999", "3", "9000"),
		Trades: []Trade{trade(1, 6, "3000", "2", "0", ""), trade(2, 5, "50000", "0.1", "0.0001", "BTC"), trade(3, 99, "1", "1", "0", "")}})
	a.want(have, map[Account]string{Holding: "10995", Fees: "5"})
	held("0.0999", "2")
	order(7, spotInstrument.Symbol, exchange.Sell, 9_990)
	order(8, ether.Symbol, exchange.Sell, 50_000)
	have = a.book(&Reading{AtMS: 3, Market: exchange.Spot, Wallet: wallet("1", "2.5", "16594"),
		Trades: []Trade{trade(4, 7, "60000", "0.05", "0", ""), trade(5, 8, "3200", "0.5", "0", ""), trade(6, 7, "60000", "0.0499", "0", "")}})
	a.want(have, map[Account]string{Holding: "-6495", Realized: "-1099"})
	held("0", "1.5")
	r := Reading{AtMS: 4, Market: exchange.Spot, Wallet: wallet("1", "2.5", "16600")}
	writer.Post(&Posting{Reading: r, Lines: l.Lines(&r)})
	if sum := l.Sum(Transferred, "", "USDT"); sum != amount("-20006") {
		t.Errorf("want the 20000 taken over and 6 transferred, have %s", sum)
	}
	a.want(a.book(&Reading{AtMS: 5, Market: exchange.Spot, Wallet: wallet("1", "2.6", "16500")}), map[Account]string{Unexplained: "100"})
	writer.Declare(&Transfer{Market: exchange.Spot, Asset: "USDT", Amount: amount("-100")}, 6)
	if all := l.Unexplained(); len(all) != 1 || all[0].Asset != "ETH" {
		t.Errorf("want the ETH alone unexplained, have %+v", all)
	}
	sum, balances := exchange.Amount{}, slices.Collect(l.Balances())
	for _, b := range balances {
		if b.Asset == "USDT" {
			sum = sum.Add(b.Amount)
		}
	}
	if len(balances) == 0 || !sum.IsZero() {
		t.Errorf("want all accounts in balance, have %s over %d", sum, len(balances))
	}
}

// An order may be booked before the exchange reports that it has ended.
func TestAnOrderThatEndsAfterItsBookingIsDone(t *testing.T) {
	t.Parallel()
	a, p := spot(t)
	other := *p
	other.ClientOrderID, other.OrderID = "b2", 6
	a.l.fill(p, 10_000)
	a.l.fill(&other, 10_000)
	a.wallet("1.2", "0", false, trade(1, 5, "50000", "0.1", "0", ""), trade(2, 6, "50000", "0.1", "0", ""))
	a.l.end(other.ClientOrderID, other.OrderID)
	a.l.fill(p, 5_000)
	if orders := a.l.WantsTrades(); len(orders) != 1 || orders[0].OrderID != 5 || !slices.Equal(orders[0].Booked, []int64{1}) {
		t.Errorf("want order 5 without trade 1, have %+v", orders)
	}
	a.wallet("1.25", "-2500", false, trade(3, 5, "50000", "0.05", "0", ""))
	a.l.end(p.ClientOrderID, p.OrderID)
	a.want(a.wallet("1.25", "-2000", false), map[Account]string{Transferred: "-500"}) // no order is open that may explain it
}

// A price of 2 places and a quantity of 3: 1 unit is 0.001, a step is 50 units, and the value of a step at the smallest price is 0.0005.
func TestAnInstrumentHasTheTermsOfItsSymbol(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ cap, floor, want exchange.Rate }{{500_000, -750_000, 750_000}, {800_000, -750_000, 800_000}} {
		s, err := (&exchange.Symbol{
			Market: exchange.Futures, Name: "BTC-USDT", Base: "BTC", Quote: "USDT", PriceScale: 1, QuantityScale: 2, PriceTick: 1, QuantityTick: 5,
			FundingCap: c.cap, FundingFloor: c.floor, FundingIntervalHours: 4,
		}).WithScales(2, 3)
		if err != nil {
			t.Fatal(err)
		}
		want := Instrument{Symbol: bitcoin, Base: "BTC", Quote: "USDT", Unit: amount("0.001"), Grid: amount("0.0005"), Step: amount("0.05"),
			FundingCap: c.want, FundingHours: 4}
		if have := InstrumentOf(s); have != want {
			t.Errorf("\nwant %+v\nhave %+v", want, have)
		}
	}
}
