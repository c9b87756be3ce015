package cli

import (
	"fmt"
	"net"
	"os"
	"strings"

	"botd/runtime/engine"
)

// supervisor tells systemd how botd is (Type=notify). Without systemd it tells
// nobody.
type supervisor struct{ socket string }

// newSupervisor reads where systemd listens.
func newSupervisor() *supervisor { return &supervisor{os.Getenv("NOTIFY_SOCKET")} }

// tell sends a state. Nobody can be told when it fails, and nothing hangs on it.
func (s *supervisor) tell(lines ...string) {
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

// ready says that botd runs.
func (s *supervisor) ready(where string) { s.tell("READY=1", "STATUS="+where) }

// note feeds the watchdog with every round that is finished, and shows what a
// person should know.
func (s *supervisor) note(n *engine.Note) {
	if s.socket == "" {
		return
	}
	switch fact := n.Fact.(type) {
	case engine.NoteRound:
		s.tell("WATCHDOG=1")
	case engine.NoteHalt:
		if fact.Over {
			s.tell("STATUS=trading goes on: " + fact.Why)
			return
		}
		s.tell("STATUS=trading is halted: " + fact.Why)
	case engine.NoteBlind:
		if !fact.Over {
			s.tell(fmt.Sprintf("STATUS=orders and positions can not be read: %s", fact.Why))
		}
	}
}

// stopping says that botd ends on purpose.
func (s *supervisor) stopping() { s.tell("STOPPING=1") }
