package indicator

import (
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
)

// update rewrites the table of docs/strategies.md after the tests:
//
//	go test ./strategy/indicator -update
var update = flag.Bool("update", false, "measure every indicator and write the table of docs/strategies.md")

const (
	tableFile  = "../../docs/strategies.md"
	tableBegin = "<!-- indicators: begin -->\n"
	tableEnd   = "<!-- indicators: end -->\n"
)

// proof states what an indicator's outputs were compared with.
type proof struct {
	oracle string
	values int
	worst  float64 // relative difference; absolute below 1
}

// proofs are collected while the tests run.
var proofs struct {
	sync.Mutex
	of map[string]*proof
}

// prove records compared values.
func prove(name, oracle string, want, have []float64) {
	proofs.Lock()
	defer proofs.Unlock()
	if proofs.of == nil {
		proofs.of = map[string]*proof{}
	}
	p := proofs.of[name]
	if p == nil {
		p = &proof{oracle: oracle}
		proofs.of[name] = p
	}
	if !strings.Contains(p.oracle, oracle) {
		p.oracle += ", " + oracle
	}
	for i := range want {
		if !math.IsNaN(want[i]) && !math.IsNaN(have[i]) {
			p.values++
			p.worst = max(p.worst, math.Abs(have[i]-want[i])/max(1, math.Abs(want[i])))
		}
	}
}

func TestMain(m *testing.M) {
	code := m.Run()
	if *update && code == 0 {
		if err := writeTable(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func writeTable() error {
	text, err := os.ReadFile(tableFile)
	if err != nil {
		return err
	}
	before, rest, begun := strings.Cut(string(text), tableBegin)
	_, after, ended := strings.Cut(rest, tableEnd)
	if !begun || !ended {
		return fmt.Errorf("%s: the marks of the table are not there", tableFile)
	}
	table, err := measuredTable()
	if err != nil {
		return err
	}
	return os.WriteFile(tableFile, []byte(before+tableBegin+table+tableEnd+after), 0o644)
}

func measuredTable() (string, error) {
	if err := flag.Set("test.benchtime", "20ms"); err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("| indicator | first value at candle | ns a candle | equal to | values compared | worst difference |\n|---|---:|---:|---|---:|---:|\n")
	for _, definition := range All() {
		p := proofs.of[definition.Name]
		if p == nil {
			return "", fmt.Errorf("%s was compared with nothing: is ../shared there?", definition.Name)
		}
		first, err := firstValue(&definition)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "| `%s` | %d | %.0f | %s | %d | %.0e |\n", definition.Name, first, fastest(&definition), p.oracle, p.values, p.worst)
	}
	return b.String(), nil
}

// firstValue returns the number of the candle, from 1, at which all outputs have a value with default
// parameters.
func firstValue(definition *Definition) (int, error) {
	stream, err := definition.New(nil)
	if err != nil {
		return 0, err
	}
	values := make([]float64, len(definition.Outputs))
	for i, bar := range walk(1_000) {
		if stream.Next(bar, values); !strings.Contains(fmt.Sprint(values), "NaN") {
			return i + 1, nil
		}
	}
	return 0, fmt.Errorf("%s: no value within 1000 candles", definition.Name)
}

// fastest returns the best of several measurements: other programs use the machine, too.
func fastest(definition *Definition) float64 {
	best := math.Inf(1)
	for range 9 {
		result := testing.Benchmark(func(b *testing.B) { measure(b, definition) })
		best = min(best, float64(result.T.Nanoseconds())/float64(result.N))
	}
	return best
}

// measured are the candles for measuring indicators.
var measured = sync.OnceValue(func() []Bar { return walk(4_096) })

func measure(b *testing.B, definition *Definition) {
	candles := measured()
	stream, err := definition.New(nil)
	if err != nil {
		b.Fatal(err)
	}
	values, i := make([]float64, len(definition.Outputs)), 0
	b.ReportAllocs()
	for b.Loop() {
		stream.Next(candles[i&4_095], values)
		i++
	}
}

func TestTheTableOfTheDocumentHasEveryIndicator(t *testing.T) {
	t.Parallel()
	if *update {
		t.Skip("the table is being written")
	}
	text, err := os.ReadFile(tableFile)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), tableBegin)
	table, _, _ := strings.Cut(rest, tableEnd)
	rows := strings.Split(strings.TrimSpace(table), "\n")
	if want := len(All()) + 2; len(rows) != want {
		t.Fatalf("want %d lines, have %d\nhint: go test ./strategy/indicator -update", want, len(rows))
	}
	for i, definition := range All() {
		first, err := firstValue(&definition)
		if want := fmt.Sprintf("| `%s` | %d | ", definition.Name, first); err != nil || !strings.HasPrefix(rows[i+2], want) {
			t.Errorf("want %s, have %s (%v)\nhint: go test ./strategy/indicator -update", want, rows[i+2], err)
		}
	}
}
