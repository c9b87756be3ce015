package daemon

import (
	"github.com/spf13/cobra"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/reconcile/record"
)

// NewStrategyStops returns the commands that halt and rearm one strategy, a command per level of the kill switch.
func NewStrategyStops() []*cobra.Command {
	return []*cobra.Command{
		newStrategyStop("pause", record.LevelPause, "one strategy opens nothing; its exits and stops continue",
			"It opens nothing; its position is still managed: exits and stops continue."),
		newStrategyStop("stop", record.LevelCancel, "one strategy opens nothing, and its opening orders are canceled",
			"It opens nothing, and its resting opening orders are canceled; exits and stops continue."),
		newStrategyStop("flatten", record.LevelFlatten, "one strategy's orders are canceled and its position closed",
			"Its opening orders are canceled and its position is closed at market. It opens nothing afterwards."),
		newStrategyResume(),
	}
}

func newStrategyStop(name string, level record.HaltLevel, short, long string) *cobra.Command {
	var flags haltFlags
	command := &cobra.Command{
		Use: name + " NAME", Short: short, Args: cobra.ExactArgs(1), ValidArgsFunction: connect.CompleteStrategies,
		Long: long + `
The same as botd halt --level ` + level.String() + ` --strategy NAME: journalled, in force across restarts, and
ended by botd strategy resume NAME. On a live account a person at a terminal must confirm it.`,
		Example: "  botd strategy " + name + " trend --reason news --dry-run\n  botd strategy " + name + " trend --reason news",
		RunE: func(command *cobra.Command, names []string) error {
			flags.Level, flags.Strategy = level, names[0]
			return flags.halt(command)
		},
	}
	flags.actionFlags(command)
	return command
}

func newStrategyResume() *cobra.Command {
	var flags haltFlags
	command := &cobra.Command{
		Use: "resume NAME", Short: "one strategy may open again", Args: cobra.ExactArgs(1), ValidArgsFunction: connect.CompleteStrategies,
		Long:    "Ends the halt of one strategy and releases its latch, as botd rearm --strategy NAME does. Anything\nthat still blocks it is listed.",
		Example: "  botd strategy resume trend --reason back --dry-run\n  botd strategy resume trend --reason back",
		RunE: func(command *cobra.Command, names []string) error {
			flags.Strategy = names[0]
			return flags.rearm(command)
		},
	}
	connect.ReasonFlag(command, &flags.Reason)
	shell.DryRunFlag(command, &flags.DryRun, "show what would end, and change nothing")
	flags.Add(command)
	return command
}
