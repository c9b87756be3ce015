//go:build unix

package benchmark

import (
	"os"
	goruntime "runtime"
	"syscall"
	"time"
)

// processorTime is what this process has used so far, on all cores.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// peakMB is the most memory that an ended process had.
func peakMB(ended *os.ProcessState) float64 {
	used, known := ended.SysUsage().(*syscall.Rusage)
	if !known {
		return 0
	}
	if goruntime.GOOS == "darwin" || goruntime.GOOS == "ios" {
		return float64(used.Maxrss) / 1e6 // bytes there, elsewhere kibibytes
	}
	return float64(used.Maxrss) * 1024 / 1e6
}
