package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"botd/internal/failure"
	"botd/reconcile/record"
)

// Migration is the output of botd migrate.
type Migration struct {
	Schema  int    `json:"schema"`
	DryRun  bool   `json:"dry_run"`
	Journal string `json:"journal"`
	From    int    `json:"from"` // the journal's schema
	To      int    `json:"to"`   // this botd's
	Backup  string `json:"backup,omitempty"`
	Report  Report `json:"report"` // of the journal after the migration, real or tried
}

// Migrate updates a journal, or tries the update on a copy.
func Migrate(ctx context.Context, path string, key *Key, dry bool) (done Migration, err error) {
	done = Migration{Schema: 1, DryRun: dry, Journal: path, To: NewestSchema}
	store, err := ReadKeyed(ctx, path, key)
	if err != nil {
		return done, Failure(err)
	}
	done.From = store.Schema()
	done.To = max(done.To, done.From) // with segments
	binding, err := store.Binding(ctx)
	if err != nil {
		return done, errors.Join(err, store.Close())
	}
	if dry && done.From != done.To {
		var directory string
		if directory, err = os.MkdirTemp("", "botd-migrate-"); err != nil {
			return done, errors.Join(failure.Wrap(failure.IO, err), store.Close())
		}
		defer func() { err = errors.Join(err, os.RemoveAll(directory)) }()
		path = filepath.Join(directory, FileName)
		if _, err := store.copyTo(ctx, path); err != nil {
			return done, errors.Join(Failure(err), store.Close())
		}
	}
	if err := store.Close(); err != nil {
		return done, failure.Wrap(failure.IO, err)
	}
	if !dry {
		if done.Backup, err = BackupOlder(ctx, path, key); err != nil {
			return done, err
		}
	}
	if done.From != done.To {
		opened, err := Open(ctx, path, binding, Options{Reserve: -1, Key: key})
		if err != nil {
			return done, Failure(err)
		}
		if err := opened.Close(); err != nil {
			return done, failure.Wrap(failure.IO, err)
		}
	}
	checked, err := CheckBackup(ctx, path, key)
	if err != nil {
		return done, Failure(err)
	}
	done.Report = checked.Report
	return done, nil
}

// BackupOlder copies a journal with an older schema or format to a file next to it. Once this botd has
// written the journal, the older version refuses it, so that a downgrade needs the copy. BackupOlder
// returns the copy's name; empty if no copy is needed, or if opening the journal will fail anyway.
func BackupOlder(ctx context.Context, path string, key *Key) (name string, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	store, err := ReadKeyed(ctx, path, key)
	if err != nil {
		return "", nil // opening it for writing reports the reason
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	newest, err := store.Newest(ctx)
	if err != nil || newest.Records > 0 && keyed(newest.Hash) != (key != nil) {
		return "", nil // opening it for writing reports this reason too
	}
	what := fmt.Sprintf("schema%d", store.Schema())
	if store.Schema() >= NewestSchema {
		if store.Format().Epoch == 0 || store.Format().Epoch >= record.FormatEpoch {
			return "", nil
		}
		what = fmt.Sprintf("format%d", store.Format().Epoch)
	}
	name = fmt.Sprintf("%s.%s-%s", path, what, time.Now().UTC().Format(stamp))
	if _, err := store.Backup(ctx, name); err != nil {
		return "", failure.New(
			failure.IO,
			"make room, or fix the problems that botd journal verify reports; nothing was changed",
			"back up the journal before it is brought up to date: %w",
			err,
		)
	}
	return name, nil
}
