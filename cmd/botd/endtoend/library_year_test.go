package endtoend

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"botd/internal/failure"
)

var updateYear = flag.Bool("update-year", false, "write the tables of a year into docs/strategies.md")

// years are recorded years of hours, with the parameters of the examples that depend on the price.
var years = []struct {
	symbol, file string
	figures      *strings.Replacer
}{
	{"BTC-USDT", "binance-spot_BTCUSDT_1h_2024.csv", strings.NewReplacer("ETH-USDT", "BTC-USDT", "lower: 1900, upper: 3100", "lower: 38000, upper: 110000",
		"quantity: 0.2", "quantity: 0.01", "max_position: 2", "max_position: 0.1", "quantity: 2.4", "quantity: 0.1")},
	{"ETH-USDT", "binance-spot_ETHUSDT_1h_2024.csv", strings.NewReplacer("lower: 1900, upper: 3100", "lower: 2000, upper: 4200")},
}

// changedDefaults are examples with a default's old value.
var changedDefaults = []struct{ example, before, from, to string }{
	{"avellaneda", "`gamma: 100, kappa: 2000, min_edge: 0`: now estimated, and 0.02 %", "params: {", "params: {gamma: 100, kappa: 2000, min_edge: 0, "},
	{"rules", "`reentry: never`: now `signal`", "name: ", "reentry: never\nname: "},
	{"script", "`reentry: never`: now `signal`", "name: ", "reentry: never\nname: "},
	{"donchian", "`reentry: never`: now `signal`", "name: ", "reentry: never\nname: "},
	{"supertrend", "`reentry: never`: now `signal`", "name: ", "reentry: never\nname: "},
	{"grid", "`backtest.resting: touch`: now `through`", "\nbacktest:\n", "\nbacktest:\n  resting: touch\n"},
	{"market_making", "`backtest.resting: touch`: now `through`", "\nbacktest:\n", "\nbacktest:\n  resting: touch\n"},
}

// TestTheLibraryOnARecordedYear creates the tables of docs/strategies.md: every example on the hours of 2024, with
// fees and a constant funding rate, and the effect of each changed default.
//
//	BOTD_LIBRARY_YEAR=1 go test -v -run RecordedYear ./cmd/botd/endtoend -update-year
func TestTheLibraryOnARecordedYear(t *testing.T) {
	if os.Getenv("BOTD_LIBRARY_YEAR") == "" {
		t.Skip("takes minutes: set BOTD_LIBRARY_YEAR=1")
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "configs", "library", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal("no examples:", err)
	}
	tables := &strings.Builder{}
	realistic := map[string]float64{} // by symbol and example
	for i := range years {
		fmt.Fprintf(tables, "\n%s:\n\n| strategy | market | fills | ideal | realistic | pessimistic | drawdown %% | Sharpe | fees |\n"+
			"|---|---|---|---|---|---|---|---|---|\n", years[i].symbol)
		for _, file := range files {
			example := strings.TrimSuffix(filepath.Base(file), ".yaml")
			if example == "funding_carry" || example == "signal" {
				continue // one needs the year's funding rates, the other a person's signals: neither is recorded here
			}
			row := yearOf(t, i, example, "", "")
			realistic[years[i].symbol+example] = row.Columns[1].Profit
			tables.WriteString(row.String())
		}
	}
	tables.WriteString("\nWhat changed defaults do to it (realistic profit in percent; examples beside what was the default before):\n\n" +
		"| example | before | BTC before | BTC now | ETH before | ETH now |\n|---|---|---|---|---|---|\n")
	for _, c := range changedDefaults {
		fmt.Fprintf(tables, "| `%s` | %s |", c.example, c.before)
		for i := range years {
			fmt.Fprintf(tables, " %+.1f | %+.1f |", yearOf(t, i, c.example, c.from, c.to).Columns[1].Profit, realistic[years[i].symbol+c.example])
		}
		tables.WriteString("\n")
	}
	inDocs(t, tables.String())
}

// inDocs compares the tables with those of docs/strategies.md, or writes them there.
func inDocs(t *testing.T, tables string) {
	t.Helper()
	path := filepath.Join("..", "..", "..", "docs", "strategies.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- year: begin -->\n", "\n<!-- year: end -->"
	before, rest, found := strings.Cut(string(text), begin)
	within, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s lacks %q or %q", path, begin, end)
	}
	switch {
	case within == tables:
	case *updateYear:
		if err := os.WriteFile(path, []byte(before+begin+tables+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s: want the tables below; write them with -update-year\n%s", path, tables)
	}
}

// yearOf runs an example, with one text of its file replaced, over a year.
func yearOf(t *testing.T, at int, example, from, to string) yearResult {
	t.Helper()
	hours := filepath.Join("..", "..", "..", "..", "shared", "data", "candles", years[at].file)
	if _, err := os.Stat(hours); err != nil {
		t.Skip("no recorded year here:", hours)
	}
	library := filepath.Join("..", "..", "..", "configs", "library")
	text, err := os.ReadFile(filepath.Join(library, example+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join(library, "trend.star"))
	if err != nil {
		t.Fatal(err)
	}
	yaml := years[at].figures.Replace(string(text))
	if !strings.Contains(yaml, "\nbacktest:\n") {
		yaml += "\nbacktest:\n  cash: 10000\n"
	}
	if strings.Contains(yaml, "market: futures") {
		yaml = strings.Replace(yaml, "\nbacktest:\n", "\nbacktest:\n  funding: 0.01%\n", 1)
	}
	if from != "" && !strings.Contains(yaml, from) {
		t.Fatalf("%s.yaml has no %q", example, from)
	}
	yaml = strings.Replace(yaml, from, to, 1)
	directory := t.TempDir()
	made := filepath.Join(directory, "example.yaml")
	for name, text := range map[string]string{made: yaml, filepath.Join(directory, "trend.star"): string(script)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var stdout, stderr bytes.Buffer
	if code := execute([]string{"backtest", "run", "-s", made, "--data", hours, "-o", "json"}, &stdout, &stderr); code != failure.OK {
		t.Fatalf("%s on %s: exit %d: %s", example, years[at].symbol, code, stderr.String())
	}
	return readYear(t, stdout.Bytes())
}

// yearResult is a row of the table.
type yearResult struct {
	Strategy string
	Market   string
	Fills    int
	Fall     float64  `json:"max_drawdown_pct"`
	Fees     string   `json:"total_fees"`
	Sharpe   *float64 `json:"sharpe"`
	Columns  []struct {
		Name   string
		Profit float64 `json:"profit_pct"`
	} `json:"cost_columns"`
}

func readYear(t *testing.T, report []byte) (r yearResult) {
	t.Helper()
	if err := json.Unmarshal(report, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Columns) != 3 {
		t.Fatalf("%s: want three columns, have %d", r.Strategy, len(r.Columns))
	}
	return r
}

// String returns the row in Markdown.
func (r yearResult) String() string {
	sharpe := "–"
	if r.Sharpe != nil {
		sharpe = fmt.Sprintf("%.2f", *r.Sharpe)
	}
	fees, _, _ := strings.Cut(r.Fees, ".")
	return fmt.Sprintf("| `%s` | %s | %d | %+.1f | %+.1f | %+.1f | %.1f | %s | %s |\n", r.Strategy, r.Market, r.Fills,
		r.Columns[0].Profit, r.Columns[1].Profit, r.Columns[2].Profit, r.Fall, sharpe, fees)
}
