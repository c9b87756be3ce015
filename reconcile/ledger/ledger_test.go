package ledger

import (
	"reflect"
	"slices"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
)

// amount parses a literal.
func amount(text string) exchange.Amount { return exchange.MustAmount(text) }

var bitcoin = exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}

// accounts drives a ledger directly, with readings that are an hour apart.
type accounts struct {
	t   testing.TB
	l   *Ledger
	now int64
}

var instrument = Instrument{
	Symbol:       bitcoin,
	Base:         "BTC",
	Quote:        "USDT",
	Unit:         amount("0.001"),
	Grid:         amount("0.0001"),
	FundingCap:   750_000,
	FundingHours: 8,
}

func newLedger() *Ledger {
	l, _ := New()
	return l
}

func newAccounts(t testing.TB) *accounts {
	a := &accounts{t: t, l: newLedger(), now: 3_600_000}
	a.futures("1000", nil, nil)
	return a
}

// trades fills a strategy's market order.
func (a *accounts) trades(side exchange.Side, quantity exchange.Quantity) {
	id := placement.ClientOrderID("t", placement.Start{Epoch: 1}, int64(len(a.l.pending)+1))
	a.l.fill(&Order{ClientOrderID: id, Strategy: "one", Symbol: exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}, Side: side}, quantity)
}

// futures books a reading a minute later and returns the sums of its lines by account.
func (a *accounts) futures(wallet string, open, closed []Position) map[Account]string {
	a.t.Helper()
	a.now += 60_000
	r := Reading{AtMS: a.now, Market: exchange.Futures, Wallet: []Asset{{FuturesAsset, amount(wallet)}}, Open: open, Closed: closed}
	if len(a.l.instruments) == 0 {
		r.Instruments = []Instrument{instrument}
	}
	return a.book(&r)
}

func (a *accounts) book(r *Reading) map[Account]string {
	a.t.Helper()
	p := &Posting{Reading: *r, Lines: a.l.Lines(r)}
	if asset, sum := p.Balanced(); !sum.IsZero() {
		a.t.Errorf("lines of %s sum to %s: %v", asset, sum, p.Lines)
	}
	a.l.post(p)
	if a.l.Due(r) {
		a.t.Errorf("still due after it was booked: %+v", r)
	}
	booked := map[Account]exchange.Amount{}
	for _, line := range p.Lines {
		if line.Asset == FuturesAsset {
			booked[line.Account] = booked[line.Account].Add(line.Amount)
		}
	}
	text := map[Account]string{}
	for account, sum := range booked {
		if account != Wallet {
			text[account] = sum.String()
		}
	}
	return text
}

func (a *accounts) want(have map[Account]string, want map[Account]string) {
	a.t.Helper()
	if !reflect.DeepEqual(want, have) {
		a.t.Errorf("want %v, have %v", want, have)
	}
}

func position(id int64, short bool, opened, remaining, entry, realized string) Position {
	return Position{
		ID:         id,
		Symbol:     "BTC-USDT",
		Short:      short,
		Opened:     amount(opened),
		Remaining:  amount(remaining),
		EntryPrice: amount(entry),
		Realized:   amount(realized),
	}
}

// The list of closed positions is read after the wallet, and may show one that was opened and closed in between.
func TestAPositionThatEndedAfterTheReadingIsNotOfIt(t *testing.T) {
	t.Parallel()
	l, _ := New()
	r := Reading{AtMS: 100_900, Market: exchange.Futures}
	earlier := Position{ID: 1, Symbol: "BTC-USDT", FromMS: 90_000, UntilMS: 100_000}
	later := Position{ID: 2, Symbol: "BTC-USDT", FromMS: 100_000, UntilMS: 101_000}
	if fresh, whole := l.Fresh(&r, []Position{later, earlier}); len(fresh) != 1 || fresh[0].ID != 1 || whole {
		t.Errorf("want the earlier one alone, and to wait for the next reading, have %+v, %t", fresh, whole)
	}
	r.AtMS = 101_000
	if fresh, whole := l.Fresh(&r, []Position{later, earlier}); len(fresh) != 2 || !whole {
		t.Errorf("the next reading: want both, have %+v, %t", fresh, whole)
	}
}

