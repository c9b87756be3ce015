package endtoend

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	testNamed = regexp.MustCompile("`(?:[a-z/]+ )?((?:Test|Fuzz)[A-Z][A-Za-z0-9]*)`")
	testRun   = regexp.MustCompile(`(?m)^.*(?: -run | -skip |alone=|clocked\+?=).*$`)
	testPart  = regexp.MustCompile(`\b[A-Z]+[a-z]+[A-Za-z]*\b`)
	testMade  = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Z][A-Za-z0-9]*)\(`)
)

// TestTestsNamedInDocumentsExist treats each name as a prefix, as -run does. CI's own patterns are parts of names: one that matches
// no test would run none, or exclude none.
func TestTestsNamedInDocumentsExist(t *testing.T) {
	t.Parallel()
	const root = "../../.."
	var made strings.Builder
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range testMade.FindAllStringSubmatch(string(text), -1) {
			made.WriteString("\n" + found[1])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(root, "docs/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range testNamed.FindAllStringSubmatch(string(text), -1) {
			if count++; !strings.Contains(made.String(), "\n"+found[1]) {
				t.Errorf("%s names %s, which is no test", filepath.Base(name), found[1])
			}
		}
	}
	if count < 40 {
		t.Errorf("want the tests that the documents name found, have %d", count)
	}
	script, err := os.ReadFile(filepath.Join(root, ".ci/run"))
	if err != nil {
		t.Fatal(err)
	}
	lines := testRun.FindAllString(string(script), -1)
	for _, part := range testPart.FindAllString(strings.Join(lines, "\n"), -1) {
		if !strings.Contains(made.String(), part) {
			t.Errorf(".ci/run chooses tests by %s, which is in the name of none", part)
		}
	}
	if len(lines) < 10 {
		t.Errorf("want the lines of .ci/run that choose tests found, have %d", len(lines))
	}
}
