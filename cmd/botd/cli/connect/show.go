package connect

import (
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/runtime/api/client"
)

// Show makes a command that shows one of the API's documents.
func Show[T any](use, short, path string, show func(io.Writer, *T)) *cobra.Command {
	return ShowFor(use, short, func() string { return path }, show)
}

// ShowFor makes a command whose flags select the document.
func ShowFor[T any](use, short string, path func() string, show func(io.Writer, *T)) *cobra.Command {
	var flags Flags
	var every time.Duration
	command := &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			d, err := flags.Daemon(command.Context())
			if err != nil {
				return err
			}
			return shell.Watch(command, every, func(w io.Writer) error {
				value, answer, err := client.Ask[T](command.Context(), d, http.MethodGet, path(), nil)
				if err == nil {
					err = Refuse(command.Context(), d, path(), answer)
				}
				if err != nil {
					return err
				}
				return shell.Print(w, flags.Output, answer, func(w io.Writer) { show(w, &value) })
			})
		},
	}
	flags.Add(command)
	shell.WatchFlag(command, &every)
	return command
}

// ShowOne makes a command that shows one thing by its id.
func ShowOne[T any](use, short, path string, show func(io.Writer, *T)) *cobra.Command {
	var flags Flags
	command := &cobra.Command{
		Use: use, Short: short,
		Args: shell.One("id"),
		RunE: func(command *cobra.Command, ids []string) error {
			d, err := flags.Daemon(command.Context())
			if err != nil {
				return err
			}
			value, raw, err := client.Ask[T](command.Context(), d, http.MethodGet, path+url.PathEscape(ids[0]), nil)
			if err != nil {
				return err
			}
			return shell.Print(command.OutOrStdout(), flags.Output, raw, func(w io.Writer) { show(w, &value) })
		},
	}
	flags.Add(command)
	return command
}
