package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/exchange"
	"botd/reconcile/record"
)

// flagValues are the values that a shell offers for flags of these names, in every command.
var flagValues = map[string][]string{
	"mode":       {"demo", "paper", "live"},
	"level":      record.HaltLevels(),
	"market":     {"futures", "spot"},
	"log-format": {"auto", "console", "json"},
	"interval":   intervals(),
}

// flagFiles are the endings of the files that a shell offers for flags of these names; nil means a directory.
var flagFiles = map[string][]string{
	"config":  nil,
	"data":    {"csv", "gz", "zip", "parquet"},
	"funding": {"csv"},
	"symbols": {"yaml", "yml"},
}

func intervals() (all []string) {
	for _, i := range exchange.Intervals() {
		all = append(all, i.String())
	}
	return all
}

// completeFlags makes shells offer values for the flags of a command and its subcommands.
func completeFlags(command *cobra.Command) {
	command.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if _, done := command.GetFlagCompletionFunc(f.Name); done {
			return
		}
		if values, known := flagValues[f.Name]; known {
			shell.CompleteWith(command, f.Name, values...)
		}
		if endings, known := flagFiles[f.Name]; known {
			f.Annotations = map[string][]string{cobra.BashCompFilenameExt: endings}
			if endings == nil {
				f.Annotations = map[string][]string{cobra.BashCompSubdirsInDir: {}}
			}
		}
		if f.Name == "strategy" && f.Value.Type() == "string" {
			if err := command.RegisterFlagCompletionFunc(f.Name, connect.CompleteStrategies); err != nil {
				panic("botd: " + err.Error())
			}
		}
	})
	for _, below := range command.Commands() {
		completeFlags(below)
	}
}

// addCompletion adds cobra's commands that print the shell completion scripts. They print to the root's current output.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, command := range root.Commands() {
		if command.Name() != "completion" {
			continue
		}
		command.Short = "generate shell completion for commands, flags, symbols and names"
		command.RunE = func(command *cobra.Command, _ []string) error { return command.Help() } // a runnable command rejects an unknown shell
		for _, shell := range command.Commands() {
			shell.Short = "completion script for " + shell.Name()
		}
	}
}
