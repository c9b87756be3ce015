package script

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"botd/exchange"
	"botd/strategy"
	"botd/strategy/indicator"
)

// The rules' parameter names.
var ruleNames = [...]string{"entry_long", "exit_long", "entry_short", "exit_short"}

const (
	entryLong = iota
	exitLong
	entryShort
	exitShort
)

// never replaces a rule that is not configured.
const never = "False"

// Rules defines the strategy named "rules": conditions over indicators, evaluated at each closed
// candle, without code.
//
// While flat, entry_long opens a long position of the configured size and entry_short a short one;
// if both are true, nothing happens. While long, exit_long closes the position and entry_short
// reverses it; short positions work the same way. Each candle on which an entry is true is a
// signal: after a stop-loss or take-profit the next signal enters again, whichever candle the
// position ended in.
func Rules() strategy.Definition {
	help := [...]string{"opens a long position when true", "closes a long position when true",
		"opens a short position when true (futures)", "closes a short position when true"}
	definition := strategy.Definition{Name: "rules", Summary: "enters and exits on conditions over indicators, written in the YAML"}
	for i, name := range ruleNames {
		definition.Parameters = append(definition.Parameters, strategy.Parameter{Name: name, Kind: "text", Default: never,
			Help: help[i] + ", such as cross_above(ema(close, 12), ema(close, 26)) and rsi(close, 14) < 70"})
	}
	definition.New = newRules
	return definition
}

func newRules(setting strategy.Setting, values strategy.Values) (strategy.Strategy, error) {
	made, err := makeRules(setting, values)
	if _, ok := errors.AsType[*strategy.ValueError](err); ok {
		return nil, advised(err, values)
	}
	return made, err
}

func makeRules(setting strategy.Setting, values strategy.Values) (strategy.Strategy, error) {
	texts := [len(ruleNames)]string{}
	for i, name := range ruleNames {
		texts[i] = never
		if text, given := values[name]; given {
			texts[i] = text
		}
	}
	if texts[entryLong] == never && texts[entryShort] == never {
		return nil, &strategy.ValueError{Parameter: ruleNames[entryLong],
			Err: errors.New("neither entry_long nor entry_short is set: the strategy would never trade")}
	}
	if setting.Market == exchange.Spot && texts[entryShort] != never {
		return nil, &strategy.ValueError{Parameter: ruleNames[entryShort], Err: errors.New("spot has no short positions: trade futures, or remove it")}
	}
	s, err := compileRules(texts)
	if err != nil {
		return nil, err
	}
	r, err := s.ruled(setting, texts)
	if err != nil {
		return nil, inRule(blame(setting, texts, err))
	}
	twin, err := s.ruled(setting, texts)
	if err != nil {
		return nil, inRule(err)
	}
	if r.warmup, err = rehearse(twin.running, twin); err != nil {
		return nil, inRule(err)
	}
	return r, nil
}

func (s *Script) ruled(setting strategy.Setting, texts [len(ruleNames)]string) (*ruled, error) {
	made, err := s.placed(setting, nil)
	if err != nil {
		return nil, err
	}
	r := &ruled{running: made, texts: texts}
	for i, name := range ruleNames {
		r.rules[i] = made.globals[name].(*starlark.Function)
	}
	return r, nil
}

// blame finds the rule that caused an error at the top of the file. All series are defined there,
// and Starlark attributes them to one file, that of the first rule. Compiled alone, each rule is
// its own file.
func blame(setting strategy.Setting, texts [len(ruleNames)]string, err error) error {
	for i := range texts {
		alone := [len(ruleNames)]string{never, never, never, never}
		alone[i] = texts[i]
		s, own := compileRules(alone)
		if own == nil {
			_, own = s.ruled(setting, alone)
		}
		if own != nil {
			return own
		}
	}
	return err
}

// inRule converts an error of a rule into an error of its parameter.
func inRule(err error) error {
	if at, ok := errors.AsType[*strategy.SourceError](err); ok {
		return &strategy.ValueError{Parameter: at.File, Err: at}
	}
	return err
}

