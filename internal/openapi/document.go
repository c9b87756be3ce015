// Package openapi checks requests and answers against an OpenAPI document.
//
// An answer may have no field that the document does not name. At the end, Unseen lists the
// operations, statuses, parameters and fields that no answer used. So document and server
// agree in both directions.
package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Document is an OpenAPI document that records which of its parts a server has used.
type Document struct {
	Root       map[string]any
	Operations map[string]*Operation // by operationId
	Fields     map[string]bool       // every property of a schema, by its pointer, with whether it was seen
	Numbers    func(pointer string, value json.Number)

	t        testing.TB
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema // by pointer
}

// Operation is one operation of a document.
type Operation struct {
	ID, Method, Path, Tag string
	Node                  map[string]any
	Statuses              map[int]bool    // with whether a response had the status
	Parameters            map[string]bool // with whether a request had the parameter
}

// Valid validates a document against OpenAPI 3.1.
func Valid(t testing.TB, content []byte) {
	t.Helper()
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

const documentURL = "mem:///openapi.json"

// Read reads a document, as JSON.
func Read(t testing.TB, content []byte) *Document {
	t.Helper()
	d := &Document{Operations: map[string]*Operation{}, Fields: map[string]bool{}, t: t, compiler: jsonschema.NewCompiler(),
		schemas: map[string]*jsonschema.Schema{}}
	d.compiler.RegisterFormat(&jsonschema.Format{Name: "decimal", Validate: decimal})
	d.compiler.AssertFormat()
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	d.Root = root.(map[string]any)
	d.close("", d.Root)
	if err := d.compiler.AddResource(documentURL, d.Root); err != nil {
		t.Fatal(err)
	}
	for path, item := range d.At("paths") {
		shared := Objects(item.(map[string]any)["parameters"])
		for method, each := range item.(map[string]any) {
			if method != "parameters" {
				d.add(method, path, each.(map[string]any), shared)
			}
		}
	}
	return d
}

// close forbids unknown fields, and lists every field.
func (d *Document) close(pointer string, node any) {
	switch node := node.(type) {
	case map[string]any:
		if properties, ok := node["properties"].(map[string]any); ok {
			if _, open := node["additionalProperties"]; !open {
				node["additionalProperties"] = false
			}
			for name := range properties {
				d.Fields[pointer+"/properties/"+Escape(name)] = false
			}
		}
		for key, each := range node {
			d.close(pointer+"/"+Escape(key), each)
		}
	case []any:
		for i, each := range node {
			d.close(fmt.Sprintf("%s/%d", pointer, i), each)
		}
	}
}

// Escape encodes a key as a part of a JSON pointer.
func Escape(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

func (d *Document) add(method, path string, node map[string]any, shared []map[string]any) {
	id := node["operationId"].(string)
	if d.Operations[id] != nil {
		d.t.Errorf("operationId %s stands twice", id)
	}
	o := &Operation{ID: id, Method: strings.ToUpper(method), Path: path, Node: node, Statuses: map[int]bool{}, Parameters: map[string]bool{}}
	o.Tag = node["tags"].([]any)[0].(string)
	for text := range node["responses"].(map[string]any) {
		status, err := strconv.Atoi(text)
		if err != nil {
			d.t.Errorf("%s: status %q", id, text)
		}
		o.Statuses[status] = false
	}
	for _, p := range append(Objects(node["parameters"]), shared...) {
		if reference, ok := p["$ref"].(string); ok {
			_, found := d.Find(strings.TrimPrefix(reference, "#"))
			p = found.(map[string]any)
		}
		o.Parameters[p["name"].(string)] = false
	}
	d.Operations[id] = o
}

// Objects returns a list's objects; nil if the list is absent.
func Objects(list any) (all []map[string]any) {
	each, _ := list.([]any)
	for _, item := range each {
		all = append(all, item.(map[string]any))
	}
	return all
}

// List returns an operation's list of objects.
func (o *Operation) List(name string) []map[string]any { return Objects(o.Node[name]) }

// At returns the object at a path of keys.
func (d *Document) At(keys ...string) map[string]any {
	node := d.Root
	for _, key := range keys {
		next, ok := node[key].(map[string]any)
		if !ok {
			d.t.Fatalf("the document has no %v", keys)
		}
		node = next
	}
	return node
}

// Find follows a pointer and the references on its way.
func (d *Document) Find(pointer string) (string, any) {
	var node any = d.Root
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
			return d.Find(strings.TrimPrefix(reference, "#"))
		}
	}
	return pointer, node
}

