package tape_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"botd/exchange"
	"botd/exchange/tape"
)

const start = 1_704_067_200_000

func csv(t *testing.T, candles *exchange.Candles, symbol *exchange.Symbol) string {
	t.Helper()
	var out bytes.Buffer
	if err := tape.WriteCSV(&out, candles, symbol, nil); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestEveryFormatBringsTheSameCandlesBack(t *testing.T) {
	t.Parallel()
	symbol := bitcoin(t)
	made := tape.Generate(3, symbol, exchange.Minute1, start, 10_000)
	want := csv(t, made, symbol)
	for _, name := range []string{"a.csv", "a.csv.gz", "a.parquet"} {
		path := filepath.Join(t.TempDir(), "new", name)
		if err := tape.WriteFile(path, made, symbol, nil); err != nil {
			t.Fatal(err)
		}
		read, err := tape.LoadCandles(path, symbol, 0, tape.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if have := csv(t, read.Candles, read.Symbol); have != want {
			t.Errorf("%s: candles differ after writing and reading", name)
		}
		if rest, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".writing-*")); len(rest) > 0 {
			t.Errorf("%s: left behind %v", name, rest)
		}
	}
	if err := tape.WriteFile(filepath.Join(t.TempDir(), "a.xls"), made, symbol, nil); err == nil || !strings.Contains(err.Error(), ".parquet") {
		t.Errorf("want an error that names the formats, have %v", err)
	}
}

