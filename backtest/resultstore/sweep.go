package resultstore

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"botd/backtest"
	"botd/internal/failure"
	"botd/internal/jsonalias"
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
	Schema            int                `json:"schema"`
	Strategy          string             `json:"strategy"`
	Symbol            string             `json:"symbol"`
	Interval          string             `json:"interval"`
	Candles           int                `json:"candles"`
	Split             *time.Time         `json:"split"` // the end of the data that chooses the best; null without one
	Sort              string             `json:"sort"`
	Search            string             `json:"search,omitempty"`
	Require           string             `json:"require,omitempty"`
	Short             int                `json:"short_of_required,omitempty"`              // whole trials that do not meet the requirement: they rank last
	Stopped           int                `json:"stopped_early,omitempty"`                  // trials that --stop-when ended: they rank last
	Unranked          int                `json:"unranked,omitempty"`                       // the two above, and trials without a value of the objective
	Machines          []MachineCount     `json:"machines,omitempty"`                       // of the trials, the most frequent first
	Conclusion        string             `json:"verdict,omitempty"`                        // Verdict
	ExpectedMaxSharpe *float64           `json:"expected_max_sharpe" was:"sharpe_by_luck"` // of as many trials without skill; null if unknown
	Refused           int                `json:"refused"`                                  // choices that the strategy rejects
	Reason            string             `json:"refused_why"`                              // the reason of the first of them
	Reused            int                `json:"reused,omitempty"`                         // trials that existed when the sweep was resumed
	Trials            []backtest.Trial   `json:"trials"`                                   // the best first
	Pareto            *Front             `json:"pareto,omitempty"`                         // of several objectives
	SHA256            string             `json:"sweep_sha256,omitempty"`                   // over the rows sorted by job
	DataSHA256        string             `json:"data_sha256"`
	Warnings          []backtest.Warning `json:"warnings,omitempty"` // of files and configuration
	Elapsed           float64            `json:"elapsed_s"`
}

// MachineCount counts the trials of one machine.
type MachineCount struct {
	Machine string `json:"machine"` // direct, or engine and why
	Trials  int    `json:"trials"`
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

// ReadSweep reads a file that WriteSweep has written.
func ReadSweep(path string) (*Sweep, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, failure.New(failure.NoInput, "botd sweep run --name NAME stores one", "read the sweep: %w", err)
	}
	var r Sweep
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, failure.Wrap(failure.Data, fmt.Errorf("%s is not a sweep: %w", path, err))
	}
	if slices.ContainsFunc(r.Trials, func(t backtest.Trial) bool { return t.Seen == nil }) || len(r.Trials) == 0 {
		return nil, failure.New(failure.Data, "botd sweep run --name NAME writes one", "%s is not a sweep: it has no trials with results", path)
	}
	r.Conclude() // earlier versions also compared trials that were stopped early
	return &r, nil
}

func WriteSweep(path string, result *Sweep) error {
	text, err := json.MarshalIndent(jsonalias.WithOldNames(result), "", "  ")
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
	Strategy          string            `json:"strategy"`
	Symbol            string            `json:"symbol"`
	Interval          string            `json:"interval"`
	Candles           int               `json:"candles"`
	Split             *time.Time        `json:"split"`
	Sort              string            `json:"sort"`
	Search            string            `json:"search"`
	Verdict           string            `json:"verdict"`
	ExpectedMaxSharpe *float64          `json:"expected_max_sharpe" was:"sharpe_by_luck"`
	Trials            int               `json:"trials"`
	Refused           int               `json:"refused"`
	Best              map[string]string `json:"best"`
	Seen              *float64          `json:"sharpe"`
	OutOfSampleSharpe *float64          `json:"out_of_sample_sharpe" was:"unseen_sharpe"`
	Data              string            `json:"data_sha256"`
}

