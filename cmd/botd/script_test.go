package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"botd": main})
}

// TestScripts drives the real binary the way a person does.
func TestScripts(t *testing.T) {
	t.Parallel()
	shared, err := filepath.Abs("../../../shared")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("NO_COLOR", "1")
			env.Setenv("SHARED", shared)
			return nil
		},
		Condition: func(condition string) (bool, error) {
			if condition == "shared" {
				_, err := os.Stat(shared)
				return err == nil, nil
			}
			return false, nil
		},
		RequireUniqueNames: true,
	})
}
