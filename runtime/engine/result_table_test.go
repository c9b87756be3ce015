package engine

import (
	"fmt"
	"slices"
	"testing"

	"botd/exchange"
	"botd/internal/reconciletest"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/risk"
)

// resulted returns the results of strategies, for a futures account of 1,000 USDT and, if requested, a spot wallet of 500.
func resulted(t testing.TB, futures, spot int) *results {
	t.Helper()
	b := valued(t, futures, spot)
	l := &limits{base: b}
	r := &results{base: b, limits: l, accounting: &accounting{base: b, limits: l}, following: true}
	for _, leg := range b.legs {
		see(leg.symbol, func(o *seen) { leg.state, o.Read, o.Mark = b.tracker.EnsureStrategy(leg.config.Name), true, o.Last })
	}
	return r
}

// resultOf sets a strategy's result, the position in steps, and the number of losses in a row.
func (r *results) resultOf(leg *leg, made int64, position exchange.Quantity, losses int) {
	r.record(record.Record{Strategy: leg.config.Name, Symbol: leg.symbol.Key(), Body: record.Result{Result: exchange.AmountOf(made), Position: position,
		Losses: losses, Trip: exchange.AmountOf(5)}})
}

// fills fills a strategy's futures order.
func (r *results) fills(leg *leg, quantity exchange.Quantity) {
	id := r.tracker.NextClientOrderID("t")
	order := exchange.NewOrder{Market: exchange.Futures, Symbol: leg.symbol.Key().Name, Side: exchange.Buy, Quantity: quantity, ClientOrderID: id}
	r.record(record.Record{Strategy: leg.config.Name, Symbol: leg.symbol.Key(), ClientOrderID: id,
		Body: record.Sending{Order: order, Purpose: placement.Entry}})
	r.record(record.Record{ClientOrderID: id, Body: record.Ended{State: placement.Filled, Filled: quantity}})
}

// The result is at the last price, of the closed part of the earlier position, also if the position changed its side.
func TestResultOfClosedPart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		was, now  exchange.Quantity // in steps of a thousandth, at 100 USDT
		entry     int64
		want      string
		withPrice exchange.Price
	}{
		{"all of a long one", 1_000, 0, 90, "10", 100e8}, {"half of a long one", 1_000, 500, 90, "5", 100e8},
		{"all of a short one", -1_000, 0, 90, "-10", 100e8}, {"half of a short one", -1_000, -500, 90, "-5", 100e8},
		{"it grew", 1_000, 1_500, 90, "0", 100e8}, {"a short one grew", -1_000, -1_500, 90, "0", 100e8}, {"it stayed", 1_000, 1_000, 90, "0", 100e8},
		{"it was turned over", 1_000, -500, 90, "10", 100e8}, {"a short one was turned over", -1_000, 500, 90, "-10", 100e8},
		{"there was none", 0, 1_000, 90, "0", 100e8}, {"there was none, and a short one is", 0, -1_000, 90, "0", 100e8},
		{"its entry is not known", 1_000, 0, 0, "0", 100e8},
	} {
		r := resulted(t, 1, 0)
		one := r.legs[0]
		r.resultOf(one, 0, c.was, 0)
		see(one.symbol, func(o *seen) { one.money.entryPrice, o.Position = exchange.AmountOf(c.entry), c.now })
		if have := r.estimate(one).String(); have != c.want {
			t.Errorf("%s: want %s, have %s", c.name, c.want, have)
		}
	}
}

