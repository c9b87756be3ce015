package daemon

import (
	"net/http"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/internal/failure"
	"botd/internal/spell"
	"botd/risk"
	"botd/runtime/api"
)

type limitFlags struct {
	connect.Flags
	api.LimitsRequest
}

func newLimitsSet() *cobra.Command {
	var flags limitFlags
	command := &cobra.Command{
		Use: "set LIMIT=VALUE...", Short: "tighten limits below the configured values while botd runs", Args: cobra.MinimumNArgs(1),
		Long: `Tightens limits of the account, or of one strategy, below the configured values; it never
loosens one. The change applies at once and across restarts, until botd limits reset, or until
the files are as tight. Nothing is closed: a value beyond the new limit stays, and nothing is
added to it. Write values as in the files: 2%, 500 USDT, 10, 30s. botd limits, the risk page
and the audit log show who set what, when and why.`,
		Example: `  botd limits set max_daily_loss=1% max_open_orders=5 --reason "economic data tonight"
  botd limits set max_position=0.05 --strategy trend --reason "it is new" --dry-run`,
		ValidArgsFunction: func(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
			for _, rule := range risk.Tightenable() {
				names = append(names, rule+"=")
			}
			return names, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(command *cobra.Command, arguments []string) error {
			flags.Limits = map[string]*string{}
			for _, argument := range arguments {
				rule, value, given := strings.Cut(argument, "=")
				if err := limitNamed(rule); err != nil {
					return err
				}
				if value = strings.TrimSpace(value); !given || value == "" {
					return failure.Usagef("%s: write %s=VALUE; botd limits reset %s restores the configured value", argument, rule, rule)
				}
				flags.Limits[rule] = &value
			}
			return flags.ask(command)
		},
	}
	flags.flags(command)
	return command
}

func newLimitsReset() *cobra.Command {
	var flags limitFlags
	command := &cobra.Command{
		Use: "reset LIMIT...", Short: "restore limits to the configured values", Args: cobra.MinimumNArgs(1),
		Long: `Undoes botd limits set: the limits of the account, or of one strategy, are as configured
again. A breach in force stays (botd rearm ends it).`,
		Example:           `  botd limits reset max_daily_loss max_open_orders --reason "data is out"`,
		ValidArgsFunction: cobra.FixedCompletions(risk.Tightenable(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(command *cobra.Command, arguments []string) error {
			flags.Limits = map[string]*string{}
			for _, rule := range arguments {
				if err := limitNamed(rule); err != nil {
					return err
				}
				flags.Limits[rule] = nil
			}
			return flags.ask(command)
		},
	}
	flags.flags(command)
	return command
}

func (f *limitFlags) flags(command *cobra.Command) {
	command.Flags().StringVar(&f.Strategy, "strategy", "", "a strategy's limits instead of the account's")
	connect.ReasonFlag(command, &f.Reason)
	shell.DryRunFlag(command, &f.DryRun, "show what would change, and change nothing")
	f.Add(command)
}

func (f *limitFlags) ask(command *cobra.Command) error {
	if err := connect.CheckReason(command, f.Reason, f.DryRun); err != nil {
		return err
	}
	return f.Send(command, http.MethodPut, "/api/v1/risk/limits", f.LimitsRequest)
}

// limitNamed rejects a name that is not a limit's before it asks the person.
func limitNamed(rule string) error {
	if slices.Contains(risk.Tightenable(), rule) {
		return nil
	}
	text := "there is no limit " + rule + " that can be set (there are: " + strings.Join(risk.Tightenable(), ", ") + ")"
	if near := spell.Nearest(rule, risk.Tightenable()); near != "" {
		text += "\nhint: did you mean " + near + "?"
	}
	return failure.Usagef("%s", text)
}
