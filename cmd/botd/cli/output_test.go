package cli

import (
	"strings"
	"testing"
)

// TestEveryCommandTeachesAndHasTheSameForms holds all commands to the same -o, known before
// anything is done, and to a help that teaches.
func TestEveryCommandTeachesAndHasTheSameForms(t *testing.T) {
	t.Parallel()
	root := newRoot()
	for _, command := range all(root) {
		if flag := command.Flags().Lookup("output"); flag != nil && flag.Value.Type() != "FORM" {
			t.Errorf("%s: want -o by outputFlag, have a flag of type %s", command.CommandPath(), flag.Value.Type())
		}
		if command.Short == "" || strings.HasSuffix(command.Short, ".") || len(command.Short) > 100 {
			t.Errorf("%s: want one line of help without a full stop, have %q", command.CommandPath(), command.Short)
		}
	}
}
