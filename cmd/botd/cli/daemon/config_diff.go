package daemon

import (
	"fmt"
	"io"
	"net/http"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/internal/failure"
	"botd/runtime/api"
	"botd/runtime/api/client"
)

// differenceJSON is one value that differs.
type differenceJSON struct {
	Key     string `json:"key"`
	Running string `json:"running"`
	Files   string `json:"files"`
}

// NewConfigDiff returns the command botd config diff.
func NewConfigDiff() *cobra.Command {
	var flags connect.Flags
	command := &cobra.Command{
		Use: "diff", Short: "differences between the files and the running daemon", Args: cobra.NoArgs,
		Long:    "Compares the configuration of the running daemon with the files, value by value. Exit\ncode 1 when they differ.",
		Example: "  botd config diff -c configs",
		RunE: func(command *cobra.Command, _ []string) error {
			config, err := connect.LoadValid(command.Context(), flags.Directory)
			if err != nil {
				return err
			}
			d, err := flags.Daemon(command.Context())
			if err != nil {
				return err
			}
			running, _, err := client.Ask[api.Configuration](command.Context(), d, http.MethodGet, "/api/v1/config", nil)
			if err != nil {
				return err
			}
			changes, err := configs.Differences(running.YAML, config.Effective())
			if err != nil {
				return err
			}
			rows := []differenceJSON{}
			for _, c := range changes {
				rows = append(rows, differenceJSON{c.Path, c.Was, c.Is})
			}
			err = shell.Print(command, rows, func(w io.Writer) { differenceTable(w, rows) })
			if err == nil && len(rows) > 0 {
				return failure.Quiet()
			}
			return err
		},
	}
	flags.Add(command)
	return command
}

func differenceTable(w io.Writer, rows []differenceJSON) {
	if len(rows) == 0 {
		fmt.Fprintln(w, "the running daemon uses the configuration in the files")
		return
	}
	shell.WriteTable(w, table.Row{"key", "running", "files"}, rows, func(r *differenceJSON) table.Row {
		return table.Row{r.Key, r.Running, r.Files}
	})
}
