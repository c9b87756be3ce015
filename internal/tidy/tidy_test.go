package tidy

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// listed is a package, with the first sentence of its comment.
type listed struct{ Name, Doc string }

// packages lists the packages below a directory, as far as its module and whatever their build constraints: the go command omits one whose
// files are all for another system.
func packages(t *testing.T, whole string) map[string]listed {
	t.Helper()
	all := map[string]listed{}
	err := filepath.WalkDir(whole, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if _, other := os.Stat(filepath.Join(name, "go.mod")); entry.IsDir() && name != whole &&
			(other == nil || slices.Contains([]string{".git", "data", "node_modules", "testdata"}, entry.Name())) {
			return fs.SkipDir
		}
		if entry.IsDir() || path.Ext(name) != ".go" || strings.HasPrefix(entry.Name(), "_") {
			return nil
		}
		tree, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(whole, filepath.Dir(name))
		if err != nil {
			return err
		}
		p := all[filepath.ToSlash(below)]
		if tree.Doc != nil && !strings.HasSuffix(name, "_test.go") {
			p.Doc = new(doc.Package).Synopsis(tree.Doc.Text())
		}
		if !strings.HasSuffix(name, "_test.go") || p.Name == "" {
			p.Name = tree.Name.Name
		}
		all[filepath.ToSlash(below)] = p
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestAPackageOfAnotherSystemIsListed(t *testing.T) {
	t.Parallel()
	whole := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module x", "a/a_windows.go": "//go:build windows\n\n// Package a is one. It is small.\npackage a",
		"a/a_test.go": "// Package b.\npackage a_test",
		"b/c/x.go":    "package main", "b/testdata/x.go": "package x", "d/go.mod": "module d", "d/x.go": "package d", "e/x.md": "",
	} {
		if err := os.MkdirAll(filepath.Join(whole, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(whole, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]listed{"a": {"a", "Package a is one."}, "b/c": {"main", ""}}
	if have := packages(t, whole); !maps.Equal(have, want) {
		t.Errorf("want %v, have %v", want, have)
	}
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// source is a Go file below the root.
type source struct {
	path  string
	text  string
	tree  *ast.File
	files *token.FileSet
}

func (s *source) line(pos token.Pos) int { return s.files.Position(pos).Line }

// named is an import of a file: its whole path, and its name in the file.
type named struct{ name, path string }

// imports returns the file's imports. The name of one without an alias is the last part of its path, which is a guess:
// two imports may therefore have one name, and only the path identifies an import.
func (s *source) imports(t *testing.T) (all []named) {
	t.Helper()
	for _, spec := range s.tree.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		one := named{path.Base(imported), imported}
		if spec.Name != nil {
			one.name = spec.Name.Name
		}
		all = append(all, one)
	}
	return all
}

// importsOne reports whether the file imports a package.
func (s *source) importsOne(t *testing.T, path string) bool {
	t.Helper()
	return slices.ContainsFunc(s.imports(t), func(one named) bool { return one.path == path })
}

// imported returns a function that returns the path of the package that a name stands for, or an empty string.
func (s *source) imported(t *testing.T) func(*ast.Ident) string {
	t.Helper()
	all := s.imports(t)
	return func(name *ast.Ident) string {
		if i := slices.IndexFunc(all, func(one named) bool { return one.name == name.Name }); i >= 0 {
			return all[i].path
		}
		return ""
	}
}

// calls returns where a file uses one of a package's functions, whatever the package's name is in it.
func (s *source) calls(t *testing.T, imported string, functions ...string) (lines []int) {
	t.Helper()
	names := map[string]bool{}
	for _, one := range s.imports(t) {
		names[one.name] = names[one.name] || one.path == imported
	}
	ast.Inspect(s.tree, func(node ast.Node) bool {
		if n, ok := node.(*ast.SelectorExpr); ok {
			if base, ok := n.X.(*ast.Ident); ok && names[base.Name] && slices.Contains(functions, n.Sel.Name) {
				lines = append(lines, s.line(n.Pos()))
			}
		}
		return true
	})
	return lines
}

// sources parses a package's files, whatever their build constraints.
func sources(t *testing.T, directory string, tests bool) (files []*source) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(root(t), directory, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") != tests {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, &source{path.Join(directory, filepath.Base(name)), string(text), tree, set})
	}
	return files
}

// predicate matches what follows a package's name in its sentence: a word that may be a verb in the third person, and what it does.
var predicate = regexp.MustCompile(`^[a-z]+s [A-Za-z]`)

func TestALackingVerbIsFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"formats a number with its noun": true, "is the program": true, "number, noun": false, "nouns, numbers": false, "the number of a noun": false,
		"formats": false, "format a number": false,
	} {
		if have := predicate.MatchString(text); have != want {
			t.Errorf("%q: want %t, have %t", text, want, have)
		}
	}
}

func TestEveryPackageHasItsRowAndItsSentence(t *testing.T) {
	t.Parallel()
	all := packages(t, root(t))
	for path, p := range all {
		i := slices.IndexFunc(Table, func(r Row) bool { return r.Path == path })
		if i < 0 {
			t.Errorf("package %s is not in internal/tidy's table: say what it is and what it may import", path)
			continue
		}
		start := "Package " + p.Name
		if p.Name == "main" {
			start = "Command " + path[strings.LastIndexByte(path, '/')+1:]
		}
		if !predicate.MatchString(Table[i].Sentence) {
			t.Errorf("package %s: want a verb in the third person after its name, have %q", path, Table[i].Sentence)
		}
		if want := start + " " + Table[i].Sentence + "."; p.Doc != want {
			t.Errorf("package %s: want its comment to begin\n\t%s\nhave\n\t%s", path, want, p.Doc)
		}
	}
	for _, row := range Table {
		if _, found := all[row.Path]; !found {
			t.Errorf("the table names %s, which does not exist", row.Path)
		}
	}
}

// TestArchitectureMatchesTable keeps the table of docs/ARCHITECTURE.md equal to this one.
func TestArchitectureMatchesTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range Table {
		imports := strings.Join(strings.Fields(row.Imports), ", ")
		switch imports {
		case "":
			imports = "-"
		case "*":
			imports = "all"
		}
		if want := fmt.Sprintf("| `%s` | %s | %s | %s |", row.Path, row.Sentence, row.Kind, imports); !strings.Contains(string(text), want) {
			t.Errorf("docs/ARCHITECTURE.md: want the line\n%s", want)
		}
	}
}

