package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/strategy"
)

// A futures row without an id may be another botd's: it has the size of a planned opening, or the price of botd's take-profit. It blocks nothing, but an exit
// on spot leaves that botd time to sell first (seeds 892002891, 910027396, 885500097).
func TestOrderThatMayBeAnotherBotdsDelaysSpotExits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]suspect{
		"of the planned size":                     {wait: 2 * yieldMS},
		"older than botd's own opening":           {sends: (*desk).opensAt30, wait: 4 * yieldMS},
		"younger than botd's own opening":         {sends: (*desk).opensAt30, change: atNumber31, wait: 2 * yieldMS},
		"of another size":                         {change: func(_ *desk, o *exchange.Order) { o.Quantity++ }},
		"of the other side":                       {change: func(_ *desk, o *exchange.Order) { o.Side = exchange.Sell }},
		"under a person's id":                     {change: func(_ *desk, o *exchange.Order) { o.ClientOrderID = "by hand" }},
		"in a list that has shown ids":            {change: func(d *desk, _ *exchange.Order) { d.tracker.futuresIDs.rows = minRowsWithID }},
		"on a symbol of unknown rules":            {change: func(d *desk, _ *exchange.Order) { d.tracker.Symbol(bitcoin).rules = nil }},
		"at the price of a take-profit":           {sends: (*desk).profitsAt51000, change: atTakeProfit, wait: 2 * yieldMS},
		"at that price, older than it":            {sends: (*desk).profitsAt51000, change: atTakeProfitBefore, wait: 4 * yieldMS},
		"of a take-profit's kind, at no price":    {change: atTakeProfit},
		"a stop at the price of a take-profit":    {sends: (*desk).profitsAt51000, change: stopAtTakeProfit},
		"a second one, that is older":             {sends: (*desk).opensAt30, second: 5, change: atNumber31, wait: 2 * yieldMS},
		"an unanswered opening has no id to show": {sends: (*desk).opensUnanswered, wait: 2 * yieldMS},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check(t)
		})
	}
}

// suspect is a bid of ten without an id, number 9, next to what botd has sent.
type suspect struct {
	sends  func(*desk)
	change func(*desk, *exchange.Order)
	second int64 // the number of another such bid, read later; 0 for none
	wait   int64 // how long an exit waits
}

func (d *desk) opensAt30() {
	d.rests(placement.Order, 30, exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Quantity: 3, Price: d.price("40000")})
}

func (d *desk) opensUnanswered() {
	d.send(Intent{Purpose: placement.Order, Key: "b", Order: exchange.NewOrder{Market: exchange.Futures, Symbol: bitcoin.Name, Side: exchange.Buy,
		Type: exchange.Limit, Quantity: 3, Price: d.price("40000")}})
}

func (d *desk) profitsAt51000() { d.whole(placement.TakeProfit, 6, exchange.Sell, "51000") }

func atNumber31(_ *desk, o *exchange.Order) { o.ID = 31 }

func atTakeProfit(d *desk, o *exchange.Order) {
	o.Side, o.Type, o.Price, o.StopPrice = exchange.Sell, exchange.TakeProfitMarket, 0, d.price("51000")
}

func atTakeProfitBefore(d *desk, o *exchange.Order) {
	atTakeProfit(d, o)
	o.ID = 5
}

func stopAtTakeProfit(d *desk, o *exchange.Order) {
	atTakeProfit(d, o)
	o.Type = exchange.StopMarket
}

func (c suspect) check(t testing.TB) {
	t.Helper()
	d := newDesk(t)
	d.want(&strategy.Plan{OrdersSet: true, Orders: []strategy.DesiredOrder{{Key: "a", Side: exchange.Buy, Price: d.price("49000"), Quantity: 10}}})
	if c.sends != nil {
		c.sends(d)
	}
	row := rested(9, 10)
	if c.change != nil {
		c.change(d, &row)
	}
	peers := d.tracker.survey(&Snapshot{}).peerOrders()
	symbol := d.tracker.Symbol(bitcoin)
	symbol.foreign = []exchange.Order{row}
	peers.detectUnnamedOrders(symbol)
	if c.second != 0 {
		symbol.foreign = []exchange.Order{rested(c.second, 10)}
		peers.detectUnnamedOrders(symbol)
	}
	if d.tracker.HasUnnamedPeer() || symbol.rules != nil && d.tracker.OfPlan(symbol, &row) {
		t.Error("want no opening blocked")
	}
	const decidedMS = 5_000_000
	want := int64(decidedMS) + c.wait
	if c.wait == 0 {
		want = 0
	}
	if have := d.tracker.YieldMS(d.tracker.Track(coin), decidedMS); have != want {
		t.Errorf("want an exit left to the other botd until %d, have %d", want, have)
	}
}

