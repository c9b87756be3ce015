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
			for _, pos := range assignedBeyond(method) {
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

// assignedBeyond returns where a method assigns to a field or element of its receiver or a parameter.
func assignedBeyond(method *ast.FuncDecl) (found []token.Pos) {
	foreign := parametersOf(method)
	assigned := func(to ast.Expr) {
		if _, plain := to.(*ast.Ident); !plain && foreign[rootOf(to)] {
			found = append(found, to.Pos())
		}
	}
	ast.Inspect(method.Body, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.AssignStmt:
			for _, to := range n.Lhs {
				assigned(to)
			}
		case *ast.IncDecStmt:
			assigned(n.X)
		}
		return true
	})
	return found
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
