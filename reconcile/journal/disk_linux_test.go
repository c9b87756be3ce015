package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"botd/reconcile/journal"
	"botd/reconcile/record"
)

// tmpfs mounts a small file system, or skips the test if it cannot.
func tmpfs(t *testing.T, size string) string {
	t.Helper()
	directory := t.TempDir()
	if err := unix.Mount("tmpfs", directory, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(directory, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return directory
}

// fill fills a file system, except for the given number of bytes.
func fill(t *testing.T, directory string, leave int64) (free func()) {
	t.Helper()
	path := filepath.Join(directory, "ballast")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	block := make([]byte, 4096)
	for {
		if _, err := file.Write(block); err != nil {
			break
		}
	}
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Truncate(max(0, info.Size()-leave)); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAFullDiskSpendsTheReserveThenWaits fills a small file system under the journal. Facts and exits use up
// the reserve, then appends fail and write nothing, and once there is room they continue in order.
func TestAFullDiskSpendsTheReserveThenWaits(t *testing.T) {
	t.Parallel()
	directory := tmpfs(t, "8m")
	j, err := journal.Open(t.Context(), filepath.Join(directory, "journal.db"), binding, journal.Options{Reserve: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	epoch := int64(0)
	add := func() error {
		err := j.Append(t.Context(), []record.Record{booted(epoch + 1), {Body: record.Config{}}})
		if err == nil {
			epoch++
		}
		return err
	}
	if err := add(); err != nil || j.Keep(t.Context()) != "" {
		t.Fatalf("on a disk with room: want no error and nothing low, have %v, %q", err, j.Keep(t.Context()))
	}
	free := fill(t, directory, 0)
	for range 20 {
		if err := add(); err != nil {
			t.Fatalf("the reserve is there for facts: %v", err)
		}
	}
	if j.Keep(t.Context()) == "" {
		t.Error("the reserve is in use: want it reported")
	}
	fill(t, directory, 0)
	for tries := 0; ; tries++ {
		if err = add(); err != nil {
			break
		}
		if tries == 5_000 {
			t.Fatal("a full disk took 5000 appends")
		}
	}
	if !errors.Is(err, journal.ErrFull) || errors.Is(err, journal.ErrBroken) {
		t.Fatalf("want %v, have %v", journal.ErrFull, err)
	}
	if report, err := j.Verify(t.Context()); err != nil || int64(report.Records) != 2*epoch || len(report.Problems) > 0 {
		t.Fatalf("on a full disk: want %d records, have %+v, %v", 2*epoch, report, err)
	}
	free()
	if err := add(); err != nil {
		t.Fatalf("with room again: %v", err)
	}
	if low := j.Keep(t.Context()); low != "" {
		t.Errorf("with room again the reserve is taken again: have %q", low)
	}
	if report, err := j.Verify(t.Context()); err != nil || int64(report.Records) != 2*epoch || len(report.Problems) > 0 {
		t.Errorf("at the end: want %d records, have %+v, %v", 2*epoch, report, err)
	}
}

// TestBackupAndRestoreSurviveFullDisk starts with no room, then adds a little until it suffices. The error is returned, the
// journal keeps its records, every file with a backup's name is sound, and with enough room both succeed.
func TestBackupAndRestoreSurviveFullDisk(t *testing.T) {
	t.Parallel()
	directory := tmpfs(t, "4m")
	path := filepath.Join(directory, "journal.db")
	j, err := journal.Open(t.Context(), path, binding, journal.Options{Reserve: -1})
	must(t, err)
	must(t, j.Append(t.Context(), everyKind()))
	backup := filepath.Join(t.TempDir(), "backup.db")
	_, err = j.Backup(t.Context(), backup)
	must(t, err)
	must(t, j.Append(t.Context(), []record.Record{booted(99)}))
	must(t, j.Close())
	before, failed, moments := replayed(t, path), 0, moment
	for leave := int64(0); ; leave += 24 << 10 {
		free := fill(t, directory, leave)
		moments = moments.Add(time.Second)
		_, err := journal.Restore(t.Context(), backup, path, nil, moments)
		free()
		if err == nil {
			break
		}
		if failed++; !slices.Equal(replayed(t, path), before) {
			t.Fatalf("%d bytes: want the %d records that were there, after %v", leave, len(before), err)
		}
		left, _ := filepath.Glob(path + ".partial*")
		if len(left) > 0 {
			t.Fatalf("%d bytes: want nothing of the copy left, have %v", leave, left)
		}
	}
	if !slices.Equal(replayed(t, path), replayed(t, backup)) || failed < 3 {
		t.Errorf("want it restored once there is room, after more than two failures, have %d", failed)
	}
	j = open(t, path)
	failed = 0
	for leave := int64(0); ; leave += 24 << 10 {
		to := filepath.Join(directory, "again.db")
		free := fill(t, directory, leave)
		_, err := j.Backup(t.Context(), to)
		free()
		if err == nil {
			break
		}
		failed++
		if _, err := os.Stat(to); err == nil {
			t.Fatalf("%d bytes: want no file under a backup's name", leave)
		}
	}
	if failed < 3 {
		t.Errorf("want it to find too little room more than twice, have %d", failed)
	}
	must(t, j.Append(t.Context(), []record.Record{booted(100)}))
	soundReport(t, j)
}
