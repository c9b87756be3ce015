package reconcile

import (
	"slices"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/strategy"
)

// observePosition fetches like observe, with a position under that id.
func (d *desk) observePosition(id int64, signed exchange.Quantity, orders ...exchange.Order) {
	d.t.Helper()
	list := func() exchange.Fetched[exchange.Position] {
		positions := d.positions(signed)
		for i := range positions.Items() {
			positions.Items()[i].ID = id
		}
		return positions
	}
	d.tracker.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf(orders), Before: list(), Positions: list()})
}

func TestOwnPartIsAtMostExchangePosition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                        string
		foreign, venue, own, others exchange.Quantity // bought manually; after 10 more are sold: the exchange's, botd's and their part
	}{
		{"its part is more than there is", 7, -3, -3, 0},
		{"its part is on the other side", 25, 15, 0, 15},
		{"nothing is there", 10, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.tracker.foreignPolicy = ForeignIgnore
			d.want(
				&strategy.Plan{
					OrdersSet: true,
					Orders:    []strategy.DesiredOrder{{Key: "high", Side: exchange.Sell, Price: d.price("52000"), Quantity: 10}},
				},
			)
			d.observePosition(1, 0)
			id := d.send(d.one(placement.Order, nil))
			d.acknowledge(id, 11)
			resting := d.order(id, 11, exchange.StatusOpen, 10, 0)
			resting.Side, resting.Type = exchange.Sell, exchange.Limit
			for range 8 { // another trader buys while botd's order rests
				d.now += 1_000
				d.observePosition(1, c.foreign, resting)
			}
			symbol := d.tracker.Symbol(bitcoin)
			if symbol.Ignored() != c.foreign || symbol.Known() != 0 {
				t.Fatalf("want %d ignored, have %d and known %d", c.foreign, symbol.Ignored(), symbol.Known())
			}
			resting.Filled = 9
			d.tracker.Apply(
				&record.Record{
					AtMS:          d.now,
					ClientOrderID: id,
					Symbol:        bitcoin,
					Strategy:      "one",
					Body:          record.Ended{State: placement.Filled, Filled: 10},
				},
			)
			for range 8 { // and then botd's order fills against theirs
				d.now += 1_000
				d.observePosition(2, c.venue)
			}
			if symbol.Known() != c.own || symbol.position != c.own || symbol.Ignored() != c.others || !symbol.settled {
				t.Errorf("want botd's %d of %d and %d ignored, have known %d, position %d and ignored %d, settled %t",
					c.own, c.venue, c.others, symbol.Known(), symbol.position, symbol.Ignored(), symbol.settled)
			}
			d.target(0)
			intents := d.derive(nil)
			if want := c.own != 0; (len(intents) == 1) != want || want && intents[0].Order.Quantity != c.own.Abs() {
				t.Errorf("want an exit of %d and no more, have %+v", c.own, intents)
			}
		})
	}
}

// wallet is a tracker with one spot strategy, which a test drives step by step.
type wallet struct {
	t       testing.TB
	tracker *Tracker
	records []record.Record
	now     int64
}

var coin = exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"}

func newWallet(t testing.TB) *wallet {
	t.Helper()
	w := &wallet{t: t, now: 1_000_000}
	w.start()
	return w
}

// start restarts with what was journalled.
func (w *wallet) start() {
	w.t.Helper()
	rules, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Spot, Name: "BTC-USDT", Base: "BTC", Quote: "USDT",
		PriceTick: decimal.RequireFromString("0.1"), QuantityTick: decimal.RequireFromString("0.001"), MinNotional: decimal.NewFromInt(5),
		MaxNotional: decimal.NewFromInt(1_000_000), Tradable: true, Cancelable: true})
	if err != nil {
		w.t.Fatal(err)
	}
	records := w.records
	w.tracker, w.records = NewTracker(testSettle), nil
	w.tracker.instance = "t"
	w.tracker.Track(coin).rules = rules
	for i := range records {
		w.apply(records[i])
	}
	w.apply(record.Record{AtMS: w.now, Body: record.Boot{Epoch: w.tracker.Epoch() + 1}})
}

func (w *wallet) apply(r record.Record) {
	w.tracker.Apply(&r)
	w.records = append(w.records, r)
}

// observe fetches a wallet with the given quantity of the asset.
func (w *wallet) observe(held string, orders ...exchange.Order) {
	w.records = append(w.records, w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf(orders),
		Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount(held)}})})...)
}

