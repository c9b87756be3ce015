package disktest

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"syscall"
	"testing"
)

// child marks the process in which a test runs.
const child = "BOTD_TEST_ON_A_FULL_DISK"

// Run runs a test in a separate process. There, fill limits the size of every file in bytes: a write across the
// limit is cut there, and the next one fails. A negative size frees the disk.
func Run(t *testing.T, test func(fill func(size int64))) {
	t.Helper()
	if os.Getenv(child) == t.Name() {
		signal.Ignore(syscall.SIGXFSZ) // the write returns an error
		test(func(size int64) { fill(t, size) })
		return
	}
	command := exec.Command(os.Args[0], "-test.run=^"+regexp.QuoteMeta(t.Name())+"$", "-test.v")
	command.Env = append(os.Environ(), child+"="+t.Name())
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

func fill(t *testing.T, size int64) {
	t.Helper()
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit)
	if limit.Cur = limit.Max; size >= 0 {
		limit.Cur = uint64(size)
	}
	if err = errors.Join(err, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)); err != nil {
		t.Fatal(err)
	}
}
