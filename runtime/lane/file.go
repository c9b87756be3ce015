package lane

import (
	"bytes"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"botd/internal/privatefile"
	"botd/reconcile/record"
)

// FileName is the name of the lane's file in a mode's directory.
const FileName = "killswitch.log"

// fileSize has room for each of the lane's ids with its outcome. The file is written in full when
// created, so that its content can be overwritten on a full disk.
const fileSize = 1 << 20

// File stores the lane's actions until the journal does: one record per line, followed by zeros. If
// the journal has a key, a code follows each record, computed from the line and the previous code.
// A single goroutine writes, so that callers choose how long they wait for a slow disk.
type File struct {
	file   *os.File
	code   func(text []byte) string // of a line; nil without a key
	writes chan write
	ended  sync.WaitGroup

	generation atomic.Int64 // grows whenever the file starts over
}

type write struct {
	lines      [][]byte
	generation int64
	done       chan<- error
}

// OpenFile opens the file, or creates it at full size, and returns its records. It refuses a line
// without the key's code, because its record would become a journal record.
func OpenFile(path string, code func(text []byte) string) (*File, []record.Record, error) {
	file, err := privatefile.Open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, nil, err
	}
	text := make([]byte, fileSize)
	n, err := file.ReadAt(text, 0)
	if n < fileSize { // new or truncated: allocate it in full
		if _, err = file.WriteAt(text[n:], int64(n)); err == nil {
			err = file.Sync()
		}
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("allocate %s: %w", path, err), file.Close())
	}
	records, used, last, err := parse(text, code)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("read %s: %w", path, err), file.Close())
	}
	f := &File{file: file, code: code, writes: make(chan write, 256)}
	f.ended.Go(func() { f.run(int64(used), last) })
	return f, records, nil
}

// parse reads the records and the last code. The last line may be incomplete: its order's id is in
// the start's record.
func parse(text []byte, code func(text []byte) string) (records []record.Record, used int, last string, err error) {
	if end := bytes.IndexByte(text, 0); end >= 0 {
		text = text[:end]
	}
	for {
		line, _, whole := bytes.Cut(text[used:], []byte("\n"))
		if !whole {
			return records, used, last, nil
		}
		body, have, coded := bytes.Cut(line, []byte(codeMark))
		switch {
		case code == nil && coded:
			return nil, 0, "", fmt.Errorf("byte %d: the line has a code: want the key of journal_key_file", used)
		case code != nil && !hmac.Equal(have, []byte(code(append([]byte(last), body...)))):
			return nil, 0, "", fmt.Errorf("byte %d: the line was not written with the key of journal_key_file", used)
		}
		var r record.Record
		if err := json.Unmarshal(body, &r); err != nil {
			return nil, 0, "", fmt.Errorf("byte %d: %w", used, err)
		}
		last = string(have)
		records = append(records, r)
		used += len(line) + 1
	}
}

// codeMark separates a record, in which JSON allows no tab, from its code.
const codeMark = "\t"

// sealed returns lines in written form, and the code of the last one.
func sealed(lines [][]byte, last string, code func(text []byte) string) (text []byte, newest string) {
	for _, line := range lines {
		text = append(text, line...)
		if code != nil {
			last = code(append([]byte(last), line...))
			text = append(text, codeMark+last...)
		}
		text = append(text, '\n')
	}
	return text, last
}

// run writes until the file is closed. It drops writes from before the file started over.
//
// A write that failed may have left a part of its text, or all of it. The next one clears what reaches
// beyond its own text: a start refuses a file with the end of another line.
func (f *File) run(at int64, last string) {
	generation := int64(0) // of the file when opened
	reached := at          // by any write, failed ones included
	for w := range f.writes {
		err := errStale
		if now := f.generation.Load(); now != generation {
			if err = f.put(make([]byte, reached), 0); err == nil {
				at, reached, generation, last = 0, 0, now, ""
			}
		}
		if w.generation == generation {
			text, newest := sealed(w.lines, last, f.code)
			end := at + int64(len(text))
			if err = f.put(append(text, make([]byte, max(0, reached-end))...), at); !errors.Is(err, errFull) {
				reached = max(reached, end)
			}
			if err == nil {
				at, reached, last = end, end, newest
			}
		}
		if w.done != nil {
			w.done <- err
		}
	}
}

var errStale, errFull = errors.New("the file was started over since"), errors.New("the lane's file is full")

// put writes a text durably into the file's room.
func (f *File) put(text []byte, at int64) error {
	if at+int64(len(text)) > fileSize {
		return errFull
	}
	if _, err := f.file.WriteAt(text, at); err != nil {
		return err
	}
	return f.file.Sync()
}

// write adds records. It reports whether they are durable within a time; a time of zero does not
// wait.
func (f *File) write(records []record.Record, within time.Duration) bool {
	var lines [][]byte
	for i := range records {
		line, err := json.Marshal(records[i])
		if err != nil {
			panic(err) // a record that is not valid JSON
		}
		lines = append(lines, line)
	}
	done := make(chan error, 1)
	select {
	case f.writes <- write{lines, f.generation.Load(), done}:
	default:
		return false // the disk hangs
	}
	if within == 0 {
		return false
	}
	select {
	case err := <-done:
		return err == nil
	case <-time.After(within):
		return false
	}
}

// reset empties the file as soon as it can be written: the journal has everything.
func (f *File) reset() {
	generation := f.generation.Add(1)
	select {
	case f.writes <- write{generation: generation}:
	default: // the next write does it
	}
}

// Reset empties the file and waits until it is done.
func (f *File) Reset() error {
	done := make(chan error, 1)
	f.writes <- write{generation: f.generation.Add(1), done: done}
	return <-done
}

// Close ends writing.
func (f *File) Close() error {
	close(f.writes)
	f.ended.Wait()
	return f.file.Close()
}
