package daemon

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
	"botd/internal/notation"
	"botd/runtime/api"
	"botd/runtime/api/client"
)

// NewToken returns the command botd token.
func NewToken() *cobra.Command {
	return shell.Group("token", "named tokens with a role and an expiry, for programs and people",
		`Tokens for people and programs that view or operate botd without access to its files: each has a
name, which the journal records, a role (viewer or operator) and an expiry, and can be revoked
individually. The running daemon stores their hashes (tokens.json in its data directory), never
the tokens.`,
		"  botd token create phone --role viewer --for 30d\n  botd token list\n  botd token revoke phone",
		newTokenCreate(), newTokenList(), newTokenRevoke())
}

func newTokenCreate() *cobra.Command {
	var flags connect.Flags
	var role, length string
	var dry bool
	command := &cobra.Command{
		Use: "create NAME", Short: "create a token, shown only once", Args: cobra.ExactArgs(1),
		Long: `Creates a token and prints it, this once. It logs you in to the dashboard, or authenticates a
request in the header Authorization: Bearer. Tokens are created over the
daemon's unix socket, or on the settings page in a session opened by a link of botd login, so that
a token cannot create others.`,
		Example: "  botd token create phone --role viewer --for 30d\n  botd token create grafana > grafana.token && chmod 600 grafana.token",
		RunE: func(command *cobra.Command, names []string) error {
			request := api.TokenRequest{Name: names[0], Role: role}
			milliseconds, err := notation.Duration(length)
			if err != nil {
				return failure.Usagef("--for %s: %w\nhint: write 30d, 12h, or 0 for a token that does not expire", length, err)
			}
			if milliseconds != 0 {
				request.Ends = new(time.Now().Add(time.Duration(milliseconds) * time.Millisecond).UTC().Truncate(time.Second))
			}
			d, err := flags.Daemon(command.Context())
			if err != nil {
				return err
			}
			if dry {
				return previewToken(command, d, &request)
			}
			made, raw, err := client.Ask[api.NewToken](command.Context(), d, http.MethodPost, "/api/v1/tokens", request)
			if err != nil {
				return err
			}
			fmt.Fprintf(command.ErrOrStderr(), "%s, a %s%s; it is not shown again\n", made.Name, made.Role, endText(made.Ends, ", until "))
			return shell.Print(command, raw, func(w io.Writer) { fmt.Fprintln(w, made.Token) })
		},
	}
	command.Flags().StringVarP(&flags.Directory, "config", "c", "", "configuration directory, for the data directory")
	command.Flags().StringVar(&role, "role", "viewer", "viewer: can see everything; operator: can also make changes")
	command.Flags().StringVar(&length, "for", "90d", "lifetime: 30d, 12h; 0 for no expiry")
	shell.DryRunFlag(command, &dry, "show which token it would create, and create none")
	shell.CompleteWith(command, "role", "viewer", "operator")
	shell.OutputFlag(command)
	return command
}

// previewToken shows the token that would be created, unless one of that name exists.
func previewToken(command *cobra.Command, d *client.Daemon, request *api.TokenRequest) error {
	all, _, err := client.Ask[client.Page[api.NamedToken]](command.Context(), d, http.MethodGet, "/api/v1/tokens", nil)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(all.Items, func(t api.NamedToken) bool { return t.Name == request.Name }) {
		return failure.New(failure.Negative, "botd token revoke "+request.Name+" ends it", "there is a token %q already", request.Name)
	}
	change := api.Change{Schema: 1, DryRun: true, Effects: []string{fmt.Sprintf("create the token %s, for a %s%s", request.Name, request.Role,
		endText(request.Ends, ", until "))}}
	raw, err := json.Marshal(change)
	if err != nil {
		return err
	}
	return connect.ShowChange(command, &change, raw)
}

func endText(ends *time.Time, before string) string {
	if ends == nil {
		return ""
	}
	return before + ends.UTC().Format(time.DateTime)
}

func newTokenList() *cobra.Command {
	command := connect.Show("list", "the named tokens, and when they expire", "/api/v1/tokens", func(w io.Writer, p *client.Page[api.NamedToken]) {
		t := shell.NewTable(w, table.Row{"name", "role", "made (UTC)", "ends", "state"})
		for i := range p.Items {
			k, state, ends := &p.Items[i], "good", endText(p.Items[i].Ends, "")
			if k.Ended {
				state = "ended"
			}
			if k.Ends == nil {
				ends = "never"
			}
			t.AppendRow(table.Row{k.Name, k.Role, k.Created.UTC().Format(time.DateTime), ends, state})
		}
		t.Render()
		fmt.Fprintln(w, "besides these: the operator's in the file token, the viewer's in token-viewer, in the data directory")
	})
	command.Long = "Lists the tokens that botd token create made, including expired ones, without revoked ones. The\ntokens themselves are not stored."
	command.Example = "  botd token list\n  botd token list -o json"
	return command
}

func newTokenRevoke() *cobra.Command {
	var flags connect.Flags
	var dry bool
	command := &cobra.Command{
		Use: "revoke NAME", Short: "revoke a token, and the sessions it opened", Args: cobra.ExactArgs(1),
		Long:    "Revokes a token at once. It no longer works, the sessions it opened end, and a live stream ends\nwithin seconds.",
		Example: "  botd token revoke phone --dry-run\n  botd token revoke phone",
		RunE: func(command *cobra.Command, names []string) error {
			return flags.Change(command, http.MethodDelete, "/api/v1/tokens/"+url.PathEscape(names[0]), dry)
		},
	}
	flags.Add(command)
	shell.DryRunFlag(command, &dry, "show what it would do, and do nothing")
	return command
}
