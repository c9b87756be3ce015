package tape

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"botd/exchange"
)

// RecorderConfig sets the destination and the bounds of a recorder. The recorder must own the
// store, because it removes the oldest rows.
type RecorderConfig struct {
	Store        Store
	MaxBytes     int64                                        // of all files together; beyond it the oldest rows of the largest file are removed
	MinFreeBytes int64                                        // nothing is written if the disk has less free space
	Free         func(directory string) (_ int64, known bool) // free space of the disk; nil for no check
	Notify       func(error)                                  // called once when writing begins to fail, and with nil when it works again
	Count        func(stored, lost int)                       // rows stored and lost
}

// Recorder stores the data that a daemon receives, in the background: each call returns at once.
// Data that cannot be written are reported, counted and lost.
type Recorder struct {
	config   RecorderConfig
	queue    chan recorded
	done     chan struct{}
	bytes    atomic.Int64
	sizes    map[string]int64    // by path; used by the writer only
	failing  map[string]struct{} // paths that cannot be written; used by the writer only
	reported map[string]struct{} // reported reasons; used by the writer only
	cutting  struct {            // used by the writer only: a cut that failed, and when to try again
		err   error
		after time.Time
	}
}

// recorded is one item to write: candles of a symbol, a signal, or a rate.
type recorded struct {
	symbol  exchange.Symbol
	candles *exchange.Candles
	funding FundingRow
	signal  *SignalRow
}

func (r *recorded) rows() int {
	if r.candles != nil {
		return r.candles.Len()
	}
	return 1
}

const (
	recorderQueue = 4_096           // maximum number of queued answers for a slow disk
	recorderClose = 5 * time.Second // maximum wait of Close for the disk
	recorderAgain = 5 * time.Minute // until a failed cut is tried again: it copies a file
)

// NewRecorder starts a recorder. The caller must call Close after the last row.
func NewRecorder(config RecorderConfig) *Recorder {
	r := newRecorder(config)
	go func() {
		defer close(r.done)
		r.measure()
		for row := range r.queue {
			r.write(&row)
		}
	}()
	return r
}

func newRecorder(config RecorderConfig) *Recorder {
	return &Recorder{config: config, queue: make(chan recorded, recorderQueue), done: make(chan struct{}),
		sizes: map[string]int64{}, failing: map[string]struct{}{}, reported: map[string]struct{}{}}
}

// Candles stores closed candles, which must no longer change.
func (r *Recorder) Candles(symbol *exchange.Symbol, candles *exchange.Candles) {
	r.enqueue(recorded{symbol: *symbol, candles: candles})
}

// Funding stores the rate of a payment.
func (r *Recorder) Funding(row FundingRow) { r.enqueue(recorded{funding: row}) }

// Signal stores a signal that a strategy has accepted.
func (r *Recorder) Signal(row SignalRow) { r.enqueue(recorded{signal: &row}) }

func (r *Recorder) enqueue(row recorded) {
	select {
	case r.queue <- row:
	default:
		r.config.Count(0, row.rows())
	}
}

// Bytes returns the size of all files.
func (r *Recorder) Bytes() int64 { return r.bytes.Load() }

// Close writes the queued items, as far as the disk allows in time.
func (r *Recorder) Close() {
	close(r.queue)
	select {
	case <-r.done:
	case <-time.After(recorderClose):
	}
}

// measure finds existing files and removes incomplete ones left by a crash.
func (r *Recorder) measure() {
	_ = filepath.WalkDir(r.config.Store.Directory, func(path string, item fs.DirEntry, err error) error {
		switch {
		case err != nil || item.IsDir():
			return nil // an unreadable file fails when it is written
		case strings.HasPrefix(item.Name(), temporary):
			return os.Remove(path)
		case strings.HasSuffix(path, ".csv"):
			r.resize(path)
		}
		return nil
	})
}

// resize updates a file's size.
func (r *Recorder) resize(path string) {
	size := int64(0)
	if info, err := os.Stat(path); err == nil {
		size = info.Size()
	}
	r.bytes.Add(size - r.sizes[path])
	r.sizes[path] = size
}

func (r *Recorder) write(row *recorded) {
	path := r.config.Store.FundingPath(row.funding.Symbol)
	switch {
	case row.candles != nil:
		path = r.config.Store.Path(row.symbol.Market, row.symbol.Name, row.candles.Interval)
	case row.signal != nil:
		path = r.config.Store.SignalsPath()
	}
	added, err := 0, errors.Join(r.checkSpace(), r.bound()) // nothing is added beyond the bound
	switch {
	case err != nil:
	case row.candles != nil:
		added, err = r.config.Store.Extend(&row.symbol, row.candles)
	case row.signal != nil:
		added, err = r.config.Store.ExtendSignals(row.signal)
	default:
		added, err = r.config.Store.ExtendFunding(row.funding)
	}
	r.resize(path)
	if err == nil {
		r.config.Count(added, 0)
		err = r.bound()
	} else {
		r.config.Count(0, row.rows())
	}
	r.report(path, err)
}

// checkSpace returns an error if the disk is nearly full: the last space is reserved for the journal.
func (r *Recorder) checkSpace() error {
	if r.config.Free == nil {
		return nil
	}
	directory := r.config.Store.Directory
	for { // the first existing parent
		if _, err := os.Stat(directory); err == nil || directory == filepath.Dir(directory) {
			break
		}
		directory = filepath.Dir(directory)
	}
	if free, known := r.config.Free(directory); known && free < r.config.MinFreeBytes {
		return errNoRoom
	}
	return nil
}

var errNoRoom = errors.New("the disk is nearly full: the last space is reserved for the journal")

// bound removes the oldest rows of the largest file while the files are too large.
func (r *Recorder) bound() error {
	for r.config.MaxBytes > 0 && r.bytes.Load() > r.config.MaxBytes {
		if r.cutting.err != nil && time.Now().Before(r.cutting.after) {
			return r.cutting.err
		}
		largest := ""
		for path, size := range r.sizes {
			if largest == "" || size > r.sizes[largest] || size == r.sizes[largest] && path < largest {
				largest = path
			}
		}
		before := r.sizes[largest]
		if err := cutFront(largest); err != nil {
			r.cutting.err, r.cutting.after = fmt.Errorf("remove the oldest rows: %w", err), time.Now().Add(recorderAgain)
			return r.cutting.err
		}
		r.cutting.err = nil
		r.resize(largest)
		if r.sizes[largest] >= before {
			return fmt.Errorf("%s: nothing more can be removed", largest)
		}
	}
	return nil
}

// report reports once why a file cannot be written, and once when all files can be written again.
func (r *Recorder) report(path string, err error) {
	if err == nil {
		if _, failed := r.failing[path]; failed {
			delete(r.failing, path)
			if len(r.failing) == 0 {
				clear(r.reported)
				r.config.Notify(nil)
			}
		}
		return
	}
	r.failing[path] = struct{}{}
	why := err.Error()
	if inner := (*fs.PathError)(nil); errors.As(err, &inner) { // the same for every file of a full disk
		why = inner.Err.Error()
	}
	if _, reported := r.reported[why]; !reported {
		r.reported[why] = struct{}{}
		r.config.Notify(err)
	}
}

// RecordedFolder is the folder below a mode's directory for data polled by its daemon. Only the
// daemon writes there. Downloads are stored elsewhere and are never cut.
const RecordedFolder = "recorded"
