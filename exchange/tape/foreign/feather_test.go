package foreign_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"botd/exchange/tape/foreign"
)

func featherFile(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".feather"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestFeather reads files that pandas and pyarrow wrote: testdata/feather.py.
func TestFeather(t *testing.T) {
	t.Parallel()
	const mixed = `open_time_ms,open,high,low,close,volume,trades
1704067200000,42283.58,42554.57,42261.02,42475.23,1271.68,47134
1704070800000,42475.23,42775,42431.65,,1196.38,46893
`
	for _, name := range []string{"zstd", "plain"} {
		have, origin := read(t, featherFile(t, name), "")
		if diff := cmp.Diff(mixed, have); diff != "" {
			t.Errorf("%s: -want +have\n%s", name, diff)
		}
		if want := (foreign.Origin{First: 2, Step: 1}); origin != want {
			t.Errorf("%s: the first row is %+v, want %+v", name, origin, want)
		}
	}
	have, _ := read(t, featherFile(t, "freqtrade"), "")
	lines := strings.Split(strings.TrimSpace(have), "\n")
	if want := strings.ReplaceAll(strings.TrimSpace(two), "42775.00", "42775"); strings.Join(lines[:3], "\n") != want {
		t.Errorf("want\n%s\nhave\n%s", want, strings.Join(lines[:3], "\n"))
	}
	if want := "1706943600000,42475.23,42775,42431.65,42613.56,1196.38"; len(lines) != 801 || lines[800] != want {
		t.Errorf("want 800 candles, the last %s, have %d, the last %s", want, len(lines)-1, lines[len(lines)-1])
	}
}

func TestFeatherThatIsNotRead(t *testing.T) {
	t.Parallel()
	whole := featherFile(t, "freqtrade")
	longer := []byte(whole) // the footer supposedly starts before the file
	binary.LittleEndian.PutUint32(longer[len(longer)-10:], 1<<31)
	for name, c := range map[string]struct{ text, want string }{
		"cut":                 {whole[:len(whole)/2], "truncated or damaged"},
		"only its magic":      {"ARROW1", "truncated or damaged"},
		"a footer of 2 GiB":   {string(longer), "truncated or damaged"},
		"a batch overwritten": {whole[:2000] + strings.Repeat("\xff", 4000) + whole[6000:], "truncated or damaged"},
		"categories":          {featherFile(t, "categories"), "column volume contains categories"},
	} {
		_, _, err := foreign.CSV(bufio.NewReaderSize(strings.NewReader(c.text), 1<<16), "")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %q, have %v", name, c.want, err)
		}
	}
}

// FuzzFeather replaces some of a file's bytes. The file is refused, or read as rows of one width.
func FuzzFeather(f *testing.F) {
	files := [][]byte{[]byte(featherFile(f, "zstd")), []byte(featherFile(f, "plain")), []byte(featherFile(f, "freqtrade"))}
	f.Add(uint8(0), uint16(8), []byte{0xff, 0xff, 0xff, 0x7f})
	f.Add(uint8(1), uint16(4000), []byte{0, 0})
	f.Add(uint8(2), uint16(20), []byte{1, 2, 3})
	f.Add(uint8(1), uint16(4040), []byte("\x00\x86\xf2")) // more buffers than bytes
	f.Fuzz(func(t *testing.T, which uint8, at uint16, with []byte) {
		data := bytes.Clone(files[int(which)%len(files)])
		copy(data[int(at)%len(data):], with)
		translated, _, err := foreign.CSV(bufio.NewReaderSize(bytes.NewReader(data), 1<<16), "")
		if err != nil {
			return
		}
		rows, err := io.ReadAll(translated)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			t.Fatal(err)
		}
		lines := strings.Split(string(rows), "\n")
		for _, line := range lines {
			if line != "" && strings.Count(line, ",") != strings.Count(lines[0], ",") {
				t.Errorf("%q under %q", line, lines[0])
			}
		}
	})
}
