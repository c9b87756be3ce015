package runtime

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"botd/reconcile"
	"botd/reconcile/placement"
	"botd/reconcile/record"
)

func TestTheMarkShowsARunThatDidNotEndCleanly(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	mark := func(want bool) func() error {
		t.Helper()
		clean, unclean, err := Mark(directory)
		if err != nil {
			t.Fatal(err)
		}
		if unclean != want {
			t.Errorf("unclean: want %t, have %t", want, unclean)
		}
		return clean
	}
	if err := mark(false)(); err != nil {
		t.Fatal(err)
	}
	mark(false) // and dies
	clean := mark(true)
	info, err := os.Stat(filepath.Join(directory, markName))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the marker: want mode 0600, have %v, %v", info, err)
	}
	if err := clean(); err != nil {
		t.Fatal(err)
	}
	mark(false)
}

func TestAMarkThatCanNotBeLeftIsAnError(t *testing.T) {
	t.Parallel()
	if _, _, err := Mark(filepath.Join(t.TempDir(), "nowhere")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("want %v, have %v", os.ErrNotExist, err)
	}
}

// recorded is a journal to read.
type recorded struct {
	records []record.Record
	fails   error
}

func (s recorded) Replay(_ context.Context, take func(*record.Record) error) error {
	for i := range s.records {
		if err := take(&s.records[i]); err != nil {
			return err
		}
	}
	return s.fails
}

func TestReplayAppliesEveryRecord(t *testing.T) {
	t.Parallel()
	records := []record.Record{{Body: record.Boot{Epoch: 7}}, {Body: record.Halt{Level: record.LevelPause, Why: "a test"}}}
	book := reconcile.NewBook(placement.Settle{})
	n, err := Replay(t.Context(), recorded{records: records}, book)
	if n != 2 || err != nil || book.Epoch() != 7 || book.Halted().Level != record.LevelPause {
		t.Errorf("want 2 records, epoch 7, paused; have %d, %v, %d, %+v", n, err, book.Epoch(), book.Halted())
	}
	altered := errors.New("record 3 was altered")
	if _, err := Replay(t.Context(), recorded{records, altered}, reconcile.NewBook(placement.Settle{})); !errors.Is(err, altered) {
		t.Errorf("want %v, have %v", altered, err)
	}
}
