// Package haltfile stores a halt that no running daemon accepted, and enforces it at the next opportunity.
package haltfile

import (
	"context"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"time"

	"botd/configs"
	"botd/exchange"
	"botd/internal/failure"
	"botd/internal/privatefile"
	"botd/reconcile"
	"botd/reconcile/account"
	"botd/reconcile/journal"
	"botd/reconcile/record"
	"botd/runtime"
	"botd/runtime/engine"
	"botd/runtime/view"
)

// pattern matches the files of halts that no running botd received, one halt each. They lie next to
// the journal, which only the process that holds its lock may write. A file that appears while a
// start takes over the others is read a moment later.
const pattern = "halt-*.json"

// Halt is the kill switch, pulled while no botd answered.
type Halt struct {
	AtMS     int64            `json:"at_ms"`
	By       string           `json:"by"`
	Level    record.HaltLevel `json:"level"`
	Reason   string           `json:"reason"`
	Strategy string           `json:"strategy,omitempty"`
	Market   string           `json:"market,omitempty"`
	Symbol   string           `json:"symbol,omitempty"`
	Code     string           `json:"code,omitempty"` // of the other fields, by the key of journal_key_file
}

// Kind distinguishes the codes of halts among those of the key.
const Kind = "halt"

// codeOf returns the code that a halt must have.
func (h Halt) codeOf(code func(text []byte) string) string {
	h.Code = ""
	text, err := json.Marshal(h)
	if err != nil {
		panic(err) // texts and numbers alone
	}
	return code(text)
}

// Operator names who runs the command.
func Operator() string {
	if who, err := user.Current(); err == nil {
		return who.Username
	}
	return fmt.Sprint("user ", os.Getuid())
}

// Scope resolves the halt's scope among the configured strategies.
func (h *Halt) Scope(config *configs.Config) (account.Scope, error) {
	var known []account.Scope
	for i := range config.Strategies {
		s := &config.Strategies[i]
		known = append(known, account.Scope{Strategy: s.Name, Symbol: exchange.SymbolKey{Market: s.Market, Name: s.Symbol}})
	}
	return account.ScopeName{Strategy: h.Strategy, Market: h.Market, Symbol: h.Symbol}.Find(known)
}

// ErrNoJournal means that no daemon has traded in the configuration's data directory yet.
var ErrNoJournal = errors.New("no journal is in the data directory")

// Store saves a halt for the next start, and for a running daemon that does not answer, and returns the path of its
// file. warn receives what makes the halt less safe, but does not prevent it.
func Store(config *configs.Config, halt Halt, warn func(text string)) (path string, err error) {
	directory := filepath.Join(config.DataDir, string(config.Mode))
	if _, err := os.Stat(filepath.Join(directory, journal.FileName)); err != nil {
		return "", ErrNoJournal
	}
	if _, err := halt.Scope(config); err != nil {
		return "", failure.Wrap(failure.Negative, err)
	}
	secret, err := config.JournalKey()
	if err != nil { // the halt is carried out nevertheless
		warn(fmt.Sprintf("the halt has no authentication code, since the journal's key cannot be read: %v", err))
	}
	path, err = Write(directory, halt, journal.NewKey(secret).Coder(Kind))
	if path == "" {
		return "", failure.New(failure.IO, "nothing was halted", "store the halt for the next start: %w", err)
	}
	if err != nil {
		warn(fmt.Sprintf("a power failure may lose the halt: %v", err))
	}
	return path, nil
}

// Write writes a halt into a file of its own, durably, as a whole or not at all. With a key it adds a code. An
// error together with a path means that the halt is written, but that a power failure may remove it.
func Write(directory string, halt Halt, code func(text []byte) string) (path string, err error) {
	if err := privatefile.Check(filepath.Dir(directory), directory); err != nil {
		return "", failure.Wrap(failure.Config, err)
	}
	if code != nil {
		halt.Code = halt.codeOf(code)
	}
	text, err := json.MarshalIndent(halt, "", "  ")
	if err != nil {
		return "", err
	}
	file, err := os.CreateTemp(directory, ".halt-*")
	if err != nil {
		return "", err
	}
	path = filepath.Join(directory, fmt.Sprintf("halt-%d-%d.json", halt.AtMS, os.Getpid()))
	_, err = file.Write(append(text, '\n'))
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return path, privatefile.SyncDirectory(directory)
}

// List returns the paths of the stored halts in a directory, the oldest first; a directory that does not exist has none.
func List(directory string) (paths []string, err error) {
	entries, err := os.ReadDir(directory)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries { // sorted; their names begin with their time
		if is, _ := filepath.Match(pattern, entry.Name()); is { // the pattern is good
			paths = append(paths, filepath.Join(directory, entry.Name()))
		}
	}
	return paths, nil
}

func read(path string) (halt Halt, err error) {
	text, err := privatefile.Read(path, 64<<10)
	if err == nil {
		halt, err = parse(text)
	}
	if err != nil {
		return halt, fmt.Errorf("read the halt %s: %w", path, err)
	}
	return halt, nil
}

func parse(text []byte) (halt Halt, err error) {
	if err = json.Unmarshal(text, &halt); err == nil && halt.Level == record.LevelNone {
		err = errors.New("it names no level")
	}
	return halt, err
}

// scopeNow resolves the scope by the current configuration: a scope that is no longer configured
// becomes the account.
func (h *Halt) scopeNow(config *configs.Config) account.Scope {
	scope, err := h.Scope(config)
	if err != nil {
		return account.Scope{}
	}
	return scope
}

