package api

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds of backtests shown.
const (
	maxReports      = 500      // directories looked at
	maxReportBytes  = 64 << 20 // of a report.json or report.html
	maxReportPoints = 1_000    // of an equity curve
	reportFile      = "report.json"
	pageFile        = "report.html"
)

// Backtest is one report that botd backtest run wrote, at a glance. A figure that
// is not defined for the run is null.
type Backtest struct {
	ID           string    `json:"id"` // the directory's name
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
	Initial      string    `json:"initial_equity"`
	Final        string    `json:"final_equity"`
	Fees         string    `json:"total_fees"`
	Funding      string    `json:"total_funding"`
	Drawdown     *float64  `json:"max_drawdown_pct"`
	Sharpe       *float64  `json:"sharpe"`
	Sortino      *float64  `json:"sortino"`
	Calmar       *float64  `json:"calmar"`
	CAGR         *float64  `json:"cagr_pct"`
	ProfitFactor *float64  `json:"profit_factor"`
	Expectancy   *string   `json:"expectancy"`
	Exposure     *float64  `json:"exposure_pct"`
	Warnings     []string  `json:"warnings"`
	Page         bool      `json:"page"` // there is a page of it
	DataSHA      string    `json:"data_sha256"`
	ConfigSHA    string    `json:"config_sha256"`
	ResultSHA    string    `json:"result_sha256"`
}

// OneBacktest is a report with what it hangs on, and its curve.
type OneBacktest struct {
	Schema int `json:"schema"`
	Backtest
	Assumptions []string `json:"assumptions"`
	Config      []string `json:"config"`  // of each strategy, effective, as YAML
	TimeMS      []int64  `json:"time_ms"` // of the curve, at most a thousand points
	Equity      []string `json:"equity"`
}

// reportMore is what of a report.json is read besides.
type reportMore struct {
	Assumptions []string
	Inputs      struct {
		Strategies []struct{ YAML string }
	}
}

// reports remembers what was read, until a file changes.
type reports struct {
	mu    sync.Mutex // guards known
	known map[string]Backtest
}

// reportName is a directory a report may be in: no path leads out of it.
var reportName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

var errNoReport = errors.New("there is no such report")

// open opens the directory of reports; the system keeps what is asked for inside it.
func (s *Server) openReports() (*os.Root, error) {
	if s.config.Reports == "" {
		return nil, errNoReport
	}
	root, err := os.OpenRoot(s.config.Reports)
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

// glance reads one report, or remembers it.
func (s *Server) glance(root *os.Root, id string) (Backtest, error) {
	about, err := root.Stat(path.Join(id, reportFile))
	if err != nil {
		return Backtest{}, errNoReport
	}
	mark := id + " " + about.ModTime().String() + " " + strconv.FormatInt(about.Size(), 10)
	s.reports.mu.Lock()
	known, found := s.reports.known[mark]
	s.reports.mu.Unlock()
	if found {
		return known, nil
	}
	text, about, err := readReport(root, path.Join(id, reportFile))
	if err != nil {
		return Backtest{}, err
	}
	one := Backtest{}
	if err := json.Unmarshal(text, &one); err != nil || one.Strategy == "" {
		return Backtest{}, errNoReport // some other program's file
	}
	one.ID, one.At, one.Warnings = id, about.ModTime().UTC(), filled(one.Warnings)
	_, err = root.Stat(path.Join(id, pageFile))
	one.Page = err == nil
	s.reports.mu.Lock()
	defer s.reports.mu.Unlock()
	if s.reports.known == nil || len(s.reports.known) > 2*maxReports {
		s.reports.known = map[string]Backtest{}
	}
	s.reports.known[mark] = one
	return one, nil
}

// listBacktests serves GET /api/v1/backtests, the newest first.
func (s *Server) listBacktests(w http.ResponseWriter, r *http.Request) {
	if !noQuery(w, r) {
		return
	}
	items := []Backtest{}
	root, err := s.openReports()
	if err != nil {
		writeList(w, r, items, "")
		return
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		problem(w, r, http.StatusInternalServerError, "internal", "the directory of reports can not be read")
		return
	}
	for _, entry := range entries[:min(len(entries), maxReports)] {
		if one, err := s.glance(root, entry.Name()); err == nil && reportName.MatchString(entry.Name()) {
			items = append(items, one)
		}
	}
	slices.SortFunc(items, func(a, b Backtest) int {
		if c := b.At.Compare(a.At); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	writeList(w, r, items, "")
}

// oneBacktest serves GET /api/v1/backtests/{id}.
func (s *Server) oneBacktest(w http.ResponseWriter, r *http.Request) {
	if !noQuery(w, r) {
		return
	}
	id := r.PathValue("id")
	root, err := s.openReports()
	if err != nil || !reportName.MatchString(id) {
		missing(w, r, "backtest", id)
		return
	}
	defer root.Close()
	out := OneBacktest{Schema: 1, TimeMS: []int64{}, Equity: []string{}, Config: []string{}}
	var more reportMore
	if out.Backtest, err = s.glance(root, id); err == nil {
		var text []byte
		if text, _, err = readReport(root, path.Join(id, reportFile)); err == nil {
			err = json.Unmarshal(text, &more)
		}
	}
	if err != nil {
		missing(w, r, "backtest", id)
		return
	}
	out.Assumptions = filled(more.Assumptions)
	for _, one := range more.Inputs.Strategies {
		out.Config = append(out.Config, one.YAML)
	}
	if text, _, err := readReport(root, path.Join(id, "equity.csv")); err == nil {
		out.TimeMS, out.Equity = curve(text)
	}
	answer(w, r, out)
}

// curve reads an equity.csv and keeps a thousand points of it, the last one too.
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

// pagePolicy shuts a report's page in: it has scripts of its own, but no origin, so
// that it can neither ask the API nor read a cookie, and loads nothing.
const pagePolicy = "sandbox allow-scripts allow-popups; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// backtestPage serves GET /api/v1/backtests/{id}/report.
func (s *Server) backtestPage(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	root, err := s.openReports()
	if err != nil || !reportName.MatchString(id) {
		missing(w, r, "report", id)
		return
	}
	defer root.Close()
	content, _, err := readReport(root, path.Join(id, pageFile))
	if err != nil {
		missing(w, r, "report", id)
		return
	}
	w.Header().Set("Content-Security-Policy", pagePolicy)
	text(w, "text/html; charset=utf-8", string(content))
}
