package tidy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// indirection is a step from one stage to the next that is no call.
type indirection struct{ from, why string }

// indirections are the steps of the tables that are no calls, by the stage that they lead to. A stage is a file and a function.
var indirections = map[string]indirection{
	"runtime/runtime.go:loop":            {"runtime/engine/tick.go:pollSeries", "the request is an effect, which the loop takes from the engine"},
	"runtime/runtime.go:write":           {"runtime/runtime.go:handle", "records pass through a channel to the goroutine that writes them"},
	"runtime/runtime.go:work":            {"runtime/runtime.go:handle", "requests pass through a queue to the goroutines that perform them"},
	"runtime/engine/round.go:beginRound": {"runtime/engine/tick.go:adopt", "the round is due at once: the engine's next wake-up begins it"},
}

// required are stages that a table must contain, by its head, each with what happens there.
var required = map[string]map[string]string{
	candleTable: {
		"runtime/engine/tick.go:pollSeries":     "the candles are due",
		"runtime/engine/tick.go:appendClosed":   "closed candles are appended",
		"runtime/engine/tick.go:inquire":        "the question to the strategy is an effect",
		"runtime/engine/round.go:fetchVanished": "the order is fetched by its id",
		"exchange/rest/send.go:DoBefore":        "the request goes out",
		"exchange/rest/send.go:read":            "a read that fails is tried again",
		"runtime/worker/worker.go:Put":          "the strategy is asked",
		"runtime/worker/worker.go:perform":      "the strategy answers",
		"risk/risk.go:Check":                    "the intent is checked",
		"runtime/runtime.go:write":              "the record is durable",
		"runtime/engine/dispatch.go:journaled":  "the durable order is released",
		"runtime/engine/dispatch.go:placed":     "the answer to the order arrives",
		"runtime/engine/round.go:settle":        "the state is settled",
		"reconcile/observe.go:Observe":          "the order's end is observed",
		"reconcile/derive.go:Derive":            "the intents are derived",
	},
	verbTable: {"cmd/botd/cli/cli.go:NewRoot": "the tree of commands is built", "cmd/botd/cli/connect/show.go:ShowFor": "the daemon is queried"},
	routeTable: {
		"runtime/api/endpoint.go:changing": "the body is read and checked",
		"runtime/api/guard.go:guarded":     "the caller is authenticated",
		"runtime/api/guard.go:admitted":    "the caller is authorized",
		"runtime/api/guard.go:once":        "a repeated change is answered as before",
		"runtime/api/change.go:send":       "the engine receives the event",
	},
}

// Heads of the tables in docs/ARCHITECTURE.md.
const (
	candleTable = "| file | passes through |"
	verbTable   = "| verb: file | passes through |"
	routeTable  = "| route: file | passes through |"
)

// TestACandleAVerbAndARouteAreReadInFewFiles compares four tables of docs/ARCHITECTURE.md with the code.
// Their functions are in their files, in order; each but the first is called or referenced by a function of the table, and the first one of a
// row by one of a row above, or it is in indirections; the stages in required are present; and there are no more files than the heading states.
func TestACandleAVerbAndARouteAreReadInFewFiles(t *testing.T) {
	t.Parallel()
	text := architecture(t)
	code, needed := codeOf(t), map[string]bool{}
	for head, most := range map[string]int{candleTable: 10, verbTable: 3, routeTable: 5} {
		c := chainOf(code, rowsOf(t, head))
		for _, wrong := range append(c.examine(most, indirections, needed), c.lacks(required[head])...) {
			t.Errorf("%s: %s", head, wrong)
		}
	}
	verbs := regexp.MustCompile("(?m)^\\| `botd ([a-z ]+)` \\| (`cli\\.go`: .+) \\|$").FindAllStringSubmatch(text, -1)
	if want, have := strings.Count(text, "\n| `botd "), len(verbs); have == 0 || want != have {
		t.Errorf("docs/ARCHITECTURE.md: want the files of each further verb, have them of %d of %d", have, want)
	}
	for _, verb := range verbs {
		var rows [][]string
		for _, file := range strings.Split(verb[2], "; ") {
			name, functions, _ := strings.Cut(file, ": ")
			rows = append(rows, []string{"", "cmd/botd/cli/" + strings.Trim(name, "`"), functions})
		}
		for _, wrong := range chainOf(code, rows).examine(3, indirections, needed) {
			t.Errorf("botd %s: %s", verb[1], wrong)
		}
	}
	for to := range indirections {
		if !needed[to] {
			t.Errorf("indirections has %s, which no table needs", to)
		}
	}
}

