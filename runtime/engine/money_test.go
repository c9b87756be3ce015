package engine

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/ledger"
	"botd/reconcile/record"
	"botd/strategy"
)

func withLedger(w *world) { w.config.Ledger = true }

// ledger returns the running engine's ledger.
func (w *world) ledger() *ledger.Ledger { return w.engine.Tracker().Ledger() }

// sum returns the balance of an account of the ledger over all strategies.
func (w *world) sum(account ledger.Account, market exchange.Market, asset string) (sum exchange.Amount) {
	for b := range w.ledger().Balances() {
		if b.Account == account && b.Symbol.Market == market && b.Asset == asset {
			sum = sum.Add(b.Amount)
		}
	}
	return sum
}

func (w *world) wantSum(account ledger.Account, market exchange.Market, asset string, want exchange.Amount) {
	w.t.Helper()
	if have := w.sum(account, market, asset); have != want {
		w.t.Errorf("%s %s of %s: want %s, have %s\n%s", market, asset, account, want, have, w.postings())
	}
}

// postings formats the ledger's entries for a failing test.
func (w *world) postings() string {
	text := ""
	for _, r := range w.records {
		if p, ok := r.Body.(record.Posting); ok {
			text += fmt.Sprintf(
				"  %+9.3f %s wallet %v open %v closed %v partial %t\n",
				float64(r.AtMS-startMS)/1000,
				p.Reading.Market,
				p.Reading.Wallet,
				p.Reading.Open,
				p.Reading.Closed,
				p.Reading.Partial,
			)
			for _, l := range p.Lines {
				text += fmt.Sprintf("            %-12s %-6s %s %s %s\n", l.Account, l.Strategy, l.Symbol, l.Amount, l.Asset)
			}
		}
	}
	return text
}

// wantLedger expects the ledger to equal the exchange's own books, and the records alone to produce the same
// ledger, entry by entry.
func (w *world) wantLedger() {
	w.t.Helper()
	if w.config.Strategies[0].Symbol.Market == exchange.Spot {
		for _, asset := range []string{"BTC", "USDT"} {
			free, frozen := w.venue.Balance("one", asset)
			w.wantSum(ledger.Wallet, exchange.Spot, asset, free.Add(frozen))
		}
	} else {
		w.wantFutures()
	}
	w.wantQuantities()
	w.wantReplay()
}

func (w *world) wantFutures() {
	w.t.Helper()
	money := w.venue.Money("one")
	w.wantSum(ledger.Wallet, exchange.Futures, "USDT", money.Wallet)
	w.wantSum(ledger.Realized, exchange.Futures, "USDT", money.Realized.Neg())
	spent := w.sum(ledger.Fees, exchange.Futures, "USDT").
		Add(w.sum(ledger.Funding, exchange.Futures, "USDT")).
		Add(w.sum(ledger.Unexplained, exchange.Futures, "USDT"))
	if want := money.Fees.Add(money.Funding).Sub(money.Insurance); spent != want {
		w.t.Errorf("fees, funding and unexplained: want %s, have %s\n%s", want, spent, w.postings())
	}
}

// wantQuantities expects the bought and sold quantities of the placements' records.
func (w *world) wantQuantities() {
	w.t.Helper()
	filled, sides := map[string]exchange.Quantity{}, map[string]exchange.Side{}
	var bought, sold exchange.Quantity
	for i := range w.records {
		r := &w.records[i]
		if sending, ok := r.Body.(record.Sending); ok {
			sides[r.ClientOrderID] = sending.Order.Side
			continue
		}
		all, _, ok := r.Filled()
		grown := all - filled[r.ClientOrderID]
		if !ok || grown <= 0 {
			continue
		}
		filled[r.ClientOrderID] = all
		if sides[r.ClientOrderID] == exchange.Buy {
			bought += grown
		} else {
			sold += grown
		}
	}
	for q := range w.ledger().Quantities() {
		bought, sold = bought-q.Bought, sold-q.Sold
	}
	if bought != 0 || sold != 0 {
		w.t.Errorf("the ledger lacks %d bought and %d sold of the fills", bought, sold)
	}
}

