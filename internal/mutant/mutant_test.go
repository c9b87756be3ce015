package mutant

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// TestARuleWithoutAnEditStandsInTheSimulation: each mutant is either an edit of
// the code that ships or a condition of the simulation, and each condition a mutant.
func TestARuleWithoutAnEditStandsInTheSimulation(t *testing.T) {
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

const before = `package shop

func (t *till) pay(price, change int) bool {
	if t.open && // only now
		price > 0 {
		t.taken = max(price, change)
		t.count++
	}
	return t.open
}

func pay() bool { return true }
`

func TestEditsAreFoundByTheirTokensAndBuiltIn(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		edits []Edit
		want  string // a part of the changed file, or of the error
	}{
		{"a condition", []Edit{{"shop.till.pay", "price>0", "true"}}, `(mutant.Is("m0") && (true) || !mutant.Is("m0") && (price > 0)) {`},
		{"over two lines", []Edit{{"shop.till.pay", "t.open && price > 0", "t.open"}}, `if (mutant.Is("m0") && (t.open) || !mutant.Is("m0") && (t.open && // only now`},
		{"a value", []Edit{{"shop.till.pay", "max(price, change)", "price"}}, `t.taken = mutant.Pick("m0", price, max(price, change))`},
		{"a statement", []Edit{{"shop.till.pay", "t.count++", ""}}, `if mutant.Is("m0") {  } else { t.count++ }`},
		{"a part of a snippet", []Edit{{"shop.till.pay", "return «t.open»", "false"}}, `return mutant.Pick("m0", false, t.open)`},
		{"one within another", []Edit{{"shop.till.pay", "t.open && price > 0", "true"}, {"shop.till.pay", "price > 0", "false"}},
			`price > 0)))) {`},
		{"two of the same code", []Edit{{"shop.till.pay", "t.count++", ""}, {"shop.till.pay", "t.count++", "t.count--"}}, `{ t.count++ } }`},
		{"two that overlap", []Edit{{"shop.till.pay", "t.open && price", ""}, {"shop.till.pay", "price > 0", ""}}, `the code of the mutants m0 and m1 overlaps`},
		{"not in the function", []Edit{{"shop.pay", "t.count++", ""}}, "mutant m0 (breaks it): its code is found 0 times in shop.pay, want once:\n\tt.count++\n\tthese words stand in exchange/shop.till.pay"},
		{"twice in the function", []Edit{{"shop.till.pay", "t.open", ""}}, "found 2 times in shop.till.pay"},
		{"nowhere", []Edit{{"shop.till.pay", "t.lost", ""}}, "these words stand nowhere"},
		{"without a function", []Edit{{"shop", "t.count++", ""}}, `"shop" names no function`},
		{"without code", []Edit{{"shop.till.pay", "«»t.open", ""}}, "names no code"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			module := t.TempDir()
			for _, room := range []string{"shop", "exchange/shop"} {
				if err := os.MkdirAll(filepath.Join(module, room), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(module, room, "till.go"), []byte(before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var rows []Row
			for i, edit := range test.edits {
				rows = append(rows, Row{Name: "m" + string(rune('0'+i)), Does: "breaks it", Edits: []Edit{edit}})
			}
			changed, err := Apply(module, rows)
			have := string(changed["shop/till.go"])
			if err != nil {
				have = err.Error()
			}
			if !strings.Contains(have, test.want) {
				t.Errorf("want %s\nhave %s", test.want, have)
			}
		})
	}
}
