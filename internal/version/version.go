// Package version identifies the build of botd and its dependencies.
package version

import (
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// Info identifies this binary.
type Info struct {
	Schema   int    `json:"schema"`
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Time     string `json:"time,omitempty"` // time of the revision
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func Read() Info {
	build, _ := debug.ReadBuildInfo()
	return infoOf(build)
}

// infoOf reads the build's information, nil for none.
func infoOf(build *debug.BuildInfo) Info {
	info := Info{Schema: 1, Version: "devel", Go: goruntime.Version(), Platform: goruntime.GOOS + "/" + goruntime.GOARCH}
	if build == nil {
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

func Line() string {
	info := Read()
	return Spaced("botd", info.Version, info.Revision, info.Go, info.Platform)
}

// Spaced joins words by spaces and omits empty ones, such as the revision of a build outside a repository.
func Spaced(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), " ")
}
