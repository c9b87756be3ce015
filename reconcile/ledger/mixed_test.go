package ledger

import (
	"testing"

	"botd/exchange"
)

// Orders worth 500 filled at 0.02 % to 0.05 %, and a position of 50 may have paid or received at most 0.45 of funding. What the usual fee and such
// funding do not explain is a fee at another rate: between the maker and taker rates if possible, at most 0.3 %.
func TestFeesExplainWhatFundingDoesNot(t *testing.T) {
	t.Parallel()
	const due = 8 * 3_600_000
	for _, c := range []struct {
		name  string
		rests bool
		paid  string
		want  map[Account]string
	}{
		{"the usual fee and funding", true, "0.55", map[Account]string{Fees: "0.1", Funding: "0.45"}},
		{"a resting order took in part", true, "0.551", map[Account]string{Fees: "0.25", Funding: "0.301"}},
		{"and funding was paid", true, "0.7", map[Account]string{Fees: "0.25", Funding: "0.45"}},
		{"and it cost more than usual", true, "0.701", map[Account]string{Fees: "0.701"}},
		{"a rebate, and funding received", true, "-0.351", map[Account]string{Fees: "-0.25", Funding: "-0.101"}},
		{"a taking order cost less than usual", false, "-0.201", map[Account]string{Fees: "-0.201"}},
		{"a taking order cost more than usual", false, "1.5", map[Account]string{Fees: "1.5"}},
		{"the largest fee, and funding", false, "1.95", map[Account]string{Fees: "1.5", Funding: "0.45"}},
		{"more than both", false, "1.951", map[Account]string{Fees: "0.25", Unexplained: "1.701"}},
		{"received more than both", true, "-0.701", map[Account]string{Fees: "0.1", Unexplained: "-0.801"}},
	} {
		a := newAccounts(t)
		held := position(2, false, "0.5", "0.5", "100", "0")
		held.Symbol = "ETH-USDT"
		a.l.fill(&Order{ClientOrderID: "e", Strategy: "two", Symbol: exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"}, Side: exchange.Buy}, 1)
		a.futures("999.975", []Position{held}, nil)
		a.l.learn(Instrument{Symbol: exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"},
			Base: "ETH", Quote: "USDT", FundingCap: 750_000, FundingHours: 8})
		a.l.fill(&Order{ClientOrderID: "o", Strategy: "one", Symbol: bitcoin, Side: exchange.Buy, Rests: c.rests}, 10)
		a.now = due
		bought := position(1, false, "0.01", "0.01", "50000", "0")
		bought.FromMS = due + 1
		have := a.futures(amount("999.975").Sub(amount(c.paid)).String(), []Position{bought, held}, nil)
		t.Log(c.name)
		a.want(have, c.want)
	}
}

// An order that could rest took liquidity right before a funding, and the first reading shows the fee alone. If that is exactly the taker fee, the
// funding is charged later; a reading a minute after its time would include it.
func TestFeeBeforeFundingThatIsChargedLater(t *testing.T) {
	t.Parallel()
	const due = 8 * 3_600_000
	for _, c := range []struct {
		name        string
		fromMS      int64 // of the position
		afterMS     int64
		paid        string
		first, then map[Account]string
	}{
		{"exactly the fee of takers", due - 30_000, 59_999, "0.25", map[Account]string{Fees: "0.25"}, map[Account]string{Funding: "0.3"}},
		{"a minute after the funding", due - 30_000, 60_000, "0.25", map[Account]string{Fees: "0.1", Funding: "0.15"}, map[Account]string{Unexplained: "0.3"}},
		{"a little more than that fee", due - 30_000, 59_999, "0.251", map[Account]string{Fees: "0.1", Funding: "0.151"},
			map[Account]string{Unexplained: "0.3"}},
		{"held at an earlier funding too", 1, 59_999, "0.25", map[Account]string{Fees: "0.1", Funding: "0.15"}, map[Account]string{Unexplained: "0.3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			feeBeforeFunding(t, c.fromMS, c.afterMS, c.paid, c.first, c.then)
		})
	}
}

func feeBeforeFunding(t testing.TB, fromMS, afterMS int64, paid string, first, then map[Account]string) {
	const due = 8 * 3_600_000
	a := newAccounts(t)
	if fromMS == 1 { // the ledger has not been read since
		a.l.futures.atMS = 1
		a.l.learn(Instrument{Symbol: bitcoin, Base: "BTC", Quote: "USDT", Unit: amount("0.001"), Grid: amount("0.0001"), FundingCap: 750_000,
			FundingHours: 4})
	}
	a.l.fill(&Order{ClientOrderID: "o", Strategy: "one", Symbol: bitcoin, Side: exchange.Buy, Rests: true}, 10)
	bought := position(1, false, "0.01", "0.01", "50000", "0")
	bought.FromMS = fromMS
	a.now = due + afterMS - 60_000
	a.want(a.futures(amount("1000").Sub(amount(paid)).String(), []Position{bought}, nil), first)
	a.now += 1_000 - 60_000
	a.want(a.futures(amount("999.7").Sub(amount(paid)).String(), []Position{bought}, nil), then)
}

// A position was opened and reduced between two readings, at a funding time. Its fees are known exactly if all of it was opened first. If not, what they
// differ from the estimate counts as funding, but the funding of that time may follow.
func TestFeeOfAReducedPositionBeforeFunding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		now         Position // 0.005 of it sold at 52000
		afterMS     int64
		paid        string
		first, then map[Account]string
	}{
		{"opened first", position(1, false, "0.01", "0.005", "50000", "10"), 0, "0.152", map[Account]string{Fees: "0.152"},
			map[Account]string{Funding: "0.3"}},
		{"and the funding is in it", position(1, false, "0.01", "0.005", "50000", "10"), 0, "0.452", map[Account]string{Fees: "0.152", Funding: "0.3"}, nil},
		{"opened further after that, at 51000", position(1, false, "0.015", "0.01", "50500", "10"), 0, "0.203",
			map[Account]string{Fees: "0.204", Funding: "-0.001"}, map[Account]string{Funding: "0.3"}},
		{"a minute after the funding", position(1, false, "0.015", "0.01", "50500", "10"), 59_999, "0.203",
			map[Account]string{Fees: "0.204", Funding: "-0.001"}, map[Account]string{Unexplained: "0.3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			reducedBeforeFunding(t, c.now, c.afterMS, c.paid, c.first, c.then)
		})
	}
}

