package tape_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"botd/exchange"
	"botd/exchange/tape"
)

// TestEachFormOfANumberIsReadExactly reads numbers as the close and the volume of a row. The row follows another one in the
// plain form, so that most are read in the fast way, and is followed by one that shows that its end was found.
func TestEachFormOfANumberIsReadExactly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, price string }{ // without a price it is a volume alone
		{"1", "1"}, {"12", "12"}, {"1234567", "1234567"}, {"12345678", "12345678"}, {"123456789", "123456789"}, {"12345678.1", "12345678.1"},
		{"12345678123.5", "12345678123.5"}, {"1234567812345678", ""}, {"123456781234567812", ""}, {"1234567812345678123", ""}, {"1.5", "1.5"}, {"1.50",
			"1.5"}, {"0001.5", "1.5"}, {"1.", "1"}, {".5", "0.5"},
		{"1.1234567", "1.1234567"}, {"1.12345678", "1.12345678"}, {"1.123456789", "1.123456789"}, {"1.500000000000", "1.5"}, {"1.50000000000000000", "1.5"},
		{"0.000000012345678", "0.000000012345678"}, {"12345678.12345678", "12345678.12345678"}, {"1e2", "100"}, {"1.5E-3", "0.0015"}, {"15e-1", "1.5"},
		{"1.5000000000000000000000000", "1.5"}, {"+7", "7"}, {"1234567890123456.0", ""}, {"9007199254740993", ""}, {"900719925474099.35", ""},
		{"0.1234567890123456789", ""}, {"10069315697783.869", ""}, {"13018890676345.433", ""}, {"16944650743714.891", ""},
	} {
		for _, quoted := range []bool{false, true} {
			field := c.text
			if quoted {
				field = ` "` + c.text + `" `
			}
			price, wantPrice := field, c.price
			if c.price == "" {
				price, wantPrice = "1", "1"
			}
			text := fmt.Sprintf("%s1704067200000,1,1,1,1,1\n1704067260000,%s,%[2]s,%[2]s,%[2]s,%s\n1704067320000,2,2,2,2,2\n", header, price, field)
			have, err := tape.LoadCandles(file(t, "x.csv", []byte(text)), bitcoin(t), 0, tape.Options{})
			if err != nil {
				t.Errorf("%s: %v", field, err)
				continue
			}
			want, err := strconv.ParseFloat(c.text, 64)
			if err != nil {
				t.Fatal(err)
			}
			candle, after := have.Candles.At(1), have.Candles.At(2)
			if price = have.Symbol.PriceDecimal(candle.Close).String(); price != wantPrice || candle.Volume != want || candle.Open != candle.Close {
				t.Errorf("%s: want %s and %v, have %s and %v", field, wantPrice, want, price, candle.Volume)
			}
			if have.Candles.Len() != 3 || have.Symbol.PriceDecimal(after.High).String() != "2" || after.Volume != 2 {
				t.Errorf("%s: want the next row after it, have %+v", field, after)
			}
		}
	}
}

// TestWordsAreNoNumbers reads fields that are no number in any way of reading.
func TestWordsAreNoNumbers(t *testing.T) {
	t.Parallel()
	for _, field := range []string{"1r", "1/2", "1:2", "r1", "1.2.3", ".", "1,", "0x1", "1_0", "Inf", "NaN", "1e", "1e400", "--1", "1 2", "\x001"} {
		for column, name := range []string{"open_time_ms", "open", "high", "low", "close", "volume"} {
			fields := []string{"1704067260000", "1", "1", "1", "1", "1"}
			fields[column] = field
			text := header + "1704067200000,1,1,1,1,1\n" + strings.Join(fields, ",") + "\n"
			_, err := tape.LoadCandles(file(t, "x.csv", []byte(text)), bitcoin(t), exchange.Minute1, tape.Options{})
			if err == nil || !strings.Contains(err.Error(), "x.csv:3: ") || field != "1," && !strings.Contains(err.Error(), "x.csv:3: "+name+" ") {
				t.Errorf("%s %q: want an error of line 3, have %v", name, field, err)
			}
		}
	}
}

