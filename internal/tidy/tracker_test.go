package tidy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"testing"
)

// parts are the types that the tracker is made of. Each owns its fields: methods of the tracker call its methods.
var parts = []string{"tracked", "spotWallet", "sentRequests", "refusals", "spotEnded", "peer", "unnamedPeer", "pass"}

// state are the structs of reconcile with no exported field: other packages read them through methods, and change them by records and snapshots.
var state = append([]string{"Tracker", "observedAccount", "derivedSums", "buffers", "configuration",
	"SymbolState", "quotation", "observation", "declarations"}, parts...)

// TestStateHasNoExportedField checks that the tracker and its parts export no field.
func TestStateHasNoExportedField(t *testing.T) {
	t.Parallel()
	found := 0
	for _, file := range sources(t, "reconcile", false) {
		ast.Inspect(file.tree, func(node ast.Node) bool {
			declared, ok := node.(*ast.TypeSpec)
			if !ok || !slices.Contains(state, declared.Name.Name) {
				return true
			}
			found++
			for _, field := range declared.Type.(*ast.StructType).Fields.List {
				for _, name := range field.Names {
					if name.IsExported() {
						t.Errorf("%s:%d %s.%s is exported: want a method that reads it", file.path, file.line(name.Pos()), declared.Name.Name, name.Name)
					}
				}
			}
			return true
		})
	}
	if found != len(state) {
		t.Errorf("want %d structs examined, have %d: this test looks for the wrong type", len(state), found)
	}
}

// TestTrackerIsMadeOfParts checks that no method of reconcile.Tracker uses an unexported field of a part. Fields
// that belong together are in a type of their own, which the tracker embeds; a question about one symbol is a
// method of SymbolState, inputs or observedAccount.
func TestTrackerIsMadeOfParts(t *testing.T) {
	t.Parallel()
	files := sources(t, "reconcile", false)
	owner := map[string]string{} // of a field
	for _, file := range files {
		ast.Inspect(file.tree, func(node ast.Node) bool {
			if declared, ok := node.(*ast.TypeSpec); ok && slices.Contains(parts, declared.Name.Name) {
				for _, field := range declared.Type.(*ast.StructType).Fields.List {
					for _, name := range field.Names {
						owner[name.Name] = declared.Name.Name
					}
				}
			}
			return true
		})
	}
	for _, part := range parts {
		if !slices.Contains(slices.Collect(maps.Values(owner)), part) {
			t.Errorf("reconcile has no type %s with fields: this test looks for the wrong type", part)
		}
	}
	methods := 0
	for _, file := range files {
		for _, declared := range file.tree.Decls {
			method, ok := declared.(*ast.FuncDecl)
			if !ok || method.Recv == nil || receiverOf(method) != "Tracker" {
				continue
			}
			methods++
			for _, used := range fieldsUsed(method, owner) {
				t.Errorf("%s:%d Tracker.%s uses %s, a field of %s: want a method of that type", file.path, file.line(used.Pos()), method.Name.Name,
					used.Sel.Name,
					owner[used.Sel.Name])
			}
		}
	}
	if methods == 0 {
		t.Error("reconcile.Tracker has no methods: this test looks for the wrong type")
	}
}

// receiverOf returns the name of a method's receiver type.
func receiverOf(method *ast.FuncDecl) string {
	of := method.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	return rootOf(of)
}

// fieldsUsed returns where a method selects an unexported field of a part directly from its receiver.
func fieldsUsed(method *ast.FuncDecl, owner map[string]string) (found []*ast.SelectorExpr) {
	receiver := method.Recv.List[0].Names[0].Name
	called := map[ast.Expr]bool{} // a method may have the name of a field
	ast.Inspect(method.Body, func(node ast.Node) bool {
		if call, ok := node.(*ast.CallExpr); ok {
			called[call.Fun] = true
		}
		selected, ok := node.(*ast.SelectorExpr)
		if !ok || called[selected] || selected.Sel.IsExported() || owner[selected.Sel.Name] == "" || slices.Contains(parts, selected.Sel.Name) {
			return true
		}
		switch x := selected.X.(type) {
		case *ast.Ident:
			if x.Name == receiver {
				found = append(found, selected)
			}
		case *ast.SelectorExpr:
			if rootOf(x) == receiver && slices.Contains(parts, x.Sel.Name) {
				found = append(found, selected)
			}
		}
		return true
	})
	return found
}

