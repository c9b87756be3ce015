package tidy

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestArrowsGoOnlyWhereTheTableAllows compares each package's imports with its row, in both directions:
// forbidden imports, and allowed ones that are not used.
func TestArrowsGoOnlyWhereTheTableAllows(t *testing.T) {
	t.Parallel()
	usedAnywhere := map[string]bool{}
	for _, row := range Table {
		used := map[string]bool{}
		for _, file := range sources(t, row.Path, false) {
			allowed, wrong := arrows(t, &row, file)
			for _, line := range wrong {
				t.Error(line)
			}
			for _, name := range allowed {
				used[name], usedAnywhere[name] = true, true
			}
		}
		for _, allowed := range append(strings.Fields(row.Imports), strings.Fields(row.Libraries)...) {
			if !used[allowed] && allowed != "*" {
				t.Errorf("the row of %s allows %s, which it does not import", row.Path, allowed)
			}
		}
	}
	for exception := range allowedImpure {
		path, imported, _ := strings.Cut(exception, " imports ")
		if !slices.ContainsFunc(sources(t, path, false), func(file *source) bool { return file.importsOne(t, imported) }) {
			t.Errorf("allowedImpure has %q, which is not so", exception)
		}
	}
	for name := range Libraries {
		if !usedAnywhere[name] {
			t.Errorf("no package imports the library %s", name)
		}
	}
}

// arrows returns the names in the row that allow the imports of a file, and a line for each import that none allows.
func arrows(t *testing.T, row *Row, file *source) (allowed, wrong []string) {
	t.Helper()
	for _, imported := range file.imports(t) {
		name, why := allows(row, imported.path)
		if why != "" {
			wrong = append(wrong, fmt.Sprintf("%s imports %s: %s", file.path, imported.path, why))
		}
		allowed = append(allowed, name)
	}
	return allowed, wrong
}

// impureLibraries are the packages of the standard library, with those below them, that do I/O, draw, log, start
// goroutines, or share state.
var impureLibraries = []string{"os", "net", "log", "io/fs", "io/ioutil", "math/rand", "crypto/rand", "crypto/tls", "crypto/x509", "hash/maphash",
	"sync", "context", "syscall", "database/sql", "plugin", "expvar", "embed", "testing", "runtime", "unsafe", "C", "debug"}

// allowedImpure are exceptions, each by its package and its import.
var allowedImpure = map[string]string{
	"internal/freeze imports unsafe": "it reads and writes unexported fields",
}

func TestEveryArrowIsFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		row  Row
		text string
		want int
	}{
		{Row{Imports: "reconcile"}, "import \"botd/reconcile\"", 0},
		{Row{Imports: "reconcile"}, "import \"botd/risk\"", 1},
		{Row{Imports: "reconcile"}, "import r \"botd/risk\"\nimport _ \"botd/configs\"\nimport . \"botd/docs\"", 3},
		{Row{Imports: "internal/disk"}, "import \"botd/internal/disk\"\nimport \"botd/internal/disk/disktest\"", 1},
		// Two packages with the same base name are imported in either order, under that name, an alias, or no
		// name.
		{Row{Imports: "exchange/wire"}, "import \"botd/risk/wire\"\nimport \"botd/exchange/wire\"", 1},
		{Row{Imports: "exchange/wire"}, "import \"botd/exchange/wire\"\nimport \"botd/risk/wire\"", 1},
		{Row{Imports: "exchange/wire"}, "import _ \"botd/risk/wire\"\nimport _ \"botd/exchange/wire\"", 1},
		{Row{Libraries: "yaml"}, "import \"gopkg.in/yaml.v3\"\nimport \"example.com/yaml.v3\"", 1},
		{Row{Libraries: "cron"}, "import \"example.com/x/v3\"\nimport \"github.com/robfig/cron/v3\"", 1},
		{Row{Libraries: "cron"}, "import \"github.com/robfig/cron/v33\"", 1},
		{Row{}, "import \"os\"", 0},
		{Row{Kind: pure}, "import \"sort\"\nimport \"net/url\"\nimport \"crypto/sha256\"\nimport \"slices\"", 0},
		{Row{Kind: pure}, "import \"io/ioutil\"\nimport \"database/sql\"\nimport \"crypto/tls\"\nimport \"plugin\"", 4},
		{Row{Kind: pure}, "import \"database/sql/driver\"\nimport \"os/exec\"\nimport \"math/rand/v2\"\nimport \"sync/atomic\"", 4},
		{Row{Kind: pure}, "import \"runtime\"\nimport \"unsafe\"\nimport \"os/signal\"\nimport \"runtime/debug\"\nimport \"C\"", 5},
		{Row{Path: "internal/freeze", Kind: pure}, "import \"unsafe\"\nimport \"runtime\"", 1},
		{Row{Kind: pure}, "import \"net/http\"\nimport \"log/slog\"\nimport \"io/fs\"\nimport \"hash/maphash\"", 4},
	} {
		if _, wrong := arrows(t, &c.row, parsed(t, "x.go", c.text)); len(wrong) != c.want {
			t.Errorf("%+v\n%s\nwant %d findings, have %q", c.row, c.text, c.want, wrong)
		}
	}
}

