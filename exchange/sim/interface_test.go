package sim_test

import (
	"slices"
	"testing"

	"botd/internal/conformance"
)

// TestTheInterface runs the cases of package conformance for the interface and docs/exchange.md in process. The server's own
// tests run them over HTTP.
func TestTheInterface(t *testing.T) {
	t.Parallel()
	runCases(t, conformance.Simulated, nil)
}

// TestTheInterfaceAcrossRestarts runs the cases on an exchange that is restored from its state before each step. Candles,
// public trades and the day's statistics are not part of the state and start from scratch.
func TestTheInterfaceAcrossRestarts(t *testing.T) {
	t.Parallel()
	runCases(t, conformance.Restarted, []string{"candles", "public-trades", "ticker", "limits-default", "limits-maximum"})
}

func runCases(t *testing.T, open conformance.Open, without []string) {
	t.Helper()
	cases, err := conformance.Cases()
	if err != nil {
		t.Fatal(err)
	}
	for i := range cases {
		c := &cases[i]
		if c.Wired() || slices.Contains(without, c.Subject) {
			continue // HTTP cases belong to the server
		}
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			if err := conformance.Run(c, open); err != nil {
				t.Error(err)
			}
		})
	}
}
