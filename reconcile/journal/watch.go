package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"botd/internal/private"
	"botd/reconcile/record"
)

// watch compares the journal's files with what they were (exactly-once.md, case 48): a
// file that is unlinked, replaced or cut under a process takes its writes all the same,
// and the next start finds none of them. It never opens the files: closing one would
// drop SQLite's locks on it.
type watch struct {
	files [2]watched // the journal, and SQLite's log
	lost  string     // what is wrong, from when it was found on; empty for nothing
	cut   bool       // the journal's own pages are missing: SQLite cannot append any more
}

// watched is one file as it was last seen.
type watched struct {
	path string
	seen fs.FileInfo // nil before it was
}

func newWatch(path string) watch {
	return watch{files: [2]watched{{path: path}, {path: path + "-wal"}}}
}

// poll compares once more, and returns what is wrong. A fault stays: what was written
// meanwhile is in no file that the next start reads.
func (w *watch) poll() string {
	for i := range w.files {
		if w.lost != "" {
			return w.lost
		}
		w.files[i].poll(w)
	}
	return w.lost
}

func (f *watched) poll(w *watch) {
	now, err := os.Lstat(f.path)
	switch {
	case err != nil && f.seen == nil && errors.Is(err, fs.ErrNotExist): // SQLite makes its log with the first record
	case errors.Is(err, fs.ErrNotExist):
		w.lost = fmt.Sprintf("%s is gone: it was removed or moved while botd writes it", f.path)
	case err != nil:
		w.lost = fmt.Sprintf("%s cannot be checked: %v", f.path, err)
	case f.seen == nil:
		f.seen = now
	case !os.SameFile(f.seen, now):
		w.lost = fmt.Sprintf("%s is another file than the one botd writes: it was replaced", f.path)
	case now.Size() < f.seen.Size():
		w.lost, w.cut = fmt.Sprintf("%s was cut from %d to %d bytes while botd writes it", f.path, f.seen.Size(), now.Size()), true
	default:
		f.seen = now
	}
}

// Watch returns what is wrong with the journal's files; empty for nothing.
func (j *Journal) Watch() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.watch.poll()
}

// divert takes records that the journal's files cannot take any more: exits and the
// kill switch go on without them, and nothing opens. They are appended, one a line, to a
// file beside the journal where that can be written.
func (j *Journal) divert(records []record.Record) error {
	var text strings.Builder
	for i := range records {
		line, err := records[i].MarshalJSON()
		if err != nil {
			return err
		}
		text.Write(append(line, '\n'))
	}
	if err := os.MkdirAll(filepath.Dir(j.path), 0o700); err != nil {
		return nil // there is no place for them
	}
	file, err := private.Open(j.path+".diverted", os.O_CREATE|os.O_APPEND|os.O_WRONLY)
	if err != nil {
		return nil
	}
	_, _ = file.WriteString(text.String())
	_ = errors.Join(file.Sync(), file.Close())
	return nil
}

// rescued is what follows a journal's path in the names of copies that rescue makes.
const rescued = ".rescued-"

// Rescued returns the newest copy that a run saved of a journal which was lost under it, where no journal is there again; empty for
// none. A new journal would know of no halt, no limit that latched, and no order.
func Rescued(path string) string {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return "" // there is no directory yet, or the start will say what is wrong with it
	}
	newest := ""
	for _, file := range files { // sorted, and named by their time
		if strings.HasPrefix(file.Name(), filepath.Base(path)+rescued) {
			newest = filepath.Join(filepath.Dir(path), file.Name())
		}
	}
	return newest
}

// rescue saves what the open files still hold of a journal that is gone, at the end
// of the process, and returns the copy's name.
func (j *Journal) rescue() (name string, err error) {
	if err := os.MkdirAll(filepath.Dir(j.path), 0o700); err != nil {
		return "", err
	}
	name = j.path + rescued + time.Now().UTC().Format("20060102T150405Z")
	if _, err := j.writer.ExecContext(context.Background(), "VACUUM INTO ?", name); err != nil {
		return "", errors.Join(err, discard(name))
	}
	return name, nil
}
