package tape

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"botd/exchange"
	"botd/internal/disk/disktest"
)

// TestARowThatAFullDiskCutsIsNotThere fills the disk at each byte of a recorder's writes.
func TestARowThatAFullDiskCutsIsNotThere(t *testing.T) {
	t.Parallel()
	disktest.Run(t, func(fill func(int64)) {
		const first, second = "1000,trend,0.5\n", "2000,trend,-1\n"
		for cut := range len(second) {
			s := Store{Directory: t.TempDir()}
			take := func(at int64, side int, share float64) error {
				_, err := s.ExtendSignals(&SignalRow{TimeMS: at, Strategy: "trend", Side: side, Share: share})
				return err
			}
			if err := take(1000, 1, 0.5); err != nil {
				t.Fatal(err)
			}
			before := signalsHeader + "\n" + first
			fill(int64(len(before) + cut))
			if err := take(2000, -1, 1); err == nil {
				t.Errorf("cut at %d: want an error", cut)
			}
			wantFile(t, s.SignalsPath(), before)
			fill(-1)
			if err := take(2000, -1, 1); err != nil {
				t.Errorf("cut at %d: with room again: %v", cut, err)
			}
			wantFile(t, s.SignalsPath(), before+second)
		}
	})
}

// TestASeriesThatAFullDiskDoesNotTakeIsAsItWas fills the disk while a complete file is rewritten: the rates of a symbol,
// and the front of a recorder's largest file.
func TestASeriesThatAFullDiskDoesNotTakeIsAsItWas(t *testing.T) {
	t.Parallel()
	disktest.Run(t, func(fill func(int64)) {
		s := Store{Directory: t.TempDir()}
		rate, err := exchange.ParseRate("0.0001")
		if err != nil {
			t.Fatal(err)
		}
		for i := range int64(40) {
			if _, err := s.ExtendFunding(FundingRow{Symbol: "BTC-USDT", TimeMS: i, Rate: rate}); err != nil {
				t.Fatal(err)
			}
		}
		path := s.FundingPath("BTC-USDT")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for size := int64(0); size < 500; size += 50 {
			fill(size)
			if err := cutFront(path); err == nil {
				t.Errorf("%d bytes: want an error", size)
			}
			fill(-1)
			wantFile(t, path, string(text))
			if items, err := os.ReadDir(filepath.Dir(path)); err != nil || len(items) != 1 {
				t.Errorf("%d bytes: want nothing left beside it, have %v, %v", size, items, err)
			}
		}
		if err := cutFront(path); err != nil {
			t.Fatal(err)
		}
		if after, err := os.ReadFile(path); err != nil || !strings.HasSuffix(string(text), strings.TrimPrefix(string(after), fundingHeader)) {
			t.Errorf("want its newest rows, have %s, %v", after, err)
		}
	})
}

func wantFile(t *testing.T, path, want string) {
	t.Helper()
	if have, err := os.ReadFile(path); err != nil || string(have) != want {
		t.Errorf("%s: want %q, have %q, %v", filepath.Base(path), want, have, err)
	}
}
