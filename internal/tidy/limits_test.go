package tidy

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"botd/configs"
	"botd/risk"
	"botd/runtime/engine"
	"botd/runtime/ops"
	"botd/runtime/view"
)

// TestALimitsRowReachesEveryView checks for each limit of risk's table that alerts, dashboard, page, documents and
// schema derive from its row, so that a new limit touches only risk/limit.go and its test.
func TestALimitsRowReachesEveryView(t *testing.T) {
	t.Parallel()
	text := func(file string) string {
		content, err := os.ReadFile(filepath.Join(root(t), file))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	account, strategy := configs.Keys()
	rules, reference := text("docs/risk.md"), text("docs/configuration.md")
	alerts, shown := selected(t, alertOfLimits(t)), selected(t, panelOfLimits(t, "Tightest limit"))
	for _, l := range risk.Table() {
		if want := "| `" + l.Name + "` |"; !strings.Contains(rules, want) || !strings.Contains(reference, "| `risk."+l.Name+"` |") {
			t.Errorf("want a row of %s in docs/risk.md and docs/configuration.md", l.Name)
		}
		named := func(k configs.Key) bool { return k.Path == "risk."+l.Name }
		if !slices.ContainsFunc(strategy, named) || slices.ContainsFunc(account, named) != (l.Scope != risk.OfStrategy) {
			t.Errorf("want the key %s in the schema of a strategy's file, and in the account's if the account has the limit", l.Name)
		}
		if l.Of != "" {
			continue // a setting has no utilization
		}
		if want := l.Near == risk.NearAlerts; alerts(l.Name) != want {
			t.Errorf("the alert of %s: want %t", l.Name, want)
		}
		if want := l.Near != risk.NearIsUsual; shown(l.Name) != want {
			t.Errorf("%s among the tightest limits of the dashboard: want %t", l.Name, want)
		}
		board := view.NewBoard("demo", "")
		board.Show(engine.Status{Limits: []risk.Utilization{{Rule: l.Name}}})
		if have := board.Limits(); len(have) != 1 || have[0].Near != l.Near.String() || have[0].Title != l.Title || have[0].Near == "" {
			t.Errorf("want the page to show the row of %s, have %+v", l.Name, have)
		}
	}
}

func alertOfLimits(t *testing.T) string {
	t.Helper()
	i := slices.IndexFunc(ops.Alerts(), func(a ops.Alert) bool { return a.Name == "BotdLimitNearlyReached" })
	if i < 0 {
		t.Fatal("there is no alert of limits")
	}
	return ops.Alerts()[i].Expression
}

func panelOfLimits(t *testing.T, title string) string {
	t.Helper()
	for _, row := range ops.Rows() {
		for _, panel := range row.Panels {
			if panel.Title == title {
				return panel.Lines[0].Expression
			}
		}
	}
	t.Fatalf("there is no panel %q", title)
	return ""
}

// selected returns which limits the selector of an expression selects.
func selected(t *testing.T, expression string) func(limit string) bool {
	t.Helper()
	selector := regexp.MustCompile(`limit(=~|!~)"([a-z_|]*)"`).FindStringSubmatch(expression)
	if selector == nil {
		t.Fatalf("want limits selected by name in %s", expression)
	}
	return func(limit string) bool {
		return slices.Contains(strings.Split(selector[2], "|"), limit) == (selector[1] == "=~")
	}
}

// limitsByName are the files that may contain a limit's name: in an example of a command or a message, or as
// the name of something else.
var limitsByName = map[string]string{
	"runtime/api/risk.go":                    "an example of a request",
	"runtime/web/static/js/page/settings.js": "an example of a search",
	"cmd/botd/cli/daemon/limits.go":          "an example of a command",
	"cmd/botd/cli/daemon/limits_set.go":      "an example of a command",
	"cmd/botd/cli/daemon/risk.go":            "an example of a command",
	"runtime/web/static/js/page/market.js":   "the exchange's own maximum leverage",
	"runtime/web/static/js/page/symbol.js":   "the exchange's own maximum leverage",
}

// TestNoLimitIsListedOutsideItsTable finds code of the runtime and the command line that names a limit. Such
// code must take its limits from risk.Table, so that it includes new ones.
func TestNoLimitIsListedOutsideItsTable(t *testing.T) {
	t.Parallel()
	met := map[string]bool{}
	for _, row := range Table {
		if !strings.HasPrefix(row.Path, "runtime") && !strings.HasPrefix(row.Path, "cmd/botd/") {
			continue
		}
		for _, file := range sources(t, row.Path, false) {
			for line, limit := range limitsIn(file) {
				if met[file.path] = true; limitsByName[file.path] == "" {
					t.Errorf("%s:%d names the limit %s: take it from risk.Table", file.path, line, limit)
				}
			}
		}
	}
	scripts, err := filepath.Glob(filepath.Join(root(t), "runtime/web/static/js/*.js"))
	pages, also := filepath.Glob(filepath.Join(root(t), "runtime/web/static/js/page/*.js"))
	if err != nil || also != nil || len(pages) == 0 {
		t.Fatalf("want the pages' scripts, have %v, %v", err, also)
	}
	for _, script := range append(scripts, pages...) {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(root(t), script)
		if err != nil {
			t.Fatal(err)
		}
		if limit := namedLimit.FindString(string(text)); limit != "" {
			if met[name] = true; limitsByName[name] == "" {
				t.Errorf("%s names the limit %s: take it from the API's answer", name, limit)
			}
		}
	}
	for file := range limitsByName {
		if !met[file] {
			t.Errorf("limitsByName has %s, which names no limit", file)
		}
	}
}

var namedLimit = func() *regexp.Regexp {
	var names []string
	for _, l := range risk.Table() {
		names = append(names, l.Name)
	}
	return regexp.MustCompile(`\b(` + strings.Join(names, "|") + `)\b`)
}()

// limitsIn returns the limits that a file names in a text or by a constant, by line.
func limitsIn(file *source) map[int]string {
	found, tags := map[int]string{}, map[*ast.BasicLit]bool{}
	ast.Inspect(file.tree, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.Field:
			tags[n.Tag] = true
		case *ast.BasicLit:
			if text, ok := joined(n); ok && !tags[n] && namedLimit.MatchString(text) {
				found[file.line(n.Pos())] = namedLimit.FindString(text)
			}
		case *ast.BinaryExpr:
			if text, ok := joined(n); ok && namedLimit.MatchString(text) {
				found[file.line(n.Pos())] = namedLimit.FindString(text)
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "risk" && limitConstants[n.Sel.Name] {
				found[file.line(n.Pos())] = n.Sel.Name
			}
		}
		return true
	})
	return found
}

