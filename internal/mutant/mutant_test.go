package mutant

import "testing"

func TestEveryRuleHasItsRow(t *testing.T) {
	t.Parallel()
	if want, have := int(End)-1, len(Table); want != have {
		t.Fatalf("want %d rows, have %d", want, have)
	}
	names := map[string]bool{}
	for i, row := range Table {
		if want := Rule(i + 1); row.Rule != want {
			t.Errorf("row %d: want rule %d, have %d (%s)", i, want, row.Rule, row.Name)
		}
		if names[row.Name] || row.Does == "" || row.Where == "" {
			t.Errorf("%s: want a name of its own, what it does and where the rule stands", row.Name)
		}
		names[row.Name] = true
		if found, err := Find(row.Name); err != nil || found != row.Rule || found.String() != row.Name {
			t.Errorf("%s is not found by its name: %v", row.Name, err)
		}
	}
}

func TestNoRuleIsBrokenInAnOrdinaryBuild(t *testing.T) {
	t.Parallel()
	for _, row := range Table {
		if !Built && Is(row.Rule) {
			t.Errorf("%s is broken", row.Name)
		}
	}
}
