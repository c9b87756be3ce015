package resultstore

import (
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"botd/backtest"
	"botd/exchange"
	"botd/exchange/tape"
)

// TrialsFile has a sweep's trials for analysis, in the sweep's folder.
const TrialsFile = "trials.parquet"

// WriteTrials writes the trials as Parquet: params.NAME, the figures by their names, and those after the split with
// the prefix unseen_.
func (r *Sweep) WriteTrials(directory string) error {
	file, err := os.OpenFile(filepath.Join(directory, TrialsFile), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := r.writeTrials(file); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

func (r *Sweep) writeTrials(w io.Writer) error {
	column := func(name string, of func(*backtest.Trial) *float64) tape.TableColumn {
		c := tape.TableColumn{Name: name}
		for i := range r.Trials {
			value := math.NaN()
			if number := of(&r.Trials[i]); number != nil {
				value = *number
			}
			c.Numbers = append(c.Numbers, value)
		}
		return c
	}
	jobs := tape.TableColumn{Name: "job_sha256", Texts: []string{}}
	figures := map[string]bool{}
	for i := range r.Trials {
		jobs.Texts = append(jobs.Texts, r.Trials[i].Job)
		for name := range r.Trials[i].Figures {
			figures[name] = true
		}
	}
	columns := []tape.TableColumn{jobs}
	for _, name := range slices.Sorted(maps.Keys(figures)) {
		columns = append(columns, column(name, func(t *backtest.Trial) *float64 { return t.Figures[name] }))
	}
	if len(r.Trials) > 0 {
		for _, name := range slices.Sorted(maps.Keys(r.Trials[0].Params)) {
			columns = append(columns, r.settings(name))
		}
	}
	for name, of := range map[string]func(*backtest.Column) *float64{
		"unseen_sharpe":           func(c *backtest.Column) *float64 { return c.Sharpe },
		"unseen_profit_pct":       func(c *backtest.Column) *float64 { return c.Profit },
		"unseen_max_drawdown_pct": func(c *backtest.Column) *float64 { return &c.MaxDrawdown },
		"unseen_trades":           func(c *backtest.Column) *float64 { return new(float64(c.RoundTrips)) },
		"unseen_final_equity": func(c *backtest.Column) *float64 {
			amount, err := exchange.ParseAmount(c.FinalEquity)
			if n := amount.Float(); err == nil {
				return &n
			}
			return nil
		},
	} {
		columns = append(columns, column(name, func(t *backtest.Trial) *float64 {
			if t.Unseen == nil {
				return nil
			}
			return of(t.Unseen)
		}))
	}
	return tape.WriteTable(w, columns)
}

// settings returns the values of a varied name, as numbers if all of them are.
func (r *Sweep) settings(name string) tape.TableColumn {
	c := tape.TableColumn{Name: "params." + name}
	texts := []string{}
	for i := range r.Trials {
		text := r.Trials[i].Params[name]
		texts = append(texts, text)
		if number, err := strconv.ParseFloat(text, 64); err == nil {
			c.Numbers = append(c.Numbers, number)
		}
	}
	if len(c.Numbers) < len(texts) {
		c.Numbers, c.Texts = nil, texts
	}
	return c
}
