package offline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/internal/failure"
	"botd/runtime/api"
	"botd/runtime/notify"
	"botd/runtime/notify/channels"
)

func newNotifyTest() *cobra.Command {
	var directory, channel string
	var dry bool
	command := &cobra.Command{
		Use: "test", Short: "send a test message to every channel, or to one", Args: cobra.NoArgs,
		Long: `Sends a test message through each channel of botd.yaml, now and without a running
botd, and reports the results. A channel that fails, or whose address cannot be read,
does not stop the others. The exit code is 1 when any of them failed.`,
		Example: "  botd notify test -c configs\n  botd notify test -c configs --channel phone -o json",
		RunE: func(command *cobra.Command, _ []string) error {
			config, err := connect.LoadSettings(command.Context(), directory, "", connect.CheckHint)
			if err != nil {
				return err
			}
			open := slices.DeleteFunc(channels.OpenAll(config), func(o channels.Channel) bool { return channel != "" && o.Name != channel })
			if len(open) == 0 && channel == "" {
				return failure.New(failure.Config, "botd notify --help shows how to write one", "there is no channel in notify.channels of botd.yaml")
			}
			if len(open) == 0 {
				return failure.New(failure.Config, "botd notify --help shows how to write one",
					"there is no channel %s in notify.channels of botd.yaml", channel)
			}
			if dry {
				return namedOnly(command, open)
			}
			return testOpened(command, config, open)
		},
	}
	connect.ConfigFlag(command, &directory)
	command.Flags().StringVar(&channel, "channel", "", "only this one")
	shell.DryRunFlag(command, &dry, "name the channels, and send nothing")
	shell.OutputFlag(command)
	return command
}

// namedOnly lists the channels that would send a message, and those that cannot be opened.
func namedOnly(command *cobra.Command, open []channels.Channel) error {
	var all []api.ChannelResult
	for _, one := range open {
		result := api.ChannelResult{Channel: one.Name, Result: "not_sent"}
		if one.Err != nil {
			result.Result, result.Reason = notify.Failed, one.Err.Error()
		}
		all = append(all, result)
	}
	return errors.Join(showResults(command, all), channels.Unopened(open))
}

func showResults(command *cobra.Command, all []api.ChannelResult) error {
	return shell.Print(command, api.Items(all), func(w io.Writer) {
		shell.WriteTable(w, table.Row{"channel", "result", "took", "why"}, all, func(r *api.ChannelResult) table.Row {
			return table.Row{r.Channel, r.Result, fmt.Sprintf("%d ms", r.TookMS), r.Reason}
		})
	})
}

func testOpened(command *cobra.Command, config *configs.Config, open []channels.Channel) error {
	for _, one := range open {
		if one.Err == nil {
			fmt.Fprintf(command.ErrOrStderr(), "sending to %s\n", one.Name)
		}
	}
	all := channels.Test(command.Context(), config, open)
	if command.Context().Err() != nil {
		return context.Cause(command.Context())
	}
	failed := 0
	for _, one := range all {
		if one.Result != notify.Sent {
			failed++
		}
	}
	err := showResults(command, all)
	wrong := channels.Unopened(open)
	if err != nil || failed == 0 {
		return err
	}
	if !slices.ContainsFunc(open, func(o channels.Channel) bool { return o.Err == nil }) {
		return wrong // no channel could be tried
	}
	return failure.Wrap(failure.Negative, errors.Join(wrong, failure.New(failure.Negative, "the address is in the channel's url_file",
		"%d of %d channels failed", failed, len(all))))
}
