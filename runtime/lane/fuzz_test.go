package lane

import (
	"bytes"
	"encoding/json"
	"testing"

	"botd/reconcile/record"
)

// FuzzFile reads arbitrary contents of the kill switch's file. Records that are written back are equal, and
// the used part ends within the file.
func FuzzFile(f *testing.F) {
	for _, r := range []record.Record{{Body: record.Config{}}, {AtMS: 1, Strategy: "one", ClientOrderID: "bmain-1-1", Body: record.Audit{Actor: "a"}}} {
		line, err := json.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(append(line, '\n'))
		f.Add(append(append(bytes.Clone(line), '\n'), line[:len(line)/2]...)) // a torn line
		f.Add(append(append(bytes.Clone(line), '\n'), make([]byte, 64)...))
	}
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"v":99,"kind":"boot"}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		records, used, _, err := parse(text, nil)
		if err != nil {
			return
		}
		if used > len(text) || used > 0 && text[used-1] != '\n' || bytes.IndexByte(text[:used], 0) >= 0 {
			t.Fatalf("%q: want whole lines used, have %d bytes", text, used)
		}
		var again []byte
		for i := range records {
			line, err := json.Marshal(records[i])
			if err != nil {
				t.Fatalf("%q: record %d cannot be written: %v", text, i, err)
			}
			again = append(append(again, line...), '\n')
		}
		if second, end, _, err := parse(again, nil); err != nil || len(second) != len(records) || end != len(again) {
			t.Errorf("%q: want %d records back, have %d in %d of %d bytes, %v", text, len(records), len(second), end, len(again), err)
		}
		if forged, _, _, err := parse(text, testCode); err == nil && len(forged) > 0 {
			t.Errorf("%q: want no record without its code, have %+v", text, forged)
		}
	})
}
