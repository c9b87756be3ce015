package view

import (
	"fmt"
	"testing"

	"botd/exchange"
	"botd/reconcile/ledger"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// pricing is a history that receives futures fills and readings of the money; a step of the symbol is 0.001.
type pricing struct {
	h    *History
	next int
}

func (p *pricing) fills(side exchange.Side, thousandths exchange.Quantity) {
	p.next++
	id := fmt.Sprint("b", p.next)
	p.h.Apply(&record.Record{AtMS: 2, Strategy: "trend", Symbol: bitcoin.Key(), ClientOrderID: id, Body: record.Sending{Purpose: placement.Entry,
		Order: exchange.NewOrder{Market: exchange.Futures, Symbol: "BTC-USDT", Side: side, Type: exchange.MarketOrder, Quantity: thousandths}}})
	p.h.Apply(&record.Record{AtMS: 3, ClientOrderID: id, Body: record.Ended{State: placement.Filled, Filled: thousandths}})
}

func (p *pricing) reads(fee string, open, closed []ledger.Position) {
	p.h.Apply(&record.Record{AtMS: 4, Body: record.Posting{Posting: ledger.Posting{
		Reading: ledger.Reading{Market: exchange.Futures, Open: open, Closed: closed, Instruments: []ledger.Instrument{ledger.InstrumentOf(bitcoin)}},
		Lines:   []ledger.Line{{Account: ledger.Fees, Symbol: bitcoin.Key(), Asset: "USDT", Amount: exchange.MustAmount(fee)}}}}})
}

func position(opened, remaining, entry, closed, realized string) []ledger.Position {
	a := exchange.MustAmount
	return []ledger.Position{{ID: 7, Symbol: "BTC-USDT", Opened: a(opened), Remaining: a(remaining), EntryPrice: a(entry), Close: a(closed),
		Realized: a(realized)}}
}

func (p *pricing) want(t *testing.T, want ...string) {
	t.Helper()
	fills, _ := p.h.Fills(Page{Limit: 100}, func(*Fill) bool { return true })
	for i, w := range want {
		f := &fills[len(fills)-1-i]
		if have := fmt.Sprint(f.Side, " ", f.Price, " ", f.Fee, f.FeeAsset, " ", f.Derived); have != w {
			t.Errorf("fill %d: want %s, have %s", i, w, have)
		}
	}
	if len(fills) != len(want) {
		t.Errorf("want %d fills, have %d", len(want), len(fills))
	}
}

// Two slices are read together, a third comes after the reading was taken, half is sold, and then the rest: 0.002 at
// 60,000 and 0.001 at 60,300 are entered at 60,100 on average.
func TestFuturesFillsHaveDerivedPricesAndFees(t *testing.T) {
	t.Parallel()
	p := &pricing{h: NewHistory()}
	p.reads("0", nil, nil)
	p.fills(exchange.Buy, 1)
	p.fills(exchange.Buy, 1)
	p.fills(exchange.Buy, 1)
	p.want(t, "BUY 0  false", "BUY 0  false", "BUY 0  false")
	p.reads("0.06", position("0.002", "0.002", "60000", "0", "0"), nil) // the third one is not in it
	p.want(t, "BUY 60000 0.03USDT true", "BUY 60000 0.03USDT true", "BUY 0  false")
	p.reads("0.03015", position("0.003", "0.003", "60100", "0", "0"), nil)
	p.fills(exchange.Sell, 1)
	p.reads("0.0302", position("0.003", "0.002", "60100", "60400", "0.3"), nil) // 0.001 x (60400 - 60100)
	p.fills(exchange.Sell, 2)
	p.reads("0.06", nil, position("0.003", "0", "60100", "60133.33333333", "0.1")) // 0.1 in total: 0.002 at 60,000
	p.want(t, "BUY 60000 0.03USDT true", "BUY 60000 0.03USDT true", "BUY 60300 0.03015USDT true", "SELL 60400 0.0302USDT true", "SELL 60000 0.06USDT true")
}

// Another trader traded on the symbol, or entry and exit are between two readings of an existing position.
func TestUnderivablePriceIsNotShown(t *testing.T) {
	t.Parallel()
	p := &pricing{h: NewHistory()}
	p.fills(exchange.Buy, 1)
	p.reads("0.5", position("0.005", "0.005", "60000", "0", "0"), nil)
	p.want(t, "BUY 0  false")
	p.reads("0.5", nil, position("0.005", "0", "60000", "60010", "0.05"))
	p.want(t, "BUY 0  false")
	p.fills(exchange.Buy, 2) // if the position is flat in both readings, both prices are known
	p.fills(exchange.Sell, 2)
	p.reads("0.12", nil, position("0.002", "0", "60000", "60030", "0.06"))
	p.want(t, "BUY 0  false", "BUY 60000 0.059985USDT true", "SELL 60030 0.060015USDT true")
}

// Between two readings a long position is sold and a short one opened, by two orders of one side. Their values share the fee.
func TestBothPricesOfATurnAreDerived(t *testing.T) {
	t.Parallel()
	p := &pricing{h: NewHistory()}
	p.reads("0", nil, nil)
	p.fills(exchange.Buy, 2)
	p.reads("0.06", position("0.002", "0.002", "60000", "0", "0"), nil)
	p.fills(exchange.Sell, 2)
	p.fills(exchange.Sell, 1)
	short := position("0.001", "0.001", "60090", "0", "0")
	short[0].ID, short[0].Short = 8, true
	p.reads("0.09015", short, position("0.002", "0", "60000", "60105", "0.21"))
	p.want(t, "BUY 60000 0.06USDT true", "SELL 60105 0.060105USDT true", "SELL 60090 0.030045USDT true")
}
