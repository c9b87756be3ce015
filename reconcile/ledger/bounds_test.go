package ledger

import (
	"testing"

	"botd/exchange"
)

// at books a futures reading made at the given time.
func (a *accounts) at(atMS int64, wallet string, open []Position) map[Account]string {
	a.t.Helper()
	return a.book(&Reading{AtMS: atMS, Market: exchange.Futures, Wallet: []Asset{{FuturesAsset, amount(wallet)}}, Open: open})
}

// A wallet change is a transfer only if nothing on any position can have cost or earned money.
func TestAChangeThatTradingMayExplainIsNoTransfer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(a *accounts, r *Reading)
		want   Account
	}{
		{"nothing happened", func(*accounts, *Reading) {}, Transferred},
		{"not all is reported", func(_ *accounts, r *Reading) { r.Partial = true }, Unexplained},
		{"it is not confirmed", func(_ *accounts, r *Reading) { r.Unstable = true }, Unexplained},
		{"a position ended", func(_ *accounts, r *Reading) { r.Closed = []Position{over(3, false, "0", "50000", "50000", "0")} }, Unexplained},
		{"an order filled", func(a *accounts, _ *Reading) { a.trades(exchange.Buy, 10) }, Unexplained},
		{"an order that may rest filled", func(a *accounts, _ *Reading) {
			a.l.fill(&Order{ClientOrderID: "r", Strategy: "one", Symbol: bitcoin, Side: exchange.Buy, Rests: true}, 10)
		}, Unexplained},
		{"an order filled on spot", func(a *accounts, _ *Reading) {
			a.l.fill(&Order{ClientOrderID: "s", Strategy: "one", Symbol: spotInstrument.Symbol, Side: exchange.Buy}, 10)
		}, Transferred},
	} {
		a := newAccounts(t)
		r := &Reading{AtMS: a.now + 60_000, Market: exchange.Futures, Wallet: []Asset{{FuturesAsset, amount("990")}}}
		c.change(a, r)
		a.want(a.book(r), map[Account]string{c.want: "10"})
		if !r.Unstable {
			a.want(a.at(a.now+120_000, "980", nil), map[Account]string{Transferred: "10"}) // a fill concerns one reading
		}
	}
}

// Funding may be charged 60 s late and be seen 60 s after that, or 60 s early; 500 at 0.75 % and a fifth are 4.5.
func TestAnAmountNearAFundingTimeMayBeFunding(t *testing.T) {
	t.Parallel()
	const due = 2 * 8 * 3_600_000
	open := []Position{position(1, false, "0.01", "0.01", "50000", "0")}
	for _, c := range []struct {
		name         string
		lastMS, atMS int64
		wallet       string
		want         map[Account]string
	}{
		{"119.999 s after", due + 100_000, due + 119_999, "995.5", map[Account]string{Unexplained: "4.5"}},
		{"120 s after", due + 100_000, due + 120_000, "995.5", map[Account]string{Transferred: "4.5"}},
		{"60 s before", due - 90_000, due - 60_000, "995.5", map[Account]string{Transferred: "4.5"}},
		{"59.999 s before", due - 90_000, due - 59_999, "995.5", map[Account]string{Unexplained: "4.5"}},
		{"received", due - 90_000, due - 59_999, "1004.5", map[Account]string{Unexplained: "-4.5"}},
		{"more than funding can be", due - 90_000, due - 30_000, "995.49999999", map[Account]string{Transferred: "4.50000001"}},
		{"none in this reading", due - 180_000, due - 120_000, "999", map[Account]string{Transferred: "1"}},
	} {
		a := newAccounts(t)
		a.at(due-7*3_600_000, "1000", open)
		a.at(c.lastMS, "1000", open)
		t.Log(c.name)
		a.want(a.at(c.atMS, c.wallet, open), c.want)
	}
}

