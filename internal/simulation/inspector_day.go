package simulation

import (
	"math/big"
	"slices"
	"strings"

	"botd/exchange"
	"botd/internal/tally"
	"botd/reconcile/account"
	"botd/reconcile/record"
)

// curve is the equity of a role, or of the account, at the exchange's prices: after each move of a price, each fill and each payment.
type curve struct {
	tally.Curve
	recent []valued
	day    record.Day // the last journalled one
	loose  *big.Rat   // maximum error of the equity at the start of its day; nil if unknown
}

// valued is an equity with its time.
type valued struct {
	atMS   int64
	equity *big.Rat
}

// recentlyMS is the maximum age of the prices and fills with which botd computes equity.
const recentlyMS = 90_000

// value adds the present equities to the curves, but only for seeds of the calendar: only they reach another
// day, and have accounts so small that the peak rises.
func (f *figures) value() {
	w := f.w
	if w.seed < calendarFrom || w.beyond != nil {
		return
	}
	total, traded := new(big.Rat), [2]bool{}
	for n := range f.shares {
		key := w.portfolio.roles[n].key
		price, _ := w.venue.x.Price(key)
		worth := f.shares[n].worth(key.Market, fraction(int64(price), w.venue.held[key].rules.PriceScale))
		if market := key.Market - 1; !traded[market] {
			traded[market] = true
			total.Add(total, f.start[market])
		}
		total.Add(total, worth).Add(total, &f.shares[n].proceeds)
		f.curves[n].add(w.nowMS, worth.Add(worth, f.start[key.Market-1]))
	}
	f.curves[len(f.shares)].add(w.nowMS, total)
}

// worth returns what a role has made at a price, including its position.
func (s *roleResult) worth(market exchange.Market, price *big.Rat) *big.Rat {
	worth := new(big.Rat).Mul(&s.Quantity, price)
	if market == exchange.Spot {
		return worth.Add(worth, &s.Cash)
	}
	return worth.Sub(worth, &s.Cost).Add(worth, s.Net())
}

func (c *curve) add(atMS int64, equity *big.Rat) {
	c.Add(atMS, equity)
	if old := slices.IndexFunc(c.recent, func(v valued) bool { return atMS-v.atMS < recentlyMS }); old > 0 {
		c.recent = c.recent[old:]
	}
	c.recent = append(c.recent, valued{atMS, equity})
}

// between returns the lowest and the highest of the recent equities.
func (c *curve) between() (least, most *big.Rat) {
	least, most = c.recent[0].equity, c.recent[0].equity
	for _, v := range c.recent {
		if v.equity.Cmp(least) < 0 {
			least = v.equity
		}
		if v.equity.Cmp(most) > 0 {
			most = v.equity
		}
	}
	return least, most
}

// dayed checks a journalled day: it starts at midnight UTC, and its first equity, like a higher peak, is an
// equity that the scope had just before.
func (f *figures) dayed(r *record.Record, body *record.Day) {
	n := slices.IndexFunc(f.w.portfolio.roles, func(one role) bool { return one.name == r.Strategy })
	if r.Strategy == "" {
		n = len(f.shares)
	}
	if n < 0 {
		return
	}
	c := &f.curves[n]
	before := c.day
	c.day = *body
	begins := before.StartMS != body.StartMS
	if want := exchange.Day1.OpenOf(r.AtMS); begins && body.StartMS != want {
		f.w.fail("figures", "a day of %q starts at %d, want %d", r.Strategy, body.StartMS, want)
	}
	f.attribution.compare() // the results of this batch precede its days
	bound := f.bound(n)
	if len(c.recent) == 0 || bound == nil {
		if begins {
			c.loose = nil
		}
		return
	}
	if before.StartMS != 0 && before.Markets != body.Markets || n == len(f.shares) && !f.covers(body.Markets) {
		c.loose = nil // when a strategy leaves a market or returns to it, both figures move by that market's equity
		return
	}
	least, most := c.between()
	if begins {
		c.loose = new(big.Rat).Sub(most, least)
		c.loose.Add(c.loose, bound)
		f.checkBetween("the equity that a day of "+r.Strategy+" began with", ratOf(body.Equity), least, most, bound)
		f.reach(reachedDay)
	}
	if before.StartMS != 0 && before.Peak.Less(body.Peak) {
		f.checkBetween("the peak of "+r.Strategy, ratOf(body.Peak), least, most, bound)
		f.reach(reachedPeak)
	}
}

// covers reports whether the account's day includes every market that the curve of its equity does. It does not if it began while a strategy was away.
func (f *figures) covers(markets string) bool {
	return !slices.ContainsFunc(f.w.portfolio.roles, func(r role) bool { return !strings.Contains(markets, r.key.Market.String()) })
}