// TestPurePackagesReadNoClock finds clock reads and goroutines in packages that must have none.
func TestPurePackagesReadNoClock(t *testing.T) {
	t.Parallel()
	for _, row := range Table {
		if row.Kind != pure {
			continue
		}
		for _, file := range sources(t, row.Path, false) {
			for _, line := range impurities(t, file) {
				t.Error(line)
			}
		}
	}
}

// impurities returns the lines of a file that read the clock, use the process's terminal, read files, or start a goroutine.
func impurities(t *testing.T, file *source) (found []string) {
	t.Helper()
	for _, line := range file.calls(t, "time", "Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer") {
		found = append(found, fmt.Sprintf("%s:%d reads the clock in a pure package: time is an argument", file.path, line))
	}
	for imported, functions := range impureFunctions {
		for _, line := range file.calls(t, imported, strings.Fields(functions)...) {
			found = append(found, fmt.Sprintf("%s:%d does I/O in a pure package, by package %s", file.path, line, imported))
		}
	}
	for _, one := range file.imports(t) {
		if one.name == "." {
			found = append(found, fmt.Sprintf("%s imports the names of %s: a pure package qualifies them", file.path, one.path))
		}
	}
	inUTC, other, imported := map[ast.Expr]bool{}, map[ast.Expr]bool{}, file.imported(t)
	ast.Inspect(file.tree, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.SelectorExpr:
			made, called := n.X.(*ast.CallExpr)
			if called && (n.Sel.Name == "UTC" || n.Sel.Name == "In") { // a package's time.Local is found above
				inUTC[made.Fun] = true
			}
			of, ok := n.X.(*ast.Ident)
			switch {
			case ok && imported(of) == "time" && slices.Contains([]string{"Unix", "UnixMilli", "UnixMicro"}, n.Sel.Name) && !inUTC[n]:
				found = append(found, fmt.Sprintf("%s:%d has the machine's time zone in a pure package: want .UTC() at once", file.path, file.line(n.Pos())))
			case n.Sel.Name == "Local" && !other[n] && (!ok || imported(of) == ""):
				found = append(found, fmt.Sprintf("%s:%d converts to the machine's time zone in a pure package", file.path, file.line(n.Pos())))
			}
		case *ast.GoStmt:
			found = append(found, fmt.Sprintf("%s:%d starts a goroutine in a pure package", file.path, file.line(n.Pos())))
		case *ast.CallExpr:
			other[n.Fun] = len(n.Args) > 0 // the method of a time has none
			if called, ok := n.Fun.(*ast.Ident); ok && (called.Name == "print" || called.Name == "println") {
				found = append(found, fmt.Sprintf("%s:%d prints in a pure package", file.path, file.line(n.Pos())))
			}
		}
		return true
	})
	return found
}

