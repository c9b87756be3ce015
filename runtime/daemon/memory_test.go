package daemon

import (
	"bytes"
	"errors"
	"io"
	"math"
	goruntime "runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"botd/configs"
	"botd/reconcile/record"
	"botd/runtime/gateway"
	"botd/runtime/ops"
)

func TestGOGCDefault(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	for set, want := range map[string]int{"": collectorPercent, "200": 100, "off": 100} { // set: the runtime itself has read it before
		t.Setenv("GOGC", set)
		debug.SetGCPercent(100)
		limitMemory(func() (uint64, error) { return 0, memlimit.ErrNoLimit }, ops.NewConsole(io.Discard, ops.Format{}, nil, ops.NewLogs()))
		if have := debug.SetGCPercent(100); have != want {
			t.Errorf("GOGC=%s: want %d, have %d", set, want, have)
		}
	}
}

func TestAStartCollectsGarbageMoreOften(t *testing.T) {
	t.Setenv("GOGC", "")
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	console, _ := logged(t)
	(&process{config: &configs.Config{}, venue: &gateway.Exchange{}, console: console, machine: idle(t, record.LevelNone)}).logStart()
	if have := debug.SetGCPercent(100); have != collectorPercent {
		t.Errorf("want %d %%, have %d", collectorPercent, have)
	}
}

func TestTheMemoryLimitFollowsTheCgroup(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	for _, c := range []struct {
		what    string
		allowed memlimit.Provider
		set     string // GOMEMLIMIT
		want    int64
	}{
		{"a container of 1 GiB", memlimit.Limit(1 << 30), "", 1 << 30 / 10 * 8},
		{"GOMEMLIMIT of one's own", memlimit.Limit(1 << 30), "2GiB", math.MaxInt64},
		{"no limit", func() (uint64, error) { return 0, memlimit.ErrNoLimit }, "", math.MaxInt64},
		{"no cgroups", func() (uint64, error) { return 0, errors.New("none here") }, "", math.MaxInt64},
	} {
		t.Run(c.what, func(t *testing.T) {
			debug.SetMemoryLimit(math.MaxInt64)
			if c.set != "" {
				t.Setenv("GOMEMLIMIT", c.set)
			}
			var text bytes.Buffer
			logs := ops.NewLogs()
			limitMemory(c.allowed, ops.NewConsole(&text, ops.Format{JSON: true}, nil, logs))
			have := debug.SetMemoryLimit(-1)
			if diff := have - c.want; diff < -16 || diff > 16 {
				t.Errorf("want a limit of %d, have %d", c.want, have)
			}
			if reported := strings.Contains(text.String(), "daemon.memory"); reported != (c.want != math.MaxInt64) {
				t.Errorf("want it logged if and only if it was set, have %q", text.String())
			}
		})
	}
}

func TestTheProcessLeavesNoCore(t *testing.T) {
	var after syscall.Rlimit
	if err := errors.Join(withoutCore(), syscall.Getrlimit(syscall.RLIMIT_CORE, &after)); err != nil {
		t.Fatal(err)
	}
	if after != (syscall.Rlimit{}) {
		t.Errorf("want no core at all, have %+v", after)
	}
}

// TestMemoryThatIsNotUsedIsReleased uses 64 MiB of garbage, whose pages the heap would keep for a while.
func TestMemoryThatIsNotUsedIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer inBackground(t.Context(), releaseMemory)()
		block := make([]byte, 64<<20)
		for i := 0; i < len(block); i += 1 << 10 {
			block[i] = 1
		}
		goruntime.KeepAlive(block)
		time.Sleep(releaseEvery + time.Second)
		synctest.Wait()
		var m goruntime.MemStats
		goruntime.ReadMemStats(&m)
		if idle := m.HeapIdle - m.HeapReleased; m.HeapAlloc > 48<<20 || idle > 16<<20 {
			t.Errorf("want the garbage collected and its pages released, have %d MiB allocated and %d MiB held", m.HeapAlloc>>20, idle>>20)
		}
	})
}
