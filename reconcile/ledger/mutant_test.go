package ledger

import (
	"testing"

	"botd/internal/mutant/mutanttest"
)

// TestRulesOfFeesShowWhenTheyAreBroken books fees near a funding time.
func TestRulesOfFeesShowWhenTheyAreBroken(t *testing.T) {
	const due = 8 * 3_600_000
	mutanttest.Shown(t, "reconcile/ledger", map[string]func(testing.TB){
		"fee_divided": func(t testing.TB) {
			feeBeforeFunding(t, due-30_000, 59_999, "0.25", map[Account]string{Fees: "0.25"}, map[Account]string{Funding: "0.3"})
		},
		"reduction_at_entry": func(t testing.TB) {
			reducedBeforeFunding(t, position(1, false, "0.01", "0.005", "50000", "10"), 0, "0.152", map[Account]string{Fees: "0.152"},
				map[Account]string{Funding: "0.3"})
		},
		"estimate_is_funding": func(t testing.TB) {
			reducedBeforeFunding(t, position(1, false, "0.015", "0.01", "50500", "10"), 0, "0.203", map[Account]string{Fees: "0.204", Funding: "-0.001"},
				map[Account]string{Funding: "0.3"})
		},
		"funding_explains": func(t testing.TB) { unstableRead(t, "999.90379", 8*3_600, false) },
	})
}
