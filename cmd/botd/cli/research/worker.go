package research

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	goruntime "runtime"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"botd/backtest/cluster"
	"botd/backtest/inputs"
	"botd/internal/failure"
	"botd/internal/version"
)

// maxSlots bounds the trials that one worker runs at a time.
const maxSlots = 1024

// NewWorker returns the command botd worker.
func NewWorker() *cobra.Command {
	var access cluster.Access
	var slots int
	var idle time.Duration
	var directory string
	command := &cobra.Command{
		Use: "worker", Short: "run the trials of sweeps for other machines", Args: cobra.NoArgs,
		Long: `Takes trials of sweeps (botd sweep run --serve or --on) from a NATS server, runs them, and stores
their rows there. Candles come from the server by content hash, and are cached in --cache. A worker
needs nothing else: no configuration, no keys, no exchange.

It runs until it is interrupted. On SIGTERM it finishes the running trials, returns those that it
has not started, and exits with 0. If it is killed, other workers repeat its running trials after 15
seconds. A worker rejects sweeps of a different build and gives the reason, because rows of two
builds cannot be compared.`,
		Example: "  botd worker --on nats://127.0.0.1:4222\n  BOTD_NATS_TOKEN=... botd worker --on tls://sweeps.example.net:4222 --tls-ca ca.pem --slots 8",
		RunE: func(command *cobra.Command, _ []string) error {
			if access.URL == "" {
				return failure.Usagef("botd worker needs --on nats://HOST:PORT")
			}
			if slots < 1 || slots > maxSlots {
				return failure.Usagef("--slots %d: from 1 to %d", slots, maxSlots)
			}
			return work(command, access, slots, idle, directory)
		},
	}
	addAccess(command, &access, false)
	f := command.Flags()
	f.IntVar(&slots, "slots", goruntime.GOMAXPROCS(0), "trials at a time")
	f.DurationVar(&idle, "idle", 0, "exit with 0 after this long without work (default: never)")
	f.StringVar(&directory, "cache", "", "directory for the candles that are received (default: botd/sweeps in the user's cache directory)")
	return command
}

func work(command *cobra.Command, access cluster.Access, slots int, idle time.Duration, directory string) error {
	if directory == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return failure.New(failure.Usage, "set it with --cache DIR", "there is no cache directory: %w", err)
		}
		directory = filepath.Join(user, "botd", "sweeps")
	}
	directory, err := filepath.Abs(directory)
	if err != nil {
		return failure.Wrap(failure.IO, err)
	}
	program, err := version.ProgramHash()
	if err != nil {
		return failure.Wrap(failure.IO, err)
	}
	machine, err := os.Hostname()
	if err != nil {
		machine = "worker"
	}
	var mu sync.Mutex // guards stderr: several slots report
	worker := &cluster.Worker{Access: access, Program: program, Version: version.Read().Version, Slots: slots, Idle: idle, Cache: directory,
		ID: fmt.Sprintf("%s-%d-%s", machine, os.Getpid(), hex.EncodeToString([]byte{byte(rand.IntN(256)), byte(rand.IntN(256))})),
		Files: func() (files inputs.Files) {
			loadWith(command, &files)
			files.Store = nil // finer candles come from the coordinator, if at all
			return files
		},
		Log: func(format string, arguments ...any) {
			mu.Lock()
			defer mu.Unlock()
			fmt.Fprintf(command.ErrOrStderr(), format+"\n", arguments...)
		}}
	return worker.Run(command.Context())
}
