package script

import (
	"fmt"
	"maps"
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"botd/strategy/indicator"
)

// checked finds errors on every branch of a file before it runs: unknown names and members, string
// conversions, and calls.
func checked(file *syntax.File) error {
	if err := resolve.File(file, isPredeclared, starlark.Universe.Has); err != nil {
		return located(err)
	}
	k := kindsOf(file)
	if err := k.checkMembers(file); err != nil {
		return err
	}
	if err := checkTexts(file); err != nil {
		return err
	}
	return k.checkCalls(file)
}

// checkMembers finds unknown members: of names whose kind is known, and members that no value in a
// script has.
func (k kinds) checkMembers(file *syntax.File) (err error) {
	all := allMembers()
	syntax.Walk(file, func(n syntax.Node) bool {
		dot, is := n.(*syntax.DotExpr)
		if !is || err != nil {
			return err == nil
		}
		kind := k.of(dot.X)
		known, is := membersOf(kind)
		what := "no value in a script has a"
		switch x, named := dot.X.(*syntax.Ident); {
		case !is:
			known = all
		case named && (x.Name == kind || kind == kindEvent || kind == kindOrder):
			what = x.Name + " has no"
		case kind == kindCandles:
			what = kind + " has no"
		case named && builtin(dot.X) == "":
			what = x.Name + " is a " + kind + ", which has no"
		default:
			what = "a " + kind + " has no"
		}
		if name := dot.Name.Name; !slices.Contains(known, name) {
			at := sourceError(dot.Dot, fmt.Errorf("%s .%s field or method", what, name))
			if definition, is := indicator.Find(kind); is {
				at.Err = noOutput(definition, name)
			}
			at.Unknown, at.Known, at.Member = name, known, true
			err = at
		}
		return true
	})
	return err
}

// Members of the elements of view.events and view.working.
var (
	eventMembers = []string{"at_ms", "key", "kind", "price", "quantity", "reduces", "rule", "side", "why"}
	orderMembers = []string{"filled", "key", "price", "quantity", "side", "stop_price", "type"}
)

func mathNames() []string {
	module, is := shared["math"].(starlark.HasAttrs)
	if !is {
		return nil
	}
	return module.AttrNames()
}

// allMembers returns the members of all values that a script can hold.
func allMembers() []string {
	names := map[string]bool{}
	add := func(all []string) {
		for _, name := range all {
			names[name] = true
		}
	}
	for _, kind := range []string{kindView, "state", "math", kindEvent, kindOrder, kindCandles, "dict", "list", "string", "set", "bytes"} {
		members, _ := membersOf(kind)
		add(members)
	}
	for _, definition := range indicator.All() {
		add(definition.Outputs)
	}
	return slices.Sorted(maps.Keys(names))
}
