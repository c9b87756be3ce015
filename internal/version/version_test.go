package version

import (
	goruntime "runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestEmptyWordAddsNoSpace(t *testing.T) {
	t.Parallel()
	if want, have := "botd devel go1.26", Spaced("botd", "devel", "", "go1.26"); want != have {
		t.Errorf("want %q, have %q", want, have)
	}
}

func TestABuildIsIdentified(t *testing.T) {
	t.Parallel()
	platform := goruntime.GOOS + "/" + goruntime.GOARCH
	setting := func(key, value string) debug.BuildSetting { return debug.BuildSetting{Key: key, Value: value} }
	for _, c := range []struct {
		name  string
		build *debug.BuildInfo
		want  Info
	}{
		{"without information", nil, Info{Version: "devel"}},
		{"outside a repository", &debug.BuildInfo{}, Info{Version: "devel"}},
		{"of a worktree", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{
			setting("vcs.revision", "0123abcd"), setting("vcs.time", "2026-02-28T12:00:00Z"), setting("vcs.modified", "true")}},
			Info{Version: "devel", Revision: "0123abcd", Time: "2026-02-28T12:00:00Z", Modified: true}},
		{"of a release", &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{
			setting("vcs.modified", "false"), setting("GOOS", "plan9")}}, Info{Version: "v1.2.3"}},
	} {
		c.want.Schema, c.want.Go, c.want.Platform = 1, goruntime.Version(), platform
		if have := infoOf(c.build); have != c.want {
			t.Errorf("%s: want %+v, have %+v", c.name, c.want, have)
		}
	}
	if have := Read(); have.Schema != 1 || have.Go != goruntime.Version() {
		t.Errorf("want this build, have %+v", have)
	}
	if have := Line(); !strings.HasPrefix(have, "botd ") || !strings.HasSuffix(have, " "+goruntime.Version()+" "+platform) || strings.Contains(have, "  ") {
		t.Errorf("want one line with version, Go and platform, have %q", have)
	}
}
