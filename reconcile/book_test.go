package reconcile

import (
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/strategy"
)

var bitcoin = exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}

var testSettle = Settle{WindowMS: 5_000, VisibilityMS: 1_000, StalenessMS: 1_000}

// desk is a book with one futures strategy, driven by hand.
type desk struct {
	t    *testing.T
	book *Book
	now  int64
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	rules, err := exchange.NewSymbol(exchange.SymbolSpec{
		Market: exchange.Futures, Name: "BTC-USDT", Base: "BTC", Quote: "USDT",
		PriceTick: decimal.RequireFromString("0.1"), QuantityTick: decimal.RequireFromString("0.001"),
		MinNotional: decimal.NewFromInt(5), MaxNotional: decimal.NewFromInt(1_000_000), Tradable: true, Cancelable: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, book: NewBook(testSettle), now: 1_000_000}
	truth := d.book.Symbol(bitcoin)
	truth.Rules, truth.Leverage = rules, 10
	truth.Last = d.price("50000")
	d.book.Apply(&Record{Kind: RecordBoot, Epoch: 1})
	return d
}

func (d *desk) price(text string) exchange.Price {
	p, err := d.book.Symbol(bitcoin).Rules.Price(decimal.RequireFromString(text))
	if err != nil {
		d.t.Fatal(err)
	}
	return p
}

// want puts a plan in force.
func (d *desk) want(plan *strategy.Plan) {
	d.book.Apply(&Record{Kind: RecordPlan, Strategy: "one", Symbol: bitcoin, Plan: plan})
}

func (d *desk) target(quantity exchange.Quantity) {
	d.want(&strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: quantity}})
}

// derive returns what the plan needs, with the pricing record applied.
func (d *desk) derive(change func(*Wish)) []Intent {
	wish := &Wish{State: d.book.Strategy("one"), Truth: d.book.Symbol(bitcoin), Entries: true, Equity: exchange.AmountOf(10_000),
		Interval: exchange.Minute1, Collar: exchange.RateOne / 20, Leverage: 10}
	if change != nil {
		change(wish)
	}
	intents, priced := d.book.Derive(wish, d.now)
	if priced != nil {
		d.book.Apply(priced)
	}
	return intents
}

// one derives and expects exactly one intent of the purpose.
func (d *desk) one(purpose Purpose, change func(*Wish)) Intent {
	d.t.Helper()
	intents := d.derive(change)
	if len(intents) != 1 || intents[0].Purpose != purpose {
		d.t.Fatalf("want one %s, have %+v", purpose, intents)
	}
	return intents[0]
}

func (d *desk) none(change func(*Wish)) {
	d.t.Helper()
	if intents := d.derive(change); len(intents) != 0 {
		d.t.Fatalf("want nothing, have %+v", intents)
	}
}

// send journals an intent and returns its client order id.
func (d *desk) send(intent Intent) string {
	order := intent.Order
	order.ClientOrderID = d.book.NextClientOrderID("t")
	d.book.Apply(&Record{Kind: RecordSending, AtMS: d.now, Strategy: "one", Symbol: bitcoin, ClientOrderID: order.ClientOrderID,
		Order: &order, Purpose: intent.Purpose, Key: intent.Key, DeadlineMS: d.now + 5_000})
	return order.ClientOrderID
}

func (d *desk) acknowledge(id string, orderID int64) {
	d.book.Apply(&Record{Kind: RecordAcknowledged, AtMS: d.now, ClientOrderID: id, OrderID: orderID})
}

func (d *desk) unknown(id string) {
	d.book.Apply(&Record{Kind: RecordUnknown, AtMS: d.now, ClientOrderID: id, Why: "timeout"})
}

// positions is a positions list with one position, or none for zero.
func (d *desk) positions(signed exchange.Quantity) exchange.Fetched[exchange.Position] {
	if signed == 0 {
		return exchange.FetchedOf[exchange.Position](nil)
	}
	side := exchange.Long
	if signed < 0 {
		side = exchange.Short
	}
	return exchange.FetchedOf([]exchange.Position{{ID: 7, Symbol: "BTC-USDT", Side: side, Remaining: max(signed, -signed), Quantity: max(signed, -signed),
		EntryPrice: exchange.AmountOf(50_000), Leverage: 10, Status: exchange.PositionOpen}})
}

