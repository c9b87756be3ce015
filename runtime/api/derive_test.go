package api

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"botd/internal/jsonalias"
	"botd/runtime/api/auth"
)

var update = flag.Bool("update", false, "write docs/api.yaml again")

const documentPath = "../../docs/api.yaml"

// TestTheDocumentIsDerivedFromRoutesAndTypes keeps docs/api.yaml equal to testdata/api.yaml, the routes, and
// the types with their comments.
func TestTheDocumentIsDerivedFromRoutesAndTypes(t *testing.T) {
	t.Parallel()
	head, err := os.ReadFile("testdata/api.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d := newDerivation(t)
	paths := d.paths()
	for _, topic := range allTopics {
		d.reference(topic.Content)
	}
	for _, extra := range []reflect.Type{reflect.TypeFor[Problem](), reflect.TypeFor[Hello](), reflect.TypeFor[Gap]()} {
		d.reference(extra)
	}
	want := "# Derived by go test ./runtime/api -run Derived -update from runtime/api/testdata/api.yaml, the routes and their types.\n" +
		strings.NewReplacer("    TOPICS\n", d.topics(), "PATHS\n", paths, "SCHEMAS\n", d.schemas()).Replace(string(head))
	if *update {
		if err := os.WriteFile(documentPath, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(documentPath)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != want {
		t.Errorf("%s is not what the routes and types say: go test ./runtime/api -run Derived -update", documentPath)
	}
}

// derivation derives schemas from types and their comments.
type derivation struct {
	t       *testing.T
	parsed  map[string]map[string]*ast.TypeSpec // by package, then by name
	comment map[*ast.TypeSpec]string
	written map[string]string // schemas by name
	of      map[string]reflect.Type
}

func newDerivation(t *testing.T) *derivation {
	return &derivation{t: t, parsed: map[string]map[string]*ast.TypeSpec{}, comment: map[*ast.TypeSpec]string{}, written: map[string]string{},
		of: map[string]reflect.Type{}}
}

// spec finds the declaration of a type.
func (d *derivation) spec(of reflect.Type) *ast.TypeSpec {
	d.t.Helper()
	path := of.PkgPath()
	if d.parsed[path] == nil {
		d.parsed[path] = map[string]*ast.TypeSpec{}
		files, err := filepath.Glob(filepath.Join("../..", strings.TrimPrefix(path, "botd/"), "*.go"))
		if err != nil {
			d.t.Fatal(err)
		}
		for _, file := range files {
			tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
			if err != nil {
				d.t.Fatal(err)
			}
			for _, declared := range tree.Decls {
				if types, ok := declared.(*ast.GenDecl); ok && types.Tok == token.TYPE {
					for _, each := range types.Specs {
						spec := each.(*ast.TypeSpec)
						d.parsed[path][spec.Name.Name], d.comment[spec] = spec, cmp.Or(spec.Doc.Text(), types.Doc.Text())
					}
				}
			}
		}
	}
	spec := d.parsed[path][of.Name()]
	if spec == nil {
		d.t.Fatalf("%s has no type %s", path, of.Name())
	}
	return spec
}

// nameOf returns a type's name in the document; the name of a list contains that of its elements.
func nameOf(of reflect.Type) string {
	if generic, item, is := strings.Cut(of.Name(), "["); is && generic == "List" {
		return strings.TrimSuffix(item[strings.LastIndex(item, ".")+1:], "]") + "List"
	}
	return of.Name()
}

// reference writes a type's schema, and returns a reference to it.
func (d *derivation) reference(of reflect.Type) string {
	name := nameOf(of)
	if known, written := d.of[name]; !written {
		d.of[name] = of
		d.written[name] = d.schema(of)
	} else if known != of {
		d.t.Errorf("%s and %s have one name in the document", known, of)
	}
	return "{$ref: '#/components/schemas/" + name + "'}"
}

func (d *derivation) schema(of reflect.Type) string {
	var text strings.Builder
	text.WriteString("      type: object\n")
	properties, required := d.properties(of)
	if spec := d.comment[d.specOf(of)]; spec != "" && !strings.HasSuffix(nameOf(of), "List") {
		fmt.Fprintf(&text, "      description: %s\n", quoted(sentence(spec, of.Name())))
	}
	if len(required) > 0 {
		fmt.Fprintf(&text, "      required: [%s]\n", strings.Join(required, ", "))
	}
	text.WriteString("      properties:\n")
	for _, p := range properties {
		fmt.Fprintf(&text, "        %s\n", p)
	}
	return text.String()
}

func (d *derivation) specOf(of reflect.Type) *ast.TypeSpec {
	if strings.HasSuffix(nameOf(of), "List") {
		return d.parsed["botd/runtime/api"]["List"]
	}
	return d.spec(of)
}

// properties returns a struct's fields, including those of embedded structs.
func (d *derivation) properties(of reflect.Type) (lines, required []string) {
	var oldLines, oldRequired []string
	var fields []*ast.Field
	if strings.HasSuffix(nameOf(of), "List") {
		d.spec(reflect.TypeFor[Change]()) // reads the package
	}
	if spec := d.specOf(of); spec != nil {
		fields = spec.Type.(*ast.StructType).Fields.List
	}
	byName := map[string]*ast.Field{}
	for _, f := range fields {
		for _, name := range f.Names {
			byName[name.Name] = f
		}
	}
	for i := range of.NumField() {
		field := of.Field(i)
		if field.Anonymous {
			more, needed := d.properties(field.Type)
			lines, required = append(lines, more...), append(required, needed...)
			continue
		}
		name, option, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		property := d.property(of, field, byName[field.Name])
		lines = append(lines, name+": "+property)
		if option != "omitempty" {
			required = append(required, name)
			oldRequired = append(oldRequired, jsonalias.OldNames(field)...)
		}
		for _, old := range jsonalias.OldNames(field) {
			kind, _, _ := strings.Cut(strings.TrimSuffix(property, "}"), ", description: ")
			oldLines = append(oldLines, old+": "+kind+", deprecated: true, description: 'Use "+name+".'}")
		}
	}
	return append(lines, oldLines...), append(required, oldRequired...)
}

// limits are bounds that types cannot express.
var limits = map[string]string{
	"ReasonRequest.reason": "maxLength: 500",
	"TokenRequest.name":    "pattern: '^[a-z0-9][a-z0-9-]{0,31}$'",
	"BacktestRequest.seed": "minimum: 0", "BacktestRequest.candles": "minimum: 0",
	"SweepRequest.seed": "minimum: 0", "SweepRequest.trials": fmt.Sprintf("minimum: 0, maximum: %d", MaxSweepTries),
}

func (d *derivation) property(of reflect.Type, field reflect.StructField, declared *ast.Field) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	comment := ""
	if declared != nil {
		comment = strings.TrimSpace(strings.ReplaceAll(cmp.Or(declared.Comment.Text(), declared.Doc.Text()), "\n", " "))
	}
	values, comment := enumeration(comment)
	var kind string
	switch {
	case name == "schema":
		return "{const: 1}"
	case of == reflect.TypeFor[Problem]() && name == "code":
		values = Codes
	}
	if nullable := field.Type.Kind() == reflect.Pointer && field.Type.Elem().Kind() == reflect.Struct && field.Type.Elem().String() != "time.Time"; nullable {
		if strings.HasSuffix(field.Tag.Get("json"), "omitempty") {
			kind = inner(d.reference(field.Type.Elem()))
		} else {
			kind = "oneOf: [" + d.reference(field.Type.Elem()) + ", {type: 'null'}]"
		}
	} else {
		var source ast.Expr
		if declared != nil {
			source = declared.Type
		}
		of := field.Type
		if of.Kind() == reflect.Pointer && strings.HasSuffix(field.Tag.Get("json"), "omitempty") {
			of, source = of.Elem(), element(source) // it is omitted, and never null
		}
		kind = d.kind(of, source, values)
	}
	if limit := limits[of.Name()+"."+name]; limit != "" {
		kind += ", " + limit
	}
	if comment != "" {
		kind += ", description: " + quoted(capital(comment))
	}
	return "{" + kind + "}"
}

// kind returns the type of a value, without its braces.
func (d *derivation) kind(of reflect.Type, source ast.Expr, values []string) string {
	if text := of.String(); text == "time.Time" {
		return "type: string, format: date-time"
	} else if text == "*time.Time" {
		return "type: [string, 'null'], format: date-time"
	} else if text == "view.Values" {
		return "type: array, items: {type: [number, 'null']}"
	}
	switch of.Kind() {
	case reflect.Pointer:
		plain, more, _ := strings.Cut(strings.TrimPrefix(d.kind(of.Elem(), element(source), values), "type: "), ",")
		if more != "" {
			more = "," + more
		}
		return "type: [" + plain + ", 'null']" + more
	case reflect.Bool:
		return "type: boolean"
	case reflect.Int64:
		return "type: integer, format: int64"
	case reflect.Int, reflect.Uint64:
		return "type: integer"
	case reflect.Float64:
		return "type: number"
	case reflect.Slice:
		return "type: array, items: {" + d.kind(of.Elem(), element(source), values) + "}"
	case reflect.Array:
		return fmt.Sprintf("type: array, minItems: %d, maxItems: %d, items: {%s}", of.Len(), of.Len(), d.kind(of.Elem(), element(source), values))
	case reflect.Map:
		if of.Elem().Kind() == reflect.Interface {
			return "type: object, additionalProperties: true"
		}
		return "type: object, additionalProperties: {" + d.kind(of.Elem(), element(source), values) + "}"
	case reflect.Struct:
		return inner(d.reference(of))
	}
	if len(values) > 0 {
		return "type: string, enum: [" + strings.Join(values, ", ") + "]"
	}
	if name, is := source.(*ast.Ident); is && name.Name == "Decimal" {
		return "type: string, format: decimal"
	}
	return "type: string"
}

// element returns the source of the element of a pointer, list or map.
func element(source ast.Expr) ast.Expr {
	switch source := source.(type) {
	case *ast.StarExpr:
		return source.X
	case *ast.ArrayType:
		return source.Elt
	case *ast.MapType:
		return source.Value
	}
	return nil
}

func inner(reference string) string {
	return strings.TrimSuffix(strings.TrimPrefix(reference, "{"), "}")
}

// enumeration parses a comment such as "adopt | ignore; why", which lists all values.
func enumeration(comment string) (values []string, rest string) {
	list, rest, _ := strings.Cut(comment, ";")
	if !strings.Contains(list, " | ") {
		return nil, comment
	}
	for _, value := range strings.Split(list, " | ") {
		values = append(values, strings.TrimSpace(value))
	}
	return values, strings.TrimSpace(rest)
}

// sentence returns a type's comment without its name.
func sentence(comment, name string) string {
	text := strings.TrimSpace(strings.ReplaceAll(comment, "\n", " "))
	for _, verb := range []string{" is ", " are ", " has "} {
		if rest, found := strings.CutPrefix(text, name+verb); found {
			return capital(rest)
		}
	}
	return text
}

func capital(text string) string {
	runes := []rune(text)
	runes[0] = unicode.ToUpper(runes[0])
	if last := runes[len(runes)-1]; last != '.' && last != '`' {
		runes = append(runes, '.')
	}
	return string(runes)
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// topics writes the table of the stream's topics.
func (d *derivation) topics() string {
	text := "    | topic | data | when |\n    |---|---|---|\n"
	for _, topic := range allTopics {
		text += fmt.Sprintf("    | `%s` | %s | %s |\n", topic.Name, topic.Content.Name(), topic.When)
	}
	return text
}

func (d *derivation) schemas() string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(d.written)) {
		fmt.Fprintf(&text, "    %s:\n%s", name, d.written[name])
	}
	return text.String()
}

// paths describes every route, grouped by path.
func (d *derivation) paths() string {
	var order []string
	byPath := map[string][]*route{}
	for i := range routes {
		if byPath[routes[i].path] == nil {
			order = append(order, routes[i].path)
		}
		byPath[routes[i].path] = append(byPath[routes[i].path], &routes[i])
	}
	var text strings.Builder
	for _, path := range order {
		fmt.Fprintf(&text, "  %s:\n", path)
		if strings.Contains(path, "{") {
			text.WriteString("    parameters:\n")
			for _, part := range strings.Split(path, "/") {
				if name, is := strings.CutPrefix(part, "{"); is {
					fmt.Fprintf(&text, "      - {name: %s, in: path, required: true, schema: {type: string}}\n", strings.TrimSuffix(name, "}"))
				}
			}
		}
		for _, each := range byPath[path] {
			d.operation(&text, each)
		}
	}
	return text.String()
}

func (d *derivation) operation(text *strings.Builder, r *route) {
	line := func(depth int, format string, values ...any) {
		fmt.Fprintf(text, strings.Repeat("  ", depth)+format+"\n", values...)
	}
	line(2, "%s:", strings.ToLower(r.method))
	line(3, "operationId: %s", r.id)
	line(3, "tags: [%s]", r.tag)
	line(3, "x-role: %s", r.minimum)
	line(3, "summary: %s", quoted(r.summary))
	if r.minimum == auth.Public {
		line(3, "security: []")
	}
	if all := r.parameters(); len(all) > 0 {
		line(3, "parameters:")
		for _, p := range all {
			line(4, "- %s", p.describe())
		}
		if r.changes {
			line(4, "- $ref: '#/components/parameters/IdempotencyKey'")
		}
	}
	if r.body != nil && r.body != reflect.TypeFor[nothing]() {
		reference := d.reference(r.body)
		_, required := d.properties(r.body)
		line(3, "requestBody:")
		line(4, "required: %t", len(required) > 0)
		line(4, "content: {application/json: {schema: %s}}", reference)
	}
	line(3, "responses:")
	for _, status := range statuses(r) {
		if name := problems[status]; name != "" {
			line(4, "'%d': {$ref: '#/components/responses/%s'}", status, name)
			continue
		}
		line(4, "'%d':", status)
		line(5, "description: %s", quoted(statusText(r, status)))
		switch {
		case r.answer != nil:
			line(5, "content: {application/json: {schema: %s}}", d.reference(r.answer))
		case r.media == "application/json":
			line(5, "content: {application/json: {schema: {type: object, additionalProperties: true}}}")
		case r.media != "":
			line(5, "content: {%s: {schema: {type: string}}}", r.media)
		}
	}
}

// problems are the responses that several operations share.
var problems = map[int]string{400: "BadRequest", 401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 409: "Conflict", 413: "TooLarge", 422: "OtherRequest",
	429: "TooManyRequests",
	502: "Exchange", 503: "Unavailable"}

// statuses returns a route's statuses in order.
func statuses(r *route) []int {
	all := append([]int{http.StatusBadRequest}, r.fails...)
	switch {
	case r.answer == nil && r.media == "":
		all = append(all, http.StatusNoContent)
	case r.later:
		all = append(all, http.StatusOK, http.StatusAccepted)
	default:
		all = append(all, http.StatusOK)
	}
	if r.minimum > auth.Public {
		all = append(all, http.StatusUnauthorized, http.StatusTooManyRequests)
	}
	if r.minimum == auth.Operator {
		all = append(all, http.StatusForbidden)
	}
	if r.changes {
		all = append(all, http.StatusUnprocessableEntity, http.StatusServiceUnavailable)
		if r.body != reflect.TypeFor[nothing]() {
			all = append(all, http.StatusRequestEntityTooLarge)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func statusText(r *route, status int) string {
	switch {
	case r.later && status == http.StatusOK:
		return "Dry run: what would be done."
	case r.later:
		return "Accepted: journalled and in force; requests are being sent."
	case status == http.StatusNoContent:
		return "Done."
	}
	return "The answer."
}

func (p *parameter) describe() string {
	schema := "type: string"
	switch p.kind {
	case boolean:
		schema = "type: boolean"
		if p.name == dryRunQuery.name {
			schema += ", default: false"
		}
	case number:
		schema = fmt.Sprintf("type: integer, minimum: 1, maximum: %d, default: %d", p.maximum, p.fallback)
	case milliseconds:
		schema = fmt.Sprintf("type: integer, format: int64, minimum: 0, maximum: %d", int64(maxMS))
	case cursor:
		schema += ", pattern: '^[1-9][0-9]{0,17}$'"
	case text:
		if len(p.values) > 0 {
			schema += ", enum: [" + strings.Join(p.values, ", ") + "]"
		}
	}
	required := ""
	if p.required {
		required = ", required: true"
	}
	return "{name: " + p.name + ", in: query" + required + ", description: " + strconv.Quote(p.text) + ", schema: {" + schema + "}}"
}
