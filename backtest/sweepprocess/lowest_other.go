//go:build !linux

package sweepprocess

import (
	"os"
	"os/exec"
	"syscall"
)

func selfPath() (string, error) { return os.Executable() }

// attributes makes a process lead its own process group.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// lowest starts a process with the lowest priority. Only Go's soft limit bounds its memory here.
func lowest(command *exec.Cmd) error {
	if err := command.Start(); err != nil {
		return err
	}
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, command.Process.Pid, 19) // on failure it keeps the usual priority
	return nil
}
