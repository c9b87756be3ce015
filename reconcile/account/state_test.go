package account

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/record"
	"botd/strategy"
)

func TestAskingCreatesNothing(t *testing.T) {
	t.Parallel()
	s := New(Options{})
	before := s.Snapshot()
	if name, target := s.Strategy("one").Name(), s.Strategy("one").Plan().Target(); name != "one" || target.Sign() != 0 {
		t.Errorf("want an empty state of one, have %q with %+v", name, target)
	}
	if w := s.Watch("one"); w.Strategy() != "one" || w.Known() || w.Day() != (Day{}) {
		t.Errorf("want an empty watch of one, have %+v", w)
	}
	if s.Today() != (Day{}) || string(s.Snapshot()) != string(before) {
		t.Error("want an empty state as it was")
	}
	bitcoin := exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
	one, symbol := s.EnsureStrategy("one"), s.Track(bitcoin)
	if s.EnsureStrategy("one") != one || s.Strategy("one") != one || s.Track(bitcoin) != symbol || string(s.Snapshot()) != string(before) {
		t.Error("want the same empty states each time, and an unchanged snapshot")
	}
	if strategies, symbols := slices.Collect(s.Strategies()), slices.Collect(s.Symbols()); len(strategies) != 0 || len(symbols) != 0 {
		t.Errorf("want nothing in the journal, have %v and %v", strategies, symbols)
	}
	s.Apply(&record.Record{Strategy: "two", Body: record.Day{StartMS: 5}})
	s.Apply(&record.Record{Strategy: "one", Symbol: bitcoin, Body: record.Assigned{}})
	strategies, symbols := slices.Collect(s.Strategies()), slices.Collect(s.Symbols())
	if !slices.Equal(strategies, []*Strategy{one}) || !slices.Equal(symbols, []*Symbol{symbol}) || one.Symbol() != bitcoin || symbol.Owner() != "one" {
		t.Errorf("want the states returned before, changed by the record, have %+v and %+v", strategies, symbols)
	}
	if s.Watch("two").Day().StartMS != 5 || string(s.Snapshot()) == string(before) {
		t.Error("want a watch, and a snapshot that differs from the empty state's")
	}
}

// A returned plan shows the state and cannot change it.
func TestAPlanInForceIsOnlyRead(t *testing.T) {
	t.Parallel()
	s := New(Options{})
	first := &strategy.Plan{OrdersSet: true, Orders: []strategy.DesiredOrder{{Key: "low", Quantity: 3}}, ExitsSet: true, Reason: "the first"}
	s.Apply(&record.Record{Strategy: "one", Body: record.Plan{Plan: first}})
	before, plan := s.Snapshot(), s.Strategy("one").Plan()
	clone, order := plan.Clone(), plan.Orders().At(0)
	clone.Orders[0].Quantity, order.Quantity = 5, 7
	if !plan.Equal(first) || plan.Orders().Len() != 1 || plan.Orders().At(0).Quantity != 3 || string(s.Snapshot()) != string(before) {
		t.Errorf("want the plan as it was, have %+v", plan.Clone())
	}
	s.Apply(&record.Record{Strategy: "one", Body: record.Plan{Plan: &strategy.Plan{Target: strategy.Flat(), Reason: "the second"}}})
	if plan.Orders().Len() != 0 || plan.Reason() != "the second" {
		t.Errorf("want the plan that replaced it, have %+v", plan.Clone())
	}
}

// unknownBody is a body that Apply does not handle, like a new kind without a case there.
type unknownBody struct{ record.Breaker }

func TestUnknownBodyIsRefusedLoudly(t *testing.T) {
	t.Parallel()
	defer func() {
		if cause := fmt.Sprint(recover()); !strings.Contains(cause, "account.unknownBody") {
			t.Errorf("want a panic that names the body's type, have %s", cause)
		}
	}()
	New(Options{}).Apply(&record.Record{Body: unknownBody{}})
}

func TestBodiesOfEveryKindAreKnown(t *testing.T) {
	t.Parallel()
	for _, kind := range record.Kinds() {
		var r record.Record
		if err := json.Unmarshal(fmt.Appendf(nil, `{"v":3,"kind":%q,"plan":{}}`, kind), &r); err != nil || r.Kind() != kind {
			t.Fatalf("%s: want a record, have %v, %v", kind, r, err)
		}
		New(Options{}).Apply(&r)
	}
}
