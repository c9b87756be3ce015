package tidy

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// figures are constants of the code that texts repeat, each with the unit of the text: 64 << 20 is 64 in MiB.
var figures = []struct {
	directory, constant string
	unit                int64
	texts               []figureText
}{
	{"runtime/ops", "maxLogLines", 1, []figureText{
		{"docs/logs.md", "the newest %s log lines"},
		{"docs/operations.md", "%s log lines"},
		{"runtime/api/log.go", "the newest %s log lines"},
		{"cmd/botd/cli/daemon/logs.go", "the newest %s log lines"},
	}},
	{"exchange/polling", "IdleRoundMS", 1_000, []figureText{
		{"docs/ARCHITECTURE.md", "uncertain or unsettled, else every %s seconds"},
		{"docs/concepts.md", "while something is in flight, and otherwise every %s seconds"},
		{"docs/risk.md", "while orders are in flight, otherwise every %s seconds"},
		{"docs/exactly-once.md", "while anything is in flight, else within %s s"},
		{"docs/library.md", "Between the fill and the next round (%s s at most)"},
		{"docs/strategies.md", "from the last round, at most %s s ago"},
	}},
	{"runtime/engine", "blindAfterMS", 1_000, []figureText{
		{"docs/exactly-once.md", "(orders, positions, wallet), or %s s without one"},
		{"docs/exactly-once.md", "(price, an order, its history), or %s s without one"},
		{"docs/exactly-once.md", "blind after 3 failed snapshots or %s s"},
		{"docs/operations.md", "3 failed rounds, or %s s |"},
		{"docs/risk.md", "orders and positions could not be read for %s s"},
		{"docs/ARCHITECTURE.md", "but %s s without a read still make its domain blind"},
	}},
	{"runtime/engine", "blindAfter", 1, []figureText{
		{"docs/exactly-once.md", "blind after %s failed snapshots"},
		{"docs/operations.md", "| %s failed rounds, or 30 s |"},
	}},
	{"runtime/backups", "maxBackups", 1, []figureText{
		{"runtime/api/backup.go", "The newest %s such copies are stored."},
		{"cmd/botd/cli/offline/backup.go", "newest %s"},
	}},
	{"runtime/incident", "NearLiquidation", 1, []figureText{
		{"runtime/web/static/js/bounds.js", "NEAR_LIQUIDATION = %s;"},
	}},
	{"runtime/incident", "UnsettledAfterMS", 1, []figureText{
		{"runtime/web/static/js/bounds.js", "UNSETTLED_AFTER_MS = %s;"},
	}},
	{"runtime/incident", "LowDiskBytes", 1 << 20, []figureText{
		{"docs/operations.md", "`disk` (%s MiB are free"},
		{"docs/operations.md", "Less than %s MiB are free"},
		{"runtime/ops/alert.go", "Less than %s MiB are free"},
	}},
	{"internal/disk", "MinFree", 1 << 20, []figureText{
		{"docs/operations.md", "less than %s MiB are free"},
		{"docs/backtest.md", "less than %s MiB are free"},
	}},
}

// figureText is a phrase in a file, with %s for the value.
type figureText struct{ file, phrase string }

// TestTextsRepeatTheFiguresOfTheCode compares figures in documents and help texts with the constants of the code.
func TestTextsRepeatTheFiguresOfTheCode(t *testing.T) {
	t.Parallel()
	for _, row := range figures {
		value := constantOf(t, row.directory, row.constant)
		for _, text := range row.texts {
			content, err := os.ReadFile(filepath.Join(root(t), filepath.FromSlash(text.file)))
			if err != nil {
				t.Fatal(err)
			}
			spaced := strings.ReplaceAll(strings.Join(strings.Fields(string(content)), " "), "_000", ",000") // as code writes it
			if want := fmt.Sprintf(text.phrase, figure(value, row.unit)); !strings.Contains(spaced, want) {
				t.Errorf("%s: want %q, as %s.%s is", text.file, want, row.directory, row.constant)
			}
		}
	}
}

var nameInExpression = regexp.MustCompile(`[A-Za-z]\w*`)

// constantOf returns the value of a constant of a package. It may follow from other constants of the package.
func constantOf(t *testing.T, directory, name string) (value constant.Value) {
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
			expression := nameInExpression.ReplaceAllStringFunc(types.ExprString(spec.Values[i]), func(other string) string {
				return constantOf(t, directory, other).ExactString()
			})
			evaluated, err := types.Eval(token.NewFileSet(), nil, token.NoPos, expression)
			if err != nil {
				t.Fatalf("%s.%s is %s: %v", directory, name, expression, err)
			}
			value = evaluated.Value
			return true
		})
	}
	if value == nil {
		t.Fatalf("%s has no constant %s", directory, name)
	}
	return value
}

// figure writes a number as a text does: with a comma between groups of three digits, and no more places than it has.
func figure(value constant.Value, unit int64) string {
	whole := constant.ToInt(value)
	if whole.Kind() != constant.Int {
		return value.String()
	}
	digits := constant.BinaryOp(whole, token.QUO_ASSIGN, constant.MakeInt64(unit)).ExactString()
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func TestFiguresAreGrouped(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]struct {
		value constant.Value
		unit  int64
	}{
		"7": {constant.MakeInt64(7), 1}, "400": {constant.MakeInt64(400), 1}, "4,000": {constant.MakeInt64(4_000), 1},
		"1,234,567": {constant.MakeInt64(1_234_567), 1}, "64": {constant.MakeInt64(64 << 20), 1 << 20}, "0.05": {constant.MakeFloat64(0.05), 1},
	} {
		if have := figure(c.value, c.unit); have != want {
			t.Errorf("%s in %d: want %s, have %s", c.value, c.unit, want, have)
		}
	}
}

// maxMethods bounds the methods of a type. Split a type that has more.
const maxMethods = 50

// larger are the types with more methods, each with its own bound: it may shrink, but not grow.
var larger = map[string]int{
	"configs.strategyReader": 55, "exchange/sim.Exchange": 70, "exchange/sim.orderBook": 76, "exchange/sim/server.Server": 55,
	"internal/simulation.world": 70, "reconcile/journal.Journal": 55, "reconcile/ledger.Ledger": 55, "runtime/ops.Metrics": 55,
	"runtime/view.Board": 65,
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
		if most := max(maxMethods, larger[name]); count > most {
			t.Errorf("%s has %d methods, want at most %d: move related methods to a type of their own", name, count, most)
		}
	}
	for name := range larger {
		if counted[name] <= maxMethods {
			t.Errorf("%s has %d methods and needs no bound of its own", name, counted[name])
		}
	}
}
