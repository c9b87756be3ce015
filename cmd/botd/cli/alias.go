package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// also is a command under a second name by which it is looked for. Help and documents
// show the first alone.
func also(name string, command *cobra.Command) *cobra.Command {
	_, arguments, _ := strings.Cut(command.Use, " ")
	command.Use = strings.TrimSpace(name + " " + arguments)
	command.Hidden = true
	return command
}

// parent is a hidden command that holds nothing but others.
func parent(name, short string, below ...*cobra.Command) *cobra.Command {
	command := &cobra.Command{Use: name, Short: short, Hidden: true, Args: unknownCommand,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() }}
	command.AddCommand(below...)
	return command
}
