package endtoend

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"botd/internal/failure"
)

// smallDisk mounts a separate file system, or returns why it cannot.
func smallDisk(t *testing.T, directory, size string) {
	t.Helper()
	if err := os.MkdirAll(directory, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", directory, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("a small file system cannot be mounted here (the faulty file layer has its own test, runtime TestFullDiskPausesPlacements): %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(directory, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// filler uses up a file system's room, more with every call.
type filler struct {
	t    *testing.T
	path string
}

func (f *filler) fill() {
	f.t.Helper()
	file, err := os.OpenFile(f.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		f.t.Fatal(err)
	}
	defer file.Close()
	for _, size := range []int{1 << 16, 1 << 12, 1} {
		for block := make([]byte, size); ; {
			if _, err := file.Write(block); err != nil {
				break
			}
		}
	}
}

func (f *filler) free() {
	f.t.Helper()
	if err := os.Remove(f.path); err != nil {
		f.t.Fatal(err)
	}
}

// TestTheDaemonOnADiskThatFillsUp runs the real program with its data on a small disk, which fills up while
// it trades. Nothing opens, and the reserve suffices to close the position. Then the reserve is used up, too,
// and nothing is sent at all. With room again the daemon continues, and the journal is complete.
func TestTheDaemonOnADiskThatFillsUp(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	data := filepath.Join(p.directory, "data")
	smallDisk(t, data, "16m")
	disk := &filler{t, filepath.Join(data, "ballast")}
	address, own := p.free(), p.free()
	p.live("configs", "disk", address, "data_dir: ./data\nlisten: "+own)
	p.file("configs/strategies/grow.yaml", grows, 0o600)
	p.venue(address, "disk", "--market", "still")
	daemon, log := p.start("daemon", "run", "--mode", "live", "--log-format", "json")
	log.wait(t, `"position.changed"`)

	disk.fill()
	log.wait(t, `"journal.low"`)
	var before []venueOrder
	eventually(t, "what was on its way", func() bool {
		now := venueOrders(t, address)
		still := len(now) == len(before) && strings.Count(log.String(), `"order.acknowledged"`) == len(now)
		before = now
		return still
	})
	p.run(failure.OK, "halt", "--level", "flatten", "--reason", "the disk is full", "--yes")
	eventually(t, "the position closed", func() bool { return held(t, venueOrders(t, address)).IsZero() })
	if want, have := buys(before), buys(venueOrders(t, address)); have != want {
		t.Errorf("orders that open on a full disk: want none after %d, have %d", want, have)
	}

	disk.fill() // what the reserve released
	p.run(failure.Temporary, "rearm", "--reason", "a test")
	log.wait(t, `"journal.failed"`)
	sent := len(venueOrders(t, address))
	p.run(failure.Temporary, "rearm", "--strategy", "grow", "--reason", "a test") // in force, but not written: nothing is sent
	if now := len(venueOrders(t, address)); now != sent {
		t.Errorf("orders while nothing can be written: want none after %d, have %d", sent, now)
	}
	disk.free()
	log.wait(t, `"journal.back"`)
	eventually(t, "it trades again", func() bool { return buys(venueOrders(t, address)) > buys(before) })

	if err := daemon.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := daemon.Wait(); err != nil {
		t.Errorf("a clean stop: want exit code 0, have %v\n%s", err, log.String())
	}
	p.run(failure.OK, "journal", "verify")
	journalled := p.run(failure.OK, "journal", "export", "--kind", "sending")
	seen := map[string]bool{}
	for _, o := range venueOrders(t, address) {
		if seen[o.ClientOrderID] || !strings.Contains(journalled, `"`+o.ClientOrderID+`"`) {
			t.Errorf("order %s is there twice, or not in the journal", o.ClientOrderID)
		}
		seen[o.ClientOrderID] = true
	}
}

// TestTheRunbookMakesRoom follows docs/operations.md for a full disk.
func TestTheRunbookMakesRoom(t *testing.T) {
	t.Parallel()
	b := newRunbook(t)
	smallDisk(t, b.at("data"), "80m") // a backup leaves 64
	if err := os.Chmod(b.at("data"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"etc/key": "runbook", "etc/secret": "a secret", "etc/strategies/hold.yaml": holding + "size: {quantity: 0.2}\n",
		"etc/botd.yaml": fmt.Sprintf("mode: live\nexchange: {base_url: 'http://%s', key_file: %q, secret_file: %q, settle: "+
			"{window: 5s, visibility: 1s, staleness: 500ms}}\ndata_dir: %q\nlisten: off\n", b.address, b.at("etc/key"), b.at("etc/secret"), b.at("data")),
		"data/backtests/old/report.html": ""} {
		b.file(name, text, 0o600)
	}
	b.venue(b.address, "runbook", "--market", "still")
	b.unit("start")
	backups := func() int {
		made, err := filepath.Glob(b.at("data/live/backups/*.db"))
		if err != nil {
			t.Fatal(err)
		}
		return len(made)
	}
	b.run(failure.OK, "backup", "-c", "etc")
	older := b.at("data/live/backups/older.db")
	b.run(failure.OK, "backup", "-c", "etc", older)
	if err := os.Chtimes(older, time.Time{}, time.Now().Add(-time.Hour)); err != nil || backups() != 2 {
		t.Fatal(err, backups())
	}
	disk := &filler{t, b.at("data/backtests/old/report.html")}
	disk.fill()
	b.log.wait(t, `"journal.low"`)
	text := b.follow("BotdDiskLow")
	if !strings.Contains(text, "removed ") || !strings.Contains(text, "report.html") || !strings.Contains(text, "DISK") {
		t.Errorf("want what takes the room, what was removed, and botd's report, have %s", text)
	}
	b.log.wait(t, `"journal.back"`)
	if left := backups(); left != 1 {
		t.Errorf("want the newest backup left, have %d", left)
	}
	b.shows("ready", "its reserve is in use") // the disk is small, and this stays an incident
}
