package tidy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"testing"
)

// TestOnlyRecordsChangeTheState checks that Apply is the only exported method of package account that changes
// the content of a checkpoint: recorded, and every type that it reaches. Symbols and strategies that no
// record names are in a separate part, unrecorded.
func TestOnlyRecordsChangeTheState(t *testing.T) {
	t.Parallel()
	set, all := examined(t)
	for _, p := range all {
		if p.path != "botd/reconcile/account" {
			continue
		}
		w := writersOf(p.info, p.trees)
		if !w.writes("State", "Apply") || w.methods < 100 {
			t.Errorf("want Apply found among the methods of the state, have %d methods and %v", w.methods, w.found)
		}
		for method := range w.found {
			if method.Name.IsExported() && method.Name.Name != "Apply" && w.frozen[receiverOf(method)] {
				t.Errorf("%s: %s.%s changes the journalled state: only Apply may", set.Position(method.Pos()), receiverOf(method), method.Name.Name)
			}
		}
	}
}

// TestWritersAreFound tests the analysis with methods of each form.
func TestWritersAreFound(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		"s.byName = nil": true, "s.part.n++": true, "s.all[0].n = 1": true, "s.deep()": true, "delete(s.byName, 1)": true, "p := s.all[0]; p.set()": true,
		"p := s.all[0]; p.n = 1": true, "s.part.set()": true,
		"own := s.all; own[0] = nil": true, "s.all = slices.Clone(s.all); s.all[0] = nil": true,
		"own := *s; own.byName = nil": false, "own := slices.Clone(s.all); own[0] = nil": false, "_ = s.part.get()": false, "own := part{}; own.set()": false,
		"s.unrecorded.list = nil": false, "n := s.part.n; n++; _ = n": false,
	} {
		set, imports := token.NewFileSet(), &checked{packages: map[string]*types.Package{}}
		for _, source := range []struct{ path, text string }{
			{"slices", "package slices\nfunc Clone[S ~[]E, E any](s S) S { return s }"},
			{"x", "package x\nimport \"slices\"\nvar _ = slices.Clone[[]int]\n" +
				"type part struct { n int }\nfunc (p *part) set() { p.n = 1 }\nfunc (p *part) get() int { return p.n }\n" +
				"type recorded struct { part part; all []*part; byName map[int]int }\ntype unrecorded struct { list []int }\n" +
				"type State struct { recorded; unrecorded }\nfunc (s *State) deep() { s.byName = nil }\nfunc (s *State) Try() { " + body + " }"},
		} {
			tree, err := parser.ParseFile(set, source.path+".go", source.text, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			trees := []*ast.File{tree}
			w := writersOf(imports.check(t, set, source.path, trees), trees)
			if source.path == "x" && (w.writes("State", "Try") != want || !w.frozen["part"] || w.frozen["unrecorded"]) {
				t.Errorf("%s: want %t, have %t; frozen %v", body, want, !want, w.frozen)
			}
		}
	}
}

// TestEveryFieldOfTheTrackerBelongsToAPart checks that the tracker consists of parts whose types show the kind of
// their fields: journalled, observed, or sent.
func TestEveryFieldOfTheTrackerBelongsToAPart(t *testing.T) {
	t.Parallel()
	found := 0
	for _, file := range sources(t, "reconcile", false) {
		ast.Inspect(file.tree, func(node ast.Node) bool {
			of, ok := node.(*ast.TypeSpec)
			if !ok || of.Name.Name != "Tracker" {
				return true
			}
			for _, field := range of.Type.(*ast.StructType).Fields.List {
				if found++; len(field.Names) > 0 {
					t.Errorf("%s:%d: the field %s belongs to no part of the tracker", file.path, file.line(field.Pos()), field.Names[0].Name)
				}
			}
			return false
		})
	}
	if found < 5 {
		t.Errorf("want the parts of the tracker, have %d", found)
	}
}

// writers are the methods of a package that change what a checkpoint holds.
type writers struct {
	found   map[*ast.FuncDecl]bool
	frozen  map[string]bool // the package's types that recorded reaches, and State
	methods int
}

