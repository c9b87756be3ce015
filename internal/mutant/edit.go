package mutant

import (
	"fmt"
	"go/ast"
	"go/parser"

	"botd/internal/overlay"
)

// Overlay writes, into a directory, an overlay for the go command that builds in a switch for every mutant.
func Overlay(root, directory string) (path string, err error) {
	return overlay.Write(root, directory, Edits(), map[string]string{"internal/mutant/switch.go": "internal/mutant/testdata/switch.go"})
}

// Edits returns the edits of all mutants for one build: each edit selects between the present code and the wrong code.
func Edits() (all []overlay.Edit) {
	for _, row := range Table {
		for _, e := range row.Edits {
			all = append(all, overlay.Edit{
				Name: fmt.Sprintf("mutant %s (%s)", row.Name, row.Does), Table: "internal/mutant/table.go", In: e.In, Code: e.Code,
				Replace: func(right string) string { return choice(row.Name, right, e.Wrong) }, Import: "botd/internal/mutant",
			})
		}
	}
	return all
}

// choice returns code that selects the wrong branch while a mutant is on, and the right one otherwise.
func choice(name, right, wrong string) string {
	switch {
	case !expression(right) || !expression(wrong):
		return fmt.Sprintf("if mutant.Is(%q) { %s } else { %s }", name, wrong, right)
	case condition(right):
		return fmt.Sprintf("(mutant.Is(%q) && (%s) || !mutant.Is(%q) && (%s))", name, wrong, name, right)
	}
	return fmt.Sprintf("mutant.Pick(%q, %s, %s)", name, wrong, right)
}

// expression reports whether code is one expression.
func expression(code string) bool {
	_, err := parser.ParseExpr(code)
	return err == nil
}

// condition reports whether code is an expression that can only be a bool.
func condition(code string) bool {
	tree, err := parser.ParseExpr(code)
	if err != nil {
		return false
	}
	switch n := ast.Unparen(tree).(type) {
	case *ast.BinaryExpr:
		return n.Op.Precedence() <= 3 // comparison, && and ||
	case *ast.UnaryExpr:
		return n.Op.String() == "!"
	}
	return false
}