// observe fetches: open orders, looks, a position; full when before counts too.
func (d *desk) observe(signed exchange.Quantity, looks []Look, orders ...exchange.Order) []Record {
	return d.book.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf(orders),
		Before: d.positions(signed), Positions: d.positions(signed), Looked: looks, ClosedOf: []string{"BTC-USDT"}})
}

func (d *desk) order(id string, orderID int64, status exchange.OrderStatus, quantity, filled exchange.Quantity) exchange.Order {
	return exchange.Order{ID: orderID, ClientOrderID: id, Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder,
		Quantity: quantity, Filled: filled, Status: status}
}

func TestATargetIsEnteredOnceAndHeld(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.target(20)
	d.none(nil) // nothing opens before the first snapshot
	d.observe(0, nil)
	entry := d.one(Entry, nil)
	if entry.Order.Quantity != 20 || entry.Order.Side != exchange.Buy || entry.Order.ReduceOnly {
		t.Fatalf("want a buy of 20, have %+v", entry.Order)
	}
	id := d.send(entry)
	d.none(nil) // in flight: never a second one
	d.acknowledge(id, 11)
	d.none(nil)
	d.observe(20, []Look{{OrderID: 11, Known: true, Order: d.order(id, 11, exchange.StatusFilled, 20, 20)}})
	if truth := d.book.Symbol(bitcoin); truth.Known != 20 || !truth.Settled {
		t.Fatalf("want known 20 and settled, have %d, %v", truth.Known, truth.Settled)
	}
	d.none(nil)
}

func TestPartFillsAreCarriedOn(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.target(20)
	d.observe(0, nil)
	id := d.send(d.one(Entry, nil))
	d.acknowledge(id, 11)
	d.observe(8, []Look{{OrderID: 11, Known: true, Order: d.order(id, 11, exchange.StatusCanceled, 20, 8)}})
	if rest := d.one(Entry, nil); rest.Order.Quantity != 12 {
		t.Fatalf("want the rest of 12, have %d", rest.Order.Quantity)
	}
}

func TestAFlipIsAnExitSettledThenAnOpening(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.hold(20)
	d.target(-20)
	exit := d.one(Exit, nil)
	if !exit.Order.ReduceOnly || exit.Order.Quantity != 20 || exit.Order.Side != exchange.Sell {
		t.Fatalf("want a reduceOnly sell of 20, have %+v", exit.Order)
	}
	id := d.send(exit)
	d.none(nil)
	d.acknowledge(id, 12)
	filled := d.order(id, 12, exchange.StatusFilled, 20, 20)
	filled.Side = exchange.Sell
	d.observe(0, []Look{{OrderID: 12, Known: true, Order: filled}})
	if entry := d.one(Entry, nil); entry.Order.Side != exchange.Sell || entry.Order.Quantity != 20 || entry.Order.ReduceOnly {
		t.Fatalf("want an opening sell of 20, have %+v", entry.Order)
	}
}

// hold brings the book to a settled position of its own.
func (d *desk) hold(quantity exchange.Quantity) {
	d.t.Helper()
	d.target(quantity)
	d.observe(0, nil)
	id := d.send(d.one(Entry, nil))
	d.acknowledge(id, 11)
	d.observe(quantity, []Look{{OrderID: 11, Known: true, Order: d.order(id, 11, exchange.StatusFilled, quantity, quantity)}})
	d.none(nil)
}

func TestAnUnknownPlacementIsNeverSentAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		position exchange.Quantity
		state    State
		known    exchange.Quantity
	}{
		{"absent", 0, Absent, 0},
		{"filled", 20, Filled, 20},
		{"part filled", 8, Canceled, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.target(20)
			d.observe(0, nil)
			id := d.send(d.one(Entry, nil))
			d.unknown(id)
			fence := d.book.Placement(id).Fence(testSettle)
			for d.now < fence { // before the fence nothing proves anything
				d.observe(c.position, nil)
				d.none(nil)
				d.now += 1_000
			}
			var records []Record
			for range 4 { // three seconds
				if d.none(nil); len(records) > 0 {
					t.Fatalf("want it decided by snapshots three seconds apart, have %+v", records)
				}
				records = d.observe(c.position, nil)
				d.now += 1_000
			}
			last := records[len(records)-1]
			if last.Kind != RecordEnded || last.State != c.state || d.book.Symbol(bitcoin).Known != c.known {
				t.Fatalf("want ended %s known %d, have %+v known %d", c.state, c.known, last, d.book.Symbol(bitcoin).Known)
			}
		})
	}
}

