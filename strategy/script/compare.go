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

// comparisons are these functions, under names that a script cannot write.
var comparisons = map[syntax.Token]*starlark.Builtin{
	syntax.LT:  comparison(syntax.LT, func(x, y float64) bool { return x < y }),
	syntax.LE:  comparison(syntax.LE, func(x, y float64) bool { return x <= y }),
	syntax.GT:  comparison(syntax.GT, func(x, y float64) bool { return x > y }),
	syntax.GE:  comparison(syntax.GE, func(x, y float64) bool { return x >= y }),
	syntax.EQL: comparison(syntax.EQL, func(x, y float64) bool { return x == y }),
	syntax.NEQ: comparison(syntax.NEQ, func(x, y float64) bool { return x != y && x == x && y == y }),
}

func comparison(operator syntax.Token, floats func(x, y float64) bool) *starlark.Builtin {
	return starlark.NewBuiltin(operator.String(), func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
		_ []starlark.Tuple) (starlark.Value, error) {
		x, y := args[0], args[1]
		if xf, ok := number(x); ok {
			if yf, ok := number(y); ok {
				return starlark.Bool(floats(xf, yf)), nil
			}
		}
		for _, side := range args {
			if many, is := side.(*outputs); is {
				return nil, fmt.Errorf("%s has several values: write %s", many.Type(), many.example())
			}
		}
		// Two integers, texts or lists: as Starlark does.
		result, err := starlark.Compare(operator, newest(x), newest(y))
		return starlark.Bool(result), err
	})
}

// number returns a float or the newest value of a series. An integer is converted to a float when
// the other side is one.
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

func rewriteFile(file *syntax.File) { rewriteStatements(file.Stmts) }

func rewriteStatements(statements []syntax.Stmt) {
	for _, statement := range statements {
		switch s := statement.(type) {
		case *syntax.AssignStmt:
			s.LHS, s.RHS = rewrite(s.LHS), rewrite(s.RHS)
		case *syntax.ExprStmt:
			s.X = rewrite(s.X)
		case *syntax.ReturnStmt:
			s.Result = rewrite(s.Result)
		case *syntax.IfStmt:
			s.Cond = rewrite(s.Cond)
			rewriteStatements(s.True)
			rewriteStatements(s.False)
		case *syntax.ForStmt:
			s.X = rewrite(s.X)
			rewriteStatements(s.Body)
		case *syntax.DefStmt:
			rewriteAll(s.Params)
			rewriteStatements(s.Body)
		}
	}
}

func rewriteAll(all []syntax.Expr) {
	for i := range all {
		all[i] = rewrite(all[i])
	}
}

// rewrite returns an expression with comparisons replaced by calls.
func rewrite(expression syntax.Expr) syntax.Expr {
	switch e := expression.(type) {
	case nil:
		return nil
	case *syntax.BinaryExpr:
		e.Y = rewrite(e.Y)
		if e.Op == syntax.EQ { // a keyword argument or a default: name=value
			return e
		}
		e.X = rewrite(e.X)
		if function, is := comparisons[e.Op]; is {
			name := &syntax.Ident{NamePos: e.OpPos, Name: function.Name()}
			return &syntax.CallExpr{Fn: name, Lparen: e.OpPos, Args: []syntax.Expr{e.X, e.Y}, Rparen: e.OpPos}
		}
	case *syntax.CallExpr:
		e.Fn = rewrite(e.Fn)
		rewriteAll(e.Args)
	case *syntax.UnaryExpr:
		e.X = rewrite(e.X)
	case *syntax.ParenExpr:
		e.X = rewrite(e.X)
	case *syntax.CondExpr:
		e.Cond, e.True, e.False = rewrite(e.Cond), rewrite(e.True), rewrite(e.False)
	case *syntax.DotExpr:
		e.X = rewrite(e.X)
	case *syntax.IndexExpr:
		e.X, e.Y = rewrite(e.X), rewrite(e.Y)
	case *syntax.SliceExpr:
		e.X, e.Lo, e.Hi, e.Step = rewrite(e.X), rewrite(e.Lo), rewrite(e.Hi), rewrite(e.Step)
	case *syntax.ListExpr:
		rewriteAll(e.List)
	case *syntax.TupleExpr:
		rewriteAll(e.List)
	case *syntax.DictExpr:
		rewriteAll(e.List)
	case *syntax.DictEntry:
		e.Key, e.Value = rewrite(e.Key), rewrite(e.Value)
	case *syntax.LambdaExpr:
		rewriteAll(e.Params)
		e.Body = rewrite(e.Body)
	case *syntax.Comprehension:
		e.Body = rewrite(e.Body)
		for _, clause := range e.Clauses {
			switch c := clause.(type) {
			case *syntax.ForClause:
				c.X = rewrite(c.X)
			case *syntax.IfClause:
				c.Cond = rewrite(c.Cond)
			}
		}
	}
	return expression
}
