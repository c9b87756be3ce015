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
	"botd/internal/disk"
	"botd/internal/privatefile"
)

// The files of a named sweep, in a folder of its name.
const (
	specFile     = "sweep.json"   // the specification
	rowsFile     = "trials.jsonl" // a line for each trial that has ended
	canceledFile = "canceled"     // requests the runner to end
	progressFile = "progress.json"
)

// progressEvery is the minimum time between two writes of the progress.
const progressEvery = 500 * time.Millisecond

// Log stores the rows of a sweep on disk, each as its trial ends.
type Log struct {
	directory      string
	rows           *os.File
	ended          map[string]backtest.Trial // by job
	progressStored time.Time                 // last time the progress was stored
}

// Progress counts the choices that have ended or were refused.
type Progress struct {
	Done  int `json:"done"`
	Total int `json:"total"`
}

// ErrNone reports that no sweep has that name.
var ErrNone = errors.New("there is no sweep of that name")

// create begins a sweep in a new folder, with a copy of the strategy and of the files that it names.
func create(directory string, spec *Spec, strategy map[string][]byte) (*Log, error) {
	if err := os.MkdirAll(filepath.Dir(directory), 0o700); err != nil {
		return nil, err
	}
	if err := os.Mkdir(directory, 0o700); err != nil {
		return nil, err
	}
	l, err := begin(directory, spec, strategy)
	if err != nil { // releases the name
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
			return nil, fmt.Errorf("%s is not next to the strategy's file", name)
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

// Open reads the rows of a sweep so far, and locks it for its one runner. It drops an incomplete last line, left by a
// kill or a full disk.
func Open(directory string) (*Log, error) {
	path := filepath.Join(directory, rowsFile)
	rows, err := privatefile.Open(path, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, err
	}
	if err := disk.Lock(rows, errLocked); err != nil {
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

// readRows reads the rows, and returns the number of bytes in complete lines.
func readRows(file *os.File) (trials []backtest.Trial, whole int64, err error) {
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return trials, whole, nil // the end, or an incomplete line
		}
		var trial backtest.Trial
		if err := json.Unmarshal(line, &trial); err != nil || trial.Job == "" || trial.Seen == nil {
			return nil, 0, fmt.Errorf("%s: line %d is not a trial", file.Name(), len(trials)+1)
		}
		trials, whole = append(trials, trial), whole+int64(len(line))
	}
}

// Has reports whether a job has a row.
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

// Canceled reports whether a user canceled the sweep.
func (l *Log) Canceled() bool {
	_, err := os.Lstat(filepath.Join(l.directory, canceledFile))
	return err == nil
}

// Progress stores the sweep's progress for other processes.
func (l *Log) Progress(done, total int) error {
	if done < total && time.Since(l.progressStored) < progressEvery {
		return nil
	}
	l.progressStored = time.Now()
	text, err := json.Marshal(Progress{done, total})
	if err != nil {
		return err
	}
	partial := filepath.Join(l.directory, progressFile+".partial") // not durable: it is written often, and the next run rebuilds it
	if err := os.WriteFile(partial, text, 0o600); err != nil {
		return err
	}
	return os.Rename(partial, filepath.Join(l.directory, progressFile))
}

// ProgressOf returns a sweep's progress, or false if none is stored.
func ProgressOf(directory string) (p Progress, known bool) {
	text, err := privatefile.Read(filepath.Join(directory, progressFile), maxProgress)
	return p, err == nil && json.Unmarshal(text, &p) == nil && p.Total > 0
}

// maxProgress bounds the progress file.
const maxProgress = 1 << 10

// Close syncs and closes the log.
func (l *Log) Close() error { return errors.Join(l.rows.Sync(), l.rows.Close()) }

// Status is a sweep's entry in a list.
type Status struct {
	Name    string    `json:"name"`
	Started time.Time `json:"started"`
	Search  string    `json:"search"`
	Sort    string    `json:"sort"`
	Ended   int       `json:"ended"`   // trials
	Total   int       `json:"total"`   // including missing ones; 0 if unknown
	Running bool      `json:"running"` // a process works on it
	Done    bool      `json:"done"`    // complete, with a result
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

// Read returns a sweep's specification, and its rows so far.
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
		return nil, nil, fmt.Errorf("%s is not a sweep of this version of botd: %w", filepath.Join(directory, specFile), err)
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

// Cancel requests the runner of a sweep to end after the trials under way. running is false without a runner.
func Cancel(directory string) (running bool, err error) {
	if _, _, err := Read(directory); err != nil {
		return false, err
	}
	if !Running(directory) {
		return false, nil
	}
	return true, os.WriteFile(filepath.Join(directory, canceledFile), nil, 0o600)
}
