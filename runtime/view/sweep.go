package view

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// maxSweeps bounds the files of sweeps that are read.
const maxSweeps = 100

// Sweep is the summary of a saved sweep; botd sweep show NAME prints all of it.
type Sweep struct {
	Name     string            `json:"name"`
	At       time.Time         `json:"at"` // when it was written
	Strategy string            `json:"strategy"`
	Symbol   string            `json:"symbol"`
	Interval string            `json:"interval"`
	Candles  int               `json:"candles"`
	Split    *time.Time        `json:"split"` // the best was chosen by what is before it; null without one
	Sort     string            `json:"sort"`
	Lucky    *float64          `json:"sharpe_by_luck"` // the best that as many trials without skill would show
	Trials   int               `json:"trials"`
	Refused  int               `json:"refused"` // trials whose parameters the strategy does not accept
	Best     map[string]string `json:"best"`    // its parameters
	Seen     *float64          `json:"sharpe"`  // of the best, over the part it was chosen by
	Unseen   *float64          `json:"unseen_sharpe"`
	DataSHA  string            `json:"data_sha256"`
}

// sweepFile is what is read of one.
type sweepFile struct {
	Sweep
	Trials []struct {
		Params       map[string]string
		Seen, Unseen *struct{ Sharpe *float64 }
	} `json:"trials"`
}

// Sweeps returns the sweeps saved in a directory, newest first; an empty name has none.
func Sweeps(directory string) ([]Sweep, error) {
	items := []Sweep{}
	root, err := os.OpenRoot(directory) // the system denies every path out of it
	if errors.Is(err, fs.ErrNotExist) || directory == "" {
		return items, nil
	}
	var entries []fs.DirEntry
	if err == nil {
		defer root.Close()
		entries, err = fs.ReadDir(root.FS(), ".")
	}
	if err != nil {
		return nil, errors.New("the directory of sweeps cannot be read")
	}
	for _, entry := range entries[:min(len(entries), maxSweeps)] {
		name, whole := strings.CutSuffix(entry.Name(), ".json")
		if !whole || !ReportName.MatchString(name) {
			continue
		}
		if one, ok := sweepOf(root, name); ok {
			items = append(items, one)
		}
	}
	slices.SortFunc(items, func(a, b Sweep) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(a.Name, b.Name)) })
	return items, nil
}

// sweepOf reads one file; false for a file of another program.
func sweepOf(root *os.Root, name string) (Sweep, bool) {
	text, about, err := readReport(root, name+".json")
	var file sweepFile
	if err != nil || json.Unmarshal(text, &file) != nil || file.Strategy == "" || len(file.Trials) == 0 {
		return Sweep{}, false
	}
	one, best := file.Sweep, &file.Trials[0]
	one.Name, one.At, one.Trials, one.Best = name, about.ModTime().UTC(), len(file.Trials), best.Params
	if best.Seen != nil {
		one.Seen = best.Seen.Sharpe
	}
	if best.Unseen != nil {
		one.Unseen = best.Unseen.Sharpe
	}
	return one, one.Best != nil
}