// wantFills expects the quantities of the exchange's own fills.
func (w *world) wantFills() {
	w.t.Helper()
	key := w.config.Strategies[0].Symbol.Key()
	want := ledger.Moved{Strategy: "one", Symbol: key}
	for _, fill := range w.venue.Fills() {
		if fill.Market == key.Market && fill.Side == exchange.Buy {
			want.Bought += fill.Quantity
		} else if fill.Market == key.Market {
			want.Sold += fill.Quantity
		}
	}
	if have := slices.Collect(w.ledger().Quantities()); len(have) != 1 || have[0] != want {
		w.t.Errorf("want %+v, have %+v", want, have)
	}
}

// wantReplay books all records again, and expects each entry to follow from the earlier records and its
// reading.
func (w *world) wantReplay() {
	w.t.Helper()
	tracker := reconcile.NewTracker(w.config.Bounds)
	for i := range w.records {
		r := &w.records[i]
		if p, ok := r.Body.(record.Posting); ok {
			if asset, sum := p.Balanced(); !sum.IsZero() {
				w.t.Errorf("record %d: its lines of %s sum to %s", i, asset, sum)
			}
			if want := tracker.Ledger().Lines(&p.Reading); !reflect.DeepEqual(want, p.Lines) {
				w.t.Errorf("record %d: want lines %v, have %v", i, want, p.Lines)
			}
		}
		tracker.Apply(r)
	}
	if want, have := slices.Collect(tracker.Ledger().Balances()), slices.Collect(w.ledger().Balances()); !reflect.DeepEqual(want, have) {
		w.t.Errorf("want %v by replay, have %v", want, have)
	}
}

func TestLedgerRecordsProfitsAndCosts(t *testing.T) {
	t.Parallel()
	step := exchange.Quantity(0)
	w := newWorld(t, func(v *strategy.View, plan *strategy.Plan) { hold(step)(v, plan) }, withLedger)
	tick := w.venue.Symbol(bitcoin).QuantityTick
	w.pass(5_000)
	step = 3 * tick
	w.pass(20_000)
	w.price("51234.5")
	step = tick
	w.pass(20_000)
	step = -2 * tick
	w.pass(30_000)
	step = 0
	w.pass(30_000)
	w.wantLedger()
	w.wantExplained()
	money := w.venue.Money("one")
	w.wantSum(ledger.Transferred, exchange.Futures, "USDT", exchange.AmountOf(-10_000))
	w.wantFills()
	if money.Realized.IsZero() || money.Fees.IsZero() {
		t.Errorf("the test made nothing: %+v", money)
	}
	for b := range w.ledger().Balances() {
		if b.Account != ledger.Wallet && b.Account != ledger.Transferred && (b.Strategy != "one" || !b.Derived) {
			t.Errorf("want it to be strategy one's, and derived: have %+v", b)
		}
	}
}

func TestFundingIsDistinguishedFromFees(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(5), withLedger)
	w.venue.SetFunding("BTC-USDT", []sim.FundingPoint{{TimeMS: nextFunding(w.now), Rate: 12_345}})
	w.pass(30_000)
	w.pass(nextFunding(w.now) - w.now + 120_000)
	w.wantLedger()
	money := w.venue.Money("one")
	if money.Funding.IsZero() {
		t.Fatal("no funding was paid")
	}
	w.wantExplained()
}

func nextFunding(nowMS int64) int64 { const eight = 8 * 3_600_000; return (nowMS/eight + 1) * eight }

func TestAChangeThatNoTradeExplainsIsATransfer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(0), withLedger)
	more := exchange.Amount{}
	w.mirror = func(answer *exchange.Answer) { answer.Account.WalletBalance = answer.Account.WalletBalance.Add(more) }
	w.pass(20_000)
	more = exchange.MustAmount("12.5")
	w.pass(60_000)
	w.wantSum(ledger.Transferred, exchange.Futures, "USDT", exchange.MustAmount("-10012.5"))
	w.wantReplay()
	if n := len(facts[NoteTransfer](w.notes)); n != 1 {
		t.Errorf("want one note of it, have %d", n)
	}
	if all := w.ledger().Unexplained(); len(all) != 0 {
		t.Errorf("want nothing unexplained, have %+v", all)
	}
}

