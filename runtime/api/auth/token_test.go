package auth

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheTokensAreTheirOwnersAlone(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	tokens := func(want bool) Tokens {
		t.Helper()
		have, first, err := ReadTokens(directory)
		if err != nil || first != want {
			t.Fatalf("want first %t, have %t, %v", want, first, err)
		}
		for _, name := range []string{OperatorFile, ViewerFile} {
			if info, err := os.Stat(filepath.Join(directory, name)); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: want mode 0600, have %v, %v", name, info.Mode(), err)
			}
		}
		return have
	}
	first := tokens(true)
	if len(first.Operator) < 26 || len(first.Viewer) < 26 || first.Operator == first.Viewer {
		t.Errorf("want two tokens of at least 26 letters, have %q", first)
	}
	path := filepath.Join(directory, OperatorFile)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	second := tokens(true)
	if second.Operator == first.Operator || second.Viewer != first.Viewer {
		t.Errorf("a token that others could read: want a new one, and the other as it was, have %q and %q", first, second)
	}
	if third := tokens(false); third != second {
		t.Errorf("want the same tokens, have %q and %q", second, third)
	}
	planted := filepath.Join(t.TempDir(), "planted")
	if err := os.WriteFile(planted, []byte("botd_PLANTEDPLANTEDPLANTEDPLANTED"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(path), os.Symlink(planted, path)); err != nil {
		t.Fatal(err)
	}
	if have := tokens(true); strings.Contains(have.Operator, "PLANTED") {
		t.Errorf("a link to a token: want a new one, have %q", have.Operator)
	}
	if err := os.WriteFile(path, []byte("botd_CUT"), 0o644); err != nil { // cut short by a crash
		t.Fatal(err)
	}
	if fourth := tokens(true); fourth.Operator == first.Operator || len(fourth.Operator) < 26 {
		t.Errorf("want a new token, have %q", fourth)
	}
	if _, _, err := ReadTokens(filepath.Join(directory, "nowhere")); err == nil {
		t.Error("a directory that is not there: want an error")
	}
}
