package saved

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"botd/backtest"
)

// SweepFolder is where sweeps are saved, in data_dir.
const SweepFolder = "sweeps"

// Sweep is what botd sweep prints, and keeps.
type Sweep struct {
	Schema     int              `json:"schema"`
	Strategy   string           `json:"strategy"`
	Symbol     string           `json:"symbol"`
	Interval   string           `json:"interval"`
	Candles    int              `json:"candles"`
	Split      *time.Time       `json:"split"` // behind it nobody looked when the best was chosen; null without one
	Sort       string           `json:"sort"`
	Search     string           `json:"search,omitempty"`
	Require    string           `json:"require,omitempty"`
	Short      int              `json:"short_of_required,omitempty"` // trials that do not fulfil it: the last in the order
	Lucky      *float64         `json:"sharpe_by_luck"`              // the best that as many trials without any skill would show
	Refused    int              `json:"refused"`                     // choices that the strategy does not take
	Why        string           `json:"refused_why"`                 // of the first of them
	Reused     int              `json:"reused,omitempty"`            // trials that were there when the sweep was resumed
	Trials     []backtest.Trial `json:"trials"`                      // the best first
	SHA256     string           `json:"sweep_sha256,omitempty"`      // over the rows sorted by job
	DataSHA256 string           `json:"data_sha256"`
	Elapsed    float64          `json:"elapsed_s"`
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
