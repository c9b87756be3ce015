package offline

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
	"botd/internal/version"
)

// NewVersion returns the command botd version.
func NewVersion() *cobra.Command {
	var sbom bool
	command := &cobra.Command{
		Use: "version", Short: "the version of this botd, and its dependencies", Args: cobra.NoArgs,
		Long: `Prints version, revision, Go and platform. --sbom prints every module in this binary as CycloneDX
JSON, read from the binary itself; two builds of the same source print the same.`,
		Example: "  botd version -o json\n  botd version --sbom > botd.cdx.json",
		RunE: func(command *cobra.Command, _ []string) error {
			if sbom {
				bill, err := version.ReadBill()
				if err != nil {
					return failure.Wrap(failure.Internal, err)
				}
				return shell.PrintTo(command.OutOrStdout(), "json", bill, nil)
			}
			return shell.Print(command, version.Read(), func(w io.Writer) { fmt.Fprintln(w, version.Line()) })
		},
	}
	command.Flags().BoolVar(&sbom, "sbom", false, "the software bill of materials, as CycloneDX JSON")
	shell.OutputFlag(command)
	return command
}
