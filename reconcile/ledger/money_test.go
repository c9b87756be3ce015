package ledger

import (
	"fmt"
	"slices"
	"testing"

	"botd/exchange"
)

func TestAccountsAreWrittenByName(t *testing.T) {
	t.Parallel()
	for account, name := range map[Account]string{
		Wallet: "wallet", Holding: "holding", Exchanged: "exchanged", Realized: "realised", Fees: "fees", Funding: "funding",
		Transferred: "transferred", Unexplained: "unexplained",
	} {
		text, err := account.MarshalText()
		if string(text) != name || err != nil {
			t.Errorf("want %s, have %s, %v", name, text, err)
		}
		var read Account
		if err := read.UnmarshalText(text); err != nil || read != account {
			t.Errorf("%s: want %d read, have %d, %v", name, account, read, err)
		}
	}
	for _, name := range []string{"", "Fees", "profit"} {
		read := Fees
		if err := read.UnmarshalText([]byte(name)); err == nil || err.Error() != fmt.Sprintf("unknown account %q", name) || read != Fees {
			t.Errorf("want %q refused, have %s, %v", name, read, err)
		}
	}
	if have := Account(9).String(); have != "account(9)" {
		t.Errorf("want account(9), have %s", have)
	}
}

func TestAPostingIsBalancedInEachAsset(t *testing.T) {
	t.Parallel()
	line := func(asset, sum string) Line { return Line{Asset: asset, Amount: amount(sum)} }
	for _, c := range []struct {
		lines      []Line
		asset, sum string
	}{
		{nil, "", "0"},
		{[]Line{line("USDT", "1"), line("USDT", "-1"), line("BTC", "2"), line("BTC", "-3"), line("BTC", "1")}, "", "0"},
		{[]Line{line("USDT", "1"), line("USDT", "-1"), line("BTC", "2"), line("BTC", "-3")}, "BTC", "-1"},
		{[]Line{line("USDT", "1"), line("BTC", "-1")}, "USDT", "1"},
	} {
		p := Posting{Lines: c.lines}
		if asset, sum := p.Balanced(); asset != c.asset || sum != amount(c.sum) {
			t.Errorf("%v: want %q %s, have %q %s", c.lines, c.asset, c.sum, asset, sum)
		}
	}
}

func TestReadingsAreTheSameIfWalletAndPositionsAre(t *testing.T) {
	t.Parallel()
	made := func(wallet, remaining string) *Reading {
		return &Reading{Wallet: []Asset{{"USDT", amount(wallet)}}, Open: []Position{position(1, false, "1", remaining, "50000", "0")}}
	}
	first := made("1000", "1")
	first.AtMS, first.Unstable = 7, true
	for _, c := range []struct {
		other *Reading
		want  bool
	}{{made("1000", "1"), true}, {made("1001", "1"), false}, {made("1000", "0.5"), false}} {
		if have := first.Same(c.other); have != c.want {
			t.Errorf("%+v: want %t, have %t", c.other, c.want, have)
		}
	}
}

func TestTheFuturesWalletIsOneAsset(t *testing.T) {
	t.Parallel()
	have := FuturesWallet(&exchange.MarginAccount{WalletBalance: amount("12.5"), AvailableBalance: amount("3")})
	if len(have) != 1 || have[0] != (Asset{"USDT", amount("12.5")}) {
		t.Errorf("want 12.5 USDT, have %v", have)
	}
}

// Awaits is true from a fill until the next reading, and as long as the position is open.
func TestTradingIsAwaitedUntilItIsBooked(t *testing.T) {
	t.Parallel()
	ether := exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"}
	wants := func(l *Ledger, when string, key exchange.SymbolKey, want bool) {
		t.Helper()
		if have := l.Awaits(key); have != want {
			t.Errorf("%s: %s: want awaited %t, have %t", when, key, want, have)
		}
	}
	for _, rests := range []bool{false, true} {
		a := newAccounts(t)
		wants(a.l, "before any fill", bitcoin, false)
		a.l.fill(&Order{ClientOrderID: "o1", Strategy: "one", Symbol: bitcoin, Side: exchange.Buy, Rests: rests}, 10)
		wants(a.l, "after a fill", bitcoin, true)
		wants(a.l, "after a fill", ether, false)
		wants(a.l, "after a fill", spotInstrument.Symbol, false)
		other := position(2, false, "3", "3", "100", "0") // a person's
		other.Symbol = "ETH-USDT"
		a.futures("999.6", []Position{position(1, false, "0.01", "0.01", "50000", "0"), other}, nil)
		wants(a.l, "while the position is open", bitcoin, true)
		wants(a.l, "while a person's position is open", ether, false)
		a.futures("999.4", []Position{other}, []Position{over(1, false, "0.01", "50000", "50000", "0")})
		wants(a.l, "after the position", bitcoin, false)
		a.futures("999.4", []Position{other}, nil)
		wants(a.l, "with a position of no strategy", ether, false)
	}
	a, p := spot(t)
	other := *p
	other.ClientOrderID, other.Symbol.Name, other.OrderID = "b2", "ETH-USDT", 0
	a.l.fill(&other, 5)
	wants(a.l, "while the exchange's order id is unknown", other.Symbol, false)
	a.l.fill(p, 10_000)
	wants(a.l, "after a fill", p.Symbol, true)
	wants(a.l, "after a fill of another symbol", other.Symbol, false)
	a.wallet("1.1", "5000", false, trade(1, 5, "50000", "0.1", "0", ""))
	wants(a.l, "after its executions", p.Symbol, false)
}

