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
	"syscall"
	"testing"
)

// fileCalls are the system calls that change files. Other tests cover failing reads, with bad input.
const fileCalls = "openat,write,pwrite64,fsync,fdatasync,ftruncate,renameat,linkat,unlinkat,mkdirat"

// Call identifies a system call: the nth of its kind on a file.
type Call struct {
	Kind, Path string
	Nth        int

	thread string // that made it
	number int    // among the thread's calls of this kind, on any file
}

func (c Call) String() string {
	return fmt.Sprintf("%s %s, number %d", c.Kind, filepath.Base(c.Path), c.Nth)
}

var (
	callKind = regexp.MustCompile(`^(\d+)\s+(\w+)\(`)
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

// Calls returns the calls in a trace on files below a directory: the first two and the last of each kind on a file; with BOTD_FAULTS=all each.
func Calls(trace, directory string) (all []Call) {
	type key struct{ kind, path string }
	count, numbers := map[key]int{}, map[key]int{} // numbers: of a thread's calls
	for line := range strings.Lines(trace) {
		found, path := callKind.FindStringSubmatch(line), ""
		if found == nil {
			continue
		}
		thread, kind := found[1], found[2]
		numbers[key{kind, thread}]++
		for _, found := range callPath.FindAllStringSubmatch(line, -1) {
			if strings.HasPrefix(found[1], directory+"/") {
				path = found[1]
				break
			}
		}
		if path == "" || !changes(line) {
			continue
		}
		count[key{kind, path}]++
		all = append(all, Call{kind, path, count[key{kind, path}], thread, numbers[key{kind, thread}]})
	}
	if os.Getenv("BOTD_FAULTS") == "all" {
		return all
	}
	return slices.DeleteFunc(all, func(c Call) bool { return c.Nth > 2 && c.Nth < count[key{c.Kind, c.Path}] })
}

// changes reports whether the call in a line of a trace changes files: a full disk fails no open for reading.
func changes(line string) bool {
	return !strings.Contains(line, "openat(") || strings.Contains(line, "O_CREAT") || strings.Contains(line, "O_RDWR")
}

func (c Call) inject(when int) []string {
	return []string{"-e", fmt.Sprintf("inject=%s:error=ENOSPC:when=%d", c.Kind, when)}
}

// Inject returns the arguments of strace that make the call fail, as on a full disk.
func (c Call) Inject() []string { return c.ofFile(c.Nth) }

func (c Call) ofFile(when int) []string { return append([]string{"-P", c.Path}, c.inject(when)...) }

// Fail runs a command and makes one of its calls fail, as on a full disk; prepare recreates the input. It
// finds a file whose name changes each time by the number of the call within its thread. failed is false if
// the call did not occur. Strace counts the calls of each thread separately: if two threads use a file, two
// calls may fail. That proves nothing about a command that must survive one failure, nor about one that
// succeeds.
func (c Call) Fail(t *testing.T, prepare func(), command func() *exec.Cmd) (printed string, code int, failed bool) {
	t.Helper()
	for try := 0; try < 5 && !failed; try++ {
		inject := c.ofFile(max(1, c.Nth-try/2)) // other threads may make the file's earlier calls
		if try%2 == 1 {
			inject = c.inject(c.number)
		}
		prepare()
		var trace string
		trace, printed, code = Traced(t, inject, command())
		var all, here int
		for line := range strings.Lines(trace) {
			if strings.Contains(line, "(INJECTED)") {
				if all++; strings.Contains(line, filepath.Dir(c.Path)) && changes(line) {
					here++
				}
			}
		}
		failed = here == all && (all == 1 || all > 1 && code == 0)
	}
	return printed, code, failed
}

const (
	callsChild     = "BOTD_TEST_WHOSE_CALLS_FAIL"
	callsIn        = "BOTD_TEST_CALLS_IN"
	reportedPrefix = "reported: "
	threadPrefix   = "thread: "
)

// ownThread runs functions in a thread of its own. The thread starts with the process, before any other
// thread makes a file call, so its calls have the same numbers in each run. The number of files that a thread
// of the Go scheduler has opened before would differ from run to run.
var ownThread = func() chan<- func() {
	if os.Getenv(callsChild) == "" {
		return nil
	}
	work := make(chan func())
	started := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		close(started)
		for f := range work {
			f()
		}
	}()
	<-started
	return work
}()

// onOwnThread returns when the function has returned, or has ended the test, and ends the thread.
func onOwnThread(f func()) {
	done := make(chan struct{})
	ownThread <- func() {
		defer close(done)
		f()
	}
	<-done
	close(ownThread)
}

// raiseCallCounts makes more calls of each kind, without a file, than any other thread makes: then no call of
// another thread has the number of a call in this thread.
func raiseCallCounts() {
	for range 100 {
		_, _ = syscall.Open("", 0, 0)
		_, _ = syscall.Write(-1, nil)
		_, _ = syscall.Pwrite(-1, nil, 0)
		_ = syscall.Fsync(-1)
		_ = syscall.Fdatasync(-1)
		_ = syscall.Ftruncate(-1, 0)
		_ = syscall.Rename("", "")
		_ = syscall.Link("", "")
		_ = syscall.Unlink("")
		_ = syscall.Mkdir("", 0)
	}
}

// EachCallFails runs a test in a separate process, once for each file call below its directory, and makes
// that call fail once. The test retries the failed action and checks that nothing is lost. It passes each
// error or warning that it receives to reported, because each failure must be reported, except failures of
// the calls named in silent. EachCallFails returns the calls of a run without a failure, for tests of
// durability; it returns nil in the separate process.
func EachCallFails(t *testing.T, test func(directory string, reported func(error)), silent ...string) []Call {
	t.Helper()
	if os.Getenv(callsChild) == t.Name() {
		onOwnThread(func() {
			fmt.Printf("\n%s%d\n", threadPrefix, syscall.Gettid())
			raiseCallCounts()
			test(os.Getenv(callsIn), func(err error) {
				if err != nil {
					fmt.Println(reportedPrefix + err.Error())
				}
			})
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
		child.Env = append(os.Environ(), callsChild+"="+t.Name(), callsIn+"="+directory, "GOMAXPROCS=1") // few threads: strace counts each separately
		return child
	}
	prepare()
	trace, without, code := Traced(t, nil, command())
	if code != 0 || strings.Contains(without, reportedPrefix) {
		t.Fatalf("without a fault: exit %d: %s", code, without)
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
		if !now && strings.Contains(without, threadPrefix+c.thread+"\n") { // the distribution of calls among other threads is random
			t.Errorf("%s: the test's own call did not fail once", c)
		}
		if !now {
			t.Logf("%s: it did not fail once", c)
			continue
		}
		failed++
		if code != 0 {
			t.Errorf("%s: exit %d: %s", c, code, printed)
		} else if c.Kind != "unlinkat" && !slices.Contains(silent, c.String()) && !strings.Contains(printed, reportedPrefix) {
			// a file removed as a precaution need not exist
			t.Errorf("%s: its failure was not reported", c)
		}
	}
	if t.Logf("%d of %d calls failed, once each", failed, len(all)); 4*every*failed < 3*len(all) {
		t.Errorf("want three of four of %d calls to fail at least, have %d", len(all)/every, failed)
	}
	return all
}
