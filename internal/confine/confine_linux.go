package confine

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// selfPath returns the path of this binary, which is valid even after the file was replaced.
func selfPath() (string, error) { return "/proc/self/exe", nil }

func killGroup(command *exec.Cmd) { _ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }

// wait waits until the program has ended, and ends its descendants, none of which can leave the group. It
// kills the group before Wait reaps the leader, so that no other group can have the same number.
func wait(command *exec.Cmd) {
	for unix.Waitid(unix.P_PID, command.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	killGroup(command)
	_ = command.Wait() // ProcessState reports how it ended
}

// become makes this process botd's own process for scripts, or the keeper of a program.
func become(p *Program, own bool) error {
	if !own {
		return keep(p)
	}
	runtime.LockOSThread()
	if err := bound(0, 0); err != nil {
		return err
	}
	rules, err := newRuleset(nil, true)
	if err == nil {
		err = rules.allow("/proc/self", readAll)
	}
	if err != nil {
		return fmt.Errorf("restrict files: %w", err)
	}
	if err := perform(restrictions(rules)); err != nil {
		return err
	}
	return syscall.Exec(p.Path, append([]string{"botd"}, p.Arguments...), os.Environ())
}

// bound limits the resources of a process; 0 means this one, which is botd's own process for scripts, and any other is a program.
func bound(process int, memoryMB int64) error {
	_ = unix.Setpriority(unix.PRIO_PROCESS, process, 10)
	// When memory runs out, strategies end first. Without /proc the system chooses.
	folder := "self"
	if process != 0 {
		folder = strconv.Itoa(process)
	}
	_ = os.WriteFile("/proc/"+folder+"/oom_score_adj", []byte("1000"), 0)
	limits := map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: 0, unix.RLIMIT_NOFILE: openFiles}
	if process != 0 {
		limits[unix.RLIMIT_NPROC] = tasksOfUser() + maxProcesses // the system counts all tasks of the user; it does not bound those of root
	}
	if memoryMB > 0 {
		memory := uint64(memoryMB) << 20
		limits[unix.RLIMIT_DATA], limits[unix.RLIMIT_AS] = memory, memory+addressBytes
	}
	for resource, limit := range limits {
		if err := unix.Prlimit(process, resource, &unix.Rlimit{Cur: limit, Max: limit}, nil); err != nil {
			return fmt.Errorf("limit resource %d: %w", resource, err)
		}
	}
	if err := unix.Prlimit(process, unix.RLIMIT_CPU, &unix.Rlimit{Cur: processorSeconds, Max: unix.RLIM_INFINITY}, nil); err != nil {
		return fmt.Errorf("limit processor time: %w", err)
	}
	return nil
}

// addressBytes is the address space that a program may reserve beyond its memory: libraries, files, and unused reservations.
const addressBytes = 4 << 30

// restrictions returns the calls that take rights from a thread. It omits those that the kernel does not support.
func restrictions(rules ruleset) []call {
	all := []call{{what: "forbid new privileges", number: unix.SYS_PRCTL, arguments: [5]uintptr{unix.PR_SET_NO_NEW_PRIVS, 1}}}
	if rules >= 0 {
		all = append(all, call{what: "restrict files", number: unix.SYS_LANDLOCK_RESTRICT_SELF, arguments: [5]uintptr{uintptr(rules)}})
	}
	if filter := callFilter(); filter != nil {
		program := &unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
		all = append(all, call{what: "restrict system calls", number: unix.SYS_PRCTL,
			arguments: [5]uintptr{unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(program))}, held: program})
	}
	return all
}

// LimitMemory bounds the data of this process to its present size plus the given one.
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
	return unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: 3}) // open files stay open
}

// systemFolders are the paths that every program may read: programs and libraries.
var systemFolders = []string{"/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt", "/nix/store", "/etc/ld.so.cache", "/etc/localtime",
	"/etc/alternatives", "/etc/python3", "/etc/ssl/openssl.cnf", "/etc/pki/tls/openssl.cnf", "/etc/crypto-policies", "/proc/cpuinfo",
	"/proc/meminfo", "/sys/devices/system/cpu", "/dev/urandom", "/dev/zero"}

// ownFolders are the paths that botd's own process for scripts may read: itself, and libraries that it may be linked with.
var ownFolders = []string{"/proc/self/exe", "/lib", "/lib64", "/usr/lib", "/etc/ld.so.cache"}

const (
	readFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE
	readAll  = readFile | unix.LANDLOCK_ACCESS_FS_READ_DIR
)

// ruleset is an open set of Landlock rules; -1 if the kernel does not support them.
type ruleset int

// newRuleset returns a set that forbids TCP and all files except the listed ones.
func newRuleset(readable []string, own bool) (ruleset, error) {
	version, _, failed := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if failed != 0 {
		return -1, nil
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
	made, _, failed := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attributes)), unsafe.Sizeof(attributes), 0)
	if failed != 0 {
		return -1, failed
	}
	rules, folders := ruleset(made), append(systemFolders, readable...)
	if own {
		folders = ownFolders
	}
	for _, path := range folders {
		if err := rules.allow(path, readAll); err != nil {
			return -1, err
		}
	}
	return rules, rules.allow("/dev/null", readAll|unix.LANDLOCK_ACCESS_FS_WRITE_FILE)
}

// allow allows access to a path and everything below it. It ignores a path that does not exist.
func (r ruleset) allow(path string, access uint64) error {
	if r < 0 {
		return nil
	}
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
	if _, _, failed := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0); failed != 0 {
		return failed
	}
	return nil
}

// These are offsets in the data that a system call filter reads.
const (
	callNumber       = 0
	callArchitecture = 4
	callArgument     = 16         // lower half of the first argument, which is all that the kernel reads of a process id and of clone's flags
	otherNumbers     = 0x40000000 // the numbers of a second table of system calls (x32) begin here
)

// forbidden are the system calls that no program may make: sockets, access to another process, changes of
// another's priority, and departure from the group that ends with the program.
var forbidden = []uint32{unix.SYS_SOCKET, unix.SYS_IO_URING_SETUP, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV,
	unix.SYS_PIDFD_GETFD, unix.SYS_BPF, unix.SYS_KEYCTL, unix.SYS_UNSHARE, unix.SYS_MOUNT, unix.SYS_SETPRIORITY, unix.SYS_IOPRIO_SET,
	unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR, unix.SYS_SETSID, unix.SYS_SETPGID}

// ownOnly are system calls whose first argument is a process id. It must be 0, which means the caller: programs
// and their libraries set their own limits and processors.
var ownOnly = []uint32{unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETAFFINITY}

// foreignChild are the flags of clone that would make botd the parent of a new process, or give a program its own privileges.
const foreignChild = unix.CLONE_PARENT | unix.CLONE_NEWUSER | unix.CLONE_NEWPID

// callFilter returns the filter of system calls, which stays in force when the program starts. It is nil on an architecture that botd does not support.
func callFilter() []unix.SockFilter {
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
	return append(filter,
		// The flags of clone3 are in memory, where no filter can read them. Libraries fall back to clone where clone3 does not exist.
		unix.SockFilter{Code: equal, K: unix.SYS_CLONE3, Jf: 1}, end(unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSYS)),
		unix.SockFilter{Code: equal, K: unix.SYS_CLONE, Jf: 3},
		load(callArgument), unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: foreignChild, Jf: 1}, end(refuse),
		end(permit))
}