// WriteSummary stores a sweep's list entry in its folder.
func (r *Sweep) WriteSummary(directory string) error {
	s := Summary{Strategy: r.Strategy, Symbol: r.Symbol, Interval: r.Interval, Candles: r.Candles, Split: r.Split, Sort: r.Sort, Search: r.Search,
		Verdict: r.Verdict(), ExpectedMaxSharpe: r.ExpectedMaxSharpe, Trials: len(r.Trials), Refused: r.Refused, Best: map[string]string{}, Data: r.DataSHA256}
	if best := r.Best(); best != nil {
		s.Best, s.Seen = best.Params, best.Seen.Sharpe
		if best.Unseen != nil {
			s.OutOfSampleSharpe = best.Unseen.Sharpe
		}
	}
	text, err := json.MarshalIndent(jsonalias.WithOldNames(s), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(directory, SweepSummary), append(text, '\n'), 0o600)
}

// Conclude completes the fields that follow from the trials alone.
func (r *Sweep) Conclude() {
	r.Stopped, r.ExpectedMaxSharpe = r.stopped(), nil
	if lucky, known := backtest.LuckySharpe(r.Trials); known {
		r.ExpectedMaxSharpe = &lucky
	}
	r.Conclusion = r.Verdict()
	r.Machines = nil
	for i := range r.Trials {
		machine := machineOf(&r.Trials[i])
		at := slices.IndexFunc(r.Machines, func(c MachineCount) bool { return c.Machine == machine })
		if at < 0 {
			at, r.Machines = len(r.Machines), append(r.Machines, MachineCount{Machine: machine})
		}
		r.Machines[at].Trials++
	}
	slices.SortFunc(r.Machines, func(a, b MachineCount) int { return cmp.Or(b.Trials-a.Trials, strings.Compare(a.Machine, b.Machine)) })
	if len(r.Machines) == 1 && r.Machines[0].Machine == "" { // trials of an earlier version
		r.Machines = nil
	}
}

// machineOf returns the machine of a trial: the engine if it ran one of the parts.
func machineOf(t *backtest.Trial) (machine string) {
	for _, part := range []*backtest.Column{t.Unseen, t.Seen} {
		if part == nil {
			continue
		}
		if _, engine := backtest.EngineReason(machine); !engine {
			machine = part.Machine
		}
	}
	return machine
}

// maxReasons bounds the reasons that ByEngine lists.
const maxReasons = 3

// ByEngine counts in a line the trials that the engine ran, with the reasons. It is empty for trials of an earlier version.
func (r *Sweep) ByEngine() string {
	count, reasons := 0, []string(nil)
	for _, c := range r.Machines {
		if why, engine := backtest.EngineReason(c.Machine); engine {
			count, reasons = count+c.Trials, append(reasons, fmt.Sprintf("%s (%d)", why, c.Trials))
		}
	}
	switch more := len(reasons) - maxReasons; {
	case len(r.Machines) == 0:
		return ""
	case count == 0:
		return plural.Of(len(r.Trials), "trial") + " by the direct machine"
	case more > 0:
		reasons = append(reasons[:maxReasons], plural.Of(more, "other reason"))
	}
	return fmt.Sprintf("%d of %s by the engine, since the direct machine does not cover: %s", count, plural.Of(len(r.Trials), "trial"),
		strings.Join(reasons, "; "))
}

// stopped counts the trials that were stopped early.
func (r *Sweep) stopped() (count int) {
	for i := range r.Trials {
		if r.Trials[i].Seen.StoppedEarly() {
			count++
		}
	}
	return count
}

// shortestJob is the minimum length of a trial's hash prefix as its name.
const shortestJob = 8

// Trial finds a trial by its place, 1 for the best, or by a prefix of its job's hash. The name of the sweep is for errors.
func (r *Sweep) Trial(name, word string) (*backtest.Trial, error) {
	if place, err := strconv.Atoi(word); err == nil && len(word) < shortestJob {
		if place < 1 || place > len(r.Trials) {
			return nil, failure.Usagef("trial %d: %s has 1 to %d", place, name, len(r.Trials))
		}
		return &r.Trials[place-1], nil
	}
	var found *backtest.Trial
	for i := range r.Trials {
		if len(word) < shortestJob || !strings.HasPrefix(r.Trials[i].Job, word) {
			continue
		}
		if found != nil {
			return nil, failure.Usagef("trial %s: the prefix matches two trials of %s", word, name)
		}
		found = &r.Trials[i]
	}
	if found == nil {
		return nil, failure.New(failure.NoInput, "botd sweep show "+name+" -o json has the hashes; 1 is the best", "%s has no trial %s", name, word)
	}
	return found, nil
}

