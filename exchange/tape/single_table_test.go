package tape_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"botd/exchange"
	"botd/exchange/tape"
)

// TestOneMissingCandleIsDownloaded covers a single gap of a single candle, then none.
func TestOneMissingCandleIsDownloaded(t *testing.T) {
	t.Parallel()
	const start = 1_704_067_200_000
	symbol, store := bitcoin(t), tape.Store{Directory: t.TempDir()}
	past := tape.Generate(3, symbol, exchange.Minute1, start, 3)
	for _, part := range []*exchange.Candles{past.Slice(0, 1), past.Slice(2, 3)} {
		if _, err := store.Save(symbol, part, false); err != nil {
			t.Fatal(err)
		}
	}
	d := tape.Download{Store: store, Symbol: symbol, Interval: exchange.Minute1, FromMS: start, ToMS: start + 180_000, Page: 10}
	for _, added := range []int{1, 0} {
		if saved, err := d.Run(context.Background(), &venue{candles: past}); err != nil || saved.Added != added || saved.Total != 3 {
			t.Errorf("want %d added of three, have %+v, %v", added, saved, err)
		}
	}
	if read, err := store.Load(symbol, exchange.Minute1); err != nil || read.Candles.Len() != 3 || len(read.Holes) != 0 {
		t.Errorf("want three candles without a hole, have %+v, %v", read, err)
	}
}

// TestADownloadBeginsWithTheFirstCandleThatOpensInIt begins at a candle's open, and a millisecond later.
func TestADownloadBeginsWithTheFirstCandleThatOpensInIt(t *testing.T) {
	t.Parallel()
	const start = 1_704_067_200_000
	symbol := bitcoin(t)
	past := tape.Generate(3, symbol, exchange.Minute1, start, 3)
	for later, want := range map[int64]int{0: 3, 1: 2, 59_999: 2, 60_000: 2, 60_001: 1} {
		d := tape.Download{Store: tape.Store{Directory: t.TempDir()}, Symbol: symbol, Interval: exchange.Minute1, FromMS: start + later,
			ToMS: start + 180_000, Page: 10}
		if saved, err := d.Run(context.Background(), &venue{candles: past}); err != nil || saved.Added != want {
			t.Errorf("%d ms later: want %d candles, have %+v, %v", later, want, saved, err)
		}
	}
}

// TestTheFirstFineCandleIsPartOfACoarseOne covers two whole coarse candles, and one that begins late.
func TestTheFirstFineCandleIsPartOfACoarseOne(t *testing.T) {
	t.Parallel()
	const start = 1_704_067_200_000
	fine := tape.Generate(3, bitcoin(t), exchange.Minute1, start, 10)
	coarse, incomplete, err := tape.Resample(fine, exchange.Minute5)
	if err != nil || coarse.Len() != 2 || len(incomplete) != 0 || coarse.Open[0] != fine.Open[0] || coarse.Open[1] != fine.Open[5] ||
		coarse.Close[0] != fine.Close[4] || coarse.OpenMS[0] != start {
		t.Errorf("want two whole ones, have %+v, %v, %v", coarse, incomplete, err)
	}
	late, incomplete, err := tape.Resample(fine.Slice(1, 10), exchange.Minute5)
	if err != nil || late.Len() != 1 || late.Open[0] != fine.Open[5] || len(incomplete) != 0 {
		t.Errorf("want the whole one alone, have %+v, %v, %v", late, incomplete, err)
	}
}

// TestTheFirstDifferenceIsNamed covers a new candle before the one that differs.
func TestTheFirstDifferenceIsNamed(t *testing.T) {
	t.Parallel()
	const start = 1_704_067_200_000
	symbol, store := bitcoin(t), tape.Store{Directory: t.TempDir()}
	past := tape.Generate(3, symbol, exchange.Minute1, start, 5)
	if _, err := store.Save(symbol, past.Slice(1, 4), false); err != nil {
		t.Fatal(err)
	}
	past.Volume[2]++
	saved, err := store.Save(symbol, past, false)
	var wrong *tape.DataError
	if !errors.As(err, &wrong) || wrong.What != "1 candles differ from the stored ones, the first at 1704067320000" || saved.Added != 2 || saved.Same != 2 {
		t.Errorf("want the third candle named, have %+v, %v", saved, err)
	}
}

