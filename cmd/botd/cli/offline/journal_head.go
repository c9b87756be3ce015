package offline

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
	"botd/reconcile/journal"
)

// journalHead is what botd journal head prints.
type journalHead struct {
	Schema int    `json:"schema"`
	File   string `json:"file"`
	journal.Head
}

func newHead() *cobra.Command {
	var (
		from   journalFlags
		output string
	)
	command := &cobra.Command{
		Use: "head", Short: "print the hash of the newest record, to note it elsewhere", Args: cobra.NoArgs,
		Long: `Prints how many records the journal has, the hash of the newest one, and its time.

Note the hash where nobody who can change the journal can change it: another machine, a
ledger, paper. botd journal verify --expect HASH then proves that the chain still passes
through it, so that nothing up to there was changed. The daily notification has it too.`,
		Example: "  botd journal head\n  botd journal head -o json >> /mnt/elsewhere/heads.jsonl",
		RunE: func(command *cobra.Command, _ []string) error {
			store, path, err := from.open(command.Context())
			if err != nil {
				return err
			}
			defer store.Close()
			newest, err := store.Newest(command.Context())
			if err != nil {
				return failure.Wrap(failure.IO, err)
			}
			return shell.Print(command.OutOrStdout(), output, journalHead{1, path, newest}, func(w io.Writer) {
				fmt.Fprintf(w, "%s  record %d of %s\n", newest.Hash, newest.Records, newest.At.Format(time.RFC3339))
			})
		},
	}
	from.add(command)
	shell.OutputFlag(command, &output)
	return command
}
