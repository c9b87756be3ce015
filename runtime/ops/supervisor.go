package ops

import (
	"fmt"
	"net"
	"os"
	"strings"

	"botd/runtime/engine"
)

// Supervisor reports botd's state to systemd (Type=notify). Without systemd it does nothing.
type Supervisor struct{ socket string }

// NewSupervisor reads the address of systemd's socket.
func NewSupervisor() *Supervisor { return &Supervisor{os.Getenv("NOTIFY_SOCKET")} }

// Notify sends a state. A failure is ignored, because there is nobody to report it to.
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

// Ready reports that botd runs.
func (s *Supervisor) Ready(where string) { s.Notify("READY=1", "STATUS="+where) }

// Note feeds the watchdog with every finished round, and sets the status line.
func (s *Supervisor) Note(n *engine.Note) {
	if s.socket == "" {
		return
	}
	switch fact := n.Fact.(type) {
	case engine.NoteRound:
		s.Notify("WATCHDOG=1")
	case engine.NoteHalt:
		if fact.Ended {
			s.Notify("STATUS=trading continues: " + fact.Reason)
			return
		}
		s.Notify("STATUS=trading is halted: " + fact.Reason)
	case engine.NoteBlind:
		if !fact.Ended {
			s.Notify(fmt.Sprintf("STATUS=%s cannot be read: %s", fact.Of, fact.Reason))
		}
	}
}

// Stopping reports that botd ends intentionally.
func (s *Supervisor) Stopping() { s.Notify("STOPPING=1") }
