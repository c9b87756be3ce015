package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"botd/reconcile/record"
)

// compressed writes lines in the format of a segment's file. A truncated file lacks the end of its last line.
func compressed(t *testing.T, path, text string) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	encoder, err := zstd.NewWriter(file)
	if err == nil {
		_, err = encoder.Write([]byte(text))
	}
	if err = errors.Join(err, encoder.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestAlteredSegmentIsRefused writes segments of three records, as anyone with access to the directory can. The error names
// the first missing or altered record.
func TestAlteredSegmentIsRefused(t *testing.T) {
	t.Parallel()
	var none *Key
	var lines, hashes []string
	previous := ""
	for i := range 3 {
		body, err := (&record.Record{AtMS: int64(i), Body: record.Halt{Level: record.LevelPause, Reason: fmt.Sprint("why ", i)}}).MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		previous = none.link(previous, body)
		lines, hashes = append(lines, previous+" "+string(body)+"\n"), append(hashes, previous)
	}
	noRecord := none.link(hashes[0], []byte("no record"))
	header := func(format, first, last int, hash string) string {
		return fmt.Sprintf(`{"format":%d,"first":%d,"last":%d,"previous":"","hash":%q,"newest_ms":2,"rows":{"placements":null,"balances":null}}`+"\n",
			format, first, last, hash)
	}
	whole := header(1, 1, 3, hashes[2])
	for name, c := range map[string]struct {
		text string
		read int // number of records
		want string
	}{
		"whole":                 {whole + strings.Join(lines, ""), 3, ""},
		"of one record":         {header(1, 1, 1, hashes[0]) + lines[0], 1, ""},
		"empty":                 {"", 0, "read segment FILE: EOF"},
		"a header that is cut":  {whole[:20], 0, "read segment FILE: unexpected EOF"},
		"a header that is none": {"records\n" + strings.Join(lines, ""), 0, "read segment FILE: invalid character"},
		"of a newer botd":       {header(2, 1, 3, hashes[2]) + strings.Join(lines, ""), 0, "read segment FILE: format 2, this botd knows 1"},
		"from before the first": {header(1, 0, 3, hashes[2]) + strings.Join(lines, ""), 0, "read segment FILE: records 0 to 3"},
		"the wrong way round":   {header(1, 3, 2, hashes[2]) + strings.Join(lines, ""), 0, "read segment FILE: records 3 to 2"},
		"of later records": {header(1, 2, 4, hashes[2]) + strings.Join(lines, ""), 0,
			"journal record 1 is missing: segment FILE begins with record 2"},
		"without the last":            {whole + lines[0] + lines[1], 2, "journal record 3 cannot be read from segment FILE: EOF"},
		"cut in the last":             {whole + lines[0] + lines[1] + lines[2][:70], 2, "journal record 3 cannot be read from segment FILE: unexpected EOF"},
		"with one more":               {whole + strings.Join(lines, "") + lines[2], 3, "journal record 3 is not the end of segment FILE"},
		"that ends with another":      {header(1, 1, 3, hashes[1]) + strings.Join(lines, ""), 3, "journal record 3 was altered or one before it is missing"},
		"without one in the middle":   {whole + lines[0] + lines[2] + lines[2], 1, "journal record 2 was altered or one before it is missing"},
		"with a word changed":         {whole + lines[0] + strings.Replace(lines[1], "why 1", "why 2", 1) + lines[2], 1, "journal record 2 was altered"},
		"with what is no record":      {whole + lines[0] + noRecord + " no record\n" + lines[2], 1, "journal record 2: invalid character"},
		"with a line that is no link": {whole + lines[0] + "\n" + lines[2], 1, "journal record 2 was altered"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, l, read := segment{path: filepath.Join(t.TempDir(), "FILE")}, link{}, 0
			compressed(t, s.path, c.text)
			err := s.each(&l, func(r *Stored) error {
				if read++; r.Sequence != int64(read) || r.Hash != hashes[read-1] || r.AtMS != int64(read-1) {
					t.Errorf("record %d: have %+v", read, r)
				}
				return nil
			})
			have := ""
			if err != nil {
				have = strings.ReplaceAll(err.Error(), s.path, "FILE")
			}
			if read != c.read || !strings.HasPrefix(have, c.want) || (err == nil) != (c.want == "") {
				t.Errorf("want %d records and %q, have %d and %q", c.read, c.want, read, have)
			}
			if altered := new(AlteredError); strings.HasPrefix(c.want, "journal record") && c.read != 1 && !errors.As(err, &altered) {
				t.Errorf("want an AlteredError, have %v", err)
			}
		})
	}
	s := segment{path: filepath.Join(t.TempDir(), "FILE")}
	compressed(t, s.path, whole+strings.Join(lines, ""))
	err := s.each(&link{}, func(r *Stored) error {
		if r.Sequence == 2 {
			return io.ErrShortWrite
		}
		return nil
	})
	if !errors.Is(err, io.ErrShortWrite) || !strings.HasPrefix(err.Error(), "journal record 2: ") {
		t.Errorf("want the error of who takes the records, at record 2, have %v", err)
	}
}

// A line longer than the read buffer is read completely, too.
func TestALineIsReadWholeUpToItsBound(t *testing.T) {
	t.Parallel()
	const most = 100 // the line's end counts
	for length, fits := range map[int]bool{0: true, 15: true, 16: true, 17: true, 99: true, 100: false, 500: false} {
		text := strings.Repeat("x", length)
		lines := bufio.NewReaderSize(strings.NewReader(text+"\nnext\n"), 16)
		have, err := readLine(lines, most)
		if fits && (err != nil || string(have) != text) || !fits && (err == nil || err.Error() != "a line is longer than 100 bytes") {
			t.Errorf("%d bytes: want it read %t, have %d, %v", length, fits, len(have), err)
		}
		if next, err := readLine(lines, most); fits && (err != nil || string(next) != "next") {
			t.Errorf("after %d bytes: want the next line, have %q, %v", length, next, err)
		}
	}
}