func TestAnUnknownPlacementSeenInTheOpenListIsKnown(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.target(20)
	d.observe(0, nil)
	id := d.send(d.one(Entry, nil))
	d.unknown(id)
	d.observe(0, nil, d.order(id, 31, exchange.StatusOpen, 20, 0))
	if p := d.book.Placement(id); p.State != Working || p.OrderID != 31 {
		t.Fatalf("want working under order 31, have %+v", p)
	}
}

func TestAPositionThatFitsNoUnknownIsQuarantined(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.target(20)
	d.observe(0, nil)
	d.unknown(d.send(d.one(Entry, nil)))
	d.now += 20_000
	for range 4 {
		d.observe(-5, nil)
		d.now += 1_000
	}
	if d.book.Symbol(bitcoin).Quarantine == "" {
		t.Fatal("want a quarantine, have none")
	}
}

func TestAHandThatClosesThePositionLatchesTheTarget(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.hold(20)
	d.now += 1_000
	d.observe(0, nil)
	d.none(nil)   // not yet explained: nothing opens
	for range 2 { // longer than L
		d.now += 1_000
		d.observe(0, nil)
	}
	if d.book.Strategy("one").Latch != 1 || d.book.Symbol(bitcoin).Known != 0 {
		t.Fatalf("want latched long and known 0, have %d and %d", d.book.Strategy("one").Latch, d.book.Symbol(bitcoin).Known)
	}
	d.now += 60_000
	d.observe(0, nil)
	d.none(nil)
	d.target(0) // the target was zero: the latch is released
	d.target(20)
	d.one(Entry, nil)
}

func TestProtectionIsPlacedInTheRoundThePositionIsSeen(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.hold(20)
	protect := func(w *Wish) {
		w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 2_000_000}, TakeProfit: strategy.Distance{Share: 4_000_000}}
	}
	intents := d.derive(protect)
	if len(intents) != 2 {
		t.Fatalf("want a stop and a profit, have %+v", intents)
	}
	stop, profit := intents[0].Order, intents[1].Order
	if stop.Type != exchange.StopMarket || !stop.ClosePosition || stop.StopPrice != d.price("49000") || stop.Side != exchange.Sell || stop.WorkingType != exchange.ContractPrice {
		t.Errorf("want a closePosition stop at 49000, have %+v", stop)
	}
	if profit.Type != exchange.TakeProfitMarket || profit.StopPrice != d.price("52000") {
		t.Errorf("want a profit at 52000, have %+v", profit)
	}
	d.send(intents[0])
	d.send(intents[1])
	d.none(protect)
}

func TestAStopThatFillsLatches(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.hold(20)
	protect := func(w *Wish) {
		w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 2_000_000}}
	}
	id := d.send(d.one(StopLoss, protect))
	d.acknowledge(id, 41)
	stop := d.order(id, 41, exchange.StatusFilled, 0, 20)
	stop.Side = exchange.Sell
	d.observe(0, []Look{{OrderID: 41, Known: true, Order: stop}})
	d.none(protect)
	if d.book.Strategy("one").Latch != 1 {
		t.Fatal("want the long side latched")
	}
}

func TestAStopPriceAlreadyPassedExitsAtMarket(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.hold(20)
	d.book.Symbol(bitcoin).Last = d.price("48000")
	exit := d.one(StopLoss, func(w *Wish) {
		w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: 2_000_000}}
	})
	if exit.Order.Type != exchange.MarketOrder || !exit.Order.ReduceOnly || exit.Order.Quantity != 20 {
		t.Fatalf("want a reduceOnly market exit of 20, have %+v", exit.Order)
	}
}

func TestATargetByEquityIsPricedOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.want(&strategy.Plan{Target: strategy.Target{Kind: strategy.ByEquity, Share: exchange.RateOne}})
	d.observe(0, nil)
	id := d.send(d.one(Entry, nil)) // 10000 / 50000 = 0.2
	d.acknowledge(id, 11)
	d.observe(200, []Look{{OrderID: 11, Known: true, Order: d.order(id, 11, exchange.StatusFilled, 200, 200)}})
	d.book.Symbol(bitcoin).Last = d.price("25000")
	d.none(nil)
	if want, have := exchange.Quantity(200), d.book.Strategy("one").Resolved; want != have {
		t.Fatalf("want %d, have %d", want, have)
	}
}

func TestATargetThatComesBackIsPricedAnew(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	whole := &strategy.Plan{Target: strategy.Target{Kind: strategy.ByEquity, Share: exchange.RateOne}}
	d.want(whole)
	d.observe(0, nil)
	d.one(Entry, nil)
	d.want(&strategy.Plan{Target: strategy.Flat()})
	d.want(whole)
	d.book.Symbol(bitcoin).Last = d.price("25000")
	if entry := d.one(Entry, nil); entry.Order.Quantity != 400 {
		t.Fatalf("want 0.4 at half the price, have %d", entry.Order.Quantity)
	}
}

func TestLeverageComesBeforeAnyOpening(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.target(20)
	d.observe(0, nil)
	if lever := d.one(Leverage, func(w *Wish) { w.Leverage = 3 }); lever.Leverage != 3 {
		t.Fatalf("want 3, have %d", lever.Leverage)
	}
}

func TestAKeyedOrderIsReplacedByCancelConfirmPlace(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	wish := strategy.Wish{Key: "low", Side: exchange.Buy, Price: d.price("40000"), Quantity: 10}
	d.want(&strategy.Plan{Orders: []strategy.Wish{wish}, OrdersSet: true})
	d.observe(0, nil)
	id := d.send(d.one(Order, nil))
	d.acknowledge(id, 51)
	d.observe(4, nil, d.order(id, 51, exchange.StatusOpen, 10, 4))
	d.none(nil)
	wish.Price = d.price("41000")
	d.want(&strategy.Plan{Orders: []strategy.Wish{wish}, OrdersSet: true})
	if cancel := d.one(Cancel, nil); cancel.OrderID != 51 {
		t.Fatalf("want order 51 canceled, have %+v", cancel)
	}
	d.book.Placement(id).CancelMS = d.now
	d.none(nil) // not confirmed yet
	d.observe(4, []Look{{OrderID: 51, Known: true, Order: d.order(id, 51, exchange.StatusCanceled, 10, 4)}})
	if again := d.one(Order, nil); again.Order.Quantity != 6 || again.Order.Price != d.price("41000") {
		t.Fatalf("want the remainder of 6 at 41000, have %+v", again.Order)
	}
}

func TestAKeyRestsAfterTheExchangeWouldNotTakeItsOrder(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	wish := strategy.Wish{Key: "low", Side: exchange.Buy, Price: d.price("40000"), Quantity: 10, PostOnly: true}
	d.want(&strategy.Plan{Orders: []strategy.Wish{wish}, OrdersSet: true})
	d.observe(0, nil)
	for n, refuse := range []func(id string){
		func(id string) {
			d.book.Apply(&Record{Kind: RecordEnded, AtMS: d.now, ClientOrderID: id, State: Rejected})
		},
		func(id string) { d.book.Apply(&Record{Kind: RecordRefused, AtMS: d.now, ClientOrderID: id, Why: "no"}) },
	} {
		id := d.send(d.one(Order, nil))
		refuse(id)
		if _, _, empty := d.book.Tally(0); empty != n {
			t.Errorf("want %d endings without a fill that count: post-only is refused when it would match; have %d", n, empty)
		}
		d.observe(0, nil)
		d.none(nil)
		d.now += refusedMS - 1
		d.observe(0, nil)
		d.none(nil)
		d.now++
		d.observe(0, nil)
	}
	d.one(Order, nil)
}

