package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"botd/internal/failure"
	"botd/runtime/api/client"
	"botd/runtime/rehearsal"
	"botd/runtime/view"
)

// outlooks asks the running daemon, or where none runs rehearses a start: the
// journal is read, the venue looked at, and nothing is written or sent.
func outlooks(command *cobra.Command, flags *askFlags) ([]view.TickPreview, error) {
	d, err := flags.daemon(command.Context())
	if err == nil {
		all, _, err := client.Ask[client.Page[view.TickPreview]](command.Context(), d, "GET", "/api/v1/plan", nil)
		return all.Items, err
	}
	if failure.CodeOf(err) != failure.Unavailable {
		return nil, err
	}
	config, err := loadGood(flags.directory)
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(command.ErrOrStderr(), "no daemon runs: this is what a start would find")
	return rehearsal.Run(command.Context(), config)
}
