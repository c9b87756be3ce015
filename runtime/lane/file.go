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

	"botd/internal/private"
	"botd/reconcile/record"
)

// FileName is the lane's file in the directory of a mode.
const FileName = "killswitch.log"

// fileSize is enough for each of the lane's ids with its outcome. It is written in full when
// the file is made: on a full disk what it holds can be overwritten.
const fileSize = 1 << 20

// File holds what the lane did until the journal does: a record a line, zeros after them. Where the
// journal has a key, a code follows each record, of the line and of the code before it. One
// goroutine writes, so that whoever waits for a slow disk waits for as long as they choose.
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

// OpenFile opens the file, or makes it with its room, and returns the records in it. A line without the
// code that the key makes is refused: its record would become one of the journal.
func OpenFile(path string, code func(text []byte) string) (*File, []record.Record, error) {
	file, err := private.Open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, nil, err
	}
	text := make([]byte, fileSize)
	n, err := file.ReadAt(text, 0)
	if n < fileSize { // new, or cut: its room is taken again
		if _, err = file.WriteAt(text[n:], int64(n)); err == nil {
			err = file.Sync()
		}
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("take the room of %s: %w", path, err), file.Close())
	}
	records, used, last, err := parse(text, code)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("read %s: %w", path, err), file.Close())
	}
	f := &File{file: file, code: code, writes: make(chan write, 256)}
	f.ended.Go(func() { f.run(int64(used), last) })
	return f, records, nil
}

// parse reads the records, and the last code. The last line may be torn: its order's id is in the record
// of the start.
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

// codeMark stands between a record, in which JSON allows no tab, and its code.
const codeMark = "\t"

// sealed are lines as they are written, and the code of the last one.
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

// run writes until the file is closed. What was started over since it was asked for is dropped.
func (f *File) run(at int64, last string) {
	generation := int64(0) // of the file as it was opened
	for w := range f.writes {
		err := errStale
		if now := f.generation.Load(); now != generation {
			if err = f.put(make([]byte, at), 0); err == nil {
				at, generation, last = 0, now, ""
			}
		}
		if w.generation == generation {
			text, newest := sealed(w.lines, last, f.code)
			if err = f.put(text, at); err == nil {
				at, last = at+int64(len(text)), newest
			}
		}
		if w.done != nil {
			w.done <- err
		}
	}
}

var errStale, errFull = errors.New("the file was started over since"), errors.New("the lane's file is full")

// put writes a text into the file's room, durably.
func (f *File) put(text []byte, at int64) error {
	if at+int64(len(text)) > fileSize {
		return errFull
	}
	if _, err := f.file.WriteAt(text, at); err != nil {
		return err
	}
	return f.file.Sync()
}

// write adds records. It reports whether they are durable within a time; without one it does
// not wait.
func (f *File) write(records []record.Record, within time.Duration) bool {
	var lines [][]byte
	for i := range records {
		line, err := json.Marshal(records[i])
		if err != nil {
			panic(err) // a record that is no JSON
		}
		lines = append(lines, line)
	}
	done := make(chan error, 1)
	select {
	case f.writes <- write{lines, f.generation.Load(), done}:
	default:
		return false // a disk that hangs
	}
	if within == 0 {
		return false
	}
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case err := <-done:
		return err == nil
	case <-timer.C:
		return false
	}
}

// reset empties the file, when it can be written: the journal has everything.
func (f *File) reset() {
	generation := f.generation.Add(1)
	select {
	case f.writes <- write{generation: generation}:
	default: // the next write does it
	}
}

// Reset empties the file and waits for it.
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
