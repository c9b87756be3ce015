package server_test

import (
	"testing"

	"botd/internal/conformance"
)

// TestTheInterface runs the cases of package conformance over HTTP: through the signed client, or, where a case is about
// authentication, statuses, bodies or faults, without it.
func TestTheInterface(t *testing.T) {
	t.Parallel()
	machine, err := conformance.MachineOf("served")
	if err != nil {
		t.Fatal(err)
	}
	cases, err := conformance.Cases()
	if err != nil {
		t.Fatal(err)
	}
	for i := range cases {
		c := &cases[i]
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			if err := machine.Run(c); err != nil {
				t.Error(err)
			}
		})
	}
}
