package version

import (
	"runtime/debug"
	"slices"
	"testing"
)

func TestTheBillOfMaterialsNamesEveryModuleOnce(t *testing.T) {
	t.Parallel()
	b := newBill(&debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Path: "botd", Version: "v1.2.3"},
		Deps: []*debug.Module{{Path: "example.org/a b", Version: "v1.0.0+x", Sum: "h1:="},
			{Path: "old", Version: "v1.0.0", Replace: &debug.Module{Path: "new", Version: "v2.0.0"}}}})
	var have []string
	for _, c := range b.Components {
		have = append(have, c.PURL)
	}
	want := []string{"pkg:golang/std@1.26.0", "pkg:golang/example.org/a%20b@v1.0.0+x", "pkg:golang/new@v2.0.0"}
	if !slices.Equal(have, want) {
		t.Errorf("want %q, have %q", want, have)
	}
	if b.Metadata.Component.PURL != "pkg:golang/botd@v1.2.3" || len(b.Dependencies) != 1 || len(b.Dependencies[0].Depends) != 3 {
		t.Errorf("want botd depending on all, have %+v %+v", b.Metadata.Component, b.Dependencies)
	}
}
