package tidy

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// otherProcesses are the files whose tests wait for a process outside of any bubble, which sends no signal: how many waits each has, and for what.
var otherProcesses = map[string]struct {
	waits int
	what  string
}{
	"runtime/web/browsertest/botd_test.go":             {1, "the daemon's state is polled"},
	"runtime/web/browsertest/browser_test.go":          {2, "a page in the browser is polled"},
	"backtest/sweepprocess/sweepprocess_linux_test.go": {2, "the threads of a process, and a file that one writes, are polled"},
	"cmd/botd/endtoend/cluster_test.go":                {2, "workers are polled"},
	"cmd/botd/endtoend/finding_venue_linux_test.go":    {2, "a daemon is paused, or runs, for several rounds"},
	"cmd/botd/endtoend/sweeper_linux_test.go":          {2, "the process of a sweep is polled"},
	"internal/confine/confine_linux_test.go":           {3, "processes that are to be killed outlive the test"},
}

// TestTestsDoNotSleep finds tests that wait for a time, or whose result depends on the date. A package whose tests run in synctest bubbles
// may do both, since there the time is virtual.
func TestTestsDoNotSleep(t *testing.T) {
	t.Parallel()
	directories := []string{"runtime/web/browsertest"} // a module of its own
	for _, row := range Table {
		directories = append(directories, row.Path)
	}
	for _, directory := range directories {
		virtual := false
		var found []string
		for _, file := range sources(t, directory, true) {
			virtual = virtual || file.importsOne(t, "testing/synctest")
			of := waits(t, file)
			if allowed := otherProcesses[file.path].waits; allowed > 0 {
				if len(of) != allowed {
					t.Errorf("want %d waits for another process, as otherProcesses has for the file, have %q", allowed, of)
				}
				continue
			}
			found = append(found, of...)
		}
		if len(found) > 0 && !virtual {
			t.Errorf("want testing/synctest or a signal instead of this: %s", strings.Join(found, ", "))
		}
	}
}

// calendar are the methods of a time that depend on the date or the time of day.
var calendar = strings.Fields("Weekday Day YearDay ISOWeek Month Year Date Hour Minute Clock")

// waits returns where a file sleeps, also by receiving from a timer outside of a select statement, which would have another way to continue, and where it
// reads the date.
func waits(t *testing.T, file *source) (found []string) {
	t.Helper()
	add := func(pos token.Pos, what string) {
		found = append(found, fmt.Sprintf("%s:%d %s", file.path, file.line(pos), what))
	}
	imported, selected, now := file.imported(t), map[ast.Expr]bool{}, map[string]bool{}
	function := func(e ast.Expr) string {
		if of, ok := e.(*ast.SelectorExpr); ok {
			if name, ok := of.X.(*ast.Ident); ok && imported(name) == "time" {
				return of.Sel.Name
			}
		}
		return ""
	}
	isNow := func(e ast.Expr) bool {
		for {
			switch x := e.(type) {
			case *ast.CallExpr:
				if function(x.Fun) == "Now" {
					return true
				}
				e = x.Fun
			case *ast.SelectorExpr:
				e = x.X
			case *ast.Ident:
				return now[x.Name]
			default:
				return false
			}
		}
	}
	ast.Inspect(file.tree, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.FuncDecl:
			clear(now)
		case *ast.CommClause:
			switch received := n.Comm.(type) {
			case *ast.ExprStmt:
				selected[received.X] = true
			case *ast.AssignStmt:
				selected[received.Rhs[0]] = true
			}
		case *ast.UnaryExpr:
			if call, ok := n.X.(*ast.CallExpr); ok && n.Op == token.ARROW && !selected[n] && slices.Contains([]string{"After", "Tick"}, function(call.Fun)) {
				add(n.Pos(), "waits for a timer")
			}
			if of, ok := n.X.(*ast.SelectorExpr); ok && n.Op == token.ARROW && !selected[n] && of.Sel.Name == "C" {
				if call, ok := of.X.(*ast.CallExpr); ok && function(call.Fun) != "" {
					add(n.Pos(), "waits for a timer")
				}
			}
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				if local, ok := to.(*ast.Ident); ok {
					from, ok := n.Rhs[min(i, len(n.Rhs)-1)].(*ast.CallExpr)
					now[local.Name] = ok && isNow(from)
				}
			}
		case *ast.SelectorExpr:
			if function(n) == "Sleep" {
				add(n.Pos(), "sleeps")
			}
			if slices.Contains(calendar, n.Sel.Name) && isNow(n.X) {
				add(n.Pos(), "reads the date")
			}
		}
		return true
	})
	return found
}

func TestAWaitIsFound(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{
		"time.Sleep(1)": 1, "clk.Sleep(1)": 1, "f := time.Sleep; f(1)": 1, "<-time.After(1)": 1, "for ; ; <-time.After(1) {}": 1, "x := <-time.After(1)": 1,
		"<-time.Tick(1)": 1, "<-time.NewTimer(1).C": 1, "select { case <-done: case <-time.After(1): }": 0, "select { case x := <-time.After(1): }": 0,
		"select { case <-done: <-time.After(1) }": 1, "other.Sleep(1)": 0, "<-other.After(1)": 0,
		"if time.Now().Weekday() == time.Sunday { t.Skip() }": 1, "if time.Now().UTC().Hour() < 5 { return }": 1, "now := time.Now(); _ = now.Day()": 1,
		"now := time.Now(); _ = now.Add(1).Day()": 1, "at := begin; _ = at.Day()": 0, "now := time.Now(); _ = now.Sub(begin)": 0,
		"_ = time.Unix(1, 0).Day()": 0, "time.AfterFunc(1, f)": 0,
	} {
		file := parsed(t, "x_test.go", "import (\"time\"; clk \"time\"; \"x/other\")\nfunc f() { "+body+" }")
		if have := waits(t, file); len(have) != want {
			t.Errorf("%s: want %d findings, have %q", body, want, have)
		}
	}
}
