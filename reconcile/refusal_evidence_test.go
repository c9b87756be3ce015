package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
)

// The margin before an opening is what the account uses beyond all known openings.
func TestMarginBeforeRefusedOpening(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		market  exchange.Market
		reduces bool
		unseen  bool // another opening may rest, for 40
		want    int64
		known   bool
	}{
		{"of an opening", exchange.Futures, false, false, 70, true},
		{"another opening may rest", exchange.Futures, false, true, 30, true},
		{"of a reduction", exchange.Futures, true, false, 0, false},
		{"of a purchase on spot", exchange.Spot, false, false, 0, false},
	} {
		d := newDesk(t)
		d.readsMargin(70, 0)
		bid := exchange.NewOrder{Market: c.market, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Price: d.price("40000"), Quantity: 10,
			ReduceOnly: c.reduces}
		if c.unseen {
			d.send(Intent{Purpose: placement.Order, Key: "other", Order: bid})
		}
		purpose := placement.Order
		if c.reduces {
			purpose = placement.ExitOrder
		}
		id := d.send(Intent{Purpose: purpose, Key: "r", Order: bid})
		d.now += 1_000
		d.readsMargin(90, 0)
		have := d.tracker.beforeSent(d.tracker.Placement(id))
		if want := exchange.AmountOf(c.want); !have.amount.Sub(want).IsZero() || (have.atMS != 0) != c.known {
			t.Errorf("%s: want %v, known %t, have %v at %d", c.name, want, c.known, have.amount, have.atMS)
		}
	}
}

// A refused opening needs 40 USDT of margin. The account must use half of that beyond what is known, and half of it more than before.
func TestMarginOfRefusedOpeningIsHeld(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		before, uses int64
		with         func(*RefusedOrder, *SymbolState)
		want         bool
	}{
		{"all of it", 0, 40, nil, true},
		{"half of it", 0, 20, nil, true},
		{"less than half, and much more than before", -100, 19, nil, false},
		{"much, and less than half more than before", 100, 119, nil, false},
		{"much, and half more than before", 100, 120, nil, true},
		{"what was used before is not known", 0, 40, func(r *RefusedOrder, _ *SymbolState) { r.before.atMS = 0 }, false},
		{"it reduces", 0, 40, func(r *RefusedOrder, _ *SymbolState) { r.purpose = placement.ExitOrder }, false},
		{"all of it without leverage", 0, 400, func(_ *RefusedOrder, symbol *SymbolState) { symbol.leverage = 1 }, true},
		{"the account was read at the first millisecond", 0, 40, func(r *RefusedOrder, _ *SymbolState) { r.before.atMS = 1 }, true},
	} {
		d := newDesk(t)
		d.readsMargin(0, 0)
		d.refusedBid(false)
		r := &d.tracker.refused[0]
		r.before.amount = exchange.AmountOf(c.before)
		if c.with != nil {
			c.with(r, d.tracker.Symbol(bitcoin))
		}
		reads := func(uses int64) *survey {
			s := d.tracker.survey(&Snapshot{BeganMS: d.now, EndedMS: d.now, Account: &exchange.MarginAccount{OrderMargin: exchange.AmountOf(uses)}})
			d.tracker.observedAccount.note(s.fetched)
			return s
		}
		if have := reads(c.uses).refusalChecks().holdsMargin(r); have != c.want || (r.paid.sinceMS != 0) != c.want {
			t.Errorf("%s: want it held: %t, have %t since %d", c.name, c.want, have, r.paid.sinceMS)
		}
		sinceMS := r.paid.sinceMS
		if reads(-400).refusalChecks().holdsMargin(r); r.paid.sinceMS != sinceMS {
			t.Errorf("%s: want an old list to end nothing, have it since %d", c.name, r.paid.sinceMS)
		}
		if reads(c.before).refusalChecks().holdsMargin(r) || r.paid.sinceMS != 0 {
			t.Errorf("%s: want the time to end with the margin, have it since %d", c.name, r.paid.sinceMS)
		}
	}
}

