package ops

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func plenty(string) (int64, bool) { return 1 << 40, true }

func openPlain(path string) (io.ReadCloser, error) { return os.Open(path) }

func line(n int) []byte {
	return fmt.Appendf(nil, `{"level":"info","time":"2026-11-23T03:12:00Z","event":"order.fill","msg":"%06d %s"}`+"\n", n, strings.Repeat("x", 900))
}

func TestTheLogOnDiskSurvivesARestartAndIsBounded(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	const lines = 6_000 // of about a KiB each: more than the bound of 4 MiB
	for run := range 2 {
		log := OpenLogFile(directory, 4, plenty, func(err error) { t.Error(err) })
		for n := range lines / 2 {
			for len(log.queue) > logQueue/2 { // a test is faster than a disk
				runtime.Gosched()
			}
			if _, err := log.Write(line(run*lines/2 + n)); err != nil {
				t.Fatal(err)
			}
		}
		log.Close()
		if log.Lost() != 0 {
			t.Errorf("lost %d lines", log.Lost())
		}
	}
	total, next := int64(0), -1
	for n := range logFiles {
		if found, err := os.Stat(filepath.Join(directory, logFolder, logName(n))); err == nil {
			total += found.Size()
		}
	}
	if total > 4<<20 || total < 3<<20 {
		t.Errorf("want nearly 4 MiB, have %d bytes", total)
	}
	err := ReadLogs(directory, openPlain, func(l *LogLine) {
		var have int
		if _, err := fmt.Sscanf(l.Message, "%06d", &have); err != nil || next >= 0 && have != next {
			t.Fatalf("want line %d, have %q", next, l.Message)
		}
		next = have + 1
	})
	if err != nil || next != lines {
		t.Errorf("want the newest line last, have %d, %v", next, err)
	}
}

func TestFullDiskDropsLogLinesAndWarnsOnce(t *testing.T) {
	t.Parallel()
	warned := 0
	log := OpenLogFile(t.TempDir(), 4, func(string) (int64, bool) { return 1 << 20, true }, func(error) { warned++ })
	for n := range 3 {
		_, _ = log.Write(line(n)) // it never fails
	}
	log.Close()
	if log.Lost() != 3 || warned != 1 {
		t.Errorf("want 3 lines lost and one warning, have %d and %d", log.Lost(), warned)
	}
}

func TestCutLogLineIsSkipped(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	if err := os.Mkdir(filepath.Join(directory, logFolder), 0o700); err != nil {
		t.Fatal(err)
	}
	text := append(line(1), []byte(`{"level":"in`)...)
	if err := os.WriteFile(filepath.Join(directory, logFolder, "botd.log"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	count := 0
	if err := ReadLogs(directory, openPlain, func(*LogLine) { count++ }); err != nil || count != 1 {
		t.Errorf("want one line, have %d, %v", count, err)
	}
}

// TestAFileOfTheLogIsFull covers files of 100 bytes, and lines of 50.
func TestAFileOfTheLogIsFull(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), logFolder)
	open := func() *LogFile { return &LogFile{directory: directory, size: 100, free: plenty} }
	write := func(l *LogFile, text string) {
		t.Helper()
		if err := l.write([]byte(text + strings.Repeat(".", 50-len(text)))); err != nil {
			t.Fatal(err)
		}
	}
	holds := func(n int, want ...string) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(directory, logName(n)))
		var have []string
		for len(text) >= 50 {
			have, text = append(have, strings.Trim(string(text[:50]), ".")), text[50:]
		}
		if strings.Join(have, " ") != strings.Join(want, " ") || (err != nil) != (want == nil) {
			t.Errorf("%s: want %v, have %v, %v", logName(n), want, have, err)
		}
	}
	l := open()
	write(l, "a")
	write(l, "b") // the file is full to the last byte
	holds(0, "a", "b")
	holds(1)
	write(l, "c")
	holds(0, "c")
	holds(1, "a", "b")
	if err := l.file.Close(); err != nil {
		t.Fatal(err)
	}
	l = open() // a restart continues the file
	write(l, "d")
	holds(0, "c", "d")
	for _, text := range strings.Fields("e f g h i j k l m n o p q") {
		write(l, text)
	}
	holds(0, "q")
	holds(1, "o", "p")
	holds(7, "c", "d") // the eighth file is the oldest
	holds(8)
	if err := l.file.Close(); err != nil {
		t.Fatal(err)
	}
	if found, err := os.Stat(directory); err != nil || found.Mode().Perm() != 0o700 {
		t.Errorf("want a folder for the user alone, have %v, %v", found.Mode(), err)
	}
}

// TestTheLastSpaceIsForTheJournal covers 64 MiB left, and a byte less.
func TestTheLastSpaceIsForTheJournal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		free  int64
		known bool
		want  string
	}{{67_108_864, true, ""}, {67_108_863, true, "the disk has 63 MiB left"}, {0, false, ""}} {
		l := &LogFile{directory: t.TempDir(), size: 1000, free: func(string) (int64, bool) { return c.free, c.known }}
		err := l.write([]byte("x"))
		if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%d bytes free: want %q, have %v", c.free, c.want, err)
		}
		if l.file != nil {
			l.file.Close()
		}
	}
}

func TestLinesThatTheDiskIsTooSlowForAreCounted(t *testing.T) {
	t.Parallel()
	l := &LogFile{queue: make(chan []byte, 2)}
	text := []byte("first")
	for range 5 {
		if n, err := l.Write(text); n != 5 || err != nil {
			t.Errorf("want no error of a lost line, have %d, %v", n, err)
		}
	}
	copy(text, "XXXXX") // a caller may use its buffer again
	if have := string(<-l.queue); have != "first" || l.Lost() != 3 {
		t.Errorf("want 3 lines lost and the first whole, have %d and %q", l.Lost(), have)
	}
}

// TestAWarningForEachTimeTheDiskFails covers a disk that is full, has room, and is full again.
func TestAWarningForEachTimeTheDiskFails(t *testing.T) {
	t.Parallel()
	var warned []string
	n := 0
	free := func(string) (int64, bool) { n++; return map[bool]int64{true: 1 << 30, false: 3 << 20}[n == 3], true }
	l := OpenLogFile(t.TempDir(), 1, free, func(err error) { warned = append(warned, err.Error()) })
	for range 5 {
		_, _ = l.Write(line(1)) // it never fails
	}
	l.Close()
	if want := "[the disk has 3 MiB left the disk has 3 MiB left]"; fmt.Sprint(warned) != want || l.Lost() != 4 {
		t.Errorf("want %s and 4 lines lost, have %v and %d", want, warned, l.Lost())
	}
}

// TestALogThatCannotBeReadIsNamed covers a file that cannot be opened, and one with a line beyond a MiB.
func TestALogThatCannotBeReadIsNamed(t *testing.T) {
	t.Parallel()
	refused := errors.New("permission denied")
	err := ReadLogs("", func(string) (io.ReadCloser, error) { return nil, refused }, nil)
	if !errors.Is(err, refused) {
		t.Errorf("want %v, have %v", refused, err)
	}
	err = ReadLogs("", func(path string) (io.ReadCloser, error) {
		if filepath.Base(path) != "botd.3.log" {
			return nil, fs.ErrNotExist
		}
		return io.NopCloser(strings.NewReader(strings.Repeat("x", 1<<20+1))), nil
	}, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "botd.3.log: ") {
		t.Errorf("want the file named, have %v", err)
	}
}
