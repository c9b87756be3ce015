package ops

import (
	"fmt"
	"net"
	"os"
	"strings"

	"botd/runtime/engine"
)

// Supervisor tells systemd how botd is (Type=notify). Without systemd it tells
// nobody.
type Supervisor struct{ socket string }

// NewSupervisor reads where systemd listens.
func NewSupervisor() *Supervisor { return &Supervisor{os.Getenv("NOTIFY_SOCKET")} }

// Notify sends a state. Nobody can be told when it fails, and nothing hangs on it.
func (s *Supervisor) Notify(lines ...string) {
	if s.socket == "" {
		return
	}
	name := s.socket
	if strings.HasPrefix(name, "@") {
		name = "\x00" + name[1:]
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = conn.Write([]byte(strings.Join(lines, "\n")))
}

// Ready says that botd runs.
func (s *Supervisor) Ready(where string) { s.Notify("READY=1", "STATUS="+where) }

// Note feeds the watchdog with every round that is finished, and shows what a
// person should know.
func (s *Supervisor) Note(n *engine.Note) {
	if s.socket == "" {
		return
	}
	switch fact := n.Fact.(type) {
	case engine.NoteRound:
		s.Notify("WATCHDOG=1")
	case engine.NoteHalt:
		if fact.Over {
			s.Notify("STATUS=trading goes on: " + fact.Why)
			return
		}
		s.Notify("STATUS=trading is halted: " + fact.Why)
	case engine.NoteBlind:
		if !fact.Over {
			s.Notify(fmt.Sprintf("STATUS=orders and positions can not be read: %s", fact.Why))
		}
	}
}

// Stopping says that botd ends on purpose.
func (s *Supervisor) Stopping() { s.Notify("STOPPING=1") }
