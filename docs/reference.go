package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// apiDocument is the part of docs/api.yaml that its page shows.
type apiDocument struct {
	Info  struct{ Title, Description string }
	Tags  []struct{ Name, Description string }
	Paths map[string]struct {
		Parameters             []apiParameter
		Get, Post, Put, Delete *apiOperation
	}
	Components struct {
		Schemas   map[string]apiSchema
		Responses map[string]struct{ Description string }
	}
}

type apiParameter struct {
	Ref         string `json:"$ref"`
	Name, In    string
	Description string
	Schema      apiSchema
}

type apiOperation struct {
	Tags        []string
	Summary     string
	Security    *[]any // empty: no authentication
	Parameters  []apiParameter
	RequestBody *struct {
		Content map[string]struct{ Schema apiSchema }
	}
	Responses map[string]struct {
		Ref         string `json:"$ref"`
		Description string
		Content     map[string]struct{ Schema apiSchema }
	}
}

type apiSchema struct {
	Ref                  string `json:"$ref"`
	Type                 any    // a string, or a list of strings
	Format               string
	Enum                 []any
	Const                any
	Minimum, Maximum     *float64
	Default              any
	Description          string
	Items                *apiSchema
	OneOf                []apiSchema
	Required             []string
	Properties           map[string]apiSchema
	AdditionalProperties any
}

const apiHead = `# The API

<!-- Made by ` + "`go run ./cmd/botd man --api --into docs/api.md`" + ` from docs/api.yaml, which a running botd serves as /api/v1/openapi.json. -->

`

// APIReference returns docs/api.md.
func APIReference() ([]byte, error) {
	content, err := API()
	if err != nil {
		return nil, err
	}
	var document apiDocument
	if err := json.Unmarshal(content, &document); err != nil {
		return nil, fmt.Errorf("docs/api.yaml: %w", err)
	}
	var b bytes.Buffer
	b.WriteString(apiHead + strings.TrimSpace(document.Info.Description) + "\n")
	b.WriteString("\nFor example, with the viewer's token of the demo:\n\n" +
		"    curl -s -H \"Authorization: Bearer $(cat data/demo/token-viewer)\" http://127.0.0.1:8420/api/v1/status\n" +
		"    curl -sN --unix-socket data/demo/botd.sock 'http://localhost/api/v1/events?topics=fill,risk'\n")
	b.WriteString("\n## Operations\n\nA request is made by a viewer (v), an operator (o), or anyone (-). " +
		"Parameters in *italics* are in the path or in a header.\n")
	for _, tag := range document.Tags {
		fmt.Fprintf(&b, "\n### Operations: %s\n\n%s\n\n| operation | who | what it does | parameters | body | answer |\n|---|---|---|---|---|---|\n",
			tag.Name, tag.Description)
		for _, path := range slices.Sorted(maps.Keys(document.Paths)) {
			all := document.Paths[path]
			for _, one := range []struct {
				method    string
				operation *apiOperation
			}{{"GET", all.Get}, {"POST", all.Post}, {"PUT", all.Put}, {"DELETE", all.Delete}} {
				if one.operation != nil && slices.Contains(one.operation.Tags, tag.Name) {
					apiLine(&b, one.method, path, slices.Concat(all.Parameters, one.operation.Parameters), one.operation)
				}
			}
		}
	}
	b.WriteString("\n## Records\n\nA field without *optional* is always there.\n")
	for _, name := range slices.Sorted(maps.Keys(document.Components.Schemas)) {
		apiRecord(&b, name, document.Components.Schemas[name])
	}
	return b.Bytes(), nil
}

func apiLine(b *bytes.Buffer, method, path string, parameters []apiParameter, o *apiOperation) {
	who := "v"
	switch _, refused := o.Responses["403"]; {
	case o.Security != nil && len(*o.Security) == 0:
		who = "-"
	case refused:
		who = "o"
	}
	var shown []string
	for _, p := range parameters {
		switch {
		case p.Ref != "":
			shown = append(shown, "*"+p.Ref[strings.LastIndexByte(p.Ref, '/')+1:]+"*")
		case p.In != "query":
			shown = append(shown, "*"+p.Name+"*")
		default:
			shown = append(shown, "`"+p.Name+"` "+p.Schema.describe())
		}
	}
	body, answers := "", []string{}
	if o.RequestBody != nil {
		for _, content := range o.RequestBody.Content {
			body = content.Schema.describe()
		}
	}
	for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
		r := o.Responses[status]
		if status[0] != '2' {
			continue
		}
		text := status
		for _, kind := range slices.Sorted(maps.Keys(r.Content)) {
			if kind == "application/json" {
				kind = r.Content[kind].Schema.describe()
			}
			text += " " + kind
		}
		answers = append(answers, text)
	}
	fmt.Fprintf(b, "| `%s %s` | %s | %s | %s | %s | %s |\n", method, path, who, inCell(o.Summary), inCell(strings.Join(shown, "<br>")), body,
		strings.Join(answers, "<br>"))
}

// describe describes a value by its type, permitted words, bounds and default, and another record by a link.
func (s apiSchema) describe() string {
	if s.Ref != "" {
		name := s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
		return "[" + name + "](#" + strings.ToLower(name) + ")"
	}
	text := ""
	switch kind := s.Type.(type) {
	case string:
		text = kind
	case []any:
		var all []string
		for _, one := range kind {
			all = append(all, fmt.Sprint(one))
		}
		text = strings.Join(all, " or ")
	}
	switch {
	case s.Items != nil:
		text = "list of " + s.Items.describe()
	case len(s.OneOf) > 0:
		var all []string
		for _, one := range s.OneOf {
			all = append(all, one.describe())
		}
		text = strings.Join(all, " or ")
	case len(s.Enum) > 0:
		var all []string
		for _, word := range s.Enum {
			all = append(all, fmt.Sprintf("`%v`", word))
		}
		text = strings.Join(all, ", ")
	case s.Const != nil:
		text = fmt.Sprintf("always %v", s.Const)
	case s.Format == "decimal" || s.Format == "date-time":
		text = strings.Replace(text, "string", map[string]string{"decimal": "decimal", "date-time": "time"}[s.Format], 1)
	}
	if s.Minimum != nil && s.Maximum != nil {
		text += " from " + strconv.FormatFloat(*s.Minimum, 'f', -1, 64) + " to " + strconv.FormatFloat(*s.Maximum, 'f', -1, 64)
	}
	if s.Default != nil {
		text += fmt.Sprintf(" (%v)", s.Default)
	}
	return text
}

func apiRecord(b *bytes.Buffer, name string, s apiSchema) {
	fmt.Fprintf(b, "\n### %s\n", name)
	if s.Description != "" {
		fmt.Fprintf(b, "\n%s\n", strings.TrimSpace(s.Description))
	}
	if len(s.Properties) == 0 {
		return
	}
	order := slices.Clone(s.Required)
	for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(order, field) {
			order = append(order, field)
		}
	}
	b.WriteString("\n| field | type | |\n|---|---|---|\n")
	for _, field := range order {
		p := s.Properties[field]
		kind := p.describe()
		if !slices.Contains(s.Required, field) {
			kind = strings.TrimSpace(kind + " *optional*")
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", field, inCell(kind), inCell(p.Description))
	}
}

// inCell formats a text for a table cell, on one line.
func inCell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}
