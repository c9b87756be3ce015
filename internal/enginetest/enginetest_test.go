package enginetest

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"

	"botd/exchange"
	"botd/runtime/engine"
)

// TestNotesAreOfEveryKind reads the kinds in the engine's source.
func TestNotesAreOfEveryKind(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../runtime/engine/note.go")
	if err != nil {
		t.Fatal(err)
	}
	var want, have []string
	for _, kind := range regexp.MustCompile(`(?m)^func \((\w+)\) fact\(\)`).FindAllStringSubmatch(string(source), -1) {
		want = append(want, "engine."+kind[1])
	}
	symbol := &exchange.Symbol{Market: exchange.Futures, Name: "BTC-USDT", PriceScale: 8, QuantityScale: 8}
	for _, n := range append(Notes(t, "trend", symbol, "bx-1-9", "margin"), engine.Note{Fact: engine.NoteCandles{}}) {
		have = append(have, fmt.Sprintf("%T", n.Fact))
	}
	slices.Sort(want)
	slices.Sort(have)
	if len(want) == 0 || !slices.Equal(want, have) {
		t.Errorf("want one of each of %v, have %v", want, have)
	}
}