// impureFunctions are functions that do I/O, and variables that depend on the machine, of packages that a pure package may import.
var impureFunctions = map[string]string{
	"fmt":           "Print Printf Println Scan Scanf Scanln",
	"time":          "Local", // LoadLocation reads the time zone database, the same data on every machine
	"path/filepath": "Abs EvalSymlinks Glob Walk WalkDir",
	"text/template": "ParseFiles ParseGlob",
	"html/template": "ParseFiles ParseGlob",
	"archive/zip":   "OpenReader",
	"mime":          "TypeByExtension ExtensionsByType",
}

// parsed returns a file of package x with a text.
func parsed(t *testing.T, name, text string) *source {
	t.Helper()
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, name, "package x\n"+text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return &source{name, text, tree, set}
}

func TestAnAliasHidesNoClock(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"import \"time\"\nvar x = time.Now":                          1,
		"import clk \"time\"\nvar x = clk.Now()":                     1,
		"import . \"time\"\nvar x = Now()":                           1,
		"import \"time\"\nvar x = time.Minute":                       0,
		"import time \"math\"\nvar x = time.Now":                     0,
		"import \"time\"\nimport \"botd/time\"\nvar x = time.Now":    1,
		"import \"botd/time\"\nimport \"time\"\nvar x = time.Now":    1,
		"import \"fmt\"\nfunc f() { fmt.Println(1); fmt.Sprint(2) }": 1,
		"import out \"fmt\"\nvar x = out.Printf":                     1,
		"import \"path/filepath\"\nvar x, _ = filepath.Glob(\"*\")":  1,
		"import \"time\"\nvar x = time.Local":                        1,
		"import \"time\"\nvar x = time.UnixMilli(1).Hour()":          1,
		"import \"time\"\nvar x = time.UnixMilli(1).UTC().Hour()":    0,
		"import \"time\"\nvar x = time.Unix(1, 2).In(time.UTC)":      0,
		"import \"time\"\nvar x = (time.Unix(1, 2))":                 1,
		"import \"time\"\nvar x = time.UnixMicro":                    1,
		"import \"time\"\nvar x = time.Time{}.Local()":               1,
		"var x = y.Local(1)":                                         0,
		"import \"time\"\nvar y = time.Time{}\nvar x = y.Local()":    1,
		"func f() { println(1) }":                                    1,
		"func f() { go f() }":                                        1,
		"import c \"time\"\nfunc f() { c.Sleep(1); go func() {}() }": 2,
	} {
		if have := impurities(t, parsed(t, "x.go", text)); len(have) != want {
			t.Errorf("%s\nwant %d findings, have %q", text, want, have)
		}
	}
}

func TestFilesHaveAtMost500Lines(t *testing.T) {
	t.Parallel()
	const most = 500
	for _, row := range Table {
		for _, file := range sources(t, row.Path, false) {
			if lines := file.line(file.tree.FileEnd); lines > most {
				t.Errorf("%s has %d lines: two nouns in one file? (at most %d)", file.path, lines, most)
			}
		}
	}
}

func TestFilesHaveSpecificNames(t *testing.T) {
	t.Parallel()
	banned := strings.Fields("util.go utils.go helper.go helpers.go types.go common.go misc.go stuff.go tools.go things.go")
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

// A run's output was once committed.
func TestRootHasOnlyListedFiles(t *testing.T) {
	t.Parallel()
	files := strings.Fields(".dockerignore .git .gitignore CHANGELOG.md LICENSE README.md go.mod go.sum")
	folders := strings.Fields(".ci .git backtest clients cmd configs deploy docs exchange internal reconcile risk runtime strategy")
	ignored := strings.Fields("botd data *.test *.prof coverage*") // from .gitignore
	entries, err := os.ReadDir(root(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name, known := entry.Name(), files
		if entry.IsDir() {
			known = folders
		}
		unversioned := slices.ContainsFunc(ignored, func(pattern string) bool {
			matched, err := filepath.Match(pattern, name)
			return err == nil && matched
		})
		if !unversioned && !slices.Contains(known, name) {
			t.Errorf("%s does not belong into the root of the repository: remove it, or move it into its room", name)
		}
	}
}
