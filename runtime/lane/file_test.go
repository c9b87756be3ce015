package lane

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"botd/exchange"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime/engine"
)

func opened(t *testing.T, path string) (*File, []record.Record) {
	t.Helper()
	file, records, err := OpenFile(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return file, records
}

func closed(t *testing.T, file *File) {
	t.Helper()
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

func halted(why string) []record.Record {
	return []record.Record{{AtMS: 1, Body: record.Halt{Level: record.LevelFlatten, Reason: why}}}
}

// TestFileKeepsRecordsUntilReset writes, restarts, tears the last line, and empties the
// file. Its size never changes, so a full disk accepts the writes.
func TestFileKeepsRecordsUntilReset(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), FileName)
	want := func(size int) {
		t.Helper()
		info, err := os.Stat(path)
		if err != nil || info.Size() != fileSize || info.Mode().Perm() != 0o600 {
			t.Errorf("want %d bytes of mode 0600, have %v, %v", fileSize, info, err)
		}
		file, records := opened(t, path)
		closed(t, file)
		if len(records) != size {
			t.Errorf("want %d records, have %+v", size, records)
		}
	}
	file, _ := opened(t, path)
	for _, why := range []string{"one", "two"} {
		if !file.write(halted(why), time.Minute) {
			t.Fatal("want it durable")
		}
	}
	closed(t, file)
	want(2)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	end := 0
	for text[end] != 0 {
		end++
	}
	clear(text[end-3 : end]) // torn by a crash
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	want(1)
	file, _ = opened(t, path)
	if err := file.Reset(); err != nil {
		t.Fatal(err)
	}
	if !file.write(halted("three"), time.Minute) {
		t.Error("want it durable after the file started over")
	}
	closed(t, file)
	want(1)
	if err := os.WriteFile(path, []byte("nonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := OpenFile(path, nil); err == nil {
		t.Error("a file that cannot be read: want it refused, since somebody meant to stop botd")
	}
}

func order(side exchange.Side, market exchange.Market, reduces, protects bool) *exchange.NewOrder {
	return &exchange.NewOrder{Market: market, Symbol: "BTC-USDT", Side: side, ReduceOnly: reduces, ClosePosition: protects}
}

// TestGateBlocksPlacementsByHaltLevel checks which of the engine's placements may leave while the lane
// acts at each level.
func TestGateBlocksPlacementsByHaltLevel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		order   *exchange.NewOrder
		refused record.HaltLevel // the mildest level that blocks it; LevelNone for none
	}{
		{"an opening", order(exchange.Buy, exchange.Futures, false, false), record.LevelPause},
		{"an opening short", order(exchange.Sell, exchange.Futures, false, false), record.LevelPause},
		{"a purchase", order(exchange.Buy, exchange.Spot, false, false), record.LevelPause},
		{"an exit", order(exchange.Sell, exchange.Futures, true, false), record.LevelFlatten},
		{"a sale", order(exchange.Sell, exchange.Spot, false, false), record.LevelFlatten},
		{"a stop of the whole position", order(exchange.Sell, exchange.Futures, false, true), record.LevelNone},
	} {
		for _, level := range []record.HaltLevel{record.LevelNone, record.LevelPause, record.LevelCancel, record.LevelFlatten} {
			l := New(Config{})
			if level != record.LevelNone {
				l.acting = newAction(0, nil, nil, "")
				l.acting.add(haltRequest{halt: engine.EventHalt{Level: level}})
			}
			if want := level != record.LevelNone && c.refused != record.LevelNone && level >= c.refused; l.Refuses(c.order) != want {
				t.Errorf("%s at level %s: want refused %t", c.name, level, want)
			}
		}
	}
}

// TestLaneClosesOnlyOwnPart compares positions that were read with those of the last list.
func TestLaneClosesOnlyOwnPart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                string
		close, others, sent exchange.Quantity
		remaining, want     exchange.Quantity // as read, without the part that is left to others
	}{
		{"all of it", 10, 0, 0, 10, 10},
		{"short", -10, 0, 0, -10, -10},
		{"a quantity that an opening added", 10, 0, 0, 12, 12},
		{"nothing left", 10, 0, 10, 0, 0},
		{"another side, which botd did not open", 10, 0, 10, -3, 0},
		{"a position where there was none", 0, 0, 0, 5, 0},
		{"beside another part, all of its own", 10, 5, 0, 10, 10},
		{"beside another part, its own once", 10, 5, 10, 10, 0},
		{"beside another part, the rest", 10, 5, 6, 4, 4},
	} {
		one := &exposure{Exposure: engine.Exposure{Close: c.close, Others: c.others}, sent: c.sent}
		if have := one.toClose(c.remaining); have != c.want {
			t.Errorf("%s: want %d, have %d", c.name, c.want, have)
		}
	}
}

// TestALaneIDIsOneOfTheStarts checks that ids of the lane parse as the start declares them.
func TestALaneIDIsOneOfTheStarts(t *testing.T) {
	t.Parallel()
	start := placement.Start{Epoch: 1_795_370_718, Random: "lane0"}
	serial, ours := placement.ParseSerial(placement.ClientOrderID("main", start, placement.LaneIDs))
	if !ours || serial.Start != start || serial.Sequence != placement.LaneIDs {
		t.Errorf("want %+v, have %+v", start, serial)
	}
}

// testCode computes codes that cannot be guessed from a text alone.
func testCode(text []byte) string {
	return fmt.Sprintf("%x", sha256.Sum256(append([]byte("a key"), text...)))
}

// TestKeyedFileRequiresLineCodes forges, swaps and removes lines. The record of a forged line would
// become one of the journal.
func TestKeyedFileRequiresLineCodes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), FileName)
	for range 2 { // the second one continues where the first ended
		file, _, err := OpenFile(path, testCode)
		if err != nil {
			t.Fatal(err)
		}
		for _, why := range []string{"a\tb", "c"} {
			if !file.write(halted(why), time.Minute) {
				t.Fatal("want it written")
			}
		}
		closed(t, file)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if records, _, _, err := parse(text, testCode); err != nil || len(records) != 4 {
		t.Fatalf("want four records, have %d, %v", len(records), err)
	}
	lines := bytes.SplitAfter(bytes.TrimRight(text, "\x00"), []byte("\n"))
	plain, _, _ := bytes.Cut(lines[0], []byte("\t"))
	for name, forged := range map[string][]byte{
		"a line without a code":    append(plain, '\n'),
		"a line with another text": bytes.Replace(lines[0], []byte("flatten"), []byte("pause"), 1),
		"the lines exchanged":      bytes.Join([][]byte{lines[1], lines[0]}, nil),
		"the first one taken out":  lines[1],
		"one taken out":            bytes.Join([][]byte{lines[0], lines[2]}, nil),
		"a line twice":             bytes.Join([][]byte{lines[0], lines[0]}, nil),
	} {
		if records, _, _, err := parse(forged, testCode); err == nil {
			t.Errorf("%s: want it refused, have %+v", name, records)
		}
	}
	if _, _, _, err := parse(text, nil); err == nil {
		t.Error("want lines with codes refused without the key")
	}
}
