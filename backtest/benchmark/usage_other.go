//go:build !unix

package benchmark

import (
	"os"
	"time"
)

func processorTime() time.Duration { return 0 }

func peakMB(*os.ProcessState) float64 { return 0 }