// A closed or reversed position ends a trip, with its result since the beginning; on spot also one that is too small to be sold. A streak
// counts for the strategy, and for the account if a limit of it uses results.
func TestTripEndsWhenClosedOrReversed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		spot     bool
		was, now exchange.Quantity
		made     int64
		want     string // result, start of the trip, position, losses; the account's losses
		records  int
	}{
		{"nothing happened", false, 10, 10, 0, "20 5 10 2 / 2", 0},
		{"it made something", false, 10, 10, 7, "27 5 10 2 / 2", 1},
		{"it grew", false, 10, 20, -1, "19 5 20 2 / 2", 1},
		{"it grew from the smallest quantity", false, 1, 10, -1, "19 5 10 2 / 2", 1},
		{"it shrank to the smallest quantity", false, 10, 1, -1, "19 5 1 2 / 2", 1},
		{"it began", false, 0, 10, -1, "19 20 10 2 / 2", 1},
		{"it ended with a loss", false, 10, 0, -16, "4 4 0 3 / 3", 2},
		{"it ended with a gain", false, 10, 0, -14, "6 6 0 0 / 0", 2},
		{"it ended with neither", false, 10, 0, -15, "5 5 0 2 / 2", 2},
		{"it was turned over with a loss", false, 10, -10, -16, "4 4 -10 3 / 3", 2},
		{"a short one was turned over with a gain", false, -10, 10, 1, "21 21 10 0 / 0", 2},
		{"a short one was turned over, by the smallest quantity", false, -10, 1, 1, "21 21 1 0 / 0", 2},
		{"a long one was turned over, by the smallest quantity", false, 10, -1, 1, "21 21 -1 0 / 0", 2},
		{"on spot too little is left to be sold", true, 1_000, 4_999, -16, "4 4 0 3 / 3", 2},
		{"on spot enough is left to be sold", true, 1_000, 5_000, -16, "4 5 5000 2 / 2", 1},
	} {
		r := resulted(t, 1, 1)
		r.config.Limits = risk.Limits{MaxLosingStreak: 9, CoolDownMS: 60_000}
		one := r.legs[map[bool]int{true: 1}[c.spot]]
		r.resultOf(one, 20, c.was, 2)
		r.record(record.Record{Body: record.Accounted{Wallet: exchange.AmountOf(1_000), Losses: 2}})
		r.fills(r.legs[0], 3)
		see(one.symbol, func(o *seen) { o.Position = c.now })
		before := len(r.unwritten)
		r.result(one, exchange.AmountOf(c.made))
		w := r.tracker.Watch(one.config.Name)
		have := fmt.Sprint(w.Result().Result, " ", w.Result().Trip, " ", w.Result().Position, " ", w.Losses(), " / ", r.tracker.Watch("").Losses())
		if have != c.want || len(r.unwritten)-before != c.records || r.tracker.Watch(r.legs[0].config.Name).Traded() != 3 {
			t.Errorf("%s: want %s in %d records, and what was traded kept, have %s in %d", c.name, c.want, c.records, have, len(r.unwritten)-before)
		}
	}
	// The first result includes what the account had without it.
	r := resulted(t, 1, 0)
	one := r.legs[0]
	see(one.symbol, func(o *seen) { o.Position, o.EntryPrice = 1_000, exchange.AmountOf(90) })
	r.result(one, exchange.Amount{})
	if have := r.tracker.Watch(one.config.Name); !have.Known() || have.Result().Base != r.equity(exchange.Futures).Sub(exchange.AmountOf(10)) ||
		have.Result().Position != 1_000 {
		t.Errorf("want the account's equity without its own part, have %+v of %s", have.Result(), r.equity(exchange.Futures))
	}
	if r.strategyEquity(one) != r.equity(exchange.Futures) {
		t.Errorf("want its equity to be the account's, have %s", r.strategyEquity(one))
	}
}

