package account

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// A person was notified of an order of a botd whose clock was ahead. That report does not cover later starts, whose orders a backup may
// lack: botd reports those too, each once.
func TestReportedOrderOfAClockAheadAccountsForNoLaterStart(t *testing.T) {
	t.Parallel()
	coin := exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"}
	const ahead = "bt-zzzzzz-1"
	for name, reported := range map[string]record.Record{
		"on the symbol":   {Symbol: coin, ClientOrderID: ahead, Body: record.Quarantined{}},
		"for the account": {ClientOrderID: ahead, Body: record.Halt{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := New(Options{})
			accounted := func(when string, want map[string]bool) {
				t.Helper()
				for text, want := range want {
					if id, ours := placement.ParseSerial(text); !ours || s.Sent(coin, id) != want {
						t.Errorf("%s: want %s accounted for %t", when, text, want)
					}
				}
			}
			s.Apply(&record.Record{Body: record.Boot{Epoch: 100, Random: "aaaaa"}})
			s.Apply(&reported)
			accounted("reported", map[string]bool{
				ahead: true, "bt-zzzzzz-2": false,
				"bt-00002raaaaa-1": true,  // of epoch 99
				"bt-00002saaaaa-1": false, // of this start, which the journal does not contain
				"bt-00002tbbbbb-1": false, // of a later one
			})
			for range 2 {
				s.Apply(&record.Record{Symbol: coin, ClientOrderID: "bt-00002tbbbbb-5", Body: record.Adopted{}})
			}
			accounted("a later one is reported", map[string]bool{
				ahead: true, "bt-00002tbbbbb-5": true, "bt-00002tbbbbb-6": false, "bt-00002ubbbbb-1": false,
			})
			s.Apply(&record.Record{Body: record.Boot{Epoch: 200, Random: "ccccc"}})
			s.Apply(&record.Record{Symbol: coin, ClientOrderID: "bt-00005jddddd-1", Body: record.Adopted{}})
			accounted("one of a still later start is reported", map[string]bool{
				ahead: true, "bt-00002ubbbbb-1": true, "bt-00005jddddd-1": true, "bt-00005jddddd-2": false, "bt-00005kccccc-1": false,
			})
		})
	}
}

// The number of reported starts later than this journal's newest start is bounded: the oldest report is dropped.
func TestReportedStartsAreBounded(t *testing.T) {
	t.Parallel()
	s := New(Options{})
	coin := exchange.SymbolKey{Market: exchange.Spot, Name: "BTC-USDT"}
	id := func(i int64) placement.Serial {
		return placement.Serial{Start: placement.Start{Epoch: 1_000_000 - i, Random: "aaaaa"}, Sequence: 1}
	}
	s.Apply(&record.Record{Body: record.Boot{Epoch: 100}})
	for i := range int64(maxReported + 1) {
		s.Apply(&record.Record{Symbol: coin, ClientOrderID: placement.ClientOrderID("t", id(i).Start, 1), Body: record.Adopted{}})
	}
	for i := range int64(maxReported + 1) {
		if have := s.Sent(coin, id(i)); have != (i > 0) {
			t.Errorf("report %d: want it remembered %t", i, i > 0)
		}
	}
}
