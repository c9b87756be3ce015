package report

import (
	"errors"
	"os"
	"path/filepath"

	"botd/backtest"
)

// WriteDirectory writes the page beside the files.
func WriteDirectory(directory string, config backtest.Config, result *backtest.Result) error {
	if err := result.WriteDir(directory); err != nil {
		return err
	}
	var sources []Source
	for _, leg := range config.Legs {
		sources = append(sources, Source{Symbol: leg.Tape.Symbol, Candles: leg.Tape.Candles})
	}
	file, err := os.Create(filepath.Join(directory, "report.html"))
	if err != nil {
		return err
	}
	return errors.Join(Write(file, result, sources), file.Close())
}
