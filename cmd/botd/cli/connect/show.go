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
	var every time.Duration
	command := shows(use, short, cobra.NoArgs, &every, func([]string) string { return path() }, show)
	shell.WatchFlag(command, &every)
	return command
}

// ShowOne makes a command that shows one thing by its id.
func ShowOne[T any](use, short, path string, show func(io.Writer, *T)) *cobra.Command {
	return shows(use, short, shell.One("id"), new(time.Duration), func(ids []string) string { return path + url.PathEscape(ids[0]) }, show)
}

func shows[T any](use, short string, names cobra.PositionalArgs, every *time.Duration, path func([]string) string, show func(io.Writer, *T)) *cobra.Command {
	var flags Flags
	command := &cobra.Command{
		Use: use, Short: short, Args: names,
		RunE: func(command *cobra.Command, names []string) error {
			d, err := flags.Daemon(command.Context())
			if err != nil {
				return err
			}
			return shell.Watch(command, *every, func(w io.Writer) error {
				value, answer, err := client.Ask[T](command.Context(), d, http.MethodGet, path(names), nil)
				if err == nil {
					err = Refuse(command.Context(), d, path(names), answer)
				}
				if err != nil {
					return err
				}
				return shell.Print(w, flags.Output, answer, func(w io.Writer) { show(w, &value) })
			})
		},
	}
	flags.Add(command)
	return command
}
