package risk

import (
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/internal/reconciletest"
	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

var bitcoin = exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}

// table is a tracker with a settled futures symbol at 50000 and 10000 USDT.
type table struct {
	t       *testing.T
	tracker *reconcile.Tracker
	state   *reconcile.SymbolState
	gate    *Gate
	facts   Facts
}

func newTable(t *testing.T, limits Limits) *table {
	t.Helper()
	rules, err := exchange.NewSymbol(exchange.SymbolSpec{
		Market: exchange.Futures, Name: "BTC-USDT", Base: "BTC", Quote: "USDT",
		PriceTick: decimal.RequireFromString("0.1"), QuantityTick: decimal.RequireFromString("0.001"),
		MinNotional: decimal.NewFromInt(5), MaxNotional: decimal.NewFromInt(1_000_000), Tradable: true, Cancelable: true,
		Brackets: []exchange.Bracket{
			{Max: exchange.AmountOf(250_000), MaxLeverage: 50},
			{Min: exchange.AmountOf(250_000), Max: exchange.AmountOf(1_000_000), MaxLeverage: 20},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	tracker := reconcile.NewTracker(placement.Bounds{})
	state := tracker.Track(bitcoin)
	see(state, func(o *seen) {
		o.Rules, o.Leverage, o.Last, o.LastMS, o.Read, o.Settled = rules, 10, 50_000e8, 1_000, true, true
	})
	*reconciletest.Of(tracker).AccountMS = 1_000
	*reconciletest.Of(tracker).Account = exchange.MarginAccount{WalletBalance: exchange.AmountOf(10_000), AvailableBalance: exchange.AmountOf(10_000)}
	equity := exchange.AmountOf(10_000)
	return &table{t, tracker, state, NewGate(limits), Facts{NowMS: 2_000, Tracker: tracker, State: state, Market: equity, Equity: equity, Own: equity}}
}

func (b *table) check(intent reconcile.Intent) *Rejection {
	b.t.Helper()
	intent.Strategy, intent.Order.Market, intent.Order.Symbol = "one", b.state.Key().Market, "BTC-USDT"
	approved, rejection := b.gate.Check(&intent, &b.facts)
	if rejection == nil && approved.Intent().Order != intent.Order {
		b.t.Errorf("approved something else: want %+v, have %+v", intent.Order, approved.Intent().Order)
	}
	return rejection
}

func (b *table) live(id string, order exchange.NewOrder, purpose placement.Purpose) {
	order.Market, order.Symbol, order.ClientOrderID = b.state.Key().Market, "BTC-USDT", id
	b.tracker.Apply(&record.Record{Strategy: "one", Symbol: b.state.Key(), ClientOrderID: id, Body: record.Sending{Order: order, Purpose: purpose}})
	b.tracker.Apply(&record.Record{ClientOrderID: id, Body: record.Acknowledged{OrderID: 5}})
}

func entry(quantity exchange.Quantity) reconcile.Intent {
	return reconcile.Intent{Purpose: placement.Entry, Order: exchange.NewOrder{Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: quantity}}
}

func exit(quantity exchange.Quantity, side exchange.Side) reconcile.Intent {
	return reconcile.Intent{Purpose: placement.Exit, Order: exchange.NewOrder{Side: side, Type: exchange.MarketOrder, Quantity: quantity, ReduceOnly: true}}
}

func limit(price exchange.Price, quantity exchange.Quantity) reconcile.Intent {
	return reconcile.Intent{Purpose: placement.Order, Key: "k",
		Order: exchange.NewOrder{Side: exchange.Buy, Type: exchange.Limit, Price: price, Quantity: quantity}}
}

func selling(intent reconcile.Intent) reconcile.Intent {
	intent.Order.Side = exchange.Sell
	return intent
}

// quote is one side of a market maker's quotes.
func quote(side exchange.Side, price exchange.Price) reconcile.Intent {
	intent := limit(price, 100)
	intent.Order.Side, intent.Order.PostOnly = side, true
	return intent
}

// sending puts a resting order in flight, without an answer.
func (b *table) sending(id string, order exchange.NewOrder) {
	order.Market, order.Symbol, order.ClientOrderID = exchange.Futures, "BTC-USDT", id
	b.tracker.Apply(&record.Record{Strategy: "one", Symbol: bitcoin, ClientOrderID: id, Body: record.Sending{Order: order, Purpose: placement.Order}})
}

func stop(price exchange.Price) reconcile.Intent {
	return reconcile.Intent{Purpose: placement.StopLoss, Order: exchange.NewOrder{Side: exchange.Sell, Type: exchange.StopMarket, StopPrice: price,
		ClosePosition: true, WorkingType: exchange.ContractPrice}}
}

// An order without a valid type is refused even if the symbol lists no types.
func TestInvalidOrderTypeIsRefused(t *testing.T) {
	t.Parallel()
	for _, kind := range []exchange.OrderType{0, exchange.TakeProfitMarket + 1} {
		b := newTable(t, Limits{})
		b.change(func(s *exchange.Symbol) { s.OrderTypes = nil })
		if rejection := b.check(with(entry(100), func(o *exchange.NewOrder) { o.Type = kind })); rejection == nil || rejection.Rule != "shape" {
			t.Errorf("type %d: want it refused by its shape, have %v", kind, rejection)
		}
	}
}

func TestFuturesOnlyFieldsAreRefusedOnSpot(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*exchange.NewOrder){
		"":              func(*exchange.NewOrder) {},
		"postOnly":      func(o *exchange.NewOrder) { o.PostOnly = true },
		"reduceOnly":    func(o *exchange.NewOrder) { o.ReduceOnly = true },
		"closePosition": func(o *exchange.NewOrder) { o.ClosePosition = true },
	} {
		rejection := spotTable(t).check(with(limit(40_000e8, 100), change))
		if name == "" && rejection != nil || name != "" && (rejection == nil || rejection.Rule != "shape" || rejection.Limit != "none on spot") {
			t.Errorf("%q: want it refused by its shape where it is given, have %v", name, rejection)
		}
	}
}

func TestEveryRuleRefusesAndLetsPass(t *testing.T) {
	t.Parallel()
	long := func(b *table) { b.hold(100) }
	for _, c := range []struct {
		name   string
		limits Limits
		set    func(*table)
		intent reconcile.Intent
		rule   string // empty: passes
	}{
		{"an ordinary entry passes", Limits{}, nil, entry(100), ""},
		{"rules not fetched", Limits{}, func(b *table) { see(b.state, func(o *seen) { o.Rules = nil }) }, entry(100), "symbol"},
		{"not tradable", Limits{}, func(b *table) { b.change(func(s *exchange.Symbol) { s.Tradable = false }) }, entry(100), "symbol"},
		{"reduce-only symbol", Limits{}, func(b *table) { b.change(func(s *exchange.Symbol) { s.ReduceOnly = true }) }, entry(100), "symbol"},
		{"reduce-only symbol lets an exit pass", Limits{}, func(b *table) {
			long(b)
			b.change(func(s *exchange.Symbol) { s.ReduceOnly = true })
		}, exit(100, exchange.Sell), ""},
		{"no price", Limits{}, func(b *table) { see(b.state, func(o *seen) { o.Last = 0 }) }, entry(100), "price"},
		{"a price of the smallest unit", Limits{PriceCollar: exchange.RateOne}, func(b *table) {
			see(b.state, func(o *seen) { o.Last = 1 })
			b.change(func(s *exchange.Symbol) { s.PriceTick, s.MinNotional = 1, exchange.Amount{} })
		}, limit(1, 100), ""},
		{"price off its tick", Limits{}, nil, limit(49_999.95e8, 100), "price_tick"},
		{"price on its tick", Limits{}, nil, limit(49_999.9e8, 100), ""},
		{"no quantity", Limits{}, nil, entry(0), "quantity_tick"},
		{"below minNotional", Limits{}, func(b *table) { see(b.state, func(o *seen) { o.Last = 4_999e8 }) }, entry(1), "notional"},
		{"at minNotional", Limits{}, func(b *table) { see(b.state, func(o *seen) { o.Last = 5_000e8 }) }, entry(1), ""},
		{"above maxNotional", Limits{}, nil, entry(20_001), "notional"},
		{"reduceOnly without a position", Limits{}, nil, exit(100, exchange.Sell), "reduce_only"},
		{"reduceOnly on the position's side", Limits{}, long, exit(100, exchange.Buy), "reduce_only"},
		{"reduceOnly of more than is left", Limits{}, long, exit(101, exchange.Sell), "reduce_only"},
		{"reduceOnly where the ignored part puts the exchange's position on the other side", Limits{}, func(b *table) {
			long(b)
			b.ignore(-150)
		}, exit(50, exchange.Sell), "reduce_only"},
		{"reduceOnly beside what is ignored on the same side", Limits{}, func(b *table) { long(b); b.ignore(150) }, exit(100, exchange.Sell), ""},
		{"reduceOnly of all", Limits{}, long, exit(100, exchange.Sell), ""},
		{"reduceOnly sum", Limits{}, func(b *table) {
			long(b)
			b.live("a", exchange.NewOrder{Side: exchange.Sell, Type: exchange.Limit, Price: 60_000e8, Quantity: 60, ReduceOnly: true}, placement.ExitOrder)
		}, exit(41, exchange.Sell), "reduce_only_sum"},
		{"reduceOnly sum at its limit", Limits{}, func(b *table) {
			long(b)
			b.live("a", exchange.NewOrder{Side: exchange.Sell, Type: exchange.Limit, Price: 60_000e8, Quantity: 60, ReduceOnly: true}, placement.ExitOrder)
		}, exit(40, exchange.Sell), ""},
		{"a stop above the price", Limits{}, long, stop(50_000e8), "close_position"},
		{"a stop below the price", Limits{}, long, stop(49_999.9e8), ""},
		{"a second stop", Limits{}, func(b *table) { long(b); b.live("a", stop(40_000e8).Order, placement.StopLoss) }, stop(49_000e8), "close_position"},
		{"halted", Limits{}, func(b *table) { b.halt() }, entry(100), "halted"},
		{"halted lets an exit pass", Limits{}, func(b *table) { long(b); b.halt() }, exit(100, exchange.Sell), ""},
		{"blind", Limits{}, func(b *table) { b.facts.Blind = true }, entry(100), "halted"},
		{"quarantined", Limits{}, func(b *table) { b.quarantine() }, entry(100), "unsettled"},
		{"not read", Limits{}, func(b *table) { see(b.state, func(o *seen) { o.Read = false }) }, entry(100), "unsettled"},
		{"something uncertain", Limits{}, func(b *table) {
			b.live("a", entry(100).Order, placement.Entry)
			b.tracker.Apply(&record.Record{ClientOrderID: "a", Body: record.Uncertain{}})
		}, entry(100), "unsettled"},
		{"something uncertain lets an exit pass", Limits{}, func(b *table) {
			long(b)
			b.live("a", entry(100).Order, placement.Entry)
			b.tracker.Apply(&record.Record{ClientOrderID: "a", Body: record.Uncertain{}})
		}, exit(100, exchange.Sell), ""},
		{"old price", Limits{MaxDataAgeMS: 500}, nil, entry(100), "max_data_age"},
		{"both sides of the quotes", Limits{}, func(b *table) { b.live("a", quote(exchange.Sell, 51_000e8).Order, placement.Order) },
			quote(exchange.Buy, 49_000e8), ""},
		{"beside an opening that may take", Limits{}, func(b *table) { b.live("a", selling(limit(51_000e8, 100)).Order, placement.Order) },
			quote(exchange.Buy, 49_000e8), "opposite"},
		{"an opening that may take beside a quote", Limits{}, func(b *table) { b.live("a", quote(exchange.Sell, 51_000e8).Order, placement.Order) },
			limit(49_000e8, 100), "opposite"},
		{"a quote beside one that is not answered", Limits{}, func(b *table) { b.sending("a", quote(exchange.Sell, 51_000e8).Order) },
			quote(exchange.Buy, 49_000e8), "unsettled"},
		{"a quote against a position", Limits{}, func(b *table) {
			see(b.state, func(o *seen) {
				o.Position = -100
			})
		}, quote(exchange.Buy, 49_000e8), "opposite"},
		{"a quote beside a part filled one", Limits{}, func(b *table) {
			b.live("a", quote(exchange.Sell, 51_000e8).Order, placement.Order)
			b.tracker.Apply(&record.Record{ClientOrderID: "a", Body: record.Fill{Filled: 10}})
		}, quote(exchange.Buy, 49_000e8), "opposite"},
		{"against the position", Limits{}, func(b *table) { see(b.state, func(o *seen) { o.Position = -100 }) }, entry(100), "opposite"},
		{"leverage not known", Limits{}, func(b *table) { see(b.state, func(o *seen) { o.Leverage = 0 }) }, entry(100), "leverage"},
		{"leverage above the bracket", Limits{}, func(b *table) { see(b.state, func(o *seen) { o.Leverage = 21 }) }, entry(5_001), "leverage"},
		{"leverage above the user's", Limits{MaxLeverage: 5}, nil, entry(100), "max_leverage"},
		{"margin", Limits{}, nil, entry(2_001), "margin"},
		{"margin at its limit", Limits{}, nil, entry(2_000), ""},
		{"margin with one in flight", Limits{}, func(b *table) { b.live("a", entry(1_000).Order, placement.Entry) }, entry(1_001), "margin"},
		{"position limit", Limits{MaxPosition: exchange.MustAmount("0.099")}, nil, entry(100), "max_position"},
		{"position limit with one in flight", Limits{MaxPosition: exchange.MustAmount("0.1")}, func(b *table) {
			b.live("a", entry(1).Order, placement.Entry)
		}, entry(100), "max_position"},
		{"gross exposure", Limits{MaxGrossExposure: exchange.RateOne}, nil, entry(201), "max_gross_exposure"},
		{"gross exposure at its limit", Limits{MaxGrossExposure: exchange.RateOne}, nil, entry(200), ""},
		{"daily loss", Limits{MaxDailyLoss: Loss{Share: 5_000_000}}, func(b *table) { b.day(10_527, 0) }, entry(100), "max_daily_loss"},
		{"daily loss within", Limits{MaxDailyLoss: Loss{Share: 5_000_000}}, func(b *table) { b.day(10_526, 0) }, entry(100), ""},
		{"drawdown", Limits{MaxDrawdown: Loss{Share: 20_000_000}}, func(b *table) { b.day(10_000, 12_501) }, entry(100), "max_drawdown"},
		{"open orders", Limits{MaxOpenOrders: 1}, func(b *table) { b.live("a", limit(40_000e8, 1).Order, placement.Order) }, entry(100), "max_open_orders"},
		{"collar", Limits{PriceCollar: 5_000_000}, nil, limit(52_500.1e8, 100), "price_collar"},
		{"collar at its limit", Limits{PriceCollar: 5_000_000}, nil, limit(52_500e8, 100), ""},
		{"setting too much leverage", Limits{MaxLeverage: 5}, nil, reconcile.Intent{Purpose: placement.Leverage, Leverage: 6}, "max_leverage"},
		{"opening with leverage on a symbol without margin levels", Limits{}, unbracketed, entry(100), "leverage"},
		{"setting leverage on a symbol without margin levels", Limits{}, unbracketed,
			reconcile.Intent{Purpose: placement.Leverage, Leverage: 2}, "leverage"},
		{"setting leverage 1 there", Limits{}, unbracketed, reconcile.Intent{Purpose: placement.Leverage, Leverage: 1}, ""},
		{"opening with leverage 1 there", Limits{}, func(b *table) { unbracketed(b); see(b.state, func(o *seen) { o.Leverage = 1 }) }, entry(100), ""},
		{"an exit there", Limits{}, func(b *table) { unbracketed(b); long(b) }, exit(100, exchange.Sell), ""},
		{"setting more than the bracket", Limits{}, nil, reconcile.Intent{Purpose: placement.Leverage, Leverage: 51}, "leverage"},
		{"a cancel passes a halt", Limits{}, func(b *table) { b.halt() }, reconcile.Intent{Purpose: placement.Cancel, OrderID: 5}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newTable(t, c.limits)
			if c.set != nil {
				c.set(b)
			}
			rejection := b.check(c.intent)
			have := ""
			if rejection != nil {
				have = rejection.Rule
				if rejection.Value == "" || rejection.Limit == "" || rejection.Hint == "" {
					t.Errorf("want a refusal with value, limit and hint: have %+v", rejection)
				}
			}
			if have != c.rule {
				t.Errorf("rule: want %q, have %q (%v)", c.rule, have, rejection)
			}
		})
	}
}

// unbracketed is a symbol for which the exchange has sent no margin brackets.
func unbracketed(b *table) { b.change(func(s *exchange.Symbol) { s.Brackets = nil }) }

func (b *table) change(f func(*exchange.Symbol)) {
	rules := *b.state.Rules()
	f(&rules)
	see(b.state, func(o *seen) { o.Rules = &rules })
}

func (b *table) halt() {
	b.tracker.Apply(&record.Record{Body: record.Halt{Level: record.LevelPause, Reason: "a test"}})
}

func (b *table) day(start, peak int64) {
	b.tracker.Apply(&record.Record{Body: record.Day{StartMS: 1, Equity: exchange.AmountOf(start), Peak: exchange.AmountOf(peak)}})
}

// sent records a placement in the tracker that ends immediately.
func (b *table) sent(id, strategy string, atMS int64) {
	order := exchange.NewOrder{Market: b.state.Key().Market, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 1}
	b.tracker.Apply(&record.Record{AtMS: atMS, Strategy: strategy, Symbol: b.state.Key(), ClientOrderID: id, Body: record.Sending{Order: order,
		Purpose: placement.Entry}})
	b.tracker.Apply(&record.Record{AtMS: atMS, ClientOrderID: id, Body: record.Ended{State: placement.Absent}})
}

func TestOrdersPerMinuteAreCountedFromTheJournal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		account, own int
		refused      bool
	}{{"below both", 3, 2, false}, {"at the account's", 2, 0, true}, {"at the strategy's own", 0, 1, true}, {"another strategy's do not count", 3, 2,
		false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newTable(t, Limits{MaxOrdersPerMinute: c.account})
			b.facts.Strategy.MaxOrdersPerMinute = c.own
			b.facts.NowMS = 61_999
			b.sent("old", "one", 1_999) // a minute ago: no longer counted
			b.sent("a", "one", 2_000)
			b.sent("b", "two", 60_000)
			if rejection := b.check(entry(100)); (rejection != nil) != c.refused || rejection != nil && rejection.Rule != MaxOrdersPerMinute {
				t.Fatalf("want refused %t, have %v", c.refused, rejection)
			}
		})
	}
}