func TestASymbolOfUnknownTermsMayBeFundedEachHour(t *testing.T) {
	t.Parallel()
	const hour = 3_600_000
	other := position(2, false, "5", "5", "100", "0")
	other.Symbol = "ETH-USDT"
	for _, c := range []struct {
		atMS   int64
		wallet string
		want   map[Account]string
	}{
		{3*hour + 90_000, "982", map[Account]string{Funding: "18"}}, // 3 % of 500, and a fifth
		{3*hour + 90_000, "981.99", map[Account]string{Unexplained: "18.01"}},
		{3*hour - 70_000, "999", map[Account]string{Transferred: "1"}},
		{3*hour - 59_999, "982", map[Account]string{Unexplained: "18"}},
	} {
		a := newAccounts(t)
		a.at(2*hour+600_000, "1000", []Position{other})
		a.at(2*hour+700_000, "1000", []Position{other})
		a.want(a.at(c.atMS, c.wallet, []Position{other}), c.want)
	}
}

func TestTheTermsThatAReadingBringsHold(t *testing.T) {
	t.Parallel()
	open := []Position{position(1, false, "0.01", "0.01", "50000", "0")}
	for wallet, want := range map[string]map[Account]string{"995.5": {Funding: "4.5"}, "995.4": {Unexplained: "4.6"}} { // 0.75 % of 500, and a fifth
		a := newAccounts(t)
		a.at(3_700_000, "1000", open)
		a.at(3_800_000, "1000", open)
		other, hourly := instrument, instrument
		other.Symbol.Name, hourly.FundingHours = "AAA-USDT", 1
		r := &Reading{AtMS: 2*3_600_000 + 90_000, Market: exchange.Futures, Wallet: []Asset{{FuturesAsset, amount(wallet)}}, Open: open,
			Instruments: []Instrument{other, hourly}}
		a.want(a.book(r), want) // with the former 8 hours it would be a withdrawal
	}
}

func TestFeesOfTwoSymbolsAreSharedByTradedValue(t *testing.T) {
	t.Parallel()
	a := newAccounts(t)
	other := position(2, false, "15", "15", "100", "0")
	other.Symbol = "ETH-USDT"
	a.trades(exchange.Buy, 10)
	a.futures("999.2", []Position{position(1, false, "0.01", "0.01", "50000", "0"), other}, nil) // 0.04 % of 500 and 1500
	for strategy, want := range map[string]string{"one": "0.2", "": "0.6"} {
		if have := a.l.Sum(Fees, strategy, "USDT"); have != amount(want) {
			t.Errorf("strategy %q: want fees of %s, have %s", strategy, want, have)
		}
	}
}

// Funding was charged on what was held before most of it was sold: 500 at 0.75 % and a fifth.
func TestFundingIsBoundedByWhatWasHeldBefore(t *testing.T) {
	t.Parallel()
	a := newAccounts(t)
	a.trades(exchange.Buy, 10)
	a.futures("999.8", []Position{position(1, false, "0.01", "0.01", "50000", "0")}, nil)
	a.now += 8 * 3_600_000
	a.trades(exchange.Sell, 9)
	a.want(a.futures("995.12", []Position{position(1, false, "0.01", "0.001", "50000", "0")}, nil), map[Account]string{Fees: "0.18", Funding: "4.5"})
}

// 0.010 at 50000 are liquidated with a loss of 20. A liquidation costs up to 5 % of the 480 that are left, a trade up to 0.3 %.
func TestALiquidationMayCostMoreThanATrade(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		liquidated bool
		paid       string
		want       map[Account]string
	}{
		{true, "24", map[Account]string{Realized: "20", Fees: "24"}},
		{true, "24.01", map[Account]string{Realized: "20", Fees: "0.24", Unexplained: "23.77"}},
		{false, "1.44", map[Account]string{Realized: "20", Fees: "1.44"}},
		{false, "1.45", map[Account]string{Realized: "20", Fees: "0.24", Unexplained: "1.21"}},
		{false, "-0.24", map[Account]string{Realized: "20", Fees: "-0.24"}}, // a rebate of 0.05 %
		{false, "-0.25", map[Account]string{Realized: "20", Fees: "0.24", Unexplained: "-0.49"}},
	} {
		a := newAccounts(t)
		a.trades(exchange.Buy, 10)
		a.futures("999.75", []Position{position(1, false, "0.01", "0.01", "50000", "0")}, nil)
		ended := over(1, false, "0.01", "50000", "48000", "-20")
		ended.Liquidated = c.liquidated
		a.want(a.futures(amount("979.75").Sub(amount(c.paid)).String(), nil, []Position{ended}), c.want)
		if c.liquidated && a.l.taker != 50_000 {
			t.Errorf("a liquidation teaches no rate, have %d", a.l.taker)
		}
	}
}