// observeSold fetches a wallet with the given quantity of the asset, and an order history with a sale that botd
// did not make.
func (w *wallet) observeSold(held string, sold exchange.Quantity, orders ...exchange.Order) {
	sale := exchange.Order{ID: 77, Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Sell, Type: exchange.Limit, Quantity: sold,
		Filled: sold, Status: exchange.StatusFilled, CreatedMS: w.now}
	w.records = append(w.records, w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf(orders),
		History: exchange.FetchedOf([]exchange.Order{sale}), HistoryWhole: true,
		Balances: exchange.FetchedOf([]exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount(held)}})})...)
}

// order sends an order, which the exchange accepts.
func (w *wallet) order(orderID int64, side exchange.Side, quantity exchange.Quantity) exchange.Order {
	order := exchange.NewOrder{
		Market:        exchange.Spot,
		Symbol:        "BTC-USDT",
		Side:          side,
		Type:          exchange.Limit,
		Quantity:      quantity,
		Price:         50_000e8,
		ClientOrderID: w.tracker.NextClientOrderID("t"),
	}
	w.apply(
		record.Record{
			AtMS:          w.now,
			Strategy:      "one",
			Symbol:        coin,
			ClientOrderID: order.ClientOrderID,
			Body:          record.Sending{Order: order, Purpose: placement.Order, Key: "k", DeadlineMS: w.now + 5_000},
		},
	)
	w.apply(record.Record{AtMS: w.now, ClientOrderID: order.ClientOrderID, Body: record.Acknowledged{OrderID: orderID}})
	return exchange.Order{
		ID:            orderID,
		ClientOrderID: order.ClientOrderID,
		Market:        exchange.Spot,
		Symbol:        "BTC-USDT",
		Side:          side,
		Type:          exchange.Limit,
		Quantity:      quantity,
		Price:         order.Price,
		Status:        exchange.StatusOpen,
	}
}

// buys fills and ends an order.
func (w *wallet) buys(quantity exchange.Quantity) {
	order := w.order(5, exchange.Buy, quantity)
	w.apply(
		record.Record{
			AtMS:          w.now,
			ClientOrderID: order.ClientOrderID,
			Strategy:      "one",
			Symbol:        coin,
			Body:          record.Ended{State: placement.Filled, Filled: quantity},
		},
	)
}

func TestClockJumpDoesNotMakeWalletYounger(t *testing.T) {
	t.Parallel()
	w := newWallet(t)
	w.observe("1")
	w.now += 60_000
	w.buys(10)
	symbol := w.tracker.Symbol(coin)
	w.now += 8_000 // the clock jumps, which makes the read seem newer
	w.observe("1") // a replica from before the fill
	if symbol.Quarantine() != "" || symbol.settled {
		t.Fatalf("want the wallet waited for, have settled %t and quarantine %q", symbol.settled, symbol.Quarantine())
	}
	for range 3 {
		w.now += 900
		w.observe("1.01")
	}
	if symbol.Quarantine() != "" || !symbol.settled || symbol.position != 10 {
		t.Errorf("want it settled with 10, have settled %t, %d and quarantine %q", symbol.settled, symbol.position, symbol.Quarantine())
	}
}

func TestWalletReadLongAfterFillSettlesAfterRestart(t *testing.T) {
	t.Parallel()
	w := newWallet(t)
	w.observe("1")
	w.now += 60_000
	w.buys(10)
	w.now += 60_000
	w.start()
	w.observe("1.01")
	if symbol := w.tracker.Symbol(coin); !symbol.settled || symbol.position != 10 {
		t.Errorf("want it settled with 10, have settled %t and %d", symbol.settled, symbol.position)
	}
}

func TestClockCorrectionAtStartKeepsWalletAge(t *testing.T) {
	t.Parallel()
	w := newWallet(t)
	w.observe("1")
	w.now += 60_000
	w.buys(10)
	w.now += 8_000 // 5 s for what was lost with the process, 3 s that passed
	w.start()
	symbol := w.tracker.Symbol(coin)
	w.observe("1") // a replica from before the fill
	if symbol.Quarantine() != "" || symbol.settled {
		t.Fatalf("want the wallet waited for, have settled %t and quarantine %q", symbol.settled, symbol.Quarantine())
	}
	for range testSettle.StalenessMS/1_000 + 2 {
		w.now += 1_000
		w.observe("1.01")
	}
	if symbol.Quarantine() != "" || !symbol.settled || symbol.position != 10 {
		t.Errorf("want it settled with 10, have settled %t, %d and quarantine %q", symbol.settled, symbol.position, symbol.Quarantine())
	}
}

