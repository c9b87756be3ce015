package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"botd/docs"
	"botd/exchange"
	"botd/exchange/sim"
	"botd/exchange/wire"
)

// document is docs/openapi.yaml as the server gives it, and what of it the real
// server has shown. Fields that it does not name are forbidden.
type document struct {
	t        testing.TB
	root     map[string]any
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema // by pointer

	operations map[string]*documented // by operationId
	fields     map[string]bool        // every property of a schema, and whether it was seen
	codes      map[int]bool           // every error code, and whether it was seen
}

// documented is one operation of the document.
type documented struct {
	method, path, tag string
	node              map[string]any
	signed            bool
	statuses          map[int]bool // and whether it was answered
	parameters        map[string]bool
}

const documentURL = "mem:///openapi.json"

func readDocument(t testing.TB) *document {
	t.Helper()
	content, err := docs.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	d := &document{t: t, compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{},
		operations: map[string]*documented{}, fields: map[string]bool{}, codes: map[int]bool{}}
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	d.root = root.(map[string]any)
	d.close("", d.root)
	if err := d.compiler.AddResource(documentURL, d.root); err != nil {
		t.Fatal(err)
	}
	for path, item := range d.root["paths"].(map[string]any) {
		for method, each := range item.(map[string]any) {
			d.add(method, path, each.(map[string]any))
		}
	}
	for _, each := range d.at("components", "schemas", "ErrorCode")["oneOf"].([]any) {
		code, err := each.(map[string]any)["const"].(json.Number).Int64()
		if err != nil || d.codes[int(code)] {
			t.Errorf("error code %v stands twice, or is none", each)
		}
		d.codes[int(code)] = false
	}
	return d
}

// close forbids unknown fields, and notes every field there is.
func (d *document) close(pointer string, node any) {
	switch node := node.(type) {
	case map[string]any:
		if properties, ok := node["properties"].(map[string]any); ok {
			if _, open := node["additionalProperties"]; !open {
				node["additionalProperties"] = false
			}
			for name := range properties {
				d.fields[pointer+"/properties/"+name] = false
			}
		}
		for key, each := range node {
			d.close(pointer+"/"+escape(key), each)
		}
	case []any:
		for i, each := range node {
			d.close(fmt.Sprintf("%s/%d", pointer, i), each)
		}
	}
}

func escape(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

func (d *document) add(method, path string, node map[string]any) {
	id := node["operationId"].(string)
	if d.operations[id] != nil {
		d.t.Errorf("operationId %s stands twice", id)
	}
	o := &documented{method: strings.ToUpper(method), path: path, node: node, statuses: map[int]bool{}, parameters: map[string]bool{}}
	o.tag = node["tags"].([]any)[0].(string)
	_, o.signed = node["security"]
	for text := range node["responses"].(map[string]any) {
		status, err := strconv.Atoi(text)
		if err != nil {
			d.t.Errorf("%s: status %q", id, text)
		}
		o.statuses[status] = false
	}
	for _, p := range o.list("parameters") {
		o.parameters[p["name"].(string)] = false
	}
	d.operations[id] = o
}

// list returns an operation's list of objects, which may be absent.
func (o *documented) list(name string) (all []map[string]any) {
	each, _ := o.node[name].([]any)
	for _, item := range each {
		all = append(all, item.(map[string]any))
	}
	return all
}

func (d *document) at(keys ...string) map[string]any {
	node := d.root
	for _, key := range keys {
		next, ok := node[key].(map[string]any)
		if !ok {
			d.t.Fatalf("the document has no %v", keys)
		}
		node = next
	}
	return node
}

// find follows a pointer, and references on the way to its end.
func (d *document) find(pointer string) (string, any) {
	var node any = d.root
	for _, key := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		key = strings.ReplaceAll(strings.ReplaceAll(key, "~1", "/"), "~0", "~")
		switch each := node.(type) {
		case map[string]any:
			node = each[key]
		case []any:
			index, _ := strconv.Atoi(key)
			node = each[index]
		}
	}
	if object, ok := node.(map[string]any); ok {
		if reference, ok := object["$ref"].(string); ok {
			return d.find(strings.TrimPrefix(reference, "#"))
		}
	}
	return pointer, node
}

