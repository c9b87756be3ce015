package daemon

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"botd/runtime/engine"
	"botd/runtime/incident"
)

// diskSpaceEvery is how often the free space is read.
const diskSpaceEvery = 10 * time.Second

// diskSpace declares that the disk of the data has little free space, long before openings stop because of it. It polls from a
// goroutine of its own: trading does not wait for a disk.
type diskSpace struct {
	directory string
	measure   func(directory string) (free int64, known bool)
	free      atomic.Int64 // bytes; 0 while enough is free, or it is not known
	sinceMS   int64
}

func (r *diskSpace) run(ctx context.Context) {
	ticker := time.NewTicker(diskSpaceEvery)
	defer ticker.Stop()
	for {
		left := int64(0)
		if free, known := r.measure(r.directory); known && free < incident.LowDiskBytes {
			left = max(1, free)
		}
		r.free.Store(left)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

func (r *diskSpace) states(nowMS int64) []engine.Degraded {
	left := r.free.Load()
	if left == 0 {
		r.sinceMS = 0
		return nil
	}
	if r.sinceMS == 0 {
		r.sinceMS = nowMS
	}
	return []engine.Degraded{{State: "disk", SinceMS: r.sinceMS, Cause: fmt.Sprintf("%d MiB are free on the disk of %s", left>>20, r.directory),
		Remedy: "free some space; when the disk is full, nothing opens: exits and stops continue"}}
}
