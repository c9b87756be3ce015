package haltfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"botd/configs"
	"botd/exchange"
	"botd/internal/failure"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/journal"
	"botd/reconcile/placement"
	"botd/reconcile/record"
	"botd/runtime"
	"botd/runtime/engine"
	"botd/runtime/view"
)

// twoStrategies trade two symbols.
var twoStrategies = &configs.Config{Strategies: []configs.StrategyConfig{
	{Name: "one", Market: exchange.Futures, Symbol: "BTC-USDT"}, {Name: "two", Market: exchange.Spot, Symbol: "ETH-USDT"}}}

// start is what a start has when it replays halts.
type start struct {
	directory string
	store     *journal.Journal
	tracker   *reconcile.Tracker
	history   *view.History
}

func newStart(t *testing.T) *start {
	t.Helper()
	s := &start{directory: t.TempDir(), tracker: reconcile.NewTracker(placement.Bounds{}), history: view.NewHistory()}
	var err error
	binding := journal.Binding{Mode: "demo", URL: "embedded", KeyFingerprint: "f", Instance: "main"}
	if s.store, err = journal.Open(t.Context(), filepath.Join(s.directory, "journal.db"), binding, journal.Options{Reserve: -1}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.store.Close() })
	return s
}

func (s *start) replay(key *journal.Key) error {
	return Replay(context.Background(), twoStrategies, s.directory, 9_000, s.store, key, s.tracker, s.history)
}

