//go:build !unix

package cli

import (
	"context"

	"botd/runtime/ops"
)

// watchLevel does nothing where there is no SIGUSR1: botd log-level changes it.
func watchLevel(context.Context, *ops.Logs, *ops.Console) {}
