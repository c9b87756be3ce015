package api

import (
	"botd/runtime/engine"
	"botd/runtime/view"

	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"botd/exchange"
	"botd/internal/enginetest"
	"botd/reconcile/account"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

func (d *desk) take(records ...record.Record) {
	for i := range records {
		d.history.Apply(&records[i])
	}
}

func sending(atMS int64, id string) record.Record {
	return record.Record{AtMS: atMS, Strategy: "trend", Symbol: bitcoin.Key(), ClientOrderID: id, Body: record.Sending{Purpose: placement.Entry,
		Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 30}}}
}

func TestAnOrdersLifeIsReadFromTheJournal(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.take(sending(1, "a"),
		record.Record{AtMS: 2, ClientOrderID: "a", Body: record.Acknowledged{OrderID: 11}},
		record.Record{AtMS: 3, ClientOrderID: "a", Body: record.Fill{Filled: 10, Price: enginetest.Amount(t, "50000")}},
		record.Record{AtMS: 4, ClientOrderID: "a", Body: record.Fill{Filled: 10}}, // nothing new
		record.Record{AtMS: 5, ClientOrderID: "a", Body: record.Ended{State: placement.Canceled, Filled: 25, Evidence: "fetched CANCELED"}})
	one := decoded[view.OneOrder](t, d.want(200, "/api/v1/orders/a"))
	if one.State != "canceled" || one.Live || one.Filled != "0.025" || one.Quantity != "0.03" || one.MeanPrice != "50000" || one.OrderID != 11 ||
		one.SentMS != 1 || one.EndedMS != 5 || one.Evidence != "fetched CANCELED" {
		t.Errorf("have %+v", one.Order)
	}
	want := []view.Step{{AtMS: 1, Step: "journalled", Text: "durable before its first byte"}, {AtMS: 2, Step: "acknowledged"}, {AtMS: 3, Step: "fetched",
		Text: "filled 0.01 more"},
		{AtMS: 5, Step: "fetched", Text: "filled 0.015 more"}, {AtMS: 5, Step: "settled", Text: "canceled: fetched CANCELED"}}
	if diff := cmp.Diff(want, one.Steps); diff != "" {
		t.Errorf("steps: want - have +\n%s", diff)
	}
	var fills []string
	for _, f := range decoded[List[view.Fill]](t, d.want(200, "/api/v1/fills")).Items {
		fills = append(fills, fmt.Sprint(f.ID, " ", f.AtMS, " ", f.Side, " ", f.Quantity))
	}
	if want := []string{"2 5 BUY 0.015", "1 3 BUY 0.01"}; !slices.Equal(want, fills) {
		t.Errorf("fills: want %v, have %v", want, fills)
	}
	if items := decoded[List[view.Order]](t, d.want(200, "/api/v1/orders")).Items; len(items) != 0 {
		t.Errorf("live orders: want none, have %+v", items)
	}
	if items := decoded[List[view.Order]](t, d.want(200, "/api/v1/orders?state=canceled")).Items; len(items) != 1 {
		t.Errorf("canceled orders: want one, have %+v", items)
	}
}

func TestRestartMakesSendingPlacementsUncertain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.take(sending(1, "sent"), sending(1, "known"), record.Record{AtMS: 2, ClientOrderID: "known", Body: record.Acknowledged{OrderID: 11}},
		record.Record{AtMS: 3, Body: record.Boot{Epoch: 2}})
	for id, want := range map[string]string{"sent": "uncertain", "known": "acknowledged"} {
		if one := decoded[view.OneOrder](t, d.want(200, "/api/v1/orders/"+id)); one.State != want {
			t.Errorf("%s: want %s, have %s", id, want, one.State)
		}
	}
}

func TestTrackerStateIsShownBeforeItsRecord(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.take(sending(1, "a"), record.Record{AtMS: 2, ClientOrderID: "a", Body: record.Acknowledged{OrderID: 11}})
	s := d.status
	s.Live = []account.Placement{enginetest.Placement(sending(1, "a"), placement.Working, 11)}
	d.board.Show(s)
	d.board.Show(s)
	one := decoded[view.OneOrder](t, d.want(200, "/api/v1/orders/a"))
	if last := one.Steps[len(one.Steps)-1]; one.State != "working" || last.Text != "seen on the exchange" || len(one.Steps) != 3 {
		t.Errorf("want it working, reported once, have %+v", one)
	}
	d.take(record.Record{AtMS: 5, ClientOrderID: "a", Body: record.Ended{State: placement.Filled, Filled: 30}})
	d.board.Show(s) // drawn before
	if one := decoded[view.OneOrder](t, d.want(200, "/api/v1/orders/a")); one.State != "filled" {
		t.Errorf("want the final state kept, have %s", one.State)
	}
}

func TestAnIntentOfAnEarlierRunIsFoundInTheJournal(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.take(sending(1, "a"), record.Record{AtMS: 5, ClientOrderID: "a", Body: record.Ended{State: placement.Filled, Filled: 30, Evidence: "fetched FILLED"}})
	one := decoded[view.OneIntent](t, d.want(200, "/api/v1/intents/a"))
	if one.Outcome != "filled" || one.Order == nil || len(one.Steps) != 3 || one.Steps[0].Step != "journalled" {
		t.Errorf("have %+v", one)
	}
}