// compileRules builds a script from the rules: each rule is a function, and its series are at the
// top.
func compileRules(texts [len(ruleNames)]string) (*Script, error) {
	lifted := &lifting{}
	file := &syntax.File{Path: "rules", Options: dialect}
	var functions []syntax.Stmt
	for i, name := range ruleNames {
		expression, err := dialect.ParseExpr(name, texts[i], 0)
		if err != nil {
			return nil, inRule(located(err))
		}
		if lifted.steady(expression) && texts[i] != never && !strings.HasPrefix(texts[i], "session(") {
			start, _ := expression.Span()
			return nil, inRule(sourceError(start, errors.New("is a value, not a condition: compare it with something")))
		}
		start, _ := expression.Span()
		if err := checkRule(name, texts[i], start); err != nil {
			return nil, inRule(err)
		}
		functions = append(functions, &syntax.DefStmt{
			Def: start, Name: &syntax.Ident{NamePos: start, Name: name}, Params: []syntax.Expr{&syntax.Ident{NamePos: start, Name: "view"}},
			Body: []syntax.Stmt{&syntax.ReturnStmt{Return: start, Result: (&rewriting{}).expression(lifted.lift(expression))}},
		})
	}
	file.Stmts = append(lifted.statements, functions...)
	s, err := compileFile("rules", file)
	return s, inRule(err)
}

// checkRule finds errors in a rule on every branch, including those that are seldom evaluated.
func checkRule(name, text string, start syntax.Position) error {
	expression, err := dialect.ParseExpr(name, text, 0)
	if err != nil {
		return located(err)
	}
	return checked(&syntax.File{Path: name, Options: dialect, Stmts: []syntax.Stmt{&syntax.DefStmt{
		Def: start, Name: &syntax.Ident{NamePos: start, Name: name}, Params: []syntax.Expr{&syntax.Ident{NamePos: start, Name: "view"}},
		Body: []syntax.Stmt{&syntax.ReturnStmt{Return: start, Result: expression}},
	}}})
}

// lifting moves series out of conditions: an expression of prices, indicators and arithmetic alone
// is computed once per candle and has a history.
type lifting struct {
	statements []syntax.Stmt
}

// steady reports whether an expression consists of prices, indicators, numbers and arithmetic.
func (l *lifting) steady(expression syntax.Expr) bool {
	switch e := expression.(type) {
	case *syntax.Literal:
		return e.Token == syntax.INT || e.Token == syntax.FLOAT
	case *syntax.Ident:
		return isSource(e.Name)
	case *syntax.ParenExpr:
		return l.steady(e.X)
	case *syntax.UnaryExpr:
		return (e.Op == syntax.MINUS || e.Op == syntax.PLUS) && l.steady(e.X)
	case *syntax.BinaryExpr:
		_, is := arithmetic[e.Op]
		return is && l.steady(e.X) && l.steady(e.Y)
	case *syntax.DotExpr:
		return l.steady(e.X)
	case *syntax.IndexExpr:
		return l.steady(e.X) && l.steady(e.Y)
	case *syntax.CallExpr:
		name, is := e.Fn.(*syntax.Ident)
		if !is {
			return false
		}
		if liftable[name.Name] {
			return !slices.ContainsFunc(e.Args, func(arg syntax.Expr) bool { return !l.steady(arg) && !l.condition(arg) })
		}
		_, is = indicator.Find(name.Name)
		return is || name.Name == "candles" || name.Name == "column"
	}
	return false
}

// condition reports whether an expression is a condition over steady expressions, such as the
// arguments of sum, since and where.
func (l *lifting) condition(expression syntax.Expr) bool {
	either := func(e syntax.Expr) bool { return l.steady(e) || l.condition(e) }
	switch e := expression.(type) {
	case *syntax.ParenExpr:
		return either(e.X)
	case *syntax.UnaryExpr:
		return e.Op == syntax.NOT && either(e.X)
	case *syntax.Literal:
		return e.Token == syntax.STRING // zone = "Europe/Berlin"
	case *syntax.BinaryExpr:
		if e.Op == syntax.EQ { // a keyword argument: name=value
			return either(e.Y)
		}
		_, compares := comparisons[e.Op]
		return (compares || e.Op == syntax.AND || e.Op == syntax.OR) && either(e.X) && either(e.Y)
	case *syntax.CallExpr:
		name, is := e.Fn.(*syntax.Ident)
		return is && conditions[name.Name] && !slices.ContainsFunc(e.Args, func(arg syntax.Expr) bool { return !l.steady(arg) })
	}
	return false
}

