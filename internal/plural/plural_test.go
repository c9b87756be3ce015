package plural

import "testing"

func TestNounAgreesWithNumber(t *testing.T) {
	t.Parallel()
	for want, have := range map[string]string{"0 files": Of(0, "file"), "1 file": Of(1, "file"), "2 files": Of(2, "file"),
		"1 strategy": Of(1, "strategy"), "3 strategies": Of(3, "strategy")} {
		if have != want {
			t.Errorf("want %q, have %q", want, have)
		}
	}
}
