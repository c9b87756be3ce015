package sim

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"pgregory.net/rapid"

	"botd/exchange"
)

// TestASnapshotAndItsChangesAreTheWholeState lets accounts do random operations, collects the changes now and
// then, and compares the merged state with a complete snapshot.
func TestASnapshotAndItsChangesAreTheWholeState(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		d := newDesk(t, Config{
			OppositeOrder: rapid.SampledFrom([]string{"reject", "net"}).Draw(r, "opposite"), OrderDelayMS: rapid.SampledFrom([]int64{0, 5}).Draw(r, "delay"),
			OrderDelaySpreadMS: rapid.SampledFrom([]int64{0, 7}).Draw(r, "spread"), MaxHistory: rapid.SampledFrom([]int{0, 4}).Draw(r, "kept"),
		})
		d.SetFunding("BTC-USDT", []FundingPoint{{startMS + 8*3_600_000, 75_000}})
		for range rapid.IntRange(0, 20).Draw(r, "steps before") {
			d.randomStep(r)
		}
		d.Track()
		base := mustSnapshot(r, d.Exchange)
		var changes [][]byte
		for i := range rapid.IntRange(1, 60).Draw(r, "steps") {
			if i == 10 {
				if err := d.AddAccount(DefaultAccount("carol")); err != nil {
					r.Fatal(err)
				}
			}
			d.randomStep(r)
			if !rapid.Bool().Draw(r, "write") {
				continue
			}
			changes = append(changes, mustChanges(r, d.Exchange))
			compareStates(r, d, base, changes)
		}
	})
}

func compareStates(r *rapid.T, d *desk, base []byte, changes [][]byte) {
	r.Helper()
	merged, err := Merge(base, changes)
	if err != nil {
		r.Fatal(err)
	}
	restored, err := Restore(d.config, merged)
	if err != nil {
		r.Fatal(err)
	}
	have := mustSnapshot(r, restored)
	// History that was dropped between a snapshot and its changes returns, up to the bound, so the common
	// part is compared.
	if d.config.MaxHistory < defaultMaxHistory {
		return
	}
	if want := mustSnapshot(r, d.Exchange); !bytes.Equal(want, have) {
		r.Fatalf("want the merged state to be the snapshot\nwant %s\nhave %s", want, have)
	}
}

func mustSnapshot(r interface{ Fatal(...any) }, x *Exchange) []byte {
	data, err := x.Snapshot()
	if err != nil {
		r.Fatal(err)
	}
	return data
}

func mustChanges(r interface{ Fatal(...any) }, x *Exchange) []byte {
	data, err := x.Changes()
	if err != nil {
		r.Fatal(err)
	}
	return data
}

// A resting order must keep its time priority.
func TestAnOrdersTurnSurvivesChanges(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	d.Track()
	base := mustSnapshot(t, d.Exchange)
	var ids []int64
	var changes [][]byte
	request := exchange.Request{Operation: exchange.FuturesPlace, Order: exchange.NewOrder{
		Market: exchange.Futures, Symbol: "BTC-USDT", Side: exchange.Buy, Type: exchange.Limit, Quantity: 10, Price: 49_000e8,
	}}
	for i := range 3 {
		answer, err := d.Do("alice", &request)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, answer.Order.ID)
		if i != 1 { // two in one change
			changes = append(changes, mustChanges(t, d.Exchange))
		}
	}
	if _, err := d.Do("alice", &exchange.Request{Operation: exchange.FuturesCancel, OrderID: ids[0]}); err != nil {
		t.Fatal(err)
	}
	changes = append(changes, mustChanges(t, d.Exchange))
	merged, err := Merge(base, changes)
	if err != nil {
		t.Fatal(err)
	}
	x, err := Restore(d.config, merged)
	if err != nil {
		t.Fatal(err)
	}
	if want, have := ids[1], x.find(exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}).bids.best(); have == nil || have.ID != want {
		t.Errorf("want order %d first in the book, have %+v", want, have)
	}
}

func TestASnapshotOfTheFirstSchemaIsRead(t *testing.T) {
	t.Parallel()
	first, err := os.ReadFile("testdata/first_schema.json") // written by the version before changes
	if err != nil {
		t.Fatal(err)
	}
	x, err := Restore(Config{Symbols: DefaultSymbols(), OrderDelayMS: 5}, first)
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := x.Position("alice", "BTC-USDT"); !ok || p.Remaining != 10 {
		t.Errorf("want the position, have %+v", p)
	}
	if free, _ := x.Balance("alice", "USDT"); fmt.Sprint(free) != "9500.499001" || x.Leverage("alice", "ETH-USDT") != 7 {
		t.Errorf("want 9500.499001 USDT and leverage 7, have %s and %d", free, x.Leverage("alice", "ETH-USDT"))
	}
	key := exchange.SymbolKey{Market: exchange.Futures, Name: "BTC-USDT"}
	if best := x.find(key).bids.best(); best == nil || best.ID != 2 || best.next == nil || best.next.ID != 3 {
		t.Errorf("want orders 2 and 3 in the book, have %+v", best)
	}
	again, err := Restore(Config{Symbols: DefaultSymbols(), OrderDelayMS: 5}, mustSnapshot(t, x))
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range []*Exchange{x, again} {
		each.Advance(x.NowMS() + 5)
		if o := each.orders.byID(5); o == nil || !o.visible || o.ladder == nil {
			t.Errorf("want order 5 to arrive, have %+v", o)
		}
		if o := each.orders.byID(2); o == nil || o.Status != canceled {
			t.Errorf("want order 2 canceled, have %+v", o)
		}
	}
}

func TestChangesThatDoNotFitAreRefused(t *testing.T) {
	t.Parallel()
	d := newDesk(t, Config{})
	if _, err := d.Changes(); err == nil {
		t.Error("want an error without Track, have none")
	}
	base := mustSnapshot(t, d.Exchange)
	for _, change := range []string{"", "{", `{"Schema":99}`, `{"Schema":2,"Accounts":[{"Name":"nobody"}]}`} {
		if _, err := Merge(base, [][]byte{[]byte(change)}); err == nil {
			t.Errorf("change %q: want an error, have none", change)
		}
	}
}

// BenchmarkChanges measures one placement and its cancel, after that many orders.
func BenchmarkChanges(b *testing.B) {
	for _, before := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(before), func(b *testing.B) {
			x, s := benchExchange(b)
			request := exchange.Request{Operation: exchange.FuturesPlace, Order: exchange.NewOrder{
				Market: exchange.Futures, Symbol: s.Name, Side: exchange.Buy, Type: exchange.Limit, Quantity: s.QuantityTick, Price: 40_000e8,
			}}
			placeAndCancel := func() {
				answer, err := x.Do("alice", &request)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := x.Do("alice", &exchange.Request{Operation: exchange.FuturesCancel, OrderID: answer.Order.ID}); err != nil {
					b.Fatal(err)
				}
			}
			for range before {
				placeAndCancel()
			}
			x.Track()
			size := 0
			for b.Loop() {
				placeAndCancel()
				size += len(mustChanges(b, x))
			}
			b.ReportMetric(float64(size)/float64(b.N), "bytes/change")
		})
	}
}
