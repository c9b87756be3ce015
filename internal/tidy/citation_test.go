package tidy

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// specification are documents that are named although they are not in the repository: the interface that botd trades
// on, whose source docs/index.md gives.
var specification = []string{"trading-service-interface.md"}

// foreign are documents of other programs.
var foreign = []string{"axe-core/blob/master/doc/context.md"}

// TestEveryCitedDocumentIsInTheRepository finds documents that a comment, a text or a document names and that do not
// exist, and headings or cases that they do not have.
func TestEveryCitedDocumentIsInTheRepository(t *testing.T) {
	t.Parallel()
	library := documents(t)
	if len(library) < 20 {
		t.Fatalf("want the documents of the repository, have %d", len(library))
	}
	walk(t, func(name, text string) {
		if slices.Contains(citing, path.Ext(name)) && !strings.HasPrefix(name, "internal/tidy/") {
			for _, wrong := range library.wrongCitations(name, text) {
				t.Error(wrong)
			}
		}
	})
}

// walk calls a function with the path and the text of each file of the repository, without recorded and vendored ones.
func walk(t *testing.T, file func(name, text string)) {
	t.Helper()
	err := filepath.WalkDir(root(t), func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(root(t), name)
		if err != nil {
			return err
		}
		below = filepath.ToSlash(below)
		if entry.IsDir() {
			if slices.Contains([]string{".git", "data", "node_modules", "testdata"}, entry.Name()) || below == "internal/chart" {
				return fs.SkipDir
			}
			return nil
		}
		if !slices.Contains(citing, path.Ext(below)) {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		file(below, string(text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// citing are the kinds of files whose citations are checked.
var citing = []string{".go", ".md", ".js", ".py", ".sh", ".yaml", ".yml", ".star", ".service"}

// shelf holds the text of each document of the repository, by its path.
type shelf map[string]string

func documents(t *testing.T) shelf {
	t.Helper()
	all := shelf{}
	walk(t, func(name, text string) {
		if path.Ext(name) == ".md" {
			all[name] = text
		}
	})
	return all
}

var (
	cited         = regexp.MustCompile(`[A-Za-z0-9_./-]*[A-Za-z0-9_]\.md\b`)
	place         = regexp.MustCompile(`^, (cases? )?"?([^().;:,"]*)`)
	inParentheses = regexp.MustCompile(`\([^()]*$`)
	comment       = regexp.MustCompile(`\n\s*// ?`)
)

// wrongCitations returns a line for each document that a file names and that does not exist, and, in Go, for each
// place in it that does not exist: in parentheses after "docs/x.md, " a heading or the first cell of a row, or "case N".
func (s shelf) wrongCitations(name, text string) (wrong []string) {
	if path.Ext(name) == ".go" {
		text = comment.ReplaceAllStringFunc(text, func(string) string { return " " }) // a citation may go on in the next line
	}
	for _, at := range cited.FindAllStringIndex(text, -1) {
		document := text[at[0]:at[1]]
		whole := text[max(0, at[0]-80):at[1]]
		if slices.ContainsFunc(slices.Concat(specification, foreign), func(known string) bool { return strings.HasSuffix(whole, known) }) ||
			strings.Contains(whole, "http") || strings.HasSuffix(name, "_test.go") && len(path.Base(document)) == len("x.md") { // a sample
			continue
		}
		content, exists := s.find(name, document)
		if !exists {
			wrong = append(wrong, fmt.Sprintf("%s cites %s, which is not in the repository", name, document))
			continue
		}
		if path.Ext(name) != ".go" || !inParentheses.MatchString(text[max(0, at[0]-80):at[0]]) {
			continue
		}
		named := place.FindStringSubmatch(text[at[1]:])
		if named != nil && named[2] != "%s" && !hasPlace(content, named[1] != "", strings.TrimSpace(named[2])) {
			wrong = append(wrong, fmt.Sprintf("%s cites %s%s, which is no heading, row or case of it", name, document, named[0]))
		}
	}
	return wrong
}

// find returns the document that a file means: by its path from the root or from the file, or by its name in docs/.
func (s shelf) find(from, document string) (content string, exists bool) {
	for _, name := range []string{path.Clean(document), path.Join(path.Dir(from), document), path.Join("docs", document)} {
		if content, exists = s[name]; exists {
			return content, true
		}
	}
	for strings.HasPrefix(document, "../") { // a test's path from its package
		document = strings.TrimPrefix(document, "../")
	}
	content, exists = s[document]
	return content, exists
}

// hasPlace reports whether a document has a heading or the first cell of a row that begins with a phrase of the text,
// or a heading for each of the numbered cases.
func hasPlace(content string, cases bool, named string) bool {
	if cases {
		for _, number := range regexp.MustCompile(`\d+`).FindAllString(named, -1) {
			if n, err := strconv.Atoi(number); err != nil || !strings.Contains(content, fmt.Sprintf("\n### Case %d: ", n)) {
				return false
			}
		}
		return true
	}
	for _, line := range strings.Split(content, "\n") {
		heading := strings.TrimLeft(line, "#")
		if cell, _, row := strings.Cut(strings.TrimPrefix(line, "| "), " |"); row && strings.HasPrefix(line, "| ") {
			heading = cell
		} else if heading == line {
			continue
		}
		if heading = strings.ToLower(strings.Trim(heading, " `")); heading != "" && strings.HasPrefix(strings.ToLower(named), heading) {
			return true
		}
	}
	return false
}

func TestAWrongCitationIsFound(t *testing.T) {
	t.Parallel()
	library := shelf{"docs/x.md": "# X\n\n## The second part\n\n| row | b |\n| 8 | c |\n\n### Case 7: c\n", "README.md": ""}
	for _, c := range []struct {
		file, text string
		want       int
	}{
		{"a/b.go", "// It does (x.md, the second part).\n", 0}, {"a/b.go", "// It does (docs/x.md, row).\n", 0}, {"a/b.go", "// See x.md.\n", 0},
		{"a/b.go", "// It does (x.md,\n// the second part).\n", 0}, {"a/b.go", "// It does (x.md, case 7).\n", 0},
		{"a/b.go", "// It does (x.md, case 8).\n", 1}, {"a/b.go", "// It does (x.md, the third part).\n", 1}, {"a/b.go", "// See y.md.\n", 1},
		{"a/b.go", "// See docs/y.md, part.\n", 1}, {"docs/z.md", "[x](x.md), [r](../README.md)", 0}, {"docs/z.md", "[y](y.md)", 1},
		{"a/b_test.go", `const path = "../docs/x.md"`, 0}, {"a/b_test.go", `const path = "../../shared/xy.md"`, 1},
		{"a/b.go", "// See trading-service-interface.md.", 0},
	} {
		if have := library.wrongCitations(c.file, c.text); len(have) != c.want {
			t.Errorf("%s %q: want %d findings, have %q", c.file, c.text, c.want, have)
		}
	}
}
