package ledger

import (
	"slices"
	"testing"

	"botd/exchange"
)

// shows books a wallet change that nothing explains.
func shows(l *Ledger, market exchange.Market, asset, change string, atMS int64) []Line {
	lines := transfer(nil, market, Asset{asset, amount(change)}, Unexplained)
	l.post(&Posting{Reading: Reading{Market: market, AtMS: atMS}, Lines: lines})
	return lines
}

func wantMatched(t *testing.T, l *Ledger, transfer string, want ...Matched) {
	t.Helper()
	if have := l.Match(&Transfer{Market: exchange.Futures, Asset: "USDT", Amount: amount(transfer)}); !slices.Equal(want, have) {
		t.Errorf("a transfer of %s: want it to explain %v, have %v", transfer, want, have)
	}
}

func wantDeclared(t *testing.T, l *Ledger, want string) {
	t.Helper()
	if have := l.Declared(exchange.Futures, "USDT"); have != amount(want) {
		t.Errorf("want %s to wait for the wallet, have %s", want, have)
	}
}

func TestATransferExplainsTheNewestChangesOfItsWalletFirst(t *testing.T) {
	t.Parallel()
	l := newLedger()
	declare := func(change string) {
		l.declare(&Transfer{Market: exchange.Futures, Asset: "USDT", Amount: amount(change)}, 100)
	}
	shows(l, exchange.Futures, "USDT", "10", 1)
	shows(l, exchange.Futures, "USDT", "-4", 2) // takes back a part of the first: 6 are left
	shows(l, exchange.Spot, "USDT", "50", 3)
	shows(l, exchange.Spot, "BTC", "60", 4)
	shows(l, exchange.Futures, "BTC", "70", 4)
	shows(l, exchange.Futures, "USDT", "30", 5)
	for range 2 { // Match changes nothing
		wantMatched(t, l, "35", Matched{amount("30"), 5}, Matched{amount("5"), 1})
	}
	wantMatched(t, l, "36", Matched{amount("30"), 5}, Matched{amount("6"), 1})
	wantMatched(t, l, "-1")
	declare("35")
	wantDeclared(t, l, "0")
	wantMatched(t, l, "3", Matched{amount("1"), 1})
	declare("3") // explains 1; the wallet has yet to show 2
	wantDeclared(t, l, "2")
	wantMatched(t, l, "3")
	have := l.Unexplained()
	want := []Balance{
		{Account: Unexplained, Symbol: exchange.SymbolKey{Market: exchange.Spot}, Asset: "BTC", Amount: amount("-60")},
		{Account: Unexplained, Symbol: exchange.SymbolKey{Market: exchange.Spot}, Asset: "USDT", Amount: amount("-50")},
		{Account: Unexplained, Symbol: exchange.SymbolKey{Market: exchange.Futures}, Asset: "BTC", Amount: amount("-70")},
	}
	slices.SortFunc(want, func(a, b Balance) int { return a.compare(&Line{Account: b.Account, Symbol: b.Symbol, Asset: b.Asset}) })
	if !slices.Equal(want, have) {
		t.Errorf("want the changes of other wallets unexplained, %v, have %v", want, have)
	}
	if sum := l.Sum(Transferred, "", "USDT"); sum != amount("-38") {
		t.Errorf("want 38 declared as transferred, have %s", sum)
	}
}

func TestADeclaredTransferWaitsForTheWallet(t *testing.T) {
	t.Parallel()
	l := newLedger()
	declare := func(market exchange.Market, asset, change string) {
		l.declare(&Transfer{Market: market, Asset: asset, Amount: amount(change)}, 100)
	}
	declare(exchange.Futures, "USDT", "2")
	declare(exchange.Spot, "USDT", "90")
	declare(exchange.Futures, "BTC", "90")
	declare(exchange.Futures, "USDT", "-5") // cancels the first; the wallet has yet to show 3 leaving
	wantDeclared(t, l, "-3")
	for _, c := range []struct {
		change, flow string
		left         []Asset
	}{
		{"-1", "-1", nil},
		{"-3", "-3", nil},
		{"-7", "-3", []Asset{{"USDT", amount("-4")}}},
		{"1", "0", []Asset{{"USDT", amount("1")}}},
	} {
		lines := transfer(nil, exchange.Futures, Asset{"USDT", amount(c.change)}, Unexplained)
		if flow := l.Flow(lines, exchange.Futures, "USDT"); flow != amount(c.flow) {
			t.Errorf("a change of %s: want a flow of %s, have %s", c.change, c.flow, flow)
		}
		if left := l.Left(lines, exchange.Futures); !slices.Equal(c.left, left) {
			t.Errorf("a change of %s: want %v left, have %v", c.change, c.left, left)
		}
		if flow := l.Flow(lines, exchange.Futures, "ETH"); !flow.IsZero() {
			t.Errorf("a change of %s: want no flow of another asset, have %s", c.change, flow)
		}
	}
	shows(l, exchange.Futures, "USDT", "-1", 200)
	wantDeclared(t, l, "-2")
	wantMatched(t, l, "-1")
	shows(l, exchange.Futures, "USDT", "-7", 300)
	wantDeclared(t, l, "0")
	wantMatched(t, l, "-9", Matched{amount("-5"), 300})
	wantMatched(t, l, "-5", Matched{amount("-5"), 300})
	wantMatched(t, l, "9")
}

