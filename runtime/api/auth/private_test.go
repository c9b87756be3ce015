package auth

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"botd/internal/privatefile"
)

// TestHintNamesFilesThatGrantAccess reads the hint, which lists these files itself.
func TestHintNamesFilesThatGrantAccess(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	mode := filepath.Join(data, "live")
	if err := errors.Join(os.Mkdir(mode, 0o700), os.Chmod(mode, 0o770)); err != nil {
		t.Fatal(err)
	}
	var refused *privatefile.Error
	if err := privatefile.Check(data, mode); !errors.As(err, &refused) {
		t.Fatalf("want it refused, have %v", err)
	}
	for _, name := range []string{OperatorFile, ViewerFile, KeyringFile, sessionsFile} {
		if !strings.Contains(refused.Hint, "-name "+name+" ") {
			t.Errorf("want %s removed, have %s", name, refused.Hint)
		}
	}
}
