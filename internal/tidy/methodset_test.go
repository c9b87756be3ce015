package tidy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// maxMethodSet bounds the methods of a type together with those that it has from embedded types.
const maxMethodSet = 100

// largerSets are the types with larger method sets, each with its own bound: it may shrink, but not grow.
var largerSets = map[string]int{
	"reconcile.Tracker": 275, "reconcile.SymbolState": 125, "reconcile.marginUse": 120, "reconcile.tracked": 120, "reconcile.unclaimedRows": 125,
	"runtime/daemon.outageEngine": 110, "runtime/engine.Engine": 110,
}

// TestMethodSetsAreSmall counts the methods that each type has, including those of the types that it embeds: a
// type in parts is as hard to know as one with all the methods of its own.
func TestMethodSetsAreSmall(t *testing.T) {
	t.Parallel()
	_, all := examined(t)
	counted := map[string]int{}
	for i := range all {
		for name, count := range methodSets(all[i].info) {
			counted[strings.TrimPrefix(all[i].path, "botd/")+"."+name] = count
		}
	}
	for name, count := range counted {
		if most := max(maxMethodSet, largerSets[name]); count > most {
			t.Errorf("%s has %d methods with those of its parts, want at most %d", name, count, most)
		}
	}
	for name := range largerSets {
		if counted[name] <= maxMethodSet {
			t.Errorf("%s has %d methods with those of its parts and needs no bound of its own", name, counted[name])
		}
	}
}

// methodSets returns the size of the method set of a pointer to each struct type of a package.
func methodSets(info *types.Info) map[string]int {
	sizes := map[string]int{}
	for _, object := range info.Defs {
		of, ok := object.(*types.TypeName)
		if !ok || of.IsAlias() {
			continue
		}
		if _, ok := of.Type().Underlying().(*types.Struct); ok {
			sizes[of.Name()] = max(sizes[of.Name()], types.NewMethodSet(types.NewPointer(of.Type())).Len())
		}
	}
	return sizes
}

func TestPromotedMethodsAreCounted(t *testing.T) {
	t.Parallel()
	set, imports := token.NewFileSet(), &checked{packages: map[string]*types.Package{}}
	tree, err := parser.ParseFile(set, "x.go", "package x\ntype part struct{}\nfunc (part) a() {}\nfunc (*part) b() {}\n"+
		"type Tracker struct { part; *other }\nfunc (Tracker) c() {}\ntype other struct{}\nfunc (*other) d() {}\ntype holds struct { part part }", 0)
	if err != nil {
		t.Fatal(err)
	}
	have := methodSets(imports.check(t, set, "x", []*ast.File{tree}))
	for name, want := range map[string]int{"part": 2, "other": 1, "Tracker": 4, "holds": 0} {
		if have[name] != want {
			t.Errorf("%s: want %d methods, have %d", name, want, have[name])
		}
	}
}
