package script

import (
	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"botd/strategy/indicator"
)

// kinds maps names to the kind of value they hold, or "" if their text does not show it. It needs a
// file with resolved names.
type kinds map[*syntax.Ident]string // by the first use of a name

// Kinds in addition to Starlark's own types and the names of indicators with several outputs.
const (
	kindView    = "view"
	kindEvent   = "event"
	kindOrder   = "working order"
	kindCandles = "candles"
	kindSeries  = "series"
	kindNumber  = "number"
)

// viewKinds are the kinds of the view's attributes; all others are numbers.
var viewKinds = map[string]string{"symbol": "string", "market": "string", "interval": "string", "events": "list", "working": "list",
	"bids": "tuple", "asks": "tuple", "memory": "dict", "filled": "function"}

// returned maps functions to the kinds of their results.
var returned = map[string]string{"bool": "bool", "candles": kindCandles, "dict": "dict", "enumerate": "list", "float": kindNumber, "int": kindNumber,
	"len": kindNumber, "list": "list", "repr": "string", "reversed": "list", "round": kindNumber, "set": "set", "sorted": "list", "str": "string",
	"tuple": "tuple", "type": "string", "zip": "list"}

// builtin returns the name in an expression if the script does not define it itself.
func builtin(expression syntax.Expr) string {
	name, is := expression.(*syntax.Ident)
	if !is {
		return ""
	}
	if b, is := name.Binding.(*resolve.Binding); is && (b.Scope == resolve.Predeclared || b.Scope == resolve.Universal) {
		return name.Name
	}
	return ""
}

// firstUse returns a name's first use, which represents all of them.
func firstUse(name *syntax.Ident) *syntax.Ident {
	if b, is := name.Binding.(*resolve.Binding); is {
		return b.First
	}
	return nil
}

// kindsOf finds the kinds of the names in a file.
func kindsOf(file *syntax.File) kinds {
	k := kinds{}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch s := n.(type) {
		case *syntax.AssignStmt:
			if s.Op == syntax.EQ { // other assignment operators keep the kind
				k.bind(s.LHS, k.of(s.RHS))
			}
		case *syntax.ForStmt:
			k.bind(s.Vars, element(s.X))
		case *syntax.ForClause:
			k.bind(s.Vars, element(s.X))
		case *syntax.DefStmt:
			k.bind(s.Name, "function")
			k.parameters(s.Params, s.Name.Name == "decide" || s.Name.Name == "candle")
		case *syntax.LambdaExpr:
			k.parameters(s.Params, false)
		case *syntax.LoadStmt:
			for _, name := range s.To {
				k.bind(name, "")
			}
		}
		return true
	})
	return k
}

// bind records the kind of a value assigned to a name. A name with values of several kinds has no
// kind.
func (k kinds) bind(to syntax.Expr, kind string) {
	switch to := to.(type) {
	case *syntax.Ident:
		if before, is := k[firstUse(to)]; is && before != kind {
			kind = ""
		}
		k[firstUse(to)] = kind
	case *syntax.ParenExpr:
		k.bind(to.X, kind)
	case *syntax.TupleExpr:
		for _, x := range to.List {
			k.bind(x, "")
		}
	case *syntax.ListExpr:
		for _, x := range to.List {
			k.bind(x, "")
		}
	}
}

// parameters binds the parameters of a function. A parameter named view is the view, as is the one
// with which botd calls decide and candle.
func (k kinds) parameters(all []syntax.Expr, called bool) {
	for _, p := range all {
		switch p := p.(type) {
		case *syntax.Ident:
			kind := ""
			if called || p.Name == "view" {
				kind = kindView
			}
			k.bind(p, kind)
		case *syntax.BinaryExpr: // with a default
			k.bind(p.X, "")
		case *syntax.UnaryExpr: // *args, **named
			if p.X != nil {
				k.bind(p.X, "")
			}
		}
	}
}

// element returns the kind of the elements of one of the view's lists.
func element(list syntax.Expr) string {
	dot, is := list.(*syntax.DotExpr)
	if !is {
		return ""
	}
	if x, is := dot.X.(*syntax.Ident); !is || x.Name != "view" {
		return ""
	}
	return map[string]string{"events": kindEvent, "working": kindOrder}[dot.Name.Name]
}

// of returns the kind of an expression.
func (k kinds) of(expression syntax.Expr) string {
	switch e := expression.(type) {
	case *syntax.Ident:
		return k.named(e)
	case *syntax.ParenExpr:
		return k.of(e.X)
	case *syntax.Literal:
		return map[syntax.Token]string{syntax.STRING: "string", syntax.INT: kindNumber, syntax.FLOAT: kindNumber, syntax.BYTES: "bytes"}[e.Token]
	case *syntax.ListExpr:
		return "list"
	case *syntax.DictExpr:
		return "dict"
	case *syntax.TupleExpr:
		return "tuple"
	case *syntax.Comprehension:
		if e.Curly {
			return "dict"
		}
		return "list"
	case *syntax.DotExpr:
		return k.member(e)
	case *syntax.CallExpr:
		return resultOf(builtin(e.Fn))
	case *syntax.CondExpr:
		if kind := k.of(e.True); kind == k.of(e.False) {
			return kind
		}
	case *syntax.BinaryExpr:
		x, y := k.of(e.X), k.of(e.Y)
		if e.Op == syntax.PERCENT && x == "string" || e.Op == syntax.PLUS && x == y && x != kindSeries {
			return x
		}
	}
	return ""
}

func (k kinds) named(name *syntax.Ident) string {
	switch own := builtin(name); {
	case own == "state" || own == "math":
		return own
	case own == "True" || own == "False":
		return "bool"
	case isSource(own):
		return kindSeries
	case own != "":
		return ""
	}
	if at := firstUse(name); at != nil {
		return k[at]
	}
	return ""
}

// member returns the kind of an existing attribute.
func (k kinds) member(dot *syntax.DotExpr) string {
	switch of := k.of(dot.X); of {
	case kindView:
		if kind, is := viewKinds[dot.Name.Name]; is {
			return kind
		}
		return kindNumber
	case kindCandles:
		return kindSeries
	case "":
	default:
		if _, is := indicator.Find(of); is {
			return kindSeries
		}
	}
	return ""
}

// resultOf returns the kind of the result of a botd or Starlark function.
func resultOf(function string) string {
	if definition, is := indicator.Find(function); is {
		if len(definition.Outputs) == 1 {
			return kindSeries
		}
		return definition.Name
	}
	return returned[function]
}

// membersOf returns the members of a kind and whether they are known.
func membersOf(kind string) (names []string, known bool) {
	switch kind {
	case "":
		return nil, false
	case kindView:
		return (*view)(nil).AttrNames(), true
	case "state":
		return (*state)(nil).AttrNames(), true
	case "math":
		return mathNames(), true
	case kindEvent:
		return eventMembers, true
	case kindOrder:
		return orderMembers, true
	case kindCandles:
		for _, source := range priceSources {
			names = append(names, source.name)
		}
		return names, true
	}
	for name, value := range map[string]starlark.HasAttrs{"dict": starlark.NewDict(0), "list": starlark.NewList(nil), "string": starlark.String(""),
		"set": starlark.NewSet(0), "bytes": starlark.Bytes("")} {
		if name == kind {
			return value.AttrNames(), true
		}
	}
	if definition, is := indicator.Find(kind); is {
		return definition.Outputs, true
	}
	return nil, true // numbers, tuples, series, functions
}
