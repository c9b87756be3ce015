package tape

import (
	"errors"
	"io/fs"
	"slices"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"botd/exchange"
	"botd/internal/disk/disktest"
)

// TestEachFileCallOfARecorderFails records candles, rates and signals in two processes until the oldest rows are removed. Each failure is
// reported. The files contain the newest of the rows that count as stored and none that counts as lost, and the next row is stored.
func TestEachFileCallOfARecorderFails(t *testing.T) {
	t.Parallel()
	symbol, err := exchange.NewSymbol(exchange.SymbolSpec{Market: exchange.Futures, Name: "BTC-USDT", Base: "BTC", Quote: "USDT",
		PriceTick: decimal.RequireFromString("0.1"), QuantityTick: decimal.RequireFromString("0.001"), MinNotional: decimal.NewFromInt(5),
		MaxNotional: decimal.NewFromInt(1_000_000)})
	if err != nil {
		t.Fatal(err)
	}
	minutes := Generate(3, symbol, exchange.Minute1, 1_704_067_200_000, 10)
	disktest.EachCallFails(t, func(directory string, reported func(error)) {
		store, lost := Store{Directory: directory}, 0
		var stored [3][]int64 // times of the rows that count as stored: candles, rates, signals
		for process := range 2 {
			r := newRecorder(RecorderConfig{Store: store, MaxBytes: 1_300, Notify: reported, Count: func(_, n int) { lost += n }})
			r.measure()
			for i := 5 * process; i < 5*process+5; i++ {
				at := [3]int64{minutes.OpenMS[i], minutes.OpenMS[0] + int64(i)*hourMS, minutes.OpenMS[i]}
				for kind, row := range []recorded{{symbol: *symbol, candles: minutes.Slice(i, i+1)},
					{funding: FundingRow{Symbol: symbol.Name, TimeMS: at[1], Rate: 10_000}},
					{signal: &SignalRow{TimeMS: at[2], Strategy: "trend", Side: 1, Share: 0.5}}} {
					before := lost
					if r.write(&row); lost == before {
						stored[kind] = append(stored[kind], at[kind])
					}
					r.cutting.after = time.Time{} // it is retried when its time has come
				}
			}
		}
		if lost > 1 {
			t.Errorf("want one row lost by one failure, have %d", lost)
		}
		for kind, have := range recordedTimes(t, store, symbol, reported) {
			if want := stored[kind]; len(have) == 0 || len(have) > len(want) || !slices.Equal(have, want[len(want)-len(have):]) {
				t.Errorf("kind %d: want the newest of %d, have %d", kind, want, have)
			}
		}
	})
}

// recordedTimes returns the times in the files of a recorder: of candles, rates and signals.
func recordedTimes(t *testing.T, store Store, symbol *exchange.Symbol, reported func(error)) (times [3][]int64) {
	t.Helper()
	again := func(read func() error) {
		err := read()
		if err != nil {
			reported(err)
			err = read()
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	again(func() error {
		candles, err := store.Load(symbol, exchange.Minute1)
		if err == nil {
			times[0] = candles.Candles.OpenMS
		}
		return err
	})
	again(func() error {
		rates, err := LoadFunding(store.FundingPath(symbol.Name))
		for i := range rates {
			times[1] = append(times[1], rates[i].TimeMS)
		}
		return err
	})
	again(func() error {
		signals, err := LoadSignals(store.SignalsPath())
		for i := range signals {
			times[2] = append(times[2], signals[i].TimeMS)
		}
		return err
	})
	return times
}
