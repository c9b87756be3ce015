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

// fileCalls are those that change files. A read that fails is another test's: of bad input.
const fileCalls = "openat,write,pwrite64,fsync,fdatasync,ftruncate,renameat,linkat,unlinkat,mkdirat"

// Call is one of them: the nth of its kind on a file.
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

// NeedStrace skips a test where there is no strace, or where it may not trace.
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

// Strace are the arguments of strace that write the file calls of a command to a file.
func Strace(file string) []string {
	return []string{"-f", "-y", "-qq", "-s", "0", "-e", "signal=none", "-o", file, "-e", "trace=" + fileCalls}
}

// Every says which of the calls fail: each one with BOTD_FAULTS=all, else every nth.
func Every(t *testing.T, nth int) int {
	t.Helper()
	if os.Getenv("BOTD_FAULTS") == "all" {
		return 1
	}
	t.Logf("one call in %d; BOTD_FAULTS=all takes all", nth)
	return nth
}

// Traced runs a command under strace, and returns its trace, what it printed and its exit code.
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

// Calls are those of a trace on the files below a directory, the first two and the last of a kind on a file.
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

// Inject are the arguments of strace that have the call fail, as on a full disk.
func (c Call) Inject() []string { return append([]string{"-P", c.Path}, c.inject()...) }

// Fail runs a command of which a call fails, as on a full disk; prepare makes what it needs again. It returns false where the call did not
// come again, of a file with another name each time, say, or failed twice: strace counts the calls of each thread.
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

// EachCallFails runs a test in a process of its own, once for each file call that it makes below its directory: that call fails, once. The
// test does again what failed, judges that nothing is lost, and passes reported each error, or warning, that it was given: each failure must be.
func EachCallFails(t *testing.T, test func(directory string, reported func(error))) {
	t.Helper()
	if os.Getenv(callsChild) == t.Name() {
		runtime.LockOSThread() // whose calls strace counts
		test(os.Getenv(callsIn), func(err error) {
			if err != nil {
				fmt.Println(reportedPrefix + err.Error())
			}
		})
		return
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
		child.Env = append(os.Environ(), callsChild+"="+t.Name(), callsIn+"="+directory, "GOMAXPROCS=1") // few threads, whose calls strace counts apart
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
		} else if c.Kind != "unlinkat" && !strings.Contains(printed, reportedPrefix) { // what is removed beforehand need not be there
			t.Errorf("%s: nothing was reported of it", c)
		}
	}
	if t.Logf("%d of %d calls failed, once each", failed, len(all)); 4*every*failed < len(all) || failed == 0 {
		t.Errorf("want a quarter of %d calls to fail at least, have %d", len(all)/every, failed)
	}
}
