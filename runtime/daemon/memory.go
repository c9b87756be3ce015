package daemon

import (
	"fmt"
	"syscall"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"botd/runtime/ops"
)

// withoutCore keeps the system from writing this process's memory, which holds keys, into a file when it
// ends badly: also where nothing outside can say so, as on Kubernetes.
func withoutCore() error {
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}); err != nil {
		return fmt.Errorf("forbid core dumps: %w", err)
	}
	return nil
}

// memoryShare is how much of the cgroup's memory the Go runtime may use. The rest is for what
// it does not count: SQLite's pages and the program itself.
const memoryShare = 0.8

// limitMemory makes the garbage collector work harder before the cgroup's limit is reached,
// which would end the process. GOMEMLIMIT stands where it is set.
func limitMemory(allowed memlimit.Provider, console *ops.Console) {
	limit, err := memlimit.SetGoMemLimitWithOpts(memlimit.WithProvider(allowed), memlimit.WithRatio(memoryShare))
	if err == nil && limit > 0 { // an error is a system without cgroups
		console.Say("daemon.memory", "memory    %d MiB for Go, %.0f%% of what this cgroup may use", limit>>20, memoryShare*100)
	}
}
