package research

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/backtest/cluster"
	"botd/backtest/sweeps"
	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
)

func newSweepList() *cobra.Command {
	var flags sweepsFlags
	var access cluster.Access
	command := &cobra.Command{
		Use: "list", Short: "list saved sweeps", Args: cobra.NoArgs,
		Long: `Lists the sweeps that botd sweep run --name NAME saved, newest first: whether each is in
progress, complete, or waiting to be resumed. With --on it lists those on a NATS server, with their
speed and the workers.`,
		Example: "  botd sweep list\n  botd sweep list --on nats://127.0.0.1:4222",
		RunE: func(command *cobra.Command, _ []string) error {
			if access.URL != "" {
				return listOn(command, access)
			}
			directory, err := flags.directory(command.Context())
			if err != nil {
				return err
			}
			all, err := sweeps.List(directory)
			if err != nil {
				return failure.Wrap(failure.Data, err)
			}
			return shell.Print(command, all, func(w io.Writer) { sweepListTable(w, all) })
		},
	}
	flags.add(command)
	addAccess(command, &access, false)
	return command
}

func sweepListTable(w io.Writer, all []sweeps.Status) {
	shell.WriteTable(w, table.Row{"name", "started (UTC)", "search", "ranked by", "trials", "state"}, all, func(one *sweeps.Status) table.Row {
		state := "interrupted: botd sweep resume " + one.Name
		switch {
		case one.Done:
			state = "done"
		case one.Running:
			state = "running"
		}
		trials := strconv.Itoa(one.Ended)
		if one.Total > one.Ended && !one.Done {
			trials += " of " + strconv.Itoa(one.Total)
		}
		return table.Row{one.Name, one.Started.Format(time.DateTime), one.Search, one.Sort, trials, state}
	})
}

// clusterList is the output of botd sweep list --on.
type clusterList struct {
	Sweeps  []*cluster.Sweep        `json:"sweeps"`
	Workers []*cluster.WorkerStatus `json:"workers"`
}

func (l *clusterList) Rows() any { return l.Sweeps }

func listOn(command *cobra.Command, access cluster.Access) error {
	return onCluster(command, access, func(ctx context.Context, view *cluster.View) error {
		list := &clusterList{}
		var err error
		if list.Sweeps, err = view.Sweeps(ctx); err != nil {
			return failure.Wrap(failure.Unavailable, err)
		}
		if list.Workers, err = view.Workers(ctx); err != nil {
			return failure.Wrap(failure.Unavailable, err)
		}
		return shell.Print(command, list, func(w io.Writer) { clusterTable(w, list) })
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
