package command

import (
	"fmt"
	"io"
	goruntime "runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// versionInfo says which binary this is.
type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func buildVersion() versionInfo {
	info := versionInfo{Version: "devel", Go: goruntime.Version(), Platform: goruntime.GOOS + "/" + goruntime.GOARCH}
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
		case "vcs.modified":
			info.Modified = setting.Value == "true"
		}
	}
	return info
}

func newVersion() *cobra.Command {
	var output string
	command := &cobra.Command{
		Use: "version", Short: "say which botd this is", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			info := buildVersion()
			return print(command.OutOrStdout(), output, info, func(w io.Writer) {
				fmt.Fprintf(w, "botd %s %s %s %s\n", info.Version, info.Revision, info.Go, info.Platform)
			})
		},
	}
	outputFlag(command, &output)
	return command
}
