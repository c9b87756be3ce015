package endtoend

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"botd/configs"
	"botd/internal/failure"
)

// tradesCounted has a strategy's number of closed positions, and the sum of the indices of their entries'
// candles.
type tradesCounted struct {
	name              string
	longs, shorts     int
	sumOfEntryCandles int
}

// galleryTrades are the closed positions of each strategy of the gallery on 6,000 generated candles whose
// entry was decided on candle 1000 or later: the numbers of long and short ones, and the sum of the indices
// of their entries' candles. testdata/gallery.py computed them with TA-Lib and pandas.
var galleryTrades = []tradesCounted{
	{"aroon-trend", 72, 0, 257554},
	{"bollinger-rsi", 8, 0, 30614},
	{"bollinger-squeeze", 19, 0, 66831},
	{"cci-breakout", 228, 241, 1587926},
	{"connors-rsi2", 86, 0, 263600},
	{"dmi-cross", 84, 77, 581032},
	{"double-seven", 120, 0, 366941},
	{"engulfing", 183, 0, 668483},
	{"fractal-breakout", 95, 0, 326712},
	{"golden-cross", 11, 0, 32435},
	{"hammer", 45, 0, 162792},
	{"heikin-ashi", 366, 0, 1264023},
	{"holy-grail", 34, 0, 116056},
	{"hour-of-day", 209, 0, 731500},
	{"ichimoku", 38, 0, 117593},
	{"kama-cross", 76, 0, 261060},
	{"keltner-breakout", 52, 69, 423906},
	{"macd-signal", 132, 0, 473547},
	{"narrow-range-7", 209, 0, 726266},
	{"parabolic", 237, 236, 1638830},
	{"stochastic-cross", 64, 0, 210996},
	{"strategy-001", 46, 0, 144642},
	{"time-series-momentum", 54, 55, 351029},
	{"triple-screen", 46, 0, 142224},
	{"trix-zero", 61, 61, 401711},
	{"turtle-55", 31, 42, 247572},
	{"vortex", 220, 220, 1532143},
	{"vwap-cross", 458, 0, 1623785},
	{"williams-r", 139, 0, 479784},
	{"zscore-reversion", 51, 37, 301160},
}

// TestGalleryTradesEqualIndependentProgram runs each as a user would.
func TestGalleryTradesEqualIndependentProgram(t *testing.T) {
	t.Parallel()
	candles := generated(t)
	for _, want := range galleryTrades {
		t.Run(want.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join("..", "..", "..", "configs", "gallery", want.name+".yaml")
			have := countTrades(t, want.name, file, candles)
			if have != want || want.longs == 0 {
				t.Errorf("want %+v, have %+v", want, have)
			}
		})
	}
}

// libraryTrades are those of built-in strategies with their defaults, long and short, counted in the same way:
// testdata/library.py computed them.
var libraryTrades = []tradesCounted{
	{"bollinger", 90, 85, 601739},
	{"donchian", 74, 85, 551169},
	{"ema_cross", 90, 90, 612632},
	{"macd", 201, 201, 1403937},
	{"rsi", 10, 0, 37553},
	{"sma_cross", 66, 66, 461240},
	{"supertrend", 74, 74, 522099},
	{"zscore", 51, 32, 285889},
}

func TestLibraryTradesLikeAnIndependentProgram(t *testing.T) {
	t.Parallel()
	candles := generated(t)
	for _, want := range libraryTrades {
		t.Run(want.name, func(t *testing.T) {
			t.Parallel()
			text := "name: a\nstrategy: " + want.name + "\nmarket: futures\nsymbol: ETH-USDT\ninterval: 1h\nsize: {quantity: 0.1}\n"
			if want.shorts > 0 {
				text += "params: {mode: long_short}\n"
			}
			file := filepath.Join(t.TempDir(), "a.yaml")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if have := countTrades(t, want.name, file, candles); have != want {
				t.Errorf("want %+v, have %+v", want, have)
			}
		})
	}
}

