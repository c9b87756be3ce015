package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

const benchStrategy = `name: bench
strategy: sma_cross
market: futures
symbol: BTC-USDT
interval: 1m
leverage: 3
size: {quote: 5000}
params: {fast: 500, slow: 2000, mode: long_short}
`

// command measures whole processes, from the CSV file on.
func (b *bench) command() error {
	csv, strategyFile, out := filepath.Join(b.directory, "candles.csv"), filepath.Join(b.directory, "bench.yaml"), filepath.Join(b.directory, "report")
	if _, err := b.process("writing the candles", false, []string{"data", "generate", "--symbol", "BTC-USDT", "--interval", "1m", "--seed", fmt.Sprint(benchSeed),
		"--from", fmt.Sprint(benchStartMS), "--candles", fmt.Sprint(b.candles), "--out", csv}); err != nil {
		return err
	}
	if err := os.WriteFile(strategyFile, []byte(benchStrategy), 0o600); err != nil {
		return err
	}
	info, err := os.Stat(csv)
	if err != nil {
		return err
	}
	b.result.CSV = info.Size()
	run := []string{"backtest", "run", "-s", strategyFile, "--data", csv}
	hand := measured{}
	for _, c := range []struct {
		what      string
		cached    bool
		arguments []string
	}{
		{"a hand-written program: split the lines, ParseFloat, the bare loop", false, []string{"bench", "--hand", csv}},
		{"botd backtest run --one-column", false, append(run[:len(run):len(run)], "--one-column")},
		{"the same, candles from the cache", true, append(run[:len(run):len(run)], "--one-column")},
		{"botd backtest run: ideal, realistic, pessimistic", false, run},
		{"the same, candles from the cache", true, run},
		{"the same with --out: the report, and a study of 4 runs and 4 cuts", true, append(run[:len(run):len(run)], "--out", out)},
	} {
		m, err := b.process(c.what, c.cached, c.arguments)
		if err != nil {
			return err
		}
		if hand.Processor == 0 {
			hand = m
		}
		m.Times = m.Seconds / hand.Seconds
		b.result.Command = append(b.result.Command, m)
	}
	page, err := os.Stat(filepath.Join(out, "report.html"))
	if err != nil {
		return err
	}
	b.result.Report = page.Size()
	return nil
}

// process measures this program run again. The cache is warmed before, or off.
func (b *bench) process(what string, cached bool, arguments []string) (measured, error) {
	fmt.Fprintln(b.tell, "measuring", what)
	m := measured{What: what, Seconds: math.MaxFloat64, Processor: math.MaxFloat64}
	self, err := os.Executable()
	if err != nil {
		return m, err
	}
	cache := "off"
	if cached {
		cache = filepath.Join(b.directory, "cache")
	}
	runs := b.runs
	if arguments[0] == "data" {
		runs = 1
	}
	if cached {
		runs++ // the first one fills it
	}
	for i := range runs {
		command := exec.CommandContext(b.ctx, self, arguments...)
		command.Env = append(os.Environ(), "BOTD_CACHE="+cache)
		var said bytes.Buffer
		command.Stderr = &said
		began := time.Now()
		if err := command.Run(); err != nil {
			if b.ctx.Err() != nil {
				return m, context.Cause(b.ctx)
			}
			return m, fmt.Errorf("%s: %w\n%s", what, err, said.String())
		}
		if cached && i == 0 {
			continue
		}
		m.Seconds = min(m.Seconds, time.Since(began).Seconds())
		m.Processor = min(m.Processor, (command.ProcessState.UserTime() + command.ProcessState.SystemTime()).Seconds())
		m.Memory = max(m.Memory, peakMB(command.ProcessState))
	}
	m.Speed = float64(b.candles) / m.Processor / 1e6
	return m, nil
}

// handWritten is what a person would write in an hour: it reads lines, splits them,
// parses floats, and loops.
func handWritten(path string) (fills int, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Scan() // the header
	var (
		times                               []int64
		opens, highs, lows, closes, volumes []float64
	)
	columns := []*[]float64{&opens, &highs, &lows, &closes, &volumes}
	for lines.Scan() {
		fields := strings.Split(lines.Text(), ",")
		at, err := strconv.ParseInt(fields[0], 10, 64)
		if err != nil {
			return 0, err
		}
		times = append(times, at)
		for i, column := range columns {
			value, err := strconv.ParseFloat(fields[i+1], 64)
			if err != nil {
				return 0, err
			}
			*column = append(*column, value)
		}
	}
	fills, _ = bareBacktest(opens, closes, 500, 2000)
	if len(times) != len(closes) {
		return 0, fmt.Errorf("%d times, %d prices", len(times), len(closes))
	}
	return fills, lines.Err()
}

func (r *benchResult) table(w io.Writer) { r.write(w, table.Writer.Render) }

// write writes both tables.
func (r *benchResult) write(w io.Writer, render func(table.Writer) string) {
	fmt.Fprintf(w, "%s; %d one-minute candles, %.1f MB of CSV.\n\n", r.Machine, r.Candles, float64(r.CSV)/1e6)
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"engine, candles in memory", "M candles/s", "bare loop", "fills", "allocations", "wall s", "processor s"})
	right := []table.ColumnConfig{}
	for i := 2; i <= 7; i++ {
		right = append(right, table.ColumnConfig{Number: i, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	for _, m := range r.Engine {
		t.AppendRow(table.Row{m.What, fmt.Sprintf("%.2f", m.Speed), fmt.Sprintf("%.1f x", m.Times), m.Fills, m.Allocs, fmt.Sprintf("%.3f", m.Seconds), fmt.Sprintf("%.3f", m.Processor)})
	}
	fmt.Fprintf(w, "%s\n\n", render(t))
	t = table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.SetColumnConfigs(right)
	t.AppendHeader(table.Row{"whole command, from the CSV file", "wall s", "hand-written", "processor s", "peak MB", "of the file"})
	for _, m := range r.Command {
		t.AppendRow(table.Row{m.What, fmt.Sprintf("%.2f", m.Seconds), fmt.Sprintf("%.2f x", m.Times), fmt.Sprintf("%.2f", m.Processor), fmt.Sprintf("%.0f", m.Memory), fmt.Sprintf("%.2f x", m.Memory*1e6/float64(r.CSV))})
	}
	fmt.Fprintf(w, "%s\n\nThe report of that run is one page of %.1f MB.\n", render(t), float64(r.Report)/1e6)
}

const benchBegin, benchEnd = "<!-- botd bench: begin -->\n", "<!-- botd bench: end -->\n"

// insert writes the tables into a Markdown file, between its marks.
func (r *benchResult) insert(path string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, begun := strings.Cut(string(page), benchBegin)
	_, after, ended := strings.Cut(rest, benchEnd)
	if !begun || !ended {
		return fmt.Errorf("%s has no lines %q and %q", path, strings.TrimSpace(benchBegin), strings.TrimSpace(benchEnd))
	}
	var tables bytes.Buffer
	r.write(&tables, table.Writer.RenderMarkdown)
	return os.WriteFile(path, []byte(before+benchBegin+"\n"+tables.String()+"\n"+benchEnd+after), 0o644)
}