// allows returns the name in the row that allows an import, or why none does.
func allows(row *Row, imported string) (name, why string) {
	imports := strings.Fields(row.Imports)
	if own, found := strings.CutPrefix(imported, "botd/"); found {
		if slices.Contains(imports, own) || slices.Contains(imports, "*") {
			return own, ""
		}
		return "", "not in its row"
	}
	if first, _, _ := strings.Cut(imported, "/"); strings.Contains(first, ".") {
		for _, name := range strings.Fields(row.Libraries) {
			if library := Libraries[name]; imported == library || strings.HasPrefix(imported, library+"/") {
				return name, ""
			}
		}
		return "", "this library is not in its row"
	}
	for _, name := range impureLibraries {
		allowed := imported == "net/url" || allowedImpure[row.Path+" imports "+imported] != ""
		if row.Kind == pure && !allowed && (imported == name || strings.HasPrefix(imported, name+"/")) {
			return "", "a pure package does no I/O, draws nothing, logs nothing and shares nothing"
		}
	}
	return "", ""
}

// TestTestCodeIsNotLinkedIntoBotd reads the dependencies of the binary that
// trades.
func TestTestCodeIsNotLinkedIntoBotd(t *testing.T) {
	t.Parallel()
	command := exec.Command("go", "list", "-deps", "./cmd/botd")
	command.Dir = root(t)
	output, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	linked := strings.Fields(string(output))
	if !slices.Contains(linked, "botd/runtime/engine") {
		t.Fatalf("want the dependencies of botd listed, have %d", len(linked))
	}
	for _, wrong := range unwanted(linked) {
		t.Error(wrong)
	}
	for _, own := range strings.Fields(linkable) {
		if !slices.Contains(linked, "botd/internal/"+own) {
			t.Errorf("linkable has internal/%s, which botd does not link", own)
		}
	}
}

// TestEveryPackageIsLinkedIntoAProgramOrIsOfTests reads the dependencies of all programs: nobody runs code
// that no program links.
func TestEveryPackageIsLinkedIntoAProgramOrIsOfTests(t *testing.T) {
	t.Parallel()
	command := exec.Command("go", "list", "-deps", "./cmd/botd", "./cmd/botd-sim")
	command.Dir = root(t)
	output, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	linked := strings.Fields(string(output))
	for _, row := range Table {
		if row.Path == "internal/chaos/crash" { // botd-sim links its list of points alone
			continue
		}
		if is := slices.Contains(linked, "botd/"+row.Path); is == (row.Kind == tests) {
			t.Errorf("%s: linked into a program %t, of tests alone by the table %t", row.Path, is, row.Kind == tests)
		}
	}
}

// linkable are the packages below internal/ that botd links. The others inject faults, judge, measure or
// test: oracle, tally and the conformance suite must share no code with what they judge.
const linkable = "chart confine disk failure freeze hangup inbound jsonalias moment notation paint plural printable privatefile spell version"

// unwanted returns a line for each package of a list that botd must not link.
func unwanted(linked []string) (wrong []string) {
	for _, name := range linked {
		own, internal := strings.CutPrefix(name, "botd/internal/")
		if internal && !slices.Contains(strings.Fields(linkable), own) || name == "testing" || strings.HasPrefix(name, "testing/") ||
			name == "botd/cmd/botd-sim" {
			wrong = append(wrong, "botd links "+name)
		}
	}
	return wrong
}

func TestALinkedSaboteurOrJudgeIsFound(t *testing.T) {
	t.Parallel()
	for _, name := range strings.Fields("mutant mutant/mutanttest mutation mutation/active overlay simulation chaos chaos/crash oracle tally openapi pipe " +
		"disk/disktest disk/sqlitefault conformance enginetest reconciletest startclock tidy") {
		if have := unwanted([]string{"botd/internal/disk", "botd/internal/" + name, "botd/runtime/engine"}); len(have) != 1 {
			t.Errorf("internal/%s: want one finding, have %q", name, have)
		}
	}
	if have := unwanted([]string{"testing", "testing/fstest", "botd/cmd/botd-sim", "botd/internal/freeze"}); len(have) != 3 {
		t.Errorf("want three findings, have %q", have)
	}
}
