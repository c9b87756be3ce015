package offline

import (
	"os"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/configs"
	"botd/internal/failure"
)

func newConfigReference() *cobra.Command {
	var into string
	command := &cobra.Command{
		Use: "reference", Short: "docs/configuration.md: every key with its meaning, bounds, default and an example", Args: cobra.NoArgs,
		Long: `Prints the configuration reference as Markdown, derived from the code that reads it and from the
registry of strategies: a program of your own includes your strategies.`,
		Example: "  botd config reference | less\n  go run ./cmd/botd config reference --into docs/configuration.md",
		RunE: func(command *cobra.Command, _ []string) error {
			text := configs.Reference(connect.Registry(command.Context()))
			if into != "" {
				return failure.Wrap(failure.IO, os.WriteFile(into, text, 0o644))
			}
			_, err := command.OutOrStdout().Write(text)
			return failure.Wrap(failure.IO, err)
		},
	}
	command.Flags().StringVar(&into, "into", "", "Markdown file to write it to")
	return command
}
