package tidy

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type listed struct {
	ImportPath string
	Doc        string
	Dir        string
	Imports    []string
	GoFiles    []string
	Standard   bool
}

// packages lists the module's packages by asking the go command.
func packages(t *testing.T) map[string]listed {
	t.Helper()
	command := exec.Command("go", "list", "-json=ImportPath,Doc,Dir,Imports,GoFiles", "./...")
	command.Dir = root(t)
	output, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	all := map[string]listed{}
	for decoder := json.NewDecoder(strings.NewReader(string(output))); decoder.More(); {
		var p listed
		if err := decoder.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all[strings.TrimPrefix(p.ImportPath, "botd/")] = p
	}
	return all
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestEveryPackageHasItsRowAndItsSentence(t *testing.T) {
	t.Parallel()
	all := packages(t)
	for path, p := range all {
		i := slices.IndexFunc(Table, func(r Row) bool { return r.Path == path })
		if i < 0 {
			t.Errorf("package %s is not in internal/tidy's table: say what it is and what it may import", path)
			continue
		}
		if !strings.Contains(strings.Join(strings.Fields(p.Doc), " "), Table[i].Sentence) {
			t.Errorf("package %s: want its comment to say %q, have %q", path, Table[i].Sentence, p.Doc)
		}
	}
	for _, row := range Table {
		if _, found := all[row.Path]; !found {
			t.Errorf("the table names %s, which does not exist", row.Path)
		}
	}
}

func TestArrowsGoOnlyWhereTheTableAllows(t *testing.T) {
	t.Parallel()
	for path, p := range packages(t) {
		i := slices.IndexFunc(Table, func(r Row) bool { return r.Path == path })
		if i < 0 {
			continue // reported by the other test
		}
		for _, imported := range p.Imports {
			if why := forbidden(&Table[i], imported); why != "" {
				t.Errorf("%s imports %s: %s", path, imported, why)
			}
		}
	}
}

func forbidden(row *Row, imported string) string {
	if own, found := strings.CutPrefix(imported, "botd/"); found {
		if slices.Contains(row.Imports, own) || slices.Contains(row.Imports, "*") {
			return ""
		}
		return "not in its row"
	}
	if first, _, _ := strings.Cut(imported, "/"); strings.Contains(first, ".") {
		if slices.ContainsFunc(row.Libraries, func(l string) bool { return imported == l || strings.HasPrefix(imported, l+"/") }) {
			return ""
		}
		return "this library is not in its row"
	}
	impure := []string{"os", "net", "net/http", "log", "log/slog", "io/fs", "os/exec", "math/rand", "sync", "sync/atomic", "context"}
	if row.Pure && slices.Contains(impure, imported) {
		return "a pure package does no I/O, logs nothing and shares nothing"
	}
	return ""
}

// TestPurePackagesAskForNoTime finds calls of the clock and goroutines in
// packages that may have none.
func TestPurePackagesAskForNoTime(t *testing.T) {
	t.Parallel()
	clock := []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer"}
	for _, row := range Table {
		if !row.Pure {
			continue
		}
		for name, file := range sources(t, row.Path) {
			ast.Inspect(file.tree, func(node ast.Node) bool {
				switch n := node.(type) {
				case *ast.GoStmt:
					t.Errorf("%s:%d starts a goroutine in a pure package", name, file.line(n.Pos()))
				case *ast.SelectorExpr:
					if base, ok := n.X.(*ast.Ident); ok && base.Name == "time" && slices.Contains(clock, n.Sel.Name) {
						t.Errorf("%s:%d calls time.%s in a pure package: time is an argument", name, file.line(n.Pos()), n.Sel.Name)
					}
				}
				return true
			})
		}
	}
}

type source struct {
	tree  *ast.File
	files *token.FileSet
}

func (s source) line(pos token.Pos) int { return s.files.Position(pos).Line }

// sources parses a package's files, tests left out.
func sources(t *testing.T, path string) map[string]source {
	t.Helper()
	files := map[string]source{}
	names, err := filepath.Glob(filepath.Join(root(t), path, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Join(path, filepath.Base(name))] = source{tree, set}
	}
	return files
}

func TestFunctionsFitAScreenAndFilesAreOneNoun(t *testing.T) {
	t.Parallel()
	const mostFunction, mostFile = 80, 500
	for _, row := range Table {
		for name, file := range sources(t, row.Path) {
			if lines := file.line(file.tree.End()); lines > mostFile {
				t.Errorf("%s has %d lines: two nouns in one file? (at most %d)", name, lines, mostFile)
			}
			for _, declaration := range file.tree.Decls {
				f, ok := declaration.(*ast.FuncDecl)
				if !ok {
					continue
				}
				if lines := file.line(f.End()) - file.line(f.Pos()) + 1; lines > mostFunction {
					t.Errorf("%s: func %s has %d lines (at most %d)", name, f.Name.Name, lines, mostFunction)
				}
			}
		}
	}
}

func TestNoFileIsNamedForNothing(t *testing.T) {
	t.Parallel()
	banned := []string{"util.go", "utils.go", "helpers.go", "types.go", "common.go", "misc.go"}
	err := filepath.WalkDir(root(t), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && slices.Contains(banned, entry.Name()) {
			t.Errorf("%s: a file is a noun", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTestsDoNotSleep(t *testing.T) {
	t.Parallel()
	err := filepath.WalkDir(root(t), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "time."+"Sleep(") && !virtualTime(t, filepath.Dir(path)) {
			t.Errorf("%s sleeps: use testing/synctest or a signal", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestArchitectureTellsTheTable keeps the table of docs/ARCHITECTURE.md equal to the
// packages' own sentences.
func TestArchitectureTellsTheTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range Table {
		if want := fmt.Sprintf("| `%s` | %s |", row.Path, row.Sentence); !strings.Contains(string(text), want) {
			t.Errorf("docs/ARCHITECTURE.md: want the line %q", want)
		}
	}
}

// virtualTime reports whether a package's tests run in synctest bubbles, where
// sleeping costs nothing.
func virtualTime(t *testing.T, directory string) bool {
	names, err := filepath.Glob(filepath.Join(directory, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(names, func(name string) bool {
		text, err := os.ReadFile(name)
		return err == nil && strings.Contains(string(text), "\"testing/synctest\"")
	})
}
