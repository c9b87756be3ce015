//go:build unix

package endtoend

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"botd/internal/failure"
	"botd/reconcile/record"
	"botd/runtime/haltfile"
)

// TestUndeliveredHaltAppliesFromNextStart kills the daemon while the exchange does not answer,
// and uses the kill switch while the next daemon waits for it. When the exchange is back, the position is
// closed and nothing was opened.
func TestUndeliveredHaltAppliesFromNextStart(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	address, own := p.free(), p.free()
	p.live("configs", "halt", address, "data_dir: ./data\nlisten: "+own)
	p.file("configs/strategies/grow.yaml", grows, 0o600)
	left := func() []string {
		paths, err := haltfile.List(filepath.Join(p.directory, "data/live"))
		if err != nil {
			t.Fatal(err)
		}
		return paths
	}
	halt := []string{"halt", "--level", "flatten", "--reason", "nobody answers", "--yes"}
	if answer := p.run(failure.Unavailable, halt...); strings.Contains(answer, "stored") {
		t.Errorf("where nothing ever traded: want nothing kept, have %s", answer)
	}
	venue := p.venue(address, "halt", "--market", "still")
	first, log := p.start("daemon", "run", "--mode", "live", "--log-format", "json")
	log.wait(t, `"position.changed"`)

	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(venue.Process.Signal(syscall.SIGSTOP))
	must(first.Process.Kill())
	_ = first.Wait()
	p.run(failure.Unavailable, "halt", "--level", "flatten", "--reason", "nobody answers", "--strategy", "nobody", "--listen", own)
	p.run(failure.Negative, append(halt, "--strategy", "nobody")...)
	if len(left()) > 0 {
		t.Error("a halt of what is not configured, or of another machine: want nothing kept")
	}
	_, log = p.start("daemon again", "run", "--mode", "live", "--log-format", "json")
	if answer := p.run(failure.Unavailable, halt...); !strings.Contains(answer, "the halt is stored in data/live/halt-") {
		t.Errorf("want it reported that it is stored, have %s", answer)
	}
	log.wait(t, `"daemon.waiting"`)
	must(venue.Process.Signal(syscall.SIGCONT))
	log.wait(t, `"trading.halted"`)
	before := buys(venueOrders(t, address))
	eventually(t, "the position closed", func() bool { return held(t, venueOrders(t, address)).IsZero() })
	if now := buys(venueOrders(t, address)); now != before {
		t.Errorf("orders that open under the halt: want none after %d, have %d", before, now)
	}
	if len(left()) > 0 {
		t.Error("want the file gone once the journal has it")
	}
	journalled := p.run(failure.OK, "journal", "export", "--kind", "audit,halt")
	if !strings.Contains(journalled, "while no botd answered") || !strings.Contains(journalled, `"level":"flatten"`) {
		t.Errorf("want it in the journal with who asked for it, have %s", journalled)
	}
}

func TestAStoredHaltThatCannotBeReadBlocksTheStart(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, text := range []string{"nonsense", `{"level":"slowly"}`} {
		p.file("data/demo/halt-1-2.json", text, 0o600)
		if answer := p.run(failure.Data, "run", "--listen", "off"); !strings.Contains(answer, "data/demo/halt-1-2.json") {
			t.Errorf("want the file named, have %s", answer)
		}
	}
}

// TestStoredHaltIsExecutedByRunningDaemon stores halts where the command does if nobody answers, while
// a daemon trades: both are in force immediately.
func TestStoredHaltIsExecutedByRunningDaemon(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	_, log := p.start("daemon", "run", "--listen", "off", "--log-format", "json")
	log.wait(t, `"position.changed"`)
	directory := filepath.Join(p.directory, "data/demo")
	if _, err := haltfile.Write(directory, haltfile.Halt{AtMS: 2, By: "somebody", Level: record.LevelFlatten, Reason: "the socket is gone",
		Strategy: "accumulate"}, nil); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the halt in the journal", func() bool {
		return strings.Contains(p.run(failure.OK, "journal", "tail", "--kind", "halt", "--strategy", "accumulate"), "flatten the socket is gone")
	})
	eventually(t, "its file gone", func() bool { paths, _ := haltfile.List(directory); return len(paths) == 0 })
	p.file("data/demo/halt-3-4.json", "nonsense", 0o600)
	log.wait(t, "a stored halt cannot be read")
}
