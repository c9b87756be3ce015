package confine

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// call is a system call that a child makes before it becomes a program.
type call struct {
	what      string // for an error
	number    uintptr
	arguments [5]uintptr
	optional  bool // a kernel may not support it
	held      any  // keeps the targets of the arguments alive
}

// perform makes the calls for this thread.
func perform(calls []call) error {
	for i := range calls {
		c := &calls[i]
		if _, _, failed := unix.RawSyscall6(c.number, c.arguments[0], c.arguments[1], c.arguments[2], c.arguments[3], c.arguments[4], 0); failed != 0 &&
			!c.optional {
			return fmt.Errorf("%s: %w", c.what, failed)
		}
	}
	return nil
}

// child is a process that waits for a byte before it becomes a program.
type child struct {
	id      int
	word    *os.File // one byte starts it
	failure *os.File // closed when the program starts; otherwise it carries the number of the failed call and the cause
	calls   []call
}

// fork makes a process that waits, makes the calls and becomes the program. No Go code runs in it, so that its limits cannot affect Go's threads and heap.
func fork(path string, arguments, environment []string, calls []call) (*child, error) {
	name, err := syscall.BytePtrFromString(path)
	if err != nil {
		return nil, err
	}
	list, err := syscall.SlicePtrFromStrings(arguments)
	if err != nil {
		return nil, err
	}
	variables, err := syscall.SlicePtrFromStrings(environment)
	if err != nil {
		return nil, err
	}
	var wordEnds, failureEnds [2]int // to read, to write
	for _, ends := range []*[2]int{&wordEnds, &failureEnds} {
		if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
			return nil, err
		}
	}
	every, before, record := &unix.Sigset_t{Val: [16]uint64{1<<64 - 1}}, new(unix.Sigset_t), new([2]uint32)
	all := append([]call{
		{what: "end with this thread", number: unix.SYS_PRCTL, arguments: [5]uintptr{unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL)}},
		{what: "wait for the word", number: unix.SYS_READ, arguments: [5]uintptr{uintptr(wordEnds[0]), uintptr(unsafe.Pointer(record)), 1},
			held: record},
	}, calls...)
	all = append(
		all,
		call{what: "unblock signals", number: unix.SYS_RT_SIGPROCMASK, arguments: [5]uintptr{unix.SIG_SETMASK, uintptr(unsafe.Pointer(before)), 0, 8},
			held: before},
		call{what: "start " + path, number: unix.SYS_EXECVE,
			arguments: [5]uintptr{uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&list[0])), uintptr(unsafe.Pointer(&variables[0]))},
			held:      []any{name, list, variables}},
	)
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, every, before); err != nil { // the child must receive no signal, because it still has Go's handlers
		return nil, err
	}
	id, failed := divide(all, record, uintptr(failureEnds[1]))
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, before, nil)
	runtime.KeepAlive(all)
	unix.Close(wordEnds[0])
	unix.Close(failureEnds[1])
	c := &child{id: int(id), word: os.NewFile(uintptr(wordEnds[1]), "word"), failure: os.NewFile(uintptr(failureEnds[0]), "failure"), calls: all}
	if failed != 0 {
		c.close()
		return nil, failed
	}
	return c, nil
}

// divide returns only in the parent. The child has one thread and the parent's memory as it was: it
// allocates nothing, takes no lock and needs no more stack.
//
//go:norace
//go:nosplit
func divide(calls []call, record *[2]uint32, failure uintptr) (id uintptr, failed syscall.Errno) {
	id, _, failed = syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if failed != 0 || id != 0 {
		return id, failed
	}
	for i := range calls {
		c := &calls[i]
		a := &c.arguments
		_, _, failed = syscall.RawSyscall6(c.number, a[0], a[1], a[2], a[3], a[4], 0)
		if failed != 0 && !c.optional {
			record[0], record[1] = uint32(i), uint32(failed)
			break
		}
	}
	syscall.RawSyscall(unix.SYS_WRITE, failure, uintptr(unsafe.Pointer(record)), unsafe.Sizeof(*record))
	for {
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, 1, 0, 0)
	}
}

// start starts the program and returns once it runs, or returns the cause of a failure.
func (c *child) start() error {
	defer c.close()
	if _, err := c.word.Write([]byte{1}); err != nil {
		return err
	}
	var record [2]uint32
	text := unsafe.Slice((*byte)(unsafe.Pointer(&record)), unsafe.Sizeof(record))
	if n, _ := c.failure.Read(text); n < len(text) {
		return nil // the program has started, which closed the pipe
	}
	return fmt.Errorf("%s: %w", c.calls[record[0]].what, syscall.Errno(record[1]))
}

func (c *child) close() {
	c.word.Close()
	c.failure.Close()
}