// Check validates a value, and marks its fields as used.
func (d *Document) Check(what, pointer string, content []byte) {
	d.t.Helper()
	pointer, _ = d.Find(pointer)
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
		d.t.Errorf("%s: %.800s\n%v", what, content, err)
		return
	}
	d.see(pointer, value)
}

// see marks the fields of a valid value as used.
func (d *Document) see(pointer string, value any) {
	pointer, found := d.Find(pointer)
	schema, ok := found.(map[string]any)
	if !ok {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		if options, ok := schema["oneOf"].([]any); ok {
			d.seeOne(pointer, options, value)
			return
		}
		for name, each := range value {
			at := pointer + "/properties/" + Escape(name)
			if _, known := d.Fields[at]; known {
				d.Fields[at] = true
				d.see(at, each)
			}
		}
	case []any:
		for _, each := range value {
			d.see(pointer+"/items", each)
		}
	case json.Number:
		if d.Numbers != nil {
			d.Numbers(pointer, value)
		}
	}
}

// seeOne finds the schema of an object among several: the only one that is not null, or
// the one of its market.
func (d *Document) seeOne(pointer string, options []any, value map[string]any) {
	for i := range options {
		at, node := d.Find(fmt.Sprintf("%s/oneOf/%d", pointer, i))
		properties, ok := node.(map[string]any)["properties"].(map[string]any)
		if !ok {
			continue
		}
		market, _ := properties["market"].(map[string]any)
		if want, fixed := market["const"]; !fixed || want == value["market"] {
			d.see(at, value)
		}
	}
}

// Body returns the schema of an operation's body; nil if it has none.
func (d *Document) Body(o *Operation) (string, map[string]any) {
	if o.Node["requestBody"] == nil {
		return "", nil
	}
	at, schema := d.Find(fmt.Sprintf("/paths/%s/%s/requestBody/content/application~1json/schema", Escape(o.Path), strings.ToLower(o.Method)))
	return at, schema.(map[string]any)
}

// Answered marks a status of an operation as used. It returns the pointer to the response's description; known is false if there is none.
func (d *Document) Answered(id string, status int, body []byte) (pointer string, known bool) {
	d.t.Helper()
	o := d.Operations[id]
	if _, known := o.Statuses[status]; !known {
		d.t.Errorf("%s answered %d, which the document does not name: %.300s", id, status, body)
		return "", false
	}
	o.Statuses[status] = true
	return fmt.Sprintf("/paths/%s/%s/responses/%d", Escape(o.Path), strings.ToLower(o.Method), status), true
}

// Reply checks a response against its description: content type, documented headers, and body.
func (d *Document) Reply(what, pointer string, header http.Header, body []byte) {
	d.t.Helper()
	pointer, node := d.Find(pointer)
	response := node.(map[string]any)
	headers, _ := response["headers"].(map[string]any)
	for _, name := range []string{"Retry-After", "Allow"} {
		_, documented := headers[name]
		if have := header.Get(name); (have != "") != documented {
			d.t.Errorf("%s: want header %s %v, have %q", what, name, documented, have)
		}
	}
	content, _ := response["content"].(map[string]any)
	have, _, _ := strings.Cut(header.Get("Content-Type"), ";")
	if content == nil {
		if len(body) > 0 {
			d.t.Errorf("%s: want no body, have %s", what, body)
		}
		return
	}
	if _, documented := content[have]; !documented {
		d.t.Errorf("%s: content type %q is not in the document", what, have)
		return
	}
	if strings.HasSuffix(have, "json") {
		d.Check(what, pointer+"/content/"+Escape(have)+"/schema", body)
	}
}

// Unseen lists the parts that no response used.
func (d *Document) Unseen() (all []string) {
	for id, o := range d.Operations {
		for status, seen := range o.Statuses {
			if !seen {
				all = append(all, fmt.Sprintf("%s never answered %d", id, status))
			}
		}
		for name, seen := range o.Parameters {
			if !seen {
				all = append(all, fmt.Sprintf("%s was never asked with %s", id, name))
			}
		}
	}
	for field, seen := range d.Fields {
		if !seen {
			all = append(all, "no message had "+field)
		}
	}
	slices.Sort(all)
	return all
}

var isDecimal = regexp.MustCompile(`^(-?[0-9]+(\.[0-9]+)?)?$`)

// decimal rejects text that is neither a number nor empty.
func decimal(value any) error {
	if text, is := value.(string); is && !isDecimal.MatchString(text) {
		return fmt.Errorf("%q is no decimal", text)
	}
	return nil
}
