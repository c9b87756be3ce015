package view

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"botd/internal/privatefile"
)

// Limits of reports.
const (
	maxReports      = 500      // directories that are read
	maxReportBytes  = 64 << 20 // of a report.json or report.html
	maxReportPoints = 1_000    // of an equity curve
	reportFile      = "report.json"
	pageFile        = "report.html"
)

// Backtest is the summary of one report of botd backtest run. A figure that is undefined for
// the run is null.
type Backtest struct {
	ID           string    `json:"id"` // the name of its directory
	At           time.Time `json:"at"` // when it was written
	Name         string    `json:"name"`
	Strategy     string    `json:"strategy"`
	Market       string    `json:"market"`
	Symbol       string    `json:"symbol"`
	Interval     string    `json:"interval"`
	From         string    `json:"from"`
	To           string    `json:"to"`
	Candles      int64     `json:"candles"`
	RoundTrips   int64     `json:"round_trips"`
	Wins         int64     `json:"wins"`
	Initial      Decimal   `json:"initial_equity"`
	Final        Decimal   `json:"final_equity"`
	Fees         Decimal   `json:"total_fees"`
	Funding      Decimal   `json:"total_funding"`
	Drawdown     *float64  `json:"max_drawdown_pct"`
	Sharpe       *float64  `json:"sharpe"`
	Sortino      *float64  `json:"sortino"`
	Calmar       *float64  `json:"calmar"`
	CAGR         *float64  `json:"cagr_pct"`
	ProfitFactor *float64  `json:"profit_factor"`
	Expectancy   *Decimal  `json:"expectancy"`
	Exposure     *float64  `json:"exposure_pct"`
	Warnings     []string  `json:"warnings"`
	Page         bool      `json:"page"` // whether the report has a page
	DataSHA      string    `json:"data_sha256"`
	ConfigSHA    string    `json:"config_sha256"`
	ResultSHA    string    `json:"result_sha256"`
}

// OneBacktest is a report with its assumptions, its configuration and its curve.
type OneBacktest struct {
	Schema int `json:"schema"`
	Backtest
	Assumptions []string  `json:"assumptions"`
	Config      []string  `json:"config"`  // the effective configuration of each strategy, as YAML
	TimeMS      []int64   `json:"time_ms"` // the times of the curve's points, at most a thousand
	Equity      []Decimal `json:"equity"`
}

// reportMore is the rest of a report.json that is read.
type reportMore struct {
	Assumptions []string
	Inputs      struct {
		Strategies []struct{ YAML string }
	}
}

// warnings are the texts of a report's warnings: objects, or in reports of earlier versions the
// texts alone.
type warnings []string

// UnmarshalJSON reads either.
func (w *warnings) UnmarshalJSON(text []byte) error {
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	for _, raw := range list {
		one := struct{ Text string }{}
		if json.Unmarshal(raw, &one.Text) != nil {
			if err := json.Unmarshal(raw, &one); err != nil {
				return err
			}
		}
		*w = append(*w, one.Text)
	}
	return nil
}

// Reports are the reports of backtests in a directory, which may be empty for none. They are
// cached until a file changes.
type Reports struct {
	directory string

	mu    sync.Mutex // guards known
	known map[string]Backtest
}

// NewReports returns the reports below a directory.
func NewReports(directory string) *Reports { return &Reports{directory: directory} }

var errNoReport = errors.New("there is no such report")

// open opens the directory of reports; the system denies every path out of it.
func (r *Reports) open() (*os.Root, error) {
	if r.directory == "" {
		return nil, errNoReport
	}
	root, err := os.OpenRoot(r.directory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoReport
	}
	return root, err
}

func readReport(root *os.Root, name string) ([]byte, fs.FileInfo, error) {
	file, err := root.Open(name)
	if err != nil {
		return nil, nil, errNoReport
	}
	defer file.Close()
	about, err := file.Stat()
	if err != nil || !about.Mode().IsRegular() || about.Size() > maxReportBytes {
		return nil, nil, errNoReport
	}
	text, err := io.ReadAll(io.LimitReader(file, maxReportBytes))
	return text, about, err
}

