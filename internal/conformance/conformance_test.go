package conformance

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestMatrix prints the number of cases of each operation, subject, refusal, status, state, field and limit,
// and fails if one has none.
func TestMatrix(t *testing.T) {
	t.Parallel()
	cases, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	m := MatrixOf(cases)
	var text strings.Builder
	if err := errors.Join(m.Write(&text), WriteCases(&text, cases)); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d cases\n%s", len(cases), text.String())
	for _, missing := range m.Missing() {
		t.Errorf("%s %s has no case", missing.What, missing.Name)
	}
	for i := range cases {
		if !slices.ContainsFunc(Subjects(), func(s Subject) bool { return s.Key == cases[i].Subject }) {
			t.Errorf("%s: subject %q is not in the table", cases[i].File, cases[i].Subject)
		}
	}
}
