package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/reconcile/account"
	"botd/reconcile/record"
	"botd/strategy"
)

// liquidations returns those in the journal.
func (w *world) liquidations() (all []record.Liquidated) {
	for i := range w.records {
		if body, is := w.records[i].Body.(record.Liquidated); is {
			all = append(all, body)
		}
	}
	return all
}

func TestLiquidationIsAnEventAndHaltsStrategy(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]option{
		"without a ledger":   {protectedFar},
		"without a stop":     {withLedger},
		"with both":          {protectedFar, withLedger},
		"foreign: adopt":     {withLedger, foreign("adopt")},
		"foreign: ignore":    {withLedger, foreign("ignore")},
		"while botd is down": {withLedger},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, hold(1_500), append(options, func(w *world) { w.config.Strategies[0].Leverage = 20 })...)
			w.pass(60_000)
			w.wantHeld(1_500)
			w.price("43500")
			if name == "while botd is down" {
				w.now += 30_000
				w.venue.Advance(w.now)
				w.start()
			}
			w.pass(30_000)
			w.wantHeld(0)
			all := w.liquidations()
			if len(all) != 1 || all[0].PositionID == 0 || all[0].Realized.Sign() >= 0 {
				t.Fatalf("want one liquidation in the journal, with its loss; have %+v\n%s", all, w.story())
			}
			noted := 0
			for i := range w.notes {
				if fact, is := w.notes[i].Fact.(NoteLiquidated); is {
					noted++
					if w.notes[i].Strategy != "one" || !strings.Contains(fact.Text, "futures BTC-USDT was liquidated") {
						t.Errorf("want its strategy and symbol named, have %+v", w.notes[i])
					}
				}
			}
			if noted != 1 {
				t.Errorf("want it reported once, have %d", noted)
			}
			if halt := w.wantState("halted"); halt.Scope != (account.Scope{Strategy: "one"}) || !strings.Contains(halt.Cause, "liquidated") {
				t.Errorf("want the strategy halted with the cause, have %+v", halt)
			}
			sent := len(w.sent)
			w.start()
			w.pass(120_000)
			w.wantSent(sent)
			w.halt(record.LevelNone, account.Scope{})
			w.pass(20_000)
			w.wantSent(sent)
			if len(w.liquidations()) != 1 {
				t.Errorf("want it journalled once, also after a restart; have %d", len(w.liquidations()))
			}
			w.halt(record.LevelNone, account.Scope{Strategy: "one"})
			if s := w.engine.Status().Strategies[0]; s.State != "running" || s.Latch != 0 {
				t.Errorf("want it released once a person rearmed it, have %s, latched %d", s.State, s.Latch)
			}
		})
	}
}

// An entry on its way opens a new position while the exchange liquidates the old one: the list shows a position all the time, only its id differs.
func TestLiquidationDuringAnEntryIsAnEvent(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]option{"without a ledger": nil, "with one": {withLedger}, "foreign: adopt": {foreign("adopt")}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			liquidatedDuringAnEntry(t, options...)
		})
	}
}

func liquidatedDuringAnEntry(t testing.TB, options ...option) {
	t.Helper()
	target := exchange.Quantity(1_500)
	w := newWorld(t, func(view *strategy.View, plan *strategy.Plan) { hold(target)(view, plan) },
		append(options, func(w *world) { w.config.Strategies[0].Leverage = 20 })...)
	w.pass(60_000)
	w.wantHeld(1_500)
	target = 1_510
	w.network = func(call *Call) fate {
		if call.Request.Operation == exchange.FuturesPlace {
			w.price("43500")
		}
		return fate{}
	}
	w.pass(60_000)
	if w.held() != 10 {
		t.Fatalf("want the later position of 10, have %d\n%s", w.held(), w.story())
	}
	if all := w.liquidations(); len(all) != 1 || all[0].PositionID == 0 || all[0].Realized.Sign() >= 0 {
		t.Fatalf("want one liquidation in the journal, with its loss; have %+v\n%s", all, w.story())
	}
	if halt := w.wantState("halted"); halt.Scope != (account.Scope{Strategy: "one"}) || !strings.Contains(halt.Cause, "liquidated") {
		t.Errorf("want the strategy halted with the cause, have %+v", halt)
	}
	w.start()
	w.pass(60_000)
	if len(w.liquidations()) != 1 {
		t.Errorf("want it journalled once, also after a restart; have %d", len(w.liquidations()))
	}
}

// protectedFar has a stop beyond the liquidation price.
func protectedFar(w *world) {
	protected(w)
	w.config.Strategies[0].Protection.StopLoss.Share = exchange.RateOne / 2
}

func TestManuallyClosedPositionIsNotALiquidation(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(10), withLedger)
	w.pass(60_000)
	w.manually(w.market(exchange.Sell, 10, true))
	w.pass(60_000)
	w.wantHeld(0)
	if all := w.liquidations(); len(all) != 0 {
		t.Errorf("want none, have %+v", all)
	}
	w.wantSound()
}

// The exchange liquidates whatever the account holds, explained or not.
func TestLiquidationOfAnUnexplainedPositionIsAnEvent(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]option{
		"before it is decided": {func(w *world) { w.config.Bounds.StalenessMS = 120_000 }},
		"quarantined":          {},
		"by the ledger":        {withLedger},
		"foreign: ignore":      {foreign("ignore"), withLedger},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			unexplainedLiquidated(t, options...)
		})
	}
}

func unexplainedLiquidated(t testing.TB, options ...option) {
	w := newWorld(t, hold(0), options...)
	w.pass(20_000)
	w.manually(exchange.Request{Operation: exchange.FuturesSetLeverage, Symbol: "BTC-USDT", Leverage: 20})
	w.manually(w.market(exchange.Buy, 1_500, false))
	w.pass(60_000)
	w.price("43500")
	w.pass(60_000)
	w.wantHeld(0)
	if all := w.liquidations(); len(all) != 1 || all[0].PositionID == 0 || all[0].Realized.Sign() >= 0 {
		t.Fatalf("want one liquidation in the journal, with its loss; have %+v\n%s", all, w.story())
	}
	w.wantState("halted")
}

func TestLiquidationOnASymbolWithoutAStrategyIsReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hold(0), withLedger)
	w.pass(20_000)
	ether := exchange.SymbolKey{Market: exchange.Futures, Name: "ETH-USDT"}
	w.manually(exchange.Request{Operation: exchange.FuturesSetLeverage, Symbol: ether.Name, Leverage: 20})
	w.manually(exchange.Request{Operation: exchange.FuturesPlace, Order: exchange.NewOrder{
		Market: exchange.Futures, Symbol: ether.Name, Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 5_000}})
	w.pass(60_000)
	low, err := w.venue.Symbol(ether).Price(decimal.RequireFromString("2000"))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.venue.SetPrice(ether, low, 0); err != nil {
		t.Fatal(err)
	}
	w.pass(60_000)
	noted := slices.IndexFunc(w.notes, func(n Note) bool { _, is := n.Fact.(NoteLiquidated); return is })
	if noted < 0 || w.notes[noted].Strategy != "" || len(w.liquidations()) != 1 {
		t.Fatalf("want the liquidation reported of no strategy, and journalled once; have note %d\n%s", noted, w.story())
	}
}
