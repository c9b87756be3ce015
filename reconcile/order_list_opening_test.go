package reconcile

import (
	"testing"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

// An opening counts until an open list shows it, even if other reads show it.
func TestOpeningsThatNoListHasShown(t *testing.T) {
	t.Parallel()
	bid := buys
	bid.Type, bid.Price = exchange.Limit, 40_000e8
	open := func(d *desk, id string, filled exchange.Quantity) exchange.Order {
		return d.order(id, 11, exchange.StatusNew, 10, filled)
	}
	for _, c := range []struct {
		name string
		with func(d *desk, id string)
		want exchange.Quantity
	}{
		{"sent", func(*desk, string) {}, 10},
		{"acknowledged", func(d *desk, id string) { d.acknowledge(id, 11) }, 10},
		{"uncertain", func(d *desk, id string) { d.uncertain(id) }, 10},
		{"refused", func(d *desk, id string) {
			d.tracker.Apply(&record.Record{AtMS: d.now, ClientOrderID: id, Body: record.Refused{Reason: "no"}})
		}, 0},
		{"not in a list", func(d *desk, id string) { d.acknowledge(id, 11); d.observe(0, nil) }, 10},
		{"in a list", func(d *desk, id string) { d.acknowledge(id, 11); d.observe(0, nil, open(d, id, 0)) }, 0},
		{"read by its id", func(d *desk, id string) {
			d.acknowledge(id, 11)
			d.observe(0, []OrderByID{{11, open(d, id, 0), true}})
		}, 10},
		{"read by its id, partly filled", func(d *desk, id string) {
			d.acknowledge(id, 11)
			d.observe(4, []OrderByID{{11, open(d, id, 4), true}})
		}, 6},
		{"read by its id, then in a list", func(d *desk, id string) {
			d.acknowledge(id, 11)
			d.observe(0, []OrderByID{{11, open(d, id, 0), true}})
			d.observe(0, nil, open(d, id, 0))
		}, 0},
		{"read by its id twice", func(d *desk, id string) {
			d.acknowledge(id, 11)
			d.observe(0, []OrderByID{{11, open(d, id, 0), true}})
			d.observe(0, []OrderByID{{11, open(d, id, 0), true}})
		}, 10},
		{"read by its id, then filled", func(d *desk, id string) {
			d.acknowledge(id, 11)
			d.observe(0, []OrderByID{{11, open(d, id, 0), true}})
			d.observe(10, []OrderByID{{11, d.order(id, 11, exchange.StatusFilled, 10, 10), true}})
		}, 0},
		{"in a list, which later omits it", func(d *desk, id string) {
			d.acknowledge(id, 11)
			d.observe(0, nil, open(d, id, 0))
			d.observe(0, []OrderByID{{11, open(d, id, 0), true}})
		}, 0},
	} {
		d := newDesk(t)
		d.observe(0, nil)
		c.with(d, d.places(placement.Order, bid))
		d.places(placement.Entry, ethers)
		if have := d.tracker.NeverListed(bitcoin); have != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, have)
		}
		if have := d.tracker.NeverListed(ethers.Key()); have != 0 {
			t.Errorf("%s: an entry: want 0, have %d", c.name, have)
		}
	}
}
