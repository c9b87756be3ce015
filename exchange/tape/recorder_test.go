package tape_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/exchange"
	"botd/exchange/tape"
)

// tally collects a recorder's reports.
type tally struct {
	stored, lost int
	notices      []string
}

func (s *tally) config(directory string) tape.RecorderConfig {
	return tape.RecorderConfig{Store: tape.Store{Directory: directory},
		Count: func(stored, lost int) { s.stored, s.lost = s.stored+stored, s.lost+lost },
		Notify: func(err error) {
			if err == nil {
				s.notices = append(s.notices, "well")
				return
			}
			s.notices = append(s.notices, err.Error())
		}}
}

func TestRecorderStoresCandlesAndRates(t *testing.T) {
	t.Parallel()
	symbol, seen := bitcoin(t), &tally{}
	config := seen.config(filepath.Join(t.TempDir(), "not", "there"))
	candles := tape.Generate(3, symbol, exchange.Minute1, january, 20)
	recorder := tape.NewRecorder(config)
	for i := range 20 {
		recorder.Candles(symbol, candles.Slice(i, i+1))
	}
	for i := range int64(3) {
		recorder.Funding(tape.FundingRow{Symbol: symbol.Name, TimeMS: january + i*8*3_600_000, Rate: exchange.Rate(10_000 - i)})
	}
	recorder.Close()
	if have, err := config.Store.Load(symbol, exchange.Minute1); err != nil || have.Candles.Len() != 20 {
		t.Errorf("want 20 candles, have %v (%v)", have, err)
	}
	rows, err := tape.LoadFunding(config.Store.FundingPath(symbol.Name))
	if err != nil || len(rows) != 3 || rows[2].Rate != 9_998 {
		t.Errorf("want three rates, have %v (%v)", rows, err)
	}
	if seen.stored != 23 || seen.lost != 0 || len(seen.notices) != 0 {
		t.Errorf("want 23 rows stored, have %+v", seen)
	}
}

func TestAFailingDiskIsReportedOnceUntilItWorks(t *testing.T) {
	t.Parallel()
	symbol, seen := bitcoin(t), &tally{}
	candles := tape.Generate(3, symbol, exchange.Minute1, january, 20)
	hours := tape.Generate(3, symbol, exchange.Hour1, january, 20)
	free, asked := int64(10), 0
	config := seen.config(t.TempDir())
	config.MinFreeBytes = 50
	config.Free = func(string) (int64, bool) {
		if asked++; asked == 7 || asked > 12 {
			free = 100
		} else {
			free = 10
		}
		return free, true
	}
	recorder := tape.NewRecorder(config)
	for i := range 8 { // at the 7th check there is space for the minutes, not for the hours
		recorder.Candles(symbol, candles.Slice(i, i+1))
		recorder.Candles(symbol, hours.Slice(i, i+1))
	}
	recorder.Close()
	if len(seen.notices) != 2 || !strings.Contains(seen.notices[0], "nearly full") || seen.notices[1] != "well" {
		t.Errorf("want the failure reported once, and its end, have %q", seen.notices)
	}
	if seen.stored != 5 || seen.lost != 11 {
		t.Errorf("want 5 stored and 11 lost, have %+v", seen)
	}
}

func TestAnImpossibleDirectoryIsReportedOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	symbol, seen := bitcoin(t), &tally{}
	recorder := tape.NewRecorder(seen.config(path))
	for _, interval := range []exchange.Interval{exchange.Minute1, exchange.Hour1} {
		for i := range 5 {
			recorder.Candles(symbol, tape.Generate(3, symbol, interval, january, 5).Slice(i, i+1))
		}
	}
	recorder.Close()
	if len(seen.notices) != 1 || seen.lost != 10 {
		t.Errorf("want it reported once, and 10 rows lost, have %+v", seen)
	}
}

