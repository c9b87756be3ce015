package daemon

import (
	"net/http"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
)

// NewConfigReload returns the command botd config reload.
func NewConfigReload() *cobra.Command {
	var flags connect.Flags
	var dry bool
	command := &cobra.Command{
		Use: "reload", Short: "make the running daemon reload its files, all of them or none", Args: cobra.NoArgs,
		Long: `Makes the running daemon read its configuration again, as SIGHUP does, and lists every changed
value. A configuration with an error, or one that needs a restart, changes nothing (exit code 1);
--dry-run previews the result. The daemon also reloads changed files automatically.`,
		Example: "  botd config reload --dry-run\n  botd config reload",
		RunE: func(command *cobra.Command, _ []string) error {
			return flags.Change(command, http.MethodPost, "/api/v1/config/reload", dry)
		},
	}
	flags.Add(command)
	shell.DryRunFlag(command, &dry, "show what would change, or the errors, and do nothing")
	return command
}