// architecture returns the text of docs/ARCHITECTURE.md.
func architecture(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// rowsOf returns the rows of a table: the line, the file, and its functions.
func rowsOf(t *testing.T, head string) [][]string {
	t.Helper()
	_, table, found := strings.Cut(architecture(t), head)
	table, _, ended := strings.Cut(table, "\n\n")
	rows := regexp.MustCompile("(?m)^\\| `([a-z/_]+\\.go)` \\| ([^|]+) \\|").FindAllStringSubmatch(table, -1)
	if !found || !ended || len(rows) == 0 {
		t.Fatalf("docs/ARCHITECTURE.md: want a table %q with a row for each stage", head)
	}
	return rows
}

// codeFile is a file with the types of its package.
type codeFile struct {
	tree *ast.File
	info *types.Info
}

// codeOf returns botd's files by their paths below the root.
func codeOf(t *testing.T) map[string]codeFile {
	t.Helper()
	set, all := examined(t)
	files := map[string]codeFile{}
	for _, p := range all {
		for _, tree := range p.trees {
			below, err := filepath.Rel(root(t), set.Position(tree.Package).Filename)
			if err != nil {
				t.Fatal(err)
			}
			files[filepath.ToSlash(below)] = codeFile{tree, p.info}
		}
	}
	return files
}

// stage is a function in a row of a table.
type stage struct {
	row, place int
	name       string // file and function
	declared   []*types.Func
	at         token.Pos
	uses       map[types.Object]bool
}

// chain are the stages of a table.
type chain struct {
	stages []stage
	files  map[string]bool
	shared map[types.Object]bool // what the package variables of its files use
}

// chainOf returns the chain of rows of a file and its functions.
func chainOf(code map[string]codeFile, rows [][]string) *chain {
	c := &chain{files: map[string]bool{}, shared: map[types.Object]bool{}}
	for i, row := range rows {
		file := code[row[1]]
		if file.tree == nil {
			file.tree = &ast.File{}
		}
		if !c.files[row[1]] {
			c.files[row[1]] = true
			for _, declaration := range file.tree.Decls {
				if variables, ok := declaration.(*ast.GenDecl); ok {
					collect(file.info, variables, c.shared)
				}
			}
		}
		for j, name := range strings.Split(row[2], ", ") {
			name = strings.Trim(name, "`")
			s := stage{row: i, place: j, name: row[1] + ":" + name, uses: map[types.Object]bool{}}
			for _, declaration := range file.tree.Decls {
				if f, ok := declaration.(*ast.FuncDecl); ok && f.Name.Name == name {
					s.declared, s.at = append(s.declared, file.info.Defs[f.Name].(*types.Func)), f.Pos()
					collect(file.info, f, s.uses)
				}
			}
			c.stages = append(c.stages, s)
		}
	}
	return c
}

// collect adds the functions that a node uses.
func collect(info *types.Info, node ast.Node, uses map[types.Object]bool) {
	ast.Inspect(node, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok {
			if f, ok := info.Uses[name].(*types.Func); ok {
				uses[f.Origin()] = true
			}
		}
		return true
	})
}

// isUsed reports whether a function is among those used, itself or as a method of an interface.
func isUsed(f *types.Func, uses map[types.Object]bool) bool {
	if uses[f] {
		return true
	}
	receiver := f.Signature().Recv()
	if receiver == nil {
		return false
	}
	for used := range uses {
		of := used.(*types.Func).Signature().Recv()
		if of == nil || used.Name() != f.Name() || !types.IsInterface(of.Type()) {
			continue
		}
		if types.Implements(receiver.Type(), of.Type().Underlying().(*types.Interface)) {
			return true
		}
	}
	return false
}

// leadsTo reports whether a stage is used by another, or, if it is the first of its row, by one of a row above.
func (c *chain) leadsTo(to *stage) bool {
	used := func(uses map[types.Object]bool) bool {
		return slices.ContainsFunc(to.declared, func(f *types.Func) bool { return isUsed(f, uses) })
	}
	return used(c.shared) || slices.ContainsFunc(c.stages, func(from stage) bool {
		return from.name != to.name && (from.row < to.row || to.place > 0) && used(from.uses)
	})
}

