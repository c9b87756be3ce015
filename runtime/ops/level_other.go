//go:build !unix

package ops

import "context"

// ToggleDebug does nothing on a system without SIGUSR1: botd log-level changes the level there.
func ToggleDebug(context.Context, *Logs, *Console) {}
