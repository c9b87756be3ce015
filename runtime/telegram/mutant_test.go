package telegram

import (
	"testing"

	"botd/internal/mutant/mutanttest"
)

// TestRulesOfTelegramShowWhenTheyAreBroken obeys a text that its sender did not type.
func TestRulesOfTelegramShowWhenTheyAreBroken(t *testing.T) {
	mutanttest.Shown(t, "runtime/telegram", map[string]func(testing.TB){"forwarded_obeyed": mutanttest.Holds(func() bool {
		return !typed([]byte(`{"update_id":2,"message":{"text":"/pause","forward_date":1}}`))
	})})
}
