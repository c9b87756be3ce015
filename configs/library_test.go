package configs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"botd/configs"
	"botd/exchange/sim"
	"botd/risk"
	"botd/strategy"
	"botd/strategy/library"
	"botd/strategy/script"
)

// TestTheExampleDescribesItsLimitsAsTheTableDoes compares the comments of botd.yaml's limits with the table of limits.
func TestTheExampleDescribesItsLimitsAsTheTableDoes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("botd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, limits, _ := strings.Cut(string(text), "\nrisk:\n")
	described := 0
	for _, limit := range risk.Table() {
		for line := range strings.Lines(limits) {
			if strings.HasPrefix(line, "  "+limit.Name+": ") {
				if _, comment, _ := strings.Cut(line, " # "); comment != limit.What+"\n" {
					t.Errorf("%s: want the comment %q, have %q", limit.Name, limit.What, comment)
				}
				described++
			}
		}
	}
	if lines := strings.Count(limits, "\n"); described != lines || lines < 8 {
		t.Errorf("want every line a limit, have %d limits in %d lines", described, lines)
	}
}

// TestALibraryIsReadFromTheScriptsFolderAlone follows links inside the folder, but not out of it.
func TestALibraryIsReadFromTheScriptsFolderAlone(t *testing.T) {
	t.Parallel()
	options := configs.Options{Registry: strategy.NewRegistry(append(library.All(), script.Files())...), Symbols: sim.DefaultSymbols(),
		Script: func(source *strategy.Source) (strategy.Definition, error) {
			s, err := script.Compile(source.File, source.Text, source.Libraries...)
			if err != nil {
				return strategy.Definition{}, err
			}
			return s.Definition(), nil
		}}
	const side = "side = \"long\"\n"
	for _, c := range []struct {
		name, more, want string
		put              func(folder, outside string) error
	}{
		{"a file", "", "", func(folder, _ string) error {
			return os.WriteFile(filepath.Join(folder, "lib.star"), []byte(side), 0o600)
		}},
		{"a link inside", "", "", func(folder, _ string) error {
			return join(os.WriteFile(filepath.Join(folder, "one.star"), []byte(side), 0o600), os.Symlink("one.star", filepath.Join(folder, "lib.star")))
		}},
		{"a link out", "", "x.star:1: load(\"lib.star\"): cannot be read: path escapes from parent", func(folder, outside string) error {
			return os.Symlink(outside, filepath.Join(folder, "lib.star"))
		}},
		{"a relative link out", "", "cannot be read: path escapes from parent", func(folder, outside string) error {
			return os.Symlink("../"+filepath.Base(outside), filepath.Join(folder, "lib.star"))
		}},
		{"a directory", "", "cannot be read: it is not a regular file", func(folder, _ string) error {
			return os.Mkdir(filepath.Join(folder, "lib.star"), 0o700)
		}},
		{"a file of more than a mebibyte", "", "cannot be read: it is 1048577 bytes long; a library has at most 1048576", func(folder, _ string) error {
			return os.WriteFile(filepath.Join(folder, "lib.star"), []byte(strings.Repeat("#", 1<<20+1)), 0o600)
		}},
		{"none", "", "file not found", func(string, string) error { return nil }},
		{"another version than the pinned one", "file_sha256: " + strings.Repeat("0", 64), "is not the pinned version",
			func(folder, _ string) error {
				return os.WriteFile(filepath.Join(folder, "lib.star"), []byte(side), 0o600)
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			directory := t.TempDir()
			folder, outside := filepath.Join(directory, "strategies"), filepath.Join(directory, "secret.star")
			err := join(
				os.Mkdir(folder, 0o700),
				os.WriteFile(outside, []byte(side), 0o600),
				os.WriteFile(
					filepath.Join(folder, "x.star"),
					[]byte("load(\"lib.star\", \"side\")\ndef decide(view):\n    return hold(side)\n"),
					0o600,
				),
				os.WriteFile(filepath.Join(folder, "x.yaml"), []byte(scriptHead+c.more+"\n"), 0o600),
				c.put(folder, outside),
			)
			if err != nil {
				t.Fatal(err)
			}
			made, problems := configs.LoadStrategy(filepath.Join(folder, "x.yaml"), options)
			if have := problems.String(); (c.want == "") != (have == "") || !strings.Contains(have, c.want) {
				t.Fatalf("want %q, have %q", c.want, have)
			}
			if c.want == "" && (len(made.Script.Libraries) != 1 || string(made.Script.Libraries[0].Text) != side) {
				t.Errorf("want the library's text, have %v", made.Script.Libraries)
			}
		})
	}
}

// join returns the first error.
func join(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
