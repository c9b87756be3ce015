package view

import (
	"fmt"
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

func TestHistoryIsBoundedAndKeepsLiveOrders(t *testing.T) {
	t.Parallel()
	h := NewHistory()
	sent := func(id string) *record.Record {
		return &record.Record{AtMS: 2, Strategy: "trend", Symbol: bitcoin.Key(), ClientOrderID: id, Body: record.Sending{Purpose: placement.Entry,
			Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.MarketOrder, Quantity: 30}}}
	}
	h.Apply(sent("lives"))
	for i := range maxOrders + 10 {
		id := fmt.Sprint("x", i)
		ended := record.Record{AtMS: 3, ClientOrderID: id, Body: record.Ended{State: placement.Filled, Filled: 30}}
		h.Apply(sent(id))
		h.Apply(&ended)
		h.Apply(&record.Record{AtMS: 4, Body: record.Halt{Level: record.LevelPause}})
	}
	if len(h.byTime) > maxOrders || len(h.orders) != len(h.byTime) || len(h.fills.all) > maxFills || len(h.audits.all) > maxAudits {
		t.Errorf("want at most %d orders, %d fills and %d changes, have %d, %d, %d", maxOrders, maxFills, maxAudits, len(h.byTime), len(h.fills.all),
			len(h.audits.all))
	}
	if _, _, found := h.Order("lives"); !found {
		t.Error("a live order was dropped")
	}
	if last := h.fills.last; last != maxOrders+10 {
		t.Errorf("fills are numbered on: want %d, have %d", maxOrders+10, last)
	}
}
