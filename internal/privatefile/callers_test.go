package privatefile

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// direct matches calls that open or replace a file without this package's checks.
var direct = regexp.MustCompile(`\bos\.(OpenFile|Create|WriteFile)\(`)

// allowed lists the files that may contain them, and why.
var allowed = map[string]string{
	"runtime/api/auth/token.go":          "reads with O_NOFOLLOW, and replaces what is not its own",
	"runtime/gateway/rehearsal.go":       "a temporary directory of its own",
	"runtime/support/support.go":         "O_EXCL, at a path that a person names",
	"reconcile/journal/backup.go":        "O_EXCL, and a file it has just made",
	"reconcile/journal/venue_account.go": "O_EXCL",
	"exchange/tape/append.go":            "candles, which others may read",
}

// TestDataFilesAreOpenedThroughPrivate reads the source of everything that runs in the daemon.
func TestDataFilesAreOpenedThroughPrivate(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, room := range []string{"runtime", "reconcile", "exchange"} {
		err := filepath.WalkDir(filepath.Join("../..", room), func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			name := strings.TrimPrefix(filepath.ToSlash(path), "../../")
			for number, line := range strings.Split(string(text), "\n") {
				if !direct.MatchString(line) {
					continue
				}
				if found[name] = true; allowed[name] == "" {
					t.Errorf("%s:%d opens a file without internal/privatefile: %s", name, number+1, strings.TrimSpace(line))
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range allowed {
		if !found[name] {
			t.Errorf("%s opens no file directly: take it off the list", name)
		}
	}
}
