package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
	"botd/reconcile/journal"
)

// migrated is what botd migrate prints.
type migrated struct {
	Schema  int            `json:"schema"`
	DryRun  bool           `json:"dry_run"`
	Journal string         `json:"journal"`
	From    int            `json:"from"` // the journal's schema
	To      int            `json:"to"`   // this botd's
	Backup  string         `json:"backup,omitempty"`
	Report  journal.Report `json:"report"` // of the journal as it is, or would be, after
}

func newMigrate() *cobra.Command {
	var from journalFlags
	var output string
	var dry bool
	command := &cobra.Command{
		Use: "migrate", Short: "bring the journal to this version's schema, with a backup first", Args: cobra.NoArgs,
		Long: `Brings a journal that an older botd wrote to the schema of this one: forward only, all of
it or nothing. Records and their chain of hashes stay as they are and new ones follow
them; what is derived from them is made anew, and everything is verified after. A backup is made beside the journal first. botd run does the
same by itself; this does it without running.

--dry-run tries it on a copy and changes nothing. A journal that a newer botd wrote is
refused (exit code 78); one that is in use is left alone (75).`,
		Example: "  botd migrate --dry-run\n  botd migrate -c /etc/botd",
		RunE: func(command *cobra.Command, _ []string) error {
			path, err := from.path()
			if err != nil {
				return err
			}
			done, err := migrate(command.Context(), path, dry)
			if err != nil {
				return err
			}
			return shell.Print(command.OutOrStdout(), output, done, func(w io.Writer) { migrateText(w, &done) })
		},
	}
	from.add(command)
	shell.DryRunFlag(command, &dry, "try it on a copy; change nothing")
	shell.OutputFlag(command, &output)
	return command
}

// migrate brings a journal up to date, or tries it on a copy.
func migrate(ctx context.Context, path string, dry bool) (done migrated, err error) {
	done = migrated{Schema: 1, DryRun: dry, Journal: path, To: journal.NewestSchema}
	store, err := journal.Read(ctx, path)
	if err != nil {
		return done, journal.Failure(err)
	}
	done.From = store.Schema()
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
		path = filepath.Join(directory, journal.FileName)
		if _, err := store.Backup(ctx, path); err != nil {
			return done, errors.Join(journal.Failure(err), store.Close())
		}
	}
	if err := store.Close(); err != nil {
		return done, failure.Wrap(failure.IO, err)
	}
	if !dry {
		if done.Backup, err = backupOlder(ctx, path); err != nil {
			return done, err
		}
	}
	if done.From != done.To {
		opened, err := journal.OpenWith(ctx, path, binding, journal.Options{Reserve: -1})
		if err != nil {
			return done, journal.Failure(err)
		}
		if err := opened.Close(); err != nil {
			return done, failure.Wrap(failure.IO, err)
		}
	}
	checked, err := journal.CheckBackup(ctx, path)
	if err != nil {
		return done, journal.Failure(err)
	}
	done.Report = checked.Report
	return done, nil
}

// backupOlder copies a journal of an older schema beside itself before it is
// brought up to date, and returns the copy's name; none when there is nothing to
// bring up to date.
func backupOlder(ctx context.Context, path string) (name string, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	store, err := journal.Read(ctx, path)
	if err != nil {
		return "", nil // opening it for writing says why
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if store.Schema() >= journal.NewestSchema {
		return "", nil
	}
	name = fmt.Sprintf("%s.schema%d-%s", path, store.Schema(), time.Now().UTC().Format("20060102T150405Z"))
	if _, err := store.Backup(ctx, name); err != nil {
		return "", failure.New(failure.IO, "make room, or mend what botd journal verify says; nothing was changed", "back up the journal before it is brought up to date: %w", err)
	}
	return name, nil
}

func migrateText(w io.Writer, m *migrated) {
	switch {
	case m.From == m.To:
		fmt.Fprintf(w, "%s has schema %d, this botd's: nothing to do\n", m.Journal, m.To)
	case m.DryRun:
		fmt.Fprintf(w, "%s would go from schema %d to %d; tried on a copy, nothing was changed\n", m.Journal, m.From, m.To)
	default:
		fmt.Fprintf(w, "%s went from schema %d to %d\nbackup    %s\n", m.Journal, m.From, m.To, m.Backup)
	}
	fmt.Fprintf(w, "verified  %d records, %d ledger entries, %d derived rows\n", m.Report.Records, m.Report.Entries, m.Report.Rows)
}
