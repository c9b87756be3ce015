package endtoend

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"botd/internal/version"
)

func TestSBOMListsModulesOfBinary(t *testing.T) {
	t.Parallel()
	binary := build(t) // a test's own binary lists no modules
	listed, err := exec.Command("go", "version", "-m", binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	text, err := exec.Command(binary, "version", "--sbom").Output()
	if err != nil {
		t.Fatal(err)
	}
	var b version.Bill
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
		if !slices.ContainsFunc(b.Components, func(c version.BillComponent) bool { return c.Name == words[1] && c.Version == words[2] }) {
			t.Errorf("%s %s is in the binary, and not in its bill", words[1], words[2])
		}
	}
	if modules < 20 || len(b.Components) != modules+1 {
		t.Errorf("want the %d modules and the standard library, have %d components", modules, len(b.Components))
	}
}
