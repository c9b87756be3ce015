package confine

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMain also runs the programs of the tests.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == Verb {
		fmt.Fprintln(os.Stderr, Enter(os.Args[2:]))
		os.Exit(1)
	}
	if len(os.Args) > 1 && programs[os.Args[1]] != nil {
		programs[os.Args[1]]()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// programs are the processes that tests start, by their argument.
var programs = map[string]func(){
	"leave": func() {
		for _, how := range []*syscall.SysProcAttr{{}, {Setsid: true}, {Setpgid: true}} {
			child := exec.Command("/proc/self/exe", "outlive")
			child.Stdout, child.SysProcAttr = os.Stdout, how
			if err := child.Start(); err == nil && (how.Setsid || how.Setpgid) {
				fmt.Println("a child has left the group")
			}
		}
	},
	"outlive": func() {
		<-time.After(5 * time.Second) // much longer than the test takes, and not endless if it fails
		fmt.Println("a child has outlived its program")
	},
	"host": func() { // botd's side: it prints the program's output
		p, err := Start(&Program{Path: os.Args[0], Arguments: []string{"family"}})
		if err == nil {
			_, err = io.Copy(os.Stdout, p)
		}
		fmt.Fprintln(os.Stderr, err)
	},
	"family": func() {
		child := exec.Command(os.Args[0], "parent")
		child.Stdout = os.Stdout
		_ = child.Run()
		fmt.Println(os.Getpid(), os.Getppid(), "whole")
		<-time.After(10 * time.Minute) // not a channel without a sender: Go ends a process that would wait forever
	},
	"parent": func() {
		for range 2 { // they become orphans as soon as this one ends
			child := exec.Command(os.Args[0], "deaf")
			if child.Start() == nil {
				fmt.Print(child.Process.Pid, " ")
			}
		}
	},
	"deaf": func() {
		signal.Ignore()
		<-time.After(10 * time.Minute)
	},
	"hand over": func() {
		if id, _, failed := syscall.RawSyscall6(unix.SYS_CLONE, unix.CLONE_PARENT|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0); failed == 0 {
			if id == 0 {
				for {
					syscall.RawSyscall(unix.SYS_EXIT, 0, 0, 0)
				}
			}
			fmt.Println("botd has a child that it did not start")
		}
	},
	"burn": func() {
		signal.Ignore(unix.SIGXCPU)
		child := exec.Command("/proc/self/exe", "burn alone")
		_ = child.Run()
	},
	"burn alone": func() {
		for {
			syscall.RawSyscall(unix.SYS_GETPID, 0, 0, 0)
		}
	},
	"multiply": func() {
		for range 300 {
			id, _, failed := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
			for failed == 0 && id == 0 {
				syscall.RawSyscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
			}
			if failed != 0 {
				fmt.Println("the system allows not even 256 processes")
				return
			}
		}
		_, _ = io.Copy(io.Discard, os.Stdin)
	},
	"eat": func() {
		for range 4 {
			child := exec.Command("/proc/self/exe", "eat a part")
			child.Stdin = os.Stdin
			if child.Start() != nil {
				return
			}
		}
		_, _ = io.Copy(io.Discard, os.Stdin)
	},
	"eat a part": func() {
		part := make([]byte, 120<<20)
		for i := 0; i < len(part); i += 4 << 10 {
			part[i] = 1
		}
		_, _ = io.Copy(io.Discard, os.Stdin)
	},
}

// start starts a test's program.
func start(t *testing.T, name string, memoryMB int64) *Process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Start(&Program{Path: self, Arguments: []string{name}, MemoryMB: memoryMB})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Kill("the test is over") })
	return p
}

// output returns a program's output until no process has it open any more, and why the program ended.
func output(p *Process) (text, cause string) {
	all, _ := io.ReadAll(p) // it ends with the program, or with what Kill closes
	return string(all), p.Cause()
}

func TestChildrenEndWithTheirProgram(t *testing.T) {
	t.Parallel()
	if text, cause := output(start(t, "leave", 0)); text != "" || !strings.Contains(cause, "exit status 0") {
		t.Errorf("want every child ended with the program, have %q, %s", text, cause)
	}
}

// TestProgramsEndWithBotd kills the process that started the program, as kill -9 does.
func TestProgramsEndWithBotd(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	host := exec.Command(self, "host")
	text, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	host.Stderr = os.Stderr
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = host.Wait() }()
	defer func() { _ = host.Process.Kill() }()
	line, err := bufio.NewReader(text).ReadString('\n')
	numbers := strings.Fields(line)
	if err != nil || len(numbers) != 5 || numbers[4] != "whole" {
		t.Fatalf("want two orphans, their program and its keeper, have %q, %v", line, err)
	}
	var handles []unix.PollFd
	for _, number := range numbers[:4] {
		id, _ := strconv.Atoi(number)
		handle, err := unix.PidfdOpen(id, 0)
		if err != nil {
			t.Fatalf("want process %d to run until botd is killed, have %v", id, err)
		}
		defer unix.Close(handle)
		handles = append(handles, unix.PollFd{Fd: int32(handle), Events: unix.POLLIN})
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for i, number := range numbers[:4] {
		n, err := unix.Poll(handles[i:i+1], 60_000) // long: an unexpected survivor becomes visible
		for err == unix.EINTR {
			n, err = unix.Poll(handles[i:i+1], 60_000)
		}
		if err != nil || n != 1 {
			t.Errorf("process %s has outlived botd: %d, %v", number, n, err)
		}
	}
}

func TestAProgramGivesBotdNoChildren(t *testing.T) {
	t.Parallel()
	if text, cause := output(start(t, "hand over", 0)); text != "" || !strings.Contains(cause, "exit status 0") {
		t.Errorf("want it refused, have %q, %s", text, cause)
	}
}

// TestAProgramsProcessesShareItsLimits lets child processes exceed their program's limits. If botd's user is
// not root, the system itself refuses the processes.
func TestAProgramsProcessesShareItsLimits(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"multiply": "256 processes", "eat": "300 MB"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if text, cause := output(start(t, name, 300)); !strings.Contains(text+cause, want) {
				t.Errorf("want it ended for more than %s, have %s", want, cause)
			}
		})
	}
}

func TestChildProcessorTimeCountsForProgram(t *testing.T) {
	t.Parallel()
	p := start(t, "burn", 0)
	p.pace.mu.Lock()
	p.pace.limit = 1
	p.pace.mu.Unlock()
	if _, cause := output(p); !strings.Contains(cause, "30 s of processor time") {
		t.Errorf("want it ended for its processor time, have %s", cause)
	}
}

// TestNodeStarts runs a program whose interpreter reads OpenSSL's configuration when it starts.
func TestNodeStarts(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed (Debian: nodejs)")
	}
	p, err := Start(&Program{Path: "node", Arguments: []string{"-e", "require('crypto'); console.log(6 * 7)"}, MemoryMB: 256})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Kill("the test is over") })
	if text, cause := output(p); text != "42\n" {
		t.Errorf("want 42, have %q, %s", text, cause)
	}
}
