package ops

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"botd/internal/disk/disktest"
)

// TestCutLogLineDamagesNoOther has the disk full at places throughout a line of the log.
func TestCutLogLineDamagesNoOther(t *testing.T) {
	t.Parallel()
	disktest.Run(t, func(fill func(int64)) {
		for cut := 0; cut < len(line(0)); cut += 7 {
			l := &LogFile{directory: filepath.Join(t.TempDir(), logFolder), size: 1 << 20, free: plenty}
			for n, limit := range []int64{-1, int64(len(line(0)) + cut), -1} {
				fill(limit)
				if err := l.write(line(n)); (err != nil) != (limit >= 0) {
					t.Errorf("cut at %d: line %d: %v", cut, n, err)
				}
			}
			if err := l.file.Close(); err != nil {
				t.Fatal(err)
			}
			var have []int
			if err := ReadLogs(filepath.Dir(l.directory), openPlain, func(line *LogLine) {
				var n int
				fmt.Sscanf(line.Message, "%06d", &n)
				have = append(have, n)
			}); err != nil || !slices.Equal(have, []int{0, 2}) {
				t.Errorf("cut at %d: want lines 0 and 2, have %d, %v", cut, have, err)
			}
		}
	})
}
