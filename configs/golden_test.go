package configs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"botd/configs"
)

// The name of every file in testdata shows its kind: strategy-*.yaml or botd-*.yaml, good or bad. Each bad
// one has a file with its reported problems (.want).
func TestGoldenFilesReportTheirProblems(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) < 15 {
		t.Fatalf("want 15 files or more in testdata, have %d, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tree, read := fstest.MapFS{}, "botd.yaml"
			if strings.HasPrefix(filepath.Base(file), "strategy-") {
				tree["botd.yaml"] = &fstest.MapFile{Data: []byte("mode: demo\n")}
				read = "strategies/s.yaml"
			} else {
				good, err := os.ReadFile("testdata/strategy-least-good.yaml")
				if err != nil {
					t.Fatal(err)
				}
				tree["strategies/s.yaml"] = &fstest.MapFile{Data: good}
			}
			tree[read] = &fstest.MapFile{Data: text}
			config, problems := configs.Load(tree, "configs", options(t))

			want := ""
			if strings.HasSuffix(file, "-bad.yaml") {
				typed, err := os.ReadFile(strings.TrimSuffix(file, ".yaml") + ".want")
				if err != nil {
					t.Fatalf("%v\nhave:\n%s", err, problems)
				}
				want = strings.TrimSpace(string(typed))
			}
			if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(problems.String(), "\n")); diff != "" {
				t.Errorf("-want +have\n%s", diff)
			}
			if good := want == ""; good != (config != nil) {
				t.Errorf("want a configuration only from a good file, have %v", config != nil)
			}
		})
	}
}
