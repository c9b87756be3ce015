package report

import (
	"io"

	"botd/backtest"
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