func TestReplayingTheRecordsGivesTheSameBook(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var journal []Record
	apply := func(r Record) { d.book.Apply(&r); journal = append(journal, r) }
	d.target(20)
	d.observe(0, nil)
	entry := d.one(Entry, nil)
	order := entry.Order
	order.ClientOrderID = "bt-1-1"
	apply(Record{Kind: RecordSending, AtMS: d.now, Strategy: "one", Symbol: bitcoin, ClientOrderID: "bt-1-1", Order: &order, Purpose: Entry, DeadlineMS: d.now + 5000})
	apply(Record{Kind: RecordAcknowledged, ClientOrderID: "bt-1-1", OrderID: 9})
	apply(Record{Kind: RecordFill, ClientOrderID: "bt-1-1", OrderID: 9, Filled: 7})
	again := NewBook(testSettle)
	for i := range journal {
		again.Apply(&journal[i])
	}
	again.Apply(&Record{Kind: RecordBoot, Epoch: 2})
	if have := again.Symbol(bitcoin).Known; have != 7 {
		t.Errorf("known: want 7, have %d", have)
	}
	if p := again.Placement("bt-1-1"); p == nil || p.State != Working || p.OrderID != 9 || p.Filled != 7 {
		t.Errorf("placement: want working, order 9, filled 7, have %+v", p)
	}
}

func TestWhatWasBeingSentAtACrashIsUnknown(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.target(20)
	d.observe(0, nil)
	id := d.send(d.one(Entry, nil))
	d.book.Apply(&Record{Kind: RecordBoot, Epoch: 2})
	if have := d.book.Placement(id).State; have != Uncertain {
		t.Fatalf("want uncertain, have %s", have)
	}
}

func TestFillsNeverGoBack(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.target(20)
	d.observe(0, nil)
	id := d.send(d.one(Entry, nil))
	d.acknowledge(id, 11)
	d.observe(9, nil, d.order(id, 11, exchange.StatusOpen, 20, 9))
	d.observe(9, nil, d.order(id, 11, exchange.StatusOpen, 20, 3)) // a stale replica
	if have := d.book.Symbol(bitcoin).Known; have != 9 {
		t.Fatalf("want 9, have %d", have)
	}
}

func TestASecondInstanceIsFoundByItsOrders(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.book.Instance = "t"
	d.observe(0, nil, d.order("bt-zzz-4", 77, exchange.StatusOpen, 5, 0))
	if id := d.book.ForeignPrefix(); id != "" {
		t.Fatalf("where the journal was new the symbol is quarantined, not the account: have %s", id)
	}
	d.book.Apply(&Record{Kind: RecordAdopted, Symbol: bitcoin})
	if id := d.book.ForeignPrefix(); id == "" {
		t.Fatalf("want bt-zzz-4, have none")
	}
	d.book.Instance = "other"
	if id := d.book.ForeignPrefix(); id != "" {
		t.Fatalf("want none for another instance, have %s", id)
	}
}

func TestTheEquationWaitsForAPlacementThatIsNotAnsweredYet(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.target(10)
	d.observe(0, nil)
	first := d.send(d.one(Entry, nil))
	d.unknown(first)
	d.now += 60_000 // its fence has passed
	second := d.send(Intent{Purpose: Exit, Strategy: "one", Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Sell,
		Type: exchange.MarketOrder, Quantity: 10, ReduceOnly: true}})
	for range 8 { // both filled: the residual is not the unknown's alone
		d.now += 1_000
		if records := d.observe(0, nil); len(records) > 0 {
			t.Fatalf("want nothing decided while %s waits for its answer, have %+v", second, records)
		}
	}
}

func TestADifferenceThatFillsExplainAnewBeginsAnew(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.observe(0, nil)
	d.book.Apply(&Record{Kind: RecordSending, AtMS: d.now, Strategy: "one", Symbol: bitcoin, ClientOrderID: "grid", Purpose: Order, Key: "a", DeadlineMS: d.now,
		Order: &exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Quantity: 40, Price: 1}})
	d.acknowledge("grid", 5)
	d.now += 60_000
	for filled := range exchange.Quantity(5) { // the list is always one fill behind the position
		order := d.order("grid", 5, exchange.StatusOpen, 40, filled)
		d.observe(filled+1, nil, order)
		if why := d.book.Symbol(bitcoin).Quarantine; why != "" {
			t.Fatalf("want no quarantine while fills explain the difference, have %q", why)
		}
		d.now += 700
	}
}

