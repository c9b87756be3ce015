package tidy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
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
			if method.Recv != nil && method.Name.IsExported() && method.Name.Name != "Apply" && w.frozen[receiverOf(method)] {
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
		"clear(s.byName)": true, "clear(s.all)": true, "copy(s.all[1:], s.all)": true, "slices.Reverse(s.all)": true, "slices.Reverse(s.all[1:])": true,
		"slices.SortFunc(s.all, nil)": true, "slices.SortFunc[[]*part](s.all, nil)": true, "own := s.all; slices.Reverse(own)": true,
		"own := s.all[1:]; slices.Reverse(own)": true, "maps.Copy(s.byName, nil)": true, "_ = append(s.all[:0], nil)": true, "shift(s.all)": true,
		"touch(&s.part)": true, "touch(s.all[0])": true, "p := s.all[0]; touch(p)": true, "through(s.all)": true, "other.Copy(s.byName, nil)": true,
		"for _, p := range s.all { touch(p) }":            true,
		"own := slices.Clone(s.all); slices.Reverse(own)": false, "var own []int; slices.Reverse(own)": false, "_ = append(s.all, nil)": false,
		"shift(slices.Clone(s.all))": false, "copy(make([]*part, 1), s.all)": false, "own := part{}; touch(&own)": false, "_ = count(s.all)": false,
		"own := *s; own.byName = nil": false, "own := slices.Clone(s.all); own[0] = nil": false, "_ = s.part.get()": false, "own := part{}; own.set()": false,
		"s.unrecorded.list = nil": false, "n := s.part.n; n++; _ = n": false,
	} {
		set, imports := token.NewFileSet(), &checked{packages: map[string]*types.Package{}}
		for _, source := range []struct{ path, text string }{
			{"slices", "package slices\nfunc Clone[S ~[]E, E any](s S) S { return s }\nfunc Reverse[S ~[]E, E any](s S) {}\n" +
				"func SortFunc[S ~[]E, E any](s S, by func(a, b E) int) {}"},
			{"maps", "package maps\nfunc Copy[M ~map[K]V, K comparable, V any](to, from M) {}"},
			{"x", "package x\nimport (\"slices\"; \"maps\"; other \"maps\")\nvar _ = slices.Clone[[]int]\nvar _ = maps.Copy[map[int]int]\n" +
				"var _ = other.Copy[map[int]int]\nfunc shift(l []*part) { l[0] = nil }\nfunc touch(p *part) { p.n++ }\n" +
				"func through(l []*part) { shift(l) }\nfunc count(l []*part) int { l = nil; return len(l) }\n" +
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
				} else if part := rootOf(field.Type); !slices.Contains(state, part) {
					t.Errorf("%s:%d: %s is neither in parts nor in state: its fields may be exported, and methods of the tracker use them", file.path,
						file.line(field.Pos()), part)
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
		if method.Recv != nil && receiverOf(method) == of && method.Name.Name == name {
			return true
		}
	}
	return false
}

// writersOf finds the methods that change memory that their receiver, or a pointer in it, points to, the functions
// that change memory that an argument points to, and the methods and functions that call one of these on it.
func writersOf(info *types.Info, trees []*ast.File) *writers {
	w := &writers{found: map[*ast.FuncDecl]bool{}, frozen: map[string]bool{"State": true}}
	declared := map[types.Object]*ast.FuncDecl{}
	for _, tree := range trees {
		for _, d := range tree.Decls {
			if method, ok := d.(*ast.FuncDecl); ok {
				declared[info.Defs[method.Name]] = method
				if method.Recv != nil {
					w.methods++
				}
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
			if !w.found[method] && (method.Recv == nil || w.frozen[receiverOf(method)]) && w.changes(info, method, declared) {
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
	copies, aliases := map[string]bool{}, parametersOf(method)
	passes := func(e ast.Expr) bool { // memory that outlives the method
		address, ok := ast.Unparen(e).(*ast.UnaryExpr)
		if ok && address.Op == token.AND {
			return isShared(info, address.X)
		}
		if local, ok := unsliced(e).(*ast.Ident); ok {
			return aliases[local.Name]
		}
		return isShared(info, unsliced(e))
	}
	ast.Inspect(method.Body, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				yes = yes || isShared(info, to) && !copies[rootOf(to)]
				if local, ok := to.(*ast.Ident); ok {
					from := n.Rhs[min(i, len(n.Rhs)-1)]
					copies[local.Name], aliases[local.Name] = isClone(from), passes(from)
				}
			}
		case *ast.RangeStmt:
			if element, ok := n.Value.(*ast.Ident); ok {
				aliases[element.Name] = passes(n.X)
			}
		case *ast.IncDecStmt:
			yes = yes || isShared(info, n.X)
		case *ast.CallExpr:
			if changed := changedBy(n, func(name *ast.Ident) string { return importedAs(info, name) }); changed != nil {
				yes = yes || passes(changed)
			}
			switch called := n.Fun.(type) {
			case *ast.SelectorExpr:
				yes = yes || w.found[declared[info.Uses[called.Sel]]] && isShared(info, called)
			case *ast.Ident:
				yes = yes || w.found[declared[info.Uses[called]]] && slices.ContainsFunc(n.Args, passes)
			}
		}
		return true
	})
	return yes
}

// importedAs returns the path of the package that a name stands for, or an empty string.
func importedAs(info *types.Info, name *ast.Ident) string {
	if of, ok := info.Uses[name].(*types.PkgName); ok {
		return of.Imported().Path()
	}
	return ""
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
