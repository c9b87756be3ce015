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

	"botd/internal/privatefile"
	"botd/reconcile/record"
)

// watch compares the journal's files with their earlier state (exactly-once.md, case 48): a file
// that is unlinked, replaced or truncated under a process still accepts its writes, but the next
// start finds none of them. It never opens the files, because closing one would release SQLite's
// locks on it.
type watch struct {
	files     [2]watched // the journal, and SQLite's log
	lost      string     // the fault, once found; empty for none
	truncated bool       // a file was truncated: SQLite can no longer append
}

// watched is the last known state of one file.
type watched struct {
	path string
	seen fs.FileInfo // nil before the first read
}

func newWatch(path string) watch {
	return watch{files: [2]watched{{path: path}, {path: path + "-wal"}}}
}

// poll compares again and returns the fault; empty for none. A fault is permanent: records written
// meanwhile are in no file that the next start reads.
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
	case err != nil && f.seen == nil && errors.Is(err, fs.ErrNotExist): // SQLite creates its log with the first record
	case errors.Is(err, fs.ErrNotExist):
		w.lost = fmt.Sprintf("%s does not exist: it was removed or moved while botd was writing it", f.path)
	case err != nil:
		w.lost = fmt.Sprintf("%s cannot be checked: %v", f.path, err)
	case f.seen == nil:
		f.seen = now
	case !os.SameFile(f.seen, now):
		w.lost = fmt.Sprintf("%s is not the file that botd writes: it was replaced", f.path)
	case now.Size() < f.seen.Size():
		w.lost, w.truncated = fmt.Sprintf("%s was truncated from %d to %d bytes while botd was writing it", f.path, f.seen.Size(), now.Size()), true
	default:
		f.seen = now
	}
}

// Watch returns the fault of the journal's files; empty for none.
func (j *Journal) Watch() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.watch.poll()
}

// divert accepts records that can no longer be written to the journal's files, so that exits and the kill
// switch continue while nothing opens. It appends the records, one per line, to a file next to the journal;
// if that fails, they are lost, and divert returns nil all the same.
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
		return nil // there is nowhere to store them
	}
	file, err := privatefile.Open(j.path+diverted, os.O_CREATE|os.O_APPEND|os.O_WRONLY)
	if err != nil {
		return nil
	}
	_, _ = file.WriteString(text.String())
	_ = errors.Join(file.Sync(), file.Close())
	return nil
}

// Suffixes of the files that a run leaves next to a journal that it lost: copies made by rescue, and the
// records of divert.
const (
	rescued  = ".rescued-"
	diverted = ".diverted"
)

// Leftover returns the file with the records of a journal that was lost during a run, the newest copy if
// there are several; empty for none. Restore sets these files aside. Without them a start would know
// nothing of the halts, latched limits and orders recorded after the loss, even if a journal is in place.
func Leftover(path string) string {
	all := leftovers(path)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

// RestoreHint names the file that replaces a lost journal: a copy, or where there is none, a backup.
func RestoreHint(leftover string) string {
	if strings.HasSuffix(leftover, diverted) {
		return "botd restore puts the newest backup back"
	}
	return "botd restore " + leftover + " puts it back"
}

// leftovers returns these files: the diverted records, then the copies, the newest last.
func leftovers(path string) (all []string) {
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil // there is no directory yet, or the start will report its fault
	}
	for _, file := range files { // sorted, and copies are named by their time
		rest, own := strings.CutPrefix(file.Name(), filepath.Base(path))
		if own && (rest == diverted || strings.HasPrefix(rest, rescued)) {
			all = append(all, filepath.Join(filepath.Dir(path), file.Name()))
		}
	}
	return all
}

// setLeftoversAside renames these files once a backup has been restored.
func setLeftoversAside(path string, now time.Time) (err error) {
	for _, file := range leftovers(path) {
		err = errors.Join(err, os.Rename(file, path+".before-"+now.UTC().Format(stamp)+strings.TrimPrefix(file, path)))
	}
	return err
}

// rescue copies the content of a lost journal, whose files are still open, and returns the copy's name.
func (j *Journal) rescue() (name string, err error) {
	if err := os.MkdirAll(filepath.Dir(j.path), 0o700); err != nil {
		return "", err
	}
	name = j.path + rescued + time.Now().UTC().Format(stamp)
	if _, err := j.writer.ExecContext(context.Background(), "VACUUM INTO ?", name); err != nil {
		return "", errors.Join(err, discard(name))
	}
	return name, nil
}
