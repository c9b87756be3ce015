package daemon

import (
	"fmt"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/internal/failure"
	"botd/runtime/api/client"
	"botd/runtime/rehearsal"
	"botd/runtime/view"
)

// previewTicks asks the running daemon, or where none runs rehearses a start: the
// journal is read, the venue read, and nothing is written or sent.
func previewTicks(command *cobra.Command, flags *connect.Flags) ([]view.TickPreview, error) {
	d, err := flags.Daemon(command.Context())
	if err == nil {
		all, _, err := client.Ask[client.Page[view.TickPreview]](command.Context(), d, "GET", "/api/v1/plan", nil)
		return all.Items, err
	}
	if failure.CodeOf(err) != failure.Unavailable {
		return nil, err
	}
	config, err := connect.LoadValid(command.Context(), flags.Directory)
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(command.ErrOrStderr(), "no daemon runs: this is what a start would find")
	return rehearsal.Run(command.Context(), config)
}