func TestWalletAndPositionsOfTwoMomentsAreNotBooked(t *testing.T) {
	t.Parallel()
	step := exchange.Quantity(0)
	w := newWorld(t, func(v *strategy.View, plan *strategy.Plan) { hold(step)(v, plan) }, withLedger)
	w.pass(5_000)
	w.engine.config.Bounds.StalenessMS = 3_000
	var last exchange.MarginAccount
	var lastMS int64
	w.mirror = func(answer *exchange.Answer) { // the account comes from a replica that lags by up to 3 s
		if answer.Operation != exchange.FuturesAccount {
			return
		}
		now := answer.Account
		if w.now-lastMS < 3_000 {
			answer.Account = last
		}
		last, lastMS = now, w.now
	}
	for i := range 20 {
		step = exchange.Quantity(i%5) * w.venue.Symbol(bitcoin).QuantityTick
		w.pass(10_000)
	}
	step = 0
	w.mirror = nil
	w.pass(60_000)
	w.wantLedger()
	w.wantExplained()
}

func TestClockSetBackDoesNotStabilizeWalletRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(1), withLedger)
	w.pass(30_000)
	e, m := w.engine.accounting, &w.engine.accounting.futures
	e.config.Bounds.StalenessMS, e.out = 3_000, &w.out
	reading := m.last
	reading.Wallet = slices.Clone(reading.Wallet)
	reading.Wallet[0].Amount = reading.Wallet[0].Amount.Sub(exchange.AmountOf(1))
	began := w.now + 1_000
	reading.AtMS = began - 3_500
	e.receiveReading(m, reading, began)
	if !m.due || m.pending != 0 {
		t.Errorf("want a reading that waits for a second one, have due %t and %d questions", m.due, m.pending)
	}
	reading.AtMS = began + 3_200
	e.receiveReading(m, reading, began+3_100)
	if m.pending != 1 {
		t.Errorf("want it booked when a later one shows the same, have %d questions", m.pending)
	}
}

func TestNoWalletReadIsStableWhilePositionDiffers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(1), withLedger)
	w.pass(30_000)
	e, m := w.engine.accounting, &w.engine.accounting.futures
	e.config.Bounds.StalenessMS, e.out = 3_000, &w.out
	answer, err := w.venue.Do("one", &exchange.Request{Operation: exchange.FuturesOpenPositions})
	if err != nil || len(answer.Positions.Items()) != 1 {
		t.Fatalf("want a position, have %+v, %v", answer.Positions, err)
	}
	reading := m.last
	reading.Open = nil // its end is in no fill yet, and the wallet may be older
	none := exchange.FetchedOf([]exchange.Position{})
	for i, positions := range []exchange.Fetched[exchange.Position]{none, none, answer.Positions} {
		w.now += 5_000
		e.tracker.Observe(&reconcile.Snapshot{BeganMS: w.now, EndedMS: w.now, Positions: positions})
		reading.AtMS = w.now
		e.receiveReading(m, reading, w.now)
		if want := i / 2; m.pending != want {
			t.Errorf("reading %d: want %d questions, have %d", i, want, m.pending)
		}
	}
}

// TestConstantTradingIsBooked trades every second for ten minutes.
func TestConstantTradingIsBooked(t *testing.T) {
	t.Parallel()
	for _, market := range []option{func(*world) {}, onSpot} {
		trading := true
		w := newWorld(t, func(v *strategy.View, plan *strategy.Plan) {
			step := exchange.Quantity(v.NowMS / 1_000 % 2)
			if v.Symbol.Market == exchange.Spot {
				step = 1_000 + 400*step
			}
			if trading {
				hold(step*v.Symbol.QuantityTick)(v, plan)
			}
		}, withLedger, market)
		w.pass(600_000)
		entries := 0
		for _, r := range w.records {
			if r.Kind() == record.KindPosting {
				entries++
			}
		}
		if len(w.sent) < 200 || entries < 5 {
			t.Errorf("want hundreds of orders and the ledger on their heels, have %d and %d entries", len(w.sent), entries)
		}
		trading = false
		w.pass(60_000)
		w.wantLedger()
		w.wantExplained()
	}
}

