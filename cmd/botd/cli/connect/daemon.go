package connect

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/internal/failure"
	"botd/runtime/api"
	"botd/runtime/api/client"
	"botd/runtime/view"
)

// Flags say where the running daemon is.
type Flags struct{ Address, socket, URL, Directory, Output string }

// Add adds the flags of a command that asks the daemon and prints its answer.
func (a *Flags) Add(command *cobra.Command) {
	a.AddDaemon(command)
	shell.OutputFlag(command, &a.Output)
}

// AddDaemon adds the flags that say where the daemon is.
func (a *Flags) AddDaemon(command *cobra.Command) {
	command.Flags().StringVar(&a.Address, "listen", "", "the daemon's address (default: its unix socket in the data directory)")
	command.Flags().StringVar(&a.socket, "socket", "", "the daemon's unix socket")
	command.Flags().StringVar(&a.URL, "url", "", "the daemon's URL; its token stands in the file that BOTD_TOKEN_FILE names, else in the data directory")
	command.MarkFlagsMutuallyExclusive("listen", "socket", "url")
	command.Flags().StringVarP(&a.Directory, "config", "c", "", "configuration directory, for address and data directory")
}

// Daemon finds the running daemon that the flags and the configuration say.
func (a *Flags) Daemon(ctx context.Context) (*client.Daemon, error) {
	where, err := Paths(a.Directory)
	if err != nil {
		return nil, err
	}
	given := shell.GlobalsOf(ctx)
	a.Address = cmp.Or(a.URL, a.Address)
	at := client.Search{Socket: a.socket, Address: a.Address, Listen: where.Listen, TokenFile: os.Getenv(client.TokenFile), Timeout: given.Timeout,
		Trace: given.Trace}
	for _, mode := range []configs.Mode{where.Mode, configs.Demo, configs.Paper, configs.Live} {
		at.Directories = append(at.Directories, filepath.Join(where.DataDir, string(mode)))
	}
	d, err := at.Find(ctx)
	if err == nil || a.socket != "" {
		return d, err
	}
	if _, problems, _ := loadWithoutPrograms(ctx, a.Directory, ""); problems.Err() != nil { // perhaps that is why
		return nil, failure.New(failure.Config, "", "%s", problems.String())
	}
	return nil, err
}

// Paths finds out where the daemon of a configuration is, without its strategies: no program is started for that. Mistakes
// are no reason not to reach it: what runs must be watched and stopped whatever the files say.
func Paths(directory string) (configs.Location, error) {
	directory, err := folder(installed(directory))
	if err != nil {
		return configs.Location{}, err
	}
	if directory == "" {
		return configs.Locate(configs.Examples()), nil
	}
	return configs.Locate(os.DirFS(directory)), nil
}

// Running is the daemon that answers, with its status.
type Running struct {
	*client.Daemon
	Status view.Status
}

// Reach finds the running daemon.
func (a *Flags) Reach(command *cobra.Command) (*Running, error) {
	d, err := a.Daemon(command.Context())
	if err != nil {
		return nil, err
	}
	status, _, err := client.Ask[view.Status](command.Context(), d, http.MethodGet, "/api/v1/status", nil)
	return &Running{d, status}, err
}

// ReasonFlag adds --reason to a command whose change is written to the journal.
func ReasonFlag(command *cobra.Command, reason *string) {
	command.Flags().StringVar(reason, "reason", "", "why, for the journal")
}

// CheckReason refuses a change without a reason; a dry run needs none.
func CheckReason(command *cobra.Command, reason string, dry bool) error {
	if strings.TrimSpace(reason) == "" && !dry {
		return failure.Usagef("%s needs --reason TEXT: it is written to the journal", command.CommandPath())
	}
	return nil
}

// Post changes something, or asks what a change would do, and returns the answer.
func Post[T any](command *cobra.Command, d *Running, path string, body any) (out T, raw json.RawMessage, err error) {
	return client.Ask[T](command.Context(), d.Daemon, http.MethodPost, path, body)
}

// Change asks the daemon for a change that needs no more than its path, or only what
// it would do, and prints its answer.
func (a *Flags) Change(command *cobra.Command, method, path string, dry bool) error {
	if dry {
		path += "?dry_run=true"
	}
	return a.Send(command, method, path, nil)
}

// Send asks the daemon for a change, or what it would do, and prints its answer.
func (a *Flags) Send(command *cobra.Command, method, path string, body any) error {
	d, err := a.Daemon(command.Context())
	if err != nil {
		return err
	}
	change, raw, err := client.Ask[api.Change](command.Context(), d, method, path, body)
	if err != nil {
		return err
	}
	return ShowChange(command, a.Output, &change, raw)
}

// ShowChange prints the answer to a change, or to a trial of one.
func ShowChange(command *cobra.Command, output string, change *api.Change, raw json.RawMessage) error {
	return shell.Print(command.OutOrStdout(), output, raw, func(w io.Writer) {
		for _, line := range change.Does {
			fmt.Fprintln(w, line)
		}
		if change.DryRun {
			fmt.Fprintln(w, shell.NothingDone)
		}
	})
}
