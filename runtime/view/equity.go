package view

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"botd/exchange"
	"botd/internal/privatefile"
)

// Limits of the series: every minute of a week, every hour of five years.
const (
	sampleMS    = 60_000
	fineMS      = 7 * int64(exchange.Day1)
	coarseMS    = 3_600_000
	maxCoarse   = 5 * 366 * 24
	maxEquities = 5_000  // points of an answer
	maxStale    = 20_000 // outdated lines of the file: a fortnight
)

// point is the equity at a time.
type point struct {
	atMS                       int64
	equity, wallet, unrealized exchange.Amount
}

// Equity is the account's equity over time. It is sampled every minute and stored in a file
// of the data directory, so that it outlives the process. Safe for several goroutines.
type Equity struct {
	mu      sync.Mutex // guards all below
	points  []point    // oldest first
	file    *os.File   // nil: memory only
	path    string
	lines   int                             // of the file
	missing int                             // the newest points that are not in the file, since it could not be written
	publish func(topic string, content any) // nil until something follows
}

// NewEquity returns a series in memory.
func NewEquity() *Equity { return &Equity{} }

// OpenEquity returns the series of a file. A last line that a crash cut short is removed.
func OpenEquity(path string) (*Equity, error) {
	file, err := privatefile.Open(path, os.O_CREATE|os.O_RDWR|os.O_APPEND)
	if err != nil {
		return nil, fmt.Errorf("open the equity series: %w", err)
	}
	e := &Equity{file: file, path: path}
	if err := e.read(); err != nil {
		return nil, errors.Join(fmt.Errorf("read the equity series: %w", err), e.Close())
	}
	e.thin()
	if e.lines > len(e.points)+maxStale {
		if err := e.rewrite(); err != nil {
			return nil, errors.Join(err, e.Close())
		}
	}
	return e, nil
}

// read reads the complete lines of the file.
func (e *Equity) read() error {
	text, err := io.ReadAll(e.file)
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	for line := range bytes.Lines(text[:whole]) {
		e.lines++
		p, err := parsePoint(string(line[:len(line)-1]))
		if err == nil && (len(e.points) == 0 || e.points[len(e.points)-1].atMS < p.atMS) {
			e.points = append(e.points, p)
		}
	}
	if whole == len(text) {
		return nil
	}
	return e.file.Truncate(int64(whole))
}

func parsePoint(line string) (p point, err error) {
	fields := strings.Split(line, ",")
	if len(fields) != 4 {
		return p, errors.New("not four fields")
	}
	p.atMS, err = strconv.ParseInt(fields[0], 10, 64)
	for i, into := range []*exchange.Amount{&p.equity, &p.wallet, &p.unrealized} {
		if err == nil {
			*into, err = exchange.ParseAmount(fields[i+1])
		}
	}
	return p, err
}

// Follow publishes every sample from now on.
func (e *Equity) Follow(publish func(topic string, content any)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.publish = publish
}

// Close closes the file.
func (e *Equity) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.file == nil {
		return nil
	}
	err := errors.Join(e.write(), e.file.Close())
	e.file = nil
	return err
}

// Keep samples the board until the context ends. A point that cannot be written is written with
// the next one, and the error goes to fail.
func (e *Equity) Keep(ctx context.Context, board *Board, fail func(error)) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := e.Sample(board); err != nil {
			fail(err)
		}
	}
}

// Sample takes a point of the board while the equity is known.
func (e *Equity) Sample(board *Board) error {
	board.mu.Lock()
	s := &board.status
	p := point{s.NowMS, s.Total, s.Account.WalletBalance, s.Account.UnrealizedPNL}
	known := s.TotalKnown
	board.mu.Unlock()
	if !known {
		return nil
	}
	return e.sample(p)
}

// AccountEvent is the account's equity at a time.
type AccountEvent struct {
	AtMS       int64   `json:"at_ms"`
	Equity     Decimal `json:"equity"`
	Wallet     Decimal `json:"wallet"`
	Unrealized Decimal `json:"unrealized"`
}

// sample publishes a point, and stores the first of each minute.
func (e *Equity) sample(p point) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.publish != nil {
		e.publish("account", AccountEvent{p.atMS, p.equity.String(), p.wallet.String(), p.unrealized.String()})
	}
	if n := len(e.points); n > 0 && p.atMS/sampleMS <= e.points[n-1].atMS/sampleMS {
		return nil
	}
	e.points = append(e.points, p)
	if len(e.points) > maxCoarse+2*int(fineMS/sampleMS) {
		e.thin()
	}
	if e.file == nil {
		return nil
	}
	e.missing++
	var rewriting error
	if e.lines > len(e.points)+maxStale {
		rewriting = e.rewrite() // if it fails, the file grows until the next try
	}
	return errors.Join(rewriting, e.write())
}

