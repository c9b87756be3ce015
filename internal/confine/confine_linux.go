package confine

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// selfPath is this binary, also after its file was replaced.
func selfPath() (string, error) { return "/proc/self/exe", nil }

// detach has the program end with botd, and in a group of its own.
func detach(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func killGroup(command *exec.Cmd) { _ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }

// processorSeconds is the processor time that a program may take between two questions.
const processorSeconds = 30

// pace allows processor time.
type pace struct {
	mu     sync.Mutex // guards newest
	newest time.Time
}

// allow raises the limit to what was used and a little more, at most once a second.
func (p *pace) allow(process int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Sub(p.newest) < time.Second {
		return
	}
	p.newest = now
	used, err := processorTime(process)
	if err != nil {
		return // it has ended, which the question finds out
	}
	limit := unix.Rlimit{Cur: used + processorSeconds, Max: unix.RLIM_INFINITY}
	_ = unix.Prlimit(process, unix.RLIMIT_CPU, &limit, nil)
}

// clockTicks is how many a second has on every Linux.
const clockTicks = 100

// processorTime is what a process has used, in seconds.
func processorTime(process int) (uint64, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(process) + "/stat")
	if err != nil {
		return 0, err
	}
	_, text, _ = bytes.Cut(text, []byte(") "))
	fields := bytes.Fields(text)
	if len(fields) < 13 {
		return 0, fmt.Errorf("read the time of process %d: %q", process, text)
	}
	total := uint64(0)
	for _, field := range fields[11:13] { // utime and stime
		ticks, err := strconv.ParseUint(string(field), 10, 64)
		if err != nil {
			return 0, err
		}
		total += ticks
	}
	return total/clockTicks + 1, nil
}

// become limits this thread and becomes the program. What the kernel does not know is left out.
func become(p *Program, own bool) error {
	runtime.LockOSThread()
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 10)
	limits := map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: 0, unix.RLIMIT_NOFILE: openFiles}
	if p.MemoryMB > 0 && !own {
		limits[unix.RLIMIT_DATA] = uint64(p.MemoryMB) << 20
		limits[unix.RLIMIT_AS] = uint64(p.MemoryMB)<<20 + addressBytes
	}
	for resource, limit := range limits {
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
			return fmt.Errorf("limit resource %d: %w", resource, err)
		}
	}
	if err := unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: processorSeconds, Max: unix.RLIM_INFINITY}); err != nil {
		return fmt.Errorf("limit processor time: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid new privileges: %w", err)
	}
	if err := restrictFiles(p.Readable, own); err != nil {
		return fmt.Errorf("restrict files: %w", err)
	}
	if err := restrictCalls(); err != nil {
		return fmt.Errorf("restrict system calls: %w", err)
	}
	return syscall.Exec(p.Path, append([]string{argumentZero(p, own)}, p.Arguments...), os.Environ())
}

// addressBytes is what a program may reserve beyond its memory: libraries, files, and reservations
// that are never used.
const addressBytes = 4 << 30

func argumentZero(p *Program, own bool) string {
	if own {
		return "botd"
	}
	return p.Path
}

// LimitMemory bounds the data of this process from now on: what it has, and so much more.
func LimitMemory(megabytes int64) error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	_, text, found := bytes.Cut(status, []byte("VmData:"))
	fields := bytes.Fields(text)
	if !found || len(fields) == 0 {
		return fmt.Errorf("no VmData in /proc/self/status")
	}
	kB, err := strconv.ParseUint(string(fields[0]), 10, 64)
	if err != nil {
		return err
	}
	limit := kB<<10 + uint64(megabytes)<<20
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
		return err
	}
	return unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: 3}) // what is open stays so
}

// What every program may read: programs and libraries.
var systemFolders = []string{"/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt", "/nix/store", "/etc/ld.so.cache", "/etc/localtime",
	"/etc/alternatives", "/etc/python3", "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu", "/dev/urandom", "/dev/zero"}

