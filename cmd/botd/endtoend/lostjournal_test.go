package endtoend

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"botd/internal/failure"
	"botd/internal/startclock"
)

// TestADataDirectoryRemovedUnderTheDaemon removes it while a strategy buys every second. Nothing
// more is bought, readiness fails, a person is notified, and the kill switch still works, without a token
// file or socket.
func TestADataDirectoryRemovedUnderTheDaemon(t *testing.T) {
	t.Parallel()
	p, data, command := ruined(t, func(data string) error {
		if err := os.RemoveAll(data); err != nil && !errors.Is(err, os.ErrNotExist) {
			return os.RemoveAll(data) // a file was written meanwhile
		}
		return nil
	})
	for _, file := range []string{"token", "botd.sock"} {
		if info, err := os.Stat(filepath.Join(data, "live", file)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("want %s there again for its owner alone, have %v, %v", file, info, err)
		}
	}
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	_ = command.Wait() // its mark of a clean stop was removed with the directory
	saved, err := filepath.Glob(filepath.Join(data, "live", "journal.db.rescued-*"))
	if err != nil || len(saved) != 1 {
		t.Fatalf("want what the journal held saved at the stop, have %v, %v", saved, err)
	}
	if refused := p.run(failure.Config, "run", "-c", "one", "--mode", "live"); !strings.Contains(refused, "botd restore "+saved[0]) {
		t.Errorf("want no start without what was saved, have %s", refused)
	}
	p.run(failure.OK, "restore", saved[0], "-c", "one", "--yes")
	_, again := p.start("again", "run", "-c", "one", "--mode", "live", "--log-format", "json")
	again.wait(t, `"daemon.reconciled"`)
	if status := p.run(failure.OK, "status", "-c", "one"); !strings.Contains(status, "HALTED (flatten): the disk went") {
		t.Errorf("want the halt in force after the restore, have %s", status)
	}
}

// TestAJournalCutUnderTheDaemon truncates the open journal, whose newest records are in SQLite's log.
func TestAJournalCutUnderTheDaemon(t *testing.T) {
	t.Parallel()
	p, _, command := ruined(t, func(data string) error { return os.Truncate(filepath.Join(data, "live", "journal.db-wal"), 1024) })
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	_ = command.Wait()
	if refused := p.run(failure.Config, "run", "-c", "one", "--mode", "live"); !strings.Contains(refused, "journal.db.diverted") {
		t.Errorf("want no start without the halt that the journal lacks, have %s", refused)
	}
}

// ruined runs a daemon, ruins its data directory, and expects it to open nothing, to report it, and to flatten on
// request.
func ruined(t *testing.T, ruin func(data string) error) (*place, string, *exec.Cmd) {
	t.Helper()
	p := newPlace(t)
	w := &peers{place: p, address: p.free()}
	listen, data := p.free(), filepath.Join(p.directory, "data-one")
	p.live("one", "peer", w.address, fmt.Sprintf("data_dir: %q\nlisten: %s", data, listen))
	p.file("one/strategies/strategy.yaml", grows, 0o600)
	p.venue(w.address, "peer", "--market", "still", "--start", startclock.Time().Format(time.RFC3339))
	command, log := p.start("one", "run", "-c", "one", "--mode", "live", "--log-format", "json")
	eventually(t, "orders", func() bool { return len(w.orders()) > 1 })
	if err := ruin(data); err != nil {
		t.Fatal(err)
	}
	log.wait(t, `"journal.lost"`)
	eventually(t, "a daemon that reports that it is not ready", func() bool {
		response, err := http.Get("http://" + listen + "/readyz?verbose")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		return err == nil && response.StatusCode == http.StatusServiceUnavailable && strings.Contains(string(text), "while botd was writing it")
	})
	placed, looks := len(w.orders()), 0
	eventually(t, "a while in which nothing is bought", func() bool {
		if have := len(w.orders()); have > placed+1 { // one may have been in flight
			t.Fatalf("want nothing bought without a journal, have %d orders after %d", have, placed)
		}
		looks++
		return looks > 100
	})
	if status := p.run(failure.OK, "status", "-c", "one"); !strings.Contains(status, "botd restore") {
		t.Errorf("want the state with its remedy, have %s", status)
	}
	eventually(t, "a lock", func() bool { _, err := os.Stat(filepath.Join(data, "live", "botd.lock")); return err == nil })
	p.run(failure.Temporary, "run", "-c", "one", "--mode", "live") // the recreated directory is locked as before
	p.run(failure.OK, "halt", "-c", "one", "--level", "flatten", "--reason", "the disk went")
	eventually(t, "a flat account", func() bool { return held(t, venueOrders(t, w.address)).IsZero() })
	return p, data, command
}
