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

// Bounds of a program and of all that it has started, together.
const (
	processorSeconds = 30 // of processor time between two questions
	maxProcesses     = 256
	watchEvery       = time.Second
)

// pace allows processor time.
type pace struct {
	mu     sync.Mutex // guards the rest
	newest time.Time
	limit  uint64 // of the processor time of all processes, in seconds; 0 before the first question
}

// allow raises the limits to what was used and a little more, at most once a second. The system's own
// limit is of the first process alone, and holds where watch comes too late.
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
		return // it has ended, which the question finds out
	}
	p.pace.limit = all.seconds + processorSeconds
	limit := unix.Rlimit{Cur: p.pace.limit, Max: unix.RLIM_INFINITY}
	_ = unix.Prlimit(first, unix.RLIMIT_CPU, &limit, nil)
}

// exceeds says which bound a program and what it has started exceed; empty for none.
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

// watch ends a program that exceeds its bounds together with what it has started: the limits of the
// system count each process for itself, and a program can ignore the one of processor time.
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

// usage is what a program and all that it has started use.
type usage struct {
	seconds   uint64 // of processor time, that of ended children included
	processes int
	pages     int64 // of memory that is not a file's
}

// usageOf counts all below a keeper, which adopts orphans; of itself its processor time alone, with that
// of the orphans that have ended.
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
			continue // it has ended meanwhile
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

// tasksOfUser is how many threads this process's user has.
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

// clockTicks is how many a second has on every Linux.
const clockTicks = 100

// ticksOf is the processor time of a process and of the children that it has waited for.
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

// fieldsOf are the fields of a process's stat, from its state on.
func fieldsOf(folder string) ([][]byte, error) {
	text, err := os.ReadFile(folder + "stat")
	if err != nil {
		return nil, err
	}
	// The name before them, in brackets, is the program's own choice.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 18 {
		return nil, fmt.Errorf("read %sstat: %q", folder, text)
	}
	return fields, nil
}

// pagesOf is the memory in statm that is not shared with a file.
func pagesOf(statm []byte) int64 {
	fields := bytes.Fields(statm)
	if len(fields) < 3 {
		return 0
	}
	resident, _ := strconv.ParseInt(string(fields[1]), 10, 64)
	shared, _ := strconv.ParseInt(string(fields[2]), 10, 64)
	return resident - shared
}
