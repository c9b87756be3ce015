package reconcile

import (
	"testing"

	"botd/reconcile/record"
)

func TestAHaltIsOnlyEverEscalated(t *testing.T) {
	t.Parallel()
	book := NewBook(Settle{})
	for _, step := range []struct{ level, want HaltLevel }{
		{LevelPause, LevelPause}, {LevelFlatten, LevelFlatten}, {LevelCancel, LevelFlatten}, {LevelNone, LevelNone}, {LevelCancel, LevelCancel},
	} {
		book.Apply(&record.Record{Body: record.Halt{Level: step.level, Why: "a test"}})
		if have := book.Halted().Level; have != step.want {
			t.Errorf("after %q: want %q, have %q", step.level, step.want, have)
		}
	}
}
