package sweeps

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"botd/backtest"
	"botd/internal/private"
)

// The files of a named sweep, in a folder of its name.
const (
	specFile     = "sweep.json"   // what it is of
	rowsFile     = "trials.jsonl" // a line for each trial that has ended
	canceledFile = "canceled"     // asks whoever runs it to end
	progressFile = "progress.json"
)

// progressEvery is how often the progress is stored at most.
const progressEvery = 500 * time.Millisecond

// StrategyFile holds the strategy's bytes.
const StrategyFile = "strategy.yaml"

// Spec is what a sweep is of: all that is needed to continue it.
type Spec struct {
	Schema   int       `json:"schema"`
	Name     string    `json:"name"`
	Started  time.Time `json:"started"`
	Strategy string    `json:"strategy"`           // the file as it was named; its bytes are beside
	InPlace  bool      `json:"in_place,omitempty"` // it is read where it was: the program that it names lies there
	Title    Title     `json:"title"`

	Vary    []string `json:"vary"`
	Where   string   `json:"where,omitempty"`
	Require string   `json:"require,omitempty"`
	Stop    string   `json:"stop_when,omitempty"` // a trial ends early, and is ranked last
	Search  string   `json:"search"`
	Trials  int      `json:"trials,omitempty"` // at most; 0 for every combination
	Seed    uint64   `json:"seed"`
	Sort    string   `json:"sort"`
	Pareto  []string `json:"pareto,omitempty"` // objectives, beside the one that ranks
	Split   string   `json:"split,omitempty"`

	Data     []string `json:"data"` // absolute paths
	Detail   []string `json:"detail,omitempty"`
	Trades   []string `json:"trades,omitempty"`
	Funding  []string `json:"funding,omitempty"`
	Signals  []string `json:"signals,omitempty"`
	Columns  []string `json:"columns,omitempty"`
	Recorded string   `json:"recorded,omitempty"`
	Symbols  string   `json:"symbols,omitempty"`
	From     string   `json:"from,omitempty"`
	To       string   `json:"to,omitempty"`
	Repair   bool     `json:"repair,omitempty"`
}

// Title is what a table says of a sweep.
type Title struct {
	Strategy   string             `json:"strategy"`
	Symbol     string             `json:"symbol"`
	Interval   string             `json:"interval"`
	Candles    int                `json:"candles"`
	DataSHA256 string             `json:"data_sha256"`
	Warnings   []backtest.Warning `json:"warnings,omitempty"` // of files and configuration: the same for all trials
}

// Log keeps the rows of a sweep on disk, each as its trial ends.
type Log struct {
	directory string
	rows      *os.File
	ended     map[string]backtest.Trial // by job
	shown     time.Time                 // when the progress was stored
}

// Progress is how far a sweep is: how many of its choices have ended or were refused.
type Progress struct {
	Done  int `json:"done"`
	Total int `json:"total"`
}

// ErrNone says that there is no sweep of that name.
var ErrNone = errors.New("there is no sweep of that name")

// Create begins a sweep in a folder that must not be there yet, with a copy of the strategy and of
// the files beside it that it names.
func Create(directory string, spec *Spec, strategy map[string][]byte) (*Log, error) {
	if err := os.MkdirAll(filepath.Dir(directory), 0o700); err != nil {
		return nil, err
	}
	if err := os.Mkdir(directory, 0o700); err != nil {
		return nil, err
	}
	l, err := begin(directory, spec, strategy)
	if err != nil { // the name is free again
		err = errors.Join(err, os.RemoveAll(directory))
	}
	return l, err
}

// begin fills the folder of a sweep.
func begin(directory string, spec *Spec, strategy map[string][]byte) (*Log, error) {
	text, err := json.MarshalIndent(spec, "", "  ")
	if err != nil {
		return nil, err
	}
	for name, bytes := range strategy {
		if !filepath.IsLocal(name) {
			return nil, fmt.Errorf("%s is not beside the strategy's file", name)
		}
		path := filepath.Join(directory, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, bytes, 0o600)); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(filepath.Join(directory, specFile), append(text, '\n'), 0o600); err != nil {
		return nil, err
	}
	return Open(directory)
}

// Open reads what a sweep has so far, and locks it for its one runner. A last line that was cut, by a
// kill or a full disk, is dropped.
func Open(directory string) (*Log, error) {
	path := filepath.Join(directory, rowsFile)
	rows, err := private.Open(path, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, err
	}
	if err := lock(rows); err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	trials, whole, err := readRows(rows)
	if err == nil {
		err = rows.Truncate(whole)
	}
	if err == nil {
		_, err = rows.Seek(whole, 0)
	}
	if err == nil {
		if err = os.Remove(filepath.Join(directory, canceledFile)); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	l := &Log{directory: directory, rows: rows, ended: map[string]backtest.Trial{}}
	for i := range trials {
		l.ended[trials[i].Job] = trials[i]
	}
	return l, nil
}

// readRows reads the rows, and how many bytes of whole lines there are.
func readRows(file *os.File) (trials []backtest.Trial, whole int64, err error) {
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return trials, whole, nil // the end, or a line that was cut
		}
		var trial backtest.Trial
		if err := json.Unmarshal(line, &trial); err != nil || trial.Job == "" || trial.Seen == nil {
			return nil, 0, fmt.Errorf("%s: line %d is no trial", file.Name(), len(trials)+1)
		}
		trials, whole = append(trials, trial), whole+int64(len(line))
	}
}

