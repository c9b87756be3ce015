package shell

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"botd/internal/failure"
)

func TestValueIsPrintedInEveryFormat(t *testing.T) {
	t.Parallel()
	list := `{"schema":1,"items":[{"name":"a","price":"1.50","deep":{"x":1,"y":null},"tags":["p","q"]},{"name":"b, \"c\"","late":true}],"next":null}`
	for _, c := range []struct{ name, output, value, want string }{
		{"json as it is, indented", "json", `{"b":1,"a":"<>"}`, "{\n  \"b\": 1,\n  \"a\": \"<>\"\n}\n"},
		{"a line an item", "jsonl", list, `{"name":"a","price":"1.50","deep":{"x":1,"y":null},"tags":["p","q"]}` + "\n" +
			`{"name":"b, \"c\"","late":true}` + "\n"},
		{"a line for what is no list", "jsonl", `{"b": 1, "a": 2}`, "{\"b\":1,\"a\":2}\n"},
		{"no line for an empty list", "jsonl", `{"items":[]}`, ""},
		{"no line for a list of none", "jsonl", `null`, ""},
		{"all keys of all items, nested ones with a dot", "csv", list,
			"name,price,deep.x,deep.y,tags,late\na,1.50,1,,\"[\"\"p\"\",\"\"q\"\"]\",\n\"b, \"\"c\"\"\",,,,,true\n"},
		{"columns picked, in that order", "csv=late,name", list, "late,name\n,a\ntrue,\"b, \"\"c\"\"\"\n"},
		{"an object is one row", "csv", `{"ok":true,"n":3}`, "ok,n\ntrue,3\n"},
		{"a list of texts", "csv", `["a","b"]`, "value\na\nb\n"},
		{"nothing of an empty list", "csv", `[]`, ""},
		{"the header of an empty list, picked", "csv=a,b", `[]`, "a,b\n"},
		{"a table", "table", list, "drawn"},
	} {
		var have bytes.Buffer
		err := Print(&have, c.output, json.RawMessage(c.value), func(w io.Writer) { io.WriteString(w, "drawn") })
		if err != nil || have.String() != c.want {
			t.Errorf("%s:\nwant %q\nhave %q, %v", c.name, c.want, have.String(), err)
		}
	}
}

func TestUnknownColumnIsAUsageError(t *testing.T) {
	t.Parallel()
	err := Print(io.Discard, "csv=nmae", json.RawMessage(`[{"name":1,"price":2}]`), nil)
	if failure.CodeOf(err) != failure.Usage || !strings.Contains(err.Error(), "there are name, price") {
		t.Errorf("want a usage error that names the columns, have %v", err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestOutputThatCannotBeWrittenIsAnError(t *testing.T) {
	t.Parallel()
	for _, output := range outputs {
		err := Print(full{}, output, json.RawMessage(`[{"a":1}]`), func(w io.Writer) { io.WriteString(w, "drawn") })
		if err == nil || failure.CodeOf(err) != failure.IO {
			t.Errorf("-o %s: want exit code %d, have %v", output, failure.IO, err)
		}
	}
}
