package command

import (
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"botd/runtime/api"
)

func newConfigReload() *cobra.Command {
	var flags askFlags
	var dry bool
	command := &cobra.Command{
		Use: "reload", Short: "have the running daemon read its files anew, all of them or nothing", Args: cobra.NoArgs,
		Long: `Has the running daemon read its configuration anew, as a SIGHUP does, and says what changed,
value by value. What has a mistake in it, or takes a restart, changes nothing (exit code 1).
With --dry-run it says so beforehand. A daemon also sees by itself that a file changed.`,
		Example: "  botd config reload --dry-run\n  botd config reload",
		RunE: func(command *cobra.Command, _ []string) error {
			d, err := flags.daemon(command.Context())
			if err != nil {
				return err
			}
			path := "/api/v1/config/reload"
			if dry {
				path += "?dry_run=true"
			}
			change, raw, err := ask[api.Change](command.Context(), d, http.MethodPost, path, nil)
			if err != nil {
				return err
			}
			return print(command.OutOrStdout(), flags.output, raw, func(w io.Writer) {
				for _, line := range change.Does {
					fmt.Fprintln(w, line)
				}
				if dry {
					fmt.Fprintln(w, "nothing was done (--dry-run)")
				}
			})
		},
	}
	flags.add(command)
	command.Flags().BoolVar(&dry, "dry-run", false, "say what would change, or what is wrong with it, and do nothing")
	outputFlag(command, &flags.output)
	return command
}