func (w *writers) writes(of, name string) bool {
	for method := range w.found {
		if receiverOf(method) == of && method.Name.Name == name {
			return true
		}
	}
	return false
}

// writersOf finds the methods that assign to memory that their receiver, or a pointer in it, points to, and
// the methods that call one of these on it.
func writersOf(info *types.Info, trees []*ast.File) *writers {
	w := &writers{found: map[*ast.FuncDecl]bool{}, frozen: map[string]bool{"State": true}}
	declared := map[types.Object]*ast.FuncDecl{}
	for _, tree := range trees {
		for _, d := range tree.Decls {
			if method, ok := d.(*ast.FuncDecl); ok && method.Recv != nil {
				declared[info.Defs[method.Name]] = method
				w.methods++
			}
			if d, ok := d.(*ast.GenDecl); ok {
				for _, spec := range d.Specs {
					if of, ok := spec.(*ast.TypeSpec); ok && of.Name.Name == "recorded" {
						w.reach(info.Defs[of.Name].Type(), info.Defs[of.Name].Pkg())
					}
				}
			}
		}
	}
	for grown := true; grown; {
		grown = false
		for _, method := range declared {
			if !w.found[method] && w.frozen[receiverOf(method)] && w.changes(info, method, declared) {
				w.found[method], grown = true, true
			}
		}
	}
	return w
}

// reach collects the package's types that a type reaches.
func (w *writers) reach(of types.Type, in *types.Package) {
	switch x := of.(type) {
	case *types.Named:
		if x.Obj().Pkg() == in {
			if w.frozen[x.Obj().Name()] {
				return
			}
			w.frozen[x.Obj().Name()] = true
			w.reach(x.Underlying(), in)
		}
	case *types.Struct:
		for field := range x.Fields() {
			w.reach(field.Type(), in)
		}
	case *types.Pointer:
		w.reach(x.Elem(), in)
	case *types.Slice:
		w.reach(x.Elem(), in)
	case *types.Map:
		w.reach(x.Elem(), in)
	}
}

// changes reports whether a method changes the state, as far as the writers are known.
func (w *writers) changes(info *types.Info, method *ast.FuncDecl, declared map[types.Object]*ast.FuncDecl) (yes bool) {
	copies := map[string]bool{}
	ast.Inspect(method.Body, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				yes = yes || isShared(info, to) && !copies[rootOf(to)]
				if local, ok := to.(*ast.Ident); ok {
					copies[local.Name] = isClone(n.Rhs[min(i, len(n.Rhs)-1)])
				}
			}
		case *ast.IncDecStmt:
			yes = yes || isShared(info, n.X)
		case *ast.CallExpr:
			switch called := n.Fun.(type) {
			case *ast.SelectorExpr:
				yes = yes || w.found[declared[info.Uses[called.Sel]]] && isShared(info, called)
			case *ast.Ident:
				yes = yes || called.Name == "delete" && isShared(info, n.Args[0])
			}
		}
		return true
	})
	return yes
}

// isShared reports whether an expression selects memory behind a pointer, slice or map, so that a change of
// it outlives the method. The part unrecorded does not belong to the journal.
func isShared(info *types.Info, e ast.Expr) bool {
	shared := false
	for {
		switch x := e.(type) {
		case *ast.SelectorExpr:
			if x.Sel.Name == "unrecorded" {
				return false
			}
			shared, e = shared || isPointer(info, x.X), x.X
		case *ast.IndexExpr:
			shared, e = true, x.X
		case *ast.StarExpr:
			shared, e = true, x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return shared
		}
	}
}

// isClone reports whether an expression makes a copy of a list.
func isClone(e ast.Expr) bool {
	made, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	of, ok := made.Fun.(*ast.SelectorExpr)
	return ok && rootOf(of) == "slices" && of.Sel.Name == "Clone"
}

func isPointer(info *types.Info, e ast.Expr) bool {
	of := info.TypeOf(e)
	if of == nil {
		return false
	}
	_, pointer := of.Underlying().(*types.Pointer)
	return pointer
}