// TestALaterRowRaisesTheScale puts the first finer price after the rows that are examined first, as CSV and
// as Parquet.
func TestALaterRowRaisesTheScale(t *testing.T) {
	t.Parallel()
	const count = 5_000
	var rows []plainRow
	var text strings.Builder
	text.WriteString(header)
	for i := range count {
		price := 10 + float64(i%3)
		if i == count-2 {
			price = 10.123456789
		}
		rows = append(rows, plainRow{january + int64(i)*60_000, price, price, price, price, float64(i)})
		fmt.Fprintf(&text, "%d,%v,%[2]v,%[2]v,%[2]v,%d\n", january+int64(i)*60_000, price, i)
	}
	for _, path := range []string{file(t, "a.csv", []byte(text.String())), parquetOf(t, rows)} {
		have, err := tape.LoadCandles(path, bitcoin(t), 0, tape.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range count {
			candle := have.Candles.At(i)
			if price, _ := have.Symbol.PriceDecimal(candle.High).Float64(); candle.OpenMS != rows[i].OpenTime || price != rows[i].High ||
				candle.Volume != float64(i) {
				t.Fatalf("row %d: want %+v, have %+v at %v", i, rows[i], candle, price)
			}
		}
		if have.Candles.Len() != count || have.Symbol.PriceDecimal(have.Candles.Low[count-2]).String() != "10.123456789" {
			t.Errorf("want %d candles, one of 10.123456789; have %d", count, have.Candles.Len())
		}
	}
}

// TestOptionalColumnsBeginWithTheirFirstNumber puts the first number of each optional column into a different
// row.
func TestOptionalColumnsBeginWithTheirFirstNumber(t *testing.T) {
	t.Parallel()
	const head = "open_time_ms,open,high,low,close,volume,close_time_ms,quote_volume,trades,taker_buy_base,taker_buy_quote\n"
	row := func(n int, rest string) string {
		return fmt.Sprintf("%d,10,12,9,11,%s\n", january+int64(n)*60_000, rest)
	}
	have, err := tape.LoadCandles(file(t, "x.csv", []byte(head+row(0, "1,,,,,")+row(1, "2,,5.5,,,")+row(2, ",,,7,,")+row(3, "4,,6,8,,0.25")+row(4,
		"0,,0,0,0.5,")+
		row(5, "6,1704067530000,0,9,0,0"))), bitcoin(t), 0, tape.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := [][5]float64{{1, 0, 0, 0, 0}, {2, 5.5, 0, 0, 0}, {0, 0, 7, 0, 0}, {4, 6, 8, 0, 0.25}, {0, 0, 0, 0.5, 0}, {6, 0, 9, 0, 0}}
	for i := range want {
		c := have.Candles.At(i)
		if numbers := [5]float64{c.Volume, c.QuoteVolume, float64(c.Trades), c.TakerBase, c.TakerQuote}; numbers != want[i] {
			t.Errorf("row %d: want %v, have %v", i, want[i], numbers)
		}
	}
	if warnings := strings.Join(have.Warnings, "; "); warnings != "2 of 6 candles have no volume; "+
		"the last candle closes at 1704067530000, 30000 ms before its interval ends: it may have been incomplete" {
		t.Errorf("have %s", warnings)
	}
	for _, closes := range []string{"1704067259999", "1704067260000", "1704067260000000"} {
		whole, err := tape.LoadCandles(file(t, "x.csv", []byte(head+row(0, "1,"+closes+",,,,"))), bitcoin(t), exchange.Minute1, tape.Options{})
		if err != nil || len(whole.Warnings) > 0 {
			t.Errorf("a close at %s: want no warning, have %+v (%v)", closes, whole, err)
		}
	}
	without, err := tape.LoadCandles(file(t, "x.csv", []byte(head+row(0, "1,1704067259999,0,0,0,0")+row(1, "1,1704067320000,,,,"))), bitcoin(t), 0,
		tape.Options{})
	if err != nil || without.Candles.QuoteVolume != nil || without.Candles.Trades != nil || without.Candles.TakerBase != nil || len(without.Warnings) > 0 {
		t.Errorf("want no optional column and no warning, have %+v, %q (%v)", without.Candles, without.Warnings, err)
	}
}

// TestMoreDroppedRowsThanAreListed drops 1,003 rows.
func TestMoreDroppedRowsThanAreListed(t *testing.T) {
	t.Parallel()
	for _, wrong := range []int{1_000, 1_001, 1_003} {
		text := header + minute(0) + strings.Repeat(minute(0), wrong) + minute(1)
		have, err := tape.LoadCandles(file(t, "x.csv", []byte(text)), bitcoin(t), exchange.Minute1, tape.Options{Repair: true})
		if err != nil || have.Candles.Len() != 2 {
			t.Fatalf("want 2 candles, have %v (%v)", have, err)
		}
		want, last := min(wrong, 1_001), "line 1002 dropped: open time 1704067200000 appears twice"
		if wrong > 1_000 {
			last = fmt.Sprintf("and %d more rows", wrong-1_000)
		}
		if len(have.Repaired) != want || have.Repaired[0] != "line 3 dropped: open time 1704067200000 appears twice" || have.Repaired[want-1] != last {
			t.Errorf("%d wrong rows: want %d sentences to %q, have %d to %q", wrong, want, last, len(have.Repaired), have.Repaired[len(have.Repaired)-1])
		}
	}
}

// TestARowInTheFarFutureIsDropped keeps the rows after it, but a gap is a gap.
func TestARowInTheFarFutureIsDropped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rows    []int64 // minutes
		want    []int64
		dropped string
	}{
		{[]int64{0, 1, 9_000, 2, 3}, []int64{0, 1, 2, 3}, "line 4 dropped: open time 1704607200000 is after the row below (1704067320000): out of order"},
		{[]int64{0, 1, 9_000, 9_001}, []int64{0, 1, 9_000, 9_001}, ""},
		{[]int64{0, 1, 9_000}, []int64{0, 1, 9_000}, ""},
		{[]int64{0, 1, 9_000, 1, 9_001}, []int64{0, 1, 9_000, 9_001},
			"line 5 dropped: open time 1704067260000 is before the row above (1704607200000): out of order"},
		{[]int64{0, 1, 3, 2}, []int64{0, 1, 2}, "line 4 dropped: open time 1704067380000 is after the row below (1704067320000): out of order"},
	} {
		text := header
		for _, n := range c.rows {
			text += minute(n)
		}
		have, err := tape.LoadCandles(file(t, "x.csv", []byte(text)), bitcoin(t), exchange.Minute1, tape.Options{Repair: true})
		if err != nil {
			t.Fatal(err)
		}
		var minutes []int64
		for _, at := range have.Candles.OpenMS {
			minutes = append(minutes, (at-january)/60_000)
		}
		if fmt.Sprint(minutes) != fmt.Sprint(c.want) || strings.Join(have.Repaired, "; ") != c.dropped {
			t.Errorf("%v: want %v and %q, have %v and %q", c.rows, c.want, c.dropped, minutes, have.Repaired)
		}
	}
}