func TestHundredsOfUnobservedPositionsAreBooked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(0), withLedger, foreign("adopt"))
	w.pass(5_000)
	w.network = func(call *Call) fate { return fate{lost: true} }
	for range 230 {
		w.manually(w.market(exchange.Buy, w.venue.Symbol(bitcoin).QuantityTick, false))
		w.manually(w.market(exchange.Sell, w.venue.Symbol(bitcoin).QuantityTick, true))
	}
	w.network = nil
	w.pass(120_000)
	w.wantSum(ledger.Realized, exchange.Futures, "USDT", w.venue.Money("one").Realized.Neg())
	w.wantExplained()
}

func TestLateExecutionsAreBookedWithNextRead(t *testing.T) {
	t.Parallel()
	step := exchange.Quantity(0)
	w := newWorld(t, func(v *strategy.View, plan *strategy.Plan) { hold(step)(v, plan) }, onSpot, withLedger)
	w.pass(5_000)
	w.network = func(call *Call) fate {
		if call.Request.Operation == exchange.SpotUserTrades {
			return fate{longMS: 4_000}
		}
		return fate{}
	}
	for i := range 20 {
		step = exchange.Quantity(1_000+i%7*400) * w.venue.Symbol(coin).QuantityTick
		w.pass(5_000)
	}
	w.pass(60_000)
	w.wantLedger()
	w.wantExplained()
}

func TestUncertainPlacementCostsBelongToStrategy(t *testing.T) {
	t.Parallel()
	step := exchange.Quantity(0)
	w := newWorld(t, func(v *strategy.View, plan *strategy.Plan) { hold(step)(v, plan) }, withLedger)
	w.pass(5_000)
	step, w.network = 1, once(fate{silent: true})
	w.pass(60_000)
	w.wantLedger()
	if want, have := w.venue.Money("one").Fees, w.ledger().Sum(ledger.Fees, "one", "USDT"); have != want || want.IsZero() {
		t.Errorf("fees of one: want %s, have %s\n%s", want, have, w.postings())
	}
}

func TestSpotIsBookedByItsExecutions(t *testing.T) {
	t.Parallel()
	step := exchange.Quantity(0)
	w := newWorld(t, func(v *strategy.View, plan *strategy.Plan) { hold(step)(v, plan) }, onSpot, withLedger)
	tick := w.venue.Symbol(coin).QuantityTick
	w.pass(5_000)
	step = 4_000 * tick
	w.pass(30_000)
	w.price("52000")
	step = 1_000 * tick
	w.pass(30_000)
	step = 0
	w.pass(60_000)
	w.wantLedger()
	w.wantExplained()
	w.wantFills()
	var value, fees exchange.Amount
	for _, fill := range w.venue.Fills() {
		value = value.Add(w.venue.Symbol(coin).Notional(fill.Price, fill.Quantity).Mul(int64(-fill.Side.Sign())))
		if fill.FeeAsset == "USDT" {
			fees = fees.Add(fill.Fee)
		}
	}
	free, frozen := w.venue.Balance("one", "USDT")
	if want := exchange.AmountOf(10_000).Add(value).Sub(fees); free.Add(frozen) != want || value.IsZero() {
		t.Errorf("the test is wrong: want %s USDT, have %s", want, free.Add(frozen))
	}
	for b := range w.ledger().Balances() {
		if b.Derived {
			t.Errorf("on spot nothing is derived: have %+v", b)
		}
	}
}

