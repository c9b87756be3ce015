package ops

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"botd/internal/disk/disktest"
)

// TestEachFileCallOfTheLogFails writes lines in two processes, over several files. A line that failed is written again, as the next line would be. Each
// line is there once, in its place.
func TestEachFileCallOfTheLogFails(t *testing.T) {
	t.Parallel()
	disktest.EachCallFails(t, func(directory string, reported func(error)) {
		for process := range 2 {
			l := &LogFile{directory: filepath.Join(directory, logFolder), size: int64(4 * len(line(0))), free: plenty}
			for n := 7 * process; n < 7*process+7; n++ {
				if err := l.write(line(n)); err != nil {
					reported(err)
					if err := l.write(line(n)); err != nil {
						t.Errorf("line %d, once more: %v", n, err)
					}
				}
			}
			if err := l.file.Close(); err != nil {
				t.Fatal(err)
			}
		}
		var want, have []int
		for n := range 14 {
			want = append(want, n)
		}
		if err := ReadLogs(directory, openPlain, func(line *LogLine) {
			var n int
			fmt.Sscanf(line.Message, "%06d", &n)
			have = append(have, n)
		}); err != nil || !slices.Equal(have, want) {
			t.Errorf("want lines %d, have %d, %v", want, have, err)
		}
	})
}
