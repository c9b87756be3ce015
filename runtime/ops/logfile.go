package ops

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"botd/internal/disk"
	"botd/internal/privatefile"
)

// logFolder holds the log's files within the directory of a mode: botd.log is the newest, botd.7.log the oldest.
const logFolder = "logs"

// Bounds of the log on disk.
const (
	logFiles    = 8
	logQueue    = 4_096 // lines waiting for the disk
	maxLineRead = 1 << 20
)

// LogFile writes lines of the log to files of bounded size, without delaying trading: a slow or full disk loses lines
// and blocks no caller.
type LogFile struct {
	directory string
	size      int64 // of a file
	free      func(directory string) (bytes int64, known bool)
	warn      func(error)

	queue chan []byte
	lost  atomic.Int64
	done  chan struct{}

	file    *os.File // the writer's, as all below
	written int64
	failing bool
}

// OpenLogFile writes to a folder of a directory, up to a total size in MiB. warn is called when that
// fails.
func OpenLogFile(directory string, mib int, free func(string) (int64, bool), warn func(error)) *LogFile {
	l := &LogFile{directory: filepath.Join(directory, logFolder), size: int64(mib) << 20 / logFiles, free: free, warn: warn,
		queue: make(chan []byte, logQueue), done: make(chan struct{})}
	go l.run()
	return l
}

// Write takes a line, and never waits.
func (l *LogFile) Write(line []byte) (int, error) {
	select {
	case l.queue <- append([]byte(nil), line...):
	default:
		l.lost.Add(1)
	}
	return len(line), nil
}

// Lost returns the number of lines that could not be written to disk.
func (l *LogFile) Lost() int64 { return l.lost.Load() }

// Close writes the queued lines. Nothing may be written after it.
func (l *LogFile) Close() {
	close(l.queue)
	<-l.done
}

func (l *LogFile) run() {
	defer close(l.done)
	for line := range l.queue {
		err := l.write(line)
		if err != nil {
			l.lost.Add(1)
		}
		if err != nil && !l.failing {
			l.warn(err)
		}
		l.failing = err != nil
	}
	if l.file != nil {
		_ = l.file.Close() // every line was written already
	}
}

// write appends a line, to a new file when this one is full.
func (l *LogFile) write(line []byte) (err error) {
	if free, known := l.free(l.directory); known && free < disk.MinFree {
		return fmt.Errorf("the disk has %d MiB left", free>>20)
	}
	if l.file == nil {
		if err = l.open(); err != nil {
			return err
		}
	}
	if l.written+int64(len(line)) > l.size {
		if err = l.rotate(); err != nil {
			return err
		}
	}
	n, err := l.file.Write(line)
	if err != nil {
		if n > 0 { // a truncated line would corrupt the next one
			err = errors.Join(err, l.file.Truncate(l.written))
		}
		_ = l.file.Close() // it is opened again
		l.file = nil
		return err
	}
	l.written += int64(n)
	return nil
}

func (l *LogFile) open() error {
	if err := os.MkdirAll(l.directory, 0o700); err != nil {
		return err
	}
	file, err := privatefile.Open(l.name(0), os.O_CREATE|os.O_APPEND|os.O_WRONLY)
	if err != nil {
		return err
	}
	found, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	l.file, l.written = file, found.Size()
	return nil
}

// rotate gives each file the next number, and deletes the oldest.
func (l *LogFile) rotate() error {
	_ = l.file.Close() // every line was written already
	l.file = nil
	for n := logFiles - 2; n >= 0; n-- {
		if err := os.Rename(l.name(n), l.name(n+1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return l.open()
}

func (l *LogFile) name(n int) string { return filepath.Join(l.directory, logName(n)) }

func logName(n int) string {
	if n == 0 {
		return "botd.log"
	}
	return fmt.Sprintf("botd.%d.log", n)
}

// ReadLogs passes the stored lines of a directory to take, oldest first. open opens a file; text that is not a log line is skipped.
func ReadLogs(directory string, open func(path string) (io.ReadCloser, error), visit func(*LogLine)) error {
	for n := logFiles - 1; n >= 0; n-- {
		file, err := open(filepath.Join(directory, logFolder, logName(n)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		err = readLines(file, visit)
		if err = errors.Join(err, file.Close()); err != nil {
			return fmt.Errorf("%s: %w", logName(n), err)
		}
	}
	return nil
}

func readLines(file io.Reader, visit func(*LogLine)) error {
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxLineRead)
	for lines.Scan() {
		if line, err := readLine(lines.Bytes()); err == nil { // a crash may have truncated one
			visit(&line)
		}
	}
	return lines.Err()
}
