package tidy

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// Widths in columns; a tab counts as four.
const (
	codeWidth     = 160
	documentWidth = 200
	functionLines = 70
)

// finding is something to mend, and its place.
type finding struct{ check, text string }

// Checks.
const (
	checkWords    = "words"
	checkWidth    = "width"
	checkFunction = "function"
	checkComment  = "comment"
)

// TestLanguageAndWidths holds every file's names, words, comments and lines against
// language.go.
func TestLanguageAndWidths(t *testing.T) {
	t.Parallel()
	for _, f := range findings(t) {
		t.Errorf("%s: %s", f.check, f.text)
	}
}

// findings walks the whole repository.
func findings(t *testing.T) (all []finding) {
	t.Helper()
	whole := root(t)
	err := filepath.WalkDir(whole, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(whole, name)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains([]string{".git", "data", "node_modules"}, entry.Name()) || below == "internal/chart" {
				return fs.SkipDir // chart is vendored
			}
			return nil
		}
		if strings.Contains(filepath.ToSlash(below), "testdata/") && path.Ext(below) != ".txtar" {
			return nil // what other programs made, or wrong on purpose
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		all = append(all, examine(t, filepath.ToSlash(below), string(text))...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// texts are the kinds of files, besides Go, that are read for private words.
var texts = []string{".js", ".css", ".html", ".gohtml", ".py", ".sh", ".md", ".yaml", ".yml", ".txt", ".txtar", ".service", ".sql", ".star"}

// wide are the kinds whose lines may be as long as they must: they are data, or
// hold a line of another program's.
var wide = []string{".yaml", ".yml", ".txt", ".txtar", ".gohtml", ".service", ".sql"}

// derived is the client that a test makes from docs/api.yaml: its descriptions are as long as there.
const derived = "clients/python/botd/operations.py"

// examine returns what is to mend in one file.
func examine(t *testing.T, name, text string) (all []finding) {
	t.Helper()
	add := func(check string, line int, format string, values ...any) {
		all = append(all, finding{check, fmt.Sprintf("%s:%d: ", name, line) + fmt.Sprintf(format, values...)})
	}
	word := func(line int, where string, wrong, right string) {
		add(checkWords, line, "%s has %q: want %s", where, wrong, right)
	}
	switch extension := path.Ext(name); {
	case strings.HasPrefix(name, "internal/tidy/language"): // the list itself
	case extension == ".go":
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		examineGo(&source{name, text, tree, set}, add, word)
	case slices.Contains(texts, extension), name == ".ci/run":
		for i, line := range strings.Split(text, "\n") {
			prose(line, i+1, "the text", word)
		}
	default:
		return nil
	}
	base := strings.TrimSuffix(path.Base(name), path.Ext(name))
	for _, part := range strings.FieldsFunc(base, func(r rune) bool { return strings.ContainsRune("_-.", r) }) {
		if right := cmp.Or(Words[part], Names[part]); right != "" {
			word(1, "the file's name", part, right)
		} else if slices.Contains(FileNames, part) {
			word(1, "the file's name", part, "a noun that says what the file holds")
		}
	}
	if slices.Contains(wide, path.Ext(name)) || name == derived {
		return all
	}
	width := codeWidth
	if path.Ext(name) == ".md" {
		width = documentWidth
	}
	fenced := false
	for i, line := range strings.Split(text, "\n") {
		if width == documentWidth && strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if width == documentWidth && (fenced || strings.HasPrefix(strings.TrimSpace(line), "|")) {
			continue // a row of a table is one line, and a program's output is as it is
		}
		if columns := utf8.RuneCountInString(line) + 3*strings.Count(line, "\t"); columns > width {
			add(checkWidth, i+1, "%d columns, want at most %d", columns, width)
		}
	}
	return all
}

// examineGo looks at what a Go file declares and says.
func examineGo(s *source, add func(check string, line int, format string, values ...any), word func(line int, where, wrong, right string)) {
	declared := func(names ...*ast.Ident) {
		for _, n := range names {
			if n == nil || slices.Contains(Required, n.Name) {
				continue
			}
			parts := camel(n.Name)
			for _, part := range parts {
				right := Words[part]
				if parts[0] != "test" { // a test's name is a sentence
					right = cmp.Or(right, Names[part])
				}
				if right != "" {
					word(s.line(n.Pos()), n.Name, part, right)
				}
			}
			spoken := " " + strings.Join(parts, " ") + " "
			for phrase, right := range Phrases {
				if strings.Contains(spoken, " "+phrase+" ") {
					word(s.line(n.Pos()), n.Name, phrase, right)
				}
			}
		}
	}
	begins := func(doc *ast.CommentGroup, names ...*ast.Ident) {
		if first := renamed(doc, names); first != "" {
			add(checkComment, s.line(doc.Pos()), "the comment of %s begins with %q", names[0].Name, first)
		}
	}
	skip := map[*ast.BasicLit]bool{} // tags and import paths
	ast.Inspect(s.tree, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.ImportSpec:
			skip[n.Path] = true
			declared(n.Name)
		case *ast.FuncDecl:
			declared(n.Name)
			begins(n.Doc, n.Name)
			if lines := s.line(n.End()) - s.line(n.Pos()) + 1; lines > functionLines && !strings.HasSuffix(s.path, "_test.go") {
				add(checkFunction, s.line(n.Pos()), "func %s has %d lines, want at most %d", n.Name.Name, lines, functionLines)
			}
		case *ast.GenDecl:
			if one := len(n.Specs) == 1 && !n.Lparen.IsValid(); one {
				switch spec := n.Specs[0].(type) {
				case *ast.TypeSpec:
					begins(n.Doc, spec.Name)
				case *ast.ValueSpec:
					begins(n.Doc, spec.Names...)
				}
			}
		case *ast.TypeSpec:
			declared(n.Name)
			begins(n.Doc, n.Name)
		case *ast.ValueSpec:
			declared(n.Names...)
		case *ast.Field:
			skip[n.Tag] = true
			declared(n.Names...)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, left := range n.Lhs {
					if name, ok := left.(*ast.Ident); ok {
						declared(name)
					}
				}
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				for _, left := range []ast.Expr{n.Key, n.Value} {
					if name, ok := left.(*ast.Ident); ok {
						declared(name)
					}
				}
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING && !skip[n] {
				for i, line := range strings.Split(n.Value, "\n") {
					prose(line, s.line(n.Pos())+i, "the text", word)
				}
			}
		}
		return true
	})
	for _, group := range s.tree.Comments {
		for i, line := range strings.Split(group.Text(), "\n") {
			prose(line, s.line(group.Pos())+i, "the comment", word)
		}
	}
}

var identifier = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*`)

// renamed returns the identifier that a declaration's comment begins with, where that is
// another than the declared ones: mostly a name that was changed, and its comment was not.
// An ordinary capitalized word is none, unless the declaration is exported.
func renamed(doc *ast.CommentGroup, names []*ast.Ident) string {
	text := doc.Text()
	first := identifier.FindString(text)
	if first == "" || strings.HasPrefix(text[len(first):], "'") || slices.ContainsFunc(names, func(n *ast.Ident) bool { return n.Name == first }) {
		return ""
	}
	ordinary := unicode.IsUpper(rune(first[0])) && first[1:] == strings.ToLower(first[1:])
	exported := names[0].IsExported() && !strings.HasPrefix(names[0].Name, "Test")
	if ordinary && (!exported || slices.Contains([]string{"A", "An", "The"}, first)) {
		return ""
	}
	return first
}

var letters = regexp.MustCompile(`[A-Za-z]+`)

// prose finds private words and phrases in a line.
func prose(line string, number int, where string, word func(line int, where, wrong, right string)) {
	for _, id := range Published {
		line = strings.ReplaceAll(line, id, "")
	}
	for _, run := range letters.FindAllString(line, -1) {
		for _, part := range camel(run) {
			if right := Words[part]; right != "" {
				word(number, where, part, right)
			}
		}
	}
	lower := strings.ToLower(line)
	for phrase, right := range Phrases {
		if strings.Contains(lower, phrase) {
			word(number, where, phrase, right)
		}
	}
}

// camel splits a name into its words, in lower case: filledUnderID is filled, under, id.
func camel(name string) (words []string) {
	runes := []rune(name)
	begin := 0
	flush := func(end int) {
		if end > begin {
			words = append(words, strings.ToLower(string(runes[begin:end])))
		}
		begin = end
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r):
			flush(i)
			begin = i + 1
		case unicode.IsUpper(r) && i > begin && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			flush(i)
		}
	}
	flush(len(runes))
	return words
}

func TestPrivateWordsAreFound(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", codeWidth)
	for _, c := range []struct {
		name, text string
		want       []string // check and a part of its text
	}{
		{"risk/x.go", "package risk\n\nvar wishList = 1\n", []string{`words risk/x.go:3: wishList has "wish"`}},
		{"risk/x.go", "package risk\n\nfunc f(handMade int) { for kept := range 3 { gone := kept; _ = gone } }\n",
			[]string{`handMade has "hand"`, `kept has "kept"`, `gone has "gone"`}},
		{"risk/x.go", "package risk\n\n// F is told.\nfunc F() {}\n", []string{`x.go:3: the comment has "told"`}},
		{"risk/x.go", "package risk\n\nconst a = \"it can not\"\n", []string{`x.go:3: the text has "can not"`}},
		{"risk/x.go", "package risk\n\n// Handled in the hands of a handler, in terms of looking over.\nvar lookup, broadcast, bencher, keptness int\n", nil},
		{"risk/x.go", "package risk\n\nimport \"example.com/told\"\n\ntype t struct {\n\tA int `json:\"told\"`\n}\n\nvar _ = told.Wish\n", nil},
		{"risk/x.go", "package risk\n\n// " + long + "\n", []string{"width risk/x.go:3: 163 columns"}},
		{"risk/x.go", "package risk\n\nfunc f() {\n" + strings.Repeat("\n", 70) + "}\n", []string{"function risk/x.go:3: func f has 72 lines"}},
		{"risk/x_test.go", "package risk\n\nfunc f() {\n" + strings.Repeat("\n", 70) + "}\n", nil},
		{"risk/under.go", "package risk\n", []string{`the file's name has "under"`}},
		{"docs/x.md", "# A\n\nIt tells\n", []string{`docs/x.md:3: the text has "tells"`}},
		{"docs/x.md", "| a " + long + long + " |\n", nil},
		{"web/x.js", "let strangerId;", []string{`words web/x.js:1: the text has "stranger"`}},
		{"web/x.yaml", "who: is told\n" + long + long, []string{`words web/x.yaml:1: the text has "told"`}},
		{"cmd/testdata/script/x.txtar", "# It can not be.", []string{`x.txtar:1: the text has "can not"`}},
		{"web/x.png", "told", nil},
		{"risk/x.go", "package risk\n\n// oldName does it.\nfunc newName() {}\n",
			[]string{`comment risk/x.go:3: the comment of newName begins with "oldName"`}},
		{"risk/x.go", "package risk\n\n// old does it.\ntype fresh struct{}\n", []string{`the comment of fresh begins with "old"`}},
		{"risk/x.go", "package risk\n\n// Old does it.\ntype Fresh struct{}\n", []string{`the comment of Fresh begins with "Old"`}},
		{"risk/x.go", "package risk\n\n// A limit.\nconst limit = 1\n\n// b is the second.\nvar a, b = 1, 2\n\n// Whoever calls it.\nfunc f() {}\n", nil},
	} {
		var have []string
		for _, f := range examine(t, c.name, c.text) {
			have = append(have, f.check+" "+f.text)
		}
		matched := len(have) == len(c.want)
		for i := range c.want {
			matched = matched && strings.Contains(have[i], c.want[i])
		}
		if !matched {
			t.Errorf("%s\n%s\nwant %q\nhave %q", c.name, c.text, c.want, have)
		}
	}
}
