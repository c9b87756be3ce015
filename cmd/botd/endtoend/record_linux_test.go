package endtoend

import (
	"path/filepath"
	"slices"
	"testing"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
)

// TestRecordingOnADiskThatFillsUp records onto a small disk until it is full, and continues once there is
// room. The files are complete at any time, lost rows are a counted hole, and the failure is reported once.
func TestRecordingOnADiskThatFillsUp(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "data")
	smallDisk(t, directory, "256k")
	disk := &filler{t, filepath.Join(directory, "ballast")}
	symbol, store := sim.DefaultSymbols()[0], tape.Store{Directory: filepath.Join(directory, tape.RecordedFolder)}
	candles := tape.Generate(5, symbol, exchange.Minute1, 1_704_067_200_000, 400)
	stored, lost, notified := 0, 0, []bool{}
	record := func(from, to int) {
		recorder := tape.NewRecorder(tape.RecorderConfig{Store: store, Notify: func(err error) { notified = append(notified, err == nil) },
			Count: func(k, l int) { stored, lost = stored+k, lost+l }})
		for i := from; i < to; i++ {
			recorder.Candles(symbol, candles.Slice(i, i+1))
		}
		recorder.Close()
	}
	have := func() *tape.Tape {
		t.Helper()
		recorded, err := store.Load(symbol, exchange.Minute1)
		if err != nil {
			t.Fatal(err)
		}
		return recorded
	}
	record(0, 50)
	disk.fill()
	record(50, 200)
	if n := have().Candles.Len(); n != stored || stored+lost != 200 || lost == 0 || len(notified) != 1 || notified[0] {
		t.Errorf("a full disk: want whole candles, the others counted, reported once; have %d, %d stored and %d lost, reported %v", n, stored, lost, notified)
	}
	disk.free()
	record(200, 400)
	after := have()
	if n := after.Candles.Len(); n != stored || stored+lost != 400 || len(after.Holes) != 1 || after.Holes[0].Missing != lost ||
		!slices.Contains(after.Candles.OpenMS, candles.OpenMS[399]) {
		t.Errorf("room again: want one hole of what was lost, have %d candles, %d kept and %d lost, holes %v", n, stored, lost, after.Holes)
	}
}
