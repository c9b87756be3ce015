//go:build !linux

package apart

import (
	"os"
	"os/exec"
	"syscall"
)

func selfPath() (string, error) { return os.Executable() }

// attributes have a process lead a group of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// lowest starts a process with the lowest priority; its memory has Go's soft limit alone here.
func lowest(command *exec.Cmd) error {
	if err := command.Start(); err != nil {
		return err
	}
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, command.Process.Pid, 19) // then it is the usual one
	return nil
}
