package version

import (
	"encoding/json"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"strings"
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

// TestABillOfMaterials checks the names of CycloneDX 1.6, and that dependencies are sorted.
func TestABillOfMaterials(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(newBill(&debug.BuildInfo{GoVersion: "go1.26.0", Settings: []debug.BuildSetting{{Key: "CGO_ENABLED", Value: "0"}},
		Deps: []*debug.Module{{Path: "z", Version: "v2.0.0", Sum: "h1:z="}, {Path: "a", Version: "v1.0.0"}}}))
	want := `{"bomFormat":"CycloneDX","specVersion":"1.6","version":1,` +
		`"metadata":{"component":{"type":"application","bom-ref":"pkg:golang/botd@","name":"botd","version":"","purl":"pkg:golang/botd@"},` +
		`"properties":[{"name":"go:build:CGO_ENABLED","value":"0"}]},` +
		`"components":[{"type":"library","bom-ref":"pkg:golang/std@1.26.0","name":"std","version":"1.26.0","purl":"pkg:golang/std@1.26.0"},` +
		`{"type":"library","bom-ref":"pkg:golang/z@v2.0.0","name":"z","version":"v2.0.0","purl":"pkg:golang/z@v2.0.0",` +
		`"properties":[{"name":"go:sum","value":"h1:z="}]},` +
		`{"type":"library","bom-ref":"pkg:golang/a@v1.0.0","name":"a","version":"v1.0.0","purl":"pkg:golang/a@v1.0.0"}],` +
		`"dependencies":[{"ref":"pkg:golang/botd@","dependsOn":["pkg:golang/a@v1.0.0","pkg:golang/std@1.26.0","pkg:golang/z@v2.0.0"]}]}`
	if err != nil || string(text) != want {
		t.Errorf("want\n%s\nhave\n%s, %v", want, text, err)
	}
	if bill, err := ReadBill(); err != nil || len(bill.Components) == 0 || bill.Components[0].Version != strings.TrimPrefix(goruntime.Version(), "go") {
		t.Errorf("want the components of this binary, have %+v, %v", bill, err)
	}
}