// An order that rests pays the maker rate, which is learned from a reading with nothing else: 0.05 of 500 is 0.01 %.
func TestRestingOrdersPayTheMakersRate(t *testing.T) {
	t.Parallel()
	rest := func(a *accounts, side exchange.Side, quantity exchange.Quantity) {
		a.l.fill(&Order{ClientOrderID: "r", Strategy: "one", Symbol: bitcoin, Side: side, Rests: true}, quantity)
	}
	a := newAccounts(t)
	rest(a, exchange.Buy, 10)
	a.want(a.futures("999.95", []Position{position(1, false, "0.01", "0.01", "50000", "0")}, nil), map[Account]string{Fees: "0.05"})
	a.now += 8 * 3_600_000
	rest(a, exchange.Sell, 5)
	half := position(1, false, "0.01", "0.005", "50000", "10")
	a.want(a.futures("1009.624", []Position{half}, nil), map[Account]string{Realized: "-10", Fees: "0.026", Funding: "0.3"})
	a.now += 8 * 3_600_000
	a.trades(exchange.Sell, 5) // taker orders do not: 0.05 % of 250
	a.want(a.futures("1009.299", nil, []Position{over(1, false, "0.01", "50000", "51000", "10")}), map[Account]string{Fees: "0.125", Funding: "0.2"})
}

// A position was opened further and partly closed between two readings: 0.020 each, at about 50000.
func TestAPositionThatGrewAndShrankPaysFeesOfBoth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		paid      string
		plausible bool
	}{{"1", true}, {"1.1", true}, {"1.1001", false}, {"0.9", true}, {"0.8999", false}} {
		a := newAccounts(t)
		a.trades(exchange.Buy, 10)
		a.futures("999.75", []Position{position(1, false, "0.01", "0.01", "50000", "0")}, nil)
		a.trades(exchange.Buy, 20)
		a.trades(exchange.Sell, 20)
		r := &Reading{AtMS: a.now + 60_000, Market: exchange.Futures, Wallet: []Asset{{FuturesAsset, amount("999.75").Sub(amount(c.paid))}},
			Open: []Position{position(1, false, "0.03", "0.01", "50000", "0")}}
		if have := a.l.Plausible(r, a.l.Lines(r)); have != c.plausible {
			t.Errorf("%s paid: want plausible %t, have %t", c.paid, c.plausible, have)
		}
		a.want(a.book(r), map[Account]string{Fees: amount(c.paid).String()})
		if a.l.taker != 50_000 {
			t.Errorf("%s paid for an unknown value: want no rate learned, have %d", c.paid, a.l.taker)
		}
	}
}

