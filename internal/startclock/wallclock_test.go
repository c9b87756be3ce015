package startclock

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// bubble is the package in whose bubbles the clock starts at a fixed time.
const bubble = `"testing/synctest"`

// wallRun matches the start of a built binary whose market would start at the wall clock.
var wallRun = regexp.MustCompile(`exec\.Command(?:Context)?\((?:[a-z.]*binary|built), "(?:run|exchange)"`)

// wallClockIsTested are the functions whose market starts at the wall clock, each with the reason.
var wallClockIsTested = map[string]string{
	"runtime/doctor/checks_test.go:venue": "the doctor compares the venue's clock with the machine's, and only reads the market",
}

// TestNoMarketUnderTestStartsAtTheWallClock reads the source of every test.
func TestNoMarketUnderTestStartsAtTheWallClock(t *testing.T) {
	t.Parallel()
	folders, tests := map[string]map[string]*ast.File{}, 0
	set := token.NewFileSet()
	err := filepath.WalkDir("../..", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		tests++
		tree, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		below := path.Clean(strings.TrimPrefix(filepath.ToSlash(name), "../../"))
		if folders[path.Dir(below)] == nil {
			folders[path.Dir(below)] = map[string]*ast.File{}
		}
		folders[path.Dir(below)][below] = tree
		return nil
	})
	if err != nil || tests < 200 {
		t.Errorf("want every test read, have %d, %v", tests, err)
	}
	met := map[string]bool{}
	for _, files := range folders {
		for at, pos := range wallStarts(files) {
			met[at] = true
			if wallClockIsTested[at] == "" {
				t.Errorf("%s (%s): a market that starts at the wall clock: use startclock.MS()", set.Position(pos), at)
			}
		}
		for name, tree := range files {
			for _, pos := range wallRuns(tree) {
				t.Errorf("%s:%d: botd started at the wall clock: use startclock.Arguments", name, set.Position(pos).Line)
			}
		}
	}
	for at := range wallClockIsTested {
		if !met[at] {
			t.Errorf("wallClockIsTested has %s, whose market does not start at the wall clock", at)
		}
	}
}

// wallRuns returns where a file starts a built binary without setting its clock.
func wallRuns(tree *ast.File) (found []token.Pos) {
	ast.Inspect(tree, func(node ast.Node) bool {
		if call, ok := node.(*ast.CallExpr); ok {
			if text := types.ExprString(call); wallRun.MatchString(text) && !strings.Contains(text, "--start") {
				found = append(found, call.Pos())
			}
		}
		return true
	})
	return found
}

// wallStarts returns where the tests of a package set the start of a market or its clock to the wall clock's time, by file and function.
// Files with a bubble are left out. The time is followed through the variables of a function and of the package, and the results of functions.
func wallStarts(files map[string]*ast.File) map[string]token.Pos {
	shared, found := map[string]bool{}, map[string]token.Pos{}
	for before := -1; before != len(shared); {
		before = len(shared)
		for _, tree := range files {
			for _, declaration := range tree.Decls {
				switch d := declaration.(type) {
				case *ast.GenDecl:
					follow(d, clockOf(tree), shared)
				case *ast.FuncDecl:
					if d.Recv == nil && d.Body != nil && returnsClock(d, clockOf(tree), shared) {
						shared[d.Name.Name] = true
					}
				}
			}
		}
	}
	passed := passedOn(files)
	for name, tree := range files {
		if slices.ContainsFunc(tree.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == bubble }) {
			continue
		}
		for _, declaration := range tree.Decls {
			at := name
			if d, ok := declaration.(*ast.FuncDecl); ok {
				at += ":" + d.Name.Name
			}
			known := followed(declaration, clockOf(tree), shared)
			ast.Inspect(declaration, func(node ast.Node) bool {
				starts := []ast.Expr{startOf(node)}
				if call, ok := node.(*ast.CallExpr); ok {
					starts = argumentsOf(call, passed)
				}
				for _, start := range starts {
					if start != nil && isWall(start, clockOf(tree), known) {
						found[at] = start.Pos()
					}
				}
				return true
			})
		}
	}
	return found
}

// passedOn returns the places of the parameters that functions and methods set the start of a market or of its clock to, by name.
func passedOn(files map[string]*ast.File) map[string][]int {
	passed := map[string][]int{}
	for _, tree := range files {
		for _, declaration := range tree.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if !ok {
				continue
			}
			place := 0
			for _, field := range function.Type.Params.List {
				for _, name := range field.Names {
					known := followed(function, "", map[string]bool{name.Name: true})
					ast.Inspect(function, func(node ast.Node) bool {
						if start := startOf(node); start != nil && isWall(start, "", known) {
							passed[function.Name.Name] = append(passed[function.Name.Name], place)
						}
						return true
					})
					place++
				}
			}
		}
	}
	return passed
}

// argumentsOf returns the arguments of a call that become the start of a market or of its clock.
func argumentsOf(call *ast.CallExpr, passed map[string][]int) (starts []ast.Expr) {
	name := types.ExprString(call.Fun)
	for _, place := range passed[name[strings.LastIndexByte(name, '.')+1:]] {
		if place < len(call.Args) {
			starts = append(starts, call.Args[place])
		}
	}
	return starts
}

// clockOf returns the expression by which a file reads the clock.
func clockOf(tree *ast.File) string {
	for _, i := range tree.Imports {
		if i.Path.Value == `"time"` && i.Name != nil {
			return i.Name.Name + ".Now"
		}
	}
	return "time.Now"
}

// followed returns the variables that hold the wall clock's time in a declaration.
func followed(declaration ast.Node, clock string, shared map[string]bool) map[string]bool {
	known := map[string]bool{}
	for name := range shared {
		known[name] = true
	}
	for before := -1; before != len(known); {
		before = len(known)
		follow(declaration, clock, known)
	}
	return known
}

