package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestOneValueIsPrintedInEveryForm(t *testing.T) {
	t.Parallel()
	list := `{"schema":1,"items":[{"name":"a","price":"1.50","deep":{"x":1,"y":null},"tags":["p","q"]},{"name":"b, \"c\"","late":true}],"next":null}`
	for _, c := range []struct{ name, output, value, want string }{
		{"json as it is, indented", "json", `{"b":1,"a":"<>"}`, "{\n  \"b\": 1,\n  \"a\": \"<>\"\n}\n"},
		{"a line an item", "jsonl", list, `{"name":"a","price":"1.50","deep":{"x":1,"y":null},"tags":["p","q"]}` + "\n" + `{"name":"b, \"c\"","late":true}` + "\n"},
		{"a line for what is no list", "jsonl", `{"b": 1, "a": 2}`, "{\"b\":1,\"a\":2}\n"},
		{"no line for an empty list", "jsonl", `{"items":[]}`, ""},
		{"no line for a list of none", "jsonl", `null`, ""},
		{"all keys of all items, nested ones with a dot", "csv", list, "name,price,deep.x,deep.y,tags,late\na,1.50,1,,\"[\"\"p\"\",\"\"q\"\"]\",\n\"b, \"\"c\"\"\",,,,,true\n"},
		{"columns picked, in that order", "csv=late,name", list, "late,name\n,a\ntrue,\"b, \"\"c\"\"\"\n"},
		{"an object is one row", "csv", `{"ok":true,"n":3}`, "ok,n\ntrue,3\n"},
		{"a list of texts", "csv", `["a","b"]`, "value\na\nb\n"},
		{"nothing of an empty list", "csv", `[]`, ""},
		{"the header of an empty list, picked", "csv=a,b", `[]`, "a,b\n"},
		{"a table", "table", list, "drawn"},
	} {
		var have bytes.Buffer
		err := print(&have, c.output, json.RawMessage(c.value), func(w io.Writer) { io.WriteString(w, "drawn") })
		if err != nil || have.String() != c.want {
			t.Errorf("%s:\nwant %q\nhave %q, %v", c.name, c.want, have.String(), err)
		}
	}
}

func TestAColumnThatIsNotThereIsAMistake(t *testing.T) {
	t.Parallel()
	err := print(io.Discard, "csv=nmae", json.RawMessage(`[{"name":1,"price":2}]`), nil)
	if exitCode(err) != exitUsage || !strings.Contains(err.Error(), "there are name, price") {
		t.Errorf("want a usage error that names the columns, have %v", err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestOutputThatCanNotBeWrittenIsAnError(t *testing.T) {
	t.Parallel()
	for _, output := range outputs {
		err := print(full{}, output, json.RawMessage(`[{"a":1}]`), func(w io.Writer) { io.WriteString(w, "drawn") })
		if err == nil || exitCode(err) != exitIO {
			t.Errorf("-o %s: want exit code %d, have %v", output, exitIO, err)
		}
	}
}

// TestEveryCommandTellsItsForms holds all commands to the same -o, known before
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
