package sim_test

import (
	"testing"

	"botd/internal/conformance"
)

// TestTheInterface runs the cases of package conformance for the interface and docs/exchange.md in process. The server's own
// tests run them over HTTP.
func TestTheInterface(t *testing.T) {
	t.Parallel()
	runCases(t, "simulated")
}

// TestTheInterfaceAcrossRestarts runs the cases on an exchange that is restored from its state before each step.
func TestTheInterfaceAcrossRestarts(t *testing.T) {
	t.Parallel()
	runCases(t, "restarted")
}

func runCases(t *testing.T, name string) {
	t.Helper()
	machine, err := conformance.MachineOf(name)
	if err != nil {
		t.Fatal(err)
	}
	cases, err := conformance.Cases()
	if err != nil {
		t.Fatal(err)
	}
	for i := range cases {
		c := &cases[i]
		if !machine.Runs(c) {
			continue
		}
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			if err := machine.Run(c); err != nil {
				t.Error(err)
			}
		})
	}
}
