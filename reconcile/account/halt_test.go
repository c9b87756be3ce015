package account

import (
	"testing"

	"botd/reconcile/record"
)

func TestAHaltIsOnlyEverEscalated(t *testing.T) {
	t.Parallel()
	book := New(Options{})
	for _, step := range []struct{ level, want record.HaltLevel }{
		{record.LevelPause, record.LevelPause}, {record.LevelFlatten, record.LevelFlatten},
		{record.LevelCancel, record.LevelFlatten}, {record.LevelNone, record.LevelNone}, {record.LevelCancel, record.LevelCancel},
	} {
		book.Apply(&record.Record{Body: record.Halt{Level: step.level, Reason: "a test"}})
		if have := book.Halted().Level; have != step.want {
			t.Errorf("after %q: want %q, have %q", step.level, step.want, have)
		}
	}
}
