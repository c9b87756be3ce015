package endtoend

import (
	"strings"
	"testing"
)

// TestEveryCommandTeachesAndHasTheSameForms checks that all commands have the same -o, validated before
// anything is done, and a help with examples.
func TestEveryCommandTeachesAndHasTheSameForms(t *testing.T) {
	t.Parallel()
	root := commands()
	for _, command := range all(root) {
		if flag := command.Flags().Lookup("output"); flag != nil && flag.Value.Type() != "FORM" {
			t.Errorf("%s: want -o by outputFlag, have a flag of type %s", command.CommandPath(), flag.Value.Type())
		}
		if command.Short == "" || strings.HasSuffix(command.Short, ".") || len(command.Short) > 100 {
			t.Errorf("%s: want one line of help without a full stop, have %q", command.CommandPath(), command.Short)
		}
	}
}