// conditions are the functions that return conditions.
var conditions = map[string]bool{"cross_above": true, "cross_below": true, "rising": true, "falling": true, "known": true}

func isSource(name string) bool {
	for _, source := range priceSources {
		if source.name == name {
			return true
		}
	}
	return false
}

// lift replaces steady expressions by the names of series at the top.
func (l *lifting) lift(expression syntax.Expr) syntax.Expr {
	if l.steady(expression) {
		switch expression.(type) {
		case *syntax.Literal, *syntax.Ident:
			return expression
		}
		start, _ := expression.Span()
		name := "series " + strconv.Itoa(len(l.statements))
		l.statements = append(l.statements, &syntax.AssignStmt{OpPos: start, Op: syntax.EQ, LHS: &syntax.Ident{NamePos: start, Name: name},
			RHS: (&rewriting{top: true}).expression(expression)})
		return &syntax.Ident{NamePos: start, Name: name}
	}
	switch e := expression.(type) {
	case *syntax.ParenExpr:
		e.X = l.lift(e.X)
	case *syntax.UnaryExpr:
		e.X = l.lift(e.X)
	case *syntax.BinaryExpr:
		if e.Op != syntax.EQ {
			e.X = l.lift(e.X)
		}
		e.Y = l.lift(e.Y)
	case *syntax.CondExpr:
		e.Cond, e.True, e.False = l.lift(e.Cond), l.lift(e.True), l.lift(e.False)
	case *syntax.CallExpr:
		for i := range e.Args {
			e.Args[i] = l.lift(e.Args[i])
		}
	}
	return expression
}

// ruled is a running strategy of rules.
type ruled struct {
	*running
	rules [len(ruleNames)]*starlark.Function
	texts [len(ruleNames)]string

	desired  int64 // the side desired last: +1, 0, -1
	since    bool  // a rule was true at least once since the start
	rule     int   // the rule that was last true
	signalMS int64 // time at which its entry was last true
}

// Candle evaluates the rules.
func (r *ruled) Candle(v *strategy.View) {
	r.running.Candle(v)
	r.view.of = v
	position := v.Position.Quantity
	long, short := r.true(entryLong), r.true(entryShort)
	switch {
	case long && short:
	case long:
		r.enter(1, entryLong, v.NowMS)
	case short:
		r.enter(-1, entryShort, v.NowMS)
	case (r.desired > 0 || !r.since && position > 0) && r.true(exitLong):
		r.enter(0, exitLong, 0)
	case (r.desired < 0 || !r.since && position < 0) && r.true(exitShort):
		r.enter(0, exitShort, 0)
	}
}

func (r *ruled) enter(side int64, rule int, signalMS int64) {
	r.desired, r.rule, r.since, r.signalMS = side, rule, true, signalMS
}

func (r *ruled) true(rule int) bool {
	if r.texts[rule] == never {
		return false
	}
	result := r.call(r.rules[rule])
	holds, is := result.(starlark.Bool)
	if s, series := result.(*series); series && s.condition {
		return s.holds(0)
	}
	if !is {
		panic(&strategy.ValueError{Parameter: ruleNames[rule], Err: fmt.Errorf("is a %s, not a condition: compare it with something", result.Type())})
	}
	return bool(holds)
}

// Decide desires the side that the rules last chose.
func (r *ruled) Decide(_ *strategy.View, plan *strategy.Plan) {
	if r.since {
		plan.Hold(r.size(r.desired), ruleNames[r.rule]+": "+r.texts[r.rule])
		plan.SignalMS = r.signalMS
	}
}