// A losing streak that blocks entries starts over, separately for the account and the strategy. Trades since the last accounting stay
// unaccounted.
func TestLosingStreakBlocksEntries(t *testing.T) {
	t.Parallel()
	for losses, breaches := range map[int]int{2: 0, 3: 1, 4: 1} {
		r := resulted(t, 1, 0)
		one := r.legs[0]
		limits := risk.Limits{MaxLosingStreak: 3, CoolDownMS: 60_000}
		r.config.Limits, one.config.Limits = limits, limits
		r.resultOf(one, 20, 10, losses)
		r.record(record.Record{Body: record.Accounted{Wallet: exchange.AmountOf(1_000), Losses: losses}})
		r.fills(one, 3)
		r.roundMS = never
		r.startCoolDowns()
		for name, w := range map[string]*account.Watch{"the account": r.tracker.Watch(""), "the strategy": r.tracker.Watch(one.config.Name)} {
			left := losses
			if breaches > 0 {
				left = 0
			}
			have := slices.Collect(w.Breaches())
			if len(have) != breaches || w.Losses() != left || breaches > 0 && have[0].UntilMS != r.nowMS+60_000 {
				t.Errorf("%s, %d losses: want %d breaches, have %+v, %d losses", name, losses, breaches, have, w.Losses())
			}
		}
		if w := r.tracker.Watch(one.config.Name); w.Traded() != 3 || w.Result().Result != exchange.AmountOf(20) ||
			r.tracker.Watch("").Wallet() != exchange.AmountOf(1_000) {
			t.Errorf("%d losses: want all else kept, have %+v, %d", losses, w.Result(), w.Traded())
		}
	}
}

// The wait lasts until the wallet has been stable for the maximum age of a read since the last fill, and at most a minute.
func TestFuturesResultWaitsForStableWallet(t *testing.T) {
	t.Parallel()
	const now = 1_767_225_600_000
	for _, c := range []struct {
		name        string
		with        func(r *results, s *reconcile.Snapshot)
		waits       bool
		outstanding int64 // how long ago it began; -1 for none
	}{
		{"nothing is due", nil, false, -1},
		{"it traded", func(r *results, _ *reconcile.Snapshot) { r.fills(r.legs[0], 3) }, true, 0},
		{"the wallet is another", func(r *results, _ *reconcile.Snapshot) {
			reconciletest.Of(r.tracker).Account.WalletBalance = exchange.AmountOf(990)
		}, true, 0},
		{"it stood still", func(r *results, _ *reconcile.Snapshot) { r.fills(r.legs[0], 3); r.walletMS = now - 1_001 }, false, -1},
		{"it stood still for a moment less", func(r *results, _ *reconcile.Snapshot) { r.fills(r.legs[0], 3); r.walletMS = now - 1_000 }, true, 0},
		{"a fill was learned of since", func(r *results, _ *reconcile.Snapshot) {
			r.fills(r.legs[0], 3)
			r.walletMS, r.accounting.futures.tradedMS = now-5_000, now-1_000
		}, true, 0},
		{"it seems to come from outside beside a trade", func(r *results, _ *reconcile.Snapshot) {
			r.fills(r.legs[0], 3)
			r.walletMS, r.limits.flow[exchange.Futures] = now-5_000, exchange.AmountOf(40)
		}, true, 0},
		{"it is waited for already", func(r *results, _ *reconcile.Snapshot) { r.fills(r.legs[0], 3); r.outstandingMS = now - 59_999 }, true, 59_999},
		{"it was waited for a minute", func(r *results, _ *reconcile.Snapshot) { r.fills(r.legs[0], 3); r.outstandingMS = now - 60_000 }, false, -1},
		{"it cannot be read", func(r *results, s *reconcile.Snapshot) {
			r.fills(r.legs[0], 3)
			r.outstandingMS, s.Account = now-60_000, nil
		}, true, 0},
		{"positions cannot be read", func(r *results, s *reconcile.Snapshot) {
			r.fills(r.legs[0], 3)
			r.walletMS, s.Positions = now-5_000, exchange.Fetched[exchange.Position]{}
		}, true, 0},
		{"in a backtest", func(r *results, _ *reconcile.Snapshot) { r.fills(r.legs[0], 3); r.config.Feed = true }, false, -1},
	} {
		r := resulted(t, 1, 0)
		r.config.Bounds.StalenessMS = 1_000
		r.record(record.Record{Body: record.Accounted{Wallet: exchange.AmountOf(1_000)}})
		s := &reconcile.Snapshot{BeganMS: r.nowMS, Account: &exchange.MarginAccount{}, Positions: exchange.FetchedOf[exchange.Position](nil)}
		r.wallet, r.walletMS = exchange.AmountOf(1_000), r.nowMS
		if c.with != nil {
			c.with(r, s)
		}
		waits := r.waits(s)
		since := int64(-1)
		if r.outstandingMS != 0 {
			since = r.nowMS - r.outstandingMS
		}
		if waits != c.waits || since != c.outstanding {
			t.Errorf("%s: want it awaited %t, since %d ms, have %t, %d", c.name, c.waits, c.outstanding, waits, since)
		}
		if moved := r.tracker.Account().WalletBalance == exchange.AmountOf(990); moved && (r.wallet != exchange.AmountOf(990) || r.walletMS != s.BeganMS) {
			t.Errorf("%s: want the new wallet noted, have %s at %d", c.name, r.wallet, r.walletMS)
		}
	}
}