func TestFeesAndFundingAreSeparatedByRate(t *testing.T) {
	t.Parallel()
	for _, short := range []bool{false, true} {
		a := newAccounts(t)
		side, profit := exchange.Buy, "10"
		if short {
			side, profit = exchange.Sell, "-10"
		}
		a.trades(side, 10) // 0.010 at 50000 and 0.04 %
		a.want(a.futures("999.8", []Position{position(1, short, "0.01", "0.01", "50000", "0")}, nil), map[Account]string{Fees: "0.2"})
		a.now += 8 * 3_600_000
		// Half of it is closed at 52000 for 0.104, and funding of 0.3 was paid before.
		a.trades(3-side, 5)
		wallet := amount("999.8").Add(amount(profit)).Sub(amount("0.404")).String()
		half := position(1, short, "0.01", "0.005", "50000", profit)
		a.want(a.futures(wallet, []Position{half}, nil), map[Account]string{Realized: amount(profit).Neg().String(), Fees: "0.104", Funding: "0.3"})
	}
}

func TestFundingCountsPositionsOpenAtItsTime(t *testing.T) {
	t.Parallel()
	const due = 8 * 3_600_000
	for _, c := range []struct {
		fromMS, untilMS int64
		want            map[Account]string
	}{
		{due - 1, due, map[Account]string{Fees: "0.5", Funding: "0.4"}},
		{due, due + 1, map[Account]string{Fees: "0.9"}},
		{due - 2_000, due - 1_000, map[Account]string{Fees: "0.9"}},
	} {
		a := newAccounts(t)
		ended := position(1, false, "0.01", "0", "50000", "0")
		ended.Close, ended.FromMS, ended.UntilMS = amount("50000"), c.fromMS, c.untilMS
		a.now = due + 600_000
		a.want(a.futures("999.1", nil, []Position{ended}), c.want)
	}
}

func TestFundingChargedLateIsStillFundingButOnlyOnce(t *testing.T) {
	t.Parallel()
	a := newAccounts(t)
	a.trades(exchange.Buy, 10)
	open := []Position{position(1, false, "0.01", "0.01", "50000", "0")}
	a.futures("999.8", open, nil)
	a.now = 8*3_600_000 - 30_000
	a.futures("999.8", open, nil) // half a minute after it was due: not charged yet
	a.now -= 50_000
	a.want(a.futures("999", open, nil), map[Account]string{Funding: "0.8"})
	a.now -= 50_000
	a.want(a.futures("998", open, nil), map[Account]string{Unexplained: "1"})
}

func TestExcessiveFundingIsUnexplained(t *testing.T) {
	t.Parallel()
	a := newAccounts(t)
	a.trades(exchange.Buy, 10)
	open := []Position{position(1, false, "0.01", "0.01", "50000", "0")}
	a.futures("999.8", open, nil)
	a.now += 8 * 3_600_000
	a.want(a.futures("990", open, nil), map[Account]string{Unexplained: "9.8"}) // the bound allows 3.75 plus a fifth
	a.now += 8 * 3_600_000
	a.want(a.futures("986", open, nil), map[Account]string{Funding: "4"})
	a.now += 3_600_000
	a.want(a.futures("985", open, nil), map[Account]string{Transferred: "1"}) // no funding is due: a withdrawal
}

func TestAFeeBeyondReasonIsNotCalledAFee(t *testing.T) {
	t.Parallel()
	a := newAccounts(t)
	a.trades(exchange.Buy, 10)
	a.want(
		a.futures("950", []Position{position(1, false, "0.01", "0.01", "50000", "0")}, nil),
		map[Account]string{Fees: "0.25", Unexplained: "49.75"},
	)
}

func TestAPositionOpenedAndEndedInBetweenIsBooked(t *testing.T) {
	t.Parallel()
	a := newAccounts(t)
	ended := position(7, true, "0.01", "0", "50000", "20")
	ended.Close = amount("48000")
	r := Reading{Market: exchange.Futures, Wallet: []Asset{{FuturesAsset, amount("1019.51")}}}
	if !a.l.WantsClosed(&r) {
		t.Error("want the ended positions to be asked for")
	}
	a.want(a.futures("1019.51", nil, []Position{ended}), map[Account]string{Realized: "-20", Fees: "0.49"})
	if fresh, whole := a.l.Fresh(&r, []Position{ended}); len(fresh) != 0 || !whole {
		t.Errorf("it is booked once: have %v", fresh)
	}
}

func TestAPositionThatIsInNeitherListIsWaitedFor(t *testing.T) {
	t.Parallel()
	a := newAccounts(t)
	a.trades(exchange.Buy, 10)
	a.futures("999.8", []Position{position(1, false, "0.01", "0.01", "50000", "0")}, nil)
	if _, whole := a.l.Fresh(&Reading{Market: exchange.Futures}, nil); whole {
		t.Error("position 1 is in neither list, and that is whole")
	}
}