// guarded are types to which other packages hold pointers, and which they change only through methods.
var guarded = map[string]string{
	"Placement": "botd/reconcile/account", "Strategy": "botd/reconcile/account", "Symbol": "botd/reconcile/account", "Watch": "botd/reconcile/account",
	"SymbolState": "botd/reconcile",
}

// TestStateIsNotOverwritten checks that no package overwrites a whole value of another package through a
// pointer (*p = Placement{}), which unexported fields do not prevent. What is generic is not instantiated with
// such a type: a function func(p *T, v T) could overwrite it. Nor is a type defined by such a type, to which a pointer could be converted.
func TestStateIsNotOverwritten(t *testing.T) {
	t.Parallel()
	set, all := examined(t)
	for _, p := range all {
		for _, pos := range overwritten(p.info, p.path, guarded, p.trees) {
			t.Errorf("%s: this replaces state of another package: want a method or a record", set.Position(pos))
		}
	}
	for _, code := range []string{"*p = T{}", "p, i := p, 0; *p, i = T{}, 1; _ = i", "(*p) = T{}", "*at() = T{}", "q := &p; **q = T{}",
		"for _, *p = range []T{} {\n}", "for *p = range func(func(T) bool) {} {\n}"} {
		if have := overwrites(t, code); have != 1 {
			t.Errorf("%s: want it found, have %d", code, have)
		}
	}
	for _, code := range []string{"set(p, T{})", "set[T](p, T{})", "do := set[T]; do(p, T{})",
		"by(p, T{})", "box[T]{p}.set(T{})", "type own T; *(*own)(p) = own{}"} {
		if have := overwrites(t, code); have == 0 {
			t.Errorf("%s: want it found", code)
		}
	}
	for _, code := range []string{"i := 0; set(&i, 1)", "q := p; set(&q, at())", "v := *p; v = T{}; _ = v", "p = at()", "i := 0; j := &i; *j = 1"} {
		if have := overwrites(t, code); have != 0 {
			t.Errorf("%s: want nothing found, have %d", code, have)
		}
	}
}

// overwrites returns how many such assignments code contains, given a pointer p to a guarded type T.
func overwrites(t *testing.T, code string) int {
	t.Helper()
	set, imports := token.NewFileSet(), &checked{packages: map[string]*types.Package{}}
	for _, source := range []struct{ path, text string }{
		{"home", "package home\ntype T struct{ n int }"},
		{"x", "package x\nimport \"home\"\ntype T = home.T\nfunc at() *T { return nil }\n" +
			"func set[E any](p *E, v E) { *p = v }\nfunc by[P interface{ *E }, E any](p P, v E) { *p = v }\n" +
			"type box[E any] struct { p *E }\nfunc (b box[E]) set(v E) { *b.p = v }\nfunc f(p *T) { " + code + " }"},
	} {
		tree, err := parser.ParseFile(set, source.path+".go", source.text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		trees := []*ast.File{tree}
		if info := imports.check(t, set, source.path, trees); source.path == "x" {
			return len(overwritten(info, source.path, map[string]string{"T": "home"}, trees))
		}
	}
	return 0
}

// overwritten returns where a package assigns to what a pointer to a guarded type of another package points to.
func overwritten(info *types.Info, path string, guarded map[string]string, trees []*ast.File) (found []token.Pos) {
	for _, tree := range trees {
		ast.Inspect(tree, func(node ast.Node) bool {
			var assigned []ast.Expr
			switch n := node.(type) {
			case *ast.TypeSpec:
				if !n.Assign.IsValid() && isGuarded(info.TypeOf(n.Type), path, guarded) {
					found = append(found, n.Pos())
				}
			case *ast.Ident:
				if instance, generic := info.Instances[n]; generic {
					for argument := range instance.TypeArgs.Types() {
						if isGuarded(argument, path, guarded) {
							found = append(found, n.Pos())
						}
					}
				}
			case *ast.AssignStmt:
				assigned = n.Lhs
			case *ast.RangeStmt:
				assigned = []ast.Expr{n.Key, n.Value}
			}
			for _, to := range assigned {
				if _, whole := ast.Unparen(to).(*ast.StarExpr); whole && isGuarded(info.TypeOf(to), path, guarded) {
					found = append(found, to.Pos())
				}
			}
			return true
		})
	}
	return found
}

// isGuarded reports whether a type is a guarded one of a package other than the given one.
func isGuarded(of types.Type, path string, guarded map[string]string) bool {
	named, ok := types.Unalias(of).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return false
	}
	home := named.Obj().Pkg().Path()
	return path != home && guarded[named.Obj().Name()] == home
}
