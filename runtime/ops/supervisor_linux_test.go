package ops

import (
	"fmt"
	"os"
	"testing"
)

// TestASocketWithoutAFile uses an abstract one, which systemd names with @.
func TestASocketWithoutAFile(t *testing.T) {
	name := fmt.Sprint("@botd-ops-test-", os.Getpid())
	receive := listening(t, name)
	t.Setenv("NOTIFY_SOCKET", name)
	NewSupervisor().Stopping()
	if want, have := "STOPPING=1", receive(); want != have {
		t.Errorf("want %q, have %q", want, have)
	}
}
