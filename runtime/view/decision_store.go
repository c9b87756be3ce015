package view

import (
	"bytes"
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
)

// Bounds of the decisions that are kept.
const (
	decisionBytes  = 256 << 20       // of all files together; then the oldest go
	decisionFile   = 1 << 20         // of one file, which is of one day (UTC) too
	decisionFiles  = 8               // that one page looks into
	decisionQueue  = 4_096           // what may wait for a slow disk
	decisionClose  = 5 * time.Second // how long Close waits for it
	decisionAge    = time.Hour       // how often it is looked whether a file is too old
	decisionEnding = ".jsonl"
)

// DecisionStoreConfig says where decisions are kept, and for how long.
type DecisionStoreConfig struct {
	Directory string
	Keep      time.Duration
	Room      func() error // why nothing may be written, such as a disk that is nearly full; nil does not look
	Tell      func(error)  // once when writing begins to fail, and with nil when it works again
}

// DecisionStore keeps decisions for as long as the configuration says, a JSON
// object a line, in files that are named by their first decision's number. They
// explain, and nothing depends on them: what is in force is in the journal.
type DecisionStore struct {
	config  DecisionStoreConfig
	queue   chan Decision
	done    chan struct{}
	file    *os.File // the writer's, as all below
	day     int64
	size    int64
	failing bool
}

// NewDecisionStore starts; Close must be called in the end, after the last decision.
func NewDecisionStore(config DecisionStoreConfig) *DecisionStore {
	s := &DecisionStore{config: config, queue: make(chan Decision, decisionQueue), done: make(chan struct{})}
	s.prune() // before anybody reads
	go s.write()
	return s
}

// Add keeps a decision. It returns at once; what finds no room in the queue is not kept.
func (s *DecisionStore) Add(d Decision) {
	select {
	case s.queue <- d:
	default:
	}
}

// Close writes what waits, as far as the disk does it in time.
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
				s.tell(s.end())
				return
			}
			s.tell(s.append(&d))
		case <-every.C:
			s.prune()
		}
	}
}

// tell says once that decisions are not kept, and when they are again.
func (s *DecisionStore) tell(err error) {
	if failing := err != nil; failing != s.failing {
		s.failing = failing
		s.config.Tell(err)
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
		return fmt.Errorf("keep decision %d: %w", d.n, err)
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
		return errors.Join(fmt.Errorf("keep decision %d: %w", d.n, err), s.end()) // half a line ends that file
	}
	return nil
}

const dayMS = 24 * 60 * 60 * 1000

// begin begins the file of a decision, after which what is too old can go.
func (s *DecisionStore) begin(n int64) error {
	if err := s.end(); err != nil {
		return err
	}
	if err := os.MkdirAll(s.config.Directory, 0o700); err != nil {
		return fmt.Errorf("keep decisions: %w", err)
	}
	file, err := os.OpenFile(s.path(n), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep decisions: %w", err)
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

// firsts are the files by the numbers of their first decisions, oldest first.
func (s *DecisionStore) firsts() (all []int64) {
	items, err := os.ReadDir(s.config.Directory)
	if err != nil {
		return nil // nothing was kept yet
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

// prune takes away files whose last decision is too old, and the oldest while there
// is too much. What can not be taken away is tried again.
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

// read returns a file's decisions below a number, oldest first. Lines that a crash
// left unfinished are none.
func (s *DecisionStore) read(first, before int64) (all []Decision) {
	file, err := os.Open(s.path(first))
	if err != nil {
		return nil // taken away meanwhile
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, decisionFile))
	if err != nil {
		return nil
	}
	for line := range bytes.Lines(text) {
		var d Decision
		if json.Unmarshal(line, &d) != nil {
			continue
		}
		if d.n, err = strconv.ParseInt(d.ID, 10, 64); err == nil && d.n >= first && d.n < before {
			all = append(all, d)
		}
	}
	return all
}

// newest returns the newest decisions that are kept, oldest first.
func (s *DecisionStore) newest(most int) (all []Decision) {
	for _, first := range slices.Backward(s.firsts()) {
		if len(all) >= most {
			break
		}
		all = append(s.read(first, int64(1)<<62), all...)
	}
	return all[max(0, len(all)-most):]
}

// older returns a strategy's decisions below a number, newest first, and the number
// to go on below; 0 when there is nothing more.
func (s *DecisionStore) older(name string, before int64, most int) (items []Decision, next int64) {
	next = before
	looked := 0
	for _, first := range slices.Backward(s.firsts()) {
		if first >= before {
			continue
		}
		if looked++; looked > decisionFiles {
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