func TestOnSpotAnOrderOfOursThatTheJournalDoesNotKnowIsFoundInTheHistory(t *testing.T) {
	t.Parallel()
	coin := exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"}
	history := []exchange.Order{{ID: 4, ClientOrderID: "bt-2-9", Market: exchange.Spot, Symbol: "BTC-USDT", Status: exchange.StatusFilled, Filled: 5}}
	for _, c := range []struct {
		name, sent, want string
	}{
		{"the journal is new", "", "bt-2-9"},
		{"a backup from before it", "bt-2-8", "bt-2-9"},
		{"the journal knows it", "bt-2-9", ""},
		{"the journal is newer", "bt-3-1", ""},
	} {
		book := NewBook(testSettle)
		book.Instance = "t"
		book.Symbol(coin)
		if c.sent != "" {
			book.Apply(&Record{Kind: RecordSending, Symbol: coin, ClientOrderID: c.sent, Order: &exchange.NewOrder{Market: exchange.Spot, Symbol: "BTC-USDT"}})
		}
		book.Observe(&Snapshot{Newest: history})
		if have := book.Symbol(coin).Alien; have != c.want {
			t.Errorf("%s: want %q, have %q", c.name, c.want, have)
		}
		if quarantined := book.Symbol(coin).Quarantine != ""; quarantined != (c.sent == "") {
			t.Errorf("%s: want a quarantine only where the journal is new, have %t", c.name, quarantined)
		}
		book.Apply(&Record{Kind: RecordHalt, Level: LevelPause, ClientOrderID: "bt-2-9"}) // told to a person: not again
		if have := book.Symbol(coin).Alien; have != "" {
			t.Errorf("%s: want it told once, have %q", c.name, have)
		}
	}
}

func TestNothingOpensBesideAnExitInTheNameOfAStop(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.target(10)
	d.observe(0, nil)
	id := d.send(d.one(Entry, nil))
	d.acknowledge(id, 11)
	d.observe(10, []Look{{OrderID: 11, Known: true, Order: d.order(id, 11, exchange.StatusFilled, 10, 10)}})
	d.target(20)
	d.book.Symbol(bitcoin).Last = d.price("40000")
	stop := d.one(StopLoss, func(w *Wish) {
		w.Protection = strategy.Protection{Set: true, StopLoss: strategy.Distance{Share: exchange.RateOne / 50}}
	})
	if stop.Order.Type != exchange.MarketOrder || !stop.Order.ReduceOnly {
		t.Fatalf("want the exit at market, have %+v", stop.Order)
	}
}

func TestAnEntryFilledAndClosedBeforeTheFirstLookLeavesNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.target(10)
	d.observe(0, nil)
	id := d.send(d.one(Entry, nil))
	d.unknown(id)
	created := d.now
	d.now += 60_000
	for range 4 {
		d.now += 1_000
		d.book.Observe(&Snapshot{BeganMS: d.now, EndedMS: d.now, FuturesOrders: exchange.FetchedOf[exchange.Order](nil), Before: d.positions(0), Positions: d.positions(0),
			ClosedOf: []string{"BTC-USDT"}, Closed: []exchange.Position{{ID: 9, Symbol: "BTC-USDT", Side: exchange.Long, Quantity: 10, CreatedMS: created, EntryPrice: exchange.AmountOf(50_000)}}})
	}
	truth := d.book.Symbol(bitcoin)
	if truth.Known != 0 || len(d.book.Live()) != 0 || !truth.Settled {
		t.Fatalf("want the entry and its end booked, have known %d, live %d, settled %t", truth.Known, len(d.book.Live()), truth.Settled)
	}
}

func TestBesideAPositionNothingOpensBeforeTheLeverageIsTheOneWanted(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.hold(20)
	d.target(30)
	d.book.Symbol(bitcoin).Leverage = 5
	d.one(Leverage, nil)
	d.target(10)
	intents := d.derive(nil) // what reduces does not wait
	if len(intents) != 2 || intents[1].Purpose != Exit {
		t.Fatalf("want the leverage and the exit, have %+v", intents)
	}
}
