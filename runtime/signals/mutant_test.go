package signals

import (
	"testing"

	"botd/internal/mutant/mutanttest"
)

// TestRulesOfSignalsShowWhenTheyAreBroken reads a message with a repeated key.
func TestRulesOfSignalsShowWhenTheyAreBroken(t *testing.T) {
	mutanttest.Shown(t, "runtime/signals", map[string]func(testing.TB){"last_key_wins": mutanttest.Holds(func() bool {
		_, err := read([]byte(`{"id":"1","strategy":"s","position":"long","position":"short","time":1700000000000}`))
		return err != nil
	})})
}
