package offline

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/internal/failure"
	"botd/internal/paint"
	"botd/internal/plural"
	"botd/runtime/doctor"
)

// patientOf returns the configuration and the daemon that the flags select.
func patientOf(ctx context.Context, a *connect.Flags) doctor.Patient {
	return doctor.Patient{Daemon: a.Daemon, Address: cmp.Or(a.URL, a.Address),
		Load: func() (*configs.Config, configs.Problems, error) { return connect.Load(ctx, a.Directory, "") }}
}

// NewDoctor returns the command botd doctor.
func NewDoctor() *cobra.Command {
	var flags connect.Flags
	command := &cobra.Command{
		Use: "doctor", Short: "check clock, disk, permissions, configuration, venue, journal and version", Args: cobra.NoArgs,
		Long: `Checks everything that botd needs to run well, and shows a remedy for each problem. It changes
nothing and sends no order; at a venue with keys it reads the account to test the signature. You
can run it while botd runs. Exit code 1 when a check fails; warnings do not affect it.`,
		Example: "  botd doctor\n  botd doctor -c /etc/botd -o json | jq '.findings[] | select(.state != \"ok\")'",
		RunE: func(command *cobra.Command, _ []string) error {
			d := doctor.Examine(command.Context(), patientOf(command.Context(), &flags))
			err := shell.Print(command, d, func(w io.Writer) { doctorTable(w, &d, shell.Colors(command, w)) })
			if err == nil && !d.OK {
				return failure.Quiet()
			}
			return err
		},
	}
	flags.Add(command)
	return command
}

func doctorTable(w io.Writer, d *doctor.Diagnosis, colored bool) {
	t := shell.NewTable(w, table.Row{"check", "state", "what", "remedy"})
	t.SetColumnConfigs([]table.ColumnConfig{{Name: "what", WidthMax: 70, WidthMaxEnforcer: text.WrapSoft},
		{Name: "remedy", WidthMax: 50, WidthMaxEnforcer: text.WrapSoft}})
	for _, f := range d.Findings {
		state := f.State
		if colored {
			color := map[string]text.Color{doctor.StateOK: text.FgGreen, doctor.StateWarn: text.FgYellow, doctor.StateFail: text.FgRed}[f.State]
			state = paint.Own(color.Sprint(state))
		}
		t.AppendRow(table.Row{f.Check, state, f.What, f.Remedy})
	}
	t.Render()
	switch {
	case d.Failures > 0:
		fmt.Fprintf(w, "%s, %s\n", plural.Of(d.Failures, "failure"), plural.Of(d.Warnings, "warning"))
	case d.Warnings > 0:
		fmt.Fprintf(w, "%s\n", plural.Of(d.Warnings, "warning"))
	default:
		fmt.Fprintln(w, "all is well")
	}
}
