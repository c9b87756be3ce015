package journal_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"botd/reconcile/journal"
	"botd/reconcile/record"
)

// countdown is a context that ends at its n-th use.
type countdown struct {
	context.Context
	ended chan struct{}

	mu   sync.Mutex // guards left
	left int
}

func (c *countdown) count() (over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left--; c.left == 0 {
		close(c.ended)
	}
	return c.left <= 0
}

// Done counts as a use.
func (c *countdown) Done() <-chan struct{} {
	c.count()
	return c.ended
}

// Err counts as a use.
func (c *countdown) Err() error {
	if c.count() {
		return context.Canceled
	}
	return nil
}

// over reports whether the context has ended. It does not count as a use.
func (c *countdown) over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left <= 0
}

// interruptible is an operation on the journal in a directory, which returns its result as text.
type interruptible struct {
	name string
	do   func(ctx context.Context, path string) (string, error)
}

// read runs an operation on a read-only journal.
func read(use func(ctx context.Context, j *journal.Journal) (any, error)) func(context.Context, string) (string, error) {
	return func(ctx context.Context, path string) (string, error) {
		j, err := journal.ReadKeyed(ctx, path, nil)
		if err != nil {
			return "", err
		}
		return used(ctx, j, use)
	}
}

// written runs an operation on a journal that is open for writing.
func written(use func(ctx context.Context, j *journal.Journal) (any, error)) func(context.Context, string) (string, error) {
	return func(ctx context.Context, path string) (string, error) {
		j, err := journal.Open(ctx, path, binding, journal.Options{Reserve: -1})
		if err != nil {
			return "", err
		}
		return used(ctx, j, use)
	}
}

func used(ctx context.Context, j *journal.Journal, use func(ctx context.Context, j *journal.Journal) (any, error)) (string, error) {
	found, err := use(ctx, j)
	if closed := j.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(found)
	return string(text), err
}

func choose(filter journal.Filter) func(context.Context, *journal.Journal) (any, error) {
	return func(ctx context.Context, j *journal.Journal) (any, error) {
		var all []string
		err := j.Select(ctx, filter, func(s *journal.Stored) error { all = append(all, s.Hash); return nil })
		return all, err
	}
}

// tiny seals all records, in segments of at least ten.
var tiny = journal.SealOptions{Records: 10}

var interruptibles = []interruptible{
	{"replay", read(func(ctx context.Context, j *journal.Journal) (any, error) {
		n := 0
		err := j.Replay(ctx, func(*record.Record) error { n++; return nil })
		return n, err
	})},
	{"select all", read(choose(journal.Filter{}))},
	{"select the last of a strategy", read(choose(journal.Filter{Strategy: "one", Last: 400}))},
	{"select the newest", read(choose(journal.Filter{Last: 2, SinceMS: 1}))},
	{"verify", read(func(ctx context.Context, j *journal.Journal) (any, error) { return j.Verify(ctx) })},
	{"newest", read(func(ctx context.Context, j *journal.Journal) (any, error) { return j.Newest(ctx) })},
	{"binding", read(func(ctx context.Context, j *journal.Journal) (any, error) { return j.Binding(ctx) })},
	{"has", read(func(ctx context.Context, j *journal.Journal) (any, error) { return j.Has(ctx, strings.Repeat("0", 64)) })},
	{"open", written(func(_ context.Context, j *journal.Journal) (any, error) { return j.Records(), nil })},
	{"checkpoint", written(func(ctx context.Context, j *journal.Journal) (any, error) {
		c, err := j.Checkpoint(ctx)
		if err != nil || c == nil {
			return nil, err
		}
		n := 0
		err = j.ReplayAfter(ctx, c, func(*record.Record) error { n++; return nil })
		return n, err
	})},
	{"seal", written(func(ctx context.Context, j *journal.Journal) (any, error) {
		sealed, err := j.Seal(ctx, tiny)
		if err != nil {
			return nil, err
		}
		report, err := j.Verify(context.WithoutCancel(ctx))
		return []bool{sealed != nil, report.Segments > 1, len(report.Missing) == 0}, err // the file continues after the base
	})},
	{"append", written(func(ctx context.Context, j *journal.Journal) (any, error) {
		before := j.Records()
		err := j.Append(ctx, []record.Record{booted(5_000 + before), {Body: record.Config{}}}) // its outcome is uncertain if the commit was interrupted
		return j.Records() - before, err
	})},
	{"back up", func(ctx context.Context, path string) (string, error) {
		return read(func(ctx context.Context, j *journal.Journal) (any, error) {
			b, err := j.Backup(ctx, filepath.Join(filepath.Dir(path), "backup.db"))
			return fmt.Sprint(b.Records, b.Hash, b.Binding, b.Account != nil, len(b.Problems)), err
		})(ctx, path)
	}},
	{"restore", func(ctx context.Context, path string) (string, error) {
		to := filepath.Join(filepath.Dir(path), "restored", journal.FileName)
		r, err := journal.Restore(ctx, path, to, nil, moment)
		return fmt.Sprint(r.Records, r.Hash, r.Replaced), err
	}},
	{"restore over another", func(ctx context.Context, path string) (string, error) {
		r, err := journal.Restore(ctx, filepath.Join(filepath.Dir(path), "kept.db"), path, nil, moment)
		return fmt.Sprint(r.Records, r.Hash, filepath.Base(r.Replaced)), err
	}},
	{"begin a key", func(ctx context.Context, path string) (string, error) {
		done, err := journal.BeginKey(ctx, path, key, "")
		if err != nil && strings.Contains(err.Error(), "is keyed from record") { // an interrupted commit may have taken effect
			return "keyed true", nil
		}
		return fmt.Sprint("keyed ", done.From > 0), err
	}},
}

