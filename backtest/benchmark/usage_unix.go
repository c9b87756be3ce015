//go:build unix

package benchmark

import (
	"os"
	goruntime "runtime"
	"syscall"
	"time"
)

// processorTime returns the processor time that this process has used on all cores.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// peakMB returns the peak memory of an ended process.
func peakMB(ended *os.ProcessState) float64 {
	used, known := ended.SysUsage().(*syscall.Rusage)
	if !known {
		return 0
	}
	if goruntime.GOOS == "darwin" || goruntime.GOOS == "ios" {
		return float64(used.Maxrss) / 1e6 // bytes on this system, kibibytes elsewhere
	}
	return float64(used.Maxrss) * 1024 / 1e6
}
