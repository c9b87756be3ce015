package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// The exchange refuses an exit, or its outcome is uncertain, and the wallet shows half of what is held, or none. No money has come, so nothing was sold: the
// stop covers all of it, and after a start too. A person's units are not risked for that.
func TestExitThatBroughtNoMoneyLeavesItsUnitsToAStop(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		others              exchange.Quantity
		uncertain, restarts bool
		before              string // the asset that the wallet showed before the exit
		asset, usd          string
		want                exchange.Quantity
	}{
		"refused, half is shown":                          {0, false, false, "0.01", "0.005", "10000", 10},
		"refused, half was shown before too":              {0, false, false, "0.005", "0.005", "10000", 10},
		"refused, half is shown after a start":            {0, false, true, "0.01", "0.005", "10000", 10},
		"refused, half is sold":                           {0, false, false, "0.01", "0.005", "10250", 5},
		"refused, and there are a person's units":         {1_000, false, false, "1.01", "1.005", "10000", 5},
		"uncertain, half is shown":                        {0, true, false, "0.01", "0.005", "10000", 10},
		"uncertain, half was shown before, after a start": {0, true, true, "0.005", "0.005", "10000", 10},
		"uncertain, all is sold":                          {0, true, false, "0.01", "0", "10500", 0},
		"uncertain, all is sold, after a start":           {0, true, true, "0.01", "0", "10500", 0},
		"uncertain, and there are a person's units":       {1_000, true, false, "1.01", "1.003", "10000", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exitWithoutMoney(t, c.others, c.uncertain, c.restarts, [3]string{c.before, c.asset, c.usd}, c.want)
		})
	}
}

// A journal of an older version does not contain what the wallet showed before the exit. A wallet without any money then proves nothing.
func TestExitOfAnOlderJournalIsNotUnpaidForLackOfMoney(t *testing.T) {
	t.Parallel()
	w, _ := protecting(t)
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Baseline{}})
	w.now += 60_000
	w.hasMoney("0.01", "0", "0")
	w.now += 1_000
	w.places(placement.Exit, 0, saleOf(10))
	for i := range w.records {
		if body, is := w.records[i].Body.(record.Sending); is {
			body.Funds = record.Funds{}
			w.records[i].Body = body
		}
	}
	w.start()
	w.deriver()
	w.now += 4_000
	w.hasMoney("0.005", "0", "0")
	if have := stopped(w.derives(stopped2)); have != 0 {
		t.Errorf("want no stop for what the exit may have sold, have one of %d", have)
	}
}

func exitWithoutMoney(t testing.TB, others exchange.Quantity, uncertain, restarts bool, shown [3]string, want exchange.Quantity) {
	w, _ := protecting(t)
	w.apply(record.Record{AtMS: w.now, Symbol: coin, Body: record.Baseline{Quantity: others}})
	w.now += 60_000
	w.hasMoney(shown[0], "0", "10000")
	w.now += 1_000
	if uncertain {
		w.places(placement.Exit, 0, saleOf(10))
	} else {
		w.refuses(placement.Exit, saleOf(10))
	}
	w.now += 1_000
	if restarts {
		w.restores()
		w.deriver()
	}
	w.now += 3_000
	balances := []exchange.Balance{{Asset: "BTC", Free: exchange.MustAmount(shown[1])}, {Asset: "USDT", Free: exchange.MustAmount(shown[2])}}
	w.records = append(w.records, w.tracker.Observe(&Snapshot{BeganMS: w.now, EndedMS: w.now, SpotOrders: exchange.FetchedOf[exchange.Order](nil),
		History: exchange.FetchedOf[exchange.Order](nil), Balances: exchange.FetchedOf(balances)})...) // the history is not whole: it confirms no refusal
	if have := stopped(w.derives(stopped2)); have != want {
		t.Errorf("want a stop of %d, have %d", want, have)
	}
}