func TestRatesAreLearnedFromOneKindOfOrderAlone(t *testing.T) {
	t.Parallel()
	open := []Position{position(1, false, "0.01", "0.01", "50000", "0")}
	for _, c := range []struct {
		name   string
		paid   string
		before func(a *accounts, r *Reading)
	}{
		{"both kinds of order", "0.2", func(a *accounts, _ *Reading) {
			a.l.fill(&Order{ClientOrderID: "r", Strategy: "one", Symbol: bitcoin, Side: exchange.Buy, Rests: true}, 5)
		}},
		{"funding was due", "0.2", func(a *accounts, r *Reading) { r.AtMS += 8 * 3_600_000 }},
		{"more than a fee", "1.51", func(*accounts, *Reading) {}},
		{"more than a rebate", "-0.26", func(*accounts, *Reading) {}},
		{"no rate gives exactly that", "0.2000000001", func(*accounts, *Reading) {}},
		{"the reading is not confirmed", "0.2", func(_ *accounts, r *Reading) { r.Unstable = true }},
		{"the one before was not confirmed", "0.2", func(a *accounts, r *Reading) {
			a.book(&Reading{AtMS: r.AtMS - 1, Market: exchange.Futures, Wallet: []Asset{{FuturesAsset, amount("1000")}}, Unstable: true})
			a.trades(exchange.Buy, 10)
		}},
		{"a second symbol was traded", "0.2", func(a *accounts, r *Reading) {
			a.l.fill(&Order{ClientOrderID: "e", Strategy: "one", Symbol: exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"}, Side: exchange.Buy}, 1)
		}},
	} {
		a := newAccounts(t)
		a.trades(exchange.Buy, 10)
		r := &Reading{AtMS: a.now + 60_000, Market: exchange.Futures, Wallet: []Asset{{FuturesAsset, amount("1000").Sub(amount(c.paid))}}, Open: open}
		c.before(a, r)
		a.book(r)
		if a.l.taker != 50_000 || a.l.maker != 20_000 {
			t.Errorf("%s: want the usual rates, have %d and %d", c.name, a.l.taker, a.l.maker)
		}
	}
	for paid, want := range map[string]exchange.Rate{"1.5": 300_000, "-0.25": -50_000, "0": 0} {
		a := newAccounts(t)
		a.trades(exchange.Buy, 10)
		a.futures(amount("1000").Sub(amount(paid)).String(), open, nil)
		if a.l.taker != want {
			t.Errorf("%s of 500: want rate %d, have %d", paid, want, a.l.taker)
		}
	}
}

// A symbol that was traded before the last reading has no part in the change. One whose position is no longer reported may have.
func TestOnlySymbolsThatMayHavePaidPreventLearning(t *testing.T) {
	t.Parallel()
	ether := position(2, false, "5", "5", "100", "0")
	ether.Symbol = "ETH-USDT"
	for _, vanishes := range []bool{false, true} {
		a := newAccounts(t)
		a.l.fill(&Order{ClientOrderID: "e", Strategy: "one", Symbol: exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"}, Side: exchange.Buy}, 1)
		a.futures("999.75", []Position{ether}, nil)
		want := exchange.Rate(50_000)
		if !vanishes {
			a.futures("999.5", nil, []Position{{ID: 2, Symbol: "ETH-USDT", Opened: amount("5"), EntryPrice: amount("100"), Close: amount("100")}})
			want = 40_000
		}
		a.trades(exchange.Buy, 10)
		a.futures(a.l.wallet(exchange.Futures, "USDT").Sub(amount("0.2")).String(), []Position{position(1, false, "0.01", "0.01", "50000", "0")}, nil)
		if a.l.taker != want {
			t.Errorf("vanishes %t: want rate %d, have %d", vanishes, want, a.l.taker)
		}
	}
	a := newAccounts(t) // grown and ended in between: the prices of the growth are not exact
	a.trades(exchange.Buy, 10)
	a.futures("999.75", []Position{position(1, false, "0.01", "0.01", "50000", "0")}, nil)
	a.trades(exchange.Buy, 10)
	a.trades(exchange.Sell, 20)
	a.futures("999.15", nil, []Position{over(1, false, "0.02", "50000", "50000", "0")})
	if a.l.taker != 50_000 {
		t.Errorf("grown and ended: want the usual rate, have %d", a.l.taker)
	}
}

// Orders of both kinds filled: the fee may differ from the usual one by half.
func TestFeesOfBothKindsOfOrderVary(t *testing.T) {
	t.Parallel()
	for wallet, want := range map[string]bool{"999.625": true, "999.6249": false, "999.875": true, "999.8751": false} {
		a := newAccounts(t)
		a.trades(exchange.Buy, 5)
		a.l.fill(&Order{ClientOrderID: "r", Strategy: "one", Symbol: bitcoin, Side: exchange.Buy, Rests: true}, 5)
		r := &Reading{AtMS: a.now + 60_000, Market: exchange.Futures, Wallet: []Asset{{FuturesAsset, amount(wallet)}},
			Open: []Position{position(1, false, "0.01", "0.01", "50000", "0")}}
		if have := a.l.Plausible(r, a.l.Lines(r)); have != want {
			t.Errorf("wallet %s: want plausible %t, have %t", wallet, want, have)
		}
	}
}

// The tolerance is a fiftieth of the fee of the symbol that paid least, in either order: 0.005 of 10, not 0.25 of 500.
func TestTheToleranceIsOfTheSmallestFee(t *testing.T) {
	t.Parallel()
	for wallet, want := range map[string]bool{"999.7449": true, "999.7451": true, "999.7448": false, "999.7452": false} {
		a := newAccounts(t)
		large := position(2, false, "5", "5", "100", "0")
		large.Symbol = "ETH-USDT"
		a.trades(exchange.Buy, 1)
		r := &Reading{AtMS: a.now + 60_000, Market: exchange.Futures, Wallet: []Asset{{FuturesAsset, amount(wallet)}},
			Open: []Position{position(1, false, "0.001", "0.001", "10000", "0"), large}}
		if have := a.l.Plausible(r, a.l.Lines(r)); have != want {
			t.Errorf("wallet %s: want plausible %t, have %t", wallet, want, have)
		}
	}
}

func TestValuesAreRoundedToTheGrid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ value, grid, want string }{
		{"0.00015", "0.0001", "0.0002"}, {"0.000149", "0.0001", "0.0001"}, {"0.00019", "0.0001", "0.0002"}, {"0.0001", "0.0001", "0.0001"},
		{"1.23", "0", "1.23"},
	} {
		if have := onGrid(amount(c.value), amount(c.grid)); have != amount(c.want) {
			t.Errorf("%s on a grid of %s: want %s, have %s", c.value, c.grid, c.want, have)
		}
	}
}

func TestEndedPositionsAreAskedForWhenOneMayHaveEnded(t *testing.T) {
	t.Parallel()
	open := []Position{position(1, false, "0.01", "0.01", "50000", "0")}
	reading := func(wallet string, open []Position) *Reading {
		return &Reading{Market: exchange.Futures, Wallet: []Asset{{FuturesAsset, amount(wallet)}}, Open: open}
	}
	traded := newLedger()
	traded.fill(&Order{ClientOrderID: "b", Strategy: "one", Symbol: bitcoin, Side: exchange.Buy}, 1)
	a := newAccounts(t)
	a.futures("999.8", open, nil)
	for _, c := range []struct {
		name string
		l    *Ledger
		r    *Reading
		want bool
	}{
		{"traded before an empty wallet was taken over", traded, reading("0", nil), true},
		{"nothing is new", a.l, reading("999.8", open), false},
		{"another wallet", a.l, reading("999.7", open), true},
		{"the position is no longer open", a.l, reading("999.8", nil), true},
		{"another is open", a.l, reading("999.8", []Position{position(2, false, "1", "1", "1", "0")}), true},
		{"another is open, too", a.l, reading("999.8", append(open, position(2, false, "1", "1", "1", "0"))), false},
	} {
		if have := c.l.WantsClosed(c.r); have != c.want {
			t.Errorf("%s: want them asked for %t, have %t", c.name, c.want, have)
		}
	}
}

func TestEndedPositionsAreBookedInTheOrderOfTheirIDs(t *testing.T) {
	t.Parallel()
	a := newAccounts(t)
	ended := []Position{over(9, false, "1", "1", "1", "0"), over(7, false, "1", "1", "1", "0"), over(8, false, "1", "1", "1", "0")}
	fresh, whole := a.l.Fresh(&Reading{AtMS: a.now, Market: exchange.Futures}, ended)
	if len(fresh) != 3 || fresh[0].ID != 7 || fresh[1].ID != 8 || fresh[2].ID != 9 || !whole {
		t.Errorf("want 7, 8 and 9, have %+v, whole %t", fresh, whole)
	}
}

func TestTheLast1000EndedPositionsAreRemembered(t *testing.T) {
	t.Parallel()
	a := newAccounts(t)
	var ended []Position
	for id := range int64(1_000) {
		ended = append(ended, over(id+1, false, "0", "1", "1", "0"))
	}
	a.futures("1000", nil, ended)
	if !a.l.Booked(1) || !a.l.Booked(1_000) || a.l.Booked(1_001) {
		t.Error("want 1 to 1000 booked, and no other")
	}
	a.futures("1000", nil, []Position{over(1_001, false, "0", "1", "1", "0")})
	if a.l.Booked(1) || !a.l.Booked(2) || !a.l.Booked(1_001) {
		t.Error("want 2 to 1001 booked, and 1 forgotten")
	}
}
