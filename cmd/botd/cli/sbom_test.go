package cli

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

func TestTheBillOfMaterialsNamesEveryModuleOnce(t *testing.T) {
	t.Parallel()
	b := newBill(&debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Path: "botd", Version: "v1.2.3"},
		Deps: []*debug.Module{{Path: "example.org/a b", Version: "v1.0.0+x", Sum: "h1:="}, {Path: "old", Version: "v1.0.0", Replace: &debug.Module{Path: "new", Version: "v2.0.0"}}}})
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

func TestTheBillOfTheRealBinaryHoldsWhatGoListsInIt(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "botd") // a test's own binary tells no modules
	if text, err := exec.Command("go", "build", "-o", binary, "botd/cmd/botd").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	listed, err := exec.Command("go", "version", "-m", binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command(binary, "version", "--sbom").Output()
	if err != nil {
		t.Fatal(err)
	}
	var b bill
	if err := json.Unmarshal(text, &b); err != nil || b.Format != "CycloneDX" {
		t.Fatalf("%v\n%s", err, text)
	}
	modules := 0
	for _, line := range strings.Split(string(listed), "\n") {
		words := strings.Fields(line)
		if len(words) < 3 || words[0] != "dep" {
			continue
		}
		modules++
		if !slices.ContainsFunc(b.Components, func(c billComponent) bool { return c.Name == words[1] && c.Version == words[2] }) {
			t.Errorf("%s %s is in the binary, and not in its bill", words[1], words[2])
		}
	}
	if modules < 20 || len(b.Components) != modules+1 {
		t.Errorf("want the %d modules and the standard library, have %d components", modules, len(b.Components))
	}
}
