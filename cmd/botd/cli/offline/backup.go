package offline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/internal/failure"
	"botd/internal/privatefile"
	"botd/reconcile"
	"botd/reconcile/journal"
	"botd/runtime/api"
	"botd/runtime/api/client"
	"botd/runtime/backups"
)

// NewBackup returns the command botd backup.
func NewBackup() *cobra.Command {
	var (
		from journalFlags
		dry  bool
	)
	command := &cobra.Command{
		Use: "backup [FILE]", Short: "copy the journal, also while botd runs, and verify the copy", Args: cobra.MaximumNArgs(1),
		Long: `Copies a consistent state of the journal into a new file, without stopping botd or blocking its
writes. The copy is fully verified before it gets its name: the chain of records, the ledger, the
derived tables, and that it is a prefix of the journal. FILE may be a directory: then the name
consists of mode, instance and time. Without FILE the running daemon makes a backup in
data_dir/MODE/backups, which holds the newest 7.

The journal is all that botd must remember: a backup and the configuration are
sufficient to resume. The account of demo or paper is copied at the same moment, to FILE.exchange.json:
store both together. Keys and candles are not in a backup.`,
		Example: "  botd backup /backups/            # makes live-main-20270115T080000Z.db there\n  botd backup journal-copy.db -o json\n  " +
			"botd backup --dry-run            # what the daemon would do\n  botd journal verify --file journal-copy.db",
		RunE: func(command *cobra.Command, arguments []string) error {
			if len(arguments) == 0 {
				return daemonBackup(command, &connect.Flags{Directory: from.directory}, dry)
			}
			store, path, err := from.open(command.Context())
			if err != nil {
				return err
			}
			defer store.Close()
			now := time.Now().UTC()
			to, err := nameOf(command, store, arguments[0], now)
			if err != nil {
				return err
			}
			if folder := filepath.Dir(to); !isFolder(folder) {
				return failure.New(failure.IO, "create it first: mkdir -p "+folder, "there is no directory %s to put the backup in", folder)
			}
			if dry {
				fmt.Fprintf(command.OutOrStdout(), "would copy %s to %s, and verify the copy\nnothing was done (--dry-run)\n", path, to)
				return nil
			}
			made, err := store.Backup(command.Context(), to)
			if err != nil {
				return journal.Failure(err)
			}
			done := backups.Made{Schema: 1, At: now, Backup: made}
			if err := backups.Mark(filepath.Dir(path), &done); err != nil {
				fmt.Fprintf(command.ErrOrStderr(), "the backup is made, but botd_store_last_backup_timestamp_seconds was not updated: %v\n", err)
			}
			return shell.Print(command, done, func(w io.Writer) { backupText(w, "backup", &made) })
		},
	}
	from.add(command)
	shell.DryRunFlag(command, &dry, "show what it would do, and make none")
	shell.OutputFlag(command)
	return command
}

// daemonBackup has the running daemon make a backup.
func daemonBackup(command *cobra.Command, flags *connect.Flags, dry bool) error {
	d, err := flags.Daemon(command.Context())
	if err != nil {
		return err
	}
	d.Within = max(d.Within, backupWithin)
	path := "/api/v1/backup"
	if dry {
		path += "?dry_run=true"
	}
	out, raw, err := client.Ask[api.BackupAnswer](command.Context(), d, http.MethodPost, path, nil)
	if err != nil {
		return err
	}
	return shell.Print(command, raw, func(w io.Writer) {
		if b := out.Backup; b != nil {
			fmt.Fprintf(w, "ok: backup %s, %d bytes, verified: %d records\nlast hash %s\nsha256    %s\n", b.File, b.Bytes, b.Records, b.Hash, b.SHA256)
			return
		}
		for _, line := range out.Effects {
			fmt.Fprintln(w, line)
		}
		fmt.Fprintln(w, shell.NothingDone)
	})
}

// backupWithin bounds the wait for a backup that the daemon makes.
const backupWithin = 10 * time.Minute

