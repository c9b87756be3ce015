package account

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/record"
)

func TestAskingCreatesNothing(t *testing.T) {
	t.Parallel()
	s := New(Options{})
	before := s.Snapshot()
	if name, plan := s.Strategy("one").Name(), s.Strategy("one").Plan(); name != "one" || plan.Target.Sign() != 0 {
		t.Errorf("want an empty state of one, have %q with %+v", name, plan)
	}
	if w := s.Watch("one"); w.Strategy() != "one" || w.Known() || w.Day() != (Day{}) {
		t.Errorf("want an empty watch of one, have %+v", w)
	}
	if s.Today() != (Day{}) || string(s.Snapshot()) != string(before) {
		t.Error("want an empty state as it was")
	}
	s.Enlist("one")
	s.Apply(&record.Record{Strategy: "two", Body: record.Day{StartMS: 5}})
	s.Track(exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"})
	strategies, symbols := slices.Collect(s.Strategies()), slices.Collect(s.Symbols())
	if len(strategies) != 1 || s.Watch("two").Day().StartMS != 5 || len(symbols) != 1 {
		t.Errorf("want one strategy, one watch and one symbol, have %d, %+v and %d", len(strategies), s.Watch("two").Day(), len(symbols))
	}
}

// unknownBody is a body that Apply does not know, as one would be whose rule was forgotten.
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