// checkBetween checks that a figure is within two others and a bound.
func (f *figures) checkBetween(what string, have, least, most, bound *big.Rat) {
	if new(big.Rat).Sub(least, bound).Cmp(have) > 0 || new(big.Rat).Add(most, bound).Cmp(have) < 0 {
		f.w.fail("figures", "%s: want %s to %s by the fills, have %s", what, least.FloatString(8), most.FloatString(8), have.FloatString(8))
	}
}

// bound returns the maximum error of a scope's equity, or nil if its fills are not known well enough.
func (f *figures) bound(n int) *big.Rat {
	tracker := f.w.daemon.machine.Tracker()
	bound := new(big.Rat).Set(cent)
	for i := range f.shares {
		s, role := &f.shares[i], &f.w.portfolio.roles[i]
		if n != len(f.shares) && n != i {
			continue
		}
		watch := tracker.Watch(role.name)
		own := n == len(f.shares) || role.key.Market == exchange.Spot || f.onFutures() == 1 || !f.attribution.lost
		if !s.fresh || !own || f.disturbed(role.key.Market, tracker) || watch.Traded() != 0 || watch.Awaits() ||
			role.key.Market == exchange.Futures && tracker.Account().WalletBalance != f.w.venue.x.Money(trader).Wallet {
			return nil
		}
		bound.Add(bound, f.slack(i, tracker.Symbol(role.key).Price()))
		bound.Add(bound, &f.attribution.bound[i])
	}
	return bound
}

// slack returns the maximum error of a role's result: spot fees are estimated, the two sides may use prices
// of different times, and each complete spot sale leaves less than a few steps.
func (f *figures) slack(n int, price exchange.Price) *big.Rat {
	s, key := &f.shares[n], f.w.portfolio.roles[n].key
	rules := f.w.venue.held[key].rules
	if price == 0 { // botd has read no price since its start; the remainder is uncertain all the same
		price, _ = f.w.venue.x.Price(key)
	}
	slack := new(big.Rat).Mul(&s.Value, big.NewRat(1, 1_000))
	if key.Market == exchange.Spot {
		steps := fraction(int64(maxRest*rules.QuantityTick)*int64(1+s.fills), rules.QuantityScale)
		slack.Add(slack, steps.Mul(steps, fraction(int64(price), rules.PriceScale))).Add(slack, &s.either)
	}
	return slack
}

// estimateMS is the longest time for which a strategy whose result botd estimates begins no day.
const estimateMS = 60_000

// mayWait reports whether a strategy's day may begin later than its round: botd could not read the strategy's orders, so one may have filled.
func (f *figures) mayWait(n int, startMS int64) bool {
	return n < len(f.shares) && f.roundMS < startMS+estimateMS && f.w.daemon.machine.Tracker().Symbol(f.w.portfolio.roles[n].key).Unread()
}

// day compares a scope's day and peak with its curve. at is the equity at the price that botd read.
func (f *figures) day(n int, day account.Day, equity exchange.Amount, at, slack *big.Rat) {
	w, c := f.w, &f.curves[n]
	if day.StartMS == 0 {
		return // no limit depends on it
	}
	if peak := ratOf(day.Peak); peak.Mul(peak, big.NewRat(1_001, 1_000)).Cmp(ratOf(equity)) < 0 {
		w.fail("figures", "the highest equity is %s, and it stands at %s", day.Peak, equity)
	}
	if want := exchange.Day1.OpenOf(w.daemon.clock()); f.roundMS > want && day.StartMS != want && !f.mayWait(n, want) {
		w.fail("figures", "the day started at %d, want %d", day.StartMS, want)
	}
	if len(c.recent) == 0 || c.loose == nil || day.StartMS != c.StartMS || day.StartMS != c.day.StartMS {
		return
	}
	if most := new(big.Rat).Add(&c.Peak, slack); most.Cmp(ratOf(day.Peak)) < 0 {
		w.fail("figures", "the highest equity is %s, want at most %s", day.Peak, c.Peak.FloatString(8))
	}
	if most := new(big.Rat).Add(&c.Drawdown, slack); most.Cmp(ratOf(day.Peak.Sub(equity))) < 0 {
		w.fail("figures", "the drawdown is %s, want at most %s", day.Peak.Sub(equity), c.Drawdown.FloatString(8))
	}
	f.near("the result of the day", new(big.Rat).Sub(at, &c.Began), ratOf(equity.Sub(day.Equity)), new(big.Rat).Add(c.loose, slack))
}
