package api

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

const pythonPath = "../../clients/python/botd/operations.py"

// TestThePythonClientIsDerivedFromTheDocument keeps the operations of the Python client equal to docs/api.yaml.
func TestThePythonClientIsDerivedFromTheDocument(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(documentPath)
	if err != nil {
		t.Fatal(err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	want := python{t}.module(document.Content[0])
	if *update {
		if err := os.WriteFile(pythonPath, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(pythonPath)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != want {
		t.Errorf("%s does not match docs/api.yaml: go test ./runtime/api -run Derived -update (twice, where the document changes too)", pythonPath)
	}
}

// python writes the contents of an OpenAPI document in Python.
type python struct{ t *testing.T }

// member returns a member of a mapping; nil for none.
func member(node *yaml.Node, path ...string) *yaml.Node {
	for _, name := range path {
		if node == nil {
			return nil
		}
		i := 0
		for ; i < len(node.Content) && node.Content[i].Value != name; i += 2 {
		}
		if i >= len(node.Content) {
			return nil
		}
		node = node.Content[i+1]
	}
	return node
}

func scalar(node *yaml.Node, path ...string) string {
	if found := member(node, path...); found != nil {
		return found.Value
	}
	return ""
}

// members calls a function for each member of a mapping.
func members(node *yaml.Node, do func(name string, value *yaml.Node)) {
	if node == nil {
		return
	}
	for i := 0; i < len(node.Content); i += 2 {
		do(node.Content[i].Value, node.Content[i+1])
	}
}

const pythonHead = `# Derived by go test ./runtime/api -run Derived -update from docs/api.yaml.
"""The operations of botd's API, and what they answer (docs/api.md)."""
from __future__ import annotations

import urllib.parse
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Optional, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired

`

func (p python) module(document *yaml.Node) string {
	var text strings.Builder
	text.WriteString(pythonHead)
	members(member(document, "components", "schemas"), func(name string, schema *yaml.Node) { p.class(&text, name, schema) })
	text.WriteString("\nclass Operations:\n    \"\"\"Every operation of the API.\"\"\"\n\n" +
		"    def _request(self, method: str, path: str, query: Mapping[str, Any], body: Optional[Mapping[str, Any]] = None, *,\n" +
		"                 key: Optional[str] = None, text: bool = False) -> Any:\n        raise NotImplementedError\n")
	members(member(document, "paths"), func(path string, item *yaml.Node) {
		members(item, func(method string, operation *yaml.Node) {
			if method != "parameters" {
				p.operation(&text, path, method, operation)
			}
		})
	})
	return text.String()
}

// class writes a schema as a TypedDict.
func (p python) class(text *strings.Builder, name string, schema *yaml.Node) {
	var required []string
	if list := member(schema, "required"); list != nil {
		for _, each := range list.Content {
			required = append(required, each.Value)
		}
	}
	kindOf := func(field string, property *yaml.Node) string {
		if !slices.Contains(required, field) {
			return "NotRequired[" + p.kind(property) + "]"
		}
		return p.kind(property)
	}
	reserved := false
	members(member(schema, "properties"), func(field string, _ *yaml.Node) { reserved = reserved || slices.Contains(pythonWords, field) })
	if reserved { // an attribute must not have the field's name
		fmt.Fprintf(text, "\n%s = TypedDict(%[1]q, {\n", name)
		members(member(schema, "properties"), func(field string, property *yaml.Node) {
			fmt.Fprintf(text, "    %q: %q,%s\n", field, kindOf(field, property), comment(scalar(property, "description")))
		})
		text.WriteString("})\n\n")
		return
	}
	fmt.Fprintf(text, "\nclass %s(TypedDict):\n", name)
	if description := scalar(schema, "description"); description != "" {
		fmt.Fprintf(text, "    \"\"\"%s\"\"\"\n\n", description)
	}
	members(member(schema, "properties"), func(field string, property *yaml.Node) {
		fmt.Fprintf(text, "    %s: %s%s\n", field, kindOf(field, property), comment(scalar(property, "description")))
	})
	text.WriteString("\n")
}

// pythonWords are names of fields and parameters that are keywords of Python.
var pythonWords = []string{"from", "for", "in", "is", "class", "global", "import", "not", "or", "and", "pass", "with", "as", "lambda"}

func comment(description string) string {
	if description == "" {
		return ""
	}
	return "  # " + description
}

// kind returns a schema's type in Python.
func (p python) kind(schema *yaml.Node) string {
	if reference := scalar(schema, "$ref"); reference != "" {
		return reference[strings.LastIndex(reference, "/")+1:]
	}
	if one := member(schema, "oneOf"); one != nil {
		return "Optional[" + p.kind(one.Content[0]) + "]"
	}
	if constant := scalar(schema, "const"); constant != "" {
		return "Literal[" + constant + "]"
	}
	kind := member(schema, "type")
	if kind == nil {
		p.t.Errorf("line %d: a schema without a type", schema.Line)
		return "Any"
	}
	if kind.Kind == yaml.SequenceNode { // [string, 'null']
		return "Optional[" + p.simple(kind.Content[0].Value, schema) + "]"
	}
	return p.simple(kind.Value, schema)
}

func (p python) simple(kind string, schema *yaml.Node) string {
	switch kind {
	case "string":
		if values := member(schema, "enum"); values != nil {
			var all []string
			for _, value := range values.Content {
				all = append(all, fmt.Sprintf("%q", value.Value))
			}
			return "Literal[" + strings.Join(all, ", ") + "]"
		}
		return "str"
	case "integer":
		return "int"
	case "number":
		return "float"
	case "boolean":
		return "bool"
	case "array":
		return "List[" + p.kind(member(schema, "items")) + "]"
	case "object":
		if values := member(schema, "additionalProperties"); values != nil && values.Kind == yaml.MappingNode {
			return "Dict[str, " + p.kind(values) + "]"
		}
		return "Dict[str, Any]"
	}
	p.t.Errorf("line %d: the type %s has no counterpart", schema.Line, kind)
	return "Any"
}

// excluded are operations that client.py implements (events), and those for browsers.
var excluded = []string{"events", "login", "logout", "link", "limits_too"}

var placeholder = regexp.MustCompile(`\{(\w+)\}`)

func (p python) operation(text *strings.Builder, path, method string, operation *yaml.Node) {
	id := scalar(operation, "operationId")
	if slices.Contains(excluded, id) {
		return
	}
	arguments, positional := []string{"self"}, placeholder.FindAllStringSubmatch(path, -1)
	for _, part := range positional {
		arguments = append(arguments, part[1]+": str")
	}
	body := scalar(operation, "requestBody", "content", "application/json", "schema", "$ref")
	body = body[strings.LastIndex(body, "/")+1:]
	needed := scalar(operation, "requestBody", "required") == "true"
	switch {
	case needed:
		arguments = append(arguments, "body: "+body)
	case body != "":
		arguments = append(arguments, "body: Optional["+body+"] = None")
	}
	var named, query, explained []string
	change := false
	if parameters := member(operation, "parameters"); parameters != nil {
		for _, each := range parameters.Content {
			name := scalar(each, "name")
			if name == "" { // the reference to the idempotency key
				change = true
				continue
			}
			argument := name
			if slices.Contains(pythonWords, name) {
				argument += "_"
			}
			if scalar(each, "required") == "true" {
				named = append(named, argument+": "+p.kind(member(each, "schema")))
			} else {
				named = append(named, argument+": Optional["+p.kind(member(each, "schema"))+"] = None")
			}
			query = append(query, fmt.Sprintf("%q: %s", name, argument))
			explained = append(explained, "        "+argument+": "+scalar(each, "description"))
		}
	}
	key := ""
	if change {
		named, key = append(named, "idempotency_key: Optional[str] = None"), `, key=idempotency_key or ""`
	}
	if len(named) > 0 {
		arguments = append(append(arguments, "*"), named...)
	}
	answer := member(operation, "responses", "200", "content")
	result, plain := "None", ""
	if schema := member(answer, "application/json", "schema"); schema != nil {
		result = p.kind(schema)
	} else if answer != nil {
		result, plain = "str", ", text=True"
	}
	target := `"` + path + `"`
	if len(positional) > 0 {
		target = "f" + placeholder.ReplaceAllString(target, "{urllib.parse.quote($1, safe='')}")
	}
	send := ""
	if body != "" {
		send = ", body"
	}
	fmt.Fprintf(text, "\n    def %s(%s) -> %s:\n        \"\"\"%s", id, strings.Join(arguments, ", "), result, scalar(operation, "summary"))
	if len(explained) > 0 {
		text.WriteString("\n\n" + strings.Join(explained, "\n") + "\n        ")
	}
	assigned, returned := "answer: "+result+" = ", "        return answer\n"
	if result == "None" {
		assigned, returned = "", ""
	}
	text.WriteString("\"\"\"\n")
	fmt.Fprintf(text, "        %sself._request(%q, %s, {%s}%s%s%s)\n%s",
		assigned, strings.ToUpper(method), target, strings.Join(query, ", "), send, key, plain, returned)
}
