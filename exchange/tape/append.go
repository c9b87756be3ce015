package tape

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"

	"botd/exchange"
)

// Extend appends candles to their series and returns the number of new ones. It skips candles that
// the series already has, and puts older ones in front. It first cuts off a last line that a crash
// truncated. Use Extend for candles as they close; Save writes many at once and makes them durable.
func (s Store) Extend(symbol *exchange.Symbol, candles *exchange.Candles) (added int, err error) {
	if candles.Len() == 0 {
		return 0, nil
	}
	path := s.Path(symbol.Market, symbol.Name, candles.Interval)
	series, err := openSeries(path, header, 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, series.file.Close()) }()
	if series.rows && candles.OpenMS[0] < series.firstMS {
		return s.put(path, symbol, candles)
	}
	from := 0
	if series.rows {
		from = sort.Search(candles.Len(), func(i int) bool { return candles.OpenMS[i] > series.lastMS })
	}
	var lines []byte
	for i := from; i < candles.Len(); i++ {
		lines = appendRow(lines, candles, i, symbol.PriceScale)
	}
	return candles.Len() - from, series.add(lines)
}

// put merges candles into a series that begins later. The series' own candles stay.
func (s Store) put(path string, symbol *exchange.Symbol, candles *exchange.Candles) (added int, err error) {
	old, err := s.Load(symbol, candles.Interval)
	if err != nil {
		return 0, err
	}
	if candles, err = rescaled(candles, old.Symbol.PriceScale-symbol.PriceScale); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	merged := merge(candles, old.Candles, &Saved{})
	return merged.Len() - old.Candles.Len(), WriteFile(path, merged, old.Symbol, nil)
}

// ExtendFunding appends a payment to the rates of its symbol, in the same way.
func (s Store) ExtendFunding(row FundingRow) (added int, err error) {
	series, err := openSeries(s.FundingPath(row.Symbol), fundingHeader, 1)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, series.file.Close()) }()
	if series.rows && row.TimeMS <= series.lastMS {
		return 0, nil
	}
	return 1, series.add(fmt.Appendf(nil, "%s,%d,%s\n", row.Symbol, row.TimeMS, row.Rate))
}

// signalsHeader is the header of recorded signals, which LoadSignals reads.
const signalsHeader = "time_ms,strategy,target"

// SignalsPath returns the path of the recorded signals.
func (s Store) SignalsPath() string { return filepath.Join(s.Directory, "signals.csv") }

// ExtendSignals appends an accepted signal. Times never go back in the file.
func (s Store) ExtendSignals(row *SignalRow) (added int, err error) {
	series, err := openSeries(s.SignalsPath(), signalsHeader, 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, series.file.Close()) }()
	at := row.TimeMS
	if series.rows {
		at = max(at, series.lastMS)
	}
	target := "flat"
	if row.Side != 0 {
		target = strconv.FormatFloat(float64(float64(row.Side)*row.Share), 'f', -1, 64)
	}
	return 1, series.add(fmt.Appendf(nil, "%d,%s,%s\n", at, row.Strategy, target))
}

// FundingPath returns the path of a symbol's rates.
func (s Store) FundingPath(symbol string) string {
	return filepath.Join(s.Directory, exchange.Futures.String(), symbol, "funding.csv")
}

// growing is a file to which rows are appended.
type growing struct {
	file            *os.File
	end             int64 // offset after its last whole line
	firstMS, lastMS int64 // of its rows
	rows            bool  // it has rows
}

// maxLine exceeds the length of any written line.
const maxLine = 1 << 12

// openSeries opens a file of rows with the time in a column, and creates it if necessary. It cuts
// off a last line that a crash truncated.
func openSeries(path, header string, column int) (*growing, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		}
	}
	if err != nil {
		return nil, err
	}
	g := &growing{file: file}
	if err := g.begin(header, column); err != nil {
		if data, ok := errors.AsType[*DataError](err); ok {
			data.Path = path
		}
		return nil, errors.Join(err, file.Close())
	}
	return g, nil
}

func (g *growing) begin(header string, column int) error {
	size, err := g.file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	head := make([]byte, min(size, int64(len(header)+maxLine)))
	if _, err := g.file.ReadAt(head, 0); err != nil && err != io.EOF {
		return err
	}
	if size <= int64(len(header)) && bytes.HasPrefix([]byte(header), head) { // new, or truncated in its first line
		if err := g.file.Truncate(0); err != nil {
			return err
		}
		return g.add([]byte(header + "\n"))
	}
	rest, right := bytes.CutPrefix(head, []byte(header+"\n"))
	if !right {
		return &DataError{What: "it does not begin with the header " + header, Hint: "is it a series of botd? move it away to begin a new one"}
	}
	last, err := g.repair(size)
	if err != nil || string(last) == header {
		return err
	}
	first, _, _ := bytes.Cut(rest, []byte{'\n'})
	g.rows = true
	for _, row := range []struct {
		line []byte
		into *int64
	}{{first, &g.firstMS}, {last, &g.lastMS}} {
		at, known := timeIn(row.line, column)
		if !known {
			return &DataError{What: fmt.Sprintf("the line %q has no time", shorten(string(row.line))),
				Hint: "botd data verify shows what is wrong; move it away to begin a new one"}
		}
		*row.into = at
	}
	return nil
}

// repair cuts off everything after the last whole line and returns that line. The file has at least
// one: its header.
func (g *growing) repair(size int64) (last []byte, err error) {
	var tail []byte
	for from := size; ; {
		part := make([]byte, min(from, 16*maxLine))
		from -= int64(len(part))
		if _, err := g.file.ReadAt(part, from); err != nil {
			return nil, err
		}
		tail = append(part, tail...)
		end := bytes.LastIndexByte(tail, '\n')
		if end < 0 {
			continue // a truncated line longer than a part
		}
		begin := bytes.LastIndexByte(tail[:end], '\n')
		if begin < 0 && from > 0 {
			continue
		}
		last, g.end = tail[begin+1:end], from+int64(end)+1
		break
	}
	if g.end < size {
		err = g.file.Truncate(g.end)
	}
	return last, err
}

// add appends whole lines without syncing them: a power failure may lose the last ones, which will
// be received again, and a sync would delay the journal.
func (g *growing) add(lines []byte) error {
	n, err := g.file.WriteAt(lines, g.end)
	if err != nil {
		return errors.Join(err, g.file.Truncate(g.end)) // after a full disk, no partial line stays
	}
	g.end += int64(n)
	return nil
}

func timeIn(line []byte, column int) (int64, bool) {
	fields := bytes.Split(line, []byte{','})
	if column >= len(fields) {
		return 0, false
	}
	at, err := strconv.ParseInt(string(fields[column]), 10, 64)
	return at, err == nil
}

// cutFront removes the older quarter of a file's rows.
func cutFront(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	head, err := bufio.NewReader(file).ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("%s: read its header: %w", path, err)
	}
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err := file.Seek(int64(len(head))+(size-int64(len(head)))/4, io.SeekStart); err != nil {
		return err
	}
	rest := bufio.NewReader(file)
	if _, err := rest.ReadBytes('\n'); err != nil && err != io.EOF { // the line that the quarter ends in
		return err
	}
	return replaceFile(path, func(w io.Writer) error {
		if _, err := w.Write(head); err != nil {
			return err
		}
		_, err := io.Copy(w, rest)
		return err
	})
}
