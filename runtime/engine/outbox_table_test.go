package engine

import (
	"errors"
	"testing"

	"botd/reconcile/record"
)

// A checkpoint is taken with the batch that completes the configured number of records since the last one, and never if no
// number is set.
func TestCheckpointInterval(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                           string
		every                          int64
		emitted, checkpointed, records int
		want                           bool
	}{
		{"none is wanted", 0, 100, 0, 50, false},
		{"one record before", 10, 0, 0, 9, false},
		{"that many", 10, 0, 0, 10, true},
		{"more", 10, 0, 0, 11, true},
		{"some were written before", 10, 7, 0, 3, true},
		{"some were written before, and one is lacking", 10, 7, 0, 2, false},
		{"one was taken since", 10, 17, 10, 2, false},
		{"one was taken that long ago", 10, 17, 10, 3, true},
		{"records of the run before count", 10, 0, -9, 1, true},
	} {
		b := emptyBase(1_000_000)
		b.checkpoint, b.emitted, b.checkpointed = c.every, int64(c.emitted), int64(c.checkpointed)
		for range c.records {
			b.record(record.Record{Body: record.Config{}})
		}
		b.flush()
		last, is := b.out.Records[len(b.out.Records)-1].Body.(record.Checkpoint)
		want := c.records
		if c.want {
			want++
		}
		if is != c.want || len(b.out.Records) != want || b.writing != want {
			t.Errorf("%s: want a checkpoint %t, have %T, %d records", c.name, c.want, last, len(b.out.Records))
		}
		if c.want && b.checkpointed != int64(c.emitted+c.records) {
			t.Errorf("%s: want the next one to count from here, have %d", c.name, b.checkpointed)
		}
	}
}

// Nothing is written while a batch is in flight, or after one has failed, and no empty batch is written.
func TestJournalWritesOneBatchAtATime(t *testing.T) {
	t.Parallel()
	b := emptyBase(1_000_000)
	if b.flush(); len(b.out.Records) != 0 || b.writing != 0 {
		t.Error("want nothing written of nothing")
	}
	b.record(record.Record{Body: record.Config{}})
	if b.flush(); len(b.out.Records) != 1 || b.writing != 1 {
		t.Errorf("want the first written, have %d", len(b.out.Records))
	}
	b.record(record.Record{Body: record.Config{}})
	if b.flush(); len(b.out.Records) != 1 {
		t.Error("want the second to wait for the first")
	}
	b.writing = 0
	b.journalMS, b.journalErr = b.nowMS+1, errors.New("no")
	if b.flush(); len(b.out.Records) != 1 {
		t.Error("want nothing written until it is tried again")
	}
	b.journalMS = never
	if b.flush(); len(b.out.Records) != 3 || b.writing != 2 {
		t.Errorf("want both written, have %d, %d in flight", len(b.out.Records)-1, b.writing)
	}
}

// The checkpoint is taken once everything is durable, if checkpoints are enabled.
func TestTheLastCheckpointOfARun(t *testing.T) {
	t.Parallel()
	b := emptyBase(1_000_000)
	if _, is := b.Final(); is {
		t.Error("want none where none is taken")
	}
	b.checkpoint = 10
	if last, is := b.Final(); !is || last.AtMS != b.nowMS || last.Body == nil {
		t.Errorf("want one of now, have %+v", last)
	}
	b.record(record.Record{Body: record.Config{}})
	if _, is := b.Final(); is {
		t.Error("want none while a record is not durable")
	}
}
