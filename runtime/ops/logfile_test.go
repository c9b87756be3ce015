package ops

import (
	"fmt"
	"io"
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
		if found, err := os.Stat(filepath.Join(directory, LogFolder, logName(n))); err == nil {
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
	if err := os.Mkdir(filepath.Join(directory, LogFolder), 0o700); err != nil {
		t.Fatal(err)
	}
	text := append(line(1), []byte(`{"level":"in`)...)
	if err := os.WriteFile(filepath.Join(directory, LogFolder, "botd.log"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	count := 0
	if err := ReadLogs(directory, openPlain, func(*LogLine) { count++ }); err != nil || count != 1 {
		t.Errorf("want one line, have %d, %v", count, err)
	}
}
