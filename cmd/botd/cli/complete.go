package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"botd/cmd/botd/cli/connect"
	"botd/cmd/botd/cli/shell"
	"botd/exchange"
	"botd/reconcile/record"
)

// Values that a shell offers for flags of these names, whichever command has them.
var flagValues = map[string][]string{
	"mode":       {"demo", "paper", "live"},
	"level":      record.HaltLevels(),
	"market":     {"futures", "spot"},
	"log-format": {"auto", "console", "json"},
	"interval":   intervals(),
}

// Files that a shell offers for flags of these names, by their endings; none is
// a directory.
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

// completeFlags makes shells offer values of flags, of a command and all below it.
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

// addCompletion adds cobra's commands that print the shells' scripts. They print
// where the root prints at this moment.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, command := range root.Commands() {
		if command.Name() != "completion" {
			continue
		}
		command.Short = "teach a shell to complete commands, flags, symbols and names"
		command.RunE = func(command *cobra.Command, _ []string) error { return command.Help() } // runnable, it refuses a shell there is not
		for _, shell := range command.Commands() {
			shell.Short = "the script that does it for " + shell.Name()
		}
	}
}