func TestEmptyWalletIsStableSinceFirstRead(t *testing.T) {
	t.Parallel()
	r := resulted(t, 1, 0)
	reconciletest.Of(r.tracker).Account.WalletBalance = exchange.Amount{}
	for n := range int64(2) {
		s := &reconcile.Snapshot{BeganMS: r.nowMS + n*1_000, Account: &exchange.MarginAccount{}, Positions: exchange.FetchedOf[exchange.Position](nil)}
		if r.waits(s); r.walletMS != r.nowMS {
			t.Errorf("read %d: want it to stand since the first, have it since %d ms", n, r.walletMS-r.nowMS)
		}
	}
}

// Once the money is stable, the wallet is recorded if it changed or a strategy traded.
func TestAccountedRecords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		with    func(r *results)
		want    string // the results of the two, the accounted wallet
		records int    // records of the account
	}{
		{"nothing happened", func(*results) {}, "0 0 1000", 0},
		{"the first time", func(r *results) {
			r.tracker = reconcile.NewTracker(placement.Bounds{})
			*reconciletest.Of(r.tracker).AccountMS = 1
		}, "0 0 0", 1},
		{"the wallet is another", func(r *results) {
			reconciletest.Of(r.tracker).Account.WalletBalance = exchange.AmountOf(990)
			r.fills(r.legs[0], 3)
		}, "-10 0 990", 1},
		{"it traded for nothing", func(r *results) { r.fills(r.legs[0], 3) }, "0 0 1000", 1},
		{"nobody follows results", func(r *results) {
			reconciletest.Of(r.tracker).Account.WalletBalance, r.following = exchange.AmountOf(990), false
		}, "0 0 1000", 0},
		{"the wallet was not read yet", func(r *results) {
			reconciletest.Of(r.tracker).Account.WalletBalance, *reconciletest.Of(r.tracker).AccountMS = exchange.AmountOf(990), 0
		}, "0 0 1000", 0},
		{"money came from outside", func(r *results) {
			reconciletest.Of(r.tracker).Account.WalletBalance, r.limits.flow[exchange.Futures] = exchange.AmountOf(1_040), exchange.AmountOf(40)
		}, "0 0 1000", 0},
	} {
		r := resulted(t, 2, 0)
		r.config.Feed = true
		r.record(record.Record{Body: record.Accounted{Wallet: exchange.AmountOf(1_000), Losses: 2}})
		for _, leg := range r.legs {
			r.resultOf(leg, 0, 0, 0)
		}
		c.with(r)
		for _, leg := range r.legs {
			see(leg.symbol, func(o *seen) { o.EntryPrice = exchange.AmountOf(77) })
		}
		before := len(r.unwritten)
		r.attribute(&reconcile.Snapshot{})
		records := 0
		for _, one := range r.unwritten[before:] {
			if body, is := one.Body.(record.Accounted); is && (body.Losses == 2 || c.name == "the first time") && !body.Keeps {
				records++
			}
		}
		have := fmt.Sprint(r.tracker.Watch(r.legs[0].config.Name).Result().Result, " ", r.tracker.Watch(r.legs[1].config.Name).Result().Result, " ",
			r.tracker.Watch("").Wallet())
		if have != c.want || records != c.records {
			t.Errorf("%s: want %s, accounted for %d times, have %s, %d", c.name, c.want, c.records, have, records)
		}
		if followed := r.following && r.tracker.AccountMS() != 0; (r.legs[0].money.entryPrice == exchange.AmountOf(77)) != followed {
			t.Errorf("%s: want the entry price noted %t, have %s", c.name, followed, r.legs[0].money.entryPrice)
		}
	}
}

