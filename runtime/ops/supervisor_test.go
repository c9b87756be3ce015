package ops

import (
	"net"
	"path/filepath"
	"testing"
	"time"

	"botd/runtime/engine"
)

// listening is a socket as systemd's, and what arrives there.
func listening(t *testing.T, name string) (receive func() string) {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return func() string {
		if err := conn.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
			t.Fatal(err)
		}
		text := make([]byte, 1000)
		n, err := conn.Read(text)
		if err != nil {
			return err.Error()
		}
		return string(text[:n])
	}
}

// TestWhatSystemdIsNotifiedOf expects the states of sd_notify(3).
func TestWhatSystemdIsNotifiedOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	receive := listening(t, path)
	t.Setenv("NOTIFY_SOCKET", path)
	s := NewSupervisor()
	s.Ready("API on unix:/run/botd.sock")
	if want, have := "READY=1\nSTATUS=API on unix:/run/botd.sock", receive(); want != have {
		t.Errorf("want %q, have %q", want, have)
	}
	for _, c := range []struct {
		fact engine.Fact
		want string // empty: nothing is sent, so the next one arrives
	}{
		{engine.NoteRound{}, "WATCHDOG=1"},
		{engine.NoteRound{Complete: true}, "WATCHDOG=1"},
		{engine.NoteHalt{Reason: "news"}, "STATUS=trading is halted: news"},
		{engine.NoteHalt{Reason: "all is well", Ended: true}, "STATUS=trading continues: all is well"},
		{engine.NoteBlind{Of: "the account", Reason: "timeout"}, "STATUS=the account cannot be read: timeout"},
		{engine.NoteBlind{Of: "the account", Ended: true}, ""},
		{engine.NoteTick{}, ""},
	} {
		s.Note(&engine.Note{Fact: c.fact})
		if c.want == "" {
			continue
		}
		if have := receive(); have != c.want {
			t.Errorf("%T: want %q, have %q", c.fact, c.want, have)
		}
	}
	s.Stopping()
	if want, have := "STOPPING=1", receive(); want != have {
		t.Errorf("want %q, have %q", want, have)
	}
	t.Setenv("NOTIFY_SOCKET", "")
	NewSupervisor().Ready("nobody reads it")
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "absent"))
	NewSupervisor().Stopping()
}
