package apart

import (
	"fmt"
	"os"
	"os/exec"
	goruntime "runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// selfPath is this binary, also after its file was replaced.
func selfPath() (string, error) { return "/proc/self/exe", nil }

// attributes have a process end with the thread that starts it, and lead a group of its own.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// The lowest priority of the processor and, by class, of the disk (ioprio_set(2)).
const (
	lowestPriority = 19
	idleDisk       = 3 << 13
	ofThread       = 1 // IOPRIO_WHO_PROCESS
)

// lowest starts a process with the lowest priority, which it has from its first instruction: it inherits that of
// the thread of this goroutine. A thread cannot rise again, so it ends with the goroutine, which must last as long
// as the process. What a kernel or a filter of system calls refuses is left out; priorities stay the usual then.
func lowest(command *exec.Cmd) error {
	goruntime.LockOSThread()
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, lowestPriority)
	_, _, _ = unix.Syscall(unix.SYS_IOPRIO_SET, ofThread, 0, idleDisk)
	if err := command.Start(); err != nil {
		return err
	}
	process := command.Process.Pid
	// Where memory runs out, it ends first.
	_ = os.WriteFile("/proc/"+strconv.Itoa(process)+"/oom_score_adj", []byte("1000"), 0)
	for resource, limit := range map[int]uint64{unix.RLIMIT_DATA: MemoryMB << 20, unix.RLIMIT_CORE: 0} {
		if err := unix.Prlimit(process, resource, &unix.Rlimit{Cur: limit, Max: limit}, nil); err != nil {
			_ = command.Process.Kill()
			_ = command.Wait()
			return fmt.Errorf("limit a process's resource %d: %w", resource, err)
		}
	}
	return nil
}