// TestInterruptedReadFailsOrCompletes ends the context of an operation at its first use, at its second, and so on; from the fortieth
// on at every fourth. The operation returns an error or its usual result. The journal stays sound and complete, and the same operation
// succeeds afterwards.
func TestInterruptedReadFailsOrCompletes(t *testing.T) {
	t.Parallel()
	interruptEach(t, "replay", "select all", "select the last of a strategy", "select the newest", "verify", "newest", "binding", "has")
}

func TestInterruptedWriteFailsOrCompletes(t *testing.T) {
	t.Parallel()
	interruptEach(t, "open", "checkpoint", "seal", "append")
}

func TestInterruptedCopyFailsOrCompletes(t *testing.T) {
	t.Parallel()
	interruptEach(t, "back up")
}

func TestInterruptedKeyingFailsOrCompletes(t *testing.T) {
	t.Parallel()
	interruptEach(t, "begin a key")
}

func TestInterruptedRestoreFailsOrCompletes(t *testing.T) {
	t.Parallel()
	interruptEach(t, "restore")
}

func TestInterruptedOverwritingRestoreFailsOrCompletes(t *testing.T) {
	t.Parallel()
	interruptEach(t, "restore over another")
}

// interruptEach interrupts the operations with the given names.
func interruptEach(t *testing.T, names ...string) {
	t.Helper()
	template := t.TempDir()
	path := filepath.Join(template, journal.FileName)
	j := open(t, path)
	m := newTrader(t, j)
	for range 3 {
		m.orders(4)
		m.open(1)
		m.checkpoint()
	}
	m.orders(1)
	_, err := j.Seal(t.Context(), tiny)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(template, journal.AccountFile), []byte("order\n"), 0o600))
	_, err = j.Backup(t.Context(), filepath.Join(template, "kept.db"))
	must(t, err)
	must(t, j.Close())
	for _, name := range names {
		at := slices.IndexFunc(interruptibles, func(one interruptible) bool { return one.name == name })
		one := interruptibles[at]
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			directory := func() string {
				copied := filepath.Join(t.TempDir(), "data")
				must(t, os.CopyFS(copied, os.DirFS(template)))
				return filepath.Join(copied, journal.FileName)
			}
			want, err := one.do(t.Context(), directory())
			must(t, err)
			message := 0
			for n := 1; ; n += 1 + 3*min(1, n/40) {
				path := directory()
				ctx := &countdown{Context: t.Context(), ended: make(chan struct{}), left: n}
				have, err := one.do(ctx, path)
				if err == nil && have != want {
					t.Fatalf("look %d: want an error, or %s, have %s", n, want, have)
				}
				if !ctx.over() {
					break
				}
				if err != nil {
					message++
				}
				wantWhole(t, n, err, path, one, want)
				must(t, os.RemoveAll(filepath.Dir(path)))
			}
			if message == 0 {
				t.Error("want an error at one look at least")
			}
		})
	}
}

// wantWhole expects no partial results next to a journal, and a successful repetition of the operation.
func wantWhole(t *testing.T, n int, failed error, path string, one interruptible, want string) {
	t.Helper()
	for _, name := range []string{"backup.db", filepath.Join("restored", journal.FileName)} {
		made := filepath.Join(filepath.Dir(path), name)
		if _, err := os.Stat(made + ".partial"); err == nil {
			t.Errorf("look %d: %s.partial is left after %v", n, name, failed)
		}
		if _, err := os.Stat(made); err == nil && failed != nil {
			t.Fatalf("look %d: %s has its name after %v", n, name, failed)
		}
	}
	if failed == nil {
		return
	}
	if have, err := one.do(t.Context(), path); err != nil || have != want {
		t.Fatalf("look %d: after %v want %s done again, have %s, %v", n, failed, want, have, err)
	}
}
