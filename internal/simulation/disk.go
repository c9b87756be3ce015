package simulation

import (
	"slices"

	"botd/exchange"
	"botd/internal/mutant"
	"botd/reconcile/record"
	"botd/runtime/engine"
)

// disk stores the journal: the contract of runtime.Journal in virtual time. An append
// is all or nothing and takes time; a crash during one leaves either.
type disk struct {
	records []record.Record // durable, in order
	sending map[string]exchange.NewOrder
	pending []record.Record // being written
	writing bool
	beganMS int64 // when the write began
	fullMS  int64 // writes fail until then
	lostMS  int64 // its files were lost then; 0 for never
	left    int   // number of records that the next start finds then
}

func newDisk() *disk { return &disk{sending: map[string]exchange.NewOrder{}} }

// forgot reports whether the process started with an empty journal after a loss: on spot nothing then shows
// which part of the wallet is a position (case 35).
func (d *disk) forgot(of *daemon) bool { return d.lostMS != 0 && of.bootMS > d.lostMS }

// write begins an append.
func (w *world) write(records []record.Record) {
	d := w.disk
	if d.writing {
		w.fail("one_batch", "records were handed out while others are being written")
	}
	if w.point() {
		return
	}
	d.pending, d.writing, d.beganMS = append(d.pending[:0], records...), true, w.nowMS
	latency := w.storage.between(1, 8)
	if !w.quiet && w.storage.chance(w.weather[SlowDisk]) {
		w.stats.Faults[SlowDisk]++
		latency = w.storage.between(500, 9_000)
	}
	w.put(scheduled{atMS: w.nowMS + latency, kind: happenCommit, life: w.daemon.life})
}

// commit ends an append.
func (w *world) commit() {
	d := w.disk
	full := d.fullMS > w.nowMS
	switch {
	case !w.quiet && (full || w.storage.chance(w.weather[CommitFails])):
		if !full {
			w.stats.Faults[CommitFails]++
		}
		d.writing = false
		if mutant.Is("failed_commit_holds") {
			w.daemon.handle(&engine.EventJournaled{})
			return
		}
		if w.tracing {
			w.tracef("disk", "append of %d records refused", len(d.pending))
		}
		w.daemon.handle(&engine.EventJournaled{Err: errDiskFull})
		return
	case !w.quiet && w.storage.chance(w.weather[CommitInDoubt]):
		w.stats.Faults[CommitInDoubt]++
		w.crash("a commit in doubt")
		return
	}
	d.settle(w)
	if w.point() {
		return
	}
	if w.tracing {
		w.tracef("disk", "%d records durable", len(d.records))
	}
	w.daemon.handle(&engine.EventJournaled{})
}

// settle makes the pending records durable.
func (d *disk) settle(w *world) {
	if mutant.Is("records_reversed") {
		slices.Reverse(d.pending)
	}
	for i := range d.pending {
		w.inspector.record(&d.pending[i])
		if sending, ok := d.pending[i].Body.(record.Sending); ok {
			d.sending[d.pending[i].ClientOrderID] = sending.Order
		}
	}
	d.records = append(d.records, d.pending...)
	d.pending, d.writing = d.pending[:0], false
}

// torn handles a crash: a write in progress is either durable as a whole or lost.
func (d *disk) torn(w *world, whole bool) {
	if d.writing && whole {
		d.settle(w)
	}
	d.pending, d.writing = d.pending[:0], false
}

type diskError string

func (e diskError) Error() string { return string(e) }

const errDiskFull = diskError("no space left on device")