// TestProgressEndsWithTheFile reads a file of several blocks, each number of which shows that no row is lost between two.
func TestProgressEndsWithTheFile(t *testing.T) {
	t.Parallel()
	const count = 60_000
	var text strings.Builder
	text.WriteString(header)
	for i := range count {
		fmt.Fprintf(&text, "%d,10,%d.%03d,9,11,%d\n", january+int64(i)*60_000, 100+i/1_000, i%1_000, i)
	}
	path, last := file(t, "x.csv", []byte(text.String())), int64(0)
	have, err := tape.LoadCandles(path, bitcoin(t), 0, tape.Options{Progress: func(done, total int64) {
		if done < last || total != int64(text.Len()) {
			t.Errorf("want the progress from %d to %d, have %d of %d", last, text.Len(), done, total)
		}
		last = done
	}})
	if err != nil || have.Candles.Len() != count || last != int64(text.Len()) || len(have.Holes) > 0 {
		t.Fatalf("want %d candles and %d bytes, have %v, %d bytes (%v)", count, text.Len(), have, last, err)
	}
	for i := range count {
		c := have.Candles.At(i)
		if have.Symbol.PriceDecimal(c.High).String() != strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%d.%03d", 100+i/1_000, i%1_000), "0"), ".") ||
			c.Volume != float64(i) {
			t.Fatalf("row %d: have %+v", i, c)
		}
	}
}

