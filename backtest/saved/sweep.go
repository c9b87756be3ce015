package saved

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"botd/backtest"
	"botd/internal/plural"
)

// SweepFolder is the folder of sweeps, in data_dir.
const SweepFolder = "sweeps"

// The files of a named sweep that the dashboard shows.
const (
	SweepPage    = "report.html"
	SweepSummary = "summary.json"
)

// Sweep is the result that botd sweep prints and stores.
type Sweep struct {
	Schema     int                `json:"schema"`
	Strategy   string             `json:"strategy"`
	Symbol     string             `json:"symbol"`
	Interval   string             `json:"interval"`
	Candles    int                `json:"candles"`
	Split      *time.Time         `json:"split"` // the end of the data that chooses the best; null without one
	Sort       string             `json:"sort"`
	Search     string             `json:"search,omitempty"`
	Require    string             `json:"require,omitempty"`
	Short      int                `json:"short_of_required,omitempty"` // trials that do not meet the requirement: they rank last
	Lucky      *float64           `json:"sharpe_by_luck"`              // the best Sharpe ratio expected from as many trials without skill
	Refused    int                `json:"refused"`                     // choices that the strategy rejects
	Why        string             `json:"refused_why"`                 // the reason of the first of them
	Reused     int                `json:"reused,omitempty"`            // trials that existed when the sweep was resumed
	Trials     []backtest.Trial   `json:"trials"`                      // the best first
	Pareto     *Front             `json:"pareto,omitempty"`            // of several objectives
	SHA256     string             `json:"sweep_sha256,omitempty"`      // over the rows sorted by job
	DataSHA256 string             `json:"data_sha256"`
	Warnings   []backtest.Warning `json:"warnings,omitempty"` // of files and configuration
	Elapsed    float64            `json:"elapsed_s"`
}

// Front is the Pareto front of several objectives: the trials that no other trial beats.
type Front struct {
	Objectives []string     `json:"objectives"` // larger is better
	Trials     []FrontTrial `json:"trials"`
}

// FrontTrial is a trial of the front.
type FrontTrial struct {
	Params map[string]string `json:"params"`
	Job    string            `json:"job_sha256"`
	Values []float64         `json:"values"` // of the objectives
}

func (r *Sweep) Rows() any { return r.Trials }

func WriteSweep(path string, result *Sweep) error {
	if path == "" {
		return nil
	}
	text, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o600)
}

// Summary is a sweep's entry in a list.
type Summary struct {
	Strategy string            `json:"strategy"`
	Symbol   string            `json:"symbol"`
	Interval string            `json:"interval"`
	Candles  int               `json:"candles"`
	Split    *time.Time        `json:"split"`
	Sort     string            `json:"sort"`
	Search   string            `json:"search"`
	Verdict  string            `json:"verdict"`
	Lucky    *float64          `json:"sharpe_by_luck"`
	Trials   int               `json:"trials"`
	Refused  int               `json:"refused"`
	Best     map[string]string `json:"best"`
	Seen     *float64          `json:"sharpe"`
	Unseen   *float64          `json:"unseen_sharpe"`
	Data     string            `json:"data_sha256"`
}

// WriteSummary stores a sweep's list entry in its folder.
func (r *Sweep) WriteSummary(directory string) error {
	s := Summary{Strategy: r.Strategy, Symbol: r.Symbol, Interval: r.Interval, Candles: r.Candles, Split: r.Split, Sort: r.Sort, Search: r.Search,
		Verdict: r.Verdict(), Lucky: r.Lucky, Trials: len(r.Trials), Refused: r.Refused, Data: r.DataSHA256}
	if len(r.Trials) > 0 {
		best := &r.Trials[0]
		s.Best, s.Seen = best.Params, best.Seen.Sharpe
		if best.Unseen != nil {
			s.Unseen = best.Unseen.Sharpe
		}
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(directory, SweepSummary), append(text, '\n'), 0o600)
}

// Verdict summarizes in a sentence how good the best trial is: compared with the luck of so many tries, and on the
// data after the split.
func (r *Sweep) Verdict() string {
	if len(r.Trials) == 0 || r.Trials[0].Seen == nil || r.Trials[0].Seen.Sharpe == nil {
		return "no trial has a Sharpe ratio: there is nothing to judge"
	}
	best := &r.Trials[0]
	text := fmt.Sprintf("best of %s by %s: Sharpe %.2f", plural.Of(len(r.Trials), "try"), r.Sort, *best.Seen.Sharpe)
	switch {
	case r.Lucky == nil:
		text += "; one try says nothing about luck"
	case *best.Seen.Sharpe <= *r.Lucky:
		text += fmt.Sprintf("; the luckiest of %d without skill would show %.2f: not better than luck", len(r.Trials), *r.Lucky)
	default:
		text += fmt.Sprintf("; the luckiest of %d without skill would show %.2f: better than luck", len(r.Trials), *r.Lucky)
	}
	switch {
	case best.Unseen == nil:
		text += ", on the candles it was chosen by"
	case best.Unseen.Sharpe == nil:
		text += "; on the unseen candles it has no Sharpe ratio"
	case *best.Unseen.Sharpe <= 0:
		text += fmt.Sprintf("; on the unseen candles it shows %.2f: it did not last", *best.Unseen.Sharpe)
	default:
		text += fmt.Sprintf("; on the unseen candles it shows %.2f", *best.Unseen.Sharpe)
	}
	return text
}
