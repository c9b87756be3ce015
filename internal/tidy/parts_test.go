package tidy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// maxPointers bounds the pointers that the parts of the engine hold to each other; those to the state that all of them
// share (base, or only its outbox) are not counted. It may shrink, but not grow: a part gets the values that it needs,
// and returns what others need.
const maxPointers = 55

// TestPartsOfTheEngineFormNoCycle checks that no part of runtime/engine points back to a part that uses it. Its parts
// are the types to which Engine holds a pointer.
func TestPartsOfTheEngineFormNoCycle(t *testing.T) {
	t.Parallel()
	var trees []*ast.File
	for _, file := range sources(t, "runtime/engine", false) {
		trees = append(trees, file.tree)
	}
	pointers, cycle := partsFrom("Engine", trees)
	if cycle != nil {
		t.Errorf("runtime/engine: %s: pass values, or return what the other part needs", strings.Join(cycle, " -> "))
	}
	shared, held := []string{"base", "outbox"}, 0
	for _, part := range pointers["Engine"] {
		if !slices.Contains(shared, part) {
			held += len(slices.DeleteFunc(slices.Clone(pointers[part]), func(to string) bool { return slices.Contains(shared, to) }))
		}
	}
	if held > maxPointers || held == 0 {
		t.Errorf("runtime/engine: want its parts to hold at most %d pointers to each other, have %d: %v", maxPointers, held, pointers)
	}
}

// partsFrom returns the struct types that are reached from a struct type through fields, each with the types to which
// it holds a pointer, and the first cycle among them. A function, an interface or a list that mentions a part, which is a type to which
// the root holds a pointer, or the root, gives access to it as a pointer does.
func partsFrom(root string, trees []*ast.File) (pointers map[string][]string, cycle []string) {
	fields, others := map[string]*ast.FieldList{}, map[string]ast.Expr{}
	for _, tree := range trees {
		ast.Inspect(tree, func(node ast.Node) bool {
			if declared, ok := node.(*ast.TypeSpec); ok {
				if of, ok := declared.Type.(*ast.StructType); ok {
					fields[declared.Name.Name] = of.Fields
				} else {
					others[declared.Name.Name] = declared.Type
				}
			}
			return true
		})
	}
	parts := map[string]bool{root: true}
	for _, field := range fields[root].List {
		if pointed, points := field.Type.(*ast.StarExpr); points {
			if name, plain := pointed.X.(*ast.Ident); plain {
				parts[name.Name] = true
			}
		}
	}
	pointers = map[string][]string{}
	var path []string
	var visit func(part string)
	visit = func(part string) {
		if at := slices.Index(path, part); at >= 0 {
			if cycle == nil {
				cycle = append(slices.Clone(path[at:]), part)
			}
			return
		}
		if _, seen := pointers[part]; seen || fields[part] == nil {
			return
		}
		pointers[part] = nil
		path = append(path, part)
		for _, field := range fields[part].List {
			pointed, points := field.Type.(*ast.StarExpr)
			to := field.Type
			if points {
				to = pointed.X
			}
			if name, plain := to.(*ast.Ident); plain && fields[name.Name] != nil {
				visit(name.Name)
				for range max(1, len(field.Names)) {
					if points {
						pointers[part] = append(pointers[part], name.Name)
					}
				}
				continue
			}
			for _, name := range mentioned(to, others, nil) {
				if parts[name] {
					visit(name)
					pointers[part] = append(pointers[part], name)
				}
			}
		}
		path = path[:len(path)-1]
	}
	visit(root)
	return pointers, cycle
}

// mentioned returns the names in the expression of a type, and in the definitions of those that are no structs.
func mentioned(of ast.Expr, others map[string]ast.Expr, within []string) (names []string) {
	ast.Inspect(of, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.Field: // of a method or a parameter: not its name
			names = append(names, mentioned(n.Type, others, within)...)
			return false
		case *ast.SelectorExpr: // of another package
			return false
		case *ast.Ident:
			if definition := others[n.Name]; definition != nil && !slices.Contains(within, n.Name) {
				names = append(names, mentioned(definition, others, append(slices.Clone(within), n.Name))...)
			} else {
				names = append(names, n.Name)
			}
		}
		return true
	})
	return names
}

func TestACycleOfPartsIsFound(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"type Engine struct { *one; two *two }; type one struct { two *two }; type two struct{}":                                       "",
		"type Engine struct { *one }; type one struct { two, other *two }; type two struct { *three }; type three struct { one *one }": "one two three one",
		"type Engine struct { *one }; type one struct { whole func() *Engine }":                                                        "Engine one Engine",
		"type Engine struct { *one }; type one struct { whole interface { whole(n int) *Engine } }":                                    "Engine one Engine",
		"type Engine struct { *one }; type one struct { whole whole }; type whole func(map[int][]*Engine)":                             "Engine one Engine",
		"type Engine struct { *one }; type one struct { whole []*Engine }":                                                             "Engine one Engine",
		"type Engine struct { *one }; type one struct { all[Engine] }; type all[T any] struct { all []*T }":                            "Engine one Engine",
		"type Engine struct { *one; *two }; type one struct { two func() two }; type two struct { n func(x) }":                         "",
		"type Engine struct { *one }; type one struct { other func(engine other.Engine) }":                                             "",
		"type Engine struct { *one }; type one struct { f func(x) }; type x struct { one *one }":                                       "",
		"type Engine struct { one one }; type one struct { two }; type two struct { of *one }":                                         "one two one",
	} {
		tree, err := parser.ParseFile(token.NewFileSet(), "", "package engine; "+code, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, cycle := partsFrom("Engine", []*ast.File{tree}); strings.Join(cycle, " ") != want {
			t.Errorf("%s: want the cycle %q, have %q", code, want, cycle)
		}
	}
}
