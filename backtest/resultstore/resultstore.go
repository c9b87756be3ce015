// Package resultstore stores the reports of backtests and the results of sweeps, reads and compares them.
package resultstore

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"botd/backtest"
	"botd/exchange/tape"
	"botd/internal/failure"
	"botd/internal/privatefile"
)

// Names inside a directory of reports. The dashboard uses the same ones.
const (
	Folder   = "backtests"
	noteFile = "note.txt"
	MaxNote  = 4_096
)

// CheckName refuses a name that no report and no sweep can have.
func CheckName(name string) error {
	if !privatefile.IsName(name) {
		return failure.Usagef("%q: a name of a-z, A-Z, 0-9, dots, - and _", name)
	}
	return nil
}

func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Run is a report with its figures for a list.
type Run struct {
	Name         string    `json:"name"`
	Path         string    `json:"path"`
	At           time.Time `json:"at"` // time of writing
	Strategy     string    `json:"strategy"`
	Symbol       string    `json:"symbol"`
	Interval     string    `json:"interval"`
	From         time.Time `json:"from"`
	To           time.Time `json:"to"`
	FinalEquity  string    `json:"final_equity"`
	Profit       *float64  `json:"profit_pct"`
	MaxDrawdown  float64   `json:"max_drawdown_pct"`
	Sharpe       *float64  `json:"sharpe"`
	RoundTrips   int       `json:"round_trips"`
	Fees         string    `json:"total_fees"`
	Warnings     int       `json:"warnings"`
	Note         string    `json:"note"`
	Version      string    `json:"botd_version"`
	DataSHA256   string    `json:"data_sha256"`
	ConfigSHA256 string    `json:"config_sha256"`
	ResultSHA256 string    `json:"result_sha256"`
	Intact       bool      `json:"intact"` // its hash matches its figures

	Result *backtest.Result `json:"-"`
}

// Read reads the report in a directory, or the given report.json.
func Read(path string) (*Run, error) {
	file := path
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		file = filepath.Join(path, backtest.ReportFile)
	}
	r, intact, err := backtest.Read(file)
	if err != nil {
		return nil, tape.Failure(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, tape.Failure(err)
	}
	directory := filepath.Dir(file)
	run := &Run{Name: filepath.Base(directory), Path: file, At: info.ModTime().UTC(), Strategy: r.Strategy, Symbol: r.Symbol, Interval: r.Interval,
		From: r.From, To: r.To,
		FinalEquity: r.FinalEquity, MaxDrawdown: r.MaxDrawdown, Sharpe: r.Sharpe, RoundTrips: r.RoundTrips, Fees: r.TotalFees, Warnings: len(r.Warnings),
		Version: r.Version, DataSHA256: r.DataSHA256, ConfigSHA256: r.ConfigSHA256, ResultSHA256: r.ResultSHA256, Intact: intact, Result: r}
	first := decimal.RequireFromString(r.InitialEquity)
	if !first.IsZero() {
		run.Profit = new(decimal.RequireFromString(r.FinalEquity).Div(first).Sub(decimal.NewFromInt(1)).Shift(2).Round(4).InexactFloat64())
	}
	if note, err := os.ReadFile(filepath.Join(directory, noteFile)); err == nil {
		run.Note = strings.TrimSpace(string(note[:min(len(note), MaxNote)]))
	}
	return run, nil
}

// WriteNote stores a note with a report. An empty note deletes it.
func WriteNote(directory, note string) error {
	path := filepath.Join(directory, noteFile)
	if note == "" {
		if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return nil
	}
	return os.WriteFile(path, []byte(note+"\n"), 0o644)
}

// List reads every report below a directory. It skips and reports unreadable ones.
func List(messages io.Writer, reports string) ([]*Run, error) {
	rows := []*Run{}
	entries, err := os.ReadDir(reports)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for _, entry := range entries {
		path := filepath.Join(reports, entry.Name())
		if !Exists(filepath.Join(path, backtest.ReportFile)) {
			continue
		}
		run, err := Read(path)
		if err != nil {
			fmt.Fprintf(messages, "%v\n", err)
			continue
		}
		rows = append(rows, run)
	}
	slices.SortStableFunc(rows, func(a, b *Run) int { return b.At.Compare(a.At) })
	return rows, nil
}