func reducedBeforeFunding(t testing.TB, now Position, afterMS int64, paid string, first, then map[Account]string) {
	a := newAccounts(t)
	a.l.fill(&Order{ClientOrderID: "o", Strategy: "one", Symbol: bitcoin, Side: exchange.Buy, Rests: true}, 10)
	now.FromMS = 8*3_600_000 - 30_000
	a.now = 8*3_600_000 + 1 + afterMS - 60_000
	first[Realized] = "-10"
	a.want(a.futures(amount("1010").Sub(amount(paid)).String(), []Position{now}, nil), first)
	if a.now += 1_000 - 60_000; then != nil {
		a.want(a.futures(amount("1009.7").Sub(amount(paid)).String(), []Position{now}, nil), then)
	}
}

// Orders were free of fees until now, so a fee is divided by traded value, not by expected fees.
func TestFirstFeeAfterFreeTradesIsAFee(t *testing.T) {
	t.Parallel()
	a := newAccounts(t)
	a.trades(exchange.Buy, 10)
	open := position(1, false, "0.01", "0.01", "50000", "0")
	a.futures("1000", []Position{open}, nil)
	a.trades(exchange.Sell, 5)
	open.Remaining = amount("0.005")
	a.want(a.futures("999.9", []Position{open}, nil), map[Account]string{Fees: "0.1"})
}

// An order that may rest and pays what takers pay has taken liquidity; it shows nothing about resting orders.
func TestRestingOrderThatTookTeachesNoRate(t *testing.T) {
	t.Parallel()
	for paid, want := range map[string]exchange.Rate{"0.25": 20_000, "0.24": 48_000} {
		a := newAccounts(t)
		a.l.fill(&Order{ClientOrderID: "r", Strategy: "one", Symbol: bitcoin, Side: exchange.Buy, Rests: true}, 10)
		a.futures(amount("1000").Sub(amount(paid)).String(), []Position{position(1, false, "0.01", "0.01", "50000", "0")}, nil)
		if a.l.maker != want {
			t.Errorf("%s of 500: want the rate of makers %d, have %d", paid, want, a.l.maker)
		}
	}
}
