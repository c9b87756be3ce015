package server_test

import (
	"testing"

	"botd/internal/conformance"
)

// TestTheInterface sends the HTTP cases of package conformance without the client: authentication, statuses,
// bodies, faults.
func TestTheInterface(t *testing.T) {
	t.Parallel()
	runServed(t, func(c *conformance.Case) bool { return c.Wired() })
}

// TestTheInterfaceThroughTheClient runs all other cases through the signed client.
func TestTheInterfaceThroughTheClient(t *testing.T) {
	t.Parallel()
	runServed(t, func(c *conformance.Case) bool { return !c.Wired() })
}

func runServed(t *testing.T, which func(*conformance.Case) bool) {
	t.Helper()
	cases, err := conformance.Cases()
	if err != nil {
		t.Fatal(err)
	}
	for i := range cases {
		c := &cases[i]
		if !which(c) {
			continue
		}
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			if err := conformance.Run(c, conformance.Served); err != nil {
				t.Error(err)
			}
		})
	}
}