// examine returns what is wrong with a chain, and notes the needed steps that are no calls.
func (c *chain) examine(most int, indirections map[string]indirection, needed map[string]bool) (wrong []string) {
	if have := len(c.files); have > most {
		wrong = append(wrong, fmt.Sprintf("want at most %d files, have %d", most, have))
	}
	for i := range c.stages {
		s := &c.stages[i]
		switch {
		case s.declared == nil:
			wrong = append(wrong, "there is no "+s.name)
			continue
		case s.place > 0 && s.at < c.stages[i-1].at:
			wrong = append(wrong, fmt.Sprintf("want %s below what is met before it", s.name))
		}
		if i == 0 || c.leadsTo(s) {
			continue
		}
		step, ok := indirections[s.name]
		if needed[s.name] = true; !ok || !slices.ContainsFunc(c.stages[:i], func(from stage) bool { return from.name == step.from }) {
			wrong = append(wrong, fmt.Sprintf("no function above leads to %s", s.name))
		}
	}
	return wrong
}

// lacks returns the stages that a chain must contain and does not.
func (c *chain) lacks(required map[string]string) (wrong []string) {
	for name, what := range required {
		if !slices.ContainsFunc(c.stages, func(s stage) bool { return s.name == name }) {
			wrong = append(wrong, fmt.Sprintf("want %s in it, where %s", name, what))
		}
	}
	return wrong
}

// TestAStageThatIsMissingIsFound removes each row of the tables, and examines small chains.
func TestAStageThatIsMissingIsFound(t *testing.T) {
	t.Parallel()
	code := codeOf(t)
	for head, most := range map[string]int{candleTable: 10, verbTable: 3, routeTable: 5} {
		rows := rowsOf(t, head)
		for i, row := range rows {
			others, repeats := slices.Delete(slices.Clone(rows), i, i+1), head == candleTable && i == len(rows)-1 // in the next round
			c := chainOf(code, others)
			if wrong := append(c.examine(most, indirections, map[string]bool{}), c.lacks(required[head])...); len(wrong) == 0 && !repeats {
				t.Errorf("%s: want it noticed that the row %s is missing: %s", head, row[1], row[2])
			}
		}
	}
	for rows, want := range map[string]int{
		"x.go: a, b; y.go: c":       0,
		"x.go: a; y.go: c":          1, // b calls c
		"y.go: c; x.go: b":          1, // b is below
		"x.go: b, a; y.go: c":       2, // a is above b, and nothing calls it
		"x.go: a, b; y.go: c, d":    1, // d has the name of the other's method, which nobody calls
		"x.go: a, b; y.go: c, e":    1, // the method e of T is no T's that is called
		"x.go: a, b; y.go: c, say":  0, // by an interface
		"x.go: a, b; y.go: c, hear": 0, // passed on
		"x.go: a, b; y.go: c, list": 0, // in a variable
		"x.go: a, b; y.go: c, take": 0, // by indirection
		"x.go: a; y.go: take":       1, // by indirection of a function that is missing
		"x.go: a, z":                1,
	} {
		var table [][]string
		for _, row := range strings.Split(rows, "; ") {
			name, functions, _ := strings.Cut(row, ": ")
			table = append(table, []string{"", name, functions})
		}
		steps := map[string]indirection{"y.go:take": {"x.go:b", "a channel"}}
		if wrong := chainOf(smallCode(t), table).examine(2, steps, map[string]bool{}); len(wrong) != want {
			t.Errorf("%s\nwant %d findings, have %q", rows, want, wrong)
		}
	}
	if wrong := chainOf(smallCode(t), [][]string{{"", "x.go", "a"}, {"", "y.go", "c"}}).lacks(map[string]string{"x.go:b": "it is"}); len(wrong) != 1 {
		t.Errorf("want one stage missing, have %q", wrong)
	}
}

// smallCode returns two files of a package.
func smallCode(t *testing.T) map[string]codeFile {
	t.Helper()
	set, imports := token.NewFileSet(), &checked{packages: map[string]*types.Package{}}
	files, trees := map[string]codeFile{}, []*ast.File{}
	for _, source := range []struct{ name, text string }{
		{"x.go", "package x\ntype sayer interface { say() }\nfunc a() { b(T{}) }\nfunc b(s sayer) { s.say(); c(hear); other{}.d(); other{}.e() }\n" +
			"type other struct{}\nfunc (other) d() {}\nfunc (other) e() {}\nvar all = []func(){list}"},
		{"y.go", "package x\ntype T struct{}\nfunc c(func()) {}\nfunc d() {}\nfunc (T) e() {}\nfunc (T) say() {}\n" +
			"func hear() {}\nfunc list() {}\nfunc take() {}"},
	} {
		tree, err := parser.ParseFile(set, source.name, source.text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		trees = append(trees, tree)
		files[source.name] = codeFile{tree: tree}
	}
	info := imports.check(t, set, "x", trees)
	for name, file := range files {
		files[name] = codeFile{file.tree, info}
	}
	return files
}