func TestAReadingIsDueIfItShowsSomethingNew(t *testing.T) {
	t.Parallel()
	open := []Position{position(1, false, "0.01", "0.01", "50000", "0")}
	futures := func(wallet string, open []Position) *Reading {
		return &Reading{AtMS: 9_000_000, Market: exchange.Futures, Wallet: []Asset{{"USDT", amount(wallet)}}, Open: open}
	}
	spotReading := func(quote string) *Reading {
		return &Reading{AtMS: 9_000_000, Market: exchange.Spot, Wallet: []Asset{{"BTC", amount("1")}, {"USDT", amount(quote)}}}
	}
	due := func(when string, l *Ledger, r *Reading, want bool) {
		t.Helper()
		if have := l.Due(r); have != want {
			t.Errorf("%s: want due %t, have %t", when, want, have)
		}
	}
	due("the first, of an empty wallet", newLedger(), &Reading{Market: exchange.Futures}, true)
	due("the first of spot", newLedger(), &Reading{Market: exchange.Spot}, true)
	a := newAccounts(t)
	a.futures("999.8", open, nil)
	due("the same", a.l, futures("999.8", open), false)
	due("another wallet", a.l, futures("999.7", open), true)
	due("a position more", a.l, futures("999.8", append(open, position(2, false, "1", "1", "1", "0"))), true)
	a.trades(exchange.Buy, 1)
	due("the same after a fill", a.l, futures("999.8", open), true)
	b, p := spot(t)
	due("the same spot wallet", b.l, spotReading("10000"), false)
	due("another spot wallet", b.l, spotReading("10001"), true)
	b.l.fill(p, 10_000)
	due("the same spot wallet after a fill", b.l, spotReading("10000"), true)
	b.l.end(p.ClientOrderID, p.OrderID)
	b.wallet("1.1", "5000", false, trade(1, 5, "50000", "0.1", "0", ""))
	r := spotReading("5000")
	r.Wallet[0].Amount = amount("1.1")
	due("the same spot wallet after the execution", b.l, r, false)
}

func TestAnUnstableReadingThatIsExplainedIsPlausible(t *testing.T) {
	t.Parallel()
	l := newLedger()
	first := Reading{Market: exchange.Futures, Wallet: []Asset{{"USDT", amount("1000")}}, Unstable: true}
	if !l.Plausible(&first, l.Lines(&first)) {
		t.Error("the first reading is taken over as it is, and is not plausible")
	}
	a := newAccounts(t)
	a.l.learn(spotInstrument)
	first = Reading{Market: exchange.Spot, Wallet: []Asset{{"USDT", amount("1000")}}, Unstable: true}
	a.book(&first)
	second := Reading{Market: exchange.Spot, Wallet: []Asset{{"USDT", amount("900")}}, Unstable: true}
	if a.l.Plausible(&second, a.l.Lines(&second)) {
		t.Error("a wallet that lacks 100 is plausible")
	}
	if !a.l.Plausible(&first, nil) {
		t.Error("the same spot wallet is not plausible")
	}
}

// The quantities of each strategy and symbol are exact from the fills, before any money is booked.
func TestQuantitiesAreCountedFromFills(t *testing.T) {
	t.Parallel()
	l := newLedger()
	ether := exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"}
	for _, x := range []struct {
		strategy string
		symbol   exchange.SymbolKey
		side     exchange.Side
		quantity exchange.Quantity
	}{
		{"two", ether, exchange.Sell, 5}, {"one", ether, exchange.Buy, 7}, {"two", bitcoin, exchange.Buy, 11},
		{"two", ether, exchange.Buy, 2}, {"one", ether, exchange.Buy, 1}, {"two", ether, exchange.Sell, 1},
	} {
		l.fill(&Order{ClientOrderID: "o", Strategy: x.strategy, Symbol: x.symbol, Side: x.side}, x.quantity)
	}
	want := []Moved{{"one", ether, 8, 0}, {"two", bitcoin, 11, 0}, {"two", ether, 2, 6}}
	if have := slices.Collect(l.Quantities()); fmt.Sprint(have) != fmt.Sprint(want) {
		t.Errorf("want %v, have %v", want, have)
	}
}

func TestTheTermsOfASymbolAreItsNewest(t *testing.T) {
	t.Parallel()
	a := newAccounts(t)
	other := instrument
	other.Symbol.Name, other.FundingHours = "AAA-USDT", 4
	newer := instrument
	newer.FundingHours = 2
	a.book(&Reading{AtMS: a.now, Market: exchange.Futures, Wallet: []Asset{{"USDT", amount("1000")}}, Instruments: []Instrument{newer, other}})
	if have, known := a.l.Instrument(bitcoin); have != newer || !known {
		t.Errorf("want the newer terms, have %+v, %t", have, known)
	}
	if have, known := a.l.Instrument(other.Symbol); have != other || !known {
		t.Errorf("want those of the other symbol, have %+v, %t", have, known)
	}
	if have, known := a.l.Instrument(exchange.SymbolKey{Market: exchange.Futures, Name: "ZZZ-USDT"}); known {
		t.Errorf("want no terms of an unknown symbol, have %+v", have)
	}
}
