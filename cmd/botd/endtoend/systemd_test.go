package endtoend

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSystemdIsNotifiedOfBotdsState listens in place of systemd.
func TestSystemdIsNotifiedOfBotdsState(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(directory, "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	command := exec.Command(self(t), "run", "--listen", "off", "--log-format", "json")
	command.Dir, command.Env = directory, append(os.Environ(), "NOTIFY_SOCKET="+filepath.Join(directory, "notify"))
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer command.Process.Kill()
	if err := socket.SetReadDeadline(time.Now().Add(60 * time.Second)); err != nil {
		t.Fatal(err)
	}
	received := func(want string) {
		t.Helper()
		text := make([]byte, 4096)
		for {
			n, err := socket.Read(text)
			if err != nil {
				t.Fatalf("want %s, have %v", want, err)
			}
			if strings.Contains(string(text[:n]), want) {
				return
			}
		}
	}
	received("READY=1")
	received("WATCHDOG=1")
	received("WATCHDOG=1")
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	received("STOPPING=1")
	if err := command.Wait(); err != nil {
		t.Errorf("the end: want exit code 0, have %v", err)
	}
}