func TestFeesAreSplitExactlyBetweenSymbols(t *testing.T) {
	t.Parallel()
	a := newAccounts(t)
	other := position(2, false, "3", "3", "33.3333333", "0")
	other.Symbol = "ETH-USDT"
	a.trades(exchange.Buy, 10)
	have := a.futures("999.123456789012345678", []Position{position(1, false, "0.01", "0.01", "50000", "0"), other}, nil)
	a.want(have, map[Account]string{Fees: "0.876543210987654322"})
}

var spotInstrument = Instrument{
	Symbol: exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"},
	Base:   "BTC",
	Quote:  "USDT",
	Unit:   amount("0.00001"),
	Grid:   amount("0.0000000000001"),
}

// spot returns a ledger that has taken over a wallet with 1 BTC of the user's, and an order that filled.
func spot(t *testing.T) (*accounts, *Order) {
	a := &accounts{t: t, l: newLedger(), now: 1_000_000}
	a.wallet("1", "10000", false)
	p := &Order{
		ClientOrderID: "b1",
		OrderID:       5,
		Strategy:      "one",
		Symbol:        exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"},
		Side:          exchange.Buy,
		Rests:         true,
	}
	return a, p
}

func (a *accounts) wallet(base, quote string, partial bool, trades ...Trade) map[Account]string {
	a.t.Helper()
	a.now += 60_000
	r := Reading{
		AtMS:    a.now,
		Market:  exchange.Spot,
		Wallet:  []Asset{{"BTC", amount(base)}, {"USDT", amount(quote)}},
		Trades:  trades,
		Partial: partial,
	}
	if len(a.l.instruments) == 0 {
		r.Instruments = []Instrument{spotInstrument}
	}
	return a.book(&r)
}

func trade(id, order int64, price, quantity, fee, asset string) Trade {
	return Trade{id, order, amount(price), amount(quantity), amount(fee), asset}
}

func TestEachExecutionIsBookedOnce(t *testing.T) {
	t.Parallel()
	a, p := spot(t)
	a.l.fill(p, 10_000)
	a.want(a.wallet("1.0999", "5000", false, trade(1, 5, "50000", "0.1", "0.0001", "BTC")), map[Account]string{Holding: "4995", Fees: "5"})
	a.l.fill(p, 20_000)
	if orders := a.l.WantsTrades(); len(orders) != 1 || orders[0].Quantity != 20_000 || !reflect.DeepEqual(orders[0].Booked, []int64{1}) {
		t.Errorf("want 0.2 of order 5 without trade 1, have %+v", orders)
	}
	a.l.end(p.ClientOrderID, p.OrderID)
	a.want(a.wallet("1.2997", "-5000", false, trade(2, 5, "50000", "0.2", "0.0002", "BTC")), map[Account]string{Holding: "9990", Fees: "10"})
	if orders := a.l.WantsTrades(); len(orders) != 0 || len(a.l.pending) != 0 {
		t.Errorf("want the order done with, have %+v and %+v", orders, a.l.pending)
	}
}

func TestASaleReportsItsProfitOverTheCost(t *testing.T) {
	t.Parallel()
	a, p := spot(t)
	a.l.fill(p, 10_000)
	a.l.end(p.ClientOrderID, p.OrderID)
	a.wallet("1.1", "5000", false, trade(1, 5, "50000", "0.1", "0", "BTC"))
	sale := &Order{
		ClientOrderID: "b2",
		OrderID:       6,
		Strategy:      "one",
		Symbol:        exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"},
		Side:          exchange.Sell,
		Rests:         true,
	}
	a.l.fill(sale, 15_000) // 0.05 of it is the user's own: transferred in at the price, without profit
	a.l.end(sale.ClientOrderID, sale.OrderID)
	a.want(a.wallet("0.95", "13990", false, trade(2, 6, "60000", "0.15", "10", "USDT")),
		map[Account]string{Holding: "-5000", Transferred: "-3000", Realized: "-1000", Fees: "10"})
}

func TestUnreportedExecutionsAreShownAsUnexplained(t *testing.T) {
	t.Parallel()
	a, p := spot(t)
	a.l.fill(p, 10_000)
	a.l.end(p.ClientOrderID, p.OrderID)
	a.want(a.wallet("1.1", "5000", true), map[Account]string{Unexplained: "5000"})
	if len(a.l.pending) != 0 {
		t.Errorf("want it given up, have %+v", a.l.pending)
	}
	if all := a.l.Unexplained(); len(all) != 2 {
		t.Errorf("want both assets shown, have %+v", all)
	}
}

