package mutation

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path"
	"strings"

	"botd/internal/overlay"
)

// finder finds the mutants of a file.
type finder struct {
	*source
	file     *file
	function string
	seen     map[string]int // number of times that a change occurs in a function
	parents  []ast.Node
	outer    *types.Tuple // the function's results
}

// find finds all mutants of a package.
func (p *source) find() {
	for _, f := range p.files {
		finder := &finder{source: p, file: f, seen: map[string]int{}}
		for _, declaration := range f.syntax.Decls {
			finder.declaration(declaration)
		}
	}
}

func (f *finder) declaration(declaration ast.Decl) {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		if d.Body == nil {
			return
		}
		f.function = path.Join(strings.TrimPrefix(f.path, "botd/")) + "." + overlay.FunctionName(d)
		f.outer = f.info.Defs[d.Name].Type().(*types.Signature).Results()
		f.walk(d.Body)
	case *ast.GenDecl:
		if d.Tok != token.VAR {
			return
		}
		for _, spec := range d.Specs {
			values := spec.(*ast.ValueSpec)
			f.function = strings.TrimPrefix(f.path, "botd/") + "." + values.Names[0].Name
			for _, value := range values.Values {
				f.walk(value)
			}
		}
	}
}

func (f *finder) walk(root ast.Node) {
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil {
			f.parents = f.parents[:len(f.parents)-1]
			return true
		}
		if !f.visit(n) {
			return false
		}
		f.parents = append(f.parents, n)
		return true
	})
}

func (f *finder) parent() ast.Node {
	if len(f.parents) == 0 {
		return nil
	}
	return f.parents[len(f.parents)-1]
}

// visit finds the mutants of a node, and reports whether to search its children.
func (f *finder) visit(n ast.Node) bool {
	if expression, is := n.(ast.Expr); is {
		if f.quiet(expression) {
			return false
		}
		if value := f.info.Types[expression]; value.Value != nil {
			f.constant(expression, value)
			return false
		}
		f.leaf(expression)
	}
	switch n := n.(type) {
	case *ast.ArrayType, *ast.StructType, *ast.InterfaceType, *ast.FuncType, *ast.SelectStmt, *ast.LabeledStmt:
		return !isType(n)
	case *ast.GenDecl:
		return n.Tok == token.VAR
	case *ast.KeyValueExpr:
		f.parents = append(f.parents, n)
		f.walk(n.Value)
		f.parents = f.parents[:len(f.parents)-1]
		return false
	case *ast.BinaryExpr:
		f.binary(n)
	case *ast.BlockStmt:
		f.statements(n.List)
	case *ast.CaseClause:
		f.statements(n.Body)
	case *ast.CommClause:
		f.statements(n.Body)
	}
	return true
}

func isType(n ast.Node) bool {
	_, is := n.(ast.Expr)
	return is
}

// quiet reports whether an expression is text for people, or a capacity without an effect.
func (f *finder) quiet(e ast.Expr) bool {
	call, is := e.(*ast.CallExpr)
	if !is {
		return false
	}
	switch called := call.Fun.(type) {
	case *ast.Ident:
		return called.Name == "make" || called.Name == "panic"
	case *ast.SelectorExpr:
		in, named := called.X.(*ast.Ident)
		return named && (in.Name == "errors" && called.Sel.Name == "New" || in.Name == "fmt" && strings.HasSuffix(called.Sel.Name, "rrorf"))
	}
	return false
}

func (f *finder) add(node ast.Node, kind, change string) int {
	m := &Mutant{Number: len(f.mutants) + 1, Kind: kind, Function: f.function, Change: change, File: f.file.below,
		Line: f.positions.Position(node.Pos()).Line}
	key := m.Name()
	if f.seen[key]++; f.seen[key] > 1 {
		m.Change += fmt.Sprintf(" #%d", f.seen[key])
	}
	f.mutants = append(f.mutants, m)
	return m.Number
}

// edit records how to rewrite a node for the mutants that were just added.
func (f *finder) edit(node ast.Node, write func(inner) string, numbers ...int) {
	f.file.edits = append(f.file.edits, &edit{from: f.at(node.Pos()), to: f.at(node.End()), write: write, mutants: numbers})
}

func (f *finder) at(position token.Pos) int { return f.positions.Position(position).Offset }

// text returns the source of a node on one line.
func (f *finder) text(n ast.Node) string {
	text := strings.Join(strings.Fields(string(f.file.text[f.at(n.Pos()):f.at(n.End())])), " ")
	if len(text) > 100 {
		text = text[:100] + "..."
	}
	return text
}

var opposites = map[token.Token]token.Token{token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.GEQ, token.GEQ: token.LSS,
	token.GTR: token.LEQ, token.LEQ: token.GTR, token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL}

var bounds = map[token.Token]token.Token{token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR}

