package view

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"botd/internal/privatefile"
)

// Limits of the decisions that are stored.
const (
	decisionBytes  = 256 << 20       // of all files together; then the oldest are deleted
	decisionFile   = 1 << 20         // of one file, which also ends with the day (UTC)
	decisionFiles  = 8               // that one page reads
	decisionQueue  = 4_096           // queued for a slow disk
	decisionClose  = 5 * time.Second // how long Close waits for it
	decisionAge    = time.Hour       // how often files are checked for their age
	decisionEnding = ".jsonl"
)

// DecisionStoreConfig configures where decisions are stored, and for how long.
type DecisionStoreConfig struct {
	Directory string
	Keep      time.Duration
	Room      func() error // the reason that nothing may be written, such as a nearly full disk; nil checks nothing
	Failed    func(error)  // called once when writing begins to fail, and with nil when it works again
}

// DecisionStore stores decisions for the configured time, one JSON object a line, in files named by
// the number of their first decision. They only explain: the state in force is in the journal.
type DecisionStore struct {
	config  DecisionStoreConfig
	queue   chan Decision
	done    chan struct{}
	file    *os.File // the writer's, like all below
	day     int64
	size    int64
	failing bool
}

// NewDecisionStore starts a store. Close must be called after the last decision.
func NewDecisionStore(config DecisionStoreConfig) *DecisionStore {
	s := &DecisionStore{config: config, queue: make(chan Decision, decisionQueue), done: make(chan struct{})}
	s.prune() // before the first read
	go s.write()
	return s
}

// Add stores a decision. It returns at once; with a full queue the decision is dropped.
func (s *DecisionStore) Add(d Decision) {
	select {
	case s.queue <- d:
	default:
	}
}

// Close writes the queued decisions, as far as the disk is fast enough.
func (s *DecisionStore) Close() {
	close(s.queue)
	select {
	case <-s.done:
	case <-time.After(decisionClose):
	}
}

func (s *DecisionStore) write() {
	defer close(s.done)
	every := time.NewTicker(decisionAge)
	defer every.Stop()
	for {
		select {
		case d, more := <-s.queue:
			if !more {
				if err := s.end(); err != nil { // an end without a failure proves nothing of what was not stored
					s.report(err)
				}
				return
			}
			s.report(s.append(&d))
		case <-every.C:
			s.prune()
		}
	}
}

// report reports once that decisions are not stored, and once that they are stored again.
func (s *DecisionStore) report(err error) {
	if failing := err != nil; failing != s.failing {
		s.failing = failing
		s.config.Failed(err)
	}
}

func (s *DecisionStore) append(d *Decision) error {
	if s.config.Room != nil {
		if err := s.config.Room(); err != nil {
			return err
		}
	}
	line, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("store decision %d: %w", d.n, err)
	}
	line = append(line, '\n')
	if day := d.AtMS / dayMS; s.file == nil || day != s.day || s.size+int64(len(line)) > decisionFile {
		if err := s.begin(d.n); err != nil {
			return err
		}
		s.day = day
	}
	written, err := s.file.Write(line)
	s.size += int64(written)
	if err != nil {
		return errors.Join(fmt.Errorf("store decision %d: %w", d.n, err), s.end()) // half a line ends its file
	}
	return nil
}

const dayMS = 24 * 60 * 60 * 1000

// begin opens the file that begins with a decision, and deletes files that are too old.
func (s *DecisionStore) begin(n int64) error {
	if err := s.end(); err != nil {
		return err
	}
	if err := os.MkdirAll(s.config.Directory, 0o700); err != nil {
		return fmt.Errorf("store decisions: %w", err)
	}
	file, err := privatefile.Open(s.path(n), os.O_CREATE|os.O_TRUNC|os.O_WRONLY)
	if err != nil {
		return fmt.Errorf("store decisions: %w", err)
	}
	s.file, s.size = file, 0
	s.prune()
	return nil
}

func (s *DecisionStore) end() error {
	if s.file == nil {
		return nil
	}
	file := s.file
	s.file = nil
	return file.Close()
}

func (s *DecisionStore) path(n int64) string {
	return filepath.Join(s.config.Directory, fmt.Sprintf("%016d%s", n, decisionEnding))
}

// firsts lists the files by the numbers of their first decisions, oldest first.
func (s *DecisionStore) firsts() (all []int64) {
	items, err := os.ReadDir(s.config.Directory)
	if err != nil {
		return nil // nothing is stored yet
	}
	for _, item := range items {
		name, ours := strings.CutSuffix(item.Name(), decisionEnding)
		if n, err := strconv.ParseInt(name, 10, 64); ours && err == nil && s.path(n) == filepath.Join(s.config.Directory, item.Name()) {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all
}

// prune deletes files whose last decision is too old, and the oldest ones while all together are
// too large. A file that cannot be deleted is tried again.
func (s *DecisionStore) prune() {
	firsts := s.firsts()
	sizes, total := map[int64]int64{}, int64(0)
	for _, n := range firsts {
		info, err := os.Stat(s.path(n))
		if err != nil {
			continue
		}
		if time.Since(info.ModTime()) > s.config.Keep && !s.writes(n) {
			_ = os.Remove(s.path(n))
			continue
		}
		sizes[n], total = info.Size(), total+info.Size()
	}
	for _, n := range firsts {
		if total <= decisionBytes {
			return
		}
		if size, there := sizes[n]; there && !s.writes(n) && os.Remove(s.path(n)) == nil {
			total -= size
		}
	}
}

// writes reports whether a file is the one being written.
func (s *DecisionStore) writes(n int64) bool { return s.file != nil && s.file.Name() == s.path(n) }

// read returns a file's decisions below a number, oldest first. Lines that a crash cut short
// are left out.
func (s *DecisionStore) read(first, before int64) (all []Decision) {
	file, err := os.Open(s.path(first))
	if err != nil {
		return nil // deleted meanwhile
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, decisionFile))
	if err != nil {
		return nil
	}
	for line := range bytes.Lines(text) {
		var stored struct {
			Decision
			OldTarget string `json:"wish"` // as older versions wrote the target
		}
		if json.Unmarshal(line, &stored) != nil {
			continue
		}
		d := stored.Decision
		d.Target = cmp.Or(d.Target, stored.OldTarget)
		if d.n, err = strconv.ParseInt(d.ID, 10, 64); err == nil && d.n >= first && d.n < before {
			all = append(all, d)
		}
	}
	return all
}

// newest returns the newest decisions, oldest first.
func (s *DecisionStore) newest(most int) (all []Decision) {
	for _, first := range slices.Backward(s.firsts()) {
		if len(all) >= most {
			break
		}
		all = append(s.read(first, int64(1)<<62), all...)
	}
	return all[max(0, len(all)-most):]
}

// older returns a strategy's decisions below a number, newest first, and the number to continue
// below; 0 at the end.
func (s *DecisionStore) older(name string, before int64, most int) (items []Decision, next int64) {
	next = before
	files := 0
	for _, first := range slices.Backward(s.firsts()) {
		if first >= before {
			continue
		}
		if files++; files > decisionFiles {
			return items, next
		}
		for _, d := range slices.Backward(s.read(first, before)) {
			if name != "" && d.Strategy != name {
				continue
			}
			if len(items) == most {
				return items, next
			}
			items, next = append(items, d), d.n
		}
		next = first
	}
	return items, 0
}