// generated returns the candles that the independent programs read.
func generated(t *testing.T) (file string) {
	t.Helper()
	candles := filepath.Join(t.TempDir(), "candles.csv")
	var stdout, stderr bytes.Buffer
	if code := execute([]string{"data", "generate", "--symbol", "ETH-USDT", "--interval", "1h", "--candles", "6000", "--seed", "5", "--out", candles},
		&stdout, &stderr); code != failure.OK {
		t.Fatalf("exit %d: %s", code, stderr.String())
	}
	return candles
}

// countTrades runs a strategy as a user would.
func countTrades(t *testing.T, name, file, candles string) tradesCounted {
	t.Helper()
	const firstMS, hourMS = 1704067200000, 3_600_000
	var stdout, stderr bytes.Buffer
	if code := execute([]string{"backtest", "run", "-s", file, "--data", candles, "-o", "json"}, &stdout, &stderr); code != failure.OK {
		t.Fatalf("exit %d: %s", code, stderr.String())
	}
	var result struct {
		Trades []struct {
			EnteredMS int64  `json:"entered_ms"`
			Side      string `json:"side"`
		} `json:"trades"`
	}
	if err := json.Unmarshal(stdout.Bytes(), &result); err != nil {
		t.Fatal(err)
	}
	have := tradesCounted{name: name}
	for _, trade := range result.Trades {
		decided := int((trade.EnteredMS-firstMS)/hourMS) - 1 // it filled at the next candle's open
		switch {
		case decided < 1000:
			continue
		case trade.Side == "BUY":
			have.longs++
		default:
			have.shorts++
		}
		have.sumOfEntryCandles += decided
	}
	return have
}

// TestTheGalleryNamesTheSourceOfEach also expects an independent count for each.
func TestTheGalleryNamesTheSourceOfEach(t *testing.T) {
	t.Parallel()
	counted := map[string]bool{}
	for _, c := range galleryTrades {
		counted[c.name] = true
	}
	files, err := fs.Glob(configs.Gallery(), "*.yaml")
	if err != nil || len(files) != len(counted) || len(files) < 30 {
		t.Fatalf("want %d strategies, have %d, %v", len(counted), len(files), err)
	}
	for _, file := range files {
		text, err := fs.ReadFile(configs.Gallery(), file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(file, ".yaml")
		if !counted[name] || !strings.Contains(string(text), "\n# Source: ") || !strings.Contains(string(text), "\nname: "+name+"\n") {
			t.Errorf("%s: want a source, its name and an independent count, have\n%s", file, text)
		}
	}
}

// TestANewStrategyBeginsWithOneOfTheGallery gives it a new name and expects it to pass check.
func TestANewStrategyBeginsWithOneOfTheGallery(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	run := func(want int, arguments ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := execute(arguments, &stdout, &stderr); code != want {
			t.Fatalf("%v: want exit %d, have %d: %s", arguments, want, code, stderr.String())
		}
		return stdout.String() + stderr.String()
	}
	if list := run(failure.OK, "strategy", "gallery"); !strings.Contains(list, "connors-rsi2") || !strings.Contains(list, "Connors, Alvarez") {
		t.Errorf("want the names and sources, have\n%s", list)
	}
	strategies := filepath.Join(directory, "strategies")
	run(failure.OK, "strategy", "new", "my-dip", "--from", "connors-rsi2", "--dir", strategies)
	text, err := os.ReadFile(filepath.Join(strategies, "my-dip.yaml"))
	if err != nil || !strings.Contains(string(text), "\nname: my-dip\n") || !strings.Contains(string(text), "rsi(close, 2) < 10") {
		t.Fatalf("have %s, %v", text, err)
	}
	if err := os.WriteFile(filepath.Join(directory, "botd.yaml"), []byte("mode: demo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(failure.OK, "check", "-c", directory)
	if text := run(failure.Usage, "strategy", "new", "x", "--from", "connors-rsi", "--dir", strategies); !strings.Contains(text, "connors-rsi2") {
		t.Errorf("want the name that was meant, have %s", text)
	}
	run(failure.Usage, "strategy", "new", "my-dip", "--from", "connors-rsi2", "--dir", strategies)
}
