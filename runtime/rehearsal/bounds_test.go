package rehearsal

import (
	"fmt"
	"strings"
	"testing"

	"botd/exchange"
	"botd/reconcile/record"
	"botd/strategy"
)

// TestTheRecordsOfAMomentAreBounded covers more records than are shown, and those of others between them.
func TestTheRecordsOfAMomentAreBounded(t *testing.T) {
	t.Parallel()
	own := exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
	other := exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"}
	records := []record.Record{{AtMS: 1, Body: record.Boot{Epoch: 1}}}
	for i := range int64(199) {
		records = append(records, record.Record{AtMS: 9*minute + i, Strategy: "trend", Body: record.Latch{}})
	}
	for _, r := range []record.Record{
		{Strategy: "grid", Symbol: other}, {Symbol: other}, {Strategy: "grid"}, {ClientOrderID: "x"}, // not the strategy's
	} {
		r.AtMS, r.Body = 9*minute+500, record.Latch{}
		records = append(records, r)
	}
	records = append(records, record.Record{AtMS: 9*minute + 501, Symbol: own, Body: record.Quarantined{Reason: "the last one that is shown"}},
		record.Record{AtMS: 9*minute + 502, Symbol: own, Body: record.Quarantined{Reason: "one too many"}})
	p, err := newHouse(t, records...).at(t, 10*minute)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(p.Happened); n != 200 || p.Happened[0].AtMS != 9*minute || !strings.Contains(p.Happened[199].What, "the last one") {
		t.Errorf("want 200 records of the strategy and its symbol, have %d, the last %+v", n, p.Happened[n-1])
	}
}

// TestCandlesAreReadIn20Pages uses a venue that answers with one candle at a time.
func TestCandlesAreReadIn20Pages(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.most = 1
	have, err := candlesUntil(t.Context(), h.venue, h.symbol, exchange.Minute1, 100*minute, 30)
	if err != nil || len(h.asked) != 20 || have.Len() != 20 || have.OpenMS[0] != 70*minute || have.Interval != exchange.Minute1 {
		t.Errorf("want 20 candles from minute 70 on in as many reads, have %d in %d, %v", have.Len(), len(h.asked), err)
	}
}

// both is a strategy that reads two other symbols.
type both struct{ strategy.Strategy }

func (both) ReadsOthers() []exchange.SymbolKey {
	return []exchange.SymbolKey{{Market: exchange.Futures, Name: "ETH-USDT"}, {Market: exchange.Futures, Name: "SOL-USDT"}}
}

func TestTheCandlesOfOtherSymbolsAreReadUpToTheMoment(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ether, sol := *h.symbol, *h.symbol
	ether.Name, sol.Name = "ETH-USDT", "SOL-USDT"
	h.venue.Symbols = append(h.venue.Symbols, &ether)
	if all, err := othersUntil(t.Context(), h.venue, both{}, exchange.Minute1, 10*minute, 3); err == nil || !strings.Contains(err.Error(), "SOL-USDT") {
		t.Errorf("a symbol that the venue lacks: have %+v, %v", all, err)
	}
	h.venue.Symbols = append(h.venue.Symbols, &sol)
	all, err := othersUntil(t.Context(), h.venue, both{}, exchange.Minute1, 10*minute, 3)
	if err != nil || len(all) != 2 {
		t.Fatalf("want both, have %+v, %v", all, err)
	}
	for i, name := range []string{"ETH-USDT", "SOL-USDT"} {
		if have := fmt.Sprint(all[i].Candles.OpenMS); all[i].Symbol.Name != name || have != "[420000 480000 540000]" {
			t.Errorf("%s: want minutes 7 to 9, have %s of %s", name, have, all[i].Symbol.Name)
		}
	}
	h.fails = &exchange.Unavailable{Reason: "timeout"}
	if _, err := othersUntil(t.Context(), h.venue, both{}, exchange.Minute1, 10*minute, 3); err == nil {
		t.Error("a venue that does not answer is no error")
	}
}
