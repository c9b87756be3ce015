package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/configs"
	"botd/exchange"
	"botd/exchange/tape"
	"botd/runtime/engine"
	"botd/runtime/ops"
	"botd/strategy"
)

// funded returns a funding rate every eight hours; every third answer fails.
type funded struct{ asked int }

func (f *funded) ServerNowMS() int64 { return time.Now().UnixMilli() }

func (f *funded) FundingRate(_ context.Context, symbol string) (exchange.FundingRate, error) {
	if f.asked++; f.asked%3 == 2 {
		return exchange.FundingRate{}, errors.New("busy")
	}
	now, eight := time.Now().UnixMilli(), int64(8*time.Hour/time.Millisecond)
	next := now/eight*eight + eight
	return exchange.FundingRate{Symbol: symbol, Rate: exchange.Rate(next / eight % 1000), NextMS: next}, nil
}

func TestEveryFundingRateIsStored(t *testing.T) {
	t.Parallel()
	store := tape.Store{Directory: t.TempDir()}
	synctest.Test(t, func(t *testing.T) {
		stored := recording{tape.NewRecorder(tape.RecorderConfig{Store: store, Notify: func(err error) { t.Error(err) }, Count: func(int, int) {}})}
		ctx, stop := context.WithTimeout(t.Context(), 10*24*time.Hour)
		defer stop()
		venue := &funded{}
		stored.keepFunding(ctx, venue, func() []string { return []string{"BTC-USDT", "ETH-USDT"} })
		stored.close()
		if venue.asked > 2*30*3+2 {
			t.Errorf("10 days, two symbols: want about three questions a payment, have %d", venue.asked)
		}
	})
	eight := int64(8 * time.Hour / time.Millisecond)
	for _, symbol := range []string{"BTC-USDT", "ETH-USDT"} {
		rows, err := tape.LoadFunding(store.FundingPath(symbol))
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) != 30 {
			t.Errorf("10 days: want 30 payments, have %d", len(rows))
		}
		for i, row := range rows {
			if row.TimeMS%eight != 0 || i > 0 && row.TimeMS != rows[i-1].TimeMS+eight || row.Rate != exchange.Rate(row.TimeMS/eight%1000) {
				t.Errorf("want each payment's own rate, have %+v", row)
			}
		}
	}
}

func TestSignalsThatWereTakenAreReadAgain(t *testing.T) {
	t.Parallel()
	store := tape.Store{Directory: t.TempDir()}
	for range 2 { // after a restart it continues
		stored := recording{tape.NewRecorder(tape.RecorderConfig{Store: store, Notify: func(err error) { t.Error(err) }, Count: func(int, int) {}})}
		stored.signal(1_000, "alerts", &strategy.Signal{Side: 1, Share: exchange.RateOne})
		stored.signal(2_000, "other", &strategy.Signal{Side: -1, Share: exchange.RateOne / 4})
		stored.signal(1_500, "alerts", &strategy.Signal{}) // a clock that was set back
		stored.close()
	}
	rows, err := tape.LoadSignals(store.SignalsPath())
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, row := range rows {
		have = append(have, fmt.Sprintf("%d %s %d %g", row.TimeMS, row.Strategy, row.Side, row.Share))
	}
	want := []string{"1000 alerts 1 1", "2000 other -1 0.25", "2000 alerts 0 1", "2000 alerts 1 1", "2000 other -1 0.25", "2000 alerts 0 1"}
	if !slices.Equal(have, want) {
		t.Errorf("want %q, have %q", want, have)
	}
}

// TestDataThatAreNotRecordedAreReportedAndTheirReturn uses a file in place of their folder, until it is removed.
func TestDataThatAreNotRecordedAreReportedAndTheirReturn(t *testing.T) {
	t.Parallel()
	console, lines := logged(t)
	config := &configs.Config{}
	config.Retention.RecordedMiB = 8
	directory := t.TempDir()
	folder := filepath.Join(directory, tape.RecordedFolder)
	if err := os.WriteFile(folder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		stored := startRecording(config, directory, ops.NewMetrics("demo", ops.Build{}), console)
		stored.signal(1_000, "alerts", &strategy.Signal{Side: 1})
		synctest.Wait()
		if have := lines(); len(have) != 1 || !strings.HasPrefix(have[0], "warn recorder.failed recorder  polled data are not recorded for backtests: ") ||
			!strings.HasSuffix(have[0], "; trading is not affected") {
			t.Errorf("want it reported, have %q", have)
		}
		if err := os.Remove(folder); err != nil {
			t.Fatal(err)
		}
		stored.signal(2_000, "alerts", &strategy.Signal{Side: 1})
		stored.close()
	})
	if have := lines(); !slices.Equal(have, []string{"info recorder.back recorder  polled data are recorded again"}) {
		t.Errorf("want its return, have %q", have)
	}
}

// TestARateIsStoredThreeMinutesBeforeItsPayment covers payments around that time.
func TestARateIsStoredThreeMinutesBeforeItsPayment(t *testing.T) {
	t.Parallel()
	const nowMS = 1_000_000
	for left, want := range map[time.Duration]time.Duration{3*time.Minute + time.Millisecond: time.Millisecond, 3 * time.Minute: 6 * time.Minute,
		time.Second: 3*time.Minute + time.Second, -time.Second: 3 * time.Minute} {
		store := tape.Store{Directory: t.TempDir()}
		stored := recording{tape.NewRecorder(tape.RecorderConfig{Store: store, Notify: func(err error) { t.Error(err) }, Count: func(int, int) {}})}
		have := stored.keepRate(t.Context(), rated{nowMS + left.Milliseconds()}, "BTC-USDT")
		stored.close()
		rows, err := tape.LoadFunding(store.FundingPath("BTC-USDT"))
		if near := left <= 3*time.Minute; have != want || near != (len(rows) == 1) || near && err != nil {
			t.Errorf("%s before: want it asked again after %s, and stored %t, have %s, %v, %v", left, want, near, have, rows, err)
		}
	}
}

func TestRecordingCanBeDisabled(t *testing.T) {
	t.Parallel()
	stored := startRecording(&configs.Config{}, "/nowhere", nil, nil)
	if !stored.note(&engine.Note{Fact: engine.NoteCandles{Candles: &exchange.Candles{}}}) || stored.note(&engine.Note{Fact: engine.NoteCandle{}}) {
		t.Error("want the notes of polled candles taken, and no others")
	}
	stored.keepFunding(t.Context(), &funded{}, func() []string { return []string{"BTC-USDT"} })
	stored.signal(1_000, "alerts", &strategy.Signal{})
	stored.close()
}
