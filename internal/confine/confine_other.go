//go:build !linux

package confine

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

func selfPath() (string, error) { return os.Executable() }

// keeper does nothing here: what has left a program's group is not ended with botd.
type keeper struct{}

func (*keeper) attached()   {}
func (*keeper) follow()     {}
func (*keeper) close()      {}
func (*keeper) how() string { return "" }

// detach has the program run in a group of its own.
func detach(command *exec.Cmd, _ bool) (*keeper, error) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return nil, nil
}

func killGroup(command *exec.Cmd) { _ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }

// wait waits until the program has ended, and ends what of its group is left.
func wait(command *exec.Cmd) {
	_ = command.Wait() // ProcessState says how it ended
	killGroup(command)
}

// watch does nothing here: each process has its own limits alone.
func (*Process) watch(int64) {}

// pace does nothing here: the deadline alone bounds the processor time.
type pace struct{}

func (*Process) allow() {}

// become limits this process as far as every Unix can, and becomes the program.
func become(p *Program, own bool) error {
	limits := map[int]uint64{syscall.RLIMIT_CORE: 0, syscall.RLIMIT_FSIZE: 0}
	if p.MemoryMB > 0 && !own {
		limits[syscall.RLIMIT_DATA] = uint64(p.MemoryMB) << 20
	}
	for resource, limit := range limits {
		if err := syscall.Setrlimit(resource, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			return fmt.Errorf("limit resource %d: %w", resource, err)
		}
	}
	name := p.Path
	if own {
		name = "botd"
	}
	return syscall.Exec(p.Path, append([]string{name}, p.Arguments...), os.Environ())
}

// LimitMemory does nothing here: Go reserves more than it uses, and this system counts that.
func LimitMemory(int64) error { return nil }
