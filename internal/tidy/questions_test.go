package tidy

import (
	"go/ast"
	"go/token"
	"testing"
)

// questions are the types from which a decision is derived, and their parts.
var questions = []string{
	"inputs", "spotPosition", "saleEvidence", "saleQuantity", "reductions", "startMark",
	"evidence", "unclaimedRows", "walletEvidence", "positionEvidence",
}

// TestQuestionsHaveNoSideEffects checks that no method of the types from which a decision is derived assigns to
// anything reachable from its receiver or an argument.
func TestQuestionsHaveNoSideEffects(t *testing.T) {
	t.Parallel()
	methods := map[string]int{}
	for _, of := range questions {
		methods[of] = 0
	}
	for _, file := range sources(t, "reconcile", false) {
		for _, declared := range file.tree.Decls {
			method, ok := declared.(*ast.FuncDecl)
			if !ok || method.Recv == nil {
				continue
			}
			of := receiverOf(method)
			if _, asks := methods[of]; !asks {
				continue
			}
			methods[of]++
			for _, pos := range assignedBeyond(method, file.imported(t)) {
				t.Errorf("%s:%d %s.%s changes what it is asked about: only a derivation or a survey does", file.path, file.line(pos), of, method.Name.Name)
			}
		}
	}
	for of, found := range methods {
		if found == 0 {
			t.Errorf("reconcile has no method of %s: this test looks for the wrong type", of)
		}
	}
}

// assignedBeyond returns where a method assigns to a field or element of its receiver or a parameter, or passes a list of
// these to a function that changes it.
func assignedBeyond(method *ast.FuncDecl, imported func(*ast.Ident) string) (found []token.Pos) {
	foreign, aliases := parametersOf(method), parametersOf(method) // an alias may be a list, or a copy of a struct
	assigned := func(to ast.Expr) {
		_, plain := to.(*ast.Ident)
		if element, ok := to.(*ast.IndexExpr); ok && aliases[rootOf(element.X)] || !plain && foreign[rootOf(to)] {
			found = append(found, to.Pos())
		}
	}
	ast.Inspect(method.Body, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				assigned(to)
				if local, ok := to.(*ast.Ident); ok {
					aliases[local.Name] = aliases[rootOf(unsliced(n.Rhs[min(i, len(n.Rhs)-1)]))]
				}
			}
		case *ast.CallExpr:
			if changed := changedBy(n, imported); changed != nil && aliases[rootOf(unsliced(changed))] {
				found = append(found, changed.Pos())
			}
		case *ast.IncDecStmt:
			assigned(n.X)
		}
		return true
	})
	return found
}

func TestAQuestionThatChangesIsFound(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{
		"s.n = 1": 1, "s.n++": 1, "s.rows[0] = nil": 1, "given.n = 1": 1, "clear(s.byName)": 1, "delete(s.byName, 1)": 1, "copy(s.rows, given.rows)": 1,
		"slices.Reverse(s.rows)": 1, "sl.Sort(s.rows[1:])": 1, "maps.Copy(s.byName, nil)": 1, "_ = append(s.rows[:0], nil)": 1,
		"rows := s.rows; slices.Reverse(rows)": 1, "rows := s.rows[1:]; rows[0] = nil": 1, "slices.Sort(list)": 1,
		"n := s.n; n++": 0, "rows := slices.Clone(s.rows); slices.Reverse(rows)": 0, "row := s.row; row.n = 1": 0, "_ = append(s.rows, nil)": 0,
		"slices.Contains(s.rows, nil)": 0, "rows := []int{}; copy(rows, s.rows)": 0, "rows := s.rows; rows = nil; clear(rows)": 0,
		"s.Sort(s.rows)": 0,
	} {
		file := parsed(t, "x.go", "import (\"slices\"; sl \"slices\"; \"maps\")\nfunc (s *T) Ask(given *T, list []int) { "+body+" }")
		if have := assignedBeyond(file.tree.Decls[1].(*ast.FuncDecl), file.imported(t)); len(have) != want {
			t.Errorf("%s: want %d findings, have %d", body, want, len(have))
		}
	}
}

// rootOf returns the variable that an expression with selectors and indices begins with; "" for none.
func rootOf(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}