// Limits that follow results need them, of the account or a strategy, and so does the ledger.
func TestResultsAreFollowedIfNeeded(t *testing.T) {
	t.Parallel()
	streak, drawdown := risk.Limits{MaxLosingStreak: 3}, risk.Limits{MaxDrawdown: risk.Loss{USDT: exchange.AmountOf(5)}}
	for _, c := range []struct {
		name             string
		account, own     risk.Limits
		ledger           bool
		follows, watches bool
	}{
		{name: "nobody"}, {name: "the ledger", ledger: true, follows: true, watches: true},
		{name: "a streak of the account", account: streak, follows: true, watches: true},
		{name: "a drawdown of the account", account: drawdown, watches: true},
		{name: "a streak of a strategy", own: streak, follows: true, watches: true},
		{name: "a drawdown of a strategy", own: drawdown, follows: true, watches: true},
		{name: "another limit", account: risk.Limits{MaxLeverage: 3}, own: risk.Limits{MaxLeverage: 3}},
	} {
		r := resulted(t, 2, 0)
		r.config.Limits, r.config.Ledger = c.account, c.ledger
		r.legs[1].config.Limits, r.legs[1].limits.configured = c.own, c.own
		if have := r.follows(); have != c.follows {
			t.Errorf("%s: want results followed %t, have %t", c.name, c.follows, have)
		}
		rules := &limitsInForce{base: r.base, limits: r.limits, results: r, written: c.account}
		rules.enforce()
		if r.following != c.follows || r.limits.watching != c.watches {
			t.Errorf("%s: want results followed %t and limits watched %t, have %t, %t", c.name, c.follows, c.watches, r.following, r.limits.watching)
		}
	}
}

// On futures a position adds its profit, on spot its value. Only the strategy's own part counts where others have some, and a closed part
// counts as long as its money is awaited.
func TestPositionValueInStrategyEquity(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		spot bool
		with func(r *results, one *leg)
		want string
	}{
		{"none", false, func(*results, *leg) {}, "0"},
		{"a long one", false, func(_ *results, one *leg) { see(one.symbol, func(o *seen) { o.Position = 1_000 }) }, "10"},
		{"a step of it", false, func(_ *results, one *leg) { see(one.symbol, func(o *seen) { o.Position = 1 }) }, "0.01"},
		{"a short one", false, func(_ *results, one *leg) { see(one.symbol, func(o *seen) { o.Position = -1_000 }) }, "-10"},
		{"without rules", false, func(_ *results, one *leg) { see(one.symbol, func(o *seen) { o.Position, o.Rules = 1_000, nil }) }, "0"},
		{"its money is awaited", false, func(r *results, one *leg) {
			r.resultOf(one, 0, 500, 0)
			one.money.awaited, one.money.entryPrice = true, exchange.AmountOf(80)
		}, "10"},
		{"all of it was closed at a lower price", false, func(r *results, one *leg) {
			r.resultOf(one, 0, 500, 0)
			one.money.awaited, one.money.entryPrice, one.money.closed, one.money.closedFor = true, exchange.AmountOf(80), 500, exchange.AmountOf(45)
		}, "5"},
		{"a part was", false, func(r *results, one *leg) {
			r.resultOf(one, 0, 500, 0)
			one.money.awaited, one.money.entryPrice, one.money.closed, one.money.closedFor = true, exchange.AmountOf(80), 200, exchange.AmountOf(18)
		}, "8"},
		{"a short one was, and reversed", false, func(r *results, one *leg) {
			r.resultOf(one, 0, -500, 0)
			one.money.awaited, one.money.entryPrice, one.money.closed, one.money.closedFor = true, exchange.AmountOf(80), -700, exchange.AmountOf(-63)
		}, "-3"},
		{"its money is awaited, and its entry is not known", false, func(r *results, one *leg) {
			r.resultOf(one, 0, 500, 0)
			one.money.awaited = true
		}, "0"},
		{"others hold a part", false, func(r *results, one *leg) {
			r.record(record.Record{Symbol: one.symbol.Key(), Body: record.Adopted{Quantity: 300}})
			r.record(record.Record{Symbol: one.symbol.Key(), Body: record.Ignored{Quantity: 700}})
			see(one.symbol, func(o *seen) { o.Position = 400 }) // the owner of the last hundred is not known yet
		}, "3"},
		{"on spot", true, func(_ *results, one *leg) {
			see(one.symbol, func(o *seen) { o.Position, o.EntryPrice = 100_000, exchange.Amount{} })
		}, "100"},
	} {
		r := resulted(t, 1, 1)
		one := r.legs[map[bool]int{true: 1}[c.spot]]
		see(one.symbol, func(o *seen) { o.EntryPrice = exchange.AmountOf(90) })
		c.with(r, one)
		if have := r.resultOfPosition(one).String(); have != c.want {
			t.Errorf("%s: want %s, have %s", c.name, c.want, have)
		}
	}
}

