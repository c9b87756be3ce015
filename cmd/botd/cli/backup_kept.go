package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"botd/internal/disk"
	"botd/reconcile/journal"
	"botd/runtime/api"
)

// backupFolder is where the daemon puts the backups it is asked for, beside the journal.
const backupFolder = "backups"

// maxBackups is how many of them are kept: each is as large as the journal.
const maxBackups = 7

// backupStamp names a backup by when it was made, so that names sort by age.
const backupStamp = "20060102T150405Z"

// backups makes backups for whoever asks the daemon. A person's own, by botd backup,
// are wherever he puts them, and are never taken away.
type backups struct {
	directory string // of the journal
	prefix    string // of the names: mode and instance
}

// Plan says what a backup would do.
func (b *backups) Plan() ([]string, error) {
	info, err := os.Stat(filepath.Join(b.directory, journal.FileName))
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(b.directory, backupFolder)
	if free, known := disk.Free(b.directory); known && free-info.Size() < disk.MinFree {
		return nil, fmt.Errorf("a copy of the journal (%d MiB) would leave less than %d MiB free in %s", info.Size()>>20, disk.MinFree>>20, b.directory)
	}
	kept, err := b.kept()
	if err != nil {
		return nil, err
	}
	lines := []string{fmt.Sprintf("copy the journal (%d KiB) into %s, and verify the copy as a whole", (info.Size()+1023)>>10, folder)}
	for _, name := range kept[:max(0, len(kept)-maxBackups+1)] {
		lines = append(lines, fmt.Sprintf("delete %s: the newest %d are kept there", name, maxBackups))
	}
	if last := lastBackup(b.directory); !last.IsZero() {
		lines = append(lines, "the last backup was made "+last.UTC().Format(time.DateTime+" UTC"))
	} else {
		lines = append(lines, "none was made before")
	}
	return lines, nil
}

// Make makes one.
func (b *backups) Make(ctx context.Context) (out api.Backup, err error) {
	folder := filepath.Join(b.directory, backupFolder)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return out, err
	}
	store, err := journal.Read(ctx, filepath.Join(b.directory, journal.FileName))
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	now := time.Now().UTC()
	made, err := store.Backup(ctx, filepath.Join(folder, b.prefix+now.Format(backupStamp)+".db"))
	if err != nil {
		return out, err
	}
	kept, err := b.kept()
	for _, name := range kept[:max(0, len(kept)-maxBackups)] {
		err = errors.Join(err, os.Remove(filepath.Join(folder, name)))
	}
	err = errors.Join(err, mark(b.directory, &backupMade{1, now, made}))
	return api.Backup{At: now, File: made.File, Bytes: made.Bytes, SHA256: made.SHA256, Records: made.Records, Hash: made.Hash}, err
}

// kept are the names of those that are there, oldest first. Other files are nobody's.
func (b *backups) kept() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(b.directory, backupFolder))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, entry := range entries {
		stamp, ours := strings.CutPrefix(entry.Name(), b.prefix)
		stamp, whole := strings.CutSuffix(stamp, ".db")
		if _, wrong := time.Parse(backupStamp, stamp); ours && whole && wrong == nil && entry.Type().IsRegular() {
			names = append(names, entry.Name())
		}
	}
	slices.Sort(names)
	return names, err
}
