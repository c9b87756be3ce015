package sweeps

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"botd/backtest"
	"botd/backtest/inputs"
	"botd/backtest/resultstore"
	"botd/internal/failure"
	"botd/internal/version"
)

// strategyFile holds the strategy's bytes.
const strategyFile = "strategy.yaml"

// Spec is the specification of a sweep: everything needed to continue it.
type Spec struct {
	Schema   int       `json:"schema"`
	Name     string    `json:"name"`
	Started  time.Time `json:"started"`
	Strategy string    `json:"strategy"`           // the file as it was named; its bytes are in the folder
	InPlace  bool      `json:"in_place,omitempty"` // the file is read at its own path, since the program that it names lies there
	Title    Title     `json:"title"`

	Vary    []string `json:"vary"`
	Where   string   `json:"where,omitempty"`
	Require string   `json:"require,omitempty"`
	Stop    string   `json:"stop_when,omitempty"` // ends a trial early, which then ranks last
	Search  string   `json:"search"`
	Trials  int      `json:"trials,omitempty"` // at most; 0 for every combination
	Seed    uint64   `json:"seed"`
	Sort    string   `json:"sort"`
	Pareto  []string `json:"pareto,omitempty"` // objectives, in addition to the ranking one
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

// Title is the description of a sweep for tables.
type Title struct {
	Strategy   string             `json:"strategy"`
	Symbol     string             `json:"symbol"`
	Interval   string             `json:"interval"`
	Candles    int                `json:"candles"`
	DataSHA256 string             `json:"data_sha256"`
	Warnings   []backtest.Warning `json:"warnings,omitempty"` // of files and configuration: the same for all trials
}

// describe fills in the description for tables.
func (s *Spec) describe(trials *inputs.Trials) {
	given, leg := trials.Base, &trials.Config.Legs[0]
	s.Title = Title{Strategy: given.Name, Symbol: given.Symbol, Interval: given.Interval.String(), Candles: leg.Tape.Candles.Len(),
		DataSHA256: leg.Tape.SHA256, Warnings: trials.Config.Warnings}
}

// Prepare validates the specification of a sweep and reads its inputs.
func Prepare(spec *Spec, files *inputs.Files) (*Plan, *inputs.Trials, error) {
	split, err := ParseSplit(spec.Split)
	if err != nil {
		return nil, nil, err
	}
	plan, err := NewPlan(spec, split)
	if err != nil {
		return nil, nil, err
	}
	program, err := version.ProgramHash()
	if err != nil {
		return nil, nil, failure.Wrap(failure.IO, err)
	}
	trials, err := files.NewTrials(plan.Axes(), program, split, plan.StopWhen())
	return plan, trials, err
}

// Begin stores a new sweep in a folder: its specification, with absolute paths of its files, and a copy of its strategy.
func Begin(directory string, spec *Spec, files *inputs.Files, trials *inputs.Trials) (*Log, error) {
	given := trials.Base
	text, err := os.ReadFile(given.File)
	if err != nil {
		return nil, err
	}
	spec.Schema, spec.Started, spec.Strategy = 1, time.Now().UTC(), given.File
	if given.Kind == "process" {
		spec.InPlace = true
		if spec.Strategy, err = filepath.Abs(given.File); err != nil {
			return nil, err
		}
	}
	spec.describe(trials)
	if err := spec.storeFiles(files); err != nil {
		return nil, err
	}
	copies, err := inputs.PortableFiles(given)
	if err != nil {
		return nil, err
	}
	copies[strategyFile] = text
	return create(directory, spec, copies)
}

// storeFiles stores the paths of a sweep's files; RestoreFiles is its inverse.
func (s *Spec) storeFiles(files *inputs.Files) (err error) {
	s.From, s.To, s.Repair = files.From, files.To, files.Repair
	for _, one := range []struct {
		to    *[]string
		words []string
	}{{&s.Data, files.Data}, {&s.Detail, files.Detail}, {&s.Trades, files.Trades}, {&s.Funding, files.Funding}, {&s.Signals, files.Signals},
		{&s.Columns, files.Columns}} {
		for _, word := range one.words {
			absolute, err := absoluteOf(word)
			if err != nil {
				return err
			}
			*one.to = append(*one.to, absolute)
		}
	}
	if s.Recorded, err = absoluteOf(files.Recorded); err != nil {
		return err
	}
	s.Symbols, err = absoluteOf(files.Symbols)
	return err
}

// absoluteOf makes the path of FILE, or of NAME=FILE, absolute.
func absoluteOf(word string) (string, error) {
	if name, path, found := strings.Cut(word, "="); found && !resultstore.Exists(word) && resultstore.Exists(path) {
		path, err := filepath.Abs(path)
		return name + "=" + path, err
	}
	if word == "" {
		return "", nil
	}
	return filepath.Abs(word)
}

// RestoreFiles sets the files of a stored sweep, whose folder is given.
func (s *Spec) RestoreFiles(directory string, files *inputs.Files) {
	files.StrategyFiles = []string{s.strategyPath(directory)}
	files.Data, files.Detail, files.Trades, files.Funding = s.Data, s.Detail, s.Trades, s.Funding
	files.Signals, files.Columns = s.Signals, s.Columns
	files.Recorded, files.Symbols = s.Recorded, s.Symbols
	files.From, files.To, files.Repair = s.From, s.To, s.Repair
}

// strategyPath returns the path of the sweep's own copy of the strategy, or the original path for one read in place.
func (s *Spec) strategyPath(directory string) string {
	if s.InPlace {
		return s.Strategy
	}
	return filepath.Join(directory, strategyFile)
}
