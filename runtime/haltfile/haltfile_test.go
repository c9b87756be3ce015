package haltfile

import (
	"context"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"botd/configs"
	"botd/reconcile/record"
	"botd/runtime"
	"botd/runtime/engine"
)

// TestAHaltTakesEffectOnceAndItsFileStaysUntilItIsDurable has a journal that cannot
// be written for a while.
func TestAHaltTakesEffectOnceAndItsFileStaysUntilItIsDurable(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	path, err := Write(directory, Halt{AtMS: 2, By: "somebody", Level: record.LevelCancel, Reason: "stop"})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		var halts []bool
		h := &Watcher{Directory: directory, Config: func() *configs.Config { return &configs.Config{} }}
		h.Send = func(_ context.Context, event engine.Event) error {
			if _, err := os.Stat(path); err != nil {
				t.Error("want the file there until the journal has it")
			}
			_, is := event.(*engine.EventAudited).Event.(*engine.EventHalt)
			if halts = append(halts, is); len(halts) < 4 {
				return runtime.ErrUnwritten
			}
			return nil
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		h.Run(ctx)
		if want := []bool{true, false, false, false}; !slices.Equal(halts, want) {
			t.Errorf("want the halt once and then what shows it durable, %v, have %v", want, halts)
		}
		if _, err := os.Stat(path); err == nil {
			t.Error("want the file gone then")
		}
	})
}
