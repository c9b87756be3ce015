//go:build !unix

package ops

import "context"

// ToggleDebug does nothing where there is no SIGUSR1: botd log-level changes it.
func ToggleDebug(context.Context, *Logs, *Console) {}