// nameOf returns the file that a backup is written to.
func nameOf(command *cobra.Command, store *journal.Journal, given string, now time.Time) (string, error) {
	if info, err := os.Stat(given); err != nil || !info.IsDir() {
		return given, nil
	}
	binding, err := store.Binding(command.Context())
	if err != nil {
		return "", failure.Wrap(failure.IO, err)
	}
	return backups.Path(given, fmt.Sprintf("%s-%s-", binding.Mode, binding.Instance), now), nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func backupText(w io.Writer, what string, b *journal.Backup) {
	fmt.Fprintf(w, "ok: %s %s, %d bytes, verified: %d records, %d ledger postings, %d derived rows\n", what, b.File, b.Bytes, b.Records, b.Postings, b.Rows)
	if b.Account != nil {
		fmt.Fprintf(w, "with the account %s, %d bytes\n", b.Account.File, b.Account.Bytes)
	}
	fmt.Fprintf(w, "of %s, %s, instance %s\nlast hash %s\nsha256    %s\n", b.Binding.Mode, b.Binding.URL, b.Binding.Instance, b.Hash, b.SHA256)
}

// restoreDone is the output of botd restore.
type restoreDone struct {
	Schema int  `json:"schema"`
	InUse  bool `json:"in_use"` // it is the journal now; false when it was only verified
	journal.Restored
}

// NewRestore returns the command botd restore.
func NewRestore() *cobra.Command {
	var (
		directory, mode string
		verify, dry     bool
		keyFile         string
	)
	command := &cobra.Command{
		Use: "restore FILE", Short: "restore the journal from a backup", Args: cobra.ExactArgs(1),
		Long: `Verifies a backup, copies it into the data directory and verifies the copy; the journal
that was there stays next to it as journal.db.before-TIME. The account of demo and paper
(FILE.exchange.json) is restored with it. botd must not be running. With --verify the backup is
verified and nothing is changed.

A backup does not know the orders that were sent after it was made. The next start learns of them
from the exchange: client order ids are never reused, since their epoch is the time of the start;
an order of botd's that the backup does not know halts the account, a position that its fills do
not explain quarantines its symbol, and nothing is canceled or closed. Then check botd status,
and decide with botd resolve and botd rearm.`,
		Example: "  botd restore --verify /backups/live-main-20270115T080000Z.db\n  botd restore /backups/live-main-20270115T080000Z.db -c configs",
		RunE: func(command *cobra.Command, arguments []string) error {
			done := restoreDone{Schema: 1, InUse: !verify && !dry}
			_, err := os.Stat(arguments[0])
			if err != nil {
				return failure.New(failure.NoInput, "botd backup FILE makes one; a migration leaves its own next to the journal", "read the backup: %w", err)
			}
			if verify {
				done.Backup, err = verifyBackup(command.Context(), arguments[0], keyFile)
			} else {
				done.Restored, err = restore(command, directory, configs.Mode(mode), arguments[0], dry)
			}
			if err != nil {
				return journal.Failure(err)
			}
			return shell.Print(command, done, func(w io.Writer) { restoredText(w, &done) })
		},
	}
	command.Flags().StringVarP(&directory, "config", "c", "", "configuration directory")
	command.Flags().StringVar(&mode, "mode", "", "demo, paper or live (default: as configured)")
	command.Flags().StringVar(&keyFile, "key-file", "", "with --verify: the file of the key of the backup's chain (else journal_key_file in botd.yaml)")
	command.Flags().BoolVar(&verify, "verify", false, "only verify the backup; change nothing")
	shell.DryRunFlag(command, &dry, "verify the backup, and that it could be put in place now; change nothing")
	shell.OutputFlag(command)
	return command
}

// verifyBackup verifies a backup in place.
func verifyBackup(ctx context.Context, path, keyFile string) (journal.Backup, error) {
	key, err := journalKey(&configs.Config{JournalKeyFile: keyFile})
	if err != nil {
		return journal.Backup{}, err
	}
	return journal.CheckBackup(ctx, path, key)
}

// refuseIgnore rejects a journal that may miss orders under a policy that would place them again.
func refuseIgnore(config *configs.Config) error {
	if config.Foreign != reconcile.ForeignIgnore {
		return nil
	}
	return failure.New(failure.Config, "set foreign: halt in botd.yaml until the first start with it has settled",
		"with foreign: ignore, a position that the journal does not know counts as foreign, and its strategy enters again")
}

// restore puts a backup into the configured data directory.
func restore(command *cobra.Command, directory string, mode configs.Mode, backup string, dry bool) (r journal.Restored, err error) {
	config, err := connect.LoadSettings(command.Context(), directory, mode, connect.CheckHint)
	if err != nil {
		return r, err
	}
	if err := refuseIgnore(config); err != nil {
		return r, err
	}
	key, err := journalKey(config)
	if err != nil {
		return r, err
	}
	made, err := journal.CheckBackup(command.Context(), backup, key)
	if err != nil {
		return r, err
	}
	if made.Binding.Mode != string(config.Mode) || made.Binding.Instance != config.Instance {
		return r, failure.New(failure.Config, "--mode and -c select another account",
			"%s is of mode %s, instance %s; the configuration is mode %s, instance %s",
			backup, made.Binding.Mode, made.Binding.Instance, config.Mode, config.Instance)
	}
	to := filepath.Join(config.DataDir, string(config.Mode))
	if dry && !isFolder(to) {
		return journal.Restored{Backup: made}, nil
	}
	if err := privatefile.Check(config.DataDir, to); err != nil {
		return r, failure.Wrap(failure.Config, err)
	}
	if err := journal.CheckWritable(to); err != nil {
		return r, err
	}
	release, err := journal.Lock(to)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if dry {
		return journal.Restored{Backup: made}, nil
	}
	return journal.Restore(command.Context(), backup, filepath.Join(to, journal.FileName), key, time.Now())
}

func restoredText(w io.Writer, done *restoreDone) {
	if !done.InUse {
		backupText(w, "sound", &done.Backup)
		return
	}
	backupText(w, "restored", &done.Backup)
	if done.Replaced != "" {
		fmt.Fprintf(w, "the journal that was there is %s\n", done.Replaced)
	}
	if done.ReplacedAccount != "" {
		fmt.Fprintf(w, "the account that was there is %s\n", done.ReplacedAccount)
	}
	if done.Account != nil {
		fmt.Fprintln(w, "journal and account are of the same moment: the next start continues from there")
		return
	}
	fmt.Fprintln(w, "the next start learns from the exchange what was sent after the backup: check botd status then")
}
