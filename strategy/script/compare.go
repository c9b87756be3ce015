package script

import (
	"fmt"
	"math"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Comparisons in a script become calls of built-in functions, for two reasons: a series compares by
// its newest value, and a value that does not exist yet (NaN) is neither above nor below anything,
// whereas Starlark orders NaN above everything.

// comparisons lists these functions, under names that a script cannot write.
var comparisons = map[syntax.Token]*starlark.Builtin{
	syntax.LT:  comparison(syntax.LT, func(x, y float64) bool { return x < y }),
	syntax.LE:  comparison(syntax.LE, func(x, y float64) bool { return x <= y }),
	syntax.GT:  comparison(syntax.GT, func(x, y float64) bool { return x > y }),
	syntax.GE:  comparison(syntax.GE, func(x, y float64) bool { return x >= y }),
	syntax.EQL: comparison(syntax.EQL, func(x, y float64) bool { return x == y }),
	syntax.NEQ: comparison(syntax.NEQ, func(x, y float64) bool { return x != y && x == x && y == y }),
}

func comparison(operator syntax.Token, floats func(x, y float64) bool) *starlark.Builtin {
	return starlark.NewBuiltin(operator.String(), func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
		_ []starlark.Tuple) (starlark.Value, error) {
		x, y := args[0], args[1]
		if xf, ok := number(x); ok {
			if yf, ok := number(y); ok {
				if made := compared(thread, operator, floats, x, y); made != nil {
					return made, nil
				}
				return starlark.Bool(floats(xf, yf)), nil
			}
		}
		for _, side := range args {
			switch v := side.(type) {
			case *outputs:
				return nil, fmt.Errorf("%s has several values: write %s", v.Type(), example(v.definition))
			case *candles:
				return nil, fmt.Errorf("%s has several series: write its .close, .open, .high, .low or .volume", v)
			case starlark.Callable:
				return nil, fmt.Errorf("%s is a function: it has a value when it is called, as %s(...)", v.Name(), v.Name())
			}
		}
		// Two integers, strings or lists compare as in Starlark.
		result, err := starlark.Compare(operator, newest(x), newest(y))
		return starlark.Bool(result), err
	})
}

// compared returns a top-level comparison as a series, or nil if no operand is a series.
func compared(thread *starlark.Thread, operator syntax.Token, floats func(x, y float64) bool, x, y starlark.Value) starlark.Value {
	r := runningOf(thread)
	if !r.loading {
		return nil
	}
	on := r.clockFor(starlark.Tuple{x, y})
	if on == nil {
		return nil
	}
	return condition(r, on, "("+label(x)+" "+operator.String()+" "+label(y)+")", func() bool {
		xf, _ := number(x)
		yf, _ := number(y)
		return floats(xf, yf)
	})
}

// number returns a float or the newest value of a series. It converts an integer to a float if the
// other side is a float.
func number(value starlark.Value) (float64, bool) {
	switch value := value.(type) {
	case starlark.Float:
		return float64(value), true
	case *series:
		return value.at(0), true
	case starlark.Int:
		// Exact up to 2^53, like every price and count in a script.
		small, ok := value.Int64()
		return float64(small), ok && small < 1<<53 && small > -1<<53
	}
	return math.NaN(), false
}

func newest(value starlark.Value) starlark.Value {
	if s, is := value.(*series); is {
		return starlark.Float(s.at(0))
	}
	return value
}

// ofNewest wraps a Starlark function so that it reads a series by its newest value: float(close).
func ofNewest(name string) *starlark.Builtin {
	original := starlark.Universe[name]
	return starlark.NewBuiltin(name, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, named []starlark.Tuple) (starlark.Value, error) {
		values := make(starlark.Tuple, len(args))
		for i, value := range args {
			if s, is := value.(*series); is && s.owner.loading {
				return nil, fmt.Errorf("%s(%s): at the top of the file a series has no value yet: read it in decide", name, s.name)
			}
			values[i] = newest(value)
		}
		return starlark.Call(thread, original, values, named)
	})
}

