package daemon

import (
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/runtime/api/client"
	"botd/runtime/view"
)

// NewIncidents returns the command botd incidents.
func NewIncidents() *cobra.Command {
	var all bool
	command := connect.ShowFor("incidents", "open incidents, each with its cause and start time", func() string {
		if all {
			return "/api/v1/incidents"
		}
		return "/api/v1/incidents?" + url.Values{"state": {"open"}}.Encode()
	}, func(w io.Writer, p *client.Page[view.Incident]) {
		if len(p.Items) == 0 && !all {
			fmt.Fprintln(w, "no incident is open")
		}
		for i := range p.Items {
			showIncident(w, &p.Items[i])
		}
	})
	command.Flags().BoolVar(&all, "all", false, "include closed incidents")
	command.Long = `Shows the open incidents, newest first: one for each cause, with its severity, start time, end
condition, and section of the runbook (docs/operations.md). A state that returns within half an
hour continues its incident. Incidents survive a restart.`
	command.Example = "  botd incidents\n  botd incidents --all\n  botd incidents -o json | jq '.items[].kind'"
	return command
}

func showIncident(w io.Writer, i *view.Incident) {
	of := strings.TrimSpace(i.Strategy + " " + i.Market + " " + i.Symbol)
	if of == "" {
		of = "account"
	}
	fmt.Fprintf(w, "%s  %s  %s (%s) since %s UTC: %s\n", i.ID, i.Severity, strings.ToUpper(strings.ReplaceAll(i.Kind, "_", " ")), of,
		i.Since.UTC().Format(time.DateTime), i.Cause)
	if i.Closed != nil {
		fmt.Fprintf(w, "  ended at %s UTC, after %s\n", i.Closed.UTC().Format(time.DateTime), i.Closed.Sub(i.Opened).Round(time.Second))
		return
	}
	fmt.Fprintf(w, "  remedy: %s\n  runbook: %s\n", i.Remedy, i.Runbook)
	if !i.InForce {
		fmt.Fprintln(w, "  its state has ended; the incident closes unless it returns")
	}
	if i.Times > 1 {
		fmt.Fprintf(w, "  it has occurred %d times\n", i.Times)
	}
}
