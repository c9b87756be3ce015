package simulation

import (
	"bytes"
	"reflect"
	"slices"
	"testing"

	"botd/reconcile"
	"botd/reconcile/record"
)

// TestACheckpointAndTheRecordsAfterItMakeTheStateOfTheWhole takes the journals of seeds with faults, crashes
// and people, cuts each at many places, and compares the state of a checkpoint there plus the later records
// with that of all records.
func TestACheckpointAndTheRecordsAfterItMakeTheStateOfTheWhole(t *testing.T) {
	t.Parallel()
	cuts := 0
	for seed := range uint64(30) {
		w := newWorld(Options{Seed: 7_000 + seed})
		w.loop()
		boot := record.Record{AtMS: w.nowMS, Body: record.Boot{Epoch: 1 << 40, Random: "zzzzz"}}
		journal := append(w.disk.records[:len(w.disk.records):len(w.disk.records)], boot)
		whole := reconcile.NewTracker(w.configured)
		for i := range journal {
			whole.Apply(&journal[i])
		}
		for at := 0; at < len(journal); at += 1 + len(journal)/17 {
			cuts++
			before := reconcile.NewTracker(w.configured)
			for i := range journal[:at] {
				before.Apply(&journal[i])
			}
			checkpoint := before.Checkpoint("")
			restored, err := reconcile.Restore(w.configured, &checkpoint)
			if err != nil {
				t.Fatal(err)
			}
			for i := range journal[at:] {
				restored.Apply(&journal[at+i])
			}
			if !bytes.Equal(whole.Snapshot(), restored.Snapshot()) {
				t.Fatalf("seed %d: want the state of %d records, have another from a checkpoint after %d", 7_000+seed, len(journal), at)
			}
			if want, have := slices.Collect(whole.Symbols()), slices.Collect(restored.Symbols()); !reflect.DeepEqual(want, have) {
				t.Fatalf("seed %d, checkpoint after %d of %d records:\nwant %+v\nhave %+v", 7_000+seed, at, len(journal), *want[0], *have[0])
			}
		}
	}
	t.Logf("%d checkpoints", cuts)
}
