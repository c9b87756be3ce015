package telegram

import (
	"testing"

	"botd/internal/mutant"
)

// TestRulesOfTelegramShowWhenTheyAreBroken obeys what its sender did not type.
func TestRulesOfTelegramShowWhenTheyAreBroken(t *testing.T) {
	mutant.Shown(t, map[string]func() bool{"forwarded_obeyed": func() bool {
		return !typed([]byte(`{"update_id":2,"message":{"text":"/pause","forward_date":1}}`))
	}})
}