// The result is the sales at their prices less the purchases, with the fee of a sale, and that of a purchase if it is paid in the quote
// asset. A fill without a price counts at the last price. What was sold of others' units is no gain, but its fee is paid.
func TestSpotFillResult(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		held      exchange.Quantity
		sides     []exchange.Side
		price     int64
		quoteFees bool
		want      string
	}{
		{"nothing", 0, nil, 90, false, "0"},
		{"a purchase", 0, []exchange.Side{exchange.Buy}, 90, false, "-90"},
		{"a purchase that pays its fee in the quote asset", 0, []exchange.Side{exchange.Buy}, 90, true, "-90.09"},
		{"a sale", 100_000, []exchange.Side{exchange.Sell}, 90, false, "89.91"},
		{"both", 0, []exchange.Side{exchange.Buy, exchange.Sell}, 90, false, "-0.09"},
		{"at a price that is not known", 100_000, []exchange.Side{exchange.Sell}, 0, false, "99.9"},
		{"a sale of others' units alone", 0, []exchange.Side{exchange.Sell}, 90, false, "-0.09"},
		{"a sale of others' units too", 40_000, []exchange.Side{exchange.Sell}, 90, false, "35.91"},
		{"the same at a price that is not known", 40_000, []exchange.Side{exchange.Sell}, 0, false, "39.9"},
		{"one of more than a second one leaves", 150_000, []exchange.Side{exchange.Sell, exchange.Sell}, 90, false, "134.82"},
	} {
		r := resulted(t, 0, 1)
		one := r.legs[0]
		r.config.TakerFee, r.config.QuoteFees = exchange.RateOne/1_000, c.quoteFees
		r.resultOf(one, 0, 0, 0)
		r.record(record.Record{Symbol: coin, Body: record.Adopted{Quantity: c.held}})
		for _, side := range c.sides {
			id := r.tracker.NextClientOrderID("t")
			order := exchange.NewOrder{Market: exchange.Spot, Symbol: coin.Name, Side: side, Quantity: 100_000, ClientOrderID: id}
			about := func(body record.Body) {
				r.record(record.Record{Strategy: one.config.Name, Symbol: coin, ClientOrderID: id, Body: body})
			}
			about(record.Sending{Order: order, Purpose: placement.Entry})
			about(record.Ended{OrderID: 5, State: placement.Filled, Filled: 100_000, Price: exchange.AmountOf(c.price)})
		}
		if have := r.cashFlow(one).String(); have != c.want {
			t.Errorf("%s: want %s, have %s", c.name, c.want, have)
		}
	}
}

