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

// Flags locate the running daemon.
type Flags struct{ Address, socket, URL, Directory string }

// Add adds the flags of a command that requests data from the daemon and prints the response.
func (a *Flags) Add(command *cobra.Command) {
	a.AddDaemon(command)
	shell.OutputFlag(command)
}

// AddDaemon adds the flags that locate the daemon.
func (a *Flags) AddDaemon(command *cobra.Command) {
	command.Flags().StringVar(&a.Address, "listen", "", "the daemon's address (default: its unix socket in the data directory)")
	command.Flags().StringVar(&a.socket, "socket", "", "the daemon's unix socket")
	command.Flags().StringVar(&a.URL, "url", "", "the daemon's URL; its token is in the file that BOTD_TOKEN_FILE names, else in the data directory")
	command.MarkFlagsMutuallyExclusive("listen", "socket", "url")
	command.Flags().StringVarP(&a.Directory, "config", "c", "", "configuration directory, for address and data directory")
}

// Daemon finds the running daemon by the flags and the configuration.
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
	if _, problems, _ := loadWithoutPrograms(ctx, a.Directory, ""); problems.Err() != nil { // an invalid configuration may be the cause
		return nil, failure.New(failure.Config, "", "%s", problems.String())
	}
	return nil, err
}

// Paths locates the daemon of a configuration without starting a strategy's program. Mistakes in the files do
// not matter here: a running daemon must stay reachable for watching and stopping it.
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

// Running is a daemon that responds, with its status.
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

// Post sends a change or a dry run of one, and returns the response.
func Post[T any](command *cobra.Command, d *Running, path string, body any) (out T, raw json.RawMessage, err error) {
	return client.Ask[T](command.Context(), d.Daemon, http.MethodPost, path, body)
}

// Change sends a change, or a dry run of it, that needs only a path, and prints the response.
func (a *Flags) Change(command *cobra.Command, method, path string, dry bool) error {
	if dry {
		path += "?dry_run=true"
	}
	return a.Send(command, method, path, nil)
}

// Send sends a change, or a dry run of it, and prints the response.
func (a *Flags) Send(command *cobra.Command, method, path string, body any) error {
	d, err := a.Daemon(command.Context())
	if err != nil {
		return err
	}
	change, raw, err := client.Ask[api.Change](command.Context(), d, method, path, body)
	if err != nil {
		return err
	}
	return ShowChange(command, &change, raw)
}

// ShowChange prints the response to a change or to its dry run.
func ShowChange(command *cobra.Command, change *api.Change, raw json.RawMessage) error {
	return shell.Print(command, raw, func(w io.Writer) {
		for _, line := range change.Effects {
			fmt.Fprintln(w, line)
		}
		if change.DryRun {
			fmt.Fprintln(w, shell.NothingDone)
		}
	})
}
