package signals

import (
	"testing"

	"botd/internal/mutant"
)

// TestRulesOfSignalsShowWhenTheyAreBroken reads one with a key twice.
func TestRulesOfSignalsShowWhenTheyAreBroken(t *testing.T) {
	mutant.Shown(t, map[string]func() bool{"last_key_wins": func() bool {
		_, err := read([]byte(`{"id":"1","strategy":"s","position":"long","position":"short","time":1700000000000}`))
		return err != nil
	}})
}
