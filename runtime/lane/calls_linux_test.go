package lane

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"botd/internal/disk/disktest"
	"botd/reconcile/record"
)

// Whatever was reported as durable is read again, in its order. A write that failed may be there too, as a whole.
func TestEachFileCallOfTheLaneFails(t *testing.T) {
	t.Parallel()
	disktest.EachCallFails(t, func(directory string, reported func(error)) {
		path := filepath.Join(directory, FileName)
		open := func() (*File, []record.Record) {
			file, records, err := OpenFile(path, nil)
			if err != nil {
				reported(err)
				if file, records, err = OpenFile(path, nil); err != nil {
					t.Fatal(err)
				}
			}
			return file, records
		}
		file, records := open()
		if len(records) != 0 {
			t.Errorf("want a new file, have %v", records)
		}
		var stored []string
		for _, why := range []string{"first", strings.Repeat("long ", 100), "short", "last"} { // a shorter record may follow a failed longer one
			if file.write(halted(why), time.Minute) {
				stored = append(stored, why)
			} else {
				reported(errors.New("not durable"))
			}
		}
		closed(t, file)
		file, records = open()
		for _, r := range records {
			if why := r.Body.(record.Halt).Reason; len(stored) > 0 && why == stored[0] {
				stored = stored[1:]
			}
		}
		if len(stored) != 0 || len(records) > 4 {
			t.Errorf("want everything that was durable, lacking %.40q in %d records", stored, len(records))
		}
		if err := file.Reset(); err != nil {
			reported(err)
			if err := file.Reset(); err != nil {
				t.Fatal(err)
			}
		}
		closed(t, file)
		file, records = open()
		if len(records) != 0 {
			t.Errorf("want it empty, have %d records", len(records))
		}
		closed(t, file)
	})
}
