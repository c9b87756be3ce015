package report

import (
	"errors"
	"os"
	"path/filepath"

	"botd/backtest"
)

// WriteDirectory writes the page beside the files.
func WriteDirectory(directory string, config backtest.Config, result *backtest.Result) error {
	return writeDirectory(directory, config, result, nil)
}

func writeDirectory(directory string, config backtest.Config, result *backtest.Result, live *Live) error {
	if err := result.WriteDir(directory); err != nil {
		return err
	}
	var sources []Source
	for _, leg := range config.Legs {
		sources = append(sources, Source{Symbol: leg.Tape.Symbol, Candles: leg.Tape.Candles, Plots: leg.Plots})
	}
	file, err := os.Create(filepath.Join(directory, "report.html"))
	if err != nil {
		return err
	}
	return errors.Join(Write(file, result, sources, live), file.Close())
}

// WriteBeside writes a result's page with the live trading of the same time drawn over it.
func WriteBeside(directory string, config backtest.Config, result *backtest.Result, live *Live) error {
	return writeDirectory(directory, config, result, live)
}
