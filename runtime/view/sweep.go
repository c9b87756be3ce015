package view

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"botd/internal/privatefile"
)

// Limits of sweeps that are listed.
const (
	maxSweeps       = 100     // that are shown
	maxSweepEntries = 1_000   // of their directory
	maxSweepText    = 1 << 20 // of a file that is read for the list
)

// Sweep is a sweep with a name; botd sweep show NAME prints all of it. The results of its trials are empty
// until some have ended and the sweep has ended or was interrupted.
type Sweep struct {
	Name              string            `json:"name"`
	At                time.Time         `json:"at"`    // when it was started, or, without a folder, when it was written
	State             string            `json:"state"` // running | interrupted | done
	Done              int               `json:"done"`  // the number of choices that have ended or were refused
	Total             int               `json:"total"` // the number of choices, missing ones included; 0 if unknown
	Vary              []string          `json:"vary"`  // the ranges, in the form of botd sweep run --vary
	Search            string            `json:"search"`
	Sort              string            `json:"sort"`
	Page              bool              `json:"page"` // whether the sweep has a page
	Verdict           string            `json:"verdict"`
	Strategy          string            `json:"strategy"`
	Symbol            string            `json:"symbol"`
	Interval          string            `json:"interval"`
	Candles           int               `json:"candles"`
	Split             *time.Time        `json:"split"`                                    // the time before which the data chose the best; null without one
	ExpectedMaxSharpe *float64          `json:"expected_max_sharpe" was:"sharpe_by_luck"` // the Sharpe ratio of the best of as many trials by luck alone
	Trials            int               `json:"trials"`
	Refused           int               `json:"refused"` // the number of trials whose parameters the strategy does not accept
	Best              map[string]string `json:"best"`    // the parameters of the best
	Seen              *float64          `json:"sharpe"`  // the Sharpe ratio of the best, over the data that chose it
	OutOfSampleSharpe *float64          `json:"out_of_sample_sharpe" was:"unseen_sharpe"`
	DataSHA           string            `json:"data_sha256"`
}

// formerSweep are the names under which earlier versions stored two figures.
type formerSweep struct {
	ExpectedMaxSharpe *float64 `json:"sharpe_by_luck"`
	OutOfSampleSharpe *float64 `json:"unseen_sharpe"`
}

// fill sets the figures that a file has only under their former names.
func (f *formerSweep) fill(one *Sweep) {
	one.ExpectedMaxSharpe = cmp.Or(one.ExpectedMaxSharpe, f.ExpectedMaxSharpe)
	one.OutOfSampleSharpe = cmp.Or(one.OutOfSampleSharpe, f.OutOfSampleSharpe)
}

// The files of a sweep's folder that are read.
const (
	sweepSpec     = "sweep.json"
	sweepSummary  = "summary.json"
	sweepProgress = "progress.json"
	sweepPage     = "report.html"
)

// errNoSweep reports that there is no such sweep, or that it has no page.
var errNoSweep = errors.New("no such sweep")

// sweepFile is the part that is read of a sweep without a folder.
type sweepFile struct {
	Sweep
	formerSweep
	Unranked int `json:"unranked"`
	Trials   []struct {
		Params       map[string]string
		Seen, Unseen *struct{ Sharpe *float64 }
	} `json:"trials"`
}

// openSweeps opens the directory of sweeps; the system denies every path out of it. It returns nil if there
// is none.
func openSweeps(directory string) (*os.Root, error) {
	if directory == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(directory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, errors.New("the directory of sweeps cannot be read")
	}
	return root, nil
}