// journalled returns what the journal has.
func (s *start) journalled(t *testing.T) (lines []string) {
	t.Helper()
	if err := s.store.Replay(t.Context(), func(r *record.Record) error {
		switch body := r.Body.(type) {
		case record.Audit:
			lines = append(lines, fmt.Sprintf("%d %s %s: %s %s: %s", r.AtMS, body.Actor, body.Role, body.Action, body.Object, body.Detail))
		case record.Halt:
			lines = append(lines, fmt.Sprintf("%d halt of %s: %s: %s", r.AtMS, account.Scope{Strategy: r.Strategy, Symbol: r.Symbol}, body.Level, body.Reason))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return lines
}

// left returns how many halts are stored.
func left(t *testing.T, directory string) int {
	t.Helper()
	paths, err := List(directory)
	if err != nil {
		t.Fatal(err)
	}
	return len(paths)
}

// Each halt is audited, and engaged if it is severer than the halt in force. Its file is removed once the journal has it.
func TestStoredHaltsAreReplayed(t *testing.T) {
	t.Parallel()
	s := newStart(t)
	if err := s.replay(nil); err != nil || len(s.journalled(t)) != 0 {
		t.Errorf("without a halt: want nothing journalled, have %v, %v", s.journalled(t), err)
	}
	s.tracker.Apply(&record.Record{AtMS: 1, Strategy: "two", Body: record.Halt{Level: record.LevelCancel, Reason: "before"}})
	for _, h := range []Halt{
		{AtMS: 1_000, By: "ann", Level: record.LevelCancel, Reason: "a", Strategy: "one"},
		{AtMS: 2_000, By: "bob", Level: record.LevelFlatten, Reason: "b", Strategy: "one"},
		{AtMS: 3_000, By: "cid", Level: record.LevelPause, Reason: "c", Strategy: "one"},
		{AtMS: 4_000, By: "dan", Level: record.LevelCancel, Reason: "d", Strategy: "two"},
		{AtMS: 5_000, By: "eve", Level: record.LevelPause, Reason: "e", Strategy: "removed"},
		{AtMS: 6_000, By: "fay", Level: record.LevelPause, Reason: "f", Market: "spot", Symbol: "ETH-USDT"},
	} {
		if _, err := Write(s.directory, h, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.replay(nil); err != nil {
		t.Fatal(err)
	}
	at := func(second int) string {
		return fmt.Sprintf(" (at 1970-01-01T00:00:0%dZ, while no botd answered)", second)
	}
	want := []string{
		"9000 ann operator: botd halt strategy one: cancel: a" + at(1), "9000 halt of strategy one: cancel: a",
		"9000 bob operator: botd halt strategy one: flatten: b" + at(2), "9000 halt of strategy one: flatten: b",
		"9000 cid operator: botd halt strategy one: pause: c" + at(3),
		"9000 dan operator: botd halt strategy two: cancel: d" + at(4),
		"9000 eve operator: botd halt account: pause: e" + at(5), "9000 halt of account: pause: e",
		"9000 fay operator: botd halt symbol spot ETH-USDT: pause: f" + at(6), "9000 halt of symbol spot ETH-USDT: pause: f",
	}
	if have := s.journalled(t); !slices.Equal(have, want) {
		t.Errorf("want\n%s\nhave\n%s", strings.Join(want, "\n"), strings.Join(have, "\n"))
	}
	spot := account.Scope{Symbol: exchange.SymbolKey{Market: exchange.Spot, Name: "ETH-USDT"}}
	for scope, level := range map[account.Scope]record.HaltLevel{{}: record.LevelPause, {Strategy: "one"}: record.LevelFlatten,
		{Strategy: "two"}: record.LevelCancel, spot: record.LevelPause} {
		if have := s.tracker.HaltOf(scope); have.Level != level {
			t.Errorf("%s: want %s in force, have %s", scope, level, have.Level)
		}
	}
	if audits, _ := s.history.Audits(view.Page{Limit: 100}, func(*view.Audit) bool { return true }); len(audits) != len(want) {
		t.Errorf("want %d changes in the history, have %d", len(want), len(audits))
	}
	if n := left(t, s.directory); n != 0 {
		t.Errorf("want no file left, have %d", n)
	}
}

// The start has the journal's key.
func TestReplayNamesHaltsWithoutCode(t *testing.T) {
	t.Parallel()
	s, key := newStart(t), journal.NewKey([]byte("a key of at least thirty-two bytes"))
	for i, code := range []func([]byte) string{key.Coder(Kind), nil} {
		if _, err := Write(s.directory, Halt{AtMS: int64(i), By: "ann", Level: record.HaltLevel(i + 1)}, code); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.replay(key); err != nil {
		t.Fatal(err)
	}
	if have := s.journalled(t); len(have) != 4 || strings.Contains(have[0], "journal_key_file") ||
		!strings.HasSuffix(have[2], ", while no botd answered; not written with the key of journal_key_file)") {
		t.Errorf("want the second one alone named as unproven, have %q", have)
	}
}

// Nothing is journalled, and the file remains for the next start.
func TestUnreadableHaltStopsTheStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(s *start) error
		code  int
		want  string
	}{
		"a file that is no halt": {func(s *start) error {
			return os.WriteFile(filepath.Join(s.directory, "halt-2-2.json"), []byte("{}"), 0o600)
		}, failure.Data, "halt-2-2.json: it names no level\nhint: remove it if the halt is no longer needed"},
		"a file that is too large": {func(s *start) error {
			return os.WriteFile(filepath.Join(s.directory, "halt-2-2.json"), []byte(strings.Repeat(" ", 64<<10+1)), 0o600)
		}, failure.Data, "has 65537 bytes, more than 65536"},
		"a directory in its place": {func(s *start) error {
			return os.Mkdir(filepath.Join(s.directory, "halt-2-2.json"), 0o700)
		}, failure.Data, "a halt was stored for this start: read the halt "},
		"a closed journal": {func(s *start) error { return s.store.Close() }, failure.IO, ""},
	} {
		s := newStart(t)
		if _, err := Write(s.directory, Halt{AtMS: 1, Level: record.LevelFlatten}, nil); err != nil {
			t.Fatal(err)
		}
		before := left(t, s.directory)
		if err := c.spoil(s); err != nil {
			t.Fatal(err)
		}
		if err := s.replay(nil); failure.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want exit code %d and %q, have %v", name, c.code, c.want, err)
		}
		if n := left(t, s.directory); n < before {
			t.Errorf("%s: want the halt left, have %d files", name, n)
		}
		if audits, _ := s.history.Audits(view.Page{Limit: 100}, func(*view.Audit) bool { return true }); len(audits) != 0 {
			t.Errorf("%s: want nothing in the history, have %v", name, audits)
		}
	}
}

// The name of the directory is no pattern, and the oldest halt comes first. A directory that cannot be read is an error.
func TestStoredHaltsAreFoundInAnyDirectory(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"live", "a[b", "[ab]*?", `a\b`} {
		directory := filepath.Join(t.TempDir(), name)
		if paths, err := List(directory); err != nil || len(paths) != 0 {
			t.Errorf("%s: not there: want no halt, have %v, %v", name, paths, err)
		}
		if err := os.Mkdir(directory, 0o700); err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, at := range []int64{1_700_000_000_000, 1_600_000_000_000} {
			path, err := Write(directory, Halt{AtMS: at, Level: record.LevelPause}, nil)
			if err != nil {
				t.Fatal(err)
			}
			want = append([]string{path}, want...)
		}
		for _, other := range []string{"halt.json", "halt-1.json.partial", ".halt-1", "journal.db"} {
			if err := os.WriteFile(filepath.Join(directory, other), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if have, err := List(directory); err != nil || !slices.Equal(have, want) {
			t.Errorf("%s: want %v, have %v, %v", name, want, have, err)
		}
	}
	s := newStart(t)
	file := filepath.Join(s.directory, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if s.directory = file; failure.CodeOf(s.replay(nil)) != failure.IO {
		t.Errorf("a directory that cannot be read: want exit code %d, have %v", failure.IO, s.replay(nil))
	}
}

// The file is readable text, in a directory that nobody else can write.
func TestHaltFileIsPrivate(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "live")
	if err := os.Mkdir(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	path, err := Write(directory, Halt{AtMS: 7, By: "ann", Level: record.LevelPause, Reason: "r", Market: "spot", Symbol: "ETH-USDT"}, nil)
	if want := filepath.Join(directory, fmt.Sprintf("halt-7-%d.json", os.Getpid())); err != nil || path != want {
		t.Fatalf("want %s, have %s, %v", want, path, err)
	}
	text, err := os.ReadFile(path)
	want := "{\n  \"at_ms\": 7,\n  \"by\": \"ann\",\n  \"level\": \"pause\",\n  \"reason\": \"r\",\n  \"market\": \"spot\",\n  \"symbol\": \"ETH-USDT\"\n}\n"
	if err != nil || string(text) != want {
		t.Errorf("want\n%shave\n%s, %v", want, text, err)
	}
	if found, err := os.Stat(path); err != nil || found.Mode().Perm() != 0o600 {
		t.Errorf("want mode 600, have %v, %v", found.Mode(), err)
	}
	if err := os.Chmod(directory, 0o777); err != nil {
		t.Fatal(err)
	}
	if path, err := Write(directory, Halt{AtMS: 8, Level: record.LevelPause}, nil); failure.CodeOf(err) != failure.Config || path != "" {
		t.Errorf("a directory that others can write: want exit code %d, have %s, %v", failure.Config, path, err)
	}
	if path, err := Write(filepath.Join(directory, "missing"), Halt{AtMS: 8, Level: record.LevelPause}, nil); err == nil || path != "" {
		t.Errorf("a directory that does not exist: want an error, have %s, %v", path, err)
	}
	who, err := user.Current()
	if err != nil || Operator() != who.Username {
		t.Errorf("want %s, have %s, %v", who.Username, Operator(), err)
	}
}

// watched is a watcher of a directory, and the events that it sent.
type watched struct {
	Watcher
	refusal atomic.Pointer[error]
	sent    []string // to be read when the watcher has ended
}

func (w *watched) refuse(err error) { w.refusal.Store(&err) }

func newWatched(t *testing.T) *watched {
	t.Helper()
	w := &watched{}
	w.refuse(nil)
	w.Directory, w.Config, w.done = t.TempDir(), func() *configs.Config { return twoStrategies }, map[string]pending{}
	began := time.Now()
	w.Send = func(_ context.Context, event engine.Event) error {
		line := fmt.Sprintf("%ds", int(time.Since(began).Seconds()))
		if audited, is := event.(*engine.EventAudited); is {
			line, event = line+" audit of "+audited.Audit.Object, audited.Event
		}
		if halt, is := event.(*engine.EventHalt); is {
			line += fmt.Sprintf(" %s of %s: %s", halt.Level, halt.Scope, halt.Reason)
		}
		w.sent = append(w.sent, line)
		return *w.refusal.Load()
	}
	return w
}

// A halt that the engine refused is sent again a second later; one in force only until it is known to be durable. An unreadable file
// pauses everything.
func TestStoredHaltIsExecutedOnce(t *testing.T) {
	t.Parallel()
	halt := Halt{AtMS: 1, By: "ann", Level: record.LevelFlatten, Reason: "stop", Strategy: "one"}
	write := func(t *testing.T, w *watched) string {
		t.Helper()
		path, err := Write(w.Directory, halt, nil)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	spoilt := func(t *testing.T, w *watched, text string) string {
		t.Helper()
		path := filepath.Join(w.Directory, "halt-1-1.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const full = "audit of strategy one flatten of strategy one: stop"
	for name, c := range map[string]struct {
		prepare func(t *testing.T, w *watched) (path string)
		after   time.Duration // until change
		change  func(t *testing.T, w *watched, path string)
		want    []string
		stays   bool
	}{
		"taken": {write, time.Minute, nil, []string{"0s " + full}, false},
		"not taken for a while": {func(t *testing.T, w *watched) string { w.refuse(errors.New("busy")); return write(t, w) }, 2500 * time.Millisecond,
			func(_ *testing.T, w *watched, _ string) { w.refuse(nil) }, []string{"0s " + full, "1s " + full, "2s " + full, "3s " + full}, false},
		"in force before it is durable": {func(t *testing.T, w *watched) string { w.refuse(runtime.ErrNotDurable); return write(t, w) }, 45 * time.Second,
			func(_ *testing.T, w *watched, _ string) { w.refuse(nil) },
			[]string{"0s " + full, "30s audit of strategy one", "60s audit of strategy one"}, false},
		"unreadable": {func(t *testing.T, w *watched) string { return spoilt(t, w, "{") }, time.Minute, nil,
			[]string{"0s pause of account: a stored halt cannot be read: read the halt PATH: unexpected end of JSON input"}, true},
		"unreadable until it is repaired": {func(t *testing.T, w *watched) string { return spoilt(t, w, "{}") }, 10 * time.Second,
			func(t *testing.T, w *watched, _ string) {
				spoilt(t, w, `{"level":"flatten","strategy":"one","reason":"stop"}`)
			},
			[]string{"0s pause of account: a stored halt cannot be read: read the halt PATH: it names no level", "30s " + full}, false},
		"removed meanwhile": {func(t *testing.T, w *watched) string {
			w.enforce(t.Context(), filepath.Join(w.Directory, "halt-1-1.json"))
			return filepath.Join(w.Directory, "halt-1-1.json")
		}, time.Minute, nil, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWatched(t)
				path := c.prepare(t, w)
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				ended := make(chan struct{})
				go func() { defer close(ended); w.Run(ctx) }()
				time.Sleep(c.after) // of the bubble's clock
				synctest.Wait()
				if c.change != nil {
					c.change(t, w, path)
				}
				<-ended
				have := strings.ReplaceAll(strings.Join(w.sent, "\n"), path, "PATH")
				if want := strings.Join(c.want, "\n"); have != want {
					t.Errorf("want\n%s\nhave\n%s", want, have)
				}
				if _, err := os.Stat(path); (err == nil) != c.stays {
					t.Errorf("want the file there %t, have %v", c.stays, err)
				}
			})
		})
	}
}