// Only margin that a futures opening has used for longer than L contradicts the lists.
func TestMarginContradictsAfterStaleness(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		key   exchange.SymbolKey
		forMS int64
		want  bool
	}{
		"longer than L":              {bitcoin, testSettle.StalenessMS + 1, true},
		"for L":                      {bitcoin, testSettle.StalenessMS, false},
		"on spot it is the wallet's": {coin, testSettle.StalenessMS + 1, false},
	} {
		d := newDesk(t)
		symbol := d.tracker.Track(c.key)
		d.tracker.refused = []RefusedOrder{{Symbol: c.key, purpose: placement.Order,
			paid: persistence{sinceMS: 1, lastMS: d.now, forMS: c.forMS}}}
		if have := d.tracker.marginContradicts(symbol, d.tracker.Bounds().StalenessMS); have != c.want {
			t.Errorf("%s: want %t, have %t", name, c.want, have)
		}
	}
}

// Several refused purchases count together, from the oldest that the wallet shows.
func TestRefusedPurchasesAreSummedFromTheOldest(t *testing.T) {
	t.Parallel()
	of := func(sentMS int64, bought exchange.Quantity) RefusedOrder {
		return RefusedOrder{Symbol: coin, SentMS: sentMS, bought: bought}
	}
	elsewhere := of(10, 9)
	elsewhere.Symbol.Name = "ETH-USDT"
	for name, c := range map[string]struct {
		refused []RefusedOrder
		bought  exchange.Quantity
		sinceMS int64
	}{
		"none is shown":                  {[]RefusedOrder{of(50, 0)}, 0, 0},
		"a single step":                  {[]RefusedOrder{of(50, 1)}, 1, 50},
		"the older one first":            {[]RefusedOrder{of(50, 2), of(60, 3)}, 5, 50},
		"the younger one first":          {[]RefusedOrder{of(60, 3), of(50, 2)}, 5, 50},
		"the oldest one is not shown":    {[]RefusedOrder{of(40, 0), of(60, 3)}, 3, 60},
		"the younger one is not shown":   {[]RefusedOrder{of(40, 3), of(60, 0)}, 3, 40},
		"an older one of another symbol": {[]RefusedOrder{elsewhere, of(60, 3)}, 3, 60},
	} {
		w := holding(t, ForeignHalt)
		w.tracker.refused = c.refused
		bought, sinceMS := w.reads(1_010, 0).unlistedOrders().noteRefusedPurchases(w.tracker.Symbol(coin))
		if bought != c.bought || sinceMS != c.sinceMS {
			t.Errorf("%s: want %d since %d, have %d since %d", name, c.bought, c.sinceMS, bought, sinceMS)
		}
	}
}

// The wallet shows that a refused purchase was paid, if it was read after the refusal.
func TestRefusedPurchaseIsPaidByTheWallet(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		with func(r *RefusedOrder, nowMS int64)
		want exchange.Quantity
	}{
		"so it is":                       {func(*RefusedOrder, int64) {}, 10},
		"read as the refusal arrived":    {func(r *RefusedOrder, nowMS int64) { r.atMS = nowMS }, 0},
		"read a moment after it arrived": {func(r *RefusedOrder, nowMS int64) { r.atMS = nowMS - 1 }, 10},
	} {
		w, _ := refusedPurchase(t, 0)
		before := w.tracker.refused[0]
		w.hasMoney("1.01", "0", "9500")
		s := w.tracker.survey(&Snapshot{BeganMS: w.now, EndedMS: w.now, Balances: exchange.FetchedOf(w.tracker.balances)})
		c.with(&before, w.now)
		if have := s.walletEvidence().boughtDespiteRefusal(&before, w.tracker.Symbol(coin)); have != c.want {
			t.Errorf("%s: want %d, have %d", name, c.want, have)
		}
	}
}

