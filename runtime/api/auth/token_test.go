package auth

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTokensAreAccessibleOnlyToTheirOwner(t *testing.T) {
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

// TestATokenFileThatIsTooLongIsReplaced covers a token after so many blanks that the file is 4 KiB long, and one byte longer: half of a token is none.
func TestATokenFileThatIsTooLongIsReplaced(t *testing.T) {
	t.Parallel()
	const token = "botd_ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for length, known := range map[int]bool{len(token): true, 4 << 10: true, 4<<10 + 1: false, 4<<10 + 10: false} {
		path := filepath.Join(t.TempDir(), OperatorFile)
		if err := os.WriteFile(path, []byte(strings.Repeat(" ", length-len(token))+token), 0o600); err != nil {
			t.Fatal(err)
		}
		have, made, err := readToken(path)
		if err != nil || made == known || (have == token) != known || len(have) != len(token) {
			t.Errorf("%d bytes: want it known %t, have %q, made %t, %v", length, known, have, made, err)
		}
		if again, _, err := readToken(path); err != nil || again != have {
			t.Errorf("%d bytes: want the same afterwards, have %q, %v", length, again, err)
		}
	}
}

// The directory is restored, too, for its owner only. Existing files stay.
func TestMissingTokenFilesAreRestored(t *testing.T) {
	t.Parallel()
	directory := filepath.Join(t.TempDir(), "data")
	tokens := Tokens{Operator: "operator-of-a-test-long-enough", Viewer: "viewer-of-a-test-long-enough"}
	want := func(what string, want Tokens) {
		t.Helper()
		have, first, err := ReadTokens(directory)
		if err != nil || first || have != want {
			t.Errorf("%s: want the same tokens, have %+v, made %t, %v", what, have, first, err)
		}
	}
	if err := tokens.Restore(directory); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{directory: os.ModeDir | 0o700, filepath.Join(directory, "token"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode() != mode {
			t.Errorf("%s: want mode %v, have %v, %v", path, mode, info.Mode(), err)
		}
	}
	want("both", tokens)
	if err := os.Remove(filepath.Join(directory, ViewerFile)); err != nil {
		t.Fatal(err)
	}
	other := Tokens{Operator: "another-operator-of-a-test", Viewer: tokens.Viewer}
	if err := other.Restore(directory); err != nil {
		t.Fatal(err)
	}
	want("one", tokens)
	if err := (Tokens{}).Restore(filepath.Join(directory, "new")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(directory, "new")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without tokens: want nothing made, have %v", err)
	}
	inFile := filepath.Join(directory, OperatorFile, "below")
	if have, first, err := ReadTokens(inFile); err == nil || first || have != (Tokens{}) || !strings.HasPrefix(err.Error(), "read the API token: ") {
		t.Errorf("below a file: want an error, have %+v, %t, %v", have, first, err)
	}
	if have, first, err := ReadTokens(filepath.Join(directory, "nowhere")); err == nil || first || have != (Tokens{}) ||
		!strings.HasPrefix(err.Error(), "write the API token: ") {
		t.Errorf("in no directory: want an error, have %+v, %t, %v", have, first, err)
	}
	if name := tokens.InstanceHost(); len(name) != len("botd-0123456789ab.localhost") || name == other.InstanceHost() {
		t.Errorf("want a name of its own, have %s", name)
	}
}
