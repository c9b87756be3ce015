package tape_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/tape"
)

func TestSymbolRecordRoundTrips(t *testing.T) {
	t.Parallel()
	for _, own := range sim.DefaultSymbols() {
		own = sim.WithBrackets(own)
		text, err := json.Marshal([]tape.SymbolRecord{tape.RecordOf(own)})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "symbols.yaml")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		read, err := tape.LoadSymbols(path)
		if err != nil || len(read) != 1 {
			t.Fatalf("%s: want one symbol, have %d, %v\n%s", own.Key(), len(read), err, text)
		}
		if own.Market == exchange.Spot {
			read[0].FundingIntervalHours = 0 // spot has no funding; a list's record has it by default
		}
		if !reflect.DeepEqual(read[0], own) {
			t.Errorf("%s: want %+v, have %+v", own.Key(), own, read[0])
		}
	}
}
