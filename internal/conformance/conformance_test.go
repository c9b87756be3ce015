package conformance

import (
	"slices"
	"testing"
)

// TestEveryRowHasACase covers each operation, subject, refusal, status, state, field and limit.
func TestEveryRowHasACase(t *testing.T) {
	t.Parallel()
	cases, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	rows := Matrix(cases)
	if len(rows) < 300 {
		t.Errorf("want at least 300 rows, have %d", len(rows))
	}
	for _, row := range rows {
		if row.Cases == 0 || row.Checks < row.Cases || row.Wired > row.Cases {
			t.Errorf("%s %s: want a case, and a check in each, have %d cases, %d of them raw HTTP, and %d checks", row.What, row.Name, row.Cases, row.Wired,
				row.Checks)
		}
	}
	for i := range cases {
		if !slices.ContainsFunc(Subjects(), func(s Subject) bool { return s.Key == cases[i].Subject }) {
			t.Errorf("%s: subject %q is not in the table", cases[i].File, cases[i].Subject)
		}
	}
}

func TestMissingMachineIsReported(t *testing.T) {
	t.Parallel()
	if _, err := MachineOf("steam"); err == nil || err.Error() != `unknown machine "steam", have simulated, restarted, served` {
		t.Errorf("want the machines named, have %v", err)
	}
}
