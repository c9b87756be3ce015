package script

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"botd/strategy"
	"botd/strategy/indicator"
)

// checkCalls finds calls that would fail, on every branch: arguments that a function does not
// accept, sides and kinds that do not exist, and calls that decide and candle must not make.
func (k kinds) checkCalls(file *syntax.File) (err error) {
	defined := map[*syntax.Ident]*syntax.DefStmt{}
	for _, statement := range file.Stmts {
		if def, is := statement.(*syntax.DefStmt); is {
			defined[def.Name] = def
			if err := k.checkDecision(def); err != nil {
				return err
			}
		}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil:
		case *syntax.CallExpr:
			err = cmp.Or(err, k.checkCall(n, defined))
		case *syntax.BinaryExpr:
			err = cmp.Or(err, k.checkWord(n))
		}
		return err == nil
	})
	return err
}

// checkCall finds arguments that the called function does not accept.
func (k kinds) checkCall(call *syntax.CallExpr, defined map[*syntax.Ident]*syntax.DefStmt) error {
	a := argumentsOf(call)
	name, is := call.Fn.(*syntax.Ident)
	if dot, of := call.Fn.(*syntax.DotExpr); of && k.of(dot.X) == kindView && dot.Name.Name == "filled" {
		return a.match("filled", signatures["filled"])
	}
	if !is {
		return nil
	}
	own := builtin(name)
	if definition, is := indicator.Find(own); is {
		for _, p := range a.named {
			if err := definition.Has(p); err != nil {
				return sourceError(call.Lparen, err)
			}
		}
		return nil
	}
	if bounds, is := positional[own]; is && !a.open && (len(a.named) > 0 || len(a.given) < bounds[0] || len(a.given) > bounds[1]) {
		return sourceError(call.Lparen, fmt.Errorf("%s takes %d positional arguments, not %d", own, bounds[0], len(call.Args)))
	}
	if signature, is := signatures[own]; is {
		if own == "plan" && len(a.given) > 0 {
			return sourceError(call.Lparen, errPlanByName)
		}
		return cmp.Or(a.match(own, signature), k.checkSide(own, a))
	}
	if def := defined[firstUse(name)]; def != nil && own == "" {
		if signature, fixed := signatureOf(def); fixed {
			return a.match(name.Name, signature)
		}
	}
	return nil
}

// signatureOf returns the signature of a function of the script. It is not fixed if the function
// takes any number of arguments.
func signatureOf(def *syntax.DefStmt) (signature []string, fixed bool) {
	for _, p := range def.Params {
		switch p := p.(type) {
		case *syntax.Ident:
			signature = append(signature, p.Name)
		case *syntax.BinaryExpr:
			signature = append(signature, p.X.(*syntax.Ident).Name+"?")
		default:
			return nil, false
		}
	}
	return signature, true
}

// arguments are the arguments of one call.
type arguments struct {
	call   *syntax.CallExpr
	given  []syntax.Expr // by position
	named  []string
	values map[string]syntax.Expr
	open   bool // *args or **named: their number is unknown
}

func argumentsOf(call *syntax.CallExpr) arguments {
	a := arguments{call: call, values: map[string]syntax.Expr{}}
	for _, x := range call.Args {
		if e, is := x.(*syntax.BinaryExpr); is && e.Op == syntax.EQ {
			name := e.X.(*syntax.Ident).Name
			a.named = append(a.named, name)
			a.values[name] = e.Y
			continue
		}
		if e, is := x.(*syntax.UnaryExpr); is && (e.Op == syntax.STAR || e.Op == syntax.STARSTAR) {
			a.open = true
			continue
		}
		a.given = append(a.given, x)
	}
	return a
}

// match compares the arguments with a signature.
func (a *arguments) match(function string, signature []string) error {
	fails := func(format string, values ...any) error {
		return sourceError(a.call.Lparen, fmt.Errorf(function+": "+format, values...))
	}
	var names []string
	for _, written := range signature {
		name, _ := parameter(written)
		names = append(names, name)
	}
	for _, name := range a.named {
		if !slices.Contains(names, name) {
			err := fails("unexpected keyword argument %q", name).(*strategy.SourceError)
			err.Unknown, err.Known = name, names
			return err
		}
	}
	if a.open {
		return nil
	}
	if len(a.given) > len(names) {
		return fails("got %d arguments, want at most %d", len(a.given), len(names))
	}
	for i, written := range signature {
		name, optional := parameter(written)
		switch named := slices.Contains(a.named, name); {
		case i < len(a.given) && named:
			return fails("got multiple values for parameter %q", name)
		case i >= len(a.given) && !named && !optional:
			return fails("missing argument for %s", name)
		}
	}
	return nil
}

