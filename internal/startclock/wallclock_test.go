package startclock

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// wallStart matches a market that starts at the wall clock. In a synctest bubble that is a fixed time.
	wallStart = regexp.MustCompile(`StartMS:\s*time\.Now\(`)
	bubble    = "testing/synctest"
	// wallRun matches the start of a built binary whose market would start at the wall clock.
	wallRun = regexp.MustCompile(`exec\.Command(?:Context)?\((?:[a-z.]*binary|built), "(?:run|exchange)"`)
)

// TestNoMarketUnderTestStartsAtTheWallClock reads the source of every test.
func TestNoMarketUnderTestStartsAtTheWallClock(t *testing.T) {
	t.Parallel()
	tests := 0
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		tests++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		inBubble := strings.Contains(string(text), bubble)
		for i, line := range strings.Split(string(text), "\n") {
			switch {
			case wallStart.MatchString(line) && !inBubble:
				t.Errorf("%s:%d: a market that starts at the wall clock: use startclock.MS()", path, i+1)
			case wallRun.MatchString(line) && !strings.Contains(line, "--start"):
				t.Errorf("%s:%d: botd started at the wall clock: use startclock.Arguments", path, i+1)
			}
		}
		return nil
	})
	if err != nil || tests < 200 {
		t.Errorf("want every test read, have %d, %v", tests, err)
	}
}