func rewriteFile(file *syntax.File) { (&rewriting{top: true}).statements(file.Stmts) }

// rewriting replaces comparisons by calls, and at the top of the file also and, or and not. The top
// of the file may call a function defined there; decide and candle run only once there are candles.
type rewriting struct{ top bool }

func (w *rewriting) statements(statements []syntax.Stmt) {
	for _, statement := range statements {
		switch s := statement.(type) {
		case *syntax.AssignStmt:
			s.LHS, s.RHS = w.expression(s.LHS), w.expression(s.RHS)
		case *syntax.ExprStmt:
			s.X = w.expression(s.X)
		case *syntax.ReturnStmt:
			s.Result = w.expression(s.Result)
		case *syntax.IfStmt:
			s.Cond = w.expression(s.Cond)
			w.statements(s.True)
			w.statements(s.False)
		case *syntax.ForStmt:
			s.X = w.expression(s.X)
			w.statements(s.Body)
		case *syntax.DefStmt:
			w.all(s.Params)
			(&rewriting{top: w.top && s.Name.Name != "decide" && s.Name.Name != "candle"}).statements(s.Body)
		}
	}
}

func (w *rewriting) all(all []syntax.Expr) {
	for i := range all {
		all[i] = w.expression(all[i])
	}
}

// expression returns an expression with comparisons replaced by calls.
func (w *rewriting) expression(expression syntax.Expr) syntax.Expr {
	switch e := expression.(type) {
	case nil:
		return nil
	case *syntax.BinaryExpr:
		e.Y = w.expression(e.Y)
		if e.Op == syntax.EQ { // a keyword argument or a default: name=value
			return e
		}
		e.X = w.expression(e.X)
		_, compares := comparisons[e.Op]
		if compares || e.Op == syntax.PERCENT {
			name := &syntax.Ident{NamePos: e.OpPos, Name: e.Op.String()}
			return &syntax.CallExpr{Fn: name, Lparen: e.OpPos, Args: []syntax.Expr{e.X, e.Y}, Rparen: e.OpPos}
		}
	case *syntax.CallExpr:
		e.Fn = w.expression(e.Fn)
		w.all(e.Args)
		if dot, is := e.Fn.(*syntax.DotExpr); is && dot.Name.Name == format.Name() {
			e.Args = append([]syntax.Expr{dot.X}, e.Args...)
			e.Fn = &syntax.Ident{NamePos: dot.NamePos, Name: formatName}
		}
	case *syntax.UnaryExpr:
		e.X = w.expression(e.X)
	case *syntax.ParenExpr:
		e.X = w.expression(e.X)
	case *syntax.CondExpr:
		e.Cond, e.True, e.False = w.expression(e.Cond), w.expression(e.True), w.expression(e.False)
	case *syntax.DotExpr:
		e.X = w.expression(e.X)
	case *syntax.IndexExpr:
		e.X, e.Y = w.expression(e.X), w.expression(e.Y)
	case *syntax.SliceExpr:
		e.X, e.Lo, e.Hi, e.Step = w.expression(e.X), w.expression(e.Lo), w.expression(e.Hi), w.expression(e.Step)
	case *syntax.ListExpr:
		w.all(e.List)
	case *syntax.TupleExpr:
		w.all(e.List)
	case *syntax.DictExpr:
		w.all(e.List)
	case *syntax.DictEntry:
		e.Key, e.Value = w.expression(e.Key), w.expression(e.Value)
	case *syntax.LambdaExpr:
		w.all(e.Params)
		e.Body = w.expression(e.Body)
	case *syntax.Comprehension:
		e.Body = w.expression(e.Body)
		for _, clause := range e.Clauses {
			switch c := clause.(type) {
			case *syntax.ForClause:
				c.X = w.expression(c.X)
			case *syntax.IfClause:
				c.Cond = w.expression(c.Cond)
			}
		}
	}
	if w.top {
		return rewriteLogic(expression)
	}
	return expression
}