func TestTheOldestRowsOfTheLargestFileMakeRoom(t *testing.T) {
	t.Parallel()
	symbol, seen := bitcoin(t), &tally{}
	const most = 20_000
	config := seen.config(t.TempDir())
	config.MaxBytes = most
	minutes := tape.Generate(3, symbol, exchange.Minute1, january, 1_000)
	hours := tape.Generate(3, symbol, exchange.Hour1, january, 20)
	leftOver := filepath.Join(config.Store.Directory, "futures", ".writing-123")
	if err := os.MkdirAll(filepath.Dir(leftOver), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(leftOver, make([]byte, 5_000), 0o600); err != nil {
		t.Fatal(err)
	}
	for part := range 2 { // with a restart between
		recorder := tape.NewRecorder(config)
		recorder.Candles(symbol, hours)
		for i := range 500 {
			recorder.Candles(symbol, minutes.Slice(500*part+i, 500*part+i+1))
		}
		recorder.Close()
		size := int64(0)
		if err := filepath.WalkDir(config.Store.Directory, func(path string, item os.DirEntry, err error) error {
			if info, _ := item.Info(); !item.IsDir() {
				size += info.Size()
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if size > most || size < most/2 || recorder.Bytes() != size {
			t.Errorf("want at most %d bytes, and most of them used, have %d, reported as %d", most, size, recorder.Bytes())
		}
	}
	have, err := config.Store.Load(symbol, exchange.Minute1)
	if err != nil || len(have.Holes) != 0 || have.Candles.CloseMS(have.Candles.Len()-1) != minutes.CloseMS(999) {
		t.Errorf("want the newest minutes without a hole, have %v (%v)", have, err)
	}
	if stored, err := config.Store.Load(symbol, exchange.Hour1); err != nil || stored.Candles.Len() != 20 {
		t.Errorf("want all of the hours, have %v (%v)", stored, err)
	}
	if len(seen.notices) != 0 || seen.lost != 0 || seen.stored != 1_020 {
		t.Errorf("want every row stored at first, have %+v", seen)
	}
}

// TestASlowDiskDelaysNoCaller blocks the disk. Calls to the recorder return immediately, rows that do not fit
// are counted, and closing succeeds.
func TestASlowDiskDelaysNoCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		symbol := bitcoin(t)
		candles := tape.Generate(3, symbol, exchange.Minute1, january, 1)
		stands := make(chan struct{})
		lost := make(chan int, 10_000)
		config := tape.RecorderConfig{Store: tape.Store{Directory: t.TempDir()}, Notify: func(error) {},
			Count: func(_, n int) { lost <- n }, MinFreeBytes: 1, Free: func(string) (int64, bool) { <-stands; return 0, true }}
		recorder := tape.NewRecorder(config)
		began := time.Now()
		for range 5_000 {
			recorder.Candles(symbol, candles)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("want no time passed, have %s", took)
		}
		if len(lost) < 900 || len(lost) > 905 {
			t.Errorf("want what does not fit counted as lost, have %d", len(lost))
		}
		recorder.Close()
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("want closing to end, it took %s", took)
		}
		close(stands)
	})
}

// TestRecorderStopsAtItsBound prevents the removal of the oldest rows, as on a disk without space for a
// copy. The recorder retries from time to time, and recording continues afterwards.
func TestRecorderStopsAtItsBound(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		symbol, seen := bitcoin(t), &tally{}
		config := seen.config(directory)
		config.MaxBytes = 5_000
		minutes := tape.Generate(3, symbol, exchange.Minute1, january, 200)
		path := config.Store.Path(symbol.Market, symbol.Name, exchange.Minute1)
		other := filepath.Join(directory, "other.csv") // the largest file, which cannot be truncated
		if err := os.WriteFile(other, make([]byte, 6_000), 0o600); err != nil {
			t.Fatal(err)
		}
		recorder := tape.NewRecorder(config)
		for i := range 50 {
			recorder.Candles(symbol, minutes.Slice(i, i+1))
		}
		synctest.Wait()
		if _, err := os.Stat(path); !os.IsNotExist(err) || seen.lost != 50 || len(seen.notices) != 1 {
			t.Errorf("want nothing written, 50 rows lost, reported once; have %v, %+v", err, seen)
		}
		if err := os.WriteFile(other, []byte("rows\n1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		recorder.Candles(symbol, minutes.Slice(50, 51))
		recorder.Close()
		if have, err := config.Store.Load(symbol, exchange.Minute1); err != nil || have.Candles.Len() != 1 || len(seen.notices) != 2 ||
			seen.notices[1] != "well" {
			t.Errorf("want it to continue, have %v (%v), reported %q", have, err, seen.notices)
		}
	})
}

// TestAFileOfAHeaderAloneMakesNoRoom uses such a file that is larger than the limit for all files.
func TestAFileOfAHeaderAloneMakesNoRoom(t *testing.T) {
	t.Parallel()
	seen, directory := &tally{}, t.TempDir()
	config := seen.config(directory)
	config.MaxBytes = 5_000
	if err := os.WriteFile(filepath.Join(directory, "other.csv"), []byte(strings.Repeat("x", 5_999)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	recorder := tape.NewRecorder(config)
	recorder.Candles(bitcoin(t), tape.Generate(3, bitcoin(t), exchange.Minute1, january, 1))
	recorder.Close()
	if seen.lost != 1 || len(seen.notices) != 1 || !strings.HasSuffix(seen.notices[0], "other.csv: nothing more can be removed") {
		t.Errorf("want a row lost, and why, have %+v", seen)
	}
}

func TestSignalsCountInTheSizeOfWhatIsRecorded(t *testing.T) {
	t.Parallel()
	seen := &tally{}
	config := seen.config(t.TempDir())
	recorder := tape.NewRecorder(config)
	recorder.Signal(tape.SignalRow{TimeMS: 1_000, Strategy: "alerts", Side: 1, Share: 0.5})
	recorder.Close()
	info, err := os.Stat(config.Store.SignalsPath())
	if err != nil || info.Size() == 0 || recorder.Bytes() != info.Size() || seen.stored != 1 {
		t.Errorf("want the file's size, have %d, %+v, %v", recorder.Bytes(), info, err)
	}
}