// A purchase that has not ended may explain the sale: it is booked later, and the sale counts as its own.
func TestSaleBeforeItsPurchaseIsTheStrategys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		on   exchange.SymbolKey // of a purchase without an answer
		side exchange.Side
		want string
	}{
		{"a purchase", coin, exchange.Buy, "89.91"},
		{"a sale", coin, exchange.Sell, "-0.09"},
		{"a purchase of another symbol", bitcoin, exchange.Buy, "-0.09"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			soldWith(t, c.on, c.side, c.want)
		})
	}
}

// soldWith sells units that no purchase explains while another order has no answer.
func soldWith(t testing.TB, on exchange.SymbolKey, side exchange.Side, want string) {
	t.Helper()
	r := resulted(t, 0, 1)
	one := r.legs[0]
	r.config.TakerFee = exchange.RateOne / 1_000
	r.resultOf(one, 0, 0, 0)
	sends := func(key exchange.SymbolKey, side exchange.Side) (about func(body record.Body)) {
		id := r.tracker.NextClientOrderID("t")
		about = func(body record.Body) {
			r.record(record.Record{Strategy: one.config.Name, Symbol: key, ClientOrderID: id, Body: body})
		}
		about(record.Sending{Order: exchange.NewOrder{Market: key.Market, Symbol: key.Name, Side: side, Quantity: 100_000, ClientOrderID: id},
			Purpose: placement.Entry})
		return about
	}
	sends(on, side)
	sends(coin, exchange.Sell)(record.Ended{OrderID: 5, State: placement.Filled, Filled: 100_000, Price: exchange.AmountOf(90)})
	if have := r.cashFlow(one).String(); have != want {
		t.Errorf("want %s, have %s", want, have)
	}
}

// What a position has lost counts at the price of the round that first showed it, whatever the price does until the result is known.
func TestClosedPartIsValuedAtItsRound(t *testing.T) {
	t.Parallel()
	closedAtItsRound(t)
}

func closedAtItsRound(t testing.TB) {
	r := resulted(t, 1, 0)
	one := r.legs[0]
	r.config.Bounds.StalenessMS = 1_000
	r.record(record.Record{Body: record.Accounted{Wallet: exchange.AmountOf(1_000)}})
	see(one.symbol, func(o *seen) { o.Position, o.EntryPrice = 1_000, exchange.AmountOf(90) })
	wallet := reconciletest.Of(r.tracker)
	for _, c := range []struct {
		name     string
		position exchange.Quantity
		at       exchange.Price
		wallet   int64
		want     string // the equity, which was 1,000
		waits    bool
	}{
		{"held", 1_000, 100, 1_000, "1000", false},
		{"half of it was closed", 500, 110, 1_000, "1010", true},
		{"the price falls", 500, 80, 1_000, "995", true},
		{"it was turned over", -200, 90, 1_000, "1000", true},
		{"the price rises", -200, 100, 1_000, "998", true},
		{"the money has arrived", -200, 100, 1_011, "999", false},
		{"the price falls with nothing awaited", -200, 80, 1_011, "1003", false},
	} {
		r.nowMS += 10_000
		if !c.waits && one.money.awaited {
			r.wallet, r.walletMS = exchange.AmountOf(c.wallet), r.nowMS-5_000
		} else if c.waits && !one.money.awaited {
			r.fills(one, 500)
		}
		wallet.Account.WalletBalance = exchange.AmountOf(c.wallet)
		see(one.symbol, func(o *seen) {
			o.Position, o.Last, o.Mark = c.position, c.at*1e8, c.at*1e8
			if c.position < 0 {
				o.EntryPrice = exchange.AmountOf(90)
			}
		})
		snapshot := &reconcile.Snapshot{BeganMS: r.nowMS, Account: wallet.Account, Positions: exchange.FetchedOf[exchange.Position](nil)}
		if c.waits {
			r.wallet, r.walletMS = wallet.Account.WalletBalance, r.nowMS // read for the first time
		}
		r.attribute(snapshot)
		if have := r.strategyEquity(one).String(); have != c.want || one.money.awaited != c.waits {
			t.Errorf("%s: want %s, have %s, waits %t", c.name, c.want, have, one.money.awaited)
		}
	}
}
