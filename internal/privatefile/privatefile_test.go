package privatefile

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestDirectoryWritableByOthersIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what    string
		prepare func(data, mode string) error
		remedy  string // empty: it is safe
	}{
		{"as botd makes it", func(string, string) error { return nil }, ""},
		{"nothing yet", func(data, _ string) error { return os.RemoveAll(data) }, ""},
		{"readable by others", func(data, mode string) error { return errors.Join(os.Chmod(data, 0o755), os.Chmod(mode, 0o755)) }, ""},
		{"a directory for all", func(data, _ string) error { return os.Chmod(data, 0o777) }, "chmod go-w "},
		{"a directory of a mode for all", func(_, mode string) error { return os.Chmod(mode, 0o777) }, "chmod -R go= "},
		{"a directory of a mode for a group", func(_, mode string) error { return os.Chmod(mode, 0o770) }, "chmod -R go= "},
		{"a token for a group", func(_, mode string) error { return os.Chmod(filepath.Join(mode, "token"), 0o620) }, "chmod -R go= "},
		{"a link for equity.csv", func(_, mode string) error {
			return os.Symlink("/etc/passwd", filepath.Join(mode, "equity.csv"))
		}, "rm "},
		{"a link for a directory", func(_, mode string) error { return os.Symlink("/tmp", filepath.Join(mode, "backups")) }, "rm "},
		{"a link for the mode's", func(data, mode string) error {
			return errors.Join(os.Rename(mode, mode+"-moved"), os.Symlink(mode+"-moved", mode))
		}, "rm "},
		{"a link in a directory", func(_, mode string) error {
			return errors.Join(os.Mkdir(filepath.Join(mode, "recorded"), 0o700), os.Symlink("/etc", filepath.Join(mode, "recorded", "x")))
		}, "rm "},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "data")
			mode := filepath.Join(data, "live")
			must(t, os.MkdirAll(mode, 0o700), os.WriteFile(filepath.Join(mode, "token"), []byte("t"), 0o600))
			must(t, c.prepare(data, mode))
			err := Check(data, mode)
			var refused *Error
			switch {
			case c.remedy == "" && err != nil:
				t.Errorf("want it sound, have %v", err)
			case c.remedy != "" && (!errors.As(err, &refused) || !strings.HasPrefix(refused.Hint, c.remedy)):
				t.Errorf("want it refused with %q, have %v", c.remedy, err)
			}
		})
	}
}

func TestADirectoryOfAnotherUserIsRefused(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away: this needs a machine where the tests run as root")
	}
	data := filepath.Join(t.TempDir(), "data")
	mode := filepath.Join(data, "live")
	must(t, os.MkdirAll(mode, 0o700), os.WriteFile(filepath.Join(mode, "token"), []byte("t"), 0o600))
	must(t, os.Chown(filepath.Join(mode, "token"), 12345, -1))
	var refused *Error
	if err := Check(data, mode); !errors.As(err, &refused) || !strings.Contains(refused.What, "user 12345") {
		t.Errorf("a token of another user: want it refused, have %v", err)
	}
	must(t, os.Chown(filepath.Join(mode, "token"), 0, -1), os.Chown(data, 12345, -1))
	if err := Check(data, mode); !errors.As(err, &refused) || refused.Path != data {
		t.Errorf("a data directory of another user: want it refused, have %v", err)
	}
	afterTheHint(t, data, mode, refused)
}

// TestTheHintLeavesNoPlantedToken follows the hint for a file that a group could write.
func TestTheHintLeavesNoPlantedToken(t *testing.T) {
	t.Parallel()
	for _, exposed := range []string{".", "token", "equity.csv"} {
		data := filepath.Join(t.TempDir(), "data")
		mode := filepath.Join(data, "live")
		must(t, os.MkdirAll(mode, 0o700), os.WriteFile(filepath.Join(mode, "equity.csv"), nil, 0o600),
			os.WriteFile(filepath.Join(mode, "token"), []byte("t"), 0o600), os.Chmod(filepath.Join(mode, exposed), 0o770))
		var refused *Error
		if err := Check(data, mode); !errors.As(err, &refused) {
			t.Fatalf("%s: want it refused, have %v", exposed, err)
		}
		afterTheHint(t, data, mode, refused)
	}
}

// afterTheHint runs the command in a refusal, and checks its result.
func afterTheHint(t *testing.T, data, mode string, refused *Error) {
	t.Helper()
	granting := []string{"token", "token-viewer", "tokens.json", "sessions.json"}
	for _, name := range granting {
		must(t, os.WriteFile(filepath.Join(mode, name), []byte("planted"), 0o600))
	}
	must(t, os.WriteFile(filepath.Join(mode, "journal.db"), nil, 0o600))
	if out, err := exec.Command("sh", "-c", refused.Hint).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v %s", refused.Hint, err, out)
	}
	for _, name := range granting {
		if _, err := os.Lstat(filepath.Join(mode, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: want %s removed, have %v", refused.Hint, name, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(mode, "journal.db")); err != nil {
		t.Errorf("%s: want the journal kept, have %v", refused.Hint, err)
	}
	if err := Check(data, mode); err != nil {
		t.Errorf("%s: want it sound afterwards, have %v", refused.Hint, err)
	}
}
