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

// maxSweeps is how many files of sweeps are looked at.
const maxSweeps = 100

// Sweep is a sweep that was kept, at a glance: botd sweep show NAME tells all of it.
type Sweep struct {
	Name     string            `json:"name"`
	At       time.Time         `json:"at"` // when it was written
	Strategy string            `json:"strategy"`
	Symbol   string            `json:"symbol"`
	Interval string            `json:"interval"`
	Candles  int               `json:"candles"`
	Split    *time.Time        `json:"split"` // behind it nobody looked when the best was chosen; null without one
	Sort     string            `json:"sort"`
	Lucky    *float64          `json:"sharpe_by_luck"` // the best that as many trials without any skill would show
	Trials   int               `json:"trials"`
	Refused  int               `json:"refused"` // choices that the strategy does not take
	Best     map[string]string `json:"best"`    // its parameters
	Seen     *float64          `json:"sharpe"`  // of the best, over what it was chosen by
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

// Sweeps returns the sweeps kept in a directory, the newest first; an empty name is of none.
func Sweeps(directory string) ([]Sweep, error) {
	items := []Sweep{}
	root, err := os.OpenRoot(directory) // the system keeps what is asked for inside it
	if errors.Is(err, fs.ErrNotExist) || directory == "" {
		return items, nil
	}
	var entries []fs.DirEntry
	if err == nil {
		defer root.Close()
		entries, err = fs.ReadDir(root.FS(), ".")
	}
	if err != nil {
		return nil, errors.New("the directory of sweeps can not be read")
	}
	for _, entry := range entries[:min(len(entries), maxSweeps)] {
		name, whole := strings.CutSuffix(entry.Name(), ".json")
		if !whole || !ReportName.MatchString(name) {
			continue
		}
		if one, told := sweepOf(root, name); told {
			items = append(items, one)
		}
	}
	slices.SortFunc(items, func(a, b Sweep) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(a.Name, b.Name)) })
	return items, nil
}

// sweepOf reads one; another program's file is none.
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