// unopened returns a journal of which only the segments are read, from journal.db.segments (docs/operations.md).
func unopened(t *testing.T) *Journal {
	t.Helper()
	j := &Journal{path: filepath.Join(t.TempDir(), FileName)}
	if have := SegmentsPath(j.path); have != filepath.Join(filepath.Dir(j.path), "journal.db.segments") {
		t.Fatalf("want them beside it, have %s", have)
	}
	return j
}

// TestSegmentsOfOneHistoryAreFoundByTheirHashes reads a journal whose first thirty records are sealed, next to all of its segments, some of
// them, or segments of other histories. A segment is written here as FIRST-LAST PREVIOUS HASH.
func TestSegmentsOfOneHistoryAreFoundByTheirHashes(t *testing.T) {
	t.Parallel()
	const first, second, third = "1-10 - a", "11-20 a b", "21-30 b c"
	for name, c := range map[string]struct {
		there   []string
		found   []string
		missing []Span
	}{
		"all":                                   {[]string{first, second, third}, []string{first, second, third}, nil},
		"none":                                  {nil, nil, []Span{{1, 30}}},
		"without the first":                     {[]string{second, third}, []string{second, third}, []Span{{1, 10}}},
		"without the middle":                    {[]string{first, third}, []string{first, third}, []Span{{11, 20}}},
		"without the last":                      {[]string{first, second}, []string{first, second}, []Span{{21, 30}}},
		"the middle alone":                      {[]string{second}, []string{second}, []Span{{1, 10}, {21, 30}}},
		"the last of another history":           {[]string{first, second, "21-30 b x"}, []string{first, second}, []Span{{21, 30}}},
		"beside the last of another":            {[]string{first, second, third, "21-30 b x"}, []string{first, second, third}, nil},
		"beside a longer one of another":        {[]string{first, second, third, "21-40 b y"}, []string{first, second, third}, nil},
		"beside one that overlaps":              {[]string{first, second, third, "16-25 x y"}, []string{first, second, third}, nil},
		"beside a middle of another":            {[]string{first, second, "11-20 a x", third}, []string{first, second, third}, nil},
		"without the first record alone":        {[]string{"2-30 a c"}, []string{"2-30 a c"}, []Span{{1, 1}}},
		"one of all":                            {[]string{"1-30 - c"}, []string{"1-30 - c"}, nil},
		"another's first, of which none is own": {[]string{"1-30 - x"}, nil, []Span{{1, 30}}},
	} {
		j := unopened(t)
		if err := os.Mkdir(SegmentsPath(j.path), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, text := range append(c.there, "") {
			path := filepath.Join(SegmentsPath(j.path), "notes.txt") // not a segment
			h := segmentHeader{Format: segmentFormat}
			if text != "" {
				if _, err := fmt.Sscanf(text, "%d-%d %s %s", &h.First, &h.Last, &h.Previous, &h.Hash); err != nil {
					t.Fatal(err)
				}
				path = filepath.Join(SegmentsPath(j.path), h.name())
			}
			compressed(t, path, fmt.Sprintf(`{"format":1,"first":%d,"last":%d,"previous":%q,"hash":%q}`+"\n", h.First, h.Last, h.Previous, h.Hash))
		}
		segments, missing, err := j.segments(&base{Through: 30, Hash: "c"})
		var found []string
		for _, s := range segments {
			found = append(found, fmt.Sprintf("%d-%d %s %s", s.First, s.Last, s.Previous, s.Hash))
		}
		if err != nil || !reflect.DeepEqual(found, c.found) || !reflect.DeepEqual(missing, c.missing) {
			t.Errorf("%s: want %v without %v, have %v without %v, %v", name, c.found, c.missing, found, missing, err)
		}
		if found, missing, err := j.segments(&base{}); err != nil || found != nil || missing != nil {
			t.Errorf("%s: nothing sealed: want none, have %v, %v, %v", name, found, missing, err)
		}
	}
}

// Segments that may be there are not reported as missing.
func TestUnreadableSegmentDirectoryIsAnError(t *testing.T) {
	t.Parallel()
	for want, spoil := range map[string]func(directory string) error{
		"read the journal's segments: ": func(directory string) error { return os.WriteFile(directory, nil, 0o600) },
		"read segment ": func(directory string) error {
			return errors.Join(os.Mkdir(directory, 0o700), os.WriteFile(filepath.Join(directory, "a"+segmentEnding), []byte("no zstd"), 0o600))
		},
		"has the content that belongs in ": func(directory string) error {
			err := os.Mkdir(directory, 0o700)
			compressed(t, filepath.Join(directory, "000000000001-000000000009-b"+segmentEnding), `{"format":1,"first":1,"last":9,"hash":"a"}`+"\n")
			return err
		},
	} {
		j := unopened(t)
		if err := spoil(SegmentsPath(j.path)); err != nil {
			t.Fatal(err)
		}
		found, missing, err := j.segments(&base{Through: 30, Hash: "c"})
		if err == nil || !strings.Contains(err.Error(), want) || found != nil || missing != nil {
			t.Errorf("want %q, have %v, %v, %v", want, found, missing, err)
		}
	}
}