// check validates a value, and notes the fields it has.
func (d *document) check(what, pointer string, content []byte) {
	d.t.Helper()
	pointer, _ = d.find(pointer)
	schema := d.schemas[pointer]
	if schema == nil {
		var err error
		if schema, err = d.compiler.Compile(documentURL + "#" + pointer); err != nil {
			d.t.Fatalf("%s: %v", what, err)
		}
		d.schemas[pointer] = schema
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	if err != nil {
		d.t.Errorf("%s: %q is not JSON: %v", what, content, err)
		return
	}
	if err := schema.Validate(value); err != nil {
		d.t.Errorf("%s: %.500s\n%v", what, content, err)
		return
	}
	d.see(pointer, value)
}

// see notes the fields of a value that fits a schema.
func (d *document) see(pointer string, value any) {
	pointer, found := d.find(pointer)
	schema, ok := found.(map[string]any)
	if !ok {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		if options, ok := schema["oneOf"].([]any); ok { // by market, the only ones of objects there are
			for i := range options {
				at, node := d.find(fmt.Sprintf("%s/oneOf/%d", pointer, i))
				market := node.(map[string]any)["properties"].(map[string]any)["market"].(map[string]any)["const"]
				if market == value["market"] {
					d.see(at, value)
				}
			}
			return
		}
		for name, each := range value {
			at := pointer + "/properties/" + escape(name)
			if _, known := d.fields[at]; known {
				d.fields[at] = true
				d.see(at, each)
			}
		}
	case []any:
		for _, each := range value {
			d.see(pointer+"/items", each)
		}
	case json.Number:
		if code, err := value.Int64(); err == nil && strings.HasSuffix(pointer, "/ErrorCode") {
			d.codes[int(code)] = true
		}
	}
}

// answer checks one answer of an operation.
func (d *document) answer(id string, a answer) {
	d.t.Helper()
	o := d.operations[id]
	if a.err != nil {
		d.t.Fatalf("%s: %v", id, a.err)
	}
	if _, known := o.statuses[a.status]; !known {
		d.t.Errorf("%s answered %d, which the document does not name: %.300s", id, a.status, a.body)
		return
	}
	o.statuses[a.status] = true
	at := fmt.Sprintf("/paths/%s/%s/responses/%d", escape(o.path), strings.ToLower(o.method), a.status)
	d.reply(fmt.Sprintf("%s %d", id, a.status), at, a)
}

// reply checks an answer against a response.
func (d *document) reply(what, pointer string, a answer) {
	d.t.Helper()
	pointer, node := d.find(pointer)
	response := node.(map[string]any)
	if have := a.header.Get("Content-Type"); have != "application/json" {
		d.t.Errorf("%s: want application/json, have %q", what, have)
	}
	headers, _ := response["headers"].(map[string]any)
	for _, name := range []string{"Retry-After", "Allow"} {
		_, told := headers[name]
		if have := a.header.Get(name); (have != "") != told {
			d.t.Errorf("%s: want header %s %v, have %q", what, name, told, have)
		}
	}
	if a.body == "NULL" && strings.HasPrefix(what, "futures_cancel_all 200") {
		return // the one answer that is not JSON
	}
	d.check(what, pointer+"/content/application~1json/schema", []byte(a.body))
}

func TestTheDocumentIsOpenAPI31(t *testing.T) {
	t.Parallel()
	content, err := docs.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	document, err := openapi3.NewLoader().LoadFromData(content)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(document.OpenAPI, "3.1.") {
		t.Errorf("want 3.1, have %s", document.OpenAPI)
	}
	if err := document.Validate(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTheServerGivesItsDocument(t *testing.T) {
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

// TestTheDocumentNamesEveryRouteAndParameter compares the table that client and
// server read with the document, both ways.
func TestTheDocumentNamesEveryRouteAndParameter(t *testing.T) {
	t.Parallel()
	d := readDocument(t)
	left := maps.Clone(d.operations)
	for operation := exchange.FuturesHealth; operation <= exchange.SpotWallet; operation++ {
		route := wire.RouteOf(operation)
		o := d.operations[operation.String()]
		if o == nil {
			t.Errorf("the document lacks %s", operation)
			continue
		}
		delete(left, operation.String())
		if o.method != route.Method || o.path != route.Path || o.signed != operation.Signed() {
			t.Errorf("%s: want %s %s signed %v, have %s %s %v", operation, route.Method, route.Path, operation.Signed(), o.method, o.path, o.signed)
		}
		if want, have := told(route), o.takes(d); want != have {
			t.Errorf("%s: want parameters\n%s\nhave\n%s", operation, want, have)
		}
	}
	for _, c := range controls {
		for id, o := range left {
			if o.method == c.method && o.path == c.path && o.tag == "control" && !o.signed {
				delete(left, id)
			}
		}
	}
	delete(left, "document")
	for id := range left {
		t.Errorf("the document has %s, which nothing serves", id)
	}
	if len(d.operations) != 35+len(controls)+1 {
		t.Errorf("want 35 operations, %d controls and the document, have %d", len(controls), len(d.operations))
	}
}

// told writes a route's parameters, a line each, as takes does the document's.
func told(route wire.Route) string {
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
			continue // compared with what the client writes, below
		}
		line := p.Name + " " + where
		if p.Required {
			line += " required"
		}
		switch {
		case p.Field == wire.FieldLimit && route.Operation == exchange.SpotDepth:
			line += fmt.Sprintf(" default %d", route.Limit.Default)
		case p.Field == wire.FieldLimit:
			line += fmt.Sprintf(" default %d maximum %d", route.Limit.Default, route.Limit.Most)
		case p.Field == wire.FieldOffset:
			line += " default 0"
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func (o *documented) takes(d *document) string {
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
	for _, p := range o.list("parameters") {
		required, _ := p["required"].(bool)
		line(p["name"].(string), p["in"].(string), required, p["schema"].(map[string]any))
	}
	at, schema := d.body(o)
	if schema != nil && !strings.HasSuffix(at, "NewOrder") {
		required, _ := schema["required"].([]any)
		for name, property := range schema["properties"].(map[string]any) {
			line(name, "body", slices.Contains(required, any(name)), property.(map[string]any))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// body returns the schema of an operation's body, nil for none.
func (d *document) body(o *documented) (string, map[string]any) {
	if o.node["requestBody"] == nil {
		return "", nil
	}
	at, schema := d.find(fmt.Sprintf("/paths/%s/%s/requestBody/content/application~1json/schema", escape(o.path), strings.ToLower(o.method)))
	return at, schema.(map[string]any)
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
	for _, each := range d.at("components", "schemas", "ErrorCode")["oneOf"].([]any) {
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