// follow adds the variables to which a declaration assigns the wall clock's time.
func follow(declaration ast.Node, clock string, known map[string]bool) {
	ast.Inspect(declaration, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				if isWall(n.Rhs[min(i, len(n.Rhs)-1)], clock, known) {
					known[types.ExprString(to)] = true
				}
			}
		case *ast.ValueSpec:
			for i, to := range n.Names {
				if len(n.Values) > 0 && isWall(n.Values[min(i, len(n.Values)-1)], clock, known) {
					known[to.Name] = true
				}
			}
		}
		return true
	})
	delete(known, "_")
}

// returnsClock reports whether a function returns the wall clock's time.
func returnsClock(function *ast.FuncDecl, clock string, shared map[string]bool) (yes bool) {
	known := followed(function, clock, shared)
	ast.Inspect(function, func(node ast.Node) bool {
		if n, ok := node.(*ast.ReturnStmt); ok {
			for _, result := range n.Results {
				yes = yes || isTime(result) && isWall(result, clock, known)
			}
		}
		return true
	})
	return yes
}

// startOf returns the value that a node sets the start of a market or of its clock to, if it does.
func startOf(node ast.Node) ast.Expr {
	switch n := node.(type) {
	case *ast.CompositeLit:
		of := ""
		if n.Type != nil {
			of = types.ExprString(n.Type)
		}
		if of = of[strings.LastIndexByte(of, '.')+1:]; of != "" && of != "Config" && of != "Clock" { // in a list, the type may be omitted
			return nil
		}
		for _, element := range n.Elts {
			if pair, ok := element.(*ast.KeyValueExpr); ok && types.ExprString(pair.Key) == "StartMS" {
				return pair.Value
			}
		}
	case *ast.AssignStmt:
		for i, to := range n.Lhs {
			if field, ok := to.(*ast.SelectorExpr); ok && field.Sel.Name == "StartMS" {
				return n.Rhs[min(i, len(n.Rhs)-1)]
			}
		}
	}
	return nil
}

// isTime reports whether an expression may be a time: an arithmetic expression, a variable, or a result of a method or of a function of time.
func isTime(e ast.Expr) bool {
	switch e.(type) {
	case *ast.CompositeLit, *ast.FuncLit, *ast.UnaryExpr:
		return false
	}
	return true
}

// isWall reports whether the wall clock's time is a part of an expression.
func isWall(e ast.Expr, clock string, known map[string]bool) (yes bool) {
	if !isTime(e) {
		return false
	}
	ast.Inspect(e, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.FuncLit:
			return false
		case *ast.SelectorExpr:
			text := types.ExprString(n)
			if yes = yes || text == clock || known[text]; !yes {
				yes = isWall(n.X, clock, known)
			}
			return false // the name of a field is not a variable's
		case *ast.Ident:
			yes = yes || known[n.Name]
		}
		return true
	})
	return yes
}

func TestAWallClockIsFollowed(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]int{
		"sim.New(sim.Config{StartMS: time.Now().UnixMilli()})":                                           1,
		"start := time.Now().UnixMilli(); sim.New(sim.Config{StartMS: start})":                           1,
		"now := time.Now(); var start = now.Add(1).UnixMilli(); sim.New(sim.Config{StartMS: start + 5})": 1,
		"start := int64(1); start = time.Now().UnixMilli(); sim.New(sim.Config{StartMS: start})":         1,
		"c := sim.Config{}; c.StartMS = time.Now().UnixMilli(); sim.New(c)":                              1,
		"w.now = time.Now(); _ = server.Clock{StartMS: w.now.UnixMilli()}":                               1,
		"for _, c := range []sim.Config{{StartMS: time.Now().UnixMilli()}} { sim.New(c) }":               1,
		"at(0, time.Now())":                               1,
		"at(time.Now().UnixMilli(), began)":               1,
		"at(time.Now().UnixMilli(), startclock.Time())":   0,
		"sim.New(sim.Config{StartMS: nowMS()})":           1,
		"sim.New(sim.Config{StartMS: began.UnixMilli()})": 1,
		"sim.New(sim.Config{StartMS: startclock.MS()})":   0,
		"began := startclock.MS(); late := time.Now(); sim.New(sim.Config{StartMS: x.late + 1}); _ = late": 0,
		"_ = exchange.Request{StartMS: time.Now().UnixMilli()}":                                            0,
	} {
		text := "package x\nimport \"time\"\nvar began = time.Now()\nfunc nowMS() int64 { return time.Now().UnixMilli() }\n" +
			"func at(n int64, t time.Time) { start := t.UnixMilli(); sim.New(sim.Config{StartMS: start}) }\nfunc f() { " + code + " }"
		for alias, clock := range map[string]string{"\"time\"": "time.", "clk \"time\"": "clk."} {
			aliased := strings.NewReplacer("\"time\"", alias, "time.", clock).Replace(text)
			tree, err := parser.ParseFile(token.NewFileSet(), "x_test.go", aliased, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			if have := len(wallStarts(map[string]*ast.File{"x_test.go": tree})); have != want {
				t.Errorf("%s\nwant %d findings, have %d", code, want, have)
			}
		}
	}
	for code, want := range map[string]int{
		`exec.Command(binary, "run")`: 1, "exec.Command(binary,\n\"run\")": 1, `exec.Command(binary, "run", "--start", x)`: 0,
	} {
		tree, err := parser.ParseFile(token.NewFileSet(), "x_test.go", fmt.Sprintf("package x\nfunc f() { %s }", code), parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if have := len(wallRuns(tree)); have != want {
			t.Errorf("%s\nwant %d findings, have %d", code, want, have)
		}
	}
}