func TestTheStrategysLimitIsTheTighter(t *testing.T) {
	t.Parallel()
	b := newTable(t, Limits{MaxPosition: exchange.MustAmount("1")})
	b.facts.Strategy = Limits{MaxPosition: exchange.MustAmount("0.05")}
	if rejection := b.check(entry(51)); rejection == nil || !strings.Contains(rejection.Limit, "0.05") {
		t.Fatalf("want refused at 0.05, have %v", rejection)
	}
}

func TestAnApprovedNoGateMadePanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("want a panic, have an intent")
		}
	}()
	Approved{}.Intent()
}

// hold gives the account a position that botd's fills explain.
func (b *table) hold(quantity exchange.Quantity) {
	b.tracker.Apply(&record.Record{Symbol: b.state.Key(), Body: record.Adopted{Quantity: quantity - b.state.Known()}})
	see(b.state, func(o *seen) { o.Position = quantity })
}

// ignore adds a quantity to the exchange's position and leaves it to others.
func (b *table) ignore(quantity exchange.Quantity) {
	position := b.state.Position()
	b.tracker.Apply(&record.Record{Symbol: b.state.Key(), Body: record.Ignored{Quantity: quantity}})
	see(b.state, func(o *seen) { o.Position = position })
}

func (b *table) quarantine() {
	b.tracker.Apply(&record.Record{Symbol: b.state.Key(), Body: record.Quarantined{Reason: "why"}})
}

// The rejection names a foreign order that may open, and under each policy one that equals an order of botd's.
func TestRefusalNamesTheForeignOpening(t *testing.T) {
	t.Parallel()
	for policy, wants := range map[string][2]string{
		reconcile.ForeignHalt:  {"order 9, not placed by botd", "order 9 equals one of botd's"},
		reconcile.ForeignAdopt: {"", "order 9 equals one of botd's"},
	} {
		for i, want := range wants {
			b := newTable(t, Limits{})
			b.tracker.Configure(reconcile.Settings{Foreign: policy})
			order := limit(40_000e8, 10).Order
			b.live("b1", order, placement.Order)
			row := exchange.Order{ID: 9, Market: exchange.Futures, Symbol: "BTC-USDT", Side: order.Side, Type: order.Type, Price: order.Price, Quantity: 10}
			if i == 0 {
				row.Quantity = 11
			}
			b.others(row)
			if rejection := b.check(limit(39_000e8, 10)); (rejection == nil) != (want == "") || rejection != nil && !strings.Contains(rejection.Error(), want) {
				t.Errorf("%s: want %q, have %v", policy, want, rejection)
			}
		}
	}
}
