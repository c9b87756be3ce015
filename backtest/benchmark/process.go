package benchmark

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// command measures whole processes that start from the CSV file.
func (b *Benchmark) command() error {
	csv, strategyFile, out := filepath.Join(b.directory, "candles.csv"), filepath.Join(b.directory, "bench.yaml"), filepath.Join(b.directory, "report")
	parquet, oftenFile, often := filepath.Join(b.directory, "candles.parquet"), filepath.Join(b.directory, "often.yaml"), filepath.Join(b.directory, "often")
	for _, path := range []string{csv, parquet} {
		if _, err := b.process("writing the candles", false, []string{"data", "generate", "--symbol", "BTC-USDT", "--interval", "1m", "--seed",
			fmt.Sprint(benchSeed), "--from", fmt.Sprint(benchStartMS), "--candles", fmt.Sprint(b.Candles), "--out", path}); err != nil {
			return err
		}
	}
	if err := errors.Join(os.WriteFile(strategyFile, []byte(benchStrategy), 0o600), os.WriteFile(oftenFile, []byte(oftenStrategy), 0o600)); err != nil {
		return err
	}
	sizes := map[string]int64{}
	for _, path := range []string{csv, parquet} {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		sizes[path] = info.Size()
	}
	b.Result.CSV = sizes[csv]
	run := []string{"backtest", "run", "-s", strategyFile, "--data", csv}
	manual := measured{}
	for _, c := range []struct {
		what      string
		cached    bool
		file      string
		arguments []string
	}{
		{"a hand-written program: split the lines, ParseFloat, the plain loop", false, csv, []string{"bench", "--hand", csv}},
		{"botd reads the candles, and nothing else", false, csv, []string{"bench", "--read", csv}},
		{"the same, from Parquet", false, parquet, []string{"bench", "--read", parquet}},
		{"botd backtest run --one-column", false, csv, append(run[:len(run):len(run)], "--one-column")},
		{"the same, candles from the cache", true, csv, append(run[:len(run):len(run)], "--one-column")},
		{"botd backtest run: ideal, realistic, pessimistic", false, csv, run},
		{"the same, candles from the cache", true, csv, run},
		{"the same with --out: the report, and a study of 4 runs and 4 cuts", true, csv, append(run[:len(run):len(run)], "--out", out)},
		{"the same of a strategy with a fill every 20 candles", true, csv, []string{"backtest", "run", "-s", oftenFile, "--data", csv, "--out", often}},
	} {
		runs := b.Runs
		if slices.Contains(c.arguments, oftenFile) {
			runs = 1 // it takes seconds
		}
		m, err := b.processes(c.what, c.cached, runs, c.arguments)
		if err != nil {
			return err
		}
		if manual.Processor == 0 {
			manual = m
		}
		m.Times, m.File = m.Seconds/manual.Seconds, sizes[c.file]
		b.Result.Command = append(b.Result.Command, m)
	}
	for directory, size := range map[string]*int64{out: &b.Result.Report, often: &b.Result.Often} {
		page, err := os.Stat(filepath.Join(directory, "report.html"))
		if err != nil {
			return err
		}
		*size = page.Size()
	}
	return nil
}

// process measures a child process of this program. The cache is warm, or off.
func (b *Benchmark) process(what string, cached bool, arguments []string) (measured, error) {
	runs := b.Runs
	if arguments[0] == "data" {
		runs = 1
	}
	return b.processes(what, cached, runs, arguments)
}

// processes measures a number of equal processes.
func (b *Benchmark) processes(what string, cached bool, runs int, arguments []string) (measured, error) {
	fmt.Fprintln(b.Progress, "measuring", what)
	m := measured{What: what, Seconds: math.MaxFloat64, Processor: math.MaxFloat64}
	self, err := os.Executable()
	if err != nil {
		return m, err
	}
	cache, fills := "off", 0
	if cached {
		cache = filepath.Join(b.directory, "cache")
		if !b.filled {
			fills, b.filled = 1, true
		}
	}
	for i := range fills + runs {
		command := exec.CommandContext(b.Ctx, self, arguments...)
		command.Env = append(os.Environ(), "BOTD_CACHE="+cache)
		var output bytes.Buffer
		command.Stderr = &output
		began := time.Now()
		if err := command.Run(); err != nil {
			if b.Ctx.Err() != nil {
				return m, context.Cause(b.Ctx)
			}
			return m, fmt.Errorf("%s: %w\n%s", what, err, output.String())
		}
		if i < fills {
			continue
		}
		m.Seconds = min(m.Seconds, time.Since(began).Seconds())
		m.Processor = min(m.Processor, (command.ProcessState.UserTime() + command.ProcessState.SystemTime()).Seconds())
		m.Memory = max(m.Memory, peakMB(command.ProcessState))
	}
	m.Speed = float64(b.Candles) / m.Processor / 1e6
	return m, nil
}
