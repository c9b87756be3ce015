package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/internal/failure"
	"botd/reconcile/journal"
	"botd/runtime/haltfile"
)

// later saves a halt for the next start when no daemon responds: the daemon may be waiting for a failing exchange, or systemd may be about to
// restart it. It returns the reason why no daemon was reached and what was done instead, or the daemon if one responds after all.
func (f *haltFlags) later(command *cobra.Command, unreached error) (*connect.Running, error) {
	var code *failure.Error
	if f.DryRun || f.Address != "" || !errors.As(unreached, &code) || code.Code != failure.Unavailable {
		return nil, unreached
	}
	config, err := connect.LoadSettings(command.Context(), f.Directory, "", connect.CheckHint)
	if err != nil {
		return nil, unreached
	}
	directory := filepath.Join(config.DataDir, string(config.Mode))
	if _, err := os.Stat(filepath.Join(directory, journal.FileName)); err != nil {
		return nil, unreached // no daemon ever traded there
	}
	halt := haltfile.Halt{AtMS: time.Now().UnixMilli(), By: haltfile.Operator(), Level: f.Level, Reason: f.Reason, Strategy: f.Strategy,
		Market: f.Market, Symbol: f.Symbol}
	if _, err := halt.Scope(config); err != nil {
		return nil, failure.Wrap(failure.Negative, err)
	}
	secret, err := config.JournalKey()
	if err != nil { // the halt is carried out all the same
		fmt.Fprintf(command.ErrOrStderr(), "the halt has no code, since the journal's key cannot be read: %v\n", err)
	}
	path, err := haltfile.Write(directory, halt, journal.NewKey(secret).Coder(haltfile.Kind))
	if path == "" {
		return nil, failure.New(failure.IO, "nothing was halted", "store the halt for the next start: %w", err)
	}
	if err != nil {
		fmt.Fprintf(command.ErrOrStderr(), "a power failure may take the halt away: %v\n", err)
	}
	if d, err := f.Reach(command); err == nil { // the daemon has started meanwhile and responds itself
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, failure.Wrap(failure.IO, err)
		}
		return d, nil
	}
	return nil, failure.New(failure.Unavailable, "the next botd run is halted before anything is sent, and carries it out; one that runs "+
		"and did not answer does so within seconds",
		"no daemon answers: the halt is stored in %s", path)
}