// write appends the missing points as a whole: a line that a full disk cut would spoil the next.
func (e *Equity) write() error {
	e.missing = min(e.missing, len(e.points))
	if e.missing == 0 {
		return nil
	}
	var text strings.Builder
	for i := len(e.points) - e.missing; i < len(e.points); i++ {
		text.WriteString(e.points[i].line())
	}
	n, err := e.file.WriteString(text.String())
	if err == nil {
		e.lines += e.missing
		e.missing = 0
		return nil
	}
	end, seekErr := e.file.Seek(0, io.SeekEnd)
	if seekErr == nil && n > 0 {
		seekErr = e.file.Truncate(end - int64(n))
	}
	return fmt.Errorf("write the equity series: %w", errors.Join(err, seekErr))
}

func (p *point) line() string {
	return fmt.Sprintf("%d,%s,%s,%s\n", p.atMS, p.equity, p.wallet, p.unrealized)
}

// rewrite replaces the file by one with only the points of the series.
func (e *Equity) rewrite() error {
	fresh, err := privatefile.Open(e.path+".partial", os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return fmt.Errorf("rewrite the equity series: %w", err)
	}
	text := bufio.NewWriter(fresh)
	for i := range e.points {
		_, _ = text.WriteString(e.points[i].line()) // Flush returns the error
	}
	if err := errors.Join(text.Flush(), fresh.Sync(), os.Rename(fresh.Name(), e.path)); err != nil {
		return fmt.Errorf("rewrite the equity series: %w", errors.Join(err, fresh.Close()))
	}
	old := e.file
	e.file, e.lines, e.missing = fresh, len(e.points), 0
	return errors.Join(old.Close(), privatefile.SyncDirectory(filepath.Dir(e.path)))
}

// thin leaves one point an hour of those older than a week.
func (e *Equity) thin() {
	if len(e.points) == 0 {
		return
	}
	fine := e.points[len(e.points)-1].atMS - fineMS
	hour := int64(-1)
	e.points = slices.DeleteFunc(e.points, func(p point) bool {
		if p.atMS >= fine {
			return false
		}
		same := p.atMS/coarseMS == hour
		hour = p.atMS / coarseMS
		return same
	})
	if over := len(e.points) - maxCoarse - int(fineMS/sampleMS); over > 0 {
		e.points = slices.Delete(e.points, 0, over)
	}
}

// EquitySeries is the account's equity in columns.
type EquitySeries struct {
	Schema     int       `json:"schema"`
	StepMS     int64     `json:"step_ms"`
	TimeMS     []int64   `json:"time_ms"`
	Equity     []Decimal `json:"equity"`
	Wallet     []Decimal `json:"wallet"`
	Unrealized []Decimal `json:"unrealized"`
	Marks      []Audit   `json:"marks"` // starts, halts, breakers and limits, oldest first
}

// Series returns the last point of each step; a step that would give too many points is
// made longer.
func (e *Equity) Series(fromMS, toMS, stepMS int64) EquitySeries {
	e.mu.Lock()
	defer e.mu.Unlock()
	from, _ := slices.BinarySearchFunc(e.points, fromMS, func(p point, ms int64) int { return cmp.Compare(p.atMS, ms) })
	to, _ := slices.BinarySearchFunc(e.points, toMS, func(p point, ms int64) int { return cmp.Compare(p.atMS, ms) })
	all := e.points[from:max(from, to)]
	stepMS = max(stepMS, sampleMS)
	if len(all) > 0 {
		stepMS = max(stepMS, (all[len(all)-1].atMS-all[0].atMS)/maxEquities+1)
	}
	out := EquitySeries{Schema: 1, StepMS: stepMS, TimeMS: []int64{}, Equity: []string{}, Wallet: []string{}, Unrealized: []string{}, Marks: []Audit{}}
	for i, p := range all {
		if i+1 < len(all) && all[i+1].atMS/stepMS == p.atMS/stepMS {
			continue
		}
		out.TimeMS = append(out.TimeMS, p.atMS)
		out.Equity, out.Wallet, out.Unrealized = append(out.Equity, p.equity.String()), append(out.Wallet, p.wallet.String()), append(out.Unrealized,
			p.unrealized.String())
	}
	return out
}