// binary finds the mutants of an operator.
func (f *finder) binary(n *ast.BinaryExpr) {
	opposite, known := opposites[n.Op]
	if !known || n.Op.Precedence() >= 4 && !f.calculates(n) {
		return
	}
	change := func(other token.Token) string {
		return f.text(n) + " -> " + f.text(n.X) + " " + other.String() + " " + f.text(n.Y)
	}
	x, y := [2]int{f.at(n.X.Pos()), f.at(n.X.End())}, [2]int{f.at(n.Y.Pos()), f.at(n.Y.End())}
	operands := func(in inner) (string, string, string) { // with the new lines between the operands
		return in(x[0], x[1]), strings.Replace(string(f.file.text[x[1]:y[0]]), n.Op.String(), ",", 1), in(y[0], y[1])
	}
	switch n.Op {
	case token.EQL, token.NEQ:
		number := f.add(n, "comparison", change(opposite))
		f.edit(n, func(in inner) string {
			return fmt.Sprintf("((%s) != mutation.On(%d))", in(x[0], y[1]), number)
		}, number)
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		bound, turned := f.add(n, "bound", change(bounds[n.Op])), f.add(n, "comparison", change(opposite))
		called := map[token.Token]string{token.LSS: "Less", token.LEQ: "AtMost", token.GTR: "More", token.GEQ: "AtLeast"}[n.Op]
		f.edit(n, func(in inner) string {
			a, comma, b := operands(in)
			return fmt.Sprintf("mutation.%s(%d, %d, %s%s%s)", called, bound, turned, a, comma, b)
		}, bound, turned)
	case token.LAND, token.LOR:
		number := f.add(n, "logic", change(opposite))
		between := string(f.file.text[x[1]:y[0]])
		f.edit(n, func(in inner) string {
			return fmt.Sprintf("((((%s) != mutation.On(%d))%s((%s) != mutation.On(%d))) != mutation.On(%d))", in(x[0], x[1]), number, between, in(y[0], y[1]),
				number, number)
		}, number)
	default:
		number := f.add(n, "arithmetic", change(opposite))
		called := map[token.Token]string{token.ADD: "Plus", token.SUB: "Minus", token.MUL: "Times", token.QUO: "Over"}[n.Op]
		f.edit(n, func(in inner) string {
			a, comma, b := operands(in)
			return fmt.Sprintf("mutation.%s(%d, %s%s%s)", called, number, a, comma, b)
		}, number)
	}
}

// calculates reports whether both operands are numbers.
func (f *finder) calculates(n *ast.BinaryExpr) bool {
	basic, is := f.info.Types[n].Type.Underlying().(*types.Basic)
	return is && basic.Info()&(types.IsInteger|types.IsFloat) != 0
}

// leaf negates a condition that is not a comparison: a call, a name, an element.
func (f *finder) leaf(e ast.Expr) {
	switch e.(type) {
	case *ast.BinaryExpr, *ast.ParenExpr, *ast.UnaryExpr, *ast.FuncLit, *ast.TypeAssertExpr, *ast.CompositeLit:
		return
	}
	t := f.info.Types[e]
	if t.Type == nil || !t.IsValue() || !types.Identical(t.Type.Underlying(), types.Typ[types.Bool]) {
		return
	}
	switch parent := f.parent().(type) {
	case *ast.BinaryExpr:
		if parent.Op != token.LAND && parent.Op != token.LOR {
			return
		}
	case *ast.UnaryExpr:
		if parent.Op != token.NOT {
			return
		}
	case *ast.IfStmt:
		if parent.Cond != e {
			return
		}
	case *ast.ForStmt:
		if parent.Cond != e {
			return
		}
	case *ast.CaseClause, *ast.ReturnStmt, *ast.ParenExpr:
	default:
		return
	}
	number := f.add(e, "negation", f.text(e)+" -> !"+f.text(e))
	from, to := f.at(e.Pos()), f.at(e.End())
	f.edit(e, func(in inner) string { return fmt.Sprintf("((%s) != mutation.On(%d))", in(from, to), number) }, number)
}

