package offline

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/internal/failure"
)

// channelList is what botd notify list prints.
type channelList struct {
	Schema int       `json:"schema"`
	Every  string    `json:"every"`
	Items  []channel `json:"items"`
}

// channel is one row of botd notify list.
type channel struct {
	Channel     string   `json:"channel"`
	Service     string   `json:"service"` // derived from its address, which is not shown
	MinSeverity string   `json:"least"`
	Also        []string `json:"also"`
	Never       []string `json:"never"`
	Quiet       string   `json:"quiet,omitempty"`
	Reason      string   `json:"reason,omitempty" was:"why"` // its address cannot be read
}

func newNotifyList() *cobra.Command {
	var directory string
	command := &cobra.Command{
		Use: "list", Short: "the configured channels, and what each receives", Args: cobra.NoArgs,
		Long: "Lists the channels of botd.yaml with the service behind each, and what it receives. An\naddress is not shown; if one " +
			"cannot be read the exit code is 1. It sends nothing.",
		Example: "  botd notify list -c configs\n  botd notify list -o json",
		RunE: func(command *cobra.Command, _ []string) error {
			config, err := connect.LoadSettings(command.Context(), directory, "", connect.CheckHint)
			if err != nil {
				return err
			}
			all, unread := channelsOf(config)
			err = shell.Print(command, channelList{1, (time.Duration(config.Notify.EveryMS) * time.Millisecond).String(), all}, func(w io.Writer) {
				if len(all) == 0 {
					fmt.Fprintln(w, "nobody is notified: there is no channel in notify.channels of botd.yaml")
					return
				}
				shell.WriteTable(w, table.Row{"channel", "service", "from", "also", "never", "quiet", "why not"}, all, func(c *channel) table.Row {
					return table.Row{c.Channel, c.Service, c.MinSeverity, strings.Join(c.Also, " "), strings.Join(c.Never, " "), c.Quiet, c.Reason}
				})
			})
			if err == nil && unread {
				return failure.Quiet()
			}
			return err
		},
	}
	connect.ConfigFlag(command, &directory)
	shell.OutputFlag(command)
	return command
}

func channelsOf(config *configs.Config) (all []channel, unread bool) {
	all = []channel{}
	for i := range config.Notify.Channels {
		c := &config.Notify.Channels[i]
		one := channel{Channel: c.Name, MinSeverity: c.MinSeverity, Also: append([]string{}, c.Also...), Never: append([]string{}, c.Never...)}
		if c.QuietFrom != c.QuietUntil {
			one.Quiet = fmt.Sprintf("%02d:%02d-%02d:%02d", c.QuietFrom/60, c.QuietFrom%60, c.QuietUntil/60, c.QuietUntil%60)
		}
		address, err := configs.ReadAddress(c, config.Exchange.CredentialsDirectory)
		service, _, whole := strings.Cut(address, "://")
		switch {
		case err != nil:
			one.Reason, unread = err.Error(), true
		case !whole:
			one.Reason, unread = "not an address of a service", true // the text may be a secret, so none of it is shown
		default:
			one.Service = service
		}
		all = append(all, one)
	}
	return all, unread
}
