package endtoend

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"botd/reconcile/journal"
	"botd/runtime/backups"
	"botd/runtime/gateway"
)

// TestTheDaemonStoresItsNewestBackups makes a backup when the maximum number exists, next to unrelated files.
func TestTheDaemonStoresItsNewestBackups(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	oldJournal(t, filepath.Join(directory, journal.FileName))
	open, err := journal.Open(
		t.Context(),
		filepath.Join(directory, journal.FileName),
		journal.Binding{Mode: "demo", URL: "embedded", KeyFingerprint: gateway.Fingerprint(gateway.DemoAccount), Instance: "main"},
		journal.Options{},
	)

	if err != nil {
		t.Fatal(err)
	}
	defer open.Close() // it is migrated, and locked by its writer meanwhile
	folder := filepath.Join(directory, backups.Folder)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	others := []string{"demo-main-mine.db", "live-main-20200101T000000Z.db", "demo-main-20200101T000000Z.txt"}
	var ours []string
	for _, day := range []string{"1", "2", "3", "4", "5", "6", "7"} {
		ours = append(ours, "demo-main-2020010"+day+"T000000Z.db")
	}
	for _, name := range append(slices.Clone(others), ours...) {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := &backups.Backups{Directory: directory, Prefix: "demo-main-"}
	plan, err := b.Plan()
	if err != nil || len(plan) != 3 || !strings.Contains(plan[1], "delete "+ours[0]) {
		t.Fatalf("want the oldest named, have %q, %v", plan, err)
	}
	made, err := b.Make(t.Context())
	if err != nil || made.Records != 2 || filepath.Dir(made.File) != folder {
		t.Fatalf("want a copy of 2 records in %s, have %+v, %v", folder, made, err)
	}
	if _, err := journal.CheckBackup(t.Context(), made.File, nil); err != nil {
		t.Errorf("the copy is damaged: %v", err)
	}
	want := append(append([]string{}, others...), append(ours[1:], filepath.Base(made.File))...)
	var have []string
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		have = append(have, e.Name())
	}
	slices.Sort(want)
	if !slices.Equal(want, have) {
		t.Errorf("want %v\nhave %v", want, have)
	}
	if at := backups.Last(directory); !at.Equal(made.At) {
		t.Errorf("the mark: want %s, have %s", made.At, at)
	}
}
