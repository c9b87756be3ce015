package version

import "testing"

func TestEmptyWordAddsNoSpace(t *testing.T) {
	t.Parallel()
	if want, have := "botd devel go1.26", Spaced("botd", "devel", "", "go1.26"); want != have {
		t.Errorf("want %q, have %q", want, have)
	}
}
