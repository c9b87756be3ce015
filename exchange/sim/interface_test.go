package sim_test

import (
	"testing"

	"botd/internal/conformance"
)

// TestTheInterface runs what package conformance says of the interface and of decisions.md, in process. The server's own
// tests run the same over HTTP.
func TestTheInterface(t *testing.T) {
	t.Parallel()
	cases, err := conformance.Cases()
	if err != nil {
		t.Fatal(err)
	}
	for i := range cases {
		c := &cases[i]
		if c.Wired() {
			continue // about HTTP
		}
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			if err := conformance.Run(c, conformance.Simulated); err != nil {
				t.Error(err)
			}
		})
	}
}