// TestParquetColumnsOfEachTypeAreRead reads the same candles from columns of several types.
func TestParquetColumnsOfEachTypeAreRead(t *testing.T) {
	t.Parallel()
	type nanoseconds struct {
		OpenTime int64   `parquet:"open_time_ms,timestamp(nanosecond)"`
		Open     int32   `parquet:"open,decimal(1:9)"`
		High     [9]byte `parquet:"high,decimal(3:20)"`
		Low      int32   `parquet:"low"`
		Close    float32 `parquet:"close"`
		Volume   int32   `parquet:"volume,decimal(2:9)"`
		Trades   int64   `parquet:"trades"`
		Taker    int64   `parquet:"taker_buy_base,decimal(3:18)"`
	}
	var rows []nanoseconds
	for i := range 3_000 {
		high := [9]byte{7: byte((13_000 + i) >> 8), 8: byte((13_000 + i) & 0xff)}
		rows = append(rows, nanoseconds{(january + int64(i)*60_000) * 1_000_000, 105 + int32(i%10), high, 9, 11.5, int32(i), int64(i), int64(i)})
	}
	have, err := tape.LoadCandles(parquetOf(t, rows), bitcoin(t), 0, tape.Options{})
	if err != nil || have.Candles.Len() != len(rows) {
		t.Fatalf("want %d candles, have %+v (%v)", len(rows), have, err)
	}
	show := func(p exchange.Price) float64 { f, _ := have.Symbol.PriceDecimal(p).Float64(); return f }
	for i := range rows {
		c := have.Candles.At(i)
		if c.OpenMS != january+int64(i)*60_000 || show(c.Open) != 10.5+float64(i%10)/10 || show(c.High) != float64(13_000+i)/1_000 || show(c.Low) != 9 ||
			show(c.Close) != 11.5 || c.Volume != float64(i)/100 || c.Trades != int64(i) || c.TakerBase != float64(i)/1_000 {
			t.Fatalf("row %d: have %+v", i, c)
		}
	}
}

// TestTablesAreReadAgain writes a table whose columns are known at run time.
func TestTablesAreReadAgain(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := tape.WriteTable(&out, []tape.TableColumn{{Name: "z", Numbers: []float64{1.5, math.NaN(), -3}}, {Name: "a", Texts: []string{"x", "",
		"y"}}}); err != nil {
		t.Fatal(err)
	}
	type row struct {
		A string   `parquet:"a"`
		Z *float64 `parquet:"z,optional"`
	}
	have, err := parquet.ReadFile[row](file(t, "t.parquet", []byte(out.String())))
	if err != nil || len(have) != 3 {
		t.Fatalf("want 3 rows, have %+v (%v)", have, err)
	}
	if have[0].A != "x" || *have[0].Z != 1.5 || have[1].A != "" || have[1].Z != nil || have[2].A != "y" || *have[2].Z != -3 {
		t.Errorf("have %+v", have)
	}
}

// TestParquetRefusesAPriceThatADoubleCannotHold names the candle and the hint.
func TestParquetRefusesAPriceThatADoubleCannotHold(t *testing.T) {
	t.Parallel()
	have, err := tape.LoadCandles(file(t, "x.csv", []byte(header+"1704067200000,1234567890.12345678,1234567890.12345678,1,1,1\n")), bitcoin(t),
		exchange.Minute1,
		tape.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	want := "candle 1704067200000: price 1234567890.12345678 has more digits than Parquet's doubles hold\nhint: export CSV"
	if err := tape.WriteParquet(&out, have.Candles, have.Symbol, nil); err == nil || err.Error() != want {
		t.Errorf("want %q, have %v", want, err)
	}
}