// After the wait the exit sells no more than the wallet shows beyond a person's units and the sales of others, and it waits longer for what a stop has freed.
func TestExitNextToASuspectSellsWhatTheWalletShows(t *testing.T) {
	t.Parallel()
	exitNextToASuspect(t, 3, unnamedReleaseMS, 4)
	exitNextToASuspect(t, 0, ExitReleaseMS, 10)
}

func exitNextToASuspect(t testing.TB, suspectedID, releaseMS int64, want exchange.Quantity) {
	t.Helper()
	w, _ := protecting(t)
	w.tracker.suspectedID = suspectedID
	w.targets(0, nil)
	w.now += 60_000
	w.shows("1.004", "0.006") // six are frozen for others
	if have := soldBy(w.derives(nil)); have != want {
		t.Errorf("want an exit of %d, have %d", want, have)
	}
	s := w.tracker.inputs(&Desired{}, w.tracker.Symbol(coin), w.now)
	if have := s.saleEvidence().exitReleaseMS(); have != releaseMS {
		t.Errorf("want %d ms after a stop's release, have %d", releaseMS, have)
	}
}

// Where lists may omit ids, a sale at the price and of the quantity of a resting exit may be another botd's, over the same units (seed 892001771).
func TestRestingExitEqualToAnUnclaimedSaleIsNotPlaced(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*wallet, *exchange.Order)
		placed bool
	}{
		"equal":                  {func(*wallet, *exchange.Order) {}, false},
		"where lists show ids":   {func(w *wallet, _ *exchange.Order) { w.tracker.idsShown = true }, true},
		"under a person's id":    {func(_ *wallet, o *exchange.Order) { o.ClientOrderID = "by hand" }, true},
		"at another price":       {func(_ *wallet, o *exchange.Order) { o.Price++ }, true},
		"of another quantity":    {func(_ *wallet, o *exchange.Order) { o.Quantity++ }, true},
		"a purchase":             {func(_ *wallet, o *exchange.Order) { o.Side = exchange.Buy }, true},
		"triggered at its price": {func(_ *wallet, o *exchange.Order) { o.StopPrice = o.Price }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exitNextToASale(t, c.change, c.placed)
		})
	}
	exitOnFuturesNextToASale(t)
}

func exitNextToASale(t testing.TB, change func(*wallet, *exchange.Order), placed bool) {
	t.Helper()
	w := holding(t, ForeignHalt)
	w.targets(10, func(plan *strategy.Plan) {
		plan.ExitsSet, plan.Exits = true, []strategy.DesiredOrder{{Key: "a", Side: exchange.Sell, Quantity: 10, Price: 51_000e8}}
	})
	row := anothers("", 20, exchange.Sell, exchange.Limit, 10, 0, w.now)
	row.Price = 51_000e8
	change(w, &row)
	symbol := w.tracker.Symbol(coin)
	symbol.last, symbol.foreign = 50_000e8, []exchange.Order{row}
	w.now += 1_000
	if have := purposes(w.derives(nil)); (len(have) == 1 && have[0] == placement.ExitOrder) != placed {
		t.Errorf("want the exit placed %t, have %v", placed, have)
	}
}

// On futures a second exit only reduces.
func exitOnFuturesNextToASale(t testing.TB) {
	t.Helper()
	d := newDesk(t)
	d.hold(20)
	row := rested(9, 20)
	row.Side, row.Price = exchange.Sell, d.price("51000")
	d.want(&strategy.Plan{Target: strategy.Target{Kind: strategy.ByQuantity, Quantity: 20}, ExitsSet: true,
		Exits: []strategy.DesiredOrder{{Key: "a", Side: exchange.Sell, Quantity: 20, Price: row.Price}}})
	d.tracker.Symbol(bitcoin).foreign = []exchange.Order{row}
	d.one(placement.ExitOrder, nil)
}