// summary reads one report, unless it is cached.
func (r *Reports) summary(root *os.Root, id string) (Backtest, error) {
	about, err := root.Stat(path.Join(id, reportFile))
	if err != nil {
		return Backtest{}, errNoReport
	}
	mark := id + " " + about.ModTime().String() + " " + strconv.FormatInt(about.Size(), 10)
	r.mu.Lock()
	known, found := r.known[mark]
	r.mu.Unlock()
	if found {
		return known, nil
	}
	text, about, err := readReport(root, path.Join(id, reportFile))
	if err != nil {
		return Backtest{}, err
	}
	one, cautions := Backtest{}, struct{ Warnings warnings }{}
	if err := errors.Join(json.Unmarshal(text, &struct {
		*Backtest
		Warnings json.RawMessage `json:"warnings"` // decoded below: another shape
	}{Backtest: &one}), json.Unmarshal(text, &cautions)); err != nil || one.Strategy == "" {
		return Backtest{}, errNoReport // a file of another program
	}
	one.Warnings = cautions.Warnings
	one.ID, one.At, one.Warnings = id, about.ModTime().UTC(), OrEmpty(one.Warnings)
	_, err = root.Stat(path.Join(id, pageFile))
	one.Page = err == nil
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil || len(r.known) > 2*maxReports {
		r.known = map[string]Backtest{}
	}
	r.known[mark] = one
	return one, nil
}

// List returns the reports, newest first.
func (r *Reports) List() ([]Backtest, error) {
	items := []Backtest{}
	root, err := r.open()
	if err != nil {
		return items, nil // the directory does not exist yet
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, errors.New("the directory of reports cannot be read")
	}
	for _, entry := range entries[:min(len(entries), maxReports)] {
		if one, err := r.summary(root, entry.Name()); err == nil && privatefile.IsName(entry.Name()) {
			items = append(items, one)
		}
	}
	slices.SortFunc(items, func(a, b Backtest) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(a.ID, b.ID)) })
	return items, nil
}

// One returns one report.
func (r *Reports) One(id string) (OneBacktest, error) {
	out := OneBacktest{Schema: 1, TimeMS: []int64{}, Equity: []string{}, Config: []string{}}
	root, err := r.open()
	if err != nil {
		return out, err
	}
	defer root.Close()
	if !privatefile.IsName(id) {
		return out, errNoReport
	}
	var more reportMore
	if out.Backtest, err = r.summary(root, id); err == nil {
		var text []byte
		if text, _, err = readReport(root, path.Join(id, reportFile)); err == nil {
			err = json.Unmarshal(text, &more)
		}
	}
	if err != nil {
		return out, err
	}
	out.Assumptions = OrEmpty(more.Assumptions)
	for _, one := range more.Inputs.Strategies {
		out.Config = append(out.Config, one.YAML)
	}
	if text, _, err := readReport(root, path.Join(id, "equity.csv")); err == nil {
		out.TimeMS, out.Equity = curve(text)
	}
	return out, nil
}

// Page returns the page of a report.
func (r *Reports) Page(id string) ([]byte, error) {
	root, err := r.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if !privatefile.IsName(id) {
		return nil, errNoReport
	}
	content, _, err := readReport(root, path.Join(id, pageFile))
	return content, err
}

// curve reads an equity.csv, thinned to a thousand points with the last one among them.
func curve(text []byte) (timeMS []int64, equity []string) {
	timeMS, equity = []int64{}, []string{}
	step := max(1, (bytes.Count(text, []byte("\n"))+maxReportPoints-2)/(maxReportPoints-1))
	lines := bufio.NewScanner(bytes.NewReader(text))
	last := ""
	add := func(line string) {
		at, value, _ := strings.Cut(line, ",")
		if ms, err := strconv.ParseInt(at, 10, 64); err == nil {
			value, _, _ = strings.Cut(value, ",")
			timeMS, equity = append(timeMS, ms), append(equity, value)
		}
	}
	for i := 0; lines.Scan(); i++ {
		last = ""
		if i > 0 && (i-1)%step == 0 {
			add(lines.Text())
		} else if i > 0 {
			last = lines.Text()
		}
	}
	if last != "" {
		add(last)
	}
	return timeMS, equity
}

// Taken returns the error for a new report or sweep whose name is taken.
func Taken(what, name string) error {
	return fmt.Errorf("%s %q already exists: choose another name", what, name)
}

// Room returns the reason that no report of a name can be added; nil if one can.
func (r *Reports) Room(name string) error {
	entries, err := os.ReadDir(r.directory)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return errors.New("the directory of reports cannot be read")
	case len(entries) >= maxReports:
		return fmt.Errorf("there are %d reports: remove some from data_dir/backtests", len(entries))
	case slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name }):
		return Taken("report", name)
	}
	return nil
}