// A row repeats a refused purchase that the wallet shows, if it was created within seconds of it.
func TestRowRepeatsRefusedPurchaseThatWasPaid(t *testing.T) {
	t.Parallel()
	order := exchange.NewOrder{Market: exchange.Spot, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder,
		QuoteAmount: exchange.AmountOf(500)}
	for name, c := range map[string]struct {
		bought exchange.Quantity
		offMS  int64
		paid   bool
		want   bool
	}{
		"at once":                      {10, 0, true, true},
		"a single step":                {1, 0, true, true},
		"the wallet does not show it":  {0, 0, false, false},
		"as late as it may be":         {10, repeatedMS, true, true},
		"too late":                     {10, repeatedMS + 1, true, false},
		"as early as it may be":        {10, -repeatedMS, true, true},
		"earlier than it may be":       {10, -repeatedMS - 1, true, false},
		"not shown, and at a distance": {0, repeatedMS, false, false},
	} {
		w := holding(t, ForeignHalt)
		w.tracker.refused = []RefusedOrder{{Symbol: coin, SentMS: w.now, order: order, bought: c.bought}}
		row := exchange.Order{ID: 70, Market: order.Market, Symbol: order.Symbol, Side: order.Side, Type: order.Type, QuoteAmount: order.QuoteAmount,
			CreatedMS: w.now + c.offMS}
		if have := w.tracker.repeatsRefused(&row); have != c.want {
			t.Errorf("%s: want it repeated: %t, have %t", name, c.want, have)
		}
		if have := w.tracker.paidFor(w.tracker.Symbol(coin)); have != c.paid {
			t.Errorf("%s: want it paid: %t, have %t", name, c.paid, have)
		}
	}
	w := holding(t, ForeignHalt)
	if w.tracker.Symbol(coin).spot.inherited.quantity = 1; !w.tracker.paidFor(w.tracker.Symbol(coin)) {
		t.Error("want what a wallet showed before this start paid for")
	}
}

// While the wallet shows a refused purchase, the refusal is not confirmed. After L it needs manual resolution.
func TestPurchaseShownByTheWalletKeepsItsRefusal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bought, inferred exchange.Quantity
		forMS            int64
		with             func(*wallet)
		want, checked    bool
	}{
		"the wallet does not show it":             {0, 10, 0, nil, false, false},
		"it shows it":                             {10, 10, 0, nil, true, false},
		"it shows a single step":                  {1, 1, testSettle.StalenessMS + 1, nil, true, true},
		"for L":                                   {10, 10, testSettle.StalenessMS, nil, true, false},
		"for longer":                              {10, 10, testSettle.StalenessMS + 1, nil, true, true},
		"it shows it no longer":                   {10, 0, testSettle.StalenessMS + 1, nil, false, false},
		"no longer, and a person must check":      {10, 0, 0, func(w *wallet) { w.apply(quarantineOf("a test")) }, true, true},
		"no longer, and a list may yet show more": {10, 0, 0, func(w *wallet) { w.tracker.Symbol(coin).refusedMS = w.now }, true, false},
	} {
		w := holding(t, ForeignHalt)
		symbol := w.tracker.Symbol(coin)
		if symbol.spot.unlisted.inferred = c.inferred; c.with != nil {
			c.with(w)
		}
		paid := persistence{}
		if c.forMS > 0 {
			paid = persistence{sinceMS: 1, lastMS: w.now, forMS: c.forMS}
		}
		w.tracker.refused = []RefusedOrder{{Symbol: coin, SentMS: w.now, bought: c.bought, paid: paid}}
		s := w.tracker.survey(&Snapshot{BeganMS: w.now, EndedMS: w.now})
		if have := s.refusalChecks().executedUnlisted(&w.tracker.refused[0]); have != c.want || (symbol.Quarantine() != "") != c.checked {
			t.Errorf("%s: want it unlisted: %t, and checked: %t, have %t, %q", name, c.want, c.checked, have, symbol.Quarantine())
		}
	}
}
