package tidy

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// figures are constants whose values texts repeat: a phrase with %s for the value.
var figures = []struct {
	directory, constant string
	texts               []figureText
}{
	{"runtime/ops", "maxLogLines", []figureText{
		{"docs/logs.md", "the newest %s log lines"},
		{"docs/operations.md", "%s log lines"},
		{"runtime/api/log.go", "the newest %s log lines"},
		{"cmd/botd/cli/daemon/logs.go", "the newest %s log lines"},
	}},
}

// figureText is a phrase in a file.
type figureText struct{ file, phrase string }

// TestTextsRepeatTheFiguresOfTheCode compares figures in documents and help texts with the constants of the code.
func TestTextsRepeatTheFiguresOfTheCode(t *testing.T) {
	t.Parallel()
	for _, row := range figures {
		value, found := constantOf(t, row.directory, row.constant)
		if !found {
			t.Errorf("%s has no constant %s", row.directory, row.constant)
			continue
		}
		for _, text := range row.texts {
			content, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(text.file)))
			if err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf(text.phrase, value); !strings.Contains(strings.Join(strings.Fields(string(content)), " "), want) {
				t.Errorf("%s: want %q, as %s.%s is", text.file, want, row.directory, row.constant)
			}
		}
	}
}

// constantOf returns the value of a constant of a package as a text writes it: 4_000 as 4,000.
func constantOf(t *testing.T, directory, name string) (text string, found bool) {
	t.Helper()
	for _, file := range sources(t, directory, false) {
		ast.Inspect(file.tree, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok {
				return true
			}
			i := slices.IndexFunc(spec.Names, func(n *ast.Ident) bool { return n.Name == name })
			if i < 0 || i >= len(spec.Values) {
				return true
			}
			value, err := types.Eval(token.NewFileSet(), nil, token.NoPos, types.ExprString(spec.Values[i]))
			if err == nil && value.Value != nil {
				text, found = grouped(value.Value), true
			}
			return true
		})
	}
	return text, found
}

// grouped writes a whole number with a comma between groups of three digits.
func grouped(value constant.Value) string {
	digits := value.ExactString()
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func TestFiguresAreGrouped(t *testing.T) {
	t.Parallel()
	for value, want := range map[int64]string{7: "7", 400: "400", 4_000: "4,000", 1_234_567: "1,234,567"} {
		if have := grouped(constant.MakeInt64(value)); have != want {
			t.Errorf("%d: want %s, have %s", value, want, have)
		}
	}
}

// mostMethods bounds the methods of a type. A type that has more wants to be two.
const mostMethods = 50

// larger are the types with more methods, each with its own bound: it may shrink, but not grow.
var larger = map[string]int{
	"configs.strategyReader": 55, "exchange/sim.Exchange": 70, "exchange/sim.book": 95, "exchange/sim/server.Server": 55,
	"internal/simulation.world": 70, "reconcile.SymbolState": 55, "reconcile.derivation": 60, "reconcile.situation": 55, "reconcile.survey": 85,
	"reconcile/journal.Journal": 55, "reconcile/ledger.Ledger": 55, "runtime/engine.round": 75, "runtime/ops.Metrics": 55, "runtime/view.Board": 65,
}

// TestTypesHaveFewMethods counts the methods of every type outside tests.
func TestTypesHaveFewMethods(t *testing.T) {
	t.Parallel()
	counted := map[string]int{}
	for _, row := range Table {
		for _, file := range sources(t, row.Path, false) {
			for _, declared := range file.tree.Decls {
				if method, ok := declared.(*ast.FuncDecl); ok && method.Recv != nil {
					counted[row.Path+"."+receiverOf(method)]++
				}
			}
		}
	}
	for name, count := range counted {
		if most := max(mostMethods, larger[name]); count > most {
			t.Errorf("%s has %d methods, want at most %d: what belongs together wants a type of its own", name, count, most)
		}
	}
	for name := range larger {
		if counted[name] <= mostMethods {
			t.Errorf("%s has %d methods and needs no bound of its own", name, counted[name])
		}
	}
}