// constant changes a number, or true and false.
func (f *finder) constant(e ast.Expr, value types.TypeAndValue) {
	switch parent := f.parent().(type) {
	case *ast.KeyValueExpr:
		if parent.Key == e {
			return
		}
	case *ast.CaseClause, *ast.ArrayType:
		return
	case *ast.CallExpr:
		if f.info.Types[parent.Fun].IsType() { // a conversion is a constant itself
			return
		}
	}
	from, to := f.at(e.Pos()), f.at(e.End())
	if value.Value.Kind() == constant.Bool {
		if name, is := e.(*ast.Ident); is && types.Identical(types.Default(value.Type), types.Typ[types.Bool]) {
			number := f.add(e, "constant", name.Name+" -> !"+name.Name)
			f.edit(e, func(in inner) string { return fmt.Sprintf("(%s != mutation.On(%d))", name.Name, number) }, number)
		}
		return
	}
	basic, is := value.Type.Underlying().(*types.Basic)
	if !is || basic.Info()&types.IsInteger == 0 || basic.Info()&types.IsUntyped != 0 || !literal(e) && value.Type != basic {
		return // a named value of an enumeration has no successor
	}
	name := f.typeName(f.file, value.Type)
	if name == "" || strings.Contains(name, ".") && !ast.IsExported(name[strings.IndexByte(name, '.')+1:]) {
		return
	}
	number := f.add(e, "constant", f.text(e)+" -> "+another(value.Value))
	f.edit(e, func(in inner) string { return fmt.Sprintf("mutation.Constant(%d, %s(%s))", number, name, in(from, to)) }, number)
}

// another returns the constant with which package active replaces it.
func another(value constant.Value) string {
	n, exact := constant.Int64Val(value)
	switch {
	case !exact:
		return "another"
	case n >= 10:
		return fmt.Sprint(2 * n)
	}
	return fmt.Sprint(n + 1)
}

// literal reports whether a constant expression contains a number.
func literal(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if basic, is := n.(*ast.BasicLit); is && (basic.Kind == token.INT || basic.Kind == token.CHAR || basic.Kind == token.FLOAT) {
			found = true
		}
		return !found
	})
	return found
}

// statements finds statements that can be omitted, and returns that can return zero values.
func (f *finder) statements(list []ast.Stmt) {
	for _, statement := range list {
		switch s := statement.(type) {
		case *ast.ExprStmt:
			if call, is := s.X.(*ast.CallExpr); is && !f.quiet(call) && !locks(call) {
				f.leaveOut(s)
			}
		case *ast.IncDecStmt, *ast.SendStmt:
			f.leaveOut(s)
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE && !blank(s) {
				f.leaveOut(s)
			}
		case *ast.BranchStmt:
			if s.Tok == token.CONTINUE || s.Tok == token.BREAK {
				f.leaveOut(s)
			}
		case *ast.ReturnStmt:
			f.zero(s)
		}
	}
}

func blank(s *ast.AssignStmt) bool {
	for _, left := range s.Lhs {
		if name, is := left.(*ast.Ident); !is || name.Name != "_" {
			return false
		}
	}
	return true
}

// locks reports whether a call acquires or releases a lock: if it is omitted, a test hangs.
func locks(call *ast.CallExpr) bool {
	selector, is := call.Fun.(*ast.SelectorExpr)
	return is && (strings.HasSuffix(selector.Sel.Name, "Lock") || selector.Sel.Name == "Wait" || selector.Sel.Name == "Done")
}

func (f *finder) leaveOut(s ast.Stmt) {
	number := f.add(s, "statement", "without "+f.text(s))
	from, to := f.at(s.Pos()), f.at(s.End())
	f.edit(s, func(in inner) string { return fmt.Sprintf("if !mutation.On(%d) { %s }", number, in(from, to)) }, number)
}

// zero replaces the returned values by zero values.
func (f *finder) zero(s *ast.ReturnStmt) {
	results := f.results()
	if results == nil || len(s.Results) == 0 || f.allZero(s.Results) {
		return
	}
	var zeros []string
	for i := range results.Len() {
		name := f.typeName(f.file, results.At(i).Type())
		if name == "" {
			return
		}
		zeros = append(zeros, "*new("+name+")")
	}
	if results.Len() == 1 && types.Identical(results.At(0).Type().Underlying(), types.Typ[types.Bool]) {
		return // negations and comparisons cover this
	}
	number := f.add(s, "zero", f.text(s)+" -> return zero")
	from, to := f.at(s.Pos()), f.at(s.End())
	f.edit(s, func(in inner) string {
		return fmt.Sprintf("if mutation.On(%d) { return %s }; %s", number, strings.Join(zeros, ", "), in(from, to))
	}, number)
}

// results returns the results of the function that contains the node.
func (f *finder) results() *types.Tuple {
	for i := len(f.parents) - 1; i >= 0; i-- {
		if literal, is := f.parents[i].(*ast.FuncLit); is {
			return f.info.Types[literal].Type.(*types.Signature).Results()
		}
	}
	return f.outer
}

// allZero reports whether all returned values are already zero.
func (f *finder) allZero(values []ast.Expr) bool {
	for _, e := range values {
		value := f.info.Types[e]
		literal, composite := e.(*ast.CompositeLit)
		switch {
		case value.IsNil(), composite && len(literal.Elts) == 0:
		case value.Value != nil && (value.Value.ExactString() == "0" || value.Value.ExactString() == `""` || value.Value.ExactString() == "false"):
		default:
			return false
		}
	}
	return true
}
