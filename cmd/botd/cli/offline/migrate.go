package offline

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/reconcile/journal"
)

// NewMigrate returns the command botd migrate.
func NewMigrate() *cobra.Command {
	var from journalFlags
	var dry bool
	command := &cobra.Command{
		Use: "migrate", Short: "migrate the journal to this version's schema, after a backup", Args: cobra.NoArgs,
		Long: `Migrates a journal that an older botd wrote to this version's schema: forward only, and
atomically. Records and their hash chain stay as they are, and new ones follow them; derived data
is rebuilt, and everything is verified afterwards. A backup is made next to the journal first.
botd run does the same automatically; this command does it without running.

--dry-run tries it on a copy and changes nothing. A journal that a newer botd wrote is
refused (exit code 78); one that is in use is left alone (75).`,
		Example: "  botd migrate --dry-run\n  botd migrate -c /etc/botd",
		RunE: func(command *cobra.Command, _ []string) error {
			path, key, err := from.find(command.Context())
			if err != nil {
				return err
			}
			done, err := journal.Migrate(command.Context(), path, key, dry)
			if err != nil {
				return err
			}
			return shell.Print(command, done, func(w io.Writer) { migrateText(w, &done) })
		},
	}
	from.add(command)
	shell.DryRunFlag(command, &dry, "try it on a copy; change nothing")
	shell.OutputFlag(command)
	return command
}

func migrateText(w io.Writer, m *journal.Migration) {
	switch {
	case m.From == m.To:
		fmt.Fprintf(w, "%s already has this version's schema, %d: nothing to do\n", m.Journal, m.To)
	case m.DryRun:
		fmt.Fprintf(w, "%s would be migrated from schema %d to %d; tried on a copy, nothing was changed\n", m.Journal, m.From, m.To)
	default:
		fmt.Fprintf(w, "%s was migrated from schema %d to %d\nbackup    %s\n", m.Journal, m.From, m.To, m.Backup)
	}
	fmt.Fprintf(w, "verified  %d records, %d ledger postings, %d derived rows\n", m.Report.Records, m.Report.Postings, m.Report.Rows)
}
