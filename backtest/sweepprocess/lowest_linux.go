package sweepprocess

import (
	"fmt"
	"os"
	"os/exec"
	goruntime "runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// selfPath returns the path of this binary, which stays valid after the file is replaced.
func selfPath() (string, error) { return "/proc/self/exe", nil }

// attributes makes a process end with the thread that starts it, and lead its own process group.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// The lowest CPU priority and, by class, the lowest disk priority (ioprio_set(2)).
const (
	lowestPriority = 19
	idleDisk       = 3 << 13
	ofThread       = 1 // IOPRIO_WHO_PROCESS
)

// lowest starts a process with the lowest priority. The process inherits the priority of this goroutine's thread, so
// it has it from its first instruction. A thread cannot raise its priority again, so it ends with the goroutine,
// which must last as long as the process. If the kernel or a system call filter refuses a setting, the process runs
// without it.
func lowest(command *exec.Cmd) error {
	goruntime.LockOSThread()
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, lowestPriority)
	_, _, _ = unix.Syscall(unix.SYS_IOPRIO_SET, ofThread, 0, idleDisk)
	if err := command.Start(); err != nil {
		return err
	}
	process := command.Process.Pid
	// The kernel ends this process first when memory runs out.
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
