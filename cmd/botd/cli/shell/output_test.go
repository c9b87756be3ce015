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
		{"columns of a line an item", "jsonl", ` [ {"a":1} , {"a":2} ] `, "{\"a\":1}\n{\"a\":2}\n"},
		{"items that are no list", "csv", `{"items":7,"n":3}`, "items,n\n7,3\n"},
		{"items after another list", "csv", `{"next":[1],"items":[{"a":1}]}`, "a\n1\n"},
		{"a number", "csv", `7`, "value\n7\n"},
		{"a list in a list", "csv", `[[1, 2],3]`, "value\n\"[1,2]\"\n3\n"},
		{"signs of CSV", "csv", `[{"a":"x\ny","b":"\u20ac"}]`, "a,b\n\"x\ny\",€\n"},
	} {
		var have bytes.Buffer
		err := PrintTo(&have, c.output, json.RawMessage(c.value), func(w io.Writer) { io.WriteString(w, "drawn") })
		if err != nil || have.String() != c.want {
			t.Errorf("%s:\nwant %q\nhave %q, %v", c.name, c.want, have.String(), err)
		}
	}
}

func TestUnknownColumnIsAUsageError(t *testing.T) {
	t.Parallel()
	err := PrintTo(io.Discard, "csv=nmae", json.RawMessage(`[{"name":1,"price":2}]`), nil)
	if failure.CodeOf(err) != failure.Usage || !strings.Contains(err.Error(), "there are name, price") {
		t.Errorf("want a usage error that names the columns, have %v", err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestOutputThatCannotBeWrittenIsAnError(t *testing.T) {
	t.Parallel()
	for _, output := range outputs {
		err := PrintTo(full{}, output, json.RawMessage(`[{"a":1}]`), func(w io.Writer) { io.WriteString(w, "drawn") })
		if err == nil || failure.CodeOf(err) != failure.IO {
			t.Errorf("-o %s: want exit code %d, have %v", output, failure.IO, err)
		}
	}
}

// document has rows that are neither itself nor its items.
type document struct {
	Name string `json:"name"`
}

// Rows are those that -o csv prints.
func (document) Rows() any { return []map[string]int{{"a": 1}, {"a": 2}} }

func TestADocumentChoosesItsRows(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{"csv": "a\n1\n2\n", "jsonl": "{\"a\":1}\n{\"a\":2}\n", "json": "{\n  \"name\": \"x\"\n}\n"} {
		var have bytes.Buffer
		if err := PrintTo(&have, output, document{"x"}, nil); err != nil || have.String() != want {
			t.Errorf("-o %s: want %q, have %q, %v", output, want, have.String(), err)
		}
	}
}

func TestAListWithoutItemsIsEmpty(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		items []int
		want  string
	}{{nil, `{"schema":1,"items":[]}`}, {[]int{}, `{"schema":1,"items":[]}`}, {[]int{7}, `{"schema":1,"items":[7]}`}} {
		if have, err := json.Marshal(List(c.items)); err != nil || string(have) != c.want {
			t.Errorf("want %s, have %s, %v", c.want, have, err)
		}
	}
}

// TestInvalidJSONIsAnError covers values that cannot be encoded, and texts that are not JSON.
func TestInvalidJSONIsAnError(t *testing.T) {
	t.Parallel()
	for _, output := range []string{"json", "jsonl", "csv"} {
		if err := PrintTo(io.Discard, output, func() {}, nil); err == nil {
			t.Errorf("-o %s: want an error for what cannot be encoded", output)
		}
	}
	for _, text := range []string{`{"a"`, `{"a":`, `{"items":[`, `[1`, `{"a":1,}`} {
		if rows, err := rowsOf([]byte(text)); err == nil {
			t.Errorf("%s: want an error, have %q", text, rows)
		}
	}
	for _, row := range []string{`{"a"`, `{"b":{"c"}`} {
		if have, err := pick([]json.RawMessage{json.RawMessage(row)}, ""); err == nil || have != nil {
			t.Errorf("%s: want an error, have %+v", row, have)
		}
	}
}

// once fails at its second write, as a pipe that a reader closed.
type once struct{ bytes.Buffer }

func (o *once) Write(p []byte) (int, error) {
	if o.Len() > 0 {
		return 0, errors.New("broken pipe")
	}
	return o.Buffer.Write(p)
}

func TestNothingFollowsAFailedWrite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ output, want string }{{"jsonl", "{\"a\":1}\n"}, {"table", "1\n"}} {
		var out once
		err := PrintTo(&out, c.output, json.RawMessage(`[{"a":1},{"a":2},{"a":3}]`), func(w io.Writer) {
			for i, line := range []string{"1\n", "2\n", "3\n"} {
				if n, err := io.WriteString(w, line); (err == nil) != (i == 0) || err != nil && n != 0 {
					t.Errorf("%q: want the first written alone, have %d, %v", line, n, err)
				}
			}
		})
		if failure.CodeOf(err) != 74 || out.String() != c.want {
			t.Errorf("-o %s: want exit code 74 after %q, have %q, %v", c.output, c.want, out.String(), err)
		}
	}
	shaped := &shape{Writer: full{}, columns: []string{"a"}}
	if err := PrintTo(shaped, "jsonl", json.RawMessage(`[{"a":1}]`), nil); failure.CodeOf(err) != 74 {
		t.Errorf("want exit code 74 for picked columns, have %v", err)
	}
}
