package risk

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// TestTheDocumentNamesEveryRuleAndNoOther keeps docs/risk.md complete.
func TestTheDocumentNamesEveryRuleAndNoOther(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/risk.md")
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllSubmatch(text, -1) {
		if name := string(row[1]); name != "cool_down" { // a setting of max_losing_streak
			have = append(have, name)
		}
	}
	want := Rules()
	slices.Sort(want)
	slices.Sort(have)
	if want = slices.Compact(want); !slices.Equal(want, have) {
		t.Errorf("rules that docs/risk.md has a row of:\nwant %v\nhave %v", want, have)
	}
}
