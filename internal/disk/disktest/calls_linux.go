package disktest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// fileCalls are the system calls that change files. Other tests cover failing reads, with bad input.
const fileCalls = "openat,write,pwrite64,fsync,fdatasync,ftruncate,renameat,linkat,unlinkat,mkdirat"

// Call identifies a system call: the nth of its kind on a file.
type Call struct {
	Kind, Path string
	Nth        int
}

func (c Call) String() string {
	return fmt.Sprintf("%s %s, number %d", c.Kind, filepath.Base(c.Path), c.Nth)
}

var (
	callKind = regexp.MustCompile(`^\d+\s+(\w+)\(`)
	callPath = regexp.MustCompile(`[<"](/[^>"]+)[>"]`)
)

// NeedStrace skips a test if strace is missing or not permitted to trace.
func NeedStrace(t *testing.T) {
	t.Helper()
	required := slices.Contains(strings.Split(os.Getenv("BOTD_REQUIRE"), ","), "strace")
	output, err := exec.Command("strace", "-o", os.DevNull, "true").CombinedOutput()
	switch {
	case err != nil && required:
		t.Fatalf("strace, which BOTD_REQUIRE names: %v: %s", err, output)
	case err != nil:
		t.Skipf("file calls are made to fail by strace (.ci/run shows where it comes from); BOTD_REQUIRE=strace makes this fail: %v: %s", err, output)
	}
}

// Strace returns the arguments of strace that write the file calls of a command to a file.
func Strace(file string) []string {
	return []string{"-f", "-y", "-qq", "-s", "0", "-e", "signal=none", "-o", file, "-e", "trace=" + fileCalls}
}

// Every returns the interval between failing calls: 1 with BOTD_FAULTS=all, otherwise nth.
func Every(t *testing.T, nth int) int {
	t.Helper()
	if os.Getenv("BOTD_FAULTS") == "all" {
		return 1
	}
	t.Logf("one call in %d; BOTD_FAULTS=all takes all", nth)
	return nth
}

// Traced runs a command under strace, and returns its trace, its output and its exit code.
func Traced(t *testing.T, inject []string, command *exec.Cmd) (trace, printed string, code int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "trace")
	under := exec.Command("strace", slices.Concat(Strace(file), inject, command.Args)...)
	under.Dir, under.Env = command.Dir, command.Env
	var output bytes.Buffer
	under.Stdout, under.Stderr = &output, &output
	err := under.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), output.String(), under.ProcessState.ExitCode()
}

// Calls returns the calls in a trace on files below a directory: the first two and the last of each kind on a file.
func Calls(trace, directory string) (all []Call) {
	count := map[Call]int{}
	for line := range strings.Lines(trace) {
		kind, path := callKind.FindStringSubmatch(line), ""
		for _, found := range callPath.FindAllStringSubmatch(line, -1) {
			if strings.HasPrefix(found[1], directory+"/") {
				path = found[1]
				break
			}
		}
		if kind == nil || path == "" || kind[1] == "openat" && !strings.Contains(line, "O_CREAT") && !strings.Contains(line, "O_RDWR") {
			continue
		}
		key := Call{Kind: kind[1], Path: path}
		if count[key]++; count[key] == 1 {
			all = append(all, key)
		}
	}
	var each []Call
	for _, c := range all {
		nths := []int{1, 2, count[c]}
		slices.Sort(nths)
		for _, nth := range slices.Compact(nths) {
			if nth <= count[c] {
				each = append(each, Call{c.Kind, c.Path, nth})
			}
		}
	}
	return each
}

func (c Call) inject() []string {
	return []string{"-e", fmt.Sprintf("inject=%s:error=ENOSPC:when=%d", c.Kind, c.Nth)}
}

// Inject returns the arguments of strace that make the call fail, as on a full disk.
func (c Call) Inject() []string { return append([]string{"-P", c.Path}, c.inject()...) }

// Fail runs a command and makes one call of it fail, as on a full disk; prepare recreates the input. Failed is false if the call did not occur,
// for example because the file's name changes each time, or if it failed twice: strace counts the calls of each thread.
func (c Call) Fail(t *testing.T, prepare func(), command func() *exec.Cmd) (printed string, code int, failed bool) {
	t.Helper()
	inject := c.inject()
	for try := 0; try < 3 && !failed; try++ {
		prepare()
		var trace string
		trace, printed, code = Traced(t, c.Inject(), command())
		if !strings.Contains(trace, "(INJECTED)") && c.Kind != "openat" && c.Kind != "write" {
			prepare()
			trace, printed, code = Traced(t, inject, command())
		}
		var all, here int
		for line := range strings.Lines(trace) {
			if strings.Contains(line, "(INJECTED)") {
				if all++; strings.Contains(line, filepath.Dir(c.Path)) {
					here++
				}
			}
		}
		failed = all == 1 && here == 1
	}
	return printed, code, failed
}

const (
	callsChild     = "BOTD_TEST_WHOSE_CALLS_FAIL"
	callsIn        = "BOTD_TEST_CALLS_IN"
	reportedPrefix = "reported: "
)

// EachCallFails runs a test in a separate process, once for each file call below its directory, and makes that call fail once. The test retries the failed
// action and checks that nothing is lost. It passes each error or warning that it receives to reported: each failure must be reported. It returns the
// calls without a failure, for tests of what must be durable; nil in the separate process.
func EachCallFails(t *testing.T, test func(directory string, reported func(error))) []Call {
	t.Helper()
	if os.Getenv(callsChild) == t.Name() {
		runtime.LockOSThread() // strace counts the calls of this thread
		test(os.Getenv(callsIn), func(err error) {
			if err != nil {
				fmt.Println(reportedPrefix + err.Error())
			}
		})
		return nil
	}
	NeedStrace(t)
	home := t.TempDir()
	directory := filepath.Join(home, "here")
	prepare := func() {
		if err := errors.Join(os.RemoveAll(directory), os.Mkdir(directory, 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	command := func() *exec.Cmd {
		child := exec.Command(os.Args[0], "-test.run=^"+regexp.QuoteMeta(t.Name())+"$", "-test.v")
		child.Env = append(os.Environ(), callsChild+"="+t.Name(), callsIn+"="+directory, "GOMAXPROCS=1") // few threads: strace counts their calls separately
		return child
	}
	prepare()
	trace, printed, code := Traced(t, nil, command())
	if code != 0 || strings.Contains(printed, reportedPrefix) {
		t.Fatalf("without a fault: exit %d: %s", code, printed)
	}
	all, failed, every := Calls(trace, home), 0, 1
	if len(all) > 20 {
		every = Every(t, 3)
	}
	for i, c := range all {
		if i%every != 0 {
			continue
		}
		printed, code, now := c.Fail(t, prepare, command)
		if !now {
			t.Logf("%s: it did not fail once", c)
			continue
		}
		failed++
		if code != 0 {
			t.Errorf("%s: exit %d: %s", c, code, printed)
		} else if c.Kind != "unlinkat" && !strings.Contains(printed, reportedPrefix) { // a file removed as a precaution need not exist
			t.Errorf("%s: nothing was reported of it", c)
		}
	}
	if t.Logf("%d of %d calls failed, once each", failed, len(all)); 4*every*failed < len(all) || failed == 0 {
		t.Errorf("want a quarter of %d calls to fail at least, have %d", len(all)/every, failed)
	}
	return all
}
