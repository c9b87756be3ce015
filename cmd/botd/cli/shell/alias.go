package shell

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"botd/internal/failure"
	"botd/internal/spell"
)

// Alias is a command under a second name by which it is looked for. Help and documents
// show the first alone.
func Alias(name string, command *cobra.Command) *cobra.Command {
	_, arguments, _ := strings.Cut(command.Use, " ")
	command.Use = strings.TrimSpace(name + " " + arguments)
	command.Hidden = true
	return command
}

// Hidden is a hidden command that holds nothing but others.
func Hidden(name, short string, below ...*cobra.Command) *cobra.Command {
	command := &cobra.Command{Use: name, Short: short, Hidden: true, Args: UnknownCommand,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() }}
	command.AddCommand(below...)
	return command
}

// Exactly asks for a number of arguments by their name.
func Exactly(name string, n int) cobra.PositionalArgs {
	return func(command *cobra.Command, arguments []string) error {
		if len(arguments) != n {
			return failure.Usagef("%s takes one %s, as BTC-USDT; have %d arguments", command.CommandPath(), name, len(arguments))
		}
		return nil
	}
}

// moved are commands that another program has now.
var moved = map[string]string{"botd simulate": "botd-sim simulate", "botd demo": "botd-sim chaos; botd run is a demo"}

// UnknownCommand answers a mistyped command with the nearest one.
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
	if now := moved[command.CommandPath()+" "+arguments[0]]; now != "" {
		text += "\nhint: it is " + now
	} else if near := spell.Nearest(arguments[0], names); near != "" {
		text += "\nhint: did you mean " + near + "?"
	}
	return failure.Usagef("%s", text)
}
