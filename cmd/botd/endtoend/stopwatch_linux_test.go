package endtoend

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const (
	ticksPerSecond = 100  // USER_HZ, the unit of /proc
	minShare       = 0.02 // the machine's share that others leave in the worst case, to bound the arithmetic
)

// stopwatch measures a duration, and how much of the machine other programs use meanwhile: a bound in seconds
// is meaningful for botd only with both. The load of the test and its processes is not subtracted: a flood
// must not slow down the kill switch.
type stopwatch struct {
	began      time.Time
	busy, ours time.Duration // at its start
}

func startStopwatch(t *testing.T) stopwatch {
	t.Helper()
	return stopwatch{time.Now(), busyTime(t), ourTime(t)}
}

// wantWithin expects a duration of at most the bound: in real time on an otherwise idle machine, and longer
// by the factor by which others slow it down.
func (w stopwatch) wantWithin(t *testing.T, what string, most time.Duration) {
	t.Helper()
	if !w.within(t, what, most) {
		t.Errorf("%s: want at most %s, times what else runs here", what, most)
	}
}

// within reports whether it is, and logs it.
func (w stopwatch) within(t *testing.T, what string, most time.Duration) bool {
	t.Helper()
	took := time.Since(w.began)
	slower := slowdown(took*time.Duration(runtime.NumCPU()), busyTime(t)-w.busy, ourTime(t)-w.ours)
	t.Logf("%s: %s; others slow the machine down by %.1f", what, took.Round(time.Millisecond), slower)
	return took <= time.Duration(math.Ceil(float64(most)*slower))
}

// slowdown returns the factor by which others slow us down, where busy time that is not ours belongs to
// others.
func slowdown(capacity, busy, ours time.Duration) float64 {
	others := float64(max(0, busy-ours)) / float64(max(1, capacity))
	return 1 / max(minShare, 1-min(1, others))
}

// busyTime returns the time for which the machine's processors have worked.
func busyTime(t *testing.T) time.Duration {
	t.Helper()
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line) // cpu user nice system idle iowait irq softirq steal ...
	if len(fields) < 9 {
		t.Fatalf("want the times of all processors, have %q", line)
	}
	return ticks(t, slices.Concat(fields[1:4], fields[6:9])...)
}

func ticks(t *testing.T, all ...string) time.Duration {
	t.Helper()
	sum := int64(0)
	for _, text := range all {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	return time.Duration(sum) * (time.Second / ticksPerSecond)
}

// ourTime returns the time for which this process and those that it started have worked.
func ourTime(t *testing.T) (sum time.Duration) {
	t.Helper()
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var usage unix.Rusage
		if err := unix.Getrusage(who, &usage); err != nil {
			t.Fatal(err)
		}
		sum += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	processes := map[int][]string{} // the fields after the name
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		id, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		_, after, _ := strings.Cut(string(text), ") ")
		if fields := strings.Fields(after); len(fields) > 14 {
			processes[id] = fields
		}
	}
	for id, fields := range processes {
		if descends(processes, id) {
			sum += ticks(t, fields[11:15]...) // its own user and system time, and that of its children that ended
		}
	}
	return sum
}

// descends reports whether this process, or one of its descendants, started a process.
func descends(processes map[int][]string, id int) bool {
	for fields := processes[id]; fields != nil; fields = processes[id] {
		parent, _ := strconv.Atoi(fields[1])
		if id = parent; id == os.Getpid() {
			return true
		}
	}
	return false
}

func TestStopwatchCountsOnlyForeignLoad(t *testing.T) {
	for _, c := range []struct {
		capacity, busy, ours time.Duration
		want                 float64
	}{
		{4 * time.Second, 0, 0, 1},
		{4 * time.Second, 4 * time.Second, 4 * time.Second, 1},
		{4 * time.Second, 2 * time.Second, 2*time.Second + 10*time.Millisecond, 1},
		{4 * time.Second, 4 * time.Second, 2 * time.Second, 2},
		{4 * time.Second, 4 * time.Second, time.Second, 4},
		{4 * time.Second, 4 * time.Second, 0, 1 / minShare},
	} {
		if have := slowdown(c.capacity, c.busy, c.ours); math.Abs(have-c.want) > 1e-9 {
			t.Errorf("%+v: have %g", c, have)
		}
	}
	began := ourTime(t)
	for end := began + 200*time.Millisecond; ourTime(t) < end; { // it ends, since this loop's time is ours
	}
	if busyTime(t) <= 0 {
		t.Error("want the machine to have worked")
	}
}
