// Package hangup holds back signals in a daemon's first milliseconds, so that they do not end it.
package hangup

import (
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Held reports whether this process holds SIGHUP and SIGUSR1 until it acts on them.
//
// It is set while packages are initialized, since a reload may be asked for before the
// others are: this one needs little, so its turn comes first. A signal that comes
// meanwhile asks for nothing: files that changed since they were read are found by
// their fingerprint.
var Held = hold(os.Args)

// hold ignores the signals in a process that is to run as a daemon.
func hold(arguments []string) bool {
	for _, a := range arguments[min(1, len(arguments)):] {
		switch {
		case a == "run":
			signal.Ignore(syscall.SIGHUP, syscall.SIGUSR1)
			return true
		case !strings.HasPrefix(a, "-"):
			return false
		}
	}
	return false
}