func TestSpotSalesAreBoundedByWalletIfJournalIsOld(t *testing.T) {
	t.Parallel()
	unknown := func(w *wallet) { w.tracker.Symbol(coin).unknownEnded = "bt-9-1" }
	for _, c := range []struct {
		name    string
		misses  func(*wallet)
		resting bool
		want    exchange.Quantity
	}{
		{"an order it does not know was seen", unknown, false, 3},
		{"and another one rests", unknown, true, 3},
		{"a restart with the symbol quarantined", func(w *wallet) {
			w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Quarantined{Reason: "orders the journal does not know"}})
			w.start()
		}, false, 3},
		{"a restart with the symbol quarantined, and one rests", func(w *wallet) {
			w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Quarantined{Reason: "orders the journal does not know"}})
			w.start()
		}, true, 3},
		{"the journal knows all of it: the wallet is older than the fill", func(*wallet) {}, false, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWallet(t)
			w.observe("1")
			w.now += 60_000
			w.buys(10)
			var orders []exchange.Order
			if c.resting {
				orders = append(orders, w.order(6, exchange.Buy, 1))
			}
			c.misses(w)
			w.now += 100
			w.observe("1.003", orders...) // 7 of the 10 were sold by orders that are missing from the journal
			symbol := w.tracker.Symbol(coin)
			if held := w.tracker.Closable(symbol); symbol.Known() != 10 || symbol.position != c.want || held != c.want {
				t.Errorf("want %d of 10 to be sold at most, have known %d, position %d, held %d", c.want, symbol.Known(), symbol.position, held)
			}
		})
	}
}

func TestOpenOrderDeclaredEndedIsCanceled(t *testing.T) {
	t.Parallel()
	w := newWallet(t)
	w.observe("1")
	w.now += 60_000
	w.buys(10)
	order := w.order(7, exchange.Sell, 10)
	w.apply(record.Record{AtMS: w.now, ClientOrderID: order.ClientOrderID, Strategy: "one", Symbol: coin, Body: record.Uncertain{Reason: "no answer"}})
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Quarantined{Reason: "a hand"}})
	for _, record := range w.tracker.Resolve(coin, true, "one", "all is well") {
		w.apply(record)
	}
	if w.tracker.LiveCount() != 0 {
		t.Fatalf("want nothing live, have %+v", slices.Collect(w.tracker.Live()))
	}
	w.now += 60_000
	w.observe("1.01", order)
	if live := slices.Collect(w.tracker.Live()); len(live) != 1 || live[0].OrderID() != 7 || !live[0].Duplicate() {
		t.Errorf("want the open order held, to be canceled, have %+v", live)
	}
}

func TestOldWalletDoesNotAllowSecondSale(t *testing.T) {
	t.Parallel()
	for _, restarted := range []bool{false, true} {
		w := newWallet(t)
		w.observe("1")
		w.now += 60_000
		w.buys(10)
		w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Quarantined{Reason: "orders the journal does not know"}})
		held := func(when string, want exchange.Quantity) {
			t.Helper()
			if have := w.tracker.Closable(w.tracker.Symbol(coin)); have != want {
				t.Errorf("restarted %t, %s: want %d to be sold at most, have %d", restarted, when, want, have)
			}
		}
		w.now += 60_000
		w.observe("1.003")
		held("7 of the 10 were sold by what the journal misses", 3)
		sale := w.order(6, exchange.Sell, 3)
		w.apply(
			record.Record{
				AtMS:          w.now,
				ClientOrderID: sale.ClientOrderID,
				Strategy:      "one",
				Symbol:        coin,
				Body:          record.Ended{State: placement.Filled, Filled: 3},
			},
		)
		if restarted {
			w.start()
		}
		w.now += 500
		w.observe("1.003")
		held("the wallet is older than the sale", 0)
		for range 3 {
			w.now += 1_000
			w.observe("1")
		}
		held("the wallet is younger", 0)
	}
}

func TestVanishedStopOfOldBackupMayHaveSold(t *testing.T) {
	t.Parallel()
	w := newWallet(t)
	w.observe("1")
	w.now += 60_000
	w.buys(10)
	stop := exchange.Order{
		ID:            7,
		ClientOrderID: "bt-1-9",
		Market:        exchange.Spot,
		Symbol:        "BTC-USDT",
		Side:          exchange.Sell,
		Type:          exchange.StopLimit,
		Quantity:      10,
		Price:         40_000e8,
		Status:        exchange.StatusNew,
	}
	held := func(when string, want exchange.Quantity) {
		t.Helper()
		if have := w.tracker.Closable(w.tracker.Symbol(coin)); have != want {
			t.Errorf("%s: want %d to be sold at most, have %d", when, want, have)
		}
	}
	w.now += 60_000
	w.observe("1.01", stop)
	held("it rests", 0)
	w.now += 60_000
	w.observe("1.01")
	held("it left the list, the wallet may be an old one", 0)
	for range testSettle.StalenessMS/1_000 + 2 {
		w.now += 1_000
		w.observe("1.01")
	}
	held("the wallet still has all of it: it was canceled", 10)
}
