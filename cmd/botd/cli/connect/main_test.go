package connect

import (
	"fmt"
	"os"
	"testing"

	"botd/internal/confine"
	"botd/runtime/worker/isolated"
)

// TestMain is also the keeper of a program, and the process of a script: both start this program again, which otherwise would run the tests again.
func TestMain(m *testing.M) {
	var err error
	switch {
	case len(os.Args) > 1 && os.Args[1] == confine.Verb:
		err = confine.Enter(os.Args[2:])
	case len(os.Args) > 1 && os.Args[1] == isolated.Verb:
		err = isolated.Serve()
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
