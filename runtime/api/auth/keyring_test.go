package auth

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestATokenEnds(t *testing.T) {
	t.Parallel()
	keyring, err := OpenKeyring(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	made := time.Now()
	ends := made.Add(time.Hour)
	token, err := keyring.Add(Key{Name: "phone", Role: "viewer", Made: made, Ends: &ends})
	if err != nil {
		t.Fatal(err)
	}
	if _, held := keyring.find(token, ends.Add(-time.Second)); !held {
		t.Error("before its end: want it held")
	}
	if _, held := keyring.find(token, ends); held {
		t.Error("at its end: want it ended")
	}
}

func TestABrokenKeyringIsNoEmptyOne(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	if err := os.WriteFile(filepath.Join(directory, KeyringFile), []byte(`[{"name"`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenKeyring(directory); err == nil || !strings.Contains(err.Error(), "hint: ") {
		t.Errorf("want it reported, have %v", err)
	}
}