// joined returns the text of a literal, or of literals and parts of a text that are joined: what is between two of them and
// not a literal separates words.
func joined(e ast.Expr) (text string, ok bool) {
	switch x := ast.Unparen(e).(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(x.Value)
		return text, err == nil && x.Kind == token.STRING
	case *ast.BinaryExpr:
		first, any := joined(x.X)
		second, also := joined(x.Y)
		return first + second, x.Op == token.ADD && (any || also)
	}
	return " ", false
}

// limitConstants are the names of package risk for the limits.
var limitConstants = func() map[string]bool {
	names := map[string]bool{}
	for _, l := range risk.Table() {
		name := ""
		for part := range strings.SplitSeq(l.Name, "_") {
			name += strings.ToUpper(part[:1]) + part[1:]
		}
		names[name] = true
	}
	return names
}()

func TestALimitIsFoundInTextAndConstant(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"var x = `limit=~\"max_drawdown|max_daily_loss\"`":           1,
		"var x = risk.MaxDrawdown":                                   1,
		"var x = risk.Table()":                                       0,
		"type x struct {\n\tA int `json:\"max_leverage\"`\n}":        0,
		"var x = \"max_drawdowns\"":                                  0,
		"var x = \"max_\" + \"drawdown\"":                            1,
		"var x = y + \"a max_\" + (\"draw\" + \"down\") + y":         1,
		"var x = \"max_\" + y + \"drawdown\"":                        0,
		"var x = \"max_\" + \"draw\"":                                0,
		"var x = []string{\n\"max_open_orders\",\n\"price_collar\"}": 2,
	} {
		if have := limitsIn(parsed(t, "x.go", text)); len(have) != want {
			t.Errorf("%s\nwant %d findings, have %v", text, want, have)
		}
	}
}
