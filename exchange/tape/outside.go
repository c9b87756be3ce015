package tape

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Limits of external series.
const (
	maxOutside      = 10_000_000 // rows of a file
	rereadEvery     = time.Second
	timeColumn      = "time_ms"
	expectedColumns = "expected a header with time_ms and columns of numbers"
	expectedSignals = "expected a header with time_ms,strategy,target"

	// Market times are within these bounds since 1970. Others are in seconds, or in micro- or
	// nanoseconds.
	earliestMS = 100_000_000_000 // 1973
	latestMS   = 100 * earliestMS
	aSecondMS  = 1_000_000_000 // from here on a time in seconds (2001); lower values are times of a test
)

// A rowFile is a CSV or Parquet file, plain or packed, whose header is read.
type rowFile struct {
	reader *csv.Reader
	header []string
	first  []string // first row of a file without a header, such as Binance's trades
	opened []io.Closer
}

func openRows(path string) (*rowFile, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f := &rowFile{opened: []io.Closer{file}}
	text, err := unpack(path, file)
	if err != nil {
		f.close()
		return nil, err
	}
	if closer, is := text.(io.Closer); is {
		f.opened = append(f.opened, closer)
	}
	f.reader = csv.NewReader(text)
	f.reader.ReuseRecord = true
	words, err := f.reader.Read()
	if err != nil {
		f.close()
		return nil, &DataError{Path: path, Line: 1, What: "no header: the file is empty or not a CSV file"}
	}
	f.header = slices.Clone(words)
	f.header[0] = strings.TrimPrefix(f.header[0], "\ufeff") // spreadsheets write a byte order mark
	for i := range f.header {
		f.header[i] = strings.TrimSpace(f.header[i])
	}
	if names := binanceTrades(f.header); names != nil {
		f.header, f.first = names, f.header
	}
	return f, nil
}

func (f *rowFile) close() {
	for _, closer := range slices.Backward(f.opened) {
		closer.Close()
	}
}

// rowsOf passes each row of a file to a function.
func rowsOf(path string, row func(line int, header, fields []string) error) error {
	file, err := openRows(path)
	if err != nil {
		return err
	}
	defer file.close()
	if file.first != nil {
		if err := row(1, file.header, file.first); err != nil {
			return err
		}
	}
	for line := 2; ; line++ {
		fields, err := file.reader.Read()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return &DataError{Path: path, Line: line, What: err.Error()}
		case line > maxOutside:
			return &DataError{Path: path, Line: line, What: fmt.Sprintf("the file has more than %d rows", maxOutside)}
		}
		if err := row(line, file.header, fields); err != nil {
			return err
		}
	}
}

// timeOf reads a row's time, which must be after the previous row's.
func timeOf(path string, line int, text string, beforeMS int64, same bool) (int64, error) {
	atMS, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		return 0, &DataError{Path: path, Line: line, Column: timeColumn, What: fmt.Sprintf("%q is not a time in milliseconds", text)}
	case atMS >= aSecondMS && atMS < earliestMS || atMS >= latestMS:
		return 0, &DataError{Path: path, Line: line, Column: timeColumn, What: text + " is in another unit than milliseconds",
			Hint: "times are milliseconds since 1970, as 1704067200000 for 2024-01-01"}
	case atMS < beforeMS || atMS == beforeMS && !same:
		return 0, &DataError{Path: path, Line: line, Column: timeColumn, What: fmt.Sprintf("%d is not after %d", atMS, beforeMS),
			Hint: "sort the rows by time, each time once"}
	}
	return atMS, nil
}

// SignalRow is a recorded signal.
type SignalRow struct {
	TimeMS   int64
	Strategy string
	Side     int     // +1 long, -1 short, 0 flat
	Share    float64 // of the configured size, above 0 and at most 1
}

// LoadSignals reads recorded signals: time_ms, strategy and target, which is long, short, flat, or a
// share of the configured size from -1 to 1.
func LoadSignals(path string) (rows []SignalRow, err error) {
	beforeMS := int64(math.MinInt64)
	err = rowsOf(path, func(line int, header, fields []string) error {
		time, name, target := slices.Index(header, timeColumn), slices.Index(header, "strategy"), slices.Index(header, "target")
		if time < 0 || name < 0 || target < 0 {
			return &DataError{Path: path, Line: 1, What: "the columns are " + strings.Join(header, ","), Hint: expectedSignals}
		}
		atMS, err := timeOf(path, line, fields[time], beforeMS, true)
		if err != nil {
			return err
		}
		side, share, known := targetOf(fields[target])
		if !known {
			return &DataError{Path: path, Line: line, Column: "target", What: fmt.Sprintf("%q is not a target", fields[target]),
				Hint: "long, short, flat, or a share of the size from -1 to 1"}
		}
		beforeMS, rows = atMS, append(rows, SignalRow{atMS, fields[name], side, share})
		return nil
	})
	return rows, err
}

