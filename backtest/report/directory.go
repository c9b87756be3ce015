package report

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"botd/backtest"
	"botd/backtest/resultstore"
)

// WriteDirectory writes the page into the directory of the report's files, with the live trading of the same time
// overlaid unless live is nil.
func WriteDirectory(directory string, config backtest.Config, result *backtest.Result, live *Live) error {
	var sources []Source
	for _, leg := range config.Legs {
		sources = append(sources, Source{Symbol: leg.Tape.Symbol, Candles: leg.Tape.Candles, Plots: leg.Plots})
	}
	return result.WriteDir(directory, backtest.Output{Name: "report.html", Write: func(w io.Writer) error { return Write(w, result, sources, live) }})
}

// StoreSweep writes the page and the summary of a named sweep into its folder: the dashboard shows them.
func StoreSweep(directory string, r *resultstore.Sweep) error {
	return errors.Join(WriteSweepFile(filepath.Join(directory, resultstore.SweepPage), r, asked), r.WriteSummary(directory))
}

// WriteSweepFile writes a sweep's page, as WriteSweep does, to a file.
func WriteSweepFile(path string, r *resultstore.Sweep, link TrialLink) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(WriteSweep(file, r, link), file.Close())
}