// TestTheLedgerEqualsTheWallet trades at random, by strategy and manually, through jumps of the price,
// liquidations, funding, lost answers and restarts. In the end the ledger equals the exchange's own books, to
// the last digit.
func TestTheLedgerEqualsTheWallet(t *testing.T) {
	t.Parallel()
	for seed := range uint64(24) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 4))
			onMarket := func(*world) {}
			if seed%3 == 2 {
				onMarket = onSpot
			}
			step := exchange.Quantity(0)
			w := newWorld(t, func(v *strategy.View, plan *strategy.Plan) { hold(step)(v, plan) }, onMarket, withLedger, foreign("adopt"))
			w.venue.SetFunding("BTC-USDT", []sim.FundingPoint{{TimeMS: nextFunding(w.now), Rate: exchange.Rate(random.IntN(150_000) - 75_000)}})
			w.pass(5_000)
			w.randomly(random, &step, []exchange.Quantity{1, 100}[seed/3%2]) // many of the larger ones are liquidated
			w.network = nil
			step = 0
			w.pass(300_000)
			w.wantLedger()
			w.wantExplained()
			w.wantTrips()
		})
	}
}

// wantTrips expects the round trips of the records to have the ledger's results and costs, to the last digit.
// There is no position any more.
func (w *world) wantTrips() {
	w.t.Helper()
	trips, market := ledger.NewRoundTrips(), w.config.Strategies[0].Symbol.Market
	var realized, fees, funding exchange.Amount
	for i := range w.records {
		for _, trip := range account.ApplyToRoundTrips(trips, &w.records[i]) {
			realized, fees, funding = realized.Add(trip.Realized), fees.Add(trip.Fees), funding.Add(trip.Funding)
			if trip.LeftMS < trip.EnteredMS || trip.Quantity.Sign() <= 0 || trip.EntryPrice.Sign() <= 0 || trip.ExitPrice.Sign() <= 0 {
				w.t.Errorf("a round trip out of order: %+v", trip)
			}
		}
	}
	w.wantSum(ledger.Realized, market, "USDT", realized.Neg())
	w.wantSum(ledger.Fees, market, "USDT", fees)
	w.wantSum(ledger.Funding, market, "USDT", funding)
}

// wantExplained expects fees and funding to be distinguished exactly, without a rest. Only a bankrupt account
// has a rest, the insurance, which nothing reports.
func (w *world) wantExplained() {
	w.t.Helper()
	money := w.venue.Money("one")
	if !money.Insurance.IsZero() {
		return
	}
	if n := len(facts[NoteUnexplained](w.notes)); n > 0 || len(w.ledger().Unexplained()) > 0 {
		w.t.Errorf("want nothing unexplained, have %d\n%s", n, w.postings())
	}
	if w.config.Strategies[0].Symbol.Market == exchange.Futures {
		w.wantSum(ledger.Fees, exchange.Futures, "USDT", money.Fees)
		w.wantSum(ledger.Funding, exchange.Futures, "USDT", money.Funding)
	}
}

// randomly does forty random actions.
func (w *world) randomly(random *rand.Rand, step *exchange.Quantity, size exchange.Quantity) {
	symbol := w.config.Strategies[0].Symbol
	for range 40 {
		switch random.IntN(9) {
		case 0, 1, 2:
			*step = exchange.Quantity(random.IntN(41)-20) * size * symbol.QuantityTick
			if symbol.Market == exchange.Spot {
				*step = exchange.Quantity(random.IntN(20)) * 200 * symbol.QuantityTick
			}
		case 3, 4:
			w.price(fmt.Sprintf("%d.%d", 45_000+random.IntN(10_000), random.IntN(10)))
		case 5:
			w.network = []func(*Call) fate{nil, every(fate{silent: true}), nth(1+random.IntN(2), fate{lost: true})}[random.IntN(3)]
		case 6:
			if symbol.Market == exchange.Futures && w.held() > 3 {
				w.manually(w.market(exchange.Sell, symbol.QuantityTick, true))
			}
		case 7:
			w.start()
		case 8:
			w.pass(int64(random.IntN(4)) * 3_600_000)
		}
		w.pass(int64(random.IntN(20_000)))
	}
}