// Best returns the first trial, or nil if no trial has a rank.
func (r *Sweep) Best() *backtest.Trial {
	if n := len(r.Trials); n == 0 || r.Unranked == n || r.stopped() == n {
		return nil
	}
	return &r.Trials[0]
}

// Verdict summarizes in a sentence how good the best trial is: compared with the luck of so many tries, and on the
// data after the split. It compares nothing with trials that were stopped early, whose figures cover other days.
func (r *Sweep) Verdict() string {
	best, stopped := r.Best(), r.stopped()
	switch {
	case best == nil && len(r.Trials) > 0:
		return r.unranked(stopped) + ": there is nothing to judge"
	case best == nil || best.Seen == nil || best.Seen.Sharpe == nil:
		return "no trial has a Sharpe ratio: there is nothing to judge"
	}
	text := fmt.Sprintf("best of %s by %s: Sharpe %.2f", plural.Of(len(r.Trials), "try"), r.Sort, *best.Seen.Sharpe)
	if stopped > 0 {
		return fmt.Sprintf("%s%s; not compared with luck, since %d of %d were stopped early (%s)", text, unseen(best), stopped, len(r.Trials), r.limit())
	}
	switch {
	case r.ExpectedMaxSharpe == nil:
		text += "; one try proves nothing about luck"
	case *best.Seen.Sharpe <= *r.ExpectedMaxSharpe:
		text += fmt.Sprintf("; the luckiest of %d without skill would show %.2f: not better than luck", len(r.Trials), *r.ExpectedMaxSharpe)
	default:
		text += fmt.Sprintf("; the luckiest of %d without skill would show %.2f: better than luck", len(r.Trials), *r.ExpectedMaxSharpe)
	}
	return text + unseen(best)
}

// unranked returns why no trial has a rank.
func (r *Sweep) unranked(stopped int) string {
	switch n := len(r.Trials); {
	case stopped == n:
		return fmt.Sprintf("every trial was stopped early (%s)", r.limit())
	case r.Short == n:
		return "no trial meets " + r.Require
	}
	var why []string
	for _, c := range []struct {
		count int
		text  string
	}{
		{stopped, "were stopped early (" + r.limit() + ")"},
		{r.Short, "do not meet " + r.Require},
		{len(r.Trials) - stopped - r.Short, "have no value of " + r.Sort},
	} {
		if c.count > 0 {
			why = append(why, fmt.Sprintf("%d %s", c.count, c.text))
		}
	}
	return fmt.Sprintf("none of %s has a rank (%s)", plural.Of(len(r.Trials), "trial"), strings.Join(why, ", "))
}

// limit returns the limit that stopped trials.
func (r *Sweep) limit() string {
	for i := range r.Trials {
		if seen := r.Trials[i].Seen; seen.StoppedEarly() {
			return seen.EndedBy.Text
		}
	}
	return ""
}

// unseen describes the best trial on the candles after the split.
func unseen(best *backtest.Trial) string {
	switch c := best.Unseen; {
	case c == nil:
		return ", on the candles it was chosen by"
	case c.StoppedEarly():
		return fmt.Sprintf("; on the unseen candles it was stopped early (%s)", c.EndedBy.Text)
	case c.Sharpe == nil:
		return "; on the unseen candles it has no Sharpe ratio"
	case *c.Sharpe <= 0:
		return fmt.Sprintf("; on the unseen candles it shows %.2f: it did not persist", *c.Sharpe)
	default:
		return fmt.Sprintf("; on the unseen candles it shows %.2f", *c.Sharpe)
	}
}
