package confine

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// A keeper is the process between botd and a program. It starts the program under its limits and leads a group that no process leaves. It
// ends the whole group with the program or with botd, however botd ends: then a pipe closes that only botd can write to.
type keeper struct {
	lifeline, reports *os.File
	theirs            []*os.File
	program           atomic.Int64 // process id; 0 before it runs
	ending            string       // cause of the end; empty if the keeper did not report one
}

// These are the keeper's ends of the pipes.
const (
	lifelineEnd = 3
	reportsEnd  = 4
)

// detach makes a command lead its own group. Botd's own process for scripts starts no other process, so that the
// system ends it with botd. A program gets a keeper.
func detach(command *exec.Cmd, own bool) (*keeper, error) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if own {
		command.SysProcAttr.Pdeathsig = syscall.SIGKILL
		return nil, nil
	}
	theirs, lifeline, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	reports, theirReports, err := os.Pipe()
	if err != nil {
		closeAll([]*os.File{theirs, lifeline})
		return nil, err
	}
	command.ExtraFiles = []*os.File{theirs, theirReports}
	return &keeper{lifeline: lifeline, reports: reports, theirs: command.ExtraFiles}, nil
}

// attached closes botd's copies of the keeper's ends, once the keeper has them.
func (k *keeper) attached() {
	if k != nil {
		closeAll(k.theirs)
	}
}

// follow reads the keeper's reports until the pipe closes.
func (k *keeper) follow() {
	if k == nil {
		return
	}
	defer k.reports.Close()
	if id, err := readReport(k.reports); err == nil {
		k.program.Store(int64(id))
	}
	if status, err := readReport(k.reports); err == nil {
		k.ending = describe(syscall.WaitStatus(status))
	}
}

// close makes the keeper end the remaining processes.
func (k *keeper) close() {
	if k != nil {
		k.lifeline.Close()
	}
}

// how returns how the program ended; empty if the keeper did not report it.
func (k *keeper) how() string {
	if k == nil {
		return ""
	}
	return k.ending
}

func readReport(from io.Reader) (uint32, error) {
	var number [4]byte
	_, err := io.ReadFull(from, number[:])
	return binary.NativeEndian.Uint32(number[:]), err
}

func report(number uint32) {
	_, _ = unix.Write(reportsEnd, binary.NativeEndian.AppendUint32(nil, number)) // nobody reads it after botd has ended
}

func describe(status syscall.WaitStatus) string {
	if status.Signaled() {
		return "signal: " + status.Signal().String()
	}
	return "exit status " + strconv.Itoa(status.ExitStatus())
}

// keep makes this process the keeper of a program. It returns only if the program cannot be started, with the
// error.
func keep(p *Program) error {
	if unix.Getpgrp() != unix.Getpid() {
		return fmt.Errorf("%s is botd's own: it leads a group of processes", Verb)
	}
	runtime.LockOSThread() // the program ends with this thread
	unix.CloseOnExec(lifelineEnd)
	unix.CloseOnExec(reportsEnd)
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil { // descendants of the program stay below the keeper
		return fmt.Errorf("adopt the program's orphans: %w", err)
	}
	rules, err := newRuleset(p.Readable, false)
	if err != nil {
		return fmt.Errorf("restrict files: %w", err)
	}
	born, err := fork(p.Path, append([]string{p.Path}, p.Arguments...), os.Environ(), restrictions(rules))
	if err != nil {
		return fmt.Errorf("make a process: %w", err)
	}
	if err := bound(born.id, p.MemoryMB); err != nil {
		return err
	}
	if err := rules.allow("/proc/"+strconv.Itoa(born.id), readAll); err != nil {
		return fmt.Errorf("restrict files: %w", err)
	}
	signal.Ignore(unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU) // the keeper ends last
	if err := born.start(); err != nil {
		return err
	}
	report(uint32(born.id))
	for standard := range 3 {
		_ = unix.Dup3(lifelineEnd, standard, unix.O_CLOEXEC) // only the program needs them
	}
	go func() {
		for {
			if n, err := unix.Read(lifelineEnd, make([]byte, 1)); n == 0 && err == nil {
				endGroup()
			}
		}
	}()
	for {
		var status unix.WaitStatus
		if id, err := unix.Wait4(-1, &status, 0, nil); err == nil && id == born.id {
			report(uint32(status))
			endGroup()
		}
	}
}

// endGroup ends this process and all descendants of the program.
func endGroup() { _ = unix.Kill(0, unix.SIGKILL) }
