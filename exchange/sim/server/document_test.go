package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"botd/docs"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/wire"
	"botd/internal/openapi"
)

// document is docs/openapi.yaml as the server serves it, with what the real server has shown of it.
type document struct {
	*openapi.Document
	codes map[int]bool // every error code, and whether it was seen
}

func readDocument(t testing.TB) *document {
	t.Helper()
	content, err := docs.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	d := &document{openapi.Read(t, content), map[int]bool{}}
	d.Numbers = func(pointer string, value json.Number) {
		if code, err := value.Int64(); err == nil && strings.HasSuffix(pointer, "/ErrorCode") {
			d.codes[int(code)] = true
		}
	}
	for _, each := range d.At("components", "schemas", "ErrorCode")["oneOf"].([]any) {
		code, err := each.(map[string]any)["const"].(json.Number).Int64()
		if err != nil || d.codes[int(code)] {
			t.Errorf("error code %v appears twice, or is zero", each)
		}
		d.codes[int(code)] = false
	}
	return d
}

func signed(o *openapi.Operation) bool {
	_, signed := o.Node["security"]
	return signed
}

// answered checks one answer of an operation.
func (v *visitor) answered(id string, a answer) {
	v.trader.t.Helper()
	if a.err != nil {
		v.trader.t.Fatalf("%s: %v", id, a.err)
	}
	if at, known := v.Answered(id, a.status, []byte(a.body)); known {
		v.reply(fmt.Sprintf("%s %d", id, a.status), at, a)
	}
}

// reply checks an answer against a response.
func (v *visitor) reply(what, pointer string, a answer) {
	v.trader.t.Helper()
	if a.body == "NULL" && strings.HasPrefix(what, "futures_cancel_all 200") {
		return // the one answer that is not JSON
	}
	v.Reply(what, pointer, a.header, []byte(a.body))
}

func TestTheDocumentIsOpenAPI31(t *testing.T) {
	t.Parallel()
	content, err := docs.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	openapi.Valid(t, content)
}

func TestTheServerServesItsDocument(t *testing.T) {
	t.Parallel()
	_, c := startServer(t, nil)
	want, err := docs.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	a := c.send("GET", documentPath, "", nil)
	if a.want(t, 200); a.body != string(want) {
		t.Errorf("want the document, have %.100s", a.body)
	}
}

// TestTheDocumentNamesEveryRouteAndParameter compares the table of client and server with the document, in
// both directions.
func TestTheDocumentNamesEveryRouteAndParameter(t *testing.T) {
	t.Parallel()
	d := readDocument(t)
	left := maps.Clone(d.Operations)
	for operation := exchange.FuturesHealth; operation <= exchange.SpotWallet; operation++ {
		route := wire.RouteOf(operation)
		o := d.Operations[operation.String()]
		if o == nil {
			t.Errorf("the document lacks %s", operation)
			continue
		}
		delete(left, operation.String())
		if o.Method != route.Method || o.Path != route.Path || signed(o) != operation.Signed() {
			t.Errorf("%s: want %s %s signed %v, have %s %s %v", operation, route.Method, route.Path, operation.Signed(), o.Method, o.Path, signed(o))
		}
		if want, have := listed(route), takes(d, o); want != have {
			t.Errorf("%s: want parameters\n%s\nhave\n%s", operation, want, have)
		}
	}
	for _, c := range controls {
		for id, o := range left {
			if o.Method == c.method && o.Path == c.path && o.Tag == "control" && !signed(o) {
				delete(left, id)
			}
		}
	}
	delete(left, "document")
	delete(left, "index")
	delete(left, "document30")
	for id := range left {
		t.Errorf("the document has %s, which nothing serves", id)
	}
	if len(d.Operations) != 35+len(controls)+3 {
		t.Errorf("want 35 operations, %d controls, the document twice and the index, have %d", len(controls), len(d.Operations))
	}
}

// listed lists a route's parameters, one a line, in the form in which takes lists the document's.
func listed(route wire.Route) string {
	var lines []string
	if strings.Contains(route.Path, "{symbol}") {
		lines = append(lines, "symbol path required")
	}
	where := "query"
	if route.Method == http.MethodPost {
		where = "body"
	}
	for _, p := range route.Parameters {
		if p.Field == wire.FieldOrder {
			continue // compared with the client's encoding, below
		}
		line := p.Name + " " + where
		if p.Required {
			line += " required"
		}
		switch {
		case p.Field == wire.FieldLimit && route.Operation == exchange.SpotDepth:
			line += fmt.Sprintf(" default %d", route.Limit.Default)
		case p.Field == wire.FieldLimit:
			line += fmt.Sprintf(" default %d maximum %d", route.Limit.Default, route.Limit.Max)
		case p.Field == wire.FieldOffset:
			line += " default 0"
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func takes(d *document, o *openapi.Operation) string {
	var lines []string
	line := func(name, where string, required bool, schema map[string]any) {
		text := name + " " + where
		if required {
			text += " required"
		}
		for _, key := range []string{"default", "maximum"} {
			if value, given := schema[key]; given {
				text += fmt.Sprintf(" %s %v", key, value)
			}
		}
		lines = append(lines, text)
	}
	for _, p := range o.List("parameters") {
		required, _ := p["required"].(bool)
		line(p["name"].(string), p["in"].(string), required, p["schema"].(map[string]any))
	}
	at, schema := d.Body(o)
	if schema != nil && !strings.HasSuffix(at, "NewOrder") {
		required, _ := schema["required"].([]any)
		for name, property := range schema["properties"].(map[string]any) {
			line(name, "body", slices.Contains(required, any(name)), property.(map[string]any))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestTheDocumentNamesEveryErrorCode compares the codes with the tables of rules.
func TestTheDocumentNamesEveryErrorCode(t *testing.T) {
	t.Parallel()
	d := readDocument(t)
	want := map[int]string{}
	for _, rule := range sim.Rules() {
		want[rule.Code] = rule.Sentence
	}
	for _, code := range []int{wire.CodeMalformed, exchange.CodeInvalidSignature, exchange.CodeInvalidTimestamp, 403, 404, 405, 429, 500, 503} {
		want[code] = ""
	}
	for _, each := range d.At("components", "schemas", "ErrorCode")["oneOf"].([]any) {
		node := each.(map[string]any)
		code, _ := node["const"].(json.Number).Int64()
		sentence, known := want[int(code)]
		if !known || sentence != "" && sentence != node["description"] {
			t.Errorf("code %d: want %q, have %q", code, sentence, node["description"])
		}
		delete(want, int(code))
	}
	for code, sentence := range want {
		t.Errorf("the document lacks code %d: %s", code, sentence)
	}
}