// audit returns the journal's entry for the halt. A halt without its code is carried out all the same: a
// person who can write the file can also halt with the token next to it, and a refused halt would be
// worse.
func (h *Halt) audit(path string, scope account.Scope, code func(text []byte) string) *record.Audit {
	unproven := ""
	if code != nil && !hmac.Equal([]byte(h.Code), []byte(h.codeOf(code))) {
		unproven = "; not written with the key of journal_key_file"
	}
	return &record.Audit{Actor: h.By, Role: "operator", From: path, Action: "botd halt", Object: scope.String(),
		Detail: h.Level.String() + ": " + h.Reason + " (at " + time.UnixMilli(h.AtMS).
			UTC().
			Format(time.RFC3339) +
			", while no botd answered" + unproven + ")"}
}

// Replay writes the stored halts into the journal and the tracker, before
// the engine starts. A halt that cannot be read is an error, not a reason to trade.
func Replay(ctx context.Context, config *configs.Config, directory string, nowMS int64, store *journal.Journal, key *journal.Key,
	tracker *reconcile.Tracker, history *view.History) error {
	paths, err := List(directory)
	if err != nil || len(paths) == 0 {
		return failure.Wrap(failure.IO, err)
	}
	var records []record.Record
	for _, path := range paths {
		h, err := read(path)
		if err != nil {
			return failure.New(failure.Data, "remove it if the halt is no longer needed", "a halt was stored for this start: %w", err)
		}
		scope := h.scopeNow(config)
		records = append(records, record.Record{AtMS: nowMS, Body: *h.audit(path, scope, key.Coder(Kind))})
		halt := record.Record{AtMS: nowMS, Strategy: scope.Strategy, Symbol: scope.Symbol, Body: record.Halt{Level: h.Level, Reason: h.Reason}}
		if h.Level > tracker.HaltOf(scope).Level {
			tracker.Apply(&halt)
			records = append(records, halt)
		}
	}
	if err := store.Append(ctx, records); err != nil {
		return failure.Wrap(failure.IO, err)
	}
	for i := range records {
		history.Apply(&records[i])
	}
	for _, path := range paths {
		err = errors.Join(err, os.Remove(path))
	}
	return failure.Wrap(failure.IO, errors.Join(err, privatefile.SyncDirectory(directory)))
}

// How often a running daemon polls for stored halts, and how often
// it checks whether one in force has become durable.
const (
	pollEvery    = time.Second
	durableEvery = 30 * time.Second
)

// Watcher carries out, while the daemon runs, halts that were stored because the daemon did not
// answer: requested during its start, or while its socket was missing. An unreadable file pauses
// everything, since a person meant to halt.
type Watcher struct {
	Directory string
	Config    func() *configs.Config
	Send      func(context.Context, engine.Event) error
	Code      func(text []byte) string // by the journal's key; nil without one
	Log       func(event, format string, arguments ...any)
	done      map[string]pending // files that were acted on and are still there
	unlisted  bool               // the directory could not be read the last time
}

// pending is a file that was acted on.
type pending struct {
	again  time.Time // when it is read again
	unread bool      // it could not be read, so everything was paused: its own halt is not in force
}

func (h *Watcher) Run(ctx context.Context) {
	h.done = map[string]pending{}
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	for {
		for _, path := range h.list() {
			h.enforce(ctx, path)
		}
		select {
		case <-ctx.Done():
			return
		case <-poll.C:
		}
	}
}

// list returns the stored halts. While the directory cannot be read it returns none; it logs the
// first failure and the end of it.
func (h *Watcher) list() []string {
	paths, err := List(h.Directory)
	switch {
	case err != nil && !h.unlisted:
		h.Log("halt.unlisted", "HALT      stored halts cannot be read: a halt requested while botd did not answer has no effect until then: %v", err)
	case err == nil && h.unlisted:
		h.Log("halt.listed", "HALT      stored halts can be read again")
	}
	h.unlisted = err != nil
	return paths
}

// enforce applies a halt, once: a person may have rearmed since. Its file is deleted when the halt is
// durable; records become durable in their order, so that a later one proves it. A file that could
// not be read paused everything, once; its halt is applied once the file is repaired.
func (h *Watcher) enforce(ctx context.Context, path string) {
	before, known := h.done[path]
	if known && time.Now().Before(before.again) {
		return
	}
	halt, unread := read(path)
	if errors.Is(unread, fs.ErrNotExist) {
		return // its sender has reached the daemon after all
	}
	scope := halt.scopeNow(h.Config())
	audit := halt.audit(path, scope, h.Code)
	var event engine.Event = &engine.EventAudited{Audit: audit, Event: &engine.EventHalt{Level: halt.Level, Scope: scope, Reason: halt.Reason}}
	switch {
	case unread != nil && known:
		return
	case unread != nil:
		event = &engine.EventHalt{Level: record.LevelPause, Reason: fmt.Sprint("a stored halt cannot be read: ", unread)}
	case known && !before.unread:
		event = &engine.EventAudited{Audit: audit}
	}
	err := h.Send(ctx, event)
	if err != nil && !errors.Is(err, runtime.ErrNotDurable) {
		return // not enforced: it is tried again
	}
	h.done[path] = pending{time.Now().Add(durableEvery), unread != nil}
	if err == nil && unread == nil {
		_ = os.Remove(path) // a remaining file changes nothing until the next start
	}
}
