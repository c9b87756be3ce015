package offline

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/internal/failure"
	"botd/reconcile/journal"
)

// journalHead is the output of botd journal head.
type journalHead struct {
	Schema int    `json:"schema"`
	File   string `json:"file"`
	journal.Head
}

func newHead() *cobra.Command {
	var (
		from   journalFlags
		accept bool
	)
	command := &cobra.Command{
		Use: "head", Short: "print the hash of the newest record, to note it elsewhere", Args: cobra.NoArgs,
		Long: `Prints how many records the journal has, the hash of the newest one, and its time.

Note the hash where nobody who can change the journal can change it: on another machine, or on
paper. botd journal verify --expect HASH then proves that the chain still contains it, so that
nothing before it was changed. The daily notification contains it too.

botd also notes the newest hash next to the journal (journal.db.head), and refuses to start on a
journal that does not contain it, since such a journal was truncated, rewritten, or replaced by an
older one. --accept accepts the journal as it is. Verify it first: botd then treats the missing
orders as foreign. With foreign: ignore this is refused, since botd would place them again.`,
		Example: "  botd journal head\n  botd journal head -o json >> /mnt/elsewhere/heads.jsonl\n  botd journal head --accept",
		RunE: func(command *cobra.Command, _ []string) error {
			if accept && from.file == "" {
				config, err := connect.LoadSettings(command.Context(), from.directory, configs.Mode(from.mode), connect.CheckHint)
				if err == nil {
					err = refuseIgnore(config)
				}
				if err != nil {
					return err
				}
			}
			store, path, err := from.open(command.Context())
			if err != nil {
				return err
			}
			defer store.Close()
			newest, err := store.Newest(command.Context())
			if err != nil {
				return failure.Wrap(failure.IO, err)
			}
			if accept {
				if err := journal.AcceptHead(path); err != nil {
					return failure.Wrap(failure.IO, err)
				}
			}
			return shell.Print(command, journalHead{1, path, newest}, func(w io.Writer) {
				fmt.Fprintf(w, "%s  record %d of %s\n", newest.Hash, newest.Records, newest.At.Format(time.RFC3339))
			})
		},
	}
	from.add(command)
	command.Flags().BoolVar(&accept, "accept", false, "accept the journal as it is, and discard the noted hash")
	shell.OutputFlag(command)
	return command
}
