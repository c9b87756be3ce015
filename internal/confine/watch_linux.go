package confine

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// These bound a program and all its descendants together.
const (
	processorSeconds = 30 // processor time between two requests
	maxProcesses     = 256
	watchEvery       = time.Second
)

// pace grants processor time.
type pace struct {
	mu     sync.Mutex // guards the rest
	newest time.Time
	limit  uint64 // of the processor time of all processes, in seconds; 0 before the first request
}

// allow raises the limits slightly above the present use, at most once a second. The system's own limit applies
// to the first process only, and takes effect if watch is too late.
func (p *Process) allow() {
	p.pace.mu.Lock()
	defer p.pace.mu.Unlock()
	first := p.ID()
	if p.keeper != nil {
		first = int(p.keeper.program.Load())
	}
	now := time.Now()
	if first == 0 || now.Sub(p.pace.newest) < time.Second {
		return
	}
	p.pace.newest = now
	all, err := usageOf(p.ID())
	if err != nil {
		return // it has ended, which the request reports
	}
	p.pace.limit = all.seconds + processorSeconds
	limit := unix.Rlimit{Cur: p.pace.limit, Max: unix.RLIM_INFINITY}
	_ = unix.Prlimit(first, unix.RLIMIT_CPU, &limit, nil)
}

// exceeds returns the bound that a program and its descendants exceed, or "".
func (p *pace) exceeds(process int, memoryMB int64) string {
	all, err := usageOf(process)
	if err != nil {
		return "" // it has ended
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.limit > 0 && all.seconds > p.limit:
		return fmt.Sprintf("it took more than %d s of processor time for one answer", processorSeconds)
	case all.processes > maxProcesses:
		return fmt.Sprintf("it has started more than %d processes", maxProcesses)
	case memoryMB > 0 && all.pages*int64(os.Getpagesize()) > memoryMB<<20:
		return fmt.Sprintf("it and what it has started use more than %d MB of memory", memoryMB)
	}
	return ""
}

// watch ends a program that exceeds its bounds together with its descendants: the system's limits apply to each
// process separately, and a program can ignore the one of processor time.
func (p *Process) watch(memoryMB int64) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-p.ended:
			return
		case <-ticker.C:
		}
		if cause := p.pace.exceeds(p.ID(), memoryMB); cause != "" {
			p.Kill(cause)
			return
		}
	}
}

// usage is the use of resources by a program and all its descendants.
type usage struct {
	seconds   uint64 // processor time, including that of ended children
	processes int
	pages     int64 // of anonymous memory
}

// usageOf sums up all processes below a keeper, which adopts orphans. Of the keeper itself it adds only the
// processor time, which includes that of ended orphans.
func usageOf(process int) (all usage, err error) {
	queue := []string{strconv.Itoa(process)}
	ticks := uint64(0)
	for keeper := true; len(queue) > 0 && all.processes <= maxProcesses; keeper = false {
		folder := "/proc/" + queue[0] + "/"
		queue = queue[1:]
		used, failed := ticksOf(folder)
		if failed != nil {
			if keeper {
				return all, failed
			}
			continue // it has ended in the meantime
		}
		ticks += used
		if !keeper {
			all.processes++
		}
		if text, err := os.ReadFile(folder + "statm"); err == nil && !keeper {
			all.pages += pagesOf(text)
		}
		tasks, err := os.ReadDir(folder + "task")
		if err != nil {
			continue
		}
		for _, task := range tasks {
			text, err := os.ReadFile(folder + "task/" + task.Name() + "/children")
			if err != nil {
				continue
			}
			for _, child := range bytes.Fields(text) {
				queue = append(queue, string(child))
			}
		}
	}
	all.seconds = ticks/clockTicks + 1
	return all, nil
}

// tasksOfUser returns the number of threads of this process's user.
func tasksOfUser() (total uint64) {
	folders, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, folder := range folders {
		info, err := folder.Info()
		if err != nil {
			continue // it has ended
		}
		if status, is := info.Sys().(*syscall.Stat_t); !is || int(status.Uid) != os.Getuid() {
			continue
		}
		if fields, err := fieldsOf("/proc/" + folder.Name() + "/"); err == nil {
			threads, _ := strconv.ParseUint(string(fields[17]), 10, 64)
			total += threads
		}
	}
	return total
}

// clockTicks is the number of ticks per second on every Linux.
const clockTicks = 100

// ticksOf returns the processor time of a process and of the children that it has waited for.
func ticksOf(folder string) (total uint64, err error) {
	fields, err := fieldsOf(folder)
	if err != nil {
		return 0, err
	}
	for _, field := range fields[11:15] { // utime, stime, cutime and cstime
		ticks, err := strconv.ParseUint(string(field), 10, 64)
		if err != nil {
			return 0, err
		}
		total += ticks
	}
	return total, nil
}

// fieldsOf returns the fields of a process's stat, beginning with its state.
func fieldsOf(folder string) ([][]byte, error) {
	text, err := os.ReadFile(folder + "stat")
	if err != nil {
		return nil, err
	}
	// The program chooses the name before them, in brackets.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 18 {
		return nil, fmt.Errorf("read %sstat: %q", folder, text)
	}
	return fields, nil
}

// pagesOf returns the memory in statm that is not shared with a file.
func pagesOf(statm []byte) int64 {
	fields := bytes.Fields(statm)
	if len(fields) < 3 {
		return 0
	}
	resident, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	shared, _ := strconv.ParseInt(string(fields[2]), 10, 64)
	return resident - shared
}
