package daemon

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
	"botd/runtime/api"
	"botd/runtime/api/client"
)

// loginJSON is the output of botd login -o json.
type loginJSON struct {
	Schema int       `json:"schema"`
	URL    string    `json:"url"`
	Plain  string    `json:"plain_url"` // the same at the address itself
	Ends   time.Time `json:"ends"`
}

// NewLogin returns the command botd login.
func NewLogin() *cobra.Command {
	var flags connect.Flags
	command := &cobra.Command{
		Use: "login", Short: "a one-time link that logs you in to the dashboard", Args: cobra.NoArgs,
		Long: `Prints a link to the running daemon's dashboard that works once, within ten minutes.
It requests the link over the unix socket in the data directory, which only its owner can use:
anyone who can read the daemon's files may operate it. The code follows the # of the link, which
browsers do not send, so that no log contains it. Without TLS the link uses a host name of this
botd's own below localhost, which browsers resolve to the machine itself: a cookie set at
127.0.0.1 would be sent to every port there.`,
		Example: "  botd login\n  xdg-open \"$(botd login)\"",
		RunE: func(command *cobra.Command, _ []string) error {
			d, err := flags.Daemon(command.Context())
			if err != nil {
				return err
			}
			link, _, err := client.Ask[api.Link](command.Context(), d, http.MethodPost, "/api/v1/session/link", nil)
			if err != nil {
				return err
			}
			if link.Address == "" {
				return failure.New(failure.Negative, "set listen in botd.yaml", "the daemon serves no dashboard: it listens only on its socket")
			}
			out := loginJSON{1, link.Address + link.Path, link.Plain + link.Path, link.Ends}
			if out.Plain != out.URL {
				fmt.Fprintln(command.ErrOrStderr(), "if your browser cannot resolve that name: "+out.Plain)
			}
			return shell.Print(command, out, func(w io.Writer) { fmt.Fprintln(w, out.URL) })
		},
	}
	command.Flags().StringVarP(&flags.Directory, "config", "c", "", "configuration directory, for the data directory")
	shell.OutputFlag(command)
	return command
}