func TestATruncatedMeanPriceStillGivesTheRate(t *testing.T) {
	t.Parallel()
	a := newAccounts(t)
	a.trades(exchange.Buy, 3) // 0.001 at 50000 and 0.002 at 50000.1, at 0.04 %
	a.futures("999.93999992", []Position{position(1, false, "0.003", "0.003", "50000.066666666666666666", "0")}, nil)
	if want := exchange.Rate(40_000); a.l.taker != want {
		t.Errorf("want rate %d, have %d", want, a.l.taker)
	}
}

func TestUnbookedFillsAreNotStored(t *testing.T) {
	t.Parallel()
	l := newLedger()
	for i := range int64(1_000) {
		for _, market := range []exchange.Market{exchange.Futures, exchange.Spot} {
			l.fill(
				&Order{
					ClientOrderID: placement.ClientOrderID("t", placement.Start{Epoch: 1}, i),
					OrderID:       i,
					Strategy:      "one",
					Symbol:        exchange.SymbolKey{Market: market, Name: "BTC-USDT"},
					Side:          exchange.Buy,
				},
				1,
			)
		}
	}
	if len(l.pending) != 0 || len(l.owners) != 2 || l.Untouched(exchange.Spot) || l.Untouched(exchange.Futures) {
		t.Errorf("want nothing kept but who trades, have %d orders of %d symbols", len(l.pending), len(l.owners))
	}
}

func TestFillsBeforeTakeoverAreNotBooked(t *testing.T) {
	t.Parallel()
	a := &accounts{t: t, l: newLedger(), now: 1_000_000}
	p := &Order{
		ClientOrderID: "b1",
		OrderID:       5,
		Strategy:      "one",
		Filled:        10_000,
		Symbol:        exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"},
		Side:          exchange.Buy,
		Rests:         true,
	}
	a.l.fill(p, 10_000)
	a.wallet("1.1", "5000", false)
	p.Filled = 15_000
	a.l.fill(p, 5_000)
	if orders := a.l.WantsTrades(); len(orders) != 1 || orders[0].Before != 10_000 || orders[0].Quantity != 5_000 {
		t.Errorf("want the last 0.05 of order 5, have %+v", orders)
	}
}

func TestUnstableReadIsPlausibleWithUsualFees(t *testing.T) {
	t.Parallel()
	for wallet, want := range map[string]bool{"999.75": true, "999.753": true, "999.747": true, "999.85": false, "999.65": false, "1000": false,
		"1000.2": false, "999.5": false, "980": false} {
		a := newAccounts(t)
		a.trades(exchange.Buy, 10) // 0.010 at 50000: 0.25 at the usual rate
		r := Reading{
			AtMS:     a.now + 60_000,
			Market:   exchange.Futures,
			Wallet:   []Asset{{FuturesAsset, amount(wallet)}},
			Open:     []Position{position(1, false, "0.01", "0.01", "50000", "0")},
			Unstable: true,
		}
		if have := a.l.Plausible(&r, a.l.Lines(&r)); have != want {
			t.Errorf("wallet %s: want plausible %t, have %t", wallet, want, have)
		}
		a.book(&r)
		if a.l.taker != usualTaker {
			t.Errorf("wallet %s: a unstable reading teaches no rate, have %d", wallet, a.l.taker)
		}
	}
}

func TestUntradedWalletIsTakenOverWithoutHistory(t *testing.T) {
	t.Parallel()
	l := newLedger()
	r := Reading{Market: exchange.Futures, Wallet: []Asset{{FuturesAsset, amount("1000")}}}
	if l.WantsClosed(&r) {
		t.Error("nothing was traded yet: want the wallet taken over as it is")
	}
	l.fill(
		&Order{ClientOrderID: "b1", Strategy: "one", Symbol: exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}, Side: exchange.Buy},
		10,
	)
	if !l.WantsClosed(&r) {
		t.Error("something filled before the wallet was taken over: want the ended positions asked for")
	}
}

