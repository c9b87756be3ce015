package offline

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
	"botd/internal/plural"
	"botd/runtime/support"
)

// NewSupport returns the command botd support.
func NewSupport() *cobra.Command {
	command := supportBundle()
	command.AddCommand(shell.Alias("bundle", supportBundle()))
	return command
}

func supportBundle() *cobra.Command {
	var flags connect.Flags
	var out string
	command := &cobra.Command{
		Use: "support", Short: "create a support bundle for troubleshooting, without keys and tokens", Args: cobra.NoArgs,
		Long: `Writes a .tar.gz with the version, the findings of botd doctor, the effective configuration,
the newest records of the journal and the result of its verification; and, if botd runs, its
status, orders, intents, positions, limits, metrics, and the newest lines of its log.

Keys, secrets and tokens are removed wherever they occur, encoded forms included. Amounts, symbols
and addresses stay: review the file before you share it.`,
		Example: "  botd support\n  botd support -c /etc/botd --out fault.tar.gz && tar -tzf fault.tar.gz",
		RunE: func(command *cobra.Command, _ []string) error {
			if out == "" {
				out = "botd-support-" + time.Now().UTC().Format("20060102-150405") + ".tar.gz"
			}
			where, _ := connect.Paths(flags.Directory) // the bundle contains the error of an unreadable configuration
			b := support.Collect(command.Context(), patientOf(command.Context(), &flags), where.DataDir)
			if err := b.Write(out); err != nil {
				return failure.Wrap(failure.IO, err)
			}
			for _, gap := range b.Gaps {
				fmt.Fprintln(command.ErrOrStderr(), "not there:", gap)
			}
			fmt.Fprintf(command.ErrOrStderr(), "%s; %s removed\n", plural.Of(len(b.Files), "file"), plural.Of(b.Redacted, "secret"))
			fmt.Fprintln(command.OutOrStdout(), out)
			return nil
		},
	}
	flags.AddDaemon(command)
	command.Flags().StringVar(&out, "out", "", "file to write (default botd-support-TIME.tar.gz); it must not exist yet")
	return command
}
