package research

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/backtest/cluster"
	"botd/backtest/inputs"
	"botd/backtest/saved"
	"botd/backtest/sweeps"
	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
	"botd/internal/version"
)

// addAccess adds the flags that reach a NATS server; with serve the server can be embedded too.
func addAccess(command *cobra.Command, access *cluster.Access, serve bool) {
	f := command.Flags()
	f.StringVar(&access.URL, "on", "", "NATS server with JetStream: nats://HOST:PORT or tls://HOST:PORT; beyond this machine it needs "+
		cluster.TokenVariable+" in the environment, --creds or --tls-cert")
	f.StringVar(&access.Creds, "creds", "", "file with a NATS user's credentials")
	f.StringVar(&access.CA, "tls-ca", "", "CA file (PEM) for the server's certificate; with --serve, for client certificates")
	f.StringVar(&access.Cert, "tls-cert", "", "own certificate (PEM)")
	f.StringVar(&access.Key, "tls-key", "", "key of --tls-cert (PEM)")
	if serve {
		f.StringVar(&access.Serve, "serve", "", "run a NATS server at HOST:PORT in this process, for workers: botd worker --on nats://HOST:PORT")
	}
}

// spread reports whether trials run on workers.
func (f *sweepFlags) spread() bool { return f.access.URL != "" || f.access.Serve != "" }

// automaticName names an unnamed sweep on workers, which outlasts this process.
func automaticName(now time.Time) string {
	return now.UTC().Format("20060102-150405-") + hex.EncodeToString([]byte{byte(rand.IntN(256)), byte(rand.IntN(256))})
}

// runner returns the function that runs the trials, on this process or on workers, and the function that ends it.
func (f *sweepFlags) runner(command *cobra.Command, plan *sweeps.Plan, trials *inputs.Trials, log *sweeps.Log, directory string,
	bar *shell.Progress) (sweeps.Runner, func(error) error, error) {
	if !f.spread() {
		return plan.Here(trials), func(err error) error { return err }, nil
	}
	program, err := programHash()
	if err != nil {
		return nil, nil, failure.Wrap(failure.IO, err)
	}
	if f.access.Plain() {
		bar.Log("warning: token and results cross the network unencrypted; use --tls-cert and --tls-ca")
	}
	var server *cluster.Server
	if f.access.Serve != "" {
		f.access.StoreDir = filepath.Join(filepath.Dir(filepath.Dir(directory)), "nats")
		if server, err = cluster.Serve(f.access); err != nil {
			return nil, nil, err
		}
	}
	coordinator, err := cluster.Begin(command.Context(), f.access, server, &f.spec, trials, trials.Base.File, program, version.Read().Version,
		log.Has, func(format string, arguments ...any) { bar.Log(fmt.Sprintf(format, arguments...)) })
	if err != nil {
		if server != nil {
			server.Close()
		}
		return nil, nil, err
	}
	coordinator.Progress = bar.Note
	return coordinator, func(outcome error) error {
		err := coordinator.End(command.Context(), outcome)
		if server != nil {
			server.Close()
		}
		return err
	}, nil
}

// onCluster connects to the server of --on.
func onCluster(command *cobra.Command, access cluster.Access, do func(ctx context.Context, view *cluster.View) error) error {
	ctx, cancel := context.WithTimeout(command.Context(), time.Minute)
	defer cancel()
	view, err := cluster.Open(ctx, access)
	if err != nil {
		return err
	}
	defer view.Close()
	return do(ctx, view)
}

// clusterList is the output of botd sweep list --on.
type clusterList struct {
	Sweeps  []*cluster.Sweep        `json:"sweeps"`
	Workers []*cluster.WorkerStatus `json:"workers"`
}

func (l *clusterList) Rows() any { return l.Sweeps }

func listOn(command *cobra.Command, access cluster.Access, output string) error {
	return onCluster(command, access, func(ctx context.Context, view *cluster.View) error {
		list := &clusterList{}
		var err error
		if list.Sweeps, err = view.Sweeps(ctx); err != nil {
			return failure.Wrap(failure.Unavailable, err)
		}
		if list.Workers, err = view.Workers(ctx); err != nil {
			return failure.Wrap(failure.Unavailable, err)
		}
		return shell.Print(command.OutOrStdout(), output, list, func(w io.Writer) { clusterTable(w, list) })
	})
}

func clusterTable(w io.Writer, list *clusterList) {
	t := shell.NewTable(w, table.Row{"sweep", "state", "trials", "of", "a second", "checked", "coordinator", "shown (UTC)"})
	for _, one := range list.Sweeps {
		t.AppendRow(table.Row{one.Name, one.State, one.Ended, one.Total, fmt.Sprintf("%.3g", one.Rate), one.Checked, one.Host,
			one.Updated.Format(time.DateTime)})
	}
	t.Render()
	t = shell.NewTable(w, table.Row{"worker", "slots", "trials", "since (UTC)", "refused"})
	for _, one := range list.Workers {
		t.AppendRow(table.Row{one.ID, one.Slots, one.Trials, one.Since.Format(time.DateTime), one.Refused})
	}
	t.Render()
	for _, one := range list.Sweeps {
		if one.State == cluster.Failed {
			fmt.Fprintf(w, "%s: %s\n", one.Name, one.Reason)
		}
	}
}

// sweepOn reads the rows of a sweep from the server.
func sweepOn(command *cobra.Command, access cluster.Access, name string) (result *saved.Sweep, err error) {
	err = onCluster(command, access, func(ctx context.Context, view *cluster.View) error {
		found, trials, err := view.Rows(ctx, name)
		if err != nil {
			return noSweep(name, err)
		}
		if len(trials) == 0 {
			return failure.New(failure.Temporary, "botd sweep list --on shows the workers", "no trial of %s has ended", name)
		}
		if found.State != cluster.Done {
			fmt.Fprintf(command.ErrOrStderr(), "%s: %d of %d trials\n", found.State, found.Ended, found.Total)
		}
		result, err = sweeps.SoFar(found.Spec, trials)
		return err
	})
	return result, err
}

func cancelOn(command *cobra.Command, access cluster.Access, name string) error {
	return onCluster(command, access, func(ctx context.Context, view *cluster.View) error {
		if err := view.Cancel(ctx, name); errors.Is(err, sweeps.ErrNone) {
			return noSweep(name, err)
		} else if err != nil {
			return err
		}
		fmt.Fprintf(command.OutOrStdout(), "the sweep %s ends with the trials in progress\n", name)
		return nil
	})
}