// What botd's own process for scripts may read: itself, and the libraries it may be linked with.
var ownFolders = []string{"/proc/self/exe", "/proc/self", "/lib", "/lib64", "/usr/lib", "/etc/ld.so.cache"}

const (
	readFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE
	readAll  = readFile | unix.LANDLOCK_ACCESS_FS_READ_DIR
)

// restrictFiles forbids every file but those listed, and TCP, by Landlock.
func restrictFiles(readable []string, own bool) error {
	version, _, failed := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if failed != 0 {
		return nil // the kernel has none
	}
	attributes := unix.LandlockRulesetAttr{Handled_access_fs: 1<<13 - 1}
	if version >= 2 {
		attributes.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= 3 {
		attributes.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version >= 4 {
		attributes.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if version >= 5 {
		attributes.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if version >= 6 {
		attributes.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	ruleset, _, failed := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attributes)), unsafe.Sizeof(attributes), 0)
	if failed != 0 {
		return failed
	}
	defer unix.Close(int(ruleset))
	folders := append(systemFolders, readable...)
	if own {
		folders = ownFolders
	}
	for _, path := range folders {
		if err := allow(int(ruleset), path, readAll); err != nil {
			return err
		}
	}
	if err := allow(int(ruleset), "/dev/null", readAll|unix.LANDLOCK_ACCESS_FS_WRITE_FILE); err != nil {
		return err
	}
	if _, _, failed := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0, 0); failed != 0 {
		return failed
	}
	return nil
}

// allow allows access to a path and what is below it. A path that does not exist needs none.
func allow(ruleset int, path string, access uint64) error {
	file, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(file)
	var status unix.Stat_t
	if err := unix.Fstat(file, &status); err != nil {
		return err
	}
	if status.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &^= unix.LANDLOCK_ACCESS_FS_READ_DIR
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(file)}
	if _, _, failed := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0); failed != 0 {
		return failed
	}
	return nil
}

// Offsets in the data that a filter of system calls sees.
const (
	callNumber       = 0
	callArchitecture = 4
	callArgument     = 16         // the first one's lower half, which is all that the kernel reads of a process's number
	otherNumbers     = 0x40000000 // of a second table of system calls (x32)
)

// forbidden are system calls that no program may make: sockets, what reaches into another process,
// and what changes the priority of another one.
var forbidden = []uint32{unix.SYS_SOCKET, unix.SYS_IO_URING_SETUP, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV,
	unix.SYS_PIDFD_GETFD, unix.SYS_BPF, unix.SYS_KEYCTL, unix.SYS_UNSHARE, unix.SYS_MOUNT, unix.SYS_SETPRIORITY, unix.SYS_IOPRIO_SET,
	unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR}

// ownOnly are system calls whose first argument is a process. It must be 0, which is the caller:
// programs and their libraries set limits and processors of their own.
var ownOnly = []uint32{unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETAFFINITY}

// restrictCalls forbids system calls by a filter that stays over the start of the program.
func restrictCalls() error {
	architecture, known := map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]
	if !known {
		return nil
	}
	const refuse, permit = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM), unix.SECCOMP_RET_ALLOW
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	end := func(result uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: result}
	}
	equal, above := uint16(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K), uint16(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K)
	filter := []unix.SockFilter{
		load(callArchitecture), {Code: equal, K: architecture, Jt: 1}, end(refuse),
		load(callNumber), {Code: above, K: otherNumbers, Jf: 1}, end(refuse),
	}
	for _, number := range forbidden {
		filter = append(filter, unix.SockFilter{Code: equal, K: number, Jf: 1}, end(refuse))
	}
	for _, number := range ownOnly {
		filter = append(filter, unix.SockFilter{Code: equal, K: number, Jf: 4},
			load(callArgument), unix.SockFilter{Code: equal, K: 0, Jf: 1}, end(permit), end(refuse))
	}
	filter = append(filter, end(permit))
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err != nil && err != unix.EINVAL {
		return err
	}
	return nil
}
