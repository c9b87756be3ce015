// Package backups makes the backups requested of a running daemon, and retains the newest.
package backups

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"botd/internal/disk"
	"botd/internal/privatefile"
	"botd/reconcile/journal"
	"botd/runtime/api"
)

// backupMark is the file next to the journal that records the last backup.
const backupMark = "backup.json"

// Made is the output of botd backup, and the content of the mark.
type Made struct {
	Schema int       `json:"schema"`
	At     time.Time `json:"at"`
	journal.Backup
}

// Mark records a backup next to its journal, for the daemon's metrics.
func Mark(directory string, made *Made) error {
	text, err := json.Marshal(made)
	if err != nil {
		return err
	}
	path := filepath.Join(directory, backupMark)
	return privatefile.Write(path, append(text, '\n'))
}

// Last returns the time in a mark; zero when there is none.
func Last(directory string) time.Time {
	var made Made
	text, err := os.ReadFile(filepath.Join(directory, backupMark))
	if err != nil || json.Unmarshal(text, &made) != nil {
		return time.Time{}
	}
	return made.At
}

// Folder is the directory of the daemon's backups, next to the journal.
const Folder = "backups"

// maxBackups bounds the stored backups: each is as large as the journal.
const maxBackups = 7

// stamp names a backup by its time, so that names sort by age.
const stamp = "20060102T150405Z"

// Path returns the path of a backup in a folder: its name is the prefix and the time. If there is one of that second, the name has the next free second.
func Path(folder, prefix string, at time.Time) string {
	for ; ; at = at.Add(time.Second) {
		path := filepath.Join(folder, prefix+at.UTC().Format(stamp)+".db")
		_, err := os.Lstat(path)
		_, account := os.Lstat(path + "." + journal.AccountFile)
		if err != nil && account != nil {
			return path
		}
	}
}

// Backups makes backups on request to the daemon. Backups by botd backup are at the path that the
// user chose, and are never deleted.
type Backups struct {
	Directory string // of the journal
	Prefix    string // of the names: mode and instance
	Key       *journal.Key
}

// Plan lists the steps of a backup.
func (b *Backups) Plan() ([]string, error) {
	info, err := os.Stat(filepath.Join(b.Directory, journal.FileName))
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(b.Directory, Folder)
	if free, known := disk.Free(b.Directory); known && free-info.Size() < disk.MinFree {
		return nil, fmt.Errorf("a copy of the journal (%d MiB) would leave less than %d MiB free in %s", info.Size()>>20, disk.MinFree>>20, b.Directory)
	}
	stored, err := b.stored()
	if err != nil {
		return nil, err
	}
	lines := []string{fmt.Sprintf("copy the journal (%d KiB) to %s, and verify the copy", (info.Size()+1023)>>10, folder)}
	for _, name := range stored[:max(0, len(stored)-maxBackups+1)] {
		lines = append(lines, fmt.Sprintf("delete %s: the newest %d stay there", name, maxBackups))
	}
	if last := Last(b.Directory); !last.IsZero() {
		lines = append(lines, "the last backup was made "+last.UTC().Format(time.DateTime+" UTC"))
	} else {
		lines = append(lines, "none was made before")
	}
	return lines, nil
}

// Make makes a backup.
func (b *Backups) Make(ctx context.Context) (out api.Backup, err error) {
	folder := filepath.Join(b.Directory, Folder)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return out, err
	}
	store, err := journal.ReadKeyed(ctx, filepath.Join(b.Directory, journal.FileName), b.Key)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	now := time.Now().UTC()
	made, err := store.Backup(ctx, Path(folder, b.Prefix, now))
	if err != nil {
		return out, err
	}
	stored, err := b.stored()
	// A clock that was fast leaves later names; the new copy is kept nevertheless.
	stored = slices.DeleteFunc(stored, func(name string) bool { return name == filepath.Base(made.File) })
	for _, name := range stored[:max(0, len(stored)-maxBackups+1)] {
		err = errors.Join(err, os.Remove(filepath.Join(folder, name)))
		if failed := os.Remove(filepath.Join(folder, name+"."+journal.AccountFile)); !errors.Is(failed, os.ErrNotExist) {
			err = errors.Join(err, failed)
		}
	}
	err = errors.Join(err, Mark(b.Directory, &Made{1, now, made}))
	return api.Backup{At: now, File: made.File, Bytes: made.Bytes, SHA256: made.SHA256, Records: made.Records, Hash: made.Hash}, err
}

// stored returns the names of the existing backups, oldest first. Other files are ignored.
func (b *Backups) stored() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(b.Directory, Folder))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, entry := range entries {
		at, ours := strings.CutPrefix(entry.Name(), b.Prefix)
		at, whole := strings.CutSuffix(at, ".db")
		if _, wrong := time.Parse(stamp, at); ours && whole && wrong == nil && entry.Type().IsRegular() {
			names = append(names, entry.Name())
		}
	}
	return names, err // os.ReadDir sorts them
}
