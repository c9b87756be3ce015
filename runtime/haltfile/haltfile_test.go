package haltfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"botd/configs"
	"botd/reconcile/account"
	"botd/reconcile/journal"
	"botd/reconcile/record"
	"botd/runtime"
	"botd/runtime/engine"
)

// TestAHaltTakesEffectOnceAndItsFileStaysUntilItIsDurable uses a journal that cannot be written for a while.
func TestAHaltTakesEffectOnceAndItsFileStaysUntilItIsDurable(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	path, err := Write(directory, Halt{AtMS: 2, By: "somebody", Level: record.LevelCancel, Reason: "stop"}, nil)
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
				return runtime.ErrNotDurable
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

// TestAHaltWithoutItsCodeIsExecutedAndReported forges a stored halt: refusing one would be worse.
func TestAHaltWithoutItsCodeIsExecutedAndReported(t *testing.T) {
	t.Parallel()
	code := journal.NewKey([]byte("a key of at least thirty-two bytes")).Coder(Kind)
	directory := t.TempDir()
	path, err := Write(directory, Halt{AtMS: 2, By: "somebody", Level: record.LevelFlatten, Reason: "stop"}, code)
	if err != nil {
		t.Fatal(err)
	}
	proven := func(h *Halt) bool {
		return !strings.Contains(h.audit(path, account.Scope{}, code).Detail, "not written with the key")
	}
	h, err := read(path)
	if err != nil || !proven(&h) {
		t.Errorf("want the halt that was written, proven, have %+v, %v", h, err)
	}
	forged := h
	if forged.Level = record.LevelPause; proven(&forged) {
		t.Error("want another level not proven")
	}
	forged = h
	if forged.Code = ""; proven(&forged) {
		t.Error("want one without a code not proven")
	}
	if detail := forged.audit(path, account.Scope{}, nil).Detail; strings.Contains(detail, "key") {
		t.Errorf("want no mention of a key if none is configured, have %s", detail)
	}
}

func TestAnUnreadableDirectoryOfHaltsIsLoggedOnce(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "live")
	if err := os.WriteFile(directory, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		var logged, sent []string
		h := &Watcher{Directory: directory, Config: func() *configs.Config { return &configs.Config{} }}
		h.Send = func(_ context.Context, event engine.Event) error {
			sent = append(sent, event.(*engine.EventAudited).Event.(*engine.EventHalt).Reason)
			cancel()
			return nil
		}
		h.Log = func(event, format string, arguments ...any) {
			logged = append(logged, event+" "+fmt.Sprintf(format, arguments...))
		}
		time.AfterFunc(4500*time.Millisecond, func() {
			if err := errors.Join(os.Remove(directory), os.Mkdir(directory, 0o700)); err != nil {
				t.Error(err)
			}
			if _, err := Write(directory, Halt{AtMS: 1, Level: record.LevelPause, Reason: "stop"}, nil); err != nil {
				t.Error(err)
			}
		})
		h.Run(ctx)
		if len(logged) != 2 || !strings.HasPrefix(logged[0], "halt.unlisted ") || !strings.Contains(logged[0], directory+": not a directory") ||
			!strings.HasPrefix(logged[1], "halt.listed ") {
			t.Errorf("want the first failure and its end, have %q", logged)
		}
		if want := []string{"stop"}; !slices.Equal(sent, want) {
			t.Errorf("want the halt that was stored then, %q, have %q", want, sent)
		}
	})
}