// SweepNames returns the names of the sweeps of a directory.
func SweepNames(directory string) (names []string, err error) {
	root, err := openSweeps(directory)
	if root == nil {
		return nil, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, errors.New("the directory of sweeps cannot be read")
	}
	for _, entry := range entries[:min(len(entries), maxSweepEntries)] {
		name := entry.Name()
		if !entry.IsDir() {
			name = strings.TrimSuffix(name, ".json")
		}
		if privatefile.IsName(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// SweepKnown reports whether a sweep of that name can be resumed.
func SweepKnown(directory, name string) bool {
	root, err := openSweeps(directory)
	if err != nil || root == nil || !privatefile.IsName(name) {
		return false
	}
	defer root.Close()
	_, err = root.Stat(path.Join(name, sweepSpec))
	return err == nil
}

// Sweeps returns the sweeps saved in a directory, newest first. running reports whether a process runs one.
// The rows of a sweep are not read: there may be many.
func Sweeps(directory string, running func(name string) bool) ([]Sweep, error) {
	items := []Sweep{}
	names, err := SweepNames(directory)
	if err != nil {
		return nil, err
	}
	root, err := openSweeps(directory)
	if root == nil {
		return items, err
	}
	defer root.Close()
	for _, name := range names {
		one, found := namedSweep(root, name)
		if !found {
			one, found = sweepOf(root, name)
		}
		if found {
			items = append(items, one)
		}
	}
	slices.SortFunc(items, func(a, b Sweep) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(a.Name, b.Name)) })
	items = items[:min(len(items), maxSweeps)]
	for i := range items {
		if items[i].State == "interrupted" && running(items[i].Name) {
			items[i].State = "running"
		}
	}
	return items, nil
}

// SweepPage returns the page of a sweep.
func SweepPage(directory, name string) ([]byte, error) {
	root, err := openSweeps(directory)
	if root == nil || !privatefile.IsName(name) {
		return nil, errors.Join(errNoSweep, err)
	}
	defer root.Close()
	content, _, err := readReport(root, path.Join(name, sweepPage))
	return content, err
}

// namedSweep reads a sweep that has a folder.
func namedSweep(root *os.Root, name string) (Sweep, bool) {
	one := Sweep{Name: name, State: "interrupted", Vary: []string{}, Best: map[string]string{}}
	var spec struct {
		Started      time.Time
		Vary         []string
		Search, Sort string
		Title        struct {
			Strategy, Symbol, Interval string
			Candles                    int
			DataSHA                    string `json:"data_sha256"`
		}
	}
	if !readSmall(root, path.Join(name, sweepSpec), &spec) {
		return one, false
	}
	one.Vary, one.Search, one.Sort, one.DataSHA = OrEmpty(spec.Vary), spec.Search, spec.Sort, spec.Title.DataSHA
	one.Strategy, one.Symbol, one.Interval, one.Candles = spec.Title.Strategy, spec.Title.Symbol, spec.Title.Interval, spec.Title.Candles
	readSmall(root, path.Join(name, sweepProgress), &one)
	readSmall(root, path.Join(name, sweepSummary), &one)
	var former formerSweep
	readSmall(root, path.Join(name, sweepSummary), &former)
	former.fill(&one)
	one.Name, one.At = name, spec.Started
	if _, err := root.Stat(name + ".json"); err == nil {
		one.State = "done"
	}
	_, err := root.Stat(path.Join(name, sweepPage))
	one.Page = err == nil
	return one, true
}

// readSmall reads a file of JSON; false if it is missing or invalid.
func readSmall(root *os.Root, name string, into any) bool {
	about, err := root.Stat(name)
	if err != nil || about.Size() > maxSweepText {
		return false
	}
	text, _, err := readReport(root, name)
	return err == nil && json.Unmarshal(text, into) == nil
}

// sweepOf reads the file of a sweep without a folder; false for a file of another program.
func sweepOf(root *os.Root, name string) (Sweep, bool) {
	text, about, err := readReport(root, name+".json")
	var file sweepFile
	if err != nil || json.Unmarshal(text, &file) != nil || file.Strategy == "" || len(file.Trials) == 0 {
		return Sweep{}, false
	}
	one, best := file.Sweep, &file.Trials[0]
	file.formerSweep.fill(&one)
	one.Name, one.At, one.Trials, one.Best, one.State, one.Vary = name, about.ModTime().UTC(), len(file.Trials), best.Params, "done", []string{}
	one.Done, one.Total = one.Trials, one.Trials
	if best.Seen != nil {
		one.Seen = best.Seen.Sharpe
	}
	if best.Unseen != nil {
		one.OutOfSampleSharpe = best.Unseen.Sharpe
	}
	if found := one.Best != nil; file.Unranked < one.Trials || !found {
		return one, found
	}
	one.Best, one.Seen, one.OutOfSampleSharpe = map[string]string{}, nil, nil // no trial has a rank
	return one, true
}
