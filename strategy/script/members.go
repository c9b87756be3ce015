package script

import (
	"fmt"
	"maps"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"botd/strategy"
	"botd/strategy/indicator"
)

// checkMembers finds members that do not exist, on every branch of a script, before it runs: those
// of view, state and math, and names that nothing in a script has.
func checkMembers(file *syntax.File) (err error) {
	of := map[string][]string{"view": (*view)(nil).AttrNames(), "state": (*state)(nil).AttrNames(), "math": mathNames()}
	own, all := assigned(file), allMembers(of)
	elements(file, of)
	syntax.Walk(file, func(n syntax.Node) bool {
		dot, is := n.(*syntax.DotExpr)
		if !is || err != nil {
			return err == nil
		}
		name, known, what := dot.Name.Name, all, "nothing in a script has a ."
		if x, is := dot.X.(*syntax.Ident); is && of[x.Name] != nil && !own[x.Name] {
			known, what = of[x.Name], x.Name+" has no ."
		}
		if !slices.Contains(known, name) {
			at := dot.Dot
			err = &strategy.SourceError{File: at.Filename(), Line: int(at.Line), Column: int(at.Col), Err: fmt.Errorf("%s%s field or method", what, name),
				Unknown: name, Known: known, Member: true}
		}
		return true
	})
	return err
}

// assigned are the names that a script gives values of its own. A parameter named view is the view.
func assigned(file *syntax.File) map[string]bool {
	names := map[string]bool{}
	syntax.Walk(file, func(n syntax.Node) bool {
		if assign, is := n.(*syntax.AssignStmt); is {
			if name, is := assign.LHS.(*syntax.Ident); is {
				names[name.Name] = true
			}
		}
		return true
	})
	return names
}

// Members of the elements of view.events and view.working.
var (
	eventMembers = []string{"at_ms", "key", "kind", "price", "quantity", "reduces", "rule", "side", "why"}
	orderMembers = []string{"filled", "key", "price", "quantity", "side", "stop_price", "type"}
)

// elements adds the members of the names that stand for events and orders in loops.
func elements(file *syntax.File, of map[string][]string) {
	add := func(name, list syntax.Expr) {
		variable, named := name.(*syntax.Ident)
		dot, is := list.(*syntax.DotExpr)
		if !named || !is {
			return
		}
		if x, is := dot.X.(*syntax.Ident); !is || x.Name != "view" {
			return
		}
		switch dot.Name.Name {
		case "events":
			of[variable.Name] = append(of[variable.Name], eventMembers...)
		case "working":
			of[variable.Name] = append(of[variable.Name], orderMembers...)
		}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch loop := n.(type) {
		case *syntax.ForStmt:
			add(loop.Vars, loop.X)
		case *syntax.ForClause:
			add(loop.Vars, loop.X)
		}
		return true
	})
}

func mathNames() []string {
	module, is := shared["math"].(starlark.HasAttrs)
	if !is {
		return nil
	}
	return module.AttrNames()
}

// allMembers are the members of all that a script can hold.
func allMembers(of map[string][]string) []string {
	names := map[string]bool{}
	add := func(all []string) {
		for _, name := range all {
			names[name] = true
		}
	}
	for _, members := range of {
		add(members)
	}
	for _, value := range []starlark.HasAttrs{starlark.NewDict(0), starlark.NewList(nil), starlark.String(""), starlark.NewSet(0), starlark.Bytes("")} {
		add(value.AttrNames())
	}
	for _, definition := range indicator.All() {
		add(definition.Outputs)
	}
	for _, source := range priceSources { // of candles(...)
		names[source.name] = true
	}
	add(eventMembers)
	add(orderMembers)
	return slices.Sorted(maps.Keys(names))
}
