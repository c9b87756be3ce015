package gateway

import (
	"testing"

	"botd/internal/disk/disktest"
)

// TestEachFileCallOfTheKeysFails takes over two keys, one after the other. After a failure the earlier keys are still known, no other key
// is, and the next attempt succeeds.
func TestEachFileCallOfTheKeysFails(t *testing.T) {
	t.Parallel()
	disktest.EachCallFails(t, func(directory string, reported func(error)) {
		bound := func(want map[string]string) {
			s, err := readSuccession(directory)
			if err != nil {
				reported(err)
				s, err = readSuccession(directory)
			}
			if err != nil {
				t.Fatal(err)
			}
			for key, first := range want {
				if have := s.bound(key); have != first {
					t.Errorf("%s: want the account of %s, have that of %s", key, first, have)
				}
			}
		}
		taken := map[string]string{"first": "first", "second": "second", "third": "third"}
		bound(taken)
		for _, key := range []string{"second", "third"} {
			if err := AcceptKey(directory, "first", key); err != nil {
				reported(err)
				bound(map[string]string{"first": "first"})
				if key == "third" {
					bound(map[string]string{"second": "first"})
				}
				if err := AcceptKey(directory, "first", key); err != nil {
					t.Fatal(err)
				}
			}
			taken[key] = "first"
			bound(taken)
		}
	})
}
