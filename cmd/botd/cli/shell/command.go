package shell

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"botd/internal/failure"
	"botd/internal/spell"
)

// Alias returns a command under a second name. Help and documents show only the first.
func Alias(name string, command *cobra.Command) *cobra.Command {
	_, arguments, _ := strings.Cut(command.Use, " ")
	command.Use = strings.TrimSpace(name + " " + arguments)
	command.Hidden = true
	return command
}

// Group returns a command that only contains others; called alone it shows its help.
func Group(use, short, long, example string, below ...*cobra.Command) *cobra.Command {
	command := &cobra.Command{Use: use, Short: short, Long: long, Example: example, Args: UnknownCommand,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() }}
	command.AddCommand(below...)
	return command
}

// One checks that a command has exactly one argument, and names it in the error.
func One(what string) cobra.PositionalArgs {
	return func(command *cobra.Command, arguments []string) error {
		if len(arguments) != 1 {
			return failure.Usagef("%s takes one %s, not %d arguments", command.CommandPath(), what, len(arguments))
		}
		return nil
	}
}

// movedCommands maps commands to those that replace them in another program.
var movedCommands = map[string]string{"botd simulate": "botd-sim simulate", "botd demo": "botd-sim chaos; botd run is a demo"}

// UnknownCommand suggests the nearest command for a mistyped one.
func UnknownCommand(command *cobra.Command, arguments []string) error {
	if len(arguments) == 0 {
		return nil
	}
	var names []string
	for _, c := range command.Commands() {
		if c.IsAvailableCommand() {
			names = append(append(names, c.Name()), c.Aliases...)
		}
	}
	text := fmt.Sprintf("unknown command %q for %s", arguments[0], command.CommandPath())
	if now := movedCommands[command.CommandPath()+" "+arguments[0]]; now != "" {
		text += "\nhint: it is " + now
	} else if near := spell.Nearest(arguments[0], names); near != "" {
		text += "\nhint: did you mean " + near + "?"
	}
	return failure.Usagef("%s", text)
}
