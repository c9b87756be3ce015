package daemon

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"botd/runtime/ops"
)

// withoutCore prevents a core dump, since this process's memory holds keys. It works also where no
// setting outside the process can do so, as on Kubernetes.
func withoutCore() error {
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}); err != nil {
		return fmt.Errorf("forbid core dumps: %w", err)
	}
	return nil
}

// memoryShare is the share of the cgroup's memory that the Go runtime may use. The rest is for
// memory that the runtime does not count: SQLite's pages and the program itself.
const memoryShare = 0.8

// collectorPercent is the permitted garbage in relation to live memory. A daemon has little live memory, and the collector
// takes a few thousandths of a core. Compared with Go's default of 100, resident memory is a seventh smaller
// (docs/chaos.md). A backtest sets its own value.
const collectorPercent = 50

// limitMemory makes the garbage collector run more often than by default, and harder near the cgroup's
// limit, at which the system would end the process. Explicit settings of GOGC and GOMEMLIMIT take
// precedence.
func limitMemory(allowed memlimit.Provider, console *ops.Console) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectorPercent)
	}
	limit, err := memlimit.SetGoMemLimitWithOpts(memlimit.WithProvider(allowed), memlimit.WithRatio(memoryShare))
	if err == nil && limit > 0 { // an error is a system without cgroups
		console.Say("daemon.memory", "memory    %d MiB for Go, %.0f%% of this cgroup's limit", limit>>20, memoryShare*100)
	}
}

// releaseEvery is how often unused heap memory is released.
const releaseEvery = 10 * time.Minute

// releaseMemory returns unused heap memory to the system, until the context ends. Over hours the unused memory grew while the
// used memory did not (docs/chaos.md, A soak). A release costs one collection.
func releaseMemory(ctx context.Context) {
	ticker := time.NewTicker(releaseEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			debug.FreeOSMemory()
		case <-ctx.Done():
			return
		}
	}
}
