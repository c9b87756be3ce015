package docs

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestAValueIsDescribed(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		`{}`:                            "",
		`{"type":"string"}`:             "string",
		`{"type":["string","null"]}`:    "string or null",
		`{"$ref":"#/components/Order"}`: "[Order](#order)",
		`{"type":"array","items":{}}`:   "list of ",
		`{"type":"array","items":{"$ref":"a/b/Fill"}}`:     "list of [Fill](#fill)",
		`{"oneOf":[{"type":"string"},{"$ref":"x/Order"}]}`: "string or [Order](#order)",
		`{"type":"string","enum":["buy","sell"]}`:          "`buy`, `sell`",
		`{"const":1}`:                                                 "always 1",
		`{"type":"string","format":"decimal"}`:                        "decimal",
		`{"type":["string","null"],"format":"date-time"}`:             "time or null",
		`{"type":"string","format":"uri"}`:                            "string",
		`{"type":"integer","minimum":1,"maximum":1000,"default":100}`: "integer from 1 to 1000 (100)",
		`{"type":"integer","minimum":1}`:                              "integer",
		`{"type":"integer","maximum":1}`:                              "integer",
		`{"type":"number","minimum":0.25,"maximum":1.5}`:              "number from 0.25 to 1.5",
		`{"type":"boolean","default":false}`:                          "boolean (false)",
	} {
		var s apiSchema
		if err := json.Unmarshal([]byte(schema), &s); err != nil {
			t.Fatal(err)
		}
		if have := s.describe(); have != want {
			t.Errorf("%s: want %q, have %q", schema, want, have)
		}
	}
}

func TestAnOperationIsALine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ operation, want string }{
		{`{"summary":"Reads it."}`, "| `GET /x/{id}` | v | Reads it. |  |  |  |\n"},
		{`{"summary":"For anybody.","security":[]}`, "| `GET /x/{id}` | - | For anybody. |  |  |  |\n"},
		{`{"summary":"For a viewer.","security":[{}],"responses":{"200":{}}}`, "| `GET /x/{id}` | v | For a viewer. |  |  | 200 |\n"},
		{`{"summary":"For an\noperator: a|b.","responses":{"403":{},"204":{},
			"200":{"content":{"text/csv":{},"application/json":{"schema":{"$ref":"x/Order"}}}}}}`,
			"| `GET /x/{id}` | o | For an operator: a\\|b. |  |  | 200 [Order](#order) text/csv<br>204 |\n"},
		{`{"parameters":[{"$ref":"a/Id"},{"name":"id","in":"path"},{"name":"limit","in":"query","schema":{"type":"integer"}}],
			"requestBody":{"content":{"application/json":{"schema":{"$ref":"x/Halt"}}}}}`,
			"| `GET /x/{id}` | v |  | *Id*<br>*id*<br>`limit` integer | [Halt](#halt) |  |\n"},
	} {
		var o apiOperation
		if err := json.Unmarshal([]byte(c.operation), &o); err != nil {
			t.Fatal(err)
		}
		var have bytes.Buffer
		if apiLine(&have, "GET", "/x/{id}", o.Parameters, &o); have.String() != c.want {
			t.Errorf("want %q, have %q", c.want, have.String())
		}
	}
}

func TestARecordIsATable(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		`{}`:                             "\n### Order\n",
		`{"description":" An order.\n"}`: "\n### Order\n\nAn order.\n",
		`{"required":["side","id"],"properties":{"id":{"type":"integer","description":"Its\nid."},"why":{},
			"price":{"type":"string","format":"decimal"},"side":{}}}`: "\n### Order\n\n| field | type | |\n|---|---|---|\n" +
			"| `side` |  |  |\n| `id` | integer | Its id. |\n| `price` | decimal *optional* |  |\n| `why` | *optional* |  |\n",
	} {
		var s apiSchema
		if err := json.Unmarshal([]byte(schema), &s); err != nil {
			t.Fatal(err)
		}
		var have bytes.Buffer
		if apiRecord(&have, "Order", s); have.String() != want {
			t.Errorf("want %q, have %q", want, have.String())
		}
	}
}

// TestTheReferenceHasEachOperation counts them in api.yaml, and has some of its lines as a person reads them there.
func TestTheReferenceHasEachOperation(t *testing.T) {
	t.Parallel()
	text, err := APIReference()
	if err != nil {
		t.Fatal(err)
	}
	content, err := API()
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Paths      map[string]map[string]any
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(content, &document); err != nil {
		t.Fatal(err)
	}
	operations := 0
	for path, all := range document.Paths {
		for _, method := range []string{"get", "post", "put", "delete"} {
			if _, found := all[method]; !found {
				continue
			}
			operations++
			if line := "\n| `" + strings.ToUpper(method) + " " + path + "` |"; !strings.Contains(string(text), line) {
				t.Errorf("want %q", line)
			}
		}
	}
	have := string(text)
	lines := 0
	for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
		lines += strings.Count(have, "\n| `"+method+" /")
	}
	if lines != operations {
		t.Errorf("want each of %d operations once, have %d", operations, lines)
	}
	for name := range document.Components.Schemas {
		if !strings.Contains(have, "\n### "+name+"\n") {
			t.Errorf("want the record %s", name)
		}
	}
	at := 0
	for _, want := range []string{
		"# The API\n\n<!-- Made by `go run ./cmd/botd man --api --into docs/api.md` from docs/api.yaml",
		"\n\nFor example, with the viewer's token",
		"/api/v1/events?topics=fill,risk'\n",
		"\n## Operations\n\nA request is made by a viewer (v)",
		"\n### Operations: ",
		"\n| operation | who | what it does |",
		"| `POST /api/v1/risk/halt` | o |",
		"\n## Records\n\nA field without *optional* is always there.\n",
	} {
		i := strings.Index(have[at:], want)
		if i < 0 {
			t.Fatalf("want %q after %q", want, have[max(at-60, 0):at])
		}
		at += i
	}
}

func TestInvalidYAMLIsReported(t *testing.T) {
	t.Parallel()
	if _, err := asJSON("api.yaml", []byte("a: [")); err == nil || !strings.HasPrefix(err.Error(), "api.yaml: yaml: line 1:") {
		t.Errorf("want the file and the line, have %v", err)
	}
	if text, err := asJSON("api.yaml", []byte("a: [1, x]\n")); err != nil || string(text) != `{"a":[1,"x"]}` {
		t.Errorf("want it as JSON, have %s, %v", text, err)
	}
}