func TestPositionsClosedBeforeTakeoverAreNotBooked(t *testing.T) {
	t.Parallel()
	a := &accounts{t: t, l: newLedger(), now: 940_400}
	a.futures("1000", []Position{position(4, false, "0.01", "0.01", "50000", "0")}, nil) // at 1000.4 s
	a.futures("1001", []Position{position(4, false, "0.01", "0.01", "50000", "0")}, nil) // a later read moves nothing
	for _, c := range []struct {
		name            string
		id              int64
		fromMS, untilMS int64
		booked          bool
	}{
		{"it ended long before", 9, 10_000, 20_000, false},
		{"it ended in that very second", 9, 999_999, 1_000_999, false},
		{"it ended in the second after", 9, 999_999, 1_001_000, true},
		{"it began in that very second too: nobody knows", 9, 1_000_000, 1_000_999, true},
		{"its end is not reported", 9, 999_999, 0, true},
		{"it was open when the wallet was read", 4, 10_000, 1_000_000, true},
	} {
		ended := position(c.id, false, "0.01", "0", "50000", "10")
		ended.Close, ended.FromMS, ended.UntilMS = amount("51000"), c.fromMS, c.untilMS
		other := position(4, false, "0.01", "0.01", "50000", "0")
		r := Reading{AtMS: 1_002_000, Market: exchange.Futures, Wallet: []Asset{{FuturesAsset, amount("1001")}}}
		if c.id != other.ID {
			r.Open = []Position{other}
		}
		if fresh, whole := a.l.Fresh(&r, []Position{ended}); (len(fresh) == 1) != c.booked || !whole {
			t.Errorf("%s: want booked %t, have %+v, whole %t", c.name, c.booked, fresh, whole)
		}
	}
}

func TestMissingSmallTradeMakesReadImplausible(t *testing.T) {
	t.Parallel()
	for wallet, want := range map[string]bool{"999.745": true, "999.75": false} { // 0.25 and 0.005 at the usual rate
		a := newAccounts(t)
		other := position(2, false, "1", "1", "10", "0")
		other.Symbol = "ETH-USDT"
		a.trades(exchange.Buy, 10)
		r := Reading{AtMS: a.now + 60_000, Market: exchange.Futures, Wallet: []Asset{{FuturesAsset, amount(wallet)}},
			Open: []Position{position(1, false, "0.01", "0.01", "50000", "0"), other}, Unstable: true}
		if have := a.l.Plausible(&r, a.l.Lines(&r)); have != want {
			t.Errorf("wallet %s: want plausible %t, have %t", wallet, want, have)
		}
	}
}

// When a strategy starts to trade an asset, the wallet's balance of it is taken over. A later increase
// without a trade is unexplained, even if the wallet had none before.
func TestAnAssetThatIsTradedLaterIsTakenOver(t *testing.T) {
	t.Parallel()
	a, _ := spot(t)
	added := Instrument{
		Symbol: exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"},
		Base:   "ETH",
		Quote:  "USDT",
		Unit:   spotInstrument.Unit,
		Grid:   spotInstrument.Grid,
	}
	none := Instrument{
		Symbol: exchange.SymbolKey{Market: exchange.Spot, Name: "SOL-USDT"},
		Base:   "SOL",
		Quote:  "USDT",
		Unit:   spotInstrument.Unit,
		Grid:   spotInstrument.Grid,
	}
	reading := func(eth, sol string) *Reading {
		a.now += 60_000
		return &Reading{
			AtMS:   a.now,
			Market: exchange.Spot,
			Wallet: []Asset{{"BTC", amount("1")}, {"ETH", amount(eth)}, {"SOL", amount(sol)}, {"USDT", amount("10000")}},
		}
	}
	r := reading("0", "0")
	r.Instruments = []Instrument{none}
	if r.Wallet = slices.DeleteFunc(r.Wallet, func(held Asset) bool { return held.Name == "ETH" }); !a.l.Due(r) {
		t.Error("want a reading with a new asset booked, of which it holds none")
	}
	a.book(r)
	r = reading("3", "0")
	r.Instruments = []Instrument{added}
	a.book(r)
	if r = reading("3", "0"); a.l.Due(r) {
		t.Error("want the same again not booked")
	}
	a.book(reading("4", "2"))
	for _, c := range []struct {
		account     Account
		asset, want string
	}{{Transferred, "ETH", "-3"}, {Unexplained, "ETH", "-1"}, {Transferred, "SOL", "0"}, {Unexplained, "SOL", "-2"}} {
		if have := a.l.Sum(c.account, "", c.asset); have.String() != c.want {
			t.Errorf("%s of %s: want %s, have %s", c.account, c.asset, c.want, have)
		}
	}
}
