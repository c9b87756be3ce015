package tidy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// TestStateGivesOutNoListOfItsOwn checks that no exported method of the account's state returns one of its
// slices or maps, a struct that exposes one, or a pointer to an element of one: a caller could change the
// state without a record. Such a method returns an iterator or a copy instead.
func TestStateGivesOutNoListOfItsOwn(t *testing.T) {
	t.Parallel()
	set, all := examined(t)
	methods := 0
	for _, p := range all {
		of, ok := map[string]string{"botd/reconcile": "", "botd/reconcile/account": "", "botd/reconcile/ledger": "", "botd/strategy": "Memory"}[p.path]
		if !ok {
			continue
		}
		found, examined := givenOut(p.info, p.trees, of)
		methods += examined
		for _, pos := range found {
			t.Errorf("%s: this gives out a list of the state: want an iterator or a copy", set.Position(pos))
		}
	}
	if methods < 100 {
		t.Errorf("want the methods of the account's state examined, have %d", methods)
	}
	for _, code := range []string{"return s.list", "return s.list[:1]", "return s.deep.list", "return slices.Clip(s.list)", "return s.byName[0]"} {
		if have := given(t, "[]int", code); have != 1 {
			t.Errorf("%s: want it found, have %d", code, have)
		}
	}
	if have := given(t, "*int", "return &s.list[0]"); have != 1 {
		t.Errorf("want a pointer into a list found, have %d", have)
	}
	for result, want := range map[string]int{"Shown": 1, "Hidden": 0} {
		if have := given(t, result, "return s."+strings.ToLower(result)); have != want {
			t.Errorf("%s: want %d structs with a list found, have %d", result, want, have)
		}
	}
	for _, code := range []string{"return slices.Clone(s.list)", "own := []int{1}; return own", "f := func() []int { return s.list }; f(); return nil",
		"own := S{}; return own.list"} {
		if have := given(t, "[]int", code); have != 0 {
			t.Errorf("%s: want nothing found, have %d", code, have)
		}
	}
}

// given returns the number of such returns in a method with this body.
func given(t *testing.T, result, body string) int {
	t.Helper()
	set, imports := token.NewFileSet(), &checked{packages: map[string]*types.Package{}}
	var found []token.Pos
	for _, source := range []struct{ path, text string }{
		{"slices", "package slices\nfunc Clip(s []int) []int { return s }\nfunc Clone(s []int) []int { return s }"},
		{"x", "package x\nimport \"slices\"\ntype Shown struct { Of struct { List []int } }\ntype Hidden struct { list []int; Any int }\n" +
			"type S struct { list []int; byName [][]int; deep struct { list []int }; shown Shown; hidden Hidden }\nfunc (s *S) List() " + result +
			" { " + body + " }\nvar _ = slices.Clip"},
	} {
		tree, err := parser.ParseFile(set, source.path+".go", source.text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		trees := []*ast.File{tree}
		if info := imports.check(t, set, source.path, trees); source.path == "x" {
			found, _ = givenOut(info, trees, "")
		}
	}
	return len(found)
}

// givenOut returns the places where an exported method of one type, or of all types, returns a list that its
// receiver has, and the number of exported methods.
func givenOut(info *types.Info, trees []*ast.File, of string) (found []token.Pos, examined int) {
	for _, tree := range trees {
		for _, declared := range tree.Decls {
			method, ok := declared.(*ast.FuncDecl)
			if !ok || method.Recv == nil || !method.Name.IsExported() || of != "" && of != receiverOf(method) {
				continue
			}
			examined++
			given := parametersOf(method)
			ast.Inspect(method.Body, func(node ast.Node) bool {
				if _, inner := node.(*ast.FuncLit); inner {
					return false
				}
				if returned, ok := node.(*ast.ReturnStmt); ok {
					for _, result := range returned.Results {
						if isOwnList(info, result) && given[rootOf(listIn(result))] {
							found = append(found, result.Pos())
						}
					}
				}
				return true
			})
		}
	}
	return found, examined
}

// parametersOf returns the names of a method's or a function's receiver and parameters.
func parametersOf(method *ast.FuncDecl) map[string]bool {
	names := map[string]bool{}
	for _, list := range []*ast.FieldList{method.Recv, method.Type.Params} {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			for _, name := range field.Names {
				names[name.Name] = true
			}
		}
	}
	return names
}

// listIn returns the list in a returned expression, without what surrounds it.
func listIn(e ast.Expr) ast.Expr {
	for {
		switch x := e.(type) {
		case *ast.CallExpr:
			e = x.Args[0]
		case *ast.UnaryExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return e
		}
	}
}

// isOwnList reports whether an expression is a slice or map of a struct, or a pointer to an element of one.
func isOwnList(info *types.Info, e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		if of, ok := x.Fun.(*ast.SelectorExpr); ok && rootOf(of) == "slices" && of.Sel.Name == "Clip" {
			return isOwnList(info, x.Args[0])
		}
	case *ast.UnaryExpr:
		element, ok := x.X.(*ast.IndexExpr)
		return ok && x.Op == token.AND && isOwnList(info, element.X)
	case *ast.SliceExpr:
		return isOwnList(info, x.X)
	case *ast.SelectorExpr, *ast.IndexExpr:
		return showsList(info.TypeOf(e))
	}
	return false
}

// showsList reports whether a type is a slice or map, or a struct with an exported field that shows one.
func showsList(of types.Type) bool {
	switch x := of.Underlying().(type) {
	case *types.Slice, *types.Map:
		return true
	case *types.Struct:
		for field := range x.Fields() {
			if field.Exported() && showsList(field.Type()) {
				return true
			}
		}
	}
	return false
}