// TestARefusedTradeNamesItsColumn puts each column first, so that none is found because it is missing.
func TestARefusedTradeNamesItsColumn(t *testing.T) {
	t.Parallel()
	for column, text := range map[string]string{
		"is_buyer_maker": "is_buyer_maker,id,price,qty,time_ms\nmaybe,1,10,2,1000\n",
		"side":           "side,id,price,qty,time_ms\nnone,1,10,2,1000\n",
		"price":          "price,id,qty,time_ms,side\n0,1,2,1000,buy\n",
		"qty":            "qty,id,price,time_ms,side\n-1,1,10,1000,buy\n",
		"id":             "id,price,qty,time_ms,side\nx,10,2,1000,buy\n",
	} {
		var wrong *tape.DataError
		if _, err := tape.LoadTrades(outside(t, text), ether(t)); !errors.As(err, &wrong) || wrong.Column != column || wrong.Line != 2 {
			t.Errorf("%s: want it named, have %v", column, err)
		}
	}
}

// TestIDsOfTradesAreDecimal refuses one in another base.
func TestIDsOfTradesAreDecimal(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"a", "1a", "0x1", "1.0", ""} {
		if _, err := tape.LoadTrades(outside(t, "id,price,qty,time_ms,side\n"+id+",10,2,1000,buy\n"), ether(t)); err == nil {
			t.Errorf("%q: want it refused", id)
		}
	}
}

// TestAWrittenFileIsReadableByOthers checks the mode of each kind of file: candles are no secret.
func TestAWrittenFileIsReadableByOthers(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a.csv", "a.csv.gz", "a.parquet"} {
		path := filepath.Join(t.TempDir(), name)
		err := tape.WriteFile(path, tape.Generate(3, bitcoin(t), exchange.Minute1, 1_704_067_200_000, 3), bitcoin(t), nil)
		info, other := os.Stat(path)
		if err != nil || other != nil || info.Mode() != 0o644 {
			t.Errorf("%s: want mode 0644, have %v, %v", name, info, errors.Join(err, other))
		}
	}
}

// TestSyntheticRatesAreTheSameInEachVersion covers the first rates of two seeds.
func TestSyntheticRatesAreTheSameInEachVersion(t *testing.T) {
	t.Parallel()
	for seed, want := range map[uint64]string{1: "0.00007917 0.00011888 0.00015551 0.00022438 0.00026707 0.00017578",
		2: "0.00018077 0.00020697 0.00024318 0.00028004 0.000199 0.0001162"} {
		var have []string
		for _, row := range tape.GenerateFunding(seed, "BTC-USDT", 8, 0, 6) {
			have = append(have, row.Rate.String())
		}
		if text := strings.Join(have, " "); text != want {
			t.Errorf("seed %d: want %s, have %s", seed, want, text)
		}
	}
}

// TestNumbersHaveBoundedExponents covers the longest ones that are numbers, and ones that are longer.
func TestNumbersHaveBoundedExponents(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1e-60": "decimal places", "1e-61": "is not a price", "1e60": "is not a price", "1e61": "is not a price",
	} {
		_, err := tape.LoadCandles(file(t, "x.csv", []byte(header+"1704067200000,"+text+",12,9,11,1.5\n")), bitcoin(t), 0, tape.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want %q, have %v", text, want, err)
		}
	}
	for text, number := range map[string]bool{"1e-30": true, "1e-31": false, "1e30": true, "1e31": false} {
		_, err := tape.LoadSymbols(file(t, "s.yaml", []byte("\n- {symbol: X-Y, priceTick: "+text+", quantityTick: 0.1}\n")))
		if err == nil || strings.Contains(err.Error(), "is not a decimal number") == number {
			t.Errorf("%s: want a number %t that is no tick, have %v", text, number, err)
		}
	}
}

// TestDaysWithoutVolumeAreReportedFromThreeOn covers stretches of two and of three daily candles, at the series' ends and within it.
func TestDaysWithoutVolumeAreReportedFromThreeOn(t *testing.T) {
	t.Parallel()
	const day = 86_400_000
	for volumes, want := range map[string]bool{"10010001": true, "1001001": false, "0001": true, "1000": true, "000": false} {
		candles := &exchange.Candles{Interval: exchange.Day1}
		for i, v := range volumes {
			price := exchange.Price(1_000 + 10*i)
			candles.Append(exchange.Candle{OpenMS: 1_704_067_200_000 + int64(i)*day, Open: price, High: price + 1, Low: price - 1, Close: price,
				Volume: float64(v - '0')})
		}
		have := strings.Join(tape.Oddities(&tape.Tape{Symbol: bitcoin(t), Candles: candles}), "\n")
		if strings.Contains(have, "no volume: 3 candles from ") != want {
			t.Errorf("%s: want it reported %t, have %q", volumes, want, have)
		}
	}
}