func TestTheOldestOf257OpenChangesIsForgotten(t *testing.T) {
	t.Parallel()
	l := newLedger()
	for i := range int64(256) {
		shows(l, exchange.Futures, "USDT", "1", i+1)
	}
	all := Transfer{Market: exchange.Futures, Asset: "USDT", Amount: amount("1000")}
	if have := l.Match(&all); len(have) != 256 || have[255].AtMS != 1 {
		t.Errorf("want all 256, have %d, the last %+v", len(have), have[len(have)-1])
	}
	shows(l, exchange.Futures, "USDT", "1", 257)
	if have := l.Match(&all); len(have) != 256 || have[0].AtMS != 257 || have[255].AtMS != 2 {
		t.Errorf("want the newest 256, have %d, from %+v to %+v", len(have), have[0], have[len(have)-1])
	}
}

func TestAWalletChangeWithoutATradeIsATransferBeyondWhatWasDeclared(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, wallet string
		want         map[Account]string
		flow         string
	}{
		{"a part of what was declared", "1020", map[Account]string{Unexplained: "-20"}, "20"},
		{"all of it", "1050", map[Account]string{Unexplained: "-50"}, "50"},
		{"more", "1080", map[Account]string{Unexplained: "-50", Transferred: "-30"}, "80"},
		{"the other direction", "990", map[Account]string{Transferred: "10"}, "-10"},
	} {
		a := newAccounts(t)
		a.l.declare(&Transfer{Market: exchange.Futures, Asset: "USDT", Amount: amount("50")}, 1)
		lines := a.l.Lines(&Reading{AtMS: a.now + 60_000, Market: exchange.Futures, Wallet: []Asset{{"USDT", amount(c.wallet)}}})
		if flow := a.l.Flow(lines, exchange.Futures, "USDT"); flow != amount(c.flow) {
			t.Errorf("%s: want a flow of %s, have %s", c.name, c.flow, flow)
		}
		a.want(a.futures(c.wallet, nil, nil), c.want)
	}
	lines := []Line{
		{Account: Transferred, Asset: "USDT", Amount: amount("-1")},
		{Account: Transferred, Asset: "USDT", Amount: amount("-2")},
		{Account: Transferred, Asset: "BTC", Amount: amount("-4")},
		{Account: Transferred, Strategy: "one", Asset: "USDT", Amount: amount("-8")}, // brought into a strategy from the same wallet
		{Account: Wallet, Asset: "USDT", Amount: amount("16")},
	}
	if have := External(lines, "USDT"); have != amount("3") {
		t.Errorf("want 3 from outside, have %s", have)
	}
}

func TestASpotWalletThatMovesAloneWasTransferred(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, base, quote string
		fill, partial     bool
		want              map[Account]string
	}{
		{"one asset", "1", "10100", false, false, map[Account]string{Transferred: "-100"}},
		{"two assets: an unknown trade", "1.1", "5000", false, false, map[Account]string{Unexplained: "5000"}},
		{"an order's executions are not all reported", "1", "10100", true, false, map[Account]string{Unexplained: "-100"}},
		{"the exchange did not report all", "1", "10100", false, true, map[Account]string{Unexplained: "-100"}},
	} {
		a, p := spot(t)
		if c.fill {
			a.l.fill(p, 1)
		}
		r := Reading{AtMS: a.now, Market: exchange.Spot, Wallet: []Asset{{"BTC", amount(c.base)}, {"USDT", amount(c.quote)}}, Partial: c.partial}
		have := map[Account]string{}
		for _, line := range a.l.Lines(&r) {
			if line.Asset == "USDT" && line.Account != Wallet {
				have[line.Account] = line.Amount.String()
			}
		}
		a.want(have, c.want)
		r.Unstable = true
		for _, line := range a.l.Lines(&r) {
			if line.Account == Transferred {
				t.Errorf("%s, in a reading that was not confirmed: want no transfer, have %+v", c.name, line)
			}
		}
	}
	a, p := spot(t)
	a.l.fill(p, 10_000)
	a.l.end(p.ClientOrderID, p.OrderID)
	a.want(a.wallet("1", "5000", false, trade(1, 5, "50000", "0.1", "0", "")), map[Account]string{Holding: "5000"})
	if have := a.l.Sum(Unexplained, "", "BTC"); have != amount("0.1") {
		t.Errorf("want the purchase that the wallet does not show unexplained, have %s", have)
	}
	a.wallet("1.25", "5000", false)
	if have := a.l.Sum(Transferred, "", "BTC"); have != amount("-1.25") {
		t.Errorf("want 1 taken over and 0.25 transferred later, have %s", have)
	}
}

func TestTheLedgerTracksTheFuturesAssetAndWhatIsTradedOnSpot(t *testing.T) {
	t.Parallel()
	if newLedger().Holds(exchange.Spot, "USDT") {
		t.Error("nothing is traded on spot yet, and the ledger tracks it")
	}
	a, _ := spot(t)
	for _, c := range []struct {
		market exchange.Market
		asset  string
		want   bool
	}{
		{exchange.Futures, "USDT", true}, {exchange.Futures, "BTC", false},
		{exchange.Spot, "USDT", true}, {exchange.Spot, "BTC", true}, {exchange.Spot, "ETH", false},
	} {
		if have := a.l.Holds(c.market, c.asset); have != c.want {
			t.Errorf("%s of %s: want tracked %t, have %t", c.asset, c.market, c.want, have)
		}
	}
}
