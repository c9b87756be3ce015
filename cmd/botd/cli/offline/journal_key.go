package offline

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
	"botd/reconcile/journal"
)

func newKey() *cobra.Command {
	var (
		from   journalFlags
		expect string
	)
	command := &cobra.Command{
		Use: "key", Short: "add a key to the chain of an unkeyed journal", Args: cobra.NoArgs,
		Long: `Keys the chain of an unkeyed journal with the key of journal_key_file: it verifies the existing
records, and adds a record of the change. Later links carry a code that only the holder of the
key can make; nobody without it can change existing or later records unnoticed.

A new journal is keyed from its first record on and does not need this command. If a key is
configured, botd refuses to start on an unkeyed journal, since somebody may have planted it: if
this one was ever keyed, do not run this command, restore a backup. Records from before the key
prove only consistency; --expect compares them with a head noted earlier.

botd must not be running (75).`,
		Example: "  openssl rand -hex 32 > /etc/botd/journal-key     # umask 077; and journal_key_file: in botd.yaml\n  botd journal key\n" +
			"  botd journal key --expect 9e1b86e2aa8b9e24d2c82c6b3ffdc7b7eb5ba4c01e6ebfcaee3442ac9724ed01",
		RunE: func(command *cobra.Command, _ []string) error {
			path, key, err := from.find(command.Context())
			if err != nil {
				return err
			}
			if key == nil {
				return failure.New(failure.Config, "openssl rand -hex 32 > FILE, for botd's user alone, and journal_key_file: FILE in botd.yaml",
					"no key is configured")
			}
			release, err := journal.Lock(filepath.Dir(path))
			if err != nil {
				return failure.Wrap(failure.Temporary, err)
			}
			defer release()
			done, err := journal.BeginKey(command.Context(), path, key, expect)
			if err != nil {
				return err
			}
			return shell.Print(command, done, func(w io.Writer) {
				fmt.Fprintf(w, "ok: %s is keyed from record %d on\n%d records from before prove only consistency; the last had hash %s\nlast hash %s\n",
					done.Journal, done.From, done.Records, done.Last, done.Hash)
			})
		},
	}
	from.add(command)
	command.Flags().StringVar(&expect, "expect", "", "a hash noted before: a record with it must be there")
	shell.OutputFlag(command)
	return command
}