// argument returns the n-th argument or the one with that name, or nil.
func (a *arguments) argument(n int, name string) syntax.Expr {
	if n < len(a.given) && !a.open {
		return a.given[n]
	}
	return a.values[name]
}

// checkSide finds sides that do not exist.
func (k kinds) checkSide(function string, a arguments) error {
	switch function {
	case "hold":
		for _, word := range words(a.argument(0, "side")) {
			if _, err := signOf(word.Value.(string)); err != nil {
				return sourceError(a.call.Lparen, err)
			}
		}
	case "order":
		for _, word := range words(a.argument(1, "side")) {
			if _, err := sideOf(word.Value.(string)); err != nil {
				return sourceError(a.call.Lparen, fmt.Errorf("order: %w", err))
			}
		}
	}
	return nil
}

// words returns the strings that an expression can have, as far as they are literals.
func words(expression syntax.Expr) (all []*syntax.Literal) {
	switch e := expression.(type) {
	case *syntax.Literal:
		if e.Token == syntax.STRING {
			all = append(all, e)
		}
	case *syntax.ParenExpr:
		return words(e.X)
	case *syntax.CondExpr:
		return append(words(e.True), words(e.False)...)
	case *syntax.ListExpr:
		for _, x := range e.List {
			all = append(all, words(x)...)
		}
	case *syntax.TupleExpr:
		for _, x := range e.List {
			all = append(all, words(x)...)
		}
	}
	return all
}

// vocabulary lists the possible strings of some members.
func vocabulary(kind, member string) []string {
	switch {
	case kind == kindEvent && member == "kind":
		var all []string
		for kind := strategy.EventFilled; kind <= strategy.EventReleased; kind++ {
			all = append(all, kind.String())
		}
		return all
	case (kind == kindEvent || kind == kindOrder) && member == "side":
		return []string{"buy", "sell"}
	case kind == kindView && member == "market":
		return []string{"futures", "spot"}
	}
	return nil
}

// checkWord finds comparisons with strings that the compared member can never equal.
func (k kinds) checkWord(e *syntax.BinaryExpr) error {
	if e.Op != syntax.EQL && e.Op != syntax.NEQ && e.Op != syntax.IN && e.Op != syntax.NOT_IN {
		return nil
	}
	for _, sides := range [][2]syntax.Expr{{e.X, e.Y}, {e.Y, e.X}} {
		dot, is := sides[0].(*syntax.DotExpr)
		if !is {
			continue
		}
		known := vocabulary(k.of(dot.X), dot.Name.Name)
		for _, word := range words(sides[1]) {
			if text := word.Value.(string); known != nil && !slices.Contains(known, text) {
				return sourceError(word.TokenPos, fmt.Errorf(".%s is never %q: it is %s", dot.Name.Name, text, either(known)))
			}
		}
	}
	return nil
}

func either(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = fmt.Sprintf("%q", w)
	}
	last := len(quoted) - 1
	return strings.Join(quoted[:last], ", ") + " or " + quoted[last]
}

// checkDecision finds operations that decide and candle must not perform in their own text:
// creating series, which must see every candle, and, in decide, writing state.
func (k kinds) checkDecision(def *syntax.DefStmt) (err error) {
	if def.Name.Name != "decide" && def.Name.Name != "candle" {
		return nil
	}
	syntax.Walk(def, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			name := builtin(n.Fn)
			if _, is := indicator.Find(name); is {
				err = cmp.Or[error](err, sourceError(n.Lparen, tooLate(name)))
			}
		case *syntax.AssignStmt:
			if index, is := n.LHS.(*syntax.IndexExpr); is && builtin(index.X) == "state" && def.Name.Name == "decide" {
				err = cmp.Or[error](err, sourceError(index.Lbrack, errWritesState))
			}
		}
		return err == nil
	})
	return err
}
