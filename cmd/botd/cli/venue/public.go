package venue

import (
	"fmt"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/runtime/gateway"
)

// publicFlags select the venue to read.
type publicFlags struct{ url, directory, market string }

func (f *publicFlags) add(command *cobra.Command, market string) {
	command.Flags().StringVar(&f.url, "base-url", "", "the venue's address (default: the configuration's; in demo mode, the demo's market)")
	connect.ConfigFlag(command, &f.directory)
	command.Flags().StringVar(&f.market, "market", market, "futures or spot")
}

// open connects to the requested venue, that of the configuration, or the demo's market.
func (f *publicFlags) open(command *cobra.Command) (*gateway.Public, error) {
	if f.url != "" {
		return gateway.PublicAt(command.Context(), f.url)
	}
	config, err := connect.LoadSettings(command.Context(), f.directory, "", connect.CheckHint)
	if err != nil {
		return nil, err
	}
	v, running, err := gateway.OpenPublic(command.Context(), config)
	if err == nil && !running {
		fmt.Fprintln(command.ErrOrStderr(), "no --base-url, and no demo is running: this is the market of a new demo")
	}
	return v, err
}
