//go:build !linux

package confine

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

func selfPath() (string, error) { return os.Executable() }

// keeper does nothing on this system: a process that has left the program's group does not end with botd.
type keeper struct{}

func (*keeper) attached()   {}
func (*keeper) follow()     {}
func (*keeper) close()      {}
func (*keeper) how() string { return "" }

// detach runs the program in its own group.
func detach(command *exec.Cmd, _ bool) (*keeper, error) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return nil, nil
}

func killGroup(command *exec.Cmd) { _ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }

// wait waits until the program has ended, and ends the rest of its group.
func wait(command *exec.Cmd) {
	_ = command.Wait() // ProcessState reports how it ended
	killGroup(command)
}

// watch does nothing on this system: the limits apply to each process separately.
func (*Process) watch(int64) {}

// pace does nothing on this system: only the deadline bounds the processor time.
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

// LimitMemory does nothing on this system, which counts reserved memory: Go reserves more than it uses.
func LimitMemory(int64) error { return nil }
