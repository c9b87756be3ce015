// Package offline holds the commands that need neither a daemon nor a market: configuration, journal and upkeep.
package offline

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/configs"
	"botd/internal/failure"
	"botd/internal/plural"
)

// NewCheck returns the command botd check.
func NewCheck() *cobra.Command {
	var directory string
	var strict bool
	command := &cobra.Command{
		Use: "check", Short: "validate a configuration, offline", Args: cobra.NoArgs,
		Long: "Reads botd.yaml and strategies/*.yaml and reports all errors at once, each with\nfile, line and a hint, then the " +
			"limits that will apply (docs/risk.md), and\nfor paper and live its cost in requests. Nothing is sent anywhere.\n" +
			"Exit code 1 when there are errors; with --strict when there are warnings too.",
		Example: "  botd check\n  botd check -c /etc/botd\n  botd check -c configs -o json | jq .problems",
		RunE: func(command *cobra.Command, _ []string) error {
			config, problems, err := connect.Load(command.Context(), directory, "")
			if err != nil {
				return err
			}
			if config != nil {
				problems = append(problems, config.UnsettledProblems()...)
			}
			result := configs.NewReport(config, problems)
			err = shell.Print(command, result, func(w io.Writer) { checkTable(w, result, problems) })
			if err == nil && (!result.OK || strict && result.Warnings > 0) {
				return failure.Quiet()
			}
			return err
		},
	}
	connect.ConfigFlag(command, &directory)
	command.Flags().BoolVar(&strict, "strict", false, "exit with code 1 on warnings too")
	command.Flags().Bool("offline", true, "it always is")
	if err := command.Flags().MarkHidden("offline"); err != nil {
		panic("botd: " + err.Error()) // no such flag: a mistake above
	}
	shell.OutputFlag(command)
	return command
}

func checkTable(w io.Writer, result configs.Report, problems configs.Problems) {
	for _, p := range problems {
		fmt.Fprintln(w, p.String())
	}
	if result.OK {
		fmt.Fprintf(w, "ok: %s, %s, mode %s", plural.Of(len(result.Files), "file"), plural.Of(result.Strategies, "strategy"), result.Mode)
	} else {
		fmt.Fprint(w, plural.Of(result.Errors, "error"))
	}
	if result.Warnings > 0 {
		fmt.Fprint(w, ", "+plural.Of(result.Warnings, "warning"))
	}
	fmt.Fprintln(w)
	for _, e := range result.Edges {
		fmt.Fprintf(w, "%s: %s\n", e.Strategy, e.Edge)
	}
	for i := range result.Requests {
		fmt.Fprintln(w, result.Requests[i].String())
	}
	if result.OK {
		shell.WriteTable(w, table.Row{"scope", "limit", "value"}, result.Limits, func(l *configs.ReportedLimit) table.Row {
			return table.Row{l.Scope, l.Rule, l.Limit}
		})
	}
}
