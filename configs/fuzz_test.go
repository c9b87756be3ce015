package configs_test

import (
	"os"
	"path/filepath"
	"testing"

	"botd/configs"
)

// FuzzLoad holds that no text ends the daemon, that every error names a file,
// and that what was accepted can be shown and hashed.
func FuzzLoad(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, text)
	}
	check := options(f)
	f.Fuzz(func(t *testing.T, root, one []byte) {
		config, problems := configs.Load(tree("botd.yaml", string(root), "strategies/a.yaml", string(one)), "c", check)
		if (config == nil) != (problems.Errors() > 0) {
			t.Fatalf("want a configuration or errors, have %v and %s", config != nil, problems)
		}
		for _, problem := range problems {
			if problem.File == "" || problem.What == "" {
				t.Fatalf("want every problem to say where and what, have %+v", problem)
			}
		}
		if config == nil {
			return
		}
		if len(config.Hash()) != 64 {
			t.Fatalf("want a hash, have %q", config.Hash())
		}
		for i := range config.Strategies {
			if next := config.Strategies[i].Schedule.Next(0); next <= 0 {
				t.Fatalf("want a moment after 0, have %d", next)
			}
		}
	})
}
