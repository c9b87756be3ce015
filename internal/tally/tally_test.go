package tally

import (
	"math/big"
	"testing"
)

func rat(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(text)
	}
	return r
}

// TestAPositionIsFollowedThroughZero buys 2 at 100 and 1 at 130, sells 5 at 120, and buys 1 at 90. The figures are computed
// manually.
func TestAPositionIsFollowedThroughZero(t *testing.T) {
	t.Parallel()
	s := &Strategy{}
	for _, step := range []struct {
		buy                                                             bool
		price, quantity, wantQuantity, wantEntry, wantRealized, wantNet string
	}{
		{true, "100", "2", "2", "100", "0", "-0.5"},
		{true, "130", "1", "3", "110", "0", "-1"},
		{false, "120", "5", "-2", "120", "30", "28.5"},
		{true, "90", "1", "-1", "120", "60", "58"},
		{true, "90", "1", "0", "0", "90", "87.5"},
	} {
		s.Add(&Fill{Buy: step.buy, Price: rat(step.price), Quantity: rat(step.quantity), Fee: rat("0.5")})
		for name, pair := range map[string][2]*big.Rat{"quantity": {rat(step.wantQuantity), &s.Quantity}, "entry": {rat(step.wantEntry), s.Entry()},
			"realized": {rat(step.wantRealized), &s.Realized}, "net": {rat(step.wantNet), s.Net()}} {
			if pair[0].Cmp(pair[1]) != 0 {
				t.Errorf("%s at %s: want %s %s, have %s", step.quantity, step.price, name, pair[0].FloatString(4), pair[1].FloatString(4))
			}
		}
	}
	if s.Cash.Cmp(s.Net()) != 0 || s.Bought.Cmp(rat("5")) != 0 || s.Sold.Cmp(rat("5")) != 0 || s.Value.Cmp(rat("1110")) != 0 || s.SoldFor.Cmp(rat("600")) != 0 {
		t.Errorf("want it flat with its cash equal to its net, 5 bought and sold for 1110 in all, have %+v", s)
	}
}

// 10 are bought at 3. The fee is 1 of them, so the remaining 9 are worth 27 at the same price.
func TestFeeInBaseRaisesCostOfPosition(t *testing.T) {
	t.Parallel()
	s := &Strategy{}
	s.Add(&Fill{Buy: true, Price: rat("3"), Quantity: rat("10"), Fee: rat("1"), FeeInBase: true})
	if s.Quantity.Cmp(rat("9")) != 0 || s.Fees.Sign() != 0 || s.Unrealized(rat("3")).Cmp(rat("-3")) != 0 || s.Cash.Cmp(rat("-30")) != 0 {
		t.Errorf("want 9 held, no fee in money, 3 lost, 30 paid, have %+v", s)
	}
}

// A position of 2 at 100 pays 0.75 and receives 0.25 before it is closed at 103 for a fee of 1 in all.
func TestFundingReducesNetResult(t *testing.T) {
	t.Parallel()
	s := &Strategy{}
	s.Add(&Fill{Buy: true, Price: rat("100"), Quantity: rat("2"), Fee: rat("0.5")})
	s.Pay(rat("0.75"))
	s.Pay(rat("-0.25"))
	s.Add(&Fill{Price: rat("103"), Quantity: rat("2"), Fee: rat("0.5")})
	if s.Funding.Cmp(rat("0.5")) != 0 || s.Net().Cmp(rat("4.5")) != 0 || s.Cash.Cmp(rat("4.5")) != 0 || s.Realized.Cmp(rat("6")) != 0 {
		t.Errorf("want 6 realized, 0.5 of funding and 4.5 in all, have %+v", s)
	}
}

// The day begins with its first value; the peak and the largest drawdown last beyond it.
func TestCurveFollowsDayPeakAndDrawdown(t *testing.T) {
	t.Parallel()
	c := &Curve{}
	for _, step := range []struct {
		atMS                        int64
		equity                      string
		start                       int64
		began, peak, fall, drawdown string
	}{
		{5 * dayMS, "100", 5 * dayMS, "100", "100", "0", "0"},
		{6*dayMS - 1, "104", 5 * dayMS, "100", "104", "0", "0"},
		{6 * dayMS, "97", 6 * dayMS, "97", "104", "7", "7"},
		{6*dayMS + 1, "103", 6 * dayMS, "97", "104", "1", "7"},
		{9*dayMS + 7, "105", 9 * dayMS, "105", "105", "0", "7"},
		{9*dayMS + 8, "-2", 9 * dayMS, "105", "105", "107", "107"},
	} {
		c.Add(step.atMS, rat(step.equity))
		for name, pair := range map[string][2]*big.Rat{"start of the day": {rat(step.began), &c.Began},
			"peak": {rat(step.peak), &c.Peak}, "fall": {rat(step.fall), c.Fall()}, "drawdown": {rat(step.drawdown), &c.Drawdown}} {
			if pair[0].Cmp(pair[1]) != 0 || c.StartMS != step.start {
				t.Errorf("%s at %d: want %s %s since %d, have %s, %d", step.equity, step.atMS, name, pair[0].FloatString(2), step.start,
					pair[1].FloatString(2), c.StartMS)
			}
		}
	}
	below := &Curve{}
	if below.Add(1, rat("-5")); below.Peak.Cmp(rat("-5")) != 0 {
		t.Errorf("want the first value to be the peak, have %s", below.Peak.FloatString(2))
	}
}

// Unrealized returns the profit of closing the position at a price.
func (s *Strategy) Unrealized(price *big.Rat) *big.Rat {
	worth := new(big.Rat).Mul(&s.Quantity, price)
	return worth.Sub(worth, &s.Cost)
}
