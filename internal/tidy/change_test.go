package tidy

import (
	"go/ast"
	"slices"
	"strings"
)

// changing are the functions that change the content of their first argument, by package; "" for the language.
var changing = map[string]string{
	"":       "delete clear copy",
	"slices": "Sort SortFunc SortStableFunc Reverse Compact CompactFunc Delete DeleteFunc Insert Replace",
	"maps":   "Copy DeleteFunc Insert",
	"sort":   "Ints Float64s Strings Slice SliceStable Sort Stable",
}

// changedBy returns the argument whose content a call changes, or nil. An append to a part of a list writes over what follows that part.
func changedBy(call *ast.CallExpr, imported func(name *ast.Ident) string) ast.Expr {
	if len(call.Args) == 0 {
		return nil
	}
	switch called := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		_, part := ast.Unparen(call.Args[0]).(*ast.SliceExpr)
		if slices.Contains(strings.Fields(changing[""]), called.Name) || called.Name == "append" && part {
			return call.Args[0]
		}
	case *ast.SelectorExpr:
		if of, ok := called.X.(*ast.Ident); ok && imported(of) != "" && slices.Contains(strings.Fields(changing[imported(of)]), called.Sel.Name) {
			return call.Args[0]
		}
	case *ast.IndexExpr: // with its type arguments
		return changedBy(&ast.CallExpr{Fun: called.X, Args: call.Args}, imported)
	}
	return nil
}

// unsliced returns the list that an expression takes a part of, or converts.
func unsliced(e ast.Expr) ast.Expr {
	for {
		switch x := e.(type) {
		case *ast.SliceExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return e
		}
	}
}
