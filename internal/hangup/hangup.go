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
// It is set during the initialization of packages, because a reload may be requested before all of them are
// initialized. This package has few imports, so it is initialized first. A signal during that time requires
// no action: files that changed since they were read are found by their fingerprints.
var Held = hold(os.Args)

// hold ignores the signals in a process that is to become a daemon.
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