// Has reports whether a job has its row.
func (l *Log) Has(job string) bool { _, had := l.ended[job]; return had }

// Append stores a trial that has ended.
func (l *Log) Append(t *backtest.Trial) error {
	line, err := json.Marshal(t)
	if err != nil {
		return err
	}
	_, err = l.rows.Write(append(line, '\n'))
	l.ended[t.Job] = *t
	return err
}

// Canceled reports whether somebody asked the sweep to end.
func (l *Log) Canceled() bool {
	_, err := os.Lstat(filepath.Join(l.directory, canceledFile))
	return err == nil
}

// Progress stores how far the sweep is, for those who watch it.
func (l *Log) Progress(done, total int) error {
	if done < total && time.Since(l.shown) < progressEvery {
		return nil
	}
	l.shown = time.Now()
	text, err := json.Marshal(Progress{done, total})
	if err != nil {
		return err
	}
	partial := filepath.Join(l.directory, progressFile+".partial") // not durable: it is stored often, and rebuilt by the next run
	if err := os.WriteFile(partial, text, 0o600); err != nil {
		return err
	}
	return os.Rename(partial, filepath.Join(l.directory, progressFile))
}

// ProgressOf returns how far a sweep is; false where that was not stored.
func ProgressOf(directory string) (p Progress, known bool) {
	text, err := private.Read(filepath.Join(directory, progressFile), maxProgress)
	return p, err == nil && json.Unmarshal(text, &p) == nil && p.Total > 0
}

// maxProgress bounds the file of the progress.
const maxProgress = 1 << 10

// Close ends the log's use by this process.
func (l *Log) Close() error { return errors.Join(l.rows.Sync(), l.rows.Close()) }

// Status is a sweep as a list shows it.
type Status struct {
	Name    string    `json:"name"`
	Started time.Time `json:"started"`
	Search  string    `json:"search"`
	Sort    string    `json:"sort"`
	Ended   int       `json:"ended"`   // trials
	Total   int       `json:"total"`   // with those that are missing; 0 where that is not known
	Running bool      `json:"running"` // a process works on it
	Done    bool      `json:"done"`    // nothing is missing: it has its result
}

// List returns the named sweeps of a directory, the newest first.
func List(directory string) ([]Status, error) {
	entries, err := os.ReadDir(directory)
	if errors.Is(err, fs.ErrNotExist) {
		return []Status{}, nil
	}
	if err != nil {
		return nil, err
	}
	all := []Status{}
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		one, err := statusOf(filepath.Join(directory, entry.Name()))
		if errors.Is(err, ErrNone) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Status) int { return b.Started.Compare(a.Started) })
	return all, nil
}

func statusOf(directory string) (Status, error) {
	spec, trials, err := Read(directory)
	if err != nil {
		return Status{}, err
	}
	_, missing := os.Stat(directory + ".json")
	progress, _ := ProgressOf(directory)
	return Status{Name: spec.Name, Started: spec.Started, Search: spec.Search, Sort: spec.Sort, Ended: len(trials), Total: progress.Total,
		Running: Running(directory), Done: missing == nil}, nil
}

// Running reports whether a process runs a sweep.
func Running(directory string) bool { return locked(filepath.Join(directory, rowsFile)) }

// Read returns what a sweep is of, and its rows so far.
func Read(directory string) (*Spec, []backtest.Trial, error) {
	text, err := os.ReadFile(filepath.Join(directory, specFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, ErrNone
	}
	if err != nil {
		return nil, nil, err
	}
	var spec Spec
	if err := json.Unmarshal(text, &spec); err != nil || spec.Schema != 1 {
		return nil, nil, fmt.Errorf("%s is no sweep of this botd: %w", filepath.Join(directory, specFile), err)
	}
	file, err := os.Open(filepath.Join(directory, rowsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return &spec, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	trials, _, err := readRows(file)
	return &spec, trials, err
}

// Cancel asks whoever runs a sweep to end after the trials under way. running is false when nobody does.
func Cancel(directory string) (running bool, err error) {
	if _, _, err := Read(directory); err != nil {
		return false, err
	}
	if !Running(directory) {
		return false, nil
	}
	return true, os.WriteFile(filepath.Join(directory, canceledFile), nil, 0o600)
}

// StrategyPath returns the path of the sweep's own copy of the strategy, or where it is read in place.
func (s *Spec) StrategyPath(directory string) string {
	if s.InPlace {
		return s.Strategy
	}
	return filepath.Join(directory, StrategyFile)
}