func TestAnIntentsStepsAreInTheOrderOfItsLife(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, n := range enginetest.Notes(t, "trend", bitcoin, "bx-1-9", "margin") {
		if _, refusal := n.Fact.(engine.NoteRejection); !refusal {
			d.board.Note(&n)
		}
	}
	d.take(sending(1, "bx-1-9"))
	one := decoded[view.OneIntent](t, d.want(200, "/api/v1/intents/bx-1-9"))
	var steps []string
	for _, s := range one.Steps {
		steps = append(steps, s.Step)
	}
	if have := strings.Join(steps, " "); have != "derived checked journalled sent acknowledged refused uncertain fetched settled" {
		t.Errorf("have %s", have)
	}
}

func TestChangesAreReadFromJournal(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.take(record.Record{AtMS: 1, Body: record.Audit{Actor: "session", Role: "operator", From: "127.0.0.1", Action: "POST /api/v1/risk/halt",
		Object: "strategy trend", Detail: "pause: news", RequestID: "R"}},
		record.Record{AtMS: 1, Strategy: "trend", Body: record.Halt{Level: record.LevelPause, Reason: "news"}},
		record.Record{AtMS: 2, Strategy: "trend", Body: record.Halt{Reason: "over"}},
		record.Record{AtMS: 2, Strategy: "trend", Symbol: bitcoin.Key(), Body: record.Assigned{}}) // without a caller
	want := []view.Audit{
		{ID: "3", AtMS: 2, Kind: "halt", Actor: "botd", Action: "rearm", Object: "strategy trend", Detail: "over"},
		{ID: "2", AtMS: 1, Kind: "halt", Actor: "botd", Action: "halt pause", Object: "strategy trend", Detail: "news"},
		{ID: "1", AtMS: 1, Kind: "audit", Actor: "session", Role: "operator", From: "127.0.0.1", Action: "POST /api/v1/risk/halt", Object: "strategy trend",
			Detail: "pause: news", RequestID: "R"},
	}
	have := decoded[List[view.Audit]](t, d.want(200, "/api/v1/audit")).Items
	if diff := cmp.Diff(want, have, cmp.AllowUnexported(view.Audit{})); diff != "" {
		t.Errorf("want - have +\n%s", diff)
	}
}

// The lists are orders by state and owner, intents by outcome and purpose, and a strategy since its first fill.
func TestListFilters(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.take(sending(1, "a"), sending(2, "b"), sending(3, "c"),
		record.Record{AtMS: 4_000, ClientOrderID: "b", Body: record.Ended{State: placement.Filled, Filled: 20}},
		record.Record{AtMS: 5_000, ClientOrderID: "c", Body: record.Ended{State: placement.Canceled}})
	for query, want := range map[string]string{
		"": "a", "?state=live": "a", "?state=ended": "c b", "?state=all": "c b a", "?state=filled": "b", "?state=canceled": "c", "?state=nonsense": "",
		"?state=all&strategy=trend": "c b a", "?state=all&strategy=hold": "", "?state=ended&strategy=hold": "", "?strategy=hold": "",
		"?state=filled&strategy=hold": "",
		"?state=ended&market=futures": "c b", "?state=ended&market=spot": "", "?state=filled&symbol=BTC-USDT": "b", "?state=filled&symbol=ETH-USDT": "",
	} {
		var have []string
		for _, o := range decoded[List[view.Order]](t, d.want(200, "/api/v1/orders"+query)).Items {
			have = append(have, o.ClientOrderID)
		}
		if strings.Join(have, " ") != want {
			t.Errorf("orders%s: want %q, have %q", query, want, have)
		}
	}
	d.board.Show(*running(t))
	d.take(record.Record{AtMS: 6_000, ClientOrderID: "a", Body: record.Fill{Filled: 20, Price: enginetest.Amount(t, "50000")}})
	dated := decoded[view.OneStrategy](t, d.want(200, "/api/v1/strategies/trend"))
	all := decoded[List[view.Strategy]](t, d.want(200, "/api/v1/strategies")).Items
	status := decoded[view.Status](t, d.want(200, "/api/v1/status")).Strategies
	if dated.SinceMS == 0 || all[0].SinceMS != dated.SinceMS || status[0].SinceMS != dated.SinceMS {
		t.Errorf("want its position dated everywhere, have %d, %d, %d", dated.SinceMS, all[0].SinceMS, status[0].SinceMS)
	}
	for _, n := range enginetest.Notes(t, "trend", bitcoin, "bx-1-9", "margin") {
		d.board.Note(&n)
	}
	one := d.intents()[0]
	for query, want := range map[string]bool{
		"": true, "?outcome=" + one.Outcome: true, "?outcome=none": false, "?purpose=" + one.Purpose: true, "?purpose=none": false,
		"?outcome=none&purpose=" + one.Purpose: false, "?strategy=hold&purpose=" + one.Purpose: false,
		"?strategy=trend&outcome=" + one.Outcome + "&purpose=" + one.Purpose: true,
	} {
		found := slices.ContainsFunc(decoded[List[view.Intent]](t, d.want(200, "/api/v1/intents"+query)).Items,
			func(i view.Intent) bool { return i.ID == one.ID })
		if found != want {
			t.Errorf("intents%s: want it listed %t, have %t", query, want, found)
		}
	}
}
