package cli

import (
	"fmt"
	"io"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
)

// versionInfo says which binary this is.
type versionInfo struct {
	Schema   int    `json:"schema"`
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Time     string `json:"time,omitempty"` // of the revision
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func buildVersion() versionInfo {
	info := versionInfo{Schema: 1, Version: "devel", Go: goruntime.Version(), Platform: goruntime.GOOS + "/" + goruntime.GOARCH}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return info
	}
	if v := build.Main.Version; v != "" && v != "(devel)" {
		info.Version = v
	}
	for _, setting := range build.Settings {
		switch setting.Key {
		case "vcs.revision":
			info.Revision = setting.Value
		case "vcs.time":
			info.Time = setting.Value
		case "vcs.modified":
			info.Modified = setting.Value == "true"
		}
	}
	return info
}

func versionLine() string {
	info := buildVersion()
	return spaced("botd", info.Version, info.Revision, info.Go, info.Platform)
}

// spaced puts words in a row; one that is empty, as the revision of a build outside a
// repository is, leaves no hole.
func spaced(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), " ")
}

func newVersion() *cobra.Command {
	var output string
	var sbom bool
	command := &cobra.Command{
		Use: "version", Short: "say which botd this is, and what it is made of", Args: cobra.NoArgs,
		Long: `Says version, revision, Go and platform. --sbom prints every module this binary is made
of as CycloneDX JSON, from the binary itself; two builds of the same source print the same.`,
		Example: "  botd version -o json\n  botd version --sbom > botd.cdx.json",
		RunE: func(command *cobra.Command, _ []string) error {
			if sbom {
				bill, err := ownBill()
				if err != nil {
					return failure.Wrap(failure.Internal, err)
				}
				return shell.Print(command.OutOrStdout(), "json", bill, nil)
			}
			return shell.Print(command.OutOrStdout(), output, buildVersion(), func(w io.Writer) { fmt.Fprintln(w, versionLine()) })
		},
	}
	command.Flags().BoolVar(&sbom, "sbom", false, "the bill of materials, as CycloneDX JSON")
	shell.OutputFlag(command, &output)
	return command
}