func zipOf(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for name, content := range files {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		f.Write([]byte(content))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestPackedFilesAreReadOrRefusedWithAHint(t *testing.T) {
	t.Parallel()
	good := zipOf(t, map[string]string{"BTC.CSV": header + minutes, "CHECKSUM": "x"})
	read, err := tape.LoadCandles(file(t, "x.zip", good), bitcoin(t), 0, tape.Options{})
	if err != nil || read.Candles.Len() != 3 {
		t.Errorf("want 3 candles, have %v, %v", read, err)
	}
	type odd struct {
		Open string `parquet:"open_time_ms"`
	}
	type list struct {
		Open []int64 `parquet:"open_time_ms,list"`
	}
	var text, lists bytes.Buffer
	if err := errors.Join(parquet.Write(&text, []odd{{"soon, perhaps"}}), parquet.Write(&lists, []list{{[]int64{1}}})); err != nil {
		t.Fatal(err)
	}
	var whole bytes.Buffer
	if err := tape.WriteParquet(&whole, tape.Generate(1, bitcoin(t), exchange.Minute1, start, 100), bitcoin(t), nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		content []byte
		want    string
	}{
		{"two.zip", zipOf(t, map[string]string{"a.csv": header, "b.csv": header}), "holds 2 CSV files"},
		{"none.zip", zipOf(t, map[string]string{"readme": ""}), "holds 0 CSV files"},
		{"cut.zip", good[:len(good)/2], "the ZIP archive is broken"},
		{"cut.parquet", whole.Bytes()[:whole.Len()/2], "cannot be read"},
		{"columns.parquet", text.Bytes(), "column open is missing"},
		{"lists.parquet", lists.Bytes(), "holds lists"},
		{"wrong row.zip", zipOf(t, map[string]string{"a.csv": header + minutes + "x"}), "wrong row.zip:5: 1 columns"},
	} {
		_, err := tape.LoadCandles(file(t, c.name, c.content), bitcoin(t), 0, tape.Options{})
		var data *tape.DataError
		if !errors.As(err, &data) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %q, have %v", c.name, c.want, err)
		}
	}
}

func TestBrokenParquetIsAnErrorAndNeverAPanic(t *testing.T) {
	t.Parallel()
	var whole bytes.Buffer
	if err := tape.WriteParquet(&whole, tape.Generate(1, bitcoin(t), exchange.Minute1, start, 50), bitcoin(t), nil); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < whole.Len(); i += 7 {
		broken := bytes.Clone(whole.Bytes())
		broken[i] ^= 0xff
		// A broken file may still parse as candles; it must not panic or hang.
		_, _ = tape.LoadCandles(file(t, "x.parquet", broken), bitcoin(t), 0, tape.Options{Repair: true})
	}
}

func TestStoreAddsNewAndRefusesDifferentCandles(t *testing.T) {
	t.Parallel()
	symbol, store := bitcoin(t), tape.Store{Directory: t.TempDir()}
	made := tape.Generate(3, symbol, exchange.Minute1, start, 300)
	save := func(c *exchange.Candles, replace bool, want tape.Saved) {
		t.Helper()
		want.Path = store.Path(symbol.Market, symbol.Name, exchange.Minute1)
		if have, err := store.Save(symbol, c, replace); err != nil || have != want {
			t.Errorf("want %+v, have %+v, %v", want, have, err)
		}
	}
	if _, err := store.Load(symbol, exchange.Minute1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("want no series at first, have %v", err)
	}
	save(made.Slice(100, 200), false, tape.Saved{Added: 100, Total: 100})
	save(made.Slice(150, 300), false, tape.Saved{Added: 100, Same: 50, Total: 200})
	save(made.Slice(0, 50), false, tape.Saved{Added: 50, Total: 250})
	read, err := store.Load(symbol, exchange.Minute1)
	if err != nil || len(read.Holes) != 1 || read.Holes[0].Missing != 50 {
		t.Fatalf("want a hole of 50, have %+v, %v", read, err)
	}
	if have := tape.Coverage(read, 30); have != "#####-----####################" {
		t.Errorf("have coverage %s", have)
	}
	other := tape.Generate(4, symbol, exchange.Minute1, start, 300)
	path := store.Path(symbol.Market, symbol.Name, exchange.Minute1)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Save(symbol, other.Slice(40, 60), false); err == nil ||
		!strings.Contains(err.Error(), "10 candles differ from the stored ones, the first at 1704069600000") {
		t.Errorf("want the first difference, have %v", err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("a refused save changed the file")
	}
	save(other.Slice(40, 60), true, tape.Saved{Added: 10, Replaced: 10, Total: 260})
	save(made.Slice(50, 100), true, tape.Saved{Added: 40, Replaced: 10, Total: 300})
	save(made, true, tape.Saved{Same: 290, Replaced: 10, Total: 300})
	read, err = store.Load(symbol, exchange.Minute1)
	if err != nil || csv(t, read.Candles, read.Symbol) != csv(t, made, symbol) {
		t.Errorf("the series is not what was saved: %v", err)
	}
	all, err := store.List()
	if err != nil || len(all) != 1 || all[0].Symbol != "BTC-USDT" || all[0].Interval != exchange.Minute1 || all[0].Market != exchange.Futures {
		t.Errorf("have list %+v, %v", all, err)
	}
}

func TestAFinerSeriesRaisesTheStoredScale(t *testing.T) {
	t.Parallel()
	symbol, store := bitcoin(t), tape.Store{Directory: t.TempDir()}
	fine, err := tape.LoadCandles(file(t, "x.csv", []byte(header+"1704067200000,10.0000000001,12,9,11,1\n1704067260000,10,12,9,11,1\n")), symbol, 0,
		tape.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Save(fine.Symbol, fine.Candles, false); err != nil {
		t.Fatal(err)
	}
	coarse := tape.Generate(1, symbol, exchange.Minute1, start+120_000, 10)
	if _, err := store.Save(symbol, coarse, false); err != nil {
		t.Fatal(err)
	}
	read, err := store.Load(symbol, exchange.Minute1)
	if err != nil {
		t.Fatal(err)
	}
	want, have := symbol.PriceDecimal(coarse.Close[9]), read.Symbol.PriceDecimal(read.Candles.Close[11])
	if !want.Equal(have) || read.Symbol.PriceDecimal(read.Candles.Open[0]).String() != "10.0000000001" {
		t.Errorf("want %s, have %s; the first open is %s", want, have, read.Symbol.PriceDecimal(read.Candles.Open[0]))
	}
}

// venue is a source of past candles that fails at a page.
type venue struct {
	candles *exchange.Candles
	fails   int
	asked   [][2]int64
}

var errCut = errors.New("the line is cut")

func (v *venue) Candles(_ context.Context, _ exchange.Interval, fromMS, toMS int64) (*exchange.Candles, error) {
	if v.asked = append(v.asked, [2]int64{(fromMS - start) / 60_000, (toMS - start) / 60_000}); len(v.asked) == v.fails {
		return nil, errCut
	}
	page := &exchange.Candles{Interval: exchange.Minute1}
	for i, at := range v.candles.OpenMS {
		if at >= fromMS && at <= toMS { // one more than requested, as some venues return
			page.Append(v.candles.At(i))
		}
	}
	return page, nil
}

func TestDownloadFetchesMissingAndResumes(t *testing.T) {
	t.Parallel()
	symbol, store := bitcoin(t), tape.Store{Directory: t.TempDir()}
	past := tape.Generate(3, symbol, exchange.Minute1, start, 100)
	from := &venue{candles: past, fails: 4}
	d := tape.Download{Store: store, Symbol: symbol, Interval: exchange.Minute1, FromMS: start - 1, ToMS: start + 100*60_000 + 30_000, Page: 10}
	if _, err := store.Save(symbol, past.Slice(15, 35), false); err != nil {
		t.Fatal(err)
	}
	saved, err := d.Run(context.Background(), from)
	if !errors.Is(err, errCut) || saved.Added != 25 || saved.Total != 45 {
		t.Errorf("want 25 saved of an ended download, have %+v, %v", saved, err)
	}
	from.fails = 0
	var progress [][2]int
	d.Progress = func(done, total int) { progress = append(progress, [2]int{done, total}) }
	if saved, err = d.Run(context.Background(), from); err != nil || saved.Added != 55 || saved.Total != 100 {
		t.Errorf("want the other 55, have %+v, %v", saved, err)
	}
	if want := [][2]int{{10, 55}, {20, 55}, {30, 55}, {40, 55}, {50, 55}, {55, 55}}; !slices.Equal(progress, want) {
		t.Errorf("want the progress %v, have %v", want, progress)
	}
	want := [][2]int64{{0, 10}, {10, 15}, {35, 45}, {45, 55}, {45, 55}, {55, 65}, {65, 75}, {75, 85}, {85, 95}, {95, 100}}
	if len(from.asked) != len(want) {
		t.Fatalf("want pages %v, have %v", want, from.asked)
	}
	for i := range want {
		if from.asked[i] != want[i] {
			t.Errorf("page %d: want %v, have %v", i, want[i], from.asked[i])
		}
	}
	read, err := store.Load(symbol, exchange.Minute1)
	if err != nil || csv(t, read.Candles, read.Symbol) != csv(t, past, symbol) {
		t.Errorf("what was fetched is not what there was: %v", err)
	}
}

// TestADownloadAddsUpWhatItSaves downloads more candles than are held in memory at a time; a second download
// finds nothing missing.
func TestADownloadAddsUpWhatItSaves(t *testing.T) {
	t.Parallel()
	const count = 60_000 + 5
	symbol, store := bitcoin(t), tape.Store{Directory: t.TempDir()}
	past := tape.Generate(3, symbol, exchange.Minute1, start, count)
	d := tape.Download{Store: store, Symbol: symbol, Interval: exchange.Minute1, FromMS: start, ToMS: start + count*60_000, Page: 60_000, Replace: true}
	for _, want := range [][2]int{{count, 0}, {0, 0}} {
		saved, err := d.Run(context.Background(), &venue{candles: past})
		if err != nil || saved.Added != want[0] || saved.Same != want[1] || saved.Replaced != 0 || saved.Total != count {
			t.Errorf("want %d added and %d the same of them all, have %+v, %v", want[0], want[1], saved, err)
		}
	}
}

func TestADownloadRefusesImpossibleCandles(t *testing.T) {
	t.Parallel()
	symbol := bitcoin(t)
	for _, c := range []struct {
		name, want string
		spoil      func(*exchange.Candles)
	}{
		{"price", "high is below low", func(c *exchange.Candles) { c.High[3] = 1 }},
		{"grid", "off the grid", func(c *exchange.Candles) { c.OpenMS[3]++ }},
		{"order", "is not after", func(c *exchange.Candles) { c.OpenMS[3] = c.OpenMS[2] }},
	} {
		past := tape.Generate(3, symbol, exchange.Minute1, start, 10)
		c.spoil(past)
		_, err := tape.Download{Store: tape.Store{Directory: t.TempDir()}, Symbol: symbol, Interval: exchange.Minute1, FromMS: start,
			ToMS: start + 600_000, Page: 100}.Run(context.Background(), &venue{candles: past})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %q, have %v", c.name, c.want, err)
		}
	}
}

func TestCoarseCandlesAreTheSumOfFineOnes(t *testing.T) {
	t.Parallel()
	symbol := bitcoin(t)
	text := header + "1704067440000,10,13,9,11,1\n" + // minute 4: the first five minutes are not complete
		"1704067500000,11,15,10,12,1.5\n1704067560000,12,14,8,13,2\n1704067620000,13,13,13,13,0\n1704067680000,13,16,12,14,1\n1704067740000,14,14,11,12,0.5\n" +
		"1704067800000,12,13,11,12,1\n1704067980000,12,14,12,13,1\n" + // a hole of two, and the last minute missing
		"1704068100000,13,13,12,12,1\n"
	fine, err := tape.LoadCandles(file(t, "x.csv", []byte(text)), symbol, 0, tape.Options{})
	if err != nil {
		t.Fatal(err)
	}
	coarse, incomplete, err := tape.Resample(fine.Candles, exchange.Minute5)
	if err != nil {
		t.Fatal(err)
	}
	want := "1704067500000,11,16,8,12,5,1704067799999,,,,\n1704067800000,12,14,11,13,2,1704068099999,,,,\n"
	_, have, _ := strings.Cut(csv(t, coarse, symbol), "\n")
	if have = strings.ReplaceAll(have, ",0,0,0,0\n", ",,,,\n"); have != want || len(incomplete) != 1 || incomplete[0] != 1704067800000 {
		t.Errorf("want\n%s, have\n%s, incomplete %v", want, have, incomplete)
	}
	other := *coarse
	other.High = []exchange.Price{coarse.High[0], coarse.High[1] + symbol.PriceTick}
	differences := tape.Compare(coarse, &other, symbol)
	if len(differences) != 1 || differences[0].OpenMS != 1704067800000 || differences[0].What != "high 14.1, the fine candles give 14" {
		t.Errorf("have differences %+v", differences)
	}
	for _, interval := range []exchange.Interval{exchange.Minute1, exchange.Minute1 / 2} {
		if _, _, err := tape.Resample(fine.Candles, interval); err == nil {
			t.Errorf("minutes were made into %s", interval)
		}
	}
}

func TestJumpsAreNamed(t *testing.T) {
	t.Parallel()
	read, err := tape.LoadCandles(file(t, "x.csv", []byte(header+"1704067200000,10,12,9,10,1\n1704067260000,12,13,10,12,1\n"+
		"1704067320000,12,12,12,12,1\n1704067440000,90,90,90,90,1\n")), bitcoin(t), 0, tape.Options{})
	if err != nil {
		t.Fatal(err)
	}
	have := tape.Jumps(read)
	if len(have) != 1 || have[0] != "the candle of 1704067260000 opens at 12, the previous one closed at 10" {
		t.Errorf("want one jump (a hole's is none), have %v", have)
	}
}
