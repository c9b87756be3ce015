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

// previewTicks requests the previews from the running daemon. Without one it rehearses a start: it reads the
// journal and the venue, and writes and sends nothing.
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
