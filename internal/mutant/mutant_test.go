package mutant

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

func TestEveryRowHasItsName(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, row := range Table {
		if names[row.Name] || row.Does == "" || row.Where == "" {
			t.Errorf("%s: want a name of its own, what it does and where the rule stands", row.Name)
		}
		names[row.Name] = true
	}
}

// A row whose rule is a number names a case of docs/exactly-once.md.
func TestNumberedRulesAreCases(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs/exactly-once.md"))
	if err != nil {
		t.Fatal(err)
	}
	numbered := 0
	for _, row := range Table {
		if _, err := strconv.Atoi(row.Where); err != nil {
			continue
		}
		numbered++
		if !strings.Contains(string(text), "\n### Case "+row.Where+": ") {
			t.Errorf("%s: docs/exactly-once.md has no case %s", row.Name, row.Where)
		}
	}
	if numbered < 200 {
		t.Errorf("want most rows to name a case, have %d", numbered)
	}
}

// Each mutant is either an edit of the shipped code or a condition of the simulation, and each condition is a
// mutant.
func TestRuleWithoutEditIsASimulationCondition(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(filepath.Join(root, "internal/simulation", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var conditions []string
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(`mutant\.Is\("(\w+)"\)`).FindAllStringSubmatch(string(text), -1) {
			conditions = append(conditions, match[1])
		}
	}
	for _, row := range Table {
		if stands := slices.Contains(conditions, row.Name); stands == (len(row.Edits) > 0) {
			t.Errorf("%s: want edits or a condition in internal/simulation, have %d edits and a condition %t", row.Name, len(row.Edits), stands)
		}
	}
	for _, name := range conditions {
		if _, err := Find(name); err != nil {
			t.Errorf("internal/simulation: %v", err)
		}
	}
}

// A row's name of a test may be a prefix, as go test -run takes it.
func TestTestsNamedInRowsExist(t *testing.T) {
	t.Parallel()
	for _, row := range Table {
		if row.Shown == "" {
			continue
		}
		folder, test, _ := strings.Cut(row.Shown, " ")
		files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		exists := slices.ContainsFunc(files, func(file string) bool {
			text, err := os.ReadFile(file)
			return err == nil && strings.Contains(string(text), "\nfunc "+test)
		})
		if test == "" || !exists {
			t.Errorf("%s: no test of that name: %q", row.Name, row.Shown)
		}
	}
}

func TestAClassBelongsToAMutant(t *testing.T) {
	t.Parallel()
	for name := range Beyond {
		if _, err := Find(name); err != nil {
			t.Error(err)
		}
	}
}

func TestAMutantIsAChoice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ right, wrong, want string }{
		{"price > 0", "true", `(mutant.Is("m") && (true) || !mutant.Is("m") && (price > 0))`},
		{"!t.open", "false", `(mutant.Is("m") && (false) || !mutant.Is("m") && (!t.open))`},
		{"t.open", "false", `mutant.Pick("m", false, t.open)`},
		{"max(a, b)", "a", `mutant.Pick("m", a, max(a, b))`},
		{"t.count++", "", `if mutant.Is("m") {  } else { t.count++ }`},
		{"delete(m, k)", "return", `if mutant.Is("m") { return } else { delete(m, k) }`},
	} {
		if have := choice("m", c.right, c.wrong); have != c.want {
			t.Errorf("%s instead of %s: want %s, have %s", c.wrong, c.right, c.want, have)
		}
	}
}