func targetOf(word string) (side int, share float64, known bool) {
	switch word {
	case "long":
		return 1, 1, true
	case "short":
		return -1, 1, true
	case "flat":
		return 0, 1, true
	}
	number, err := strconv.ParseFloat(word, 64)
	switch {
	case err != nil || math.IsNaN(number) || math.Abs(number) > 1:
		return 0, 0, false
	case number == 0:
		return 0, 1, true
	case number < 0:
		return -1, -number, true
	}
	return 1, number, true
}

// Columns are series of numbers from files. Each value is visible from its time on.
type Columns struct {
	follow bool // read a changed file again

	mu    sync.Mutex // guards what follows
	files []*columnFile
}

type columnFile struct {
	path, prefix string
	checkedAt    time.Time
	size         int64
	changed      time.Time
	timeMS       []int64
	names        []string
	values       [][]float64 // by name; a gap repeats the previous value
}

// ColumnPath splits FILE=PREFIX. The file name itself may contain =.
func ColumnPath(word string) (file, prefix string) {
	if _, err := os.Stat(word); err == nil {
		return word, ""
	}
	file, prefix, _ = strings.Cut(word, "=")
	return file, prefix
}

// LoadColumns reads files, given as FILE or FILE=PREFIX. With follow, a file that grows is read again.
func LoadColumns(given []string, follow bool) (*Columns, error) {
	c := &Columns{follow: follow}
	known := map[string]string{}
	for _, word := range given {
		path, prefix := ColumnPath(word)
		file := &columnFile{path: path, prefix: prefix}
		if err := file.read(); err != nil {
			return nil, err
		}
		for _, name := range file.names {
			if other, doubled := known[name]; doubled {
				return nil, &DataError{Path: path, Column: name, What: "column " + name + " is in " + other + " too",
					Hint: "give one of them a prefix: FILE=PREFIX"}
			}
			known[name] = path
		}
		c.files = append(c.files, file)
	}
	return c, nil
}

func (f *columnFile) read() error {
	about, err := os.Stat(f.path)
	if err != nil {
		return err
	}
	fresh := columnFile{path: f.path, prefix: f.prefix, size: about.Size(), changed: about.ModTime()}
	beforeMS, at := int64(math.MinInt64), -1
	err = rowsOf(f.path, func(line int, header, fields []string) error {
		if at < 0 {
			if at = slices.Index(header, timeColumn); at < 0 || len(header) < 2 {
				return &DataError{Path: f.path, Line: 1, What: "the columns are " + strings.Join(header, ","), Hint: expectedColumns}
			}
			for i, name := range header {
				if i != at {
					fresh.names, fresh.values = append(fresh.names, f.prefix+name), append(fresh.values, nil)
				}
			}
		}
		atMS, err := timeOf(f.path, line, fields[at], beforeMS, false)
		if err != nil {
			return err
		}
		beforeMS = atMS
		fresh.timeMS = append(fresh.timeMS, atMS)
		return fresh.add(line, at, fields)
	})
	if err != nil {
		return err
	}
	if at < 0 {
		return &DataError{Path: f.path, What: "no rows", Hint: expectedColumns}
	}
	fresh.checkedAt = f.checkedAt
	*f = fresh
	return nil
}

// add adds a row's numbers. An empty one repeats the previous value.
func (f *columnFile) add(line, skip int, fields []string) error {
	n := 0
	for i, text := range fields {
		if i == skip {
			continue
		}
		value := math.NaN()
		if before := f.values[n]; text == "" && len(before) > 0 {
			value = before[len(before)-1]
		} else if text != "" {
			var err error
			if value, err = strconv.ParseFloat(text, 64); err != nil || math.IsInf(value, 0) {
				return &DataError{Path: f.path, Line: line, Column: f.names[n], What: fmt.Sprintf("%q is not a number", text)}
			}
		}
		f.values[n] = append(f.values[n], value)
		n++
	}
	return nil
}

// refresh reads a changed file again. It leaves a partly written row for the next time.
func (f *columnFile) refresh(now time.Time) {
	if now.Sub(f.checkedAt) < rereadEvery {
		return
	}
	f.checkedAt = now
	if about, err := os.Stat(f.path); err == nil && (about.Size() != f.size || !about.ModTime().Equal(f.changed)) {
		if f.read() != nil {
			f.checkedAt = now
		}
	}
}

// Names returns the names of the series.
func (c *Columns) Names() (names []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.files {
		names = append(names, f.names...)
	}
	return names
}

// Span returns the times of the first and of the last row of all files.
func (c *Columns) Span() (firstMS, lastMS int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	firstMS, lastMS = math.MaxInt64, math.MinInt64
	for _, f := range c.files {
		firstMS, lastMS = min(firstMS, f.timeMS[0]), max(lastMS, f.timeMS[len(f.timeMS)-1])
	}
	return firstMS, lastMS
}

// At returns the value of a series that is visible at a time.
func (c *Columns) At(name string, atMS int64) (value float64, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.files {
		if c.follow {
			f.refresh(time.Now())
		}
		column := slices.Index(f.names, name)
		if column < 0 {
			continue
		}
		row, exact := slices.BinarySearch(f.timeMS, atMS)
		if !exact {
			row--
		}
		if row < 0 || math.IsNaN(f.values[column][row]) {
			return 0, false
		}
		return f.values[column][row], true
	}
	return 0, false
}
